/** @file link.h
 * The learner's end of a link, version 1 (FORMATS.md): what an exported model needs to learn from a
 * sensor node over a serial line, as `edgesvm run` does. Use it through NAME_link.h.
 *
 * Nothing is allocated and nothing waits. No call may be made from within another one on the same
 * link: give it bytes from the main loop, not from an interrupt.
 */
#ifndef EDGESVM_LINK_H
#define EDGESVM_LINK_H

#include "esvm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sends n bytes, all of them, before it returns. */
typedef void (*esvm_link_write)(void *context, const uint8_t *bytes, size_t n);

/** Names and identities are those of the host's counters (FORMATS.md, Counters); modulo 2^32. */
typedef struct {
    uint32_t bytes_in, bytes_ok, bytes_rejected, delimiters, pending, discarded_bytes;
    uint32_t frames, ok, bad_cobs, bad_crc, bad_len, oversize, empty;
    uint32_t bad_version, bad_control, ignored, schemas, schema_refused, schema_stale;
    uint32_t scale_pages, heartbeats, acks, logs, snapshot_asks, snapshot_pages;
    uint32_t samples, bad_nan, bad_inf, bad_dimension, bad_flags, schema_mismatch, clock_jumps;
    uint32_t epochs, span, unique, missing, reordered, duplicate, too_old, seq_jump;
    uint32_t bad_label, label_mismatch, label_matched, label_duplicate, label_expired;
    uint32_t label_unknown, late_waiting, late_unlabelled;
    uint32_t own, taken, learned, unlabelled, refused_value, unknown_label;
    uint32_t predictions_sent, restored, restore_refused;
} esvm_link_counts;

/** What a link asks of its model. */
typedef struct {
    uint16_t n_features;
    int16_t n_labels;
    const int16_t *labels;
    uint32_t snapshot_bytes;
    int (*predict)(void *model, const float *x, double *score); /**< -1 nothing learned, -2 refused */
    esvm_status (*learn)(void *model, const float *x, int index, double weight);
    void (*read)(const void *model, uint32_t at, uint8_t *out, uint32_t n);
    esvm_status (*restore)(void *model, uint8_t *bytes, uint32_t n);
} esvm_link_model;

/* Sample numbers of a boot. */
typedef struct {
    uint32_t highest, span, unique;
    uint64_t seen; /* bit k: highest - k came */
} esvm_link_epoch;

/* What of a SCHEMA counts later. */
typedef struct {
    uint32_t boot_id, nominal_us, scale_crc;
    uint16_t id;
    uint8_t dtype, labels;
} esvm_link_schema;

/** The part of a link that is the same for every model. */
typedef struct {
    esvm_link_counts counts;
    uint32_t free_bytes;       /**< sent in heartbeats; yours to set */
    uint16_t stack_high_water; /**< likewise */
    /* From here on, private. The model, and the room that NAME_link has for it: */
    const esvm_link_model *of;
    void *model, *context;
    esvm_link_write write;
    uint8_t *rx, *states, *staged;
    float *x, *scales, *pairs, *waiting;
    uint32_t push, since_push;
    uint16_t max_raw, rx_bytes, late, history;
    /* ends, and when */
    uint32_t boot_id, nonce, control, now_ms, sent_ms, hello_ms, heartbeat_ms, sample_ms;
    uint8_t known, doubting, skipping, discarding;
    /* schemas: in force, and waiting for its scales */
    esvm_link_schema schema, coming;
    uint32_t n_pairs, next_page;
    uint8_t is_coming, has_scales;
    /* sample numbers, and the node's clock */
    esvm_link_epoch epoch, home;
    uint8_t open, has_home;
    uint32_t clock_epoch, clock, clock_sequence;
    /* samples that wait for their labels */
    uint32_t newest;
    uint16_t head;
    uint8_t late_on, started;
    /* a snapshot that is coming */
    uint32_t staged_crc, staged_bytes;
    uint16_t transfer;
    uint8_t transfer_status;
} esvm_link;

/* By NAME_link.h, which has set what is the model's. */
void esvm_link_begin(esvm_link *link, uint32_t boot_id);

void esvm_link_feed(esvm_link *link, const uint8_t *bytes, size_t n);

int esvm_link_own(esvm_link *link, const float *x, int index);

void esvm_link_tick(esvm_link *link, uint32_t now_ms);

#ifdef __cplusplus
}
#endif
#endif
