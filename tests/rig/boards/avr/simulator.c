/* An ATmega328P by libsimavr, with files of the host and a clock for board.h: simulator PROGRAM */
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_io.h>
#include <stdio.h>
#include <string.h>

enum { GPIOR0 = 0x3E, GPIOR1 = 0x4A, GPIOR2 = 0x4B };
static FILE *files[8];
static unsigned n_files;

static unsigned word(const uint8_t *p) { return p[0] | p[1] << 8; }

static void asked(struct avr_t *avr, avr_io_addr_t address, uint8_t value, void *context) {
    uint8_t *a = avr->data + (avr->data[GPIOR1] | avr->data[GPIOR2] << 8);
    uint8_t *at = avr->data + word(a + 2);
    uint32_t answer = 0, n = word(a + 4);
    (void)address, (void)value, (void)context;
    if (a[0] == 'o') {
        files[n_files] = fopen((char *)at, a[1] == 1 ? "rb" : "wb");
        answer = n_files++;
    } else if (a[0] == 'r') {
        answer = (uint32_t)fread(at, 1, n, files[a[1]]);
    } else if (a[0] == 'w') {
        answer = (uint32_t)fwrite(at, 1, n, files[a[1]]);
    } else {
        answer = (uint32_t)avr->cycle;
    }
    memcpy(a + 6, &answer, 4);
}

int main(int n, char **arguments) {
    elf_firmware_t program = {{0}};
    avr_t *avr = avr_make_mcu_by_name("atmega328p");
    int state = cpu_Running;
    if (n < 2 || !avr || elf_read_firmware(arguments[1], &program)) return 2;
    avr_init(avr);
    avr->log = LOG_NONE;
    avr_load_firmware(avr, &program);
    avr_register_io_write(avr, GPIOR0, asked, NULL);
    while (state != cpu_Done && state != cpu_Crashed) state = avr_run(avr);
    while (n_files) fclose(files[--n_files]);
    if (state == cpu_Crashed) puts("FAULT");
    return 0;
}
