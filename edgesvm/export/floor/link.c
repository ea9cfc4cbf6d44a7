/* The learner's end of a link: edgesvm/link and runner.py, with no ring between them, since a
 * sample is learned before the next byte is read. Compiled once, however many models there are. */
#include "link.h"

#include <float.h>
#if DBL_MANT_DIG == 53 /* not on AVR, which has no room for it */
#define ESVM_IS_FLOAT32 1
#include "floor.h"

enum {
    HELLO = 0x01, SCHEMA = 0x02, SCALES = 0x03, SAMPLE_F32 = 0x10, SAMPLE_I16 = 0x11, LABEL = 0x12,
    PREDICTION = 0x20, HEARTBEAT = 0x30, ACK = 0x41, SNAPSHOT_ASK = 0x50, SNAPSHOT_PAGE = 0x51,
    SNAPSHOT_STATUS = 0x52, LOG = 0x7E
};
enum { VERSION = 1, HEADER = 8, CRC = 4, LEAST_RAW = HEADER + CRC, PAGE_HEAD = 16, MOST_PAGE = 226 };
enum { HAS_LABEL = 1, HAS_TIME = 2, ABSTAIN = 1, TRAINED = 2, REJECTED = 4 };
enum { DTYPE_F32 = 1, DTYPE_I16 = 2, LABEL_LATE = 2, TARGETS = 4 }; /* targets are for regressors */
enum { GO_ON, RESTORED, NO_SNAPSHOT, TAKES_NONE };
enum { UNSEEN, OPEN, CLOSED }; /* a number that a late label may name */
enum { NEW, REORDERED, OLD };
enum { WINDOW = 64, JUMP = 1 << 20, CLOCK_SLACK = 1000000 };
enum { IDLE_MS = 100, HELLO_MS = 500, HEARTBEAT_MS = 1000, SILENT_MS = 5000 };

static void put16(uint8_t *to, uint32_t value) {
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *to, uint32_t value) {
    put16(to, value);
    put16(to + 2, value >> 16);
}

static uint16_t get16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }

static uint32_t get32(const uint8_t *p) { return get16(p) | (uint32_t)get16(p + 2) << 16; }

static int16_t signed16(const uint8_t *p) {
    int32_t value = get16(p);
    return (int16_t)(value < 0x8000 ? value : value - 0x10000);
}

