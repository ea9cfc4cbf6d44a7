/* Of the Pico SDK, what the example calls: enough to check its types, no more. */
#include <stdbool.h>
#include <stdint.h>
typedef unsigned int uint;
#define PICO_DEFAULT_LED_PIN 25
bool stdio_init_all(void);
void sleep_ms(uint32_t ms);
void gpio_init(uint gpio);
void gpio_set_dir(uint gpio, bool out);
void gpio_pull_up(uint gpio);
void gpio_put(uint gpio, bool value);
bool gpio_get(uint gpio);
int putchar_raw(int c);
