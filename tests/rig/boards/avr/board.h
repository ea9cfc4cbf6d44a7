/* What bare/board.h has, for an AVR in simulator.c: it is asked by a write to GPIOR0, and counts cycles. */
#ifndef BOARD_H
#define BOARD_H
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <stddef.h>
#include <stdint.h>

extern uint8_t _end;
static volatile struct {
    uint8_t what, file;
    uint16_t at, n;
    uint32_t answer;
} asked;

static uint32_t ask(uint8_t what, int file, uint16_t at, uint16_t n) {
    asked.what = what;
    asked.file = (uint8_t)file;
    asked.at = at;
    asked.n = n;
    GPIOR1 = (uint8_t)(uint16_t)&asked;
    GPIOR2 = (uint8_t)((uint16_t)&asked >> 8);
    GPIOR0 = 1;
    return asked.answer;
}

static int open_file(const char *name, int mode) { return (int)ask('o', mode, (uint16_t)name, 0); }
static size_t read_file(int file, void *to, size_t n) { return (size_t)ask('r', file, (uint16_t)to, n); }
static void write_file(int file, const void *from, size_t n) { ask('w', file, (uint16_t)from, n); }
static uint32_t clock_now(void) { return ask('c', 0, 0, 0); }
static void clock_start(void) {}
static uint32_t calibrate(void) { return 3000000; } /* of an instruction a cycle */

static void fill_stack(void) {
    uint8_t *p;
    for (p = &_end; p < (uint8_t *)SP - 8; p++) *p = 0xA5;
}

static uint32_t stack_used(void) {
    uint8_t *p = &_end;
    while (*p == 0xA5) p++;
    return (uint32_t)(RAMEND + 1 - (uint16_t)p);
}

static void leave(void) __attribute__((destructor));
static void leave(void) {
    cli();
    sleep_enable();
    sleep_cpu();
}
#endif