static float get_float(const uint8_t *p) {
    uint32_t bits = get32(p);
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* How far a number is ahead of another, modulo 2^32 */
static int32_t ahead(uint32_t of, uint32_t by) {
    uint32_t step = of - by;
    return step < 0x80000000u ? (int32_t)step : -(int32_t)~step - 1;
}

/* -- frames out ---------------------------------------------------------------------------------- */

/* The body is at raw + 8, with room for the CRC behind it; at most 254 bytes, so that a block is
 * full at the end only. It goes out in runs between its zeros: no second buffer. */
static void send(esvm_link *l, uint8_t kind, uint16_t schema_id, uint32_t sequence, uint8_t *raw,
                 size_t n_body) {
    static const uint8_t zero = 0;
    size_t i, from = 0, n = HEADER + n_body;
    raw[0] = kind;
    raw[1] = VERSION << 4;
    put16(raw + 2, schema_id);
    put32(raw + 4, sequence);
    put32(raw + n, esvm_crc32(0, raw, n));
    n += CRC;
    if (l->now_ms - l->sent_ms >= IDLE_MS) l->write(l->context, &zero, 1);
    l->sent_ms = l->now_ms;
    for (i = 0; i <= n; i++) {
        if (i == n || raw[i] == 0) {
            uint8_t code = (uint8_t)(i - from + 1);
            l->write(l->context, &code, 1);
            if (i > from) l->write(l->context, raw + from, i - from);
            from = i + 1;
        }
    }
    l->write(l->context, &zero, 1);
}

static void send_hello(esvm_link *l) {
    uint8_t raw[LEAST_RAW + 12];
    put32(raw + 8, l->nonce);
    raw[12] = raw[13] = VERSION;
    put16(raw + 14, l->max_raw);
    put32(raw + 16, l->now_ms);
    send(l, HELLO, 0, l->control++, raw, 12);
}

static void send_heartbeat(esvm_link *l) {
    uint8_t raw[LEAST_RAW + 32];
    put32(raw + 8, l->boot_id);
    put32(raw + 12, l->now_ms);
    put32(raw + 16, l->counts.predictions_sent);
    put32(raw + 20, 0);
    put32(raw + 24, l->counts.ok);
    put32(raw + 28, l->counts.frames - l->counts.ok);
    put32(raw + 32, l->free_bytes);
    put32(raw + 36, l->stack_high_water);
    send(l, HEARTBEAT, 0, l->control++, raw, 32);
}

static void send_prediction(esvm_link *l, uint32_t sequence, int index, uint8_t flags, double score) {
    uint8_t raw[LEAST_RAW + 12];
    float value = index < 0 ? 0.0f : (float)score;
    uint32_t bits;
    memcpy(&bits, &value, 4);
    put32(raw + 8, sequence);
    put16(raw + 12, index < 0 ? 0 : (uint16_t)l->of->labels[index]);
    put16(raw + 14, flags);
    put32(raw + 16, bits);
    send(l, PREDICTION, l->schema.id, l->counts.predictions_sent++, raw, 12);
}

/* -- snapshots ----------------------------------------------------------------------------------- */

/* Pages go out of the receive buffer, whose frame has been read. */
static void send_pages(esvm_link *l, uint16_t request, uint32_t at, uint32_t n) {
    uint32_t total = l->of->snapshot_bytes, most = l->max_raw - LEAST_RAW - PAGE_HEAD, part;
    uint8_t *body = l->rx + HEADER, crc[CRC];
    if (at >= total) return;
    if (n > total - at) n = total - at;
    if (most > MOST_PAGE) most = MOST_PAGE;
    l->of->read(l->model, total - CRC, crc, CRC);
    for (; n; n -= part, at += part) {
        part = n < most ? n : most;
        put16(body, request);
        put16(body + 2, 0);
        memcpy(body + 4, crc, CRC);
        put32(body + 8, total);
        put32(body + 12, at);
        l->of->read(l->model, at, body + PAGE_HEAD, part);
        send(l, SNAPSHOT_PAGE, 0, l->control++, l->rx, PAGE_HEAD + part);
    }
}

static int on_ask(esvm_link *l, const uint8_t *body, size_t n) {
    if (n != 12 || get16(body) == 0 || get16(body + 2)) return 0;
    l->counts.snapshot_asks++;
    send_pages(l, get16(body), get32(body + 4), get32(body + 8));
    return 1;
}

/* The first page of another transfer: can it be taken? */
static void begin_transfer(esvm_link *l, uint16_t request, uint32_t crc, uint32_t total) {
    l->transfer = request;
    l->staged_crc = crc;
    l->staged_bytes = 0;
    l->transfer_status = GO_ON;
    if (l->staged == NULL) l->transfer_status = TAKES_NONE;
    else if (total != l->of->snapshot_bytes) {
        l->transfer_status = NO_SNAPSHOT;
        l->counts.restore_refused++;
    }
}

static void end_transfer(esvm_link *l) {
    if (l->of->restore(l->model, l->staged, l->of->snapshot_bytes) == ESVM_UNCHANGED) {
        l->transfer_status = RESTORED;
        l->counts.restored++;
    } else {
        l->transfer_status = NO_SNAPSHOT;
        l->counts.restore_refused++;
    }
}

static int on_page(esvm_link *l, const uint8_t *body, size_t n) {
    uint8_t raw[LEAST_RAW + 8];
    uint32_t crc, total, at, part;
    if (n <= PAGE_HEAD || get16(body) == 0 || get16(body + 2)) return 0;
    crc = get32(body + 4);
    total = get32(body + 8);
    at = get32(body + 12);
    part = (uint32_t)n - PAGE_HEAD;
    if (at > total || part > total - at) return 0;
    l->counts.snapshot_pages++;
    if (get16(body) != l->transfer) begin_transfer(l, get16(body), crc, total);
    if (l->transfer_status == GO_ON && crc == l->staged_crc && at == l->staged_bytes &&
        total == l->of->snapshot_bytes) {
        memcpy(l->staged + at, body + PAGE_HEAD, part);
        l->staged_bytes += part;
        if (l->staged_bytes == total) end_transfer(l);
    }
    put16(raw + 8, l->transfer);
    put16(raw + 10, l->transfer_status);
    put32(raw + 12, l->staged_bytes);
    send(l, SNAPSHOT_STATUS, 0, l->control++, raw, 8);
    return 1;
}

/* -- late labels: link/_late.pyx --------------------------------------------------------------- */

static uint8_t state_of(const esvm_link *l, uint32_t sequence) {
    uint32_t at = sequence & (l->history - 1u);
    return l->states[at / 4] >> 2 * (at % 4) & 3;
}

static void set_state(esvm_link *l, uint32_t sequence, unsigned state) {
    uint32_t at = sequence & (l->history - 1u);
    uint8_t *four = l->states + at / 4;
    *four = (uint8_t)((*four & ~(3u << 2 * (at % 4))) | state << 2 * (at % 4));
}

/* So many samples more have no label and wait for none. */
static void give_up(esvm_link *l, uint32_t n) {
    l->counts.late_unlabelled += n;
    l->counts.unlabelled += n;
}

static void forget(esvm_link *l) {
    give_up(l, l->counts.late_waiting);
    l->counts.late_waiting = 0;
    memset(l->states, UNSEEN, l->history / 4u);
    l->started = 0;
}

/* The highest number goes up by `step`: samples now too far behind stop waiting. */
static void advance_late(esvm_link *l, uint32_t step) {
    uint32_t oldest = l->newest - l->late + 1u, i;
    for (i = 0; i < step && i < l->late; i++) {
        if (state_of(l, oldest + i) == OPEN) {
            l->counts.late_waiting--;
            give_up(l, 1);
        }
    }
    if (step >= l->history) memset(l->states, UNSEEN, l->history / 4u);
    else
        for (i = 1; i <= step; i++) set_state(l, l->newest + i, UNSEEN);
    l->head = (uint16_t)((l->head + step % l->late) % l->late);
    l->newest += step;
}

static float *waiting_at(esvm_link *l, int32_t behind) {
    int32_t slot = l->head - behind;
    return l->waiting + (slot < 0 ? slot + l->late : slot) * (int32_t)l->of->n_features;
}

/* Record a sample. One that is open waits for its label, if it is not too late already. */
static void enter(esvm_link *l, uint32_t sequence, unsigned state) {
    int32_t behind;
    if (!l->started) {
        l->started = 1;
        l->newest = sequence;
    }
    behind = ahead(l->newest, sequence);
    if (behind < 0) {
        advance_late(l, sequence - l->newest);
        behind = 0;
    }
    if (behind < l->history) set_state(l, sequence, state);
    if (state != OPEN) return;
    if (behind >= l->late) {
        give_up(l, 1);
        return;
    }
    l->counts.late_waiting++;
    memcpy(waiting_at(l, behind), l->x, l->of->n_features * sizeof(float));
}

/* The sample of a label, or NULL; counts what it found */
static const float *match(esvm_link *l, uint32_t sequence) {
    int32_t behind = ahead(l->newest, sequence);
    if (!l->started || behind < 0 || behind >= l->history || state_of(l, sequence) == UNSEEN) {
        l->counts.label_unknown++;
        return NULL;
    }
    if (state_of(l, sequence) == CLOSED) {
        l->counts.label_duplicate++;
        return NULL;
    }
    set_state(l, sequence, CLOSED);
    if (behind >= l->late) {
        l->counts.label_expired++;
        give_up(l, (uint32_t)-1);
        return NULL;
    }
    l->counts.label_matched++;
    l->counts.late_waiting--;
    return waiting_at(l, behind);
}

/* -- samples: link/_samples.pyx, runner.py ----------------------------------------------------- */

static esvm_status learn(esvm_link *l, const float *x, int16_t label, float weight) {
    int index = 0;
    esvm_status status;
    while (index < l->of->n_labels && l->of->labels[index] != label) index++;
    status = l->of->learn(l->model, x, index, (double)weight);
    if (status <= ESVM_CHANGED) l->counts.learned++;
    else if (status == ESVM_UNKNOWN_LABEL) l->counts.unknown_label++;
    else l->counts.refused_value++;
    return status;
}

/* Send the snapshot if enough was learned since it was sent last. */
static void push(esvm_link *l) {
    if (l->push == 0 || l->counts.learned - l->since_push < l->push) return;
    l->since_push = l->counts.learned;
    send_pages(l, 0, 0, UINT32_MAX);
}

/* Predict the sample in x, learn it, and send the prediction; the index predicted, or -1 */
static int handle(esvm_link *l, uint32_t sequence, int has_label, int16_t label, float weight) {
    double score = 0.0;
    int index = l->of->predict(l->model, l->x, &score);
    uint8_t flags = index == -1 ? ABSTAIN : 0;
    l->counts.taken++;
    if (index == -2) {
        l->counts.refused_value++;
        flags = REJECTED;
    } else if (!has_label) {
        if (l->late_on) enter(l, sequence, OPEN);
        else l->counts.unlabelled++;
    } else {
        esvm_status status;
        if (l->late_on) enter(l, sequence, CLOSED);
        status = learn(l, l->x, label, weight);
        if (status <= ESVM_CHANGED) flags |= weight > 0.0f ? TRAINED : 0;
        else if (status != ESVM_UNKNOWN_LABEL) {
            flags = REJECTED;
            index = -1;
        }
    }
    send_prediction(l, sequence, index, flags, score);
    push(l);
    return index < 0 ? -1 : index;
}

/* The features into x; whether all are finite */
static int read_features(esvm_link *l, const uint8_t *from) {
    uint16_t i, d = l->of->n_features;
    for (i = 0; i < d; i++) {
        if (l->schema.dtype == DTYPE_F32) l->x[i] = get_float(from + 4 * i);
        else {
            l->x[i] = l->scales[2 * i] * (float)signed16(from + 2 * i);
            l->x[i] += l->scales[2 * i + 1];
        }
    }
    for (i = 0; i < d; i++) {
        if (l->x[i] - l->x[i] == 0.0f) continue;
        if (l->x[i] != l->x[i]) l->counts.bad_nan++;
        else l->counts.bad_inf++;
        return 0;
    }
    return 1;
}

/* Compare the node's clock with its sample numbers; it orders nothing. */
static void read_clock(esvm_link *l, uint32_t time, uint32_t sequence) {
    int32_t step = ahead(time, l->clock);
    int64_t expected = (int64_t)(sequence - l->clock_sequence) * l->schema.nominal_us;
    if (l->clock_epoch == l->counts.epochs)
        l->counts.clock_jumps += step < 0 || step > expected + CLOCK_SLACK;
    l->clock_epoch = l->counts.epochs;
    l->clock = time;
    l->clock_sequence = sequence;
}

/* Sample numbers: link/_sequence.pyx. One stray number must not reopen the window. */
static void jump(esvm_link *l, uint32_t sequence) {
    int32_t step = ahead(sequence, l->home.highest);
    if (l->has_home && l->epoch.unique < WINDOW && step >= -JUMP && step <= JUMP) {
        l->epoch = l->home;
        l->has_home = 0;
        return;
    }
    if (!l->has_home || l->epoch.unique >= WINDOW) {
        l->has_home = 1;
        l->home = l->epoch;
    }
    l->open = 0;
}

static int look_back(esvm_link *l, uint32_t behind) {
    if (behind >= WINDOW) {
        l->counts.too_old++;
        return OLD;
    }
    if (l->epoch.seen >> behind & 1) {
        l->counts.duplicate++;
        return OLD;
    }
    l->epoch.seen |= (uint64_t)1 << behind;
    l->epoch.unique++;
    l->counts.reordered++;
    l->counts.unique++;
    if (behind >= l->epoch.span) { /* the epoch began earlier than thought */
        uint32_t before = behind - l->epoch.span + 1;
        l->epoch.span += before;
        l->counts.span += before;
        l->counts.missing += before - 1;
    } else l->counts.missing--;
    return REORDERED;
}

static int accept(esvm_link *l, uint32_t sequence) {
    int32_t step = ahead(sequence, l->epoch.highest);
    if (l->open && (step > JUMP || step < -JUMP)) {
        l->counts.seq_jump++;
        jump(l, sequence);
        step = ahead(sequence, l->epoch.highest);
    }
    if (!l->open) {
        l->open = 1;
        l->epoch.highest = sequence;
        l->epoch.seen = l->epoch.span = l->epoch.unique = 1;
        l->counts.epochs++;
        l->counts.span++;
        l->counts.unique++;
        return NEW;
    }
    if (step <= 0) return look_back(l, (uint32_t)-step);
    l->epoch.highest = sequence;
    l->epoch.seen = step >= WINDOW ? 1 : l->epoch.seen << step | 1;
    l->epoch.span += (uint32_t)step;
    l->epoch.unique++;
    l->counts.span += (uint32_t)step;
    l->counts.unique++;
    l->counts.missing += (uint32_t)step - 1;
    return NEW;
}

static void on_sample(esvm_link *l, const uint8_t *raw, size_t end) {
    uint32_t sequence = get32(raw + 4), jumps = l->counts.seq_jump;
    size_t at = HEADER, width = raw[0] == SAMPLE_I16 ? 2 : 4;
    int16_t label = 0;
    float weight = 1.0f;
    uint8_t flags = raw[1] & 15;
    int verdict;
    l->counts.samples++;
    if (!l->known || raw[0] != SAMPLE_F32 + l->schema.dtype - DTYPE_F32 ||
        get16(raw + 2) != l->schema.id) {
        l->counts.schema_mismatch++;
        l->doubting = 1;
        return;
    }
    l->sample_ms = l->now_ms;
    if (flags & ~(HAS_LABEL | HAS_TIME)) {
        l->counts.bad_flags++;
        return;
    }
    if (flags & HAS_TIME) at += 4;
    if (flags & HAS_LABEL) at += 4;
    if (end != at + width * l->of->n_features) {
        l->counts.bad_dimension++;
        return;
    }
    verdict = accept(l, sequence);
    if (l->late_on && l->counts.seq_jump != jumps) forget(l);
    if (verdict == OLD) return;
    if (flags & HAS_TIME && verdict == NEW) read_clock(l, get32(raw + HEADER), sequence);
    if (flags & HAS_LABEL) {
        label = signed16(raw + at - 4);
        weight = (float)get16(raw + at - 2) / 256.0f;
    }
    if (read_features(l, raw + at)) handle(l, sequence, flags & HAS_LABEL, label, weight);
    else send_prediction(l, sequence, -1, REJECTED, 0.0);
}

static void on_label(esvm_link *l, const uint8_t *raw, size_t end) {
    const float *x;
    if (get16(raw + 2) != l->schema.id) l->counts.label_mismatch++;
    else if (end != HEADER + 8 || raw[1] & 15) l->counts.bad_label++;
    else {
        x = match(l, get32(raw + 8));
        if (x == NULL) return;
        learn(l, x, signed16(raw + 12), (float)get16(raw + 14) / 256.0f);
        push(l);
    }
}

/* -- schemas: link/binary.py, scales.py -------------------------------------------------------- */

static void begin_epoch(esvm_link *l) {
    l->open = l->has_home = 0;
    if (l->late_on) forget(l);
}

/* Expect samples of the schema that has come. */
static void adopt(esvm_link *l) {
    if (l->known && l->schema.boot_id != l->coming.boot_id) begin_epoch(l);
    if (!l->known) l->heartbeat_ms = l->now_ms;
    l->known = 1;
    l->doubting = 0;
    l->schema = l->coming;
    l->sample_ms = l->hello_ms = l->now_ms;
    if (l->schema.labels == LABEL_LATE && l->late) l->late_on = 1;
    if (l->schema.dtype == DTYPE_I16)
        memcpy(l->scales, l->pairs, 2 * l->of->n_features * sizeof(float));
}

/* Of a schema without a table: values are what is sent. */
static void scale_by_one(esvm_link *l) {
    uint16_t i;
    for (i = 0; i < l->of->n_features; i++) {
        l->pairs[2 * i] = 1.0f;
        l->pairs[2 * i + 1] = 0.0f;
    }
    l->has_scales = 1;
}

static int on_schema(esvm_link *l, uint8_t *body, size_t n) {
    uint32_t nonce;
    uint16_t id;
    if (n != 26 || get16(body + 8) == 0 || body[10] < DTYPE_F32 || body[10] > DTYPE_I16 ||
        (body[11] & ~TARGETS) > LABEL_LATE || signed16(body + 12) < 0 || get16(body + 14) < LEAST_RAW ||
        get16(body + 16))
        return 0;
    l->counts.schemas++;
    nonce = get32(body);
    if (nonce && nonce != l->nonce) {
        l->counts.schema_stale++;
        return 1;
    }
    if (get16(body + 8) != l->of->n_features || (body[10] == DTYPE_I16 && l->scales == NULL) ||
        body[11] & TARGETS) {
        l->counts.schema_refused++;
        return 1;
    }
    put32(body, 0);
    id = (uint16_t)esvm_crc32(0, body, 26);
    if (id == 0) id = 1;
    if (body[10] == DTYPE_F32) l->is_coming = 0;
    else if (!l->is_coming || l->coming.id != id) {
        l->is_coming = 1;
        l->has_scales = 0;
        l->n_pairs = l->next_page = 0;
        if (get32(body + 22) == 0) scale_by_one(l);
    }
    l->coming.boot_id = get32(body + 4);
    l->coming.dtype = body[10];
    l->coming.labels = body[11];
    l->coming.nominal_us = get32(body + 18);
    l->coming.scale_crc = get32(body + 22);
    l->coming.id = id;
    if (!l->is_coming || l->has_scales) adopt(l);
    return 1;
}

/* Is the scale table that has come the schema's, and finite? */
static int is_table(const esvm_link *l) {
    uint8_t bytes[4];
    uint32_t i, bits, crc = 0;
    if (l->n_pairs != l->of->n_features) return 0;
    for (i = 0; i < 2 * l->n_pairs; i++) {
        if (l->pairs[i] - l->pairs[i] != 0.0f) return 0;
        memcpy(&bits, l->pairs + i, 4);
        put32(bytes, bits);
        crc = esvm_crc32(crc, bytes, 4);
    }
    return crc == l->coming.scale_crc;
}

/* Add a page of the table; 0 if it cannot belong to it. */
static int take_pairs(esvm_link *l, const uint8_t *body, size_t n) {
    uint32_t i, given = (uint32_t)(n - 4) / 8;
    if (l->has_scales) return 1;
    if (get16(body) == 0) l->n_pairs = l->next_page = 0;
    if (get16(body) != l->next_page) return 1;
    l->next_page++;
    if (l->n_pairs + given > l->of->n_features) {
        l->n_pairs = l->next_page = 0;
        return 0;
    }
    for (i = 0; i < 2 * given; i++) l->pairs[2 * l->n_pairs + i] = get_float(body + 4 + 4 * i);
    l->n_pairs += given;
    if (l->next_page < get16(body + 2)) return 1;
    l->has_scales = (uint8_t)is_table(l);
    l->n_pairs = l->next_page = 0;
    if (l->has_scales) adopt(l);
    return l->has_scales;
}

static int on_scales(esvm_link *l, uint16_t schema_id, const uint8_t *body, size_t n) {
    if (n <= 4 || (n - 4) % 8 || get16(body) >= get16(body + 2)) return 0;
    if (l->is_coming && l->coming.id == schema_id && !take_pairs(l, body, n)) return 0;
    l->counts.scale_pages++;
    return 1;
}

/* -- frames in: link/_frames.pyx --------------------------------------------------------------- */

static int on_heartbeat(esvm_link *l, const uint8_t *body, size_t n) {
    if (n != 32) return 0;
    l->counts.heartbeats++;
    if (l->known && get32(body) != l->schema.boot_id) l->doubting = 1;
    return 1;
}

static int on_ack(esvm_link *l, size_t n) {
    if (n < 4 || n > 20) return 0;
    l->counts.acks++;
    return 1;
}

/* A frame that is neither sample nor label; 0 if its body is not of its type */
static int on_control(esvm_link *l, uint8_t *raw, size_t n) {
    uint8_t *body = raw + HEADER;
    switch (raw[0]) {
    case SCHEMA: return on_schema(l, body, n);
    case SCALES: return on_scales(l, get16(raw + 2), body, n);
    case HEARTBEAT: return on_heartbeat(l, body, n);
    case ACK: return on_ack(l, n);
    case SNAPSHOT_ASK: return on_ask(l, body, n);
    case SNAPSHOT_PAGE: return on_page(l, body, n);
    case LOG: l->counts.logs++; return 1;
    default: l->counts.ignored++; return 1;
    }
}

/* Undo COBS in place; the length, or more than n if a block is cut short */
static size_t uncobs(uint8_t *p, size_t n) {
    size_t i = 0, out = 0;
    while (i < n) {
        size_t code = p[i];
        if (i + code > n) return n + 1;
        memmove(p + out, p + i + 1, code - 1);
        out += code - 1;
        i += code;
        if (code < 255 && i < n) p[out++] = 0;
    }
    return out;
}

static void on_run(esvm_link *l, uint32_t n) {
    uint8_t *raw = l->rx;
    size_t length = uncobs(raw, n), end = length - CRC;
    l->counts.frames++;
    l->counts.bytes_rejected += n;
    if (length > n) l->counts.bad_cobs++;
    else if (length < LEAST_RAW || length > l->max_raw) l->counts.bad_len++;
    else if (esvm_crc32(0, raw, end) != get32(raw + end)) l->counts.bad_crc++;
    else {
        l->counts.ok++;
        l->counts.bytes_ok += n;
        l->counts.bytes_rejected -= n;
        if (raw[1] >> 4 != VERSION) l->counts.bad_version++;
        else if (raw[0] == SAMPLE_F32 || raw[0] == SAMPLE_I16) on_sample(l, raw, end);
        else if (raw[0] == LABEL && l->late_on) on_label(l, raw, end);
        else if (!on_control(l, raw, end - HEADER)) l->counts.bad_control++;
    }
}

static void take(esvm_link *l, uint8_t byte) {
    esvm_link_counts *c = &l->counts;
    uint32_t held = c->pending;
    c->bytes_in++;
    if (byte && l->skipping) {
        c->bytes_rejected++;
        c->discarded_bytes += l->discarding;
    } else if (byte && held < l->rx_bytes) {
        l->rx[held] = byte;
        c->pending++;
    } else if (byte) { /* too long: counted once */
        c->frames++;
        c->oversize++;
        c->bytes_rejected += held + 1;
        c->pending = 0;
        l->skipping = 1;
    } else {
        c->delimiters++;
        c->pending = 0;
        if (l->skipping) l->skipping = l->discarding = 0;
        else if (held == 0) c->empty++;
        else on_run(l, held);
    }
}

/* -- the three calls ----------------------------------------------------------------------------- */

void esvm_link_begin(esvm_link *l, uint32_t boot_id) {
    l->boot_id = l->nonce = boot_id ? boot_id : 1;
    l->sent_ms = (uint32_t)-IDLE_MS;
    l->skipping = l->discarding = 1; /* what comes first may be the end of a frame */
}

void esvm_link_feed(esvm_link *l, const uint8_t *bytes, size_t n) {
    for (; n; n--) take(l, *bytes++);
}

int esvm_link_own(esvm_link *l, const float *x, int index) {
    memcpy(l->x, x, l->of->n_features * sizeof(float));
    l->known = 1; /* there is a sensor: no SCHEMA needs to be asked for */
    l->doubting = 0;
    l->sample_ms = l->now_ms;
    return handle(l, l->counts.own++, index >= 0, index < 0 ? 0 : l->of->labels[index], 1.0f);
}

void esvm_link_tick(esvm_link *l, uint32_t now_ms) {
    l->now_ms = now_ms;
    if (l->known && ahead(now_ms, l->heartbeat_ms) >= HEARTBEAT_MS) {
        l->heartbeat_ms = now_ms;
        send_heartbeat(l);
    }
    if (l->known && now_ms - l->sample_ms >= SILENT_MS) l->doubting = 1;
    if ((!l->known || l->doubting) && ahead(now_ms, l->hello_ms) >= 0) {
        l->hello_ms = now_ms + HELLO_MS;
        send_hello(l);
    }
}
#endif
