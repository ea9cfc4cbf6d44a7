/* Translated from src/edgesvm/core/lapses.*: change that, then `make translate`. */

#ifndef EDGESVM_LAPSES_H
#define EDGESVM_LAPSES_H

#include "floor.h"

enum {
    lapses_LAST = 0, lapses_MEAN = 1
};

ESVM_STATIC int lapses_mean_decides(const double *lapses);
ESVM_STATIC void lapses_note_lapse(double *lapses, int which, int is_wrong, int64_t n,
        int64_t recent);

ESVM_STATIC int lapses_mean_decides(const double *lapses) {
    return lapses[lapses_MEAN] <= lapses[lapses_LAST];
}

ESVM_STATIC void lapses_note_lapse(double *lapses, int which, int is_wrong, int64_t n,
        int64_t recent) {
    lapses[which] += ESVM_DIVIDE(is_wrong - lapses[which], recent < n ? recent : n);
}

#endif
