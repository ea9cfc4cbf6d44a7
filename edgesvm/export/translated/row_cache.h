/* Translated from edgesvm/core/row_cache.*: change that, then `make translate`. */

#ifndef EDGESVM_ROW_CACHE_H
#define EDGESVM_ROW_CACHE_H

#include "floor.h"

typedef struct {
    float *block;
    int64_t n_floats;
    int64_t stride;
    int64_t n_slots;
    int64_t n_used;
    int64_t clock;
    int64_t touched;
    int64_t n_missed;
    int32_t *slot;
    int32_t *owner;
    int32_t *filled;
    int64_t *used;
} row_cache_RowCache;

ESVM_STATIC void row_cache_cache_begin(row_cache_RowCache *c, esvm_index n, esvm_index capacity);
ESVM_STATIC esvm_index row_cache_padded(esvm_index n);
ESVM_STATIC void row_cache_cache_cut(row_cache_RowCache *c, esvm_index n, esvm_index capacity);
ESVM_STATIC esvm_index row_cache_cache_slot(row_cache_RowCache *c, esvm_index i);
ESVM_STATIC float *row_cache_cache_row(const row_cache_RowCache *c, esvm_index k);
ESVM_STATIC void row_cache_cache_wipe(row_cache_RowCache *c, esvm_index n);
ESVM_STATIC void row_cache_move_row(row_cache_RowCache *c, esvm_index k, esvm_index to,
        esvm_index old);
ESVM_STATIC esvm_index row_cache_take_slot(row_cache_RowCache *c);

ESVM_STATIC void row_cache_cache_begin(row_cache_RowCache *c, esvm_index n, esvm_index capacity) {
    c->stride = 0;
    c->n_used = 0;
    c->clock = 0;
    c->touched = 0;
    c->n_missed = 0;
    memset(c->slot, 0, n * sizeof(int32_t));
    row_cache_cache_cut(c, n, capacity);
}

ESVM_STATIC esvm_index row_cache_padded(esvm_index n) {
    return (n + 15) / 16 * 16;
}

ESVM_STATIC void row_cache_cache_cut(row_cache_RowCache *c, esvm_index n, esvm_index capacity) {
    esvm_index k;
    esvm_index stride = row_cache_padded(n);
    esvm_index old = c->stride;
    esvm_index n_slots = capacity < c->n_floats / stride ? capacity : c->n_floats / stride;
    if (stride > old) {
        esvm_index t1_ = c->n_used;
        for (k = n_slots; k < t1_; k++) {
            c->slot[c->owner[k]] = 0;
        }
        c->n_used = n_slots < c->n_used ? n_slots : c->n_used;
        for (k = c->n_used - 1; k > 0; k--) {
            row_cache_move_row(c, k, stride, old);
        }
    } else if (stride < old) {
        esvm_index t2_ = c->n_used;
        for (k = 0; k < t2_; k++) {
            c->filled[k] = (int32_t)(n < (int64_t)c->filled[k] ? n : (int64_t)c->filled[k]);
            row_cache_move_row(c, k, stride, old);
        }
    }
    c->stride = stride;
    c->n_slots = n_slots;
    c->touched = c->n_used * stride > c->touched ? c->n_used * stride : c->touched;
}

ESVM_STATIC esvm_index row_cache_cache_slot(row_cache_RowCache *c, esvm_index i) {
    esvm_index k = c->slot[i] - 1;
    if (k < 0) {
        k = row_cache_take_slot(c);
        int32_t t1_ = (int32_t)(k + 1);
        int32_t t2_ = (int32_t)i;
        int32_t t3_ = 0;
        c->slot[i] = t1_;
        c->owner[k] = t2_;
        c->filled[k] = t3_;
        c->n_missed += 1;
    }
    c->clock += 1;
    c->used[k] = c->clock;
    return k;
}

ESVM_STATIC float *row_cache_cache_row(const row_cache_RowCache *c, esvm_index k) {
    return c->block + k * c->stride;
}

ESVM_STATIC void row_cache_cache_wipe(row_cache_RowCache *c, esvm_index n) {
    memset(c->block, 0, c->touched * sizeof(float));
    memset(c->slot, 0, n * sizeof(int32_t));
    memset(c->owner, 0, n * sizeof(int32_t));
    memset(c->filled, 0, n * sizeof(int32_t));
    memset(c->used, 0, n * sizeof(int64_t));
}

ESVM_STATIC void row_cache_move_row(row_cache_RowCache *c, esvm_index k, esvm_index to,
        esvm_index old) {
    memmove(c->block + k * to, c->block + k * old, c->filled[k] * sizeof(float));
}

ESVM_STATIC esvm_index row_cache_take_slot(row_cache_RowCache *c) {
    esvm_index k;
    esvm_index oldest = 0;
    if (c->n_used < c->n_slots) {
        c->n_used += 1;
        c->touched = c->n_used * c->stride > c->touched ? c->n_used * c->stride : c->touched;
        return c->n_used - 1;
    }
    esvm_index t1_ = c->n_used;
    for (k = 1; k < t1_; k++) {
        if (c->used[k] < c->used[oldest]) {
            oldest = k;
        }
    }
    c->slot[c->owner[oldest]] = 0;
    return oldest;
}

#endif
