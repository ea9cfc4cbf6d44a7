/* An arena of any content, in a snapshot whose CRC is right: what is taken is safe to decide and learn
 * with. A target of libFuzzer; or one arena from a file, and whether it was taken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mod.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n);

static int n_taken;

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n) {
    static unsigned char snapshot[MOD_SNAPSHOT_BYTES];
    mod_t *model = malloc(sizeof *model);
    mod_value x[MOD_N_FEATURES];
    double values[MOD_N_VALUES];
    unsigned i, crc;
    mod_reset(model);
    mod_snapshot_read(&mod_saved, 0, snapshot, sizeof snapshot);
    if (n > MOD_ARENA_BYTES) n = MOD_ARENA_BYTES;
    if (n) memcpy(snapshot + MOD_HEAD_BYTES, bytes, n);
    crc = esvm_crc32(0, snapshot, sizeof snapshot - 4);
    for (i = 0; i < 4; i++) snapshot[sizeof snapshot - 4 + i] = (unsigned char)(crc >> 8 * i);
    if (mod_restore(model, snapshot, sizeof snapshot) == ESVM_UNCHANGED) {
        n_taken++;
        for (i = 0; i < 6 * MOD_N_FEATURES; i++) {
            x[i % MOD_N_FEATURES] = (mod_value)(n ? bytes[i % n] : i) - 100;
            if ((i + 1) % MOD_N_FEATURES) continue;
            mod_decide(model, x, values);
            mod_learn_weighted(model, x, (int)(i % MOD_N_LABELS), 1.0);
        }
    }
    free(model);
    return 0;
}

#ifndef FUZZ
int main(int argc, char **argv) {
    static unsigned char arena[MOD_ARENA_BYTES];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file || fread(arena, 1, sizeof arena, file) != sizeof arena) abort();
    fclose(file);
    LLVMFuzzerTestOneInput(arena, sizeof arena);
    printf("%d\n", n_taken);
    return 0;
}
#endif
