/* As much of Arduino as the sketch uses, on a host: Serial is stdin and stdout, the inputs are arithmetic, time
 * is a count of looks at the clock, and the LED says on stderr when it changes. */
#ifndef ARDUINO_H
#define ARDUINO_H

#include <math.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOW, HIGH, INPUT_PULLUP, OUTPUT, A0 = 14, A1, A2, A3, A4, A5, LED_BUILTIN = 13 };

static unsigned long looks;
static int readings;

static unsigned long millis() { return ++looks; }
static unsigned long micros() { return 1000 * ++looks + 123; }
static void pinMode(int, int) {}

/* Readings of A0 to A3 come in rounds of four: round i reads (37 j + 11 i) % 1024 on input j. */
static int analogRead(int pin) {
  if (pin == A5) return 511;
  int round = readings++ / 4;
  return (37 * (pin - A0) + 11 * round) % 1024;
}

/* The button is held in every third round of readings, and does not count in every fifth. */
static int digitalRead(int pin) {
  int round = readings / 4 - 1;
  return (pin == 2 ? round % 3 : round % 5) ? HIGH : LOW;
}

static void digitalWrite(int, int level) {
  static int last = LOW;
  if (level != last) fprintf(stderr, "LED %d\n", level);
  last = level;
}

struct Port {
  void begin(long) {}
  size_t write(const uint8_t *bytes, size_t n) {
    for (size_t left = n; left;) {
      ssize_t done = ::write(1, bytes + n - left, left);
      if (done <= 0) exit(0);
      left -= done;
    }
    return n;
  }
  void print(const char *text) { write((const uint8_t *)text, strlen(text)); }
  void print(int number) {
    char text[12];
    snprintf(text, sizeof text, "%d", number);
    print(text);
  }
  void print(float number) {
    char text[32];
    snprintf(text, sizeof text, "%.2f", (double)number);
    print(text);
  }
  int available() {
    struct pollfd in = {0, POLLIN, 0};
    return poll(&in, 1, 0) > 0;
  }
  int read() {
    uint8_t byte;
    if (::read(0, &byte, 1) != 1) exit(0); /* the host hung up */
    return byte;
  }
} Serial;

void setup();
void loop();

int main() {
  setup();
  for (;;) loop();
}

#endif
