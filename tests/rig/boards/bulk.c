/* Rows from a file of the host: decide about each, then learn it. Writes what came out, the arena,
 * and counts: rows, ticks of 3,000,000 instructions, stack, self-test, ticks to decide and to learn. */
#include <string.h>

#include "board.h"
#include "mod.h"

#ifndef MORE
#define MORE 1 /* bytes of another array, to fill the memory */
#endif
static mod_t model;
static volatile char more[MORE];
static struct {
    mod_value x[MOD_N_FEATURES];
    double weight;
#ifdef MOD_N_VALUES
    int64_t slot;
#else /* a regressor */
    double target;
#endif
} row;
static struct {
    uint32_t rows, ticks, stack, self_test;
    uint64_t decide, learn;
} counts;
#ifndef MOD_N_VALUES
#define MOD_N_VALUES 6
#define REGRESSES
#endif
static struct {
    double values[MOD_N_VALUES];
    int32_t decided, learned;
} line;

int main(void) {
    int in = open_file("rows.bin", 1), out = open_file("values.bin", 5), file;
    more[0] = 1;
#ifdef __AVR__
    counts.self_test = 1; /* there is no double to test */
    mod_begin(&model);
#else
    counts.self_test = esvm_self_test() == ESVM_SELF_TEST;
    memcpy(&model, &mod_saved, sizeof model);
#endif
    clock_start();
    counts.ticks = calibrate();
    fill_stack();
    while (read_file(in, &row, sizeof row) == sizeof row) {
        uint32_t begin, middle, end;
#ifdef REGRESSES
        line.decided = mod_predict(&model, row.x, line.values);
        mod_interval(&model, row.x, line.values + 4);
        begin = clock_now();
        mod_forecast(&model, row.x, line.values + 1);
        middle = clock_now();
        line.learned = mod_learn(&model, row.x, row.target, row.weight);
#else
        begin = clock_now();
        line.decided = mod_decide(&model, row.x, line.values);
        middle = clock_now();
        line.learned = mod_learn_weighted(&model, row.x, (int)row.slot, row.weight);
#endif
        end = clock_now();
        counts.decide += middle - begin;
        counts.learn += end - middle;
        counts.rows++;
        write_file(out, &line, sizeof line);
    }
#ifdef BEYOND
    *(volatile int *)BEYOND = 1; /* a store outside of memory, which must be found out */
#endif
    counts.stack = stack_used();
    file = open_file("arena.bin", 5);
    write_file(file, &model, MOD_ARENA_BYTES);
#ifdef SNAPSHOT
    file = open_file("snapshot.bin", 5);
    {
        uint8_t page[32];
        uint32_t at, n;
        for (at = 0; at < MOD_SNAPSHOT_BYTES; at += n) {
            n = MOD_SNAPSHOT_BYTES - at < sizeof page ? MOD_SNAPSHOT_BYTES - at : sizeof page;
            mod_snapshot_read(&model, at, page, n);
            write_file(file, page, n);
        }
    }
#endif
    file = open_file("counts.bin", 5);
    write_file(file, &counts, sizeof counts);
    return 0;
}
