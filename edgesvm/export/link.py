"""The text of NAME_link.h and NAME_link.c: the learner's end of a link, for one model."""

from __future__ import annotations

from edgesvm.export.sources import Model
from edgesvm.link.frames import MAX_RAW, sample_raw_length


def header(model: Model) -> str:
    """NAME_link.h."""
    return HEADER.format(
        p=model.prefix,
        P=model.prefix.upper(),
        raw=max(MAX_RAW, least_raw(model)),
        least=max(44, least_raw(model)),
    )


def source(model: Model) -> str:
    """NAME_link.c."""
    return SOURCE.format(p=model.prefix, P=model.prefix.upper())


def has_link(model: Model) -> bool:
    """Whether there is one: for learners of samples that have labels; it knows no targets."""
    return model.windows is None and not model.is_novelty and not model.regresses


def least_raw(model: Model) -> int:
    """Bytes of the longest sample before COBS."""
    return sample_raw_length(model.n_features, has_label=True, has_time=True)


HEADER = """\
/** @file {p}_link.h
 * Learning over a serial line: frames of a sensor node in, predictions and snapshots out, as
 * `edgesvm run` does on a host (FORMATS.md of edgesvm). Who does not include it pays nothing.
 *
 *     #include "{p}_link.h"
 *     static {p}_t model;
 *     static {p}_link link;
 *
 *     model = {p}_saved;
 *     {p}_link_begin(&link, &model, send, NULL, boot_id);
 *     for (;;) {{
 *         {p}_link_tick(&link, milliseconds());
 *         while (uart_has_byte()) {{
 *             uint8_t byte = uart_read();
 *             {p}_link_feed(&link, &byte, 1);
 *         }}
 *     }}
 *
 * Choices, to be defined before it is included, in one file only. All memory is in {p}_link: 464
 * bytes where a pointer has 32 bits, 4 * {P}_N_FEATURES, and what is said below.
 */
#ifndef EDGESVM_LINK_{P}_H
#define EDGESVM_LINK_{P}_H

#include <string.h>

#include "{p}.h"
#include "edgesvm/link.h"

/** Longest raw frame received, bytes, at least {least}; takes one more. Pages of snapshots and
 * scales that are sent here must be as short. */
#ifndef {P}_LINK_RAW
#define {P}_LINK_RAW {raw}
#endif

/** Samples that may wait for a late label, 0 to 4096: 0, late labels are ignored. Each takes
 * 4 * {P}_N_FEATURES bytes; their numbers 256, or two bits for each of 8 * {P}_LINK_LATE. */
#ifndef {P}_LINK_LATE
#define {P}_LINK_LATE 0
#endif

/** 1: also samples of 16-bit integers; takes 16 * {P}_N_FEATURES bytes. */
#ifndef {P}_LINK_INT16
#define {P}_LINK_INT16 1
#endif

/** 1: snapshots may be given to this model over the line, by whoever can write to it; takes
 * {P}_SNAPSHOT_BYTES. */
#ifndef {P}_LINK_RESTORE
#define {P}_LINK_RESTORE 0
#endif

/** Send the snapshot, unasked, after each so many samples learned; 0: never. */
#ifndef {P}_LINK_PUSH
#define {P}_LINK_PUSH 0
#endif

#if {P}_LINK_RAW < {least} || {P}_LINK_RAW > 65000
#error "{P}_LINK_RAW: a frame of this model needs {least} bytes"
#endif
#if {P}_LINK_LATE < 0 || {P}_LINK_LATE > 4096
#error "{P}_LINK_LATE: 0 to 4096 samples may wait"
#endif
#if {P}_LINK_LATE <= 128
#define {P}_LINK_HISTORY 1024
#elif {P}_LINK_LATE <= 256
#define {P}_LINK_HISTORY 2048
#elif {P}_LINK_LATE <= 512
#define {P}_LINK_HISTORY 4096
#elif {P}_LINK_LATE <= 1024
#define {P}_LINK_HISTORY 8192
#elif {P}_LINK_LATE <= 2048
#define {P}_LINK_HISTORY 16384
#else
#define {P}_LINK_HISTORY 32768
#endif

/** A link: all that it holds, sizeof({p}_link) bytes. */
typedef struct {{
    esvm_link base; /**< counts, and free_bytes and stack_high_water for heartbeats */
    float x[{P}_N_FEATURES];
#if {P}_LINK_INT16
    float scales[2 * {P}_N_FEATURES];
    float pairs[2 * {P}_N_FEATURES];
#endif
#if {P}_LINK_LATE
    float waiting[{P}_LINK_LATE * {P}_N_FEATURES];
    uint8_t states[{P}_LINK_HISTORY / 4];
#endif
#if {P}_LINK_RESTORE
    uint8_t staged[{P}_SNAPSHOT_BYTES];
#endif
    uint8_t rx[{P}_LINK_RAW + ({P}_LINK_RAW + 253) / 254];
}} {p}_link;

extern const esvm_link_model {p}_link_model;

/** Begin, at boot: nothing was received yet.
 * @param write    sends bytes to the line, all of them, before it returns
 * @param context  handed to it
 * @param boot_id  another number at each boot, from whatever the board has that is random
 */
static inline void {p}_link_begin(
    {p}_link *link, {p}_t *model, esvm_link_write write, void *context, uint32_t boot_id) {{
    memset(link, 0, sizeof *link);
    link->base.of = &{p}_link_model;
    link->base.model = model;
    link->base.write = write;
    link->base.context = context;
    link->base.rx = link->rx;
    link->base.rx_bytes = sizeof link->rx;
    link->base.max_raw = {P}_LINK_RAW;
    link->base.x = link->x;
#if {P}_LINK_INT16
    link->base.scales = link->scales;
    link->base.pairs = link->pairs;
#endif
#if {P}_LINK_LATE
    link->base.waiting = link->waiting;
    link->base.states = link->states;
    link->base.late = {P}_LINK_LATE;
    link->base.history = {P}_LINK_HISTORY;
#endif
#if {P}_LINK_RESTORE
    link->base.staged = link->staged;
#endif
    link->base.push = {P}_LINK_PUSH;
    esvm_link_begin(&link->base, boot_id);
}}

/** Take bytes from the line, as many as have come. A whole frame is handled at once: a sample is
 * predicted, learned, and its prediction sent. */
static inline void {p}_link_feed({p}_link *link, const uint8_t *bytes, size_t n) {{
    esvm_link_feed(&link->base, bytes, n);
}}

/** Send what is due: HELLO until there is a SCHEMA, and a heartbeat every second. Call it at least
 * ten times a second.
 * @param now_ms  milliseconds since boot, wrapping
 */
static inline void {p}_link_tick({p}_link *link, uint32_t now_ms) {{
    esvm_link_tick(&link->base, now_ms);
}}

/** A sample of the board's own sensor: predicted, learned, and the prediction sent, so that
 * `edgesvm run PORT --on-device` may look on. Own samples are numbered from 0; do not use this on
 * a line whose node sends samples too.
 * @param index  index of its label in {p}_labels, or -1 without a label
 * @return the index predicted before it was learned, or -1
 */
static inline int {p}_link_learn({p}_link *link, const float x[{P}_N_FEATURES], int index) {{
    return esvm_link_own(&link->base, x, index);
}}

/** What has come and what became of it; FORMATS.md says what each counts, and the sums. */
static inline const esvm_link_counts *{p}_link_counts(const {p}_link *link) {{
    return &link->base.counts;
}}

#endif
"""

