/* Bare metal under QEMU, for Cortex-M and RISC-V: start-up, files of the host by semihosting, the
 * stack that was used, and a clock that counts instructions under -icount. */
#ifndef BOARD_H
#define BOARD_H
#include <stddef.h>
#include <stdint.h>

#define R32(at) (*(volatile uint32_t *)(uintptr_t)(at))
#define UNTOUCHED 0xA5A5A5A5u
extern uint32_t _sdata, _edata, _ldata, _sbss, _ebss, _sstack, _estack;
int main(void);

static intptr_t ask(intptr_t operation, const void *argument) {
#if defined(__riscv)
    register intptr_t a0 __asm("a0") = operation;
    register const void *a1 __asm("a1") = argument;
    __asm volatile(".option push\n.option norvc\n.balign 16\nslli zero, zero, 0x1f\nebreak\n"
                   "srai zero, zero, 7\n.option pop"
                   : "+r"(a0) : "r"(a1) : "memory");
    return a0;
#else
    register intptr_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
#endif
}

static int open_file(const char *name, int mode) {
    intptr_t a[3] = {(intptr_t)name, mode, 0};
    while (name[a[2]]) a[2]++;
    return (int)ask(1, a);
}

static size_t read_file(int file, void *to, size_t n) {
    intptr_t a[3] = {file, (intptr_t)to, (intptr_t)n};
    return n - (size_t)ask(6, a);
}

static void write_file(int file, const void *from, size_t n) {
    intptr_t a[3] = {file, (intptr_t)from, (intptr_t)n};
    ask(5, a);
}

static void leave(void) {
    ask(0x18, (void *)(uintptr_t)0x20026);
    for (;;) {}
}

static void fill_stack(void) {
    uint32_t *here, *p;
#if defined(__riscv)
    __asm volatile("mv %0, sp" : "=r"(here));
#else
    __asm volatile("mov %0, sp" : "=r"(here));
#endif
    for (p = &_sstack; p < here - 16; p++) *p = UNTOUCHED;
}

static uint32_t stack_used(void) {
    uint32_t *p = &_sstack;
    while (*p == UNTOUCHED) p++;
    return (uint32_t)((char *)&_estack - (char *)p);
}

static void start(void) {
    uint32_t *from, *to;
    for (from = &_ldata, to = &_sdata; to < &_edata;) *to++ = *from++;
    for (to = &_sbss; to < &_ebss;) *to++ = 0;
    main();
    leave();
}

__attribute__((aligned(4), used)) void fault(void) {
    static const char text[] = "FAULT\n";
    ask(4, text);
    leave();
}

#if defined(__riscv)
__attribute__((naked, section(".vectors"), used)) void reset(void) {
    __asm volatile(".option push\n.option norelax\nla gp, __global_pointer$\n.option pop\n"
                   "la sp, _estack\nla t0, fault\ncsrw mtvec, t0\nj entry");
}
__attribute__((used)) void entry(void) { start(); }
static void clock_start(void) {}
static uint32_t clock_now(void) {
    uint32_t n;
    __asm volatile("csrr %0, minstret" : "=r"(n));
    return n;
}
#else
void reset(void) {
#if defined(__ARM_FP)
    R32(0xE000ED88) |= 0xFu << 20; /* switch the floating-point unit on */
    __asm volatile("dsb; isb");
#endif
    start();
}
static volatile uint32_t wraps;
void tick(void) { wraps++; }
__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))&_estack, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, 0, 0, 0, 0, tick};
static void clock_start(void) {
    R32(0xE000E014) = 0xFFFFFF;
    R32(0xE000E018) = 0;
    R32(0xE000E010) = 7;
}
static uint32_t clock_now(void) {
    uint32_t before, value;
    do {
        before = wraps;
        value = R32(0xE000E018);
    } while (before != wraps);
    return (before << 24) + (0xFFFFFF - value);
}
#endif

/* Ticks of 3,000,000 instructions, in pieces of 300,000 */
static uint32_t calibrate(void) {
    uint32_t total = 0;
    int k;
    for (k = 0; k < 10; k++) {
        uint32_t n = 100000, begin = clock_now();
#if defined(__riscv)
        __asm volatile("1: addi %0, %0, -1\nnop\nbnez %0, 1b" : "+r"(n));
#else
        __asm volatile(".syntax unified\n1: subs %0, #1\nmov r8, r8\nbne 1b" : "+l"(n) : : "cc");
#endif
        total += clock_now() - begin;
    }
    return total;
}
#endif
