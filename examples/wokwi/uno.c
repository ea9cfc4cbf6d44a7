/* The Arduino Uno of diagram.json by simavr, with the machine that it listens to, and its serial port as a pseudo-terminal:
 *   uno build/edgesvm_node.ino.elf
 * The machine changes its state each second. The button says so (label 1), and A0 and A1 tell: 3.0 and 1.5 V, else 2.0 V both.
 */
#include <simavr/avr_adc.h>
#include <simavr/avr_ioport.h>
#include <simavr/parts/uart_pty.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { HZ = 16000000, SLICE = HZ / 1000, BUTTON = 2, QUIET = 3, LED = 5 }; /* bits of ports D, D and B */
static const unsigned MILLIVOLTS[2][4] = {{2000, 2000, 1000, 4000}, {3000, 1500, 1000, 4000}};

static int state_of(const avr_t *avr) { return avr->cycle / HZ % 2; }

static avr_irq_t *pin(avr_t *avr, char port, int bit) { return avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(port), bit); }

/* The converter begins: here is its voltage, with a noise of some steps. */
static void convert(avr_irq_t *irq, uint32_t value, void *context) {
    avr_t *avr = context;
    union { avr_adc_mux_t mux; uint32_t value; } asked = {.value = value};
    int channel = asked.mux.src;
    (void)irq;
    if (channel < 4)
        avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, channel),
                      MILLIVOLTS[state_of(avr)][channel] + rand() % 400 - 200);
}

static void lit(avr_irq_t *irq, uint32_t value, void *context) {
    (void)context;
    if (irq->value != value) printf("LED %u\n", (unsigned)value), fflush(stdout);
}

/* No faster than a board. */
static void wait_for(const avr_t *avr, const struct timespec *began) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double ahead = (double)avr->cycle / HZ - (now.tv_sec - began->tv_sec) - 1e-9 * (now.tv_nsec - began->tv_nsec);
    if (ahead > 0) usleep((useconds_t)(1e6 * ahead));
}

int main(int n, char **arguments) {
    elf_firmware_t program = {{0}};
    avr_t *avr = avr_make_mcu_by_name("atmega328p");
    static uart_pty_t uart;
    struct timespec began;
    int state = cpu_Running;
    if (n < 2 || !avr || elf_read_firmware(arguments[1], &program)) return 2;
    avr_init(avr);
    avr->log = LOG_NONE;
    avr->frequency = HZ;
    avr->vcc = avr->avcc = avr->aref = 5000;
    avr_load_firmware(avr, &program);
    uart_pty_init(avr, &uart);
    uart_pty_connect(&uart, '0');
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_OUT_TRIGGER), convert, avr);
    avr_irq_register_notify(pin(avr, 'B', LED), lit, NULL);
    avr_raise_irq(pin(avr, 'D', QUIET), 1);
    printf("PORT %s\n", uart.pty.slavename), fflush(stdout);
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (avr_cycle_count_t next = 0; state != cpu_Done && state != cpu_Crashed; state = avr_run(avr)) {
        if (avr->cycle < next) continue;
        next = avr->cycle + SLICE;
        avr_raise_irq(pin(avr, 'D', BUTTON), !state_of(avr)); /* to ground while it is held */
        wait_for(avr, &began);
    }
    uart_pty_stop(&uart);
    return 0;
}
