/* Translated from edgesvm/core/lapses.*: change that, then `make translate`. */

#ifndef EDGESVM_LAPSES_H
#define EDGESVM_LAPSES_H

#include "floor.h"

enum {
    lapses_LAST = 0, lapses_MEAN = 1
};

ESVM_STATIC int lapses_mean_decides(const double *lapses);
ESVM_STATIC void lapses_note_lapse(double *lapses, int which, int is_wrong, double n);

ESVM_STATIC int lapses_mean_decides(const double *lapses) {
    return lapses[lapses_MEAN] <= lapses[lapses_LAST];
}

ESVM_STATIC void lapses_note_lapse(double *lapses, int which, int is_wrong, double n) {
    int64_t bits;
    memcpy(&bits, &lapses[which], sizeof(int64_t));
    if (is_wrong || bits > 124) {
        lapses[which] += ESVM_DIVIDE((is_wrong ? 1.0 : 0.0) - lapses[which], n);
    }
}

#endif
