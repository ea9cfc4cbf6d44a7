/* An arena of any content, in a snapshot whose CRC is right: what is taken is safe to decide and learn
 * with, and decides finite values. A target of libFuzzer; or arenas from a file, and what became of
 * each: '-' refused, '+' taken, '!' taken and decided what is not finite. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mod.h"

#ifdef MOD_N_CHANNELS
#define WIDTH MOD_N_CHANNELS
#else
#define WIDTH MOD_N_FEATURES
#endif

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n);

static unsigned char snapshot[MOD_SNAPSHOT_BYTES];
static mod_t before;

static void mend(const unsigned char *arena, size_t n) {
    unsigned i, crc;
    mod_snapshot_read(&mod_saved, 0, snapshot, sizeof snapshot);
    if (n) memcpy(snapshot + MOD_HEAD_BYTES, arena, n);
    crc = esvm_crc32(0, snapshot, sizeof snapshot - 4);
    for (i = 0; i < 4; i++) snapshot[sizeof snapshot - 4 + i] = (unsigned char)(crc >> 8 * i);
}

/* Whether `restore` takes the snapshot; if it does not, the model is as after a reset. */
static int taken(mod_t *model) {
    int takes;
    mod_reset(model);
    before = *model;
    takes = mod_restore(model, snapshot, sizeof snapshot) == ESVM_UNCHANGED;
    if (memcmp(model, takes ? snapshot + MOD_HEAD_BYTES : (unsigned char *)&before, MOD_ARENA_BYTES))
        abort();
    return takes;
}

#if defined(MOD_N_LABELS)
typedef signed char label;
#else /* a regressor */
#define MOD_N_LABELS 2
#define REGRESSES
typedef double label;
#endif

/* Decide about a row and learn it; whether all decided is finite */
static int works(mod_t *model, const mod_value *x, label y, double weight) {
#ifdef MOD_N_CHANNELS
    int predicted;
    double score;
    (void)weight;
    return mod_push(model, x, y, &predicted, &score) > ESVM_CHANGED || isfinite(score);
#elif defined(REGRESSES)
    double values[6] = {0};
    int i, finite = 1;
    if (mod_predict(model, x, values) <= ESVM_CHANGED) {
        mod_forecast(model, x, values + 1);
        mod_interval(model, x, values + 4);
        for (i = 0; i < 6; i++) finite &= !!isfinite(values[i]);
    }
    mod_learn(model, x, y, weight);
    return finite;
#else
    double values[MOD_N_VALUES];
    int i, finite = 1;
    if (mod_decide(model, x, values) <= ESVM_CHANGED)
        for (i = 0; i < MOD_N_VALUES; i++) finite &= !!isfinite(values[i]);
    mod_learn_weighted(model, x, y, weight);
    return finite;
#endif
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n) {
    mod_t *model = malloc(sizeof *model);
    mod_value x[WIDTH];
    unsigned i;
    mend(bytes, n < MOD_ARENA_BYTES ? n : MOD_ARENA_BYTES);
    if (taken(model))
        for (i = 0; i < 6 * WIDTH; i++) {
            x[i % WIDTH] = (mod_value)(n ? bytes[i % n] : i) - 100;
            if ((i + 1) % WIDTH == 0 && !works(model, x, (label)(i % MOD_N_LABELS), 1.0)) abort();
        }
    free(model);
    return 0;
}

#ifndef FUZZ
static void *all_of(const char *name, size_t *n) {
    FILE *file = fopen(name, "rb");
    char *bytes;
    if (!file || fseek(file, 0, SEEK_END)) abort();
    *n = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*n + 1);
    if (fread(bytes, 1, *n, file) != *n) abort();
    fclose(file);
    return bytes;
}

/* ARENAS ROWS SLOTS-OR-TARGETS WEIGHTS: files of numbers as they are in memory */
int main(int argc, char **argv) {
    size_t n, n_rows, i, row;
    unsigned char *arenas = all_of(argv[argc > 4 ? 1 : 0], &n), *arena;
    mod_value *x = all_of(argv[2], &i);
    label *y = all_of(argv[3], &n_rows);
    double *weight = all_of(argv[4], &i);
    mod_t *model = malloc(sizeof *model); /* so that what is read behind it is seen */
    n_rows /= sizeof *y;
    for (arena = arenas; arena < arenas + n; arena += MOD_ARENA_BYTES) {
        int finite = 1, takes;
        mend(arena, MOD_ARENA_BYTES);
        takes = taken(model);
        for (row = 0; takes && row < n_rows; row++)
            finite &= works(model, x + row * WIDTH, y[row], weight[row]);
        putchar(!takes ? '-' : finite ? '+' : '!');
        fflush(stdout);
    }
    return 0;
}
#endif
