/* A board that learns from its UART, for a machine lm3s6965evb: frames in, predictions and snapshots
 * out; once a second the stack that was used goes into the heartbeat. Instructions are not counted,
 * so the tick is a millisecond's. */
#include <string.h>

#include "board.h"
#define MOD_LINK_RESTORE 1
#define MOD_LINK_LATE 32
#include "mod_link.h"

#define UART 0x4000C000
#define DATA R32(UART)
#define FLAGS R32(UART + 0x18)
#define EMPTY 0x10
#define FULL 0x20
#define CLOCK_HZ 12500000

static mod_t model;
static mod_link line;
static uint32_t now_ms;

static void send(void *context, const uint8_t *bytes, size_t n) {
    (void)context;
    for (; n; n--) {
        while (FLAGS & FULL) {}
        DATA = *bytes++;
    }
}

static void wait(void) { /* for a byte, or a millisecond */
    __asm volatile("wfi");
    R32(UART + 0x44) = 0x7FF;
    R32(0xE000E280) = 1u << 5;
}

int main(void) {
    memcpy(&model, &mod_saved, sizeof model);
    __asm volatile("cpsid i"); /* interrupts only wake it up */
    R32(UART + 0x2C) = 0x70; /* eight bits, FIFOs */
    R32(UART + 0x30) = 0x301;
    R32(UART + 0x38) = 0x50;
    R32(0xE000E100) = 1u << 5;
    R32(0xE000E014) = CLOCK_HZ / 1000 - 1;
    R32(0xE000E018) = 0;
    R32(0xE000E010) = 7;
    fill_stack();
    mod_link_begin(&line, &model, send, NULL, LINK_BOOT_ID);
    for (;;) {
        uint8_t bytes[16];
        size_t n = 0;
        if (R32(0xE000E010) & 0x10000) {
            now_ms++;
            if (now_ms % 250 == 0) line.base.stack_high_water = (uint16_t)stack_used();
        }
        mod_link_tick(&line, now_ms);
        while (n < sizeof bytes && !(FLAGS & EMPTY)) bytes[n++] = (uint8_t)DATA;
        if (n) mod_link_feed(&line, bytes, n);
        else wait();
    }
}
