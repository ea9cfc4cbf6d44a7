/* Of Zephyr, what the example calls. */
#include <stdint.h>
#define K_MSEC(ms) (ms)
int32_t k_sleep(int timeout);
void printk(const char *format, ...);