SOURCE = """\
/* What a link asks of this model. */
#include "{p}.h"
#include "edgesvm/link.h"

static const {p}_value *row(const float *x, {p}_value *room) {{
    int i;
    for (i = 0; i < {P}_N_FEATURES; i++) room[i] = ({p}_value)x[i];
    return room;
}}

static int predict(void *model, const float *x, double *score) {{
    {p}_value room[{P}_N_FEATURES];
    double values[{P}_N_VALUES];
    int index = {p}_predict(({p}_t *)model, row(x, room), score);
    if (index >= 0) return index;
    return {p}_decide(({p}_t *)model, room, values) == ESVM_NOT_FITTED ? -1 : -2;
}}

static esvm_status learn(void *model, const float *x, int index, double weight) {{
    {p}_value room[{P}_N_FEATURES];
    return {p}_learn_weighted(({p}_t *)model, row(x, room), index, weight);
}}

static void read(const void *model, uint32_t at, uint8_t *out, uint32_t n) {{
    {p}_snapshot_read((const {p}_t *)model, at, out, n);
}}

static esvm_status restore(void *model, uint8_t *bytes, uint32_t n) {{
    return {p}_exchange(({p}_t *)model, bytes, n);
}}

const esvm_link_model {p}_link_model = {{
    {P}_N_FEATURES, {P}_N_LABELS, {p}_labels, {P}_SNAPSHOT_BYTES, predict, learn, read, restore}};
"""
