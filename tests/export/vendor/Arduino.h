/* Of Arduino, what the examples call. */
#include <stddef.h>
#include <stdint.h>
#define A0 14
#define A1 15
#define LED_BUILTIN 13
#define LOW 0
#define HIGH 1
#define INPUT_PULLUP 2
#define OUTPUT 1
void pinMode(int pin, int mode);
int digitalRead(int pin);
void digitalWrite(int pin, int level);
int analogRead(int pin);
void delay(unsigned long ms);
struct Port {
    void begin(unsigned long baud);
    size_t write(const uint8_t *bytes, size_t n);
    int read();
};
extern Port Serial;
void setup();
void loop();
