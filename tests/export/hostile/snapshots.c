/* Every cut and every changed byte of a snapshot: refused, and the model as it was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mod.h"
static mod_t model, before;
static unsigned char good[MOD_SNAPSHOT_BYTES];
static long tried, taken;
/* in memory of exactly this size, so that a read beyond it is seen */
static void attempt(unsigned n) {
    unsigned char *copy = malloc(n ? n : 1);
    memcpy(copy, good, n);
    if (mod_restore(&model, copy, n) != ESVM_BAD_SNAPSHOT) taken++;
    if (memcmp(&model, &before, sizeof model)) abort();
    free(copy);
    tried++;
}
static void fix(void) {
    unsigned crc = esvm_crc32(0, good, sizeof good - 4), i;
    for (i = 0; i < 4; i++) good[sizeof good - 4 + i] = (unsigned char)(crc >> 8 * i);
}
int main(void) {
    unsigned i, byte;
    mod_reset(&model);
    before = model;
    mod_snapshot_read(&mod_saved, 0, good, sizeof good);
    for (i = 0; i < sizeof good; i++) attempt(i);
    for (i = 0; i < sizeof good; i++)
        for (byte = 1; byte < 256; byte++) {
            good[i] ^= byte;
            attempt(sizeof good);
            good[i] ^= byte;
        }
    for (i = 0; i < MOD_HEAD_BYTES; i++) /* of another model, and whole */
        for (byte = 1; byte < 256; byte++) {
            good[i] ^= byte;
            fix();
            attempt(sizeof good);
            good[i] ^= byte;
        }
    fix();
    if (taken || mod_restore(&model, good, sizeof good)) abort();
    if (memcmp(&model, &mod_saved, MOD_ARENA_BYTES)) abort();
    printf("%ld\n", tried);
    return 0;
}
