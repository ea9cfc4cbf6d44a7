/* ByteSVM in integers: the one source of the host's core and of exported C.
 *
 * A sample x is scaled to z, 32 to a deviation, -127 to 127. Direction p has K = min(8, D) entries u, bytes of its
 * width's scale, and looks at K of the features. Its angle is u.z turns / 65536 (of its width), its features are
 * c = cos and s = sin of it, 127 to one. With P directions, amplitude A of a width and weights w, bytes of a unit
 * that is 2^e, class v has the logit
 *
 *     logit_v = unit 2^e sum_p A_p (w_c c + w_s s)             unit = 3 / (sqrt(2 P) 127^2)
 *
 * and a sample of class y moves, all roundings by chance (floor(. + U), U of 16 bits from a hash of sample and place),
 *
 *     g_v  = [y = v] - sigma(logit_v), 0 if |g_v| < .05        G_v += g_v^2 mean f^2
 *     w_v += 1.5 / sqrt(2 P) g_v f / sqrt(G_v)                  AdaGrad; where 1/64 of them meet 127: w / 2, e + 1
 *     e_p  = sum_v g_v (w_s c - w_c s)                          H += mean e^2 |z|^2 / D
 *     u_p += .7 / sqrt(D) e_p z / sqrt(H)
 *
 * Fixed point is written Qn: the number times 2^n. Nothing is allocated, and no number is a float but a sample's,
 * of which only the bits are read. An int may have 16 bits (AVR).
 */
#ifndef EDGESVM_BYTE_H
#define EDGESVM_BYTE_H

#include <stdint.h>
#include <string.h>

#ifndef EDGESVM_CLONES
#define EDGESVM_CLONES
#endif
#if defined(__GNUC__) && !defined(__AVR__) /* whose flash is small */
#define BYTE_INLINE static inline __attribute__((always_inline))
#else
#define BYTE_INLINE static inline
#endif
#ifndef BYTE_TEXT /* of people; a board has none */
#define BYTE_TEXT(text) text
#endif
#ifndef BYTE_MOST_VECTORS /* of weights: 1 for two classes */
#define BYTE_MOST_VECTORS 127
#endif

enum {
    BYTE_KEPT = 8,       /* features of a direction, if there are as many */
    BYTE_WIDTHS = 4,     /* direction p has width p % 4 */
    BYTE_BLOCK = 8,      /* directions that step through the features alike */
    BYTE_STRIDES = 8,
    BYTE_DEAD = 1638,    /* .05, Q15: a smaller slope is none */
    BYTE_LEAST_STEP = 9, /* Q16: a step below 1/64 of a weight's unit, of which rounding would be most, is none */
    BYTE_SEEN = 10,      /* samples whose values far out are not told, as these may not say what is */
    BYTE_FAR = 8,        /* deviations beyond which a value is far out, and that it counts as */
    BYTE_AWHILE = 16,    /* samples in a row that are far out and count for the scale */
    BYTE_FOR_GOOD = 127, /* fives of samples in a row with one value, from which on they count and are learned */
    BYTE_LASTING = 128,  /* samples in a row with other values, from which on the scale starts anew, by as many */
    BYTE_ALWAYS = 64,    /* samples that each enter the mean; then every 8th */
    BYTE_LATELY = 1000,  /* samples that a share of errors is about */
    BYTE_STEEPEST = 24,  /* largest exponent of a unit */
    BYTE_HORIZON = 32767, /* samples that the mean is about */
    BYTE_FEW_OVER = 64,  /* a vector is halved where more than 1/64 of its weights meet their limit */
    BYTE_FEW_LARGE = 1024, /* and doubled where no more than 1/1024 of them are at half of it */
    BYTE_MOST_STEPS = 8, /* of one sample with a large weight */
    BYTE_FINE_DEAD = 300, /* .009: where two classes shall count alike */
    BYTE_RECENT = 256,   /* steps that the share of a class is about */
    BYTE_SETTLED = 5000, /* samples after which directions move less */
    BYTE_MOST_KEPT = 512, /* samples of all classes together */
    BYTE_FIRST = 150,    /* samples, and of a class BYTE_FEW, after each of which two kept ones are learned again */
    BYTE_FEW = 64,
    BYTE_KEPT_UNIT = 13  /* of z, in a kept sample */
};

/* What follows from the parameters and the number of classes; constant in an exported model. */
typedef struct {
    int32_t n_features, n_kept, n_classes, n_vectors, n_directions;
    int32_t has_mean;   /* whether the weights' mean is kept */
    int32_t is_common;  /* whether all features have one scale, and mean 0 */
    int32_t learns_directions;
    int32_t counts;     /* whether samples are counted in the model, by class */
    int32_t replays, is_balanced; /* whether the shares of classes are made up for; whether they shall be equal */
    int32_t n_slots, slot_bytes;    /* samples of a class that are kept, and bytes of one */
    int32_t at_counts, at_shares, at_scale, at_u, at_w, at_mean, at_code, at_slots; /* bytes of the model */
    uint32_t key;
    int32_t angle[BYTE_WIDTHS];  /* of u.z >> angle_shift, 65536 to a turn */
    int32_t angle_shift;
    int32_t move[BYTE_WIDTHS];   /* .7 / sqrt(D) in the width's bytes, Q16 */
    int32_t unit, unit_shift;    /* Q10 of a logit by A R, Q12 */
    uint32_t stride[BYTE_STRIDES];
} byte_shape;

typedef struct { /* at the start of the model */
    uint64_t H_amplitudes, H_directions;
    int16_t tilt[BYTE_WIDTHS + 1];       /* log2 of an amplitude beside its first, Q12 */
    uint16_t amplitude[BYTE_WIDTHS + 1]; /* Q12, mean square 1; the last is that of 1 */
    uint16_t lapses[2];                  /* share of errors lately, Q16: of the weights, of both together */
    uint8_t n_classes, n_features[2];
    uint8_t n_lasting;                   /* samples in a row far out, stuck ones a fifth; then those to start anew by */
    uint16_t far_out;                    /* samples with a value far out, up to 65,535 */
    uint8_t far_value;                   /* hash of the first such value of the last of them */
    uint8_t lasting;                     /* features, by d % 8, that were far out in each of these */
} byte_head;

typedef struct { /* of a vector of weights */
    uint32_t G;              /* Q10 */
    uint8_t e, e_mean;       /* exponents of the units */
    int8_t one, one_mean;    /* weights of 1 */
} byte_row;

typedef struct { /* of a feature: mean and deviation are m and s times 2^e; s is 0 before it varied */
    int8_t e;
    uint8_t s;
    uint8_t m[3];
} byte_scale;

typedef struct { /* of a model that replays; shares are Q16 */
    uint16_t lapses[3]; /* errors lately: of the weights and of both over 4,096 samples, of the weights over 16,384 */
    uint16_t lately[];  /* of the steps, by class; of two classes the second's */
} byte_shares;

/* -- numbers ------------------------------------------------------------------------------------ */

static inline uint32_t byte_mix(uint32_t h) { /* lowbias32, Wellons 2018 */
    h = (h ^ h >> 16) * 0x7FEB352Du;
    h = (h ^ h >> 15) * 0x846CA68Bu;
    return h ^ h >> 16;
}

static inline uint32_t byte_hash(uint32_t key, uint32_t a, uint32_t b) {
    return byte_mix(key + a * 0x9E3779B1u + b * 0x85EBCA6Bu);
}

BYTE_INLINE uint32_t byte_next(uint32_t s) { /* xorshift, Marsaglia 2003 */
    s ^= s << 13;
    s ^= s >> 17;
    return s ^ s << 5;
}

static inline uint32_t byte_below(uint32_t chance, uint32_t n) { return (uint32_t)((uint64_t)chance * n >> 32); }

static inline uint32_t byte_least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static inline int32_t byte_clip(int32_t v, int32_t most) { return v > most ? most : v < -most ? -most : v; }

static inline int64_t byte_clip_wide(int64_t v, int64_t most) { return v > most ? most : v < -most ? -most : v; }

/* v 2^-n, rounded by chance: U has n bits */
static inline int32_t byte_by_chance(int32_t v, int n, uint32_t U) {
    return (v + (int32_t)(U & (((uint32_t)1 << n) - 1u))) >> n;
}

static uint32_t byte_root(uint32_t v) {
    uint32_t r = 0, b = (uint32_t)1 << 30;
    while (b > v) b >>= 2;
    for (; b; b >>= 2) {
        if (v >= r + b) {
            v -= r + b;
            r = (r >> 1) + b;
        } else {
            r >>= 1;
        }
    }
    return r;
}

/* 2^31 / sqrt(v) = result * 2^-shift, the result of 16 bits */
static uint32_t byte_inverse_root(uint64_t v, int *shift) {
    int by = 0;
    while (v >> 32) {
        v >>= 2;
        by++;
    }
    while (v < (uint64_t)1 << 30) {
        v <<= 2;
        by--;
    }
    *shift = by;
    return 0x7FFFFFFFu / byte_root((uint32_t)v);
}

/* cos of i / 256 turns, 127 to one: the parabola 4 a (1 - |a|), once refined */
static int byte_cos(int i) {
    int a = (int8_t)(i + 64) * 2 + 1, s, size; /* sin of a / 512 turns */
    s = a * (256 - (a < 0 ? -a : a));          /* 1 is 2^14 */
    size = s < 0 ? -s : s;
    s = (int)(((int32_t)s * (12698 + ((int32_t)size * 3686 >> 14))) >> 14);
    return (int)(((int32_t)s * 127 + 8192) >> 14);
}

/* 2^t, Q14 of Q12, t <= 0 */
static int32_t byte_exp2(int32_t t) {
    int32_t rest = t & 4095, m = 4096 + (rest * (2687 + (rest * 1409 >> 12)) >> 12);
    return t < -61440 ? 0 : m * 4 >> -(t >> 12);
}

/* sigma(logit), Q15 of Q10 */
static int32_t byte_sigma(int32_t logit) {
    int32_t size = byte_clip(logit < 0 ? -logit : logit, 10240);
    int32_t odds = byte_exp2(-(size * 5909 >> 10)); /* exp(-size), log2(e) is 5909 / 4096 */
    int32_t low = (int32_t)(((uint32_t)odds << 15) / (uint32_t)(16384 + odds));
    return logit > 0 ? 32768 - low : low;
}

/* -- the layout ---------------------------------------------------------------------------------- */

static int32_t byte_common(int32_t a, int32_t b) {
    while (b) {
        int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Samples of a class that `left` bytes keep: an eighth of the bytes below 8 KiB, else a third; at most 512 of all
 * classes, and fewer than two are none. */
static inline int32_t byte_find_slots(int32_t left, int32_t slot_bytes, int32_t n_classes) {
    int32_t n = left / (left < 8192 ? 8 : 3) / (slot_bytes * n_classes);
    if (n > BYTE_MOST_KEPT / n_classes) n = BYTE_MOST_KEPT / n_classes;
    return n < 2 ? 0 : n;
}

/* The layout of n_bytes for this many classes: head, rows, counts of samples if there are more than two classes and
 * they are counted here, shares, scales, u, w, the mean of w, the scales of kept samples, and these. The mean is kept
 * where 40 directions are left beside it (with several vectors 300). */
static inline void byte_lay_out(
    byte_shape *s, int32_t n_bytes, int32_t n_features, int32_t n_classes, int32_t is_common, int32_t learns_directions,
    int32_t counts, int32_t replays, int32_t is_balanced, uint32_t key) {
    /* of widths .1, .5, 2.2 and 10 with one feature: 3.2 sqrt(2 w) / 127 is an entry of 1, in turns of z = 1, Q24 */
    static const int32_t angle[BYTE_WIDTHS] = {940, 2102, 4410, 9403};
    static const int32_t move[BYTE_WIDTHS] = {127223, 56896, 27124, 12722}; /* .7 / 32 of it, Q16 */
    int32_t left, each, root, k, of_scales = (int32_t)sizeof(byte_scale) * (is_common ? 1 : n_features);
    s->n_features = n_features;
    s->n_kept = n_features < BYTE_KEPT ? n_features : BYTE_KEPT;
    s->n_classes = n_classes;
    s->n_vectors = n_classes > 2 ? n_classes : 1;
    s->is_common = is_common;
    s->learns_directions = learns_directions;
    s->key = key;
    s->at_counts = (int32_t)sizeof(byte_head) + s->n_vectors * (int32_t)sizeof(byte_row);
    s->counts = counts && n_classes > 2;
    s->replays = replays;
    s->is_balanced = is_balanced;
    s->at_shares = s->at_counts + (s->counts ? 8 * n_classes : 0);
    s->at_scale = s->at_shares + (replays ? (int32_t)sizeof(byte_shares) + 2 * s->n_vectors : 0);
    s->at_u = s->at_scale + of_scales;
    left = n_bytes > s->at_u ? n_bytes - s->at_u : 0;
    s->slot_bytes = n_bytes >= 8192 && n_bytes / 512 >= n_features ? n_features : (n_features + 1) / 2;
    s->n_slots = replays && left > of_scales ? byte_find_slots(left - of_scales, s->slot_bytes, n_classes) : 0;
    if (s->n_slots) left -= of_scales + s->n_slots * s->slot_bytes * n_classes;
    each = s->n_kept + 2 * s->n_vectors;
    s->n_directions = left / (each + 2 * s->n_vectors);
    s->has_mean = s->n_directions >= (s->n_vectors == 1 ? 40 : 300);
    if (!s->has_mean) s->n_directions = left / each;
    s->at_w = s->at_u + s->n_directions * s->n_kept;
    s->at_mean = s->at_w + s->n_directions * 2 * s->n_vectors;
    s->at_code = s->at_mean + (s->has_mean ? s->at_mean - s->at_w : 0);
    s->at_slots = s->at_code + (s->n_slots ? of_scales : 0);

    s->angle_shift = s->n_kept > 4 ? 2 : s->n_kept > 2 ? 1 : 0; /* u.z has 16 bits then */
    root = (int32_t)byte_root((uint32_t)s->n_kept << 16); /* Q8 */
    for (k = 0; k < BYTE_WIDTHS; k++) s->angle[k] = ((angle[k] << s->angle_shift) + root / 2) / root;
    root = (int32_t)byte_root(((uint32_t)s->n_kept << 24) / (uint32_t)n_features); /* of K / D, Q12 */
    for (k = 0; k < BYTE_WIDTHS; k++) s->move[k] = (int32_t)((int64_t)move[k] * root >> 12);
    root = (int32_t)byte_root((uint32_t)(s->n_directions > 0 ? 2 * s->n_directions : 1) << 10); /* of 2 P, Q5 */
    s->unit = s->unit_shift = 0; /* 3 / (sqrt(2 P) 127^2) 2^10 / 2^12 */
    while (s->unit < 32768) s->unit = (int32_t)(((int64_t)24 << ++s->unit_shift) / (16129 * (int64_t)root));
    s->stride[0] = 1;
    for (k = 1; k < BYTE_STRIDES; k++) {
        int32_t stride = 1 + (int32_t)((uint64_t)byte_hash(key, 0, (uint32_t)k) * (uint32_t)n_features >> 32);
        while (byte_common(stride, n_features) != 1) stride++;
        s->stride[k] = (uint32_t)(stride % n_features);
    }
}

static inline byte_head *byte_head_of(char *model) { return (byte_head *)model; }
static inline byte_row *byte_rows_of(char *model) { return (byte_row *)(model + sizeof(byte_head)); }
static inline byte_shares *byte_shares_of(const byte_shape *s, char *model) {
    return (byte_shares *)(model + s->at_shares);
}

/* -- the scale ----------------------------------------------------------------------------------- */

static inline int32_t byte_mean_of(const byte_scale *f) {
    return (int32_t)((uint32_t)f->m[0] << 8 | (uint32_t)f->m[1] << 16 | (uint32_t)f->m[2] << 24) >> 8;
}

#define BYTE_MOST_MEAN 8388607 /* of 24 bits */

/* Set mean and deviation, in units of 2^e; the unit is changed until the deviation has 8 bits, where the mean has room. */
static void byte_set_scale(byte_scale *f, int32_t e, int32_t m, int32_t s) {
    while (s > 255 || m > BYTE_MOST_MEAN || m < -BYTE_MOST_MEAN) {
        s = (s + 1) >> 1;
        m = (m + 1) >> 1;
        e++;
    }
    while (s && s < 128 && m <= BYTE_MOST_MEAN / 2 && m >= -BYTE_MOST_MEAN / 2 && e > -120) {
        s *= 2;
        m *= 2;
        e--;
    }
    f->e = (int8_t)byte_clip(e, 127);
    f->s = (uint8_t)s;
    f->m[0] = (uint8_t)m;
    f->m[1] = (uint8_t)(m >> 8);
    f->m[2] = (uint8_t)(m >> 16);
}

/* Sign, exponent and 24 bits of a float that is finite: x = m 2^e */
static inline int32_t byte_parts(float x, int32_t *e) {
    uint32_t bits;
    int32_t m, exponent;
    memcpy(&bits, &x, 4);
    exponent = (int32_t)(bits >> 23 & 255);
    m = (int32_t)(bits & 0x7FFFFF) | (exponent ? 0x800000 : 0);
    *e = (exponent ? exponent : 1) - 150;
    return bits >> 31 ? -m : m;
}

/* x / 2^e rounded, at most 2^29 */
static inline int32_t byte_units(float x, int32_t e) {
    int32_t by, m = byte_parts(x, &by), right;
    by = byte_clip(by - e, 26);                /* by 26 to the right all are 0 */
    right = -by & by >> 31;
    m = (m + ((int32_t)1 << right >> 1)) >> right;
    return byte_clip(m * ((int32_t)1 << (byte_clip(by, 6) & ~(by >> 31))), 536870912); /* 2^29 */
}

static inline int byte_is_finite(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return (bits >> 23 & 255) != 255;
}

static int byte_all_finite(const byte_shape *s, const float *x) {
    int32_t d;
    for (d = 0; d < s->n_features; d++)
        if (!byte_is_finite(x[d])) return 0;
    return 1;
}

/* a / b, of a >= 0 and b > 0, below 2^20 */
static inline int32_t byte_quotient(int32_t a, int32_t b) {
#ifdef EDGESVM_VECTORS /* which have none of integers */
    int32_t q = (int32_t)((float)a / (float)b), rest = a - q * b;
    return q + (rest >= b) - (rest < 0);
#else
    return a / b;
#endif
}

/* A value in the units of a feature, less its mean, as z */
static inline int8_t byte_code(int32_t s, int32_t v) {
    int32_t size = byte_clip(v < 0 ? -v : v, 4 * s);
    size = byte_clip(byte_quotient(64 * size + s, 2 * s + !s), 127);
    return (int8_t)(v < 0 ? -size : size);
}

static inline int8_t byte_code_of(const byte_scale *f, float x) {
    return byte_code(f->s, byte_units(x, f->e) - byte_mean_of(f));
}

typedef struct { /* the values far out of a sample, which is stuck if the first is that of the last such sample */
    byte_head *head;
    int32_t features, is_stuck; /* features by d % 8 */
} byte_far;

/* Take note of a value far out, of feature d. Returns whether it counts for the scale. */
static int byte_note_far(byte_far *far, float x, int32_t d) {
    byte_head *head = far->head;
    int lasts = head->n_lasting >= BYTE_AWHILE && head->n_lasting < BYTE_LASTING && head->lasting >> (d & 7) & 1;
    if (!far->features) {
        uint32_t value;
        memcpy(&value, &x, 4);
        value = byte_hash(value, (uint32_t)d, 4) >> 24;
        far->is_stuck = value == head->far_value;
        head->far_value = (uint8_t)value;
    }
    far->features |= 1 << (d & 7);
    return head->n_lasting == BYTE_FOR_GOOD || (!far->is_stuck && !lasts);
}

/* The one scale of all features follows the mean square of the n-th sample. */
static void byte_learn_common(
    const byte_shape *s, byte_far *far, byte_scale *f, const float *x, uint32_t n) {
    uint64_t sum = 0;
    int32_t d, e, largest = -150, square, bound;
    for (d = 0; d < s->n_features; d++)
        if (byte_parts(x[d], &e) && e > largest) largest = e;
    if (n == 1 || (n == 2 && largest > -150 && largest + 22 < f->e)) f->s = 0; /* the first was far out */
    if (!f->s) { /* the first that is not zero */
        f->e = (int8_t)byte_clip(largest + 16, 120);
        bound = 65536;
        n = 1;
    } else {
        bound = BYTE_FAR * f->s;
    }
    for (d = 0; d < s->n_features; d++) {
        int64_t v = byte_units(x[d], f->e);
        if (v > bound || v < -bound) v = n <= 3 || byte_note_far(far, x[d], d) ? bound : 0;
        sum += (uint64_t)(v * v);
    }
    square = (int32_t)(sum / (uint32_t)s->n_features > 0x7FFFFFFF ? 0x7FFFFFFF : sum / (uint32_t)s->n_features);
    if (!f->s) {
        int32_t root = (int32_t)byte_root((uint32_t)square);
        if (square) byte_set_scale(f, f->e, 0, root ? root : 1);
    } else {
        int32_t more = (int32_t)((int64_t)(square / f->s - f->s) * 4096 / (int64_t)n);
        int32_t spread = f->s + byte_by_chance(more, 13, byte_hash(s->key, n, 1));
        byte_set_scale(f, f->e, 0, spread < 1 ? 1 : spread);
    }
}

typedef struct { /* a value is the n-th; a / n = a by >> (32 + shift) */
    uint32_t n;
    int32_t by;
    int shift;
} byte_pace;

/* For |a| < 2^30, n > 2: Granlund and Montgomery 1994 */
static byte_pace byte_find_pace(uint32_t n) {
    byte_pace pace = {n, 0, 0};
#ifndef __AVR__ /* whose flash is small */
    while ((uint32_t)4 << pace.shift < n) pace.shift++;
    pace.by = n ? (int32_t)((((uint64_t)1 << (32 + pace.shift)) + n - 1) / n) : 0;
#endif
    return pace;
}

static inline int32_t byte_divide(int32_t a, byte_pace n) {
#ifdef __AVR__
    return a / (int32_t)n.n;
#else
    int32_t sign = a >> 31;
    return ((int32_t)((int64_t)((a ^ sign) - sign) * n.by >> 32) >> n.shift ^ sign) - sign;
#endif
}

/* Mean and deviation follow the value m + d, in units that stay; a deviation 0 stays. */
static inline void byte_follow(int32_t *m, int32_t *s, int32_t d, byte_pace pace, uint32_t chance) {
    int32_t was = *s, more;
    d = byte_clip(d, BYTE_FAR * was);
    *m += byte_by_chance(byte_divide(d * 65536, pace), 16, chance);
    more = byte_quotient(d * d, was + !was);
    more -= more > 0; /* q (n - 1) / n is t - t / n for t = q - 1 */
    more -= byte_divide(more, pace) + was;
    *s += byte_by_chance(byte_divide(more * 4096, pace), 13, chance >> 16);
    *s = (*s < 1 ? 1 : *s) & -(was > 0);
}

/* Mean and deviation of feature d follow its n-th value by Welford's recurrence; one far out counts as BYTE_FAR
 * deviations, or not at all. */
static void byte_learn_feature(
    const byte_shape *shape, byte_far *far, byte_scale *f, float x, int32_t feature, byte_pace pace) {
    uint32_t chance = byte_hash(shape->key, pace.n, (uint32_t)feature);
    int32_t e = f->e, m = byte_mean_of(f), s = f->s, own, d = byte_units(x, e) - m, size = d < 0 ? -d : d;
    int32_t n = (int32_t)pace.n;
    (void)byte_parts(x, &own);
    own = byte_clip(own + 2, 120);
    if (n == 1 || (n == 3 && s && size >= s - s / 64 && size <= s + s / 64)) {
        byte_set_scale(f, own, byte_units(x, own), 0); /* one of the first two again, the other far away, begins anew */
        return;
    }
    if (!s) { /* it has not varied so far: the first other value counts in full */
        if (own > e && d) {
            m = own - e > 30 ? 0 : m >> (own - e);
            e = own;
            d = byte_units(x, e) - m;
        }
        if (!d) return;
        size = d < 0 ? -d : d;
        s = (int32_t)byte_root(n > 65536 ? 0xFFFF0000u : (uint32_t)(n - 1) << 16); /* of n - 1, Q8 */
        s = (int32_t)(((uint64_t)(uint32_t)size * (uint32_t)s >> 8) / pace.n);
        byte_set_scale(f, e, m + d / n, s ? s : 1);
        return;
    }
    if (size > BYTE_FAR * s && n > 3 && !byte_note_far(far, x, feature)) return;
    byte_follow(&m, &s, d, pace, chance);
    byte_set_scale(f, e, m, s);
}

#ifdef EDGESVM_VECTORS
enum { BYTE_SCALES = 16 };

/* That of most features, in loops that the compiler makes vectors of; rare cases one by one */
EDGESVM_CLONES
static int32_t byte_scale_many(
    const byte_shape *s, byte_far *far, byte_scale *f, const float *x, int8_t *z, byte_pace pace) {
    int32_t e[BYTE_SCALES], ms[BYTE_SCALES], v[BYTE_SCALES], is_rare[BYTE_SCALES], d, l;
    if (pace.n && pace.n <= 3) return 0;
    for (d = 0; d + BYTE_SCALES <= s->n_features; d += BYTE_SCALES, x += BYTE_SCALES, z += BYTE_SCALES) {
        byte_scale *at = s->is_common ? f : f + d;
        int32_t rare = 0;
        for (l = 0; l < BYTE_SCALES; l++, at += !s->is_common) {
            e[l] = at->e;
            memcpy(&ms[l], (const char *)at + 1, 4); /* the deviation, and the mean above it */
        }
        for (l = 0; l < BYTE_SCALES; l++) v[l] = byte_units(x[l], e[l]);
        for (l = 0; pace.n && l < BYTE_SCALES; l++) {
            int32_t m = ms[l] >> 8, was = ms[l] & 255, now = was, off = v[l] - m, size, is_far;
            is_far = (was > 0) & ((off < 0 ? -off : off) > BYTE_FAR * was);
            byte_follow(&m, &now, off, pace, byte_hash(s->key, pace.n, (uint32_t)(d + l)));
            size = m < 0 ? -m : m;
            is_rare[l] = -(is_far | ((was == 0) & (off != 0)) | (now > 255) | (size > BYTE_MOST_MEAN)
                | ((was > 0) & (now < 128) & (size <= BYTE_MOST_MEAN / 2) & (e[l] > -120)));
            rare |= is_rare[l];
            ms[l] = (ms[l] & is_rare[l]) | ((m * 256 | now) & ~is_rare[l]);
        }
        for (l = 0; l < BYTE_SCALES; l++) z[l] = byte_code(ms[l] & 255, v[l] - (ms[l] >> 8));
        for (l = 0; pace.n && l < BYTE_SCALES; l++) memcpy((char *)(f + d + l) + 1, &ms[l], 4);
        for (l = 0; rare && l < BYTE_SCALES; l++)
            if (is_rare[l]) {
                byte_learn_feature(s, far, f + d + l, x[l], d + l, pace);
                z[l] = byte_code_of(f + d + l, x[l]);
            }
    }
    return d;
}
#else
#define byte_scale_many(...) 0
#endif

/* Take note of the values far out of the n-th sample. Returns whether it teaches the weights nothing: while features
 * start anew, and when it is stuck, unless so few samples of its class had none that this may be what tells the class. */
static int byte_note_dropout(const byte_far *far, uint32_t n, int64_t n_of_class) {
    byte_head *head = far->head;
    int lasting = head->n_lasting, is_anew = lasting >= BYTE_LASTING;
    if (far->features && n > BYTE_SEEN && head->far_out < 65535) head->far_out++;
    if (is_anew) {
        if (++head->n_lasting == 0) head->lasting = 0; /* after 255 */
    } else if (head->lasting & far->features) {
        head->lasting &= (uint8_t)far->features;
        if (far->is_stuck) lasting += n % 5 == 0 && lasting < BYTE_FOR_GOOD;
        else if (lasting == BYTE_FOR_GOOD) lasting = BYTE_AWHILE;
        else lasting += lasting + 1 == BYTE_FOR_GOOD ? 2 : 1;
        head->n_lasting = (uint8_t)lasting;
    } else {
        head->lasting = (uint8_t)far->features;
        head->n_lasting = 0;
    }
    return is_anew
        || (far->is_stuck && head->n_lasting != BYTE_FOR_GOOD && n_of_class > 2 * (int64_t)head->far_out);
}

/* z of a sample; scales learn from it if it is the n-th, n > 0. */
static byte_far byte_scale_sample(const byte_shape *s, char *model, const float *x, int8_t *z, uint32_t n) {
    byte_scale *f = (byte_scale *)(model + s->at_scale);
    byte_far far = {byte_head_of(model), 0, 0};
    byte_pace pace = byte_find_pace(n), anew = pace;
    int32_t d = 0, starting = far.head->n_lasting < BYTE_LASTING ? 0 : far.head->lasting;
    if (starting) anew = byte_find_pace(far.head->n_lasting - BYTE_LASTING + (uint32_t)1);
    if (n && s->is_common) byte_learn_common(s, &far, f, x, anew.n);
    if (s->is_common) pace.n = 0;
    if (!starting || !pace.n) d = byte_scale_many(s, &far, f, x, z, pace);
    for (; d < s->n_features; d++) {
        byte_scale *of = s->is_common ? f : f + d;
        if (pace.n) byte_learn_feature(s, &far, of, x[d], d, starting >> (d & 7) & 1 ? anew : pace);
        z[d] = byte_code_of(of, x[d]);
    }
    return far;
}

/* -- amplitudes ---------------------------------------------------------------------------------- */

enum { BYTE_FAINTEST = -27206, BYTE_MOST_OF_ONE = 8192 }; /* log2 Q12: an amplitude's least, 1 / 100 of the largest; 1's
                                                           * most, 4 times the largest of the others */

static inline int32_t byte_first_tilt(int k) { return k < BYTE_WIDTHS ? -4096 * k : 0; } /* each width half of the one before */

static void byte_find_amplitudes(byte_head *head) {
    uint32_t a[BYTE_WIDTHS + 1], sum = 0;
    int k;
    for (k = 0; k <= BYTE_WIDTHS; k++) {
        a[k] = (uint32_t)byte_exp2(byte_first_tilt(k) + head->tilt[k]);
        sum += a[k] * a[k];
    }
    sum = byte_root(sum);
    for (k = 0; k <= BYTE_WIDTHS; k++) head->amplitude[k] = (uint16_t)(a[k] * 9159u / sum); /* sqrt(5) Q12 */
}

/* parts: what each width, and 1, has in the logits, times the slopes; Q10 */
static void byte_learn_amplitudes(byte_head *head, const int64_t *parts) {
    int32_t tilt[BYTE_WIDTHS + 1], most = INT32_MIN;
    uint64_t H = head->H_amplitudes;
    uint32_t inverse;
    int k, shift;
    for (k = 0; k <= BYTE_WIDTHS; k++) {
        int64_t part = byte_clip_wide(parts[k], 1048576);
        H += (uint64_t)(part * part); /* Q20 */
    }
    if (H < head->H_amplitudes || H >> 62) H = (uint64_t)1 << 62;
    head->H_amplitudes = H;
    inverse = byte_inverse_root(H + 1048576, &shift);
    for (k = 0; k <= BYTE_WIDTHS; k++) { /* .5 part / sqrt(1 + H), as log2 Q12: 2954 */
        int64_t part = byte_clip_wide(parts[k], 1048576) * 2954 * (int64_t)inverse;
        tilt[k] = head->tilt[k] + (int32_t)(part >> (31 + shift));
        if (k == BYTE_WIDTHS && tilt[k] > most + BYTE_MOST_OF_ONE) tilt[k] = most + BYTE_MOST_OF_ONE;
        if (byte_first_tilt(k) + tilt[k] > most) most = byte_first_tilt(k) + tilt[k];
    }
    for (k = 0; k <= BYTE_WIDTHS; k++) { /* the largest is 1 here */
        int32_t t = tilt[k] - most, least = BYTE_FAINTEST - byte_first_tilt(k);
        head->tilt[k] = (int16_t)(t < least ? least : t);
    }
    byte_find_amplitudes(head);
}

/* -- directions and features ---------------------------------------------------------------------- */

static inline int32_t byte_start(const byte_shape *s, int32_t p) {
    uint32_t h = byte_hash(s->key, (uint32_t)p, 7);
    return s->n_features <= BYTE_KEPT ? 0 : (int32_t)((uint64_t)h * (uint32_t)s->n_features >> 32);
}

static inline int byte_width(int32_t p) { return (int)((uint32_t)p % BYTE_WIDTHS); }

typedef struct { /* of a direction */
    int8_t z[BYTE_KEPT];
    int c, s;
} byte_features;

static inline void byte_find_features(
    const byte_shape *s, const char *model, const int8_t *z, int32_t p, byte_features *b) {
    const int8_t *u = (const int8_t *)model + s->at_u + p * s->n_kept;
    int32_t stride = (int32_t)s->stride[(uint32_t)p / BYTE_BLOCK % BYTE_STRIDES], D = s->n_features;
    int32_t i = byte_start(s, p), sum = 0;
    int j, turns;
    for (j = 0; j < s->n_kept; j++) {
        b->z[j] = z[i];
        sum += u[j] * z[i];
        i += stride;
        if (i >= D) i -= D;
    }
    turns = (int)(((sum >> s->angle_shift) * s->angle[byte_width(p)] >> 8) & 255);
    b->c = byte_cos(turns);
    b->s = byte_cos(turns - 64);
}

/* R[v][k] = sum of w_c c + w_s s over the directions of width k */
typedef int32_t byte_sums[BYTE_WIDTHS];

typedef struct {
    int32_t slope[BYTE_MOST_VECTORS];            /* g, Q15 */
    int32_t turn[BYTE_MOST_VECTORS];             /* g 2^e beside the largest e, for the directions; Q8 */
    int32_t step[BYTE_MOST_VECTORS][BYTE_WIDTHS + 1]; /* of a weight by f, Q16 */
    uint8_t is_over[BYTE_MOST_VECTORS];          /* whether a weight met its limit */
    int32_t e;                                   /* the largest of those that step; -1: none does */
    int32_t rate;                                /* of the directions, Q8; 0: they stay */
    int64_t parts[BYTE_WIDTHS + 1];
} byte_step;

/* How far entries of a direction of width k move by z, Q16; `by`: by e z, after a shift of 12. */
static inline int32_t byte_find_move(
    const byte_head *head, int e_most, const int32_t *by, int k, int32_t e, uint64_t *squares) {
    int32_t A = head->amplitude[k], slope = ((e >> 16) * A + ((e & 65535) * A >> 16)) >> 4; /* e A >> 20 */
    slope = byte_clip(slope, ((int32_t)4194304 >> e_most) + 1) * ((int32_t)1 << e_most);
    slope = byte_clip(slope, 4194304);
    if (slope < 65536 && slope > -65536) { /* as most are: the same in 32 bits, as by[k] has 24 */
        *squares += (uint32_t)slope * (uint32_t)slope;
        return byte_clip(slope * (by[k] >> 12) + (slope * (by[k] & 4095) >> 12), 1048576);
    }
    *squares += (uint64_t)((int64_t)slope * slope);
    return (int32_t)byte_clip_wide((int64_t)slope * by[k] >> 12, 1048576);
}

#ifdef EDGESVM_VECTORS /* by lanes.h, on the host: most directions go in vectors, and are kept for the step */
#include "byte_lanes.h"
#else
enum { BYTE_MEANS = 1, BYTE_MOST_SEEN = 1 }; /* vectors whose mean is learned together; not kept */
typedef char byte_seen;
#define byte_in_lanes(s) 0
#define byte_sum_up_lanes(s, model, z, P, R, of_mean, seen) ((void)(seen))
#define byte_move_lanes(s, model, z, P, n, t, by, seen) ((void)(seen), (uint64_t)0)
#define byte_learn_mean_lanes(...) ((void)0)
#endif

static inline void byte_add_sums(const int8_t *w, const byte_features *b, int k, int V, byte_sums *R) {
    int v;
    for (v = 0; v < V; v++) R[v][k] += w[2 * v] * b->c + w[2 * v + 1] * b->s;
}

static void byte_sum_up(
    const byte_shape *s, const char *model, const int8_t *z, byte_sums *R, byte_sums *of_mean, byte_seen *seen) {
    const int8_t *w = (const int8_t *)model + s->at_w, *mean = (const int8_t *)model + s->at_mean;
    int32_t p, V = s->n_vectors;
    byte_features b;
    memset(R, 0, sizeof *R * (size_t)V);
    if (of_mean) memset(of_mean, 0, sizeof *R * (size_t)V);
    p = byte_in_lanes(s);
    if (p) byte_sum_up_lanes(s, model, z, p, R, of_mean, seen);
    for (; p < s->n_directions; p++) {
        byte_find_features(s, model, z, p, &b);
        byte_add_sums(w + p * 2 * V, &b, byte_width(p), V, R);
        if (of_mean) byte_add_sums(mean + p * 2 * V, &b, byte_width(p), V, of_mean);
    }
}

/* -- logits ---------------------------------------------------------------------------------------- */

enum { BYTE_MOST_LOGIT = 20480 }; /* 20, Q10 */

static inline int64_t byte_part(const byte_head *head, int k, int32_t R, int32_t one) {
    return (int64_t)head->amplitude[k] * (k < BYTE_WIDTHS ? R : one * 127);
}

/* A R of a unit 2^e as a logit, Q10 */
static inline int64_t byte_as_logit(const byte_shape *s, int64_t AR, int e) {
    return AR * s->unit >> (s->unit_shift - e);
}

static int32_t byte_logit(const byte_shape *s, const byte_head *head, const int32_t *R, int32_t one, int e) {
    int64_t sum = 0;
    int k;
    for (k = 0; k <= BYTE_WIDTHS; k++) sum += byte_part(head, k, k < BYTE_WIDTHS ? R[k] : 0, one);
    return (int32_t)byte_clip_wide(byte_as_logit(s, sum, e), BYTE_MOST_LOGIT);
}

/* Of two classes 0 or 1; of more, the largest of those that have been seen */
static int byte_best(const byte_shape *s, const int32_t *logit, const int64_t *n_per_class) {
    int v, best = 0;
    if (s->n_vectors == 1) return logit[0] > 0;
    for (v = 1; v < s->n_vectors; v++)
        if (n_per_class[v] && (logit[v] > logit[best] || !n_per_class[best])) best = v;
    return best;
}

/* Logits by the weights, and if the mean is asked for by these and twice their mean, of the sample z */
static void byte_find_logits(
    const byte_shape *s, char *model, const int8_t *z, byte_sums *R, int32_t *last, int32_t *both, int with_mean,
    byte_seen *seen) {
    const byte_head *head = byte_head_of(model);
    const byte_row *row = byte_rows_of(model);
    byte_sums of_mean[BYTE_MOST_VECTORS];
    int v;
    byte_sum_up(s, model, z, R, with_mean ? of_mean : 0, seen);
    for (v = 0; v < s->n_vectors; v++, row++) {
        last[v] = byte_logit(s, head, R[v], row->one, row->e);
        both[v] = last[v];
        if (with_mean) both[v] += 2 * byte_logit(s, head, of_mean[v], row->one_mean, row->e_mean);
    }
}

/* Whether the weights alone answer: where they with their mean were wrong 3/2 times as often lately */
static inline int byte_is_last_better(const byte_head *head) {
    return head->lapses[1] > (int32_t)head->lapses[0] + (head->lapses[0] >> 1);
}

/* The logits that answer, Q10 */
static void byte_decide(const byte_shape *s, char *model, const float *x, int8_t *z, int32_t *logit) {
    byte_sums R[BYTE_MOST_VECTORS];
    int32_t both[BYTE_MOST_VECTORS];
    int v, with_mean = s->has_mean && !byte_is_last_better(byte_head_of(model));
    byte_scale_sample(s, model, x, z, 0);
    byte_find_logits(s, model, z, R, logit, both, with_mean, 0);
    if (with_mean)
        for (v = 0; v < s->n_vectors; v++) logit[v] = both[v] / 3;
    memset(z, 0, (size_t)s->n_features);
}

/* -- a step ---------------------------------------------------------------------------------------- */

/* The slopes of a sample, and how far the weights move; `weight` is Q8. */
static void byte_find_step(
    const byte_shape *s, char *model, byte_sums *R, const int32_t *logit, int y, int32_t weight, uint32_t n,
    byte_step *t) {
    int32_t dead = s->replays && s->is_balanced && s->n_vectors == 1 ? BYTE_FINE_DEAD : BYTE_DEAD;
    const byte_head *head = byte_head_of(model);
    byte_row *row = byte_rows_of(model);
    uint64_t square = 0; /* mean of f^2, Q24 */
    int v, k, shift;
    memset(t, 0, sizeof *t);
    t->e = -1;
    for (k = 0; k <= BYTE_WIDTHS; k++)
        square += (uint64_t)head->amplitude[k] * head->amplitude[k]
            * (uint32_t)(k < BYTE_WIDTHS ? (s->n_directions + 3 - k) / BYTE_WIDTHS : 1);
    square /= (uint32_t)(2 * s->n_directions + 1);
    for (v = 0; v < s->n_vectors; v++, row++) {
        int32_t is_its = s->n_vectors == 1 ? y : y == v, g = (is_its << 15) - byte_sigma(logit[v]);
        uint64_t more;
        uint32_t inverse;
        if (g < dead && g > -dead) continue;
        g = (int32_t)((int64_t)g * weight >> 8);
        if (!g) continue;
        t->slope[v] = g;
        if (row->e > t->e) t->e = row->e;
        more = ((uint64_t)((int64_t)g * g) >> 14) * (square >> 8); /* Q32 */
        more = (more + (byte_hash(s->key, n, 100 + (uint32_t)v) & 0x3FFFFF)) >> 22;
        row->G = row->G + more > 0xFFFFFFFFu ? 0xFFFFFFFFu : (uint32_t)(row->G + more);
        inverse = byte_inverse_root(row->G ? row->G : 1, &shift); /* sqrt(G) is Q5 */
        for (k = 0; k <= BYTE_WIDTHS; k++) { /* g A / (2 sqrt(G) 2^e) */
            int64_t step = (int64_t)g * head->amplitude[k] * (int64_t)inverse >> (38 + shift + row->e);
            int64_t part = byte_part(head, k, k < BYTE_WIDTHS ? R[v][k] : 0, row->one);
            t->step[v][k] = (int32_t)byte_clip_wide(step, 4194304);
            if (k < BYTE_WIDTHS && step < BYTE_LEAST_STEP && step > -BYTE_LEAST_STEP) t->step[v][k] = 0;
            t->parts[k] += byte_clip_wide(byte_as_logit(s, part, row->e), 1073741824) * g >> 15;
        }
    }
    row = byte_rows_of(model);
    for (v = 0; v < s->n_vectors; v++, row++)
        if (t->slope[v]) t->turn[v] = byte_clip(t->slope[v] >> 7, 511) >> (t->e - row->e);
}

/* A weight, moved; whether it met its limit */
static inline int byte_move(int8_t *w, int32_t step, int32_t f, uint32_t chance) {
    int32_t moved = *w + byte_by_chance(step * f, 16, chance);
    *w = (int8_t)byte_clip(moved, 127);
    return moved > 127 || moved < -127;
}

/* Move the weights of a direction of width k: the sum of g (w_s c - w_c s) */
static inline int32_t byte_move_weights(
    int8_t *w, const byte_features *b, int k, int V, byte_step *t, uint32_t *chance) {
    int32_t e = 0;
    int v;
    for (v = 0; v < V; v++, w += 2) {
        if (!t->slope[v]) continue;
        e += t->turn[v] * (w[1] * b->c - w[0] * b->s);
        *chance = byte_next(*chance);
        t->is_over[v] |= (uint8_t)byte_move(w, t->step[v][k], b->c, *chance);
        t->is_over[v] |= (uint8_t)byte_move(w + 1, t->step[v][k], b->s, *chance >> 16);
    }
    return e;
}

/* How many weights of a vector are at least `size` */
static int32_t byte_count_large(const byte_shape *s, const int8_t *w, int v, int size) {
    int32_t p, i, n = 0;
    for (p = 0; p < s->n_directions; p++)
        for (i = 0; i < 2; i++) {
            int at = w[(p * s->n_vectors + v) * 2 + i];
            n += at >= size || at <= -size;
        }
    return n;
}

/* Multiply a vector of weights by m / 2^by, by chance. */
static void byte_multiply(const byte_shape *s, int8_t *w, int8_t *one, int v, int m, int by, uint32_t chance) {
    int32_t p, V = s->n_vectors;
    for (p = 0; p < s->n_directions; p++) {
        int8_t *both = w + (p * V + v) * 2;
        chance = byte_next(chance | 1);
        both[0] = (int8_t)byte_clip(byte_by_chance(m * both[0], by, chance >> 8), 127);
        both[1] = (int8_t)byte_clip(byte_by_chance(m * both[1], by, chance >> 16), 127);
    }
    *one = (int8_t)byte_clip(byte_by_chance(m * *one, by, chance >> 10), 127);
}

/* Halve a vector of which more than a few weights are at their limit; its unit doubles. */
static void byte_halve(const byte_shape *s, int8_t *w, int8_t *one, uint8_t *e, int v, uint32_t chance) {
    if (byte_count_large(s, w, v, 127) * BYTE_FEW_OVER <= 2 * s->n_directions) return;
    byte_multiply(s, w, one, v, 1, 1, chance);
    if (*e < BYTE_STEEPEST) *e = (uint8_t)(*e + 1);
}

/* Let a vector of weights lose a sixteenth: once in 512 steps of slope 1. Where that leaves few large ones, it doubles,
 * and its unit is halved. */
static void byte_decay(const byte_shape *s, int8_t *w, int8_t *one, uint8_t *e, int v, uint32_t chance) {
    int8_t same = *one;
    byte_multiply(s, w, &same, v, 15, 4, chance);
    if (*one >= 64 || *one <= -64 || byte_count_large(s, w, v, 64) * BYTE_FEW_LARGE > 2 * s->n_directions) return;
    byte_multiply(s, w, one, v, 2, 0, chance);
    *e = (uint8_t)(*e - 1);
}

static uint64_t byte_move_all(
    const byte_shape *s, char *model, const int8_t *z, uint32_t n, byte_step *t, const int32_t *by,
    const byte_seen *seen) {
    int32_t p = byte_in_lanes(s), V = s->n_vectors;
    int8_t *u = (int8_t *)model + s->at_u + p * s->n_kept, *w = (int8_t *)model + s->at_w;
    uint64_t squares = p ? byte_move_lanes(s, model, z, p, n, t, by, seen) : 0;
    byte_features b;
    int j, K = (int)s->n_kept;
    for (; p < s->n_directions; p++) {
        uint32_t chance = byte_hash(s->key, n, 1000 + (uint32_t)p) | 1;
        int32_t e, move;
        byte_find_features(s, model, z, p, &b);
        e = byte_move_weights(w + p * 2 * V, &b, byte_width(p), V, t, &chance);
        if (!t->rate) continue;
        move = byte_find_move(byte_head_of(model), t->e, by, byte_width(p), e, &squares);
        for (j = 0; j < K; j++, u++) {
            chance = byte_next(chance);
            *u = (int8_t)byte_clip(*u + byte_by_chance(move * b.z[j], 16, chance >> 8), 127);
        }
    }
    return squares;
}

static void byte_take_step(
    const byte_shape *s, char *model, const int8_t *z, uint32_t n, byte_step *t, const byte_seen *seen) {
    byte_head *head = byte_head_of(model);
    byte_row *row = byte_rows_of(model);
    int32_t by[BYTE_WIDTHS] = {0}, d;
    uint64_t squares, zz = 0;
    int v, k, shift;
    if (head->H_directions) {
        uint32_t inverse = byte_inverse_root(head->H_directions, &shift);
        for (k = 0; k < BYTE_WIDTHS; k++) {
            int64_t rate = (int64_t)s->move[k] * inverse; /* Q16, 2^-(31 + shift) */
            rate = byte_clip_wide(19 + shift >= 0 ? rate >> (19 + shift) : rate, 16777216);
            by[k] = (int32_t)(rate * t->rate >> 8);
        }
    }
    squares = byte_move_all(s, model, z, n, t, by, seen);
    for (d = 0; d < s->n_features; d++) zz += (uint64_t)(z[d] * z[d]);
    squares = squares / (uint32_t)s->n_directions;
    squares = (squares >> 40 ? (uint64_t)1 << 40 : squares) * (zz / (uint32_t)s->n_features) >> 10;
    if (!((head->H_directions + squares) >> 62)) head->H_directions += squares;
    for (v = 0; v < s->n_vectors; v++, row++) {
        if (!t->slope[v]) continue;
        t->is_over[v] |= (uint8_t)byte_move(
            &row->one, t->step[v][BYTE_WIDTHS], 127, byte_hash(s->key, n, 300 + (uint32_t)v));
        if (t->is_over[v])
            byte_halve(s, (int8_t *)model + s->at_w, &row->one, &row->e, v, byte_hash(s->key, n, 500 + (uint32_t)v));
        d = t->slope[v] < 0 ? -t->slope[v] : t->slope[v];
        if (row->e && byte_hash(~s->key, n, (uint32_t)v) >> 8 < (uint32_t)d)
            byte_decay(
                s, (int8_t *)model + s->at_w, &row->one, &row->e, v,
                byte_hash(~s->key, n, 256 + (uint32_t)v));
    }
    byte_learn_amplitudes(head, t->parts);
}

/* The mean of the weights, in which sample n weighs n; of about the last 32,768 */
EDGESVM_CLONES
static void byte_learn_mean(const byte_shape *s, char *model, uint32_t n) {
    const int8_t *w = (const int8_t *)model + s->at_w;
    int8_t *mean = (int8_t *)model + s->at_mean;
    byte_row *row = byte_rows_of(model);
    int32_t share, V = s->n_vectors, v, p, i, l, n_here;
    if (n >= BYTE_ALWAYS && n % 8) return;
    share = (int32_t)((n < BYTE_ALWAYS ? 131072u : 1048576u) / ((n < BYTE_HORIZON ? n : BYTE_HORIZON) + 1));
    for (v = 0; v < V; v += n_here, row += n_here) {
        int32_t by[3][BYTE_MEANS] = {{0}}; /* a weight is multiplied, shifted to the right, followed by a share */
        uint32_t chance[BYTE_MEANS] = {0};
        int is_over[BYTE_MEANS] = {0}, first = byte_in_lanes(s);
        n_here = V - v < BYTE_MEANS ? V - v : BYTE_MEANS;
        for (l = 0; l < n_here; l++) {
            int more = row[l].e - row[l].e_mean;
            by[0][l] = more > 8 ? 256 : more > 0 ? 1 << more : 1;
            by[1][l] = more < 0 ? -more : 0;
            by[2][l] = share;
            chance[l] = byte_hash(s->key, n, 700 + (uint32_t)(v + l)) | 1;
        }
        if (first) byte_learn_mean_lanes(w + 2 * v, mean + 2 * v, first, V, by, chance, is_over);
        for (l = 0; l < n_here; l++) {
            int32_t up = by[0][l], down = by[1][l];
            for (p = first; p < s->n_directions; p++) {
                chance[l] = byte_next(chance[l]);
                for (i = 0; i < 2; i++) {
                    int32_t at = (p * V + v + l) * 2 + i;
                    int32_t off = byte_clip((w[at] * up >> down) - mean[at], 4096);
                    is_over[l] |= byte_move(mean + at, off * share, 1, i ? chance[l] >> 16 : chance[l]);
                }
            }
            chance[l] = byte_next(chance[l]);
            i = byte_clip((row[l].one * up >> down) - row[l].one_mean, 4096);
            is_over[l] |= byte_move(&row[l].one_mean, i * share, 1, chance[l]);
            if (is_over[l]) byte_halve(s, mean, &row[l].one_mean, &row[l].e_mean, v + l, chance[l]);
        }
    }
}

/* A share over the last n times, Q16, after one more */
static uint16_t byte_share_after(uint32_t share, int is_so, uint32_t n, uint32_t chance) {
    return (uint16_t)((share * (n - 1) + (is_so ? 65535u : 0) + byte_below(chance, n)) / n);
}

/* The weights were wrong on the n-th sample, or both together. */
static void byte_note_lapses(const byte_shape *s, char *model, int last, int both, uint32_t n) {
    uint16_t *share = byte_head_of(model)->lapses, *longer = byte_shares_of(s, model)->lapses;
    uint32_t chance = byte_hash(s->key, n, 11);
    share[0] = byte_share_after(share[0], last, byte_least(n, BYTE_LATELY), chance);
    share[1] = byte_share_after(share[1], both, byte_least(n, BYTE_LATELY), chance);
    if (!s->replays) return;
    longer[0] = byte_share_after(longer[0], last, byte_least(n, 4096), chance);
    longer[1] = byte_share_after(longer[1], both, byte_least(n, 4096), chance);
    longer[2] = byte_share_after(longer[2], last, byte_least(n, 16384), chance);
}

/* How far directions move, Q8: by 5000 / n, or more where errors say that the stream moves: the weights' beside those
 * of both, or lately beside before. */
static int32_t byte_rate(const byte_shape *s, char *model, uint32_t n) {
    const uint16_t *share = byte_head_of(model)->lapses, *longer = byte_shares_of(s, model)->lapses;
    int32_t rate = 256, moved;
    if (!s->learns_directions) return 0;
    if (!s->replays || n <= BYTE_SETTLED) return rate;
    rate = (int32_t)((uint32_t)BYTE_SETTLED * 256 / n);
    moved = (int32_t)((uint32_t)5120 * longer[1] / (longer[0] + (uint32_t)1)) - 5376; /* 20 (B / L - 1.05) */
    if (moved > rate) rate = moved;
    moved = (int32_t)((uint32_t)2560 * share[0] / (longer[2] + (uint32_t)1)) - 2816; /* 10 (S / M - 1.1) */
    if (moved > rate) rate = moved;
    return rate > 256 ? 256 : rate < 5 ? 0 : rate;
}

/* -- the shares of classes ------------------------------------------------------------------------ */

/* ln v, Q10, of v > 0 */
static int32_t byte_log(uint32_t v) {
    int32_t e = 0, b;
    for (b = 16; b; b >>= 1)
        if (v >> (e + b)) e += b;
    return (e * 1024 + (int32_t)(e > 10 ? v >> (e - 10) : v << (10 - e)) - 1024) * 710 >> 10;
}

static inline uint32_t byte_lately(const byte_shape *s, char *model, int c) {
    const uint16_t *lately = byte_shares_of(s, model)->lately;
    return s->n_vectors > 1 ? lately[c] : c ? lately[0] : 65535u - lately[0];
}

static void byte_note_class(const byte_shape *s, char *model, int y, uint32_t n, uint32_t chance) {
    uint16_t *lately = byte_shares_of(s, model)->lately;
    int v;
    for (v = 0; v < s->n_vectors; v++)
        lately[v] = byte_share_after(lately[v], s->n_vectors == 1 ? y : y == v, byte_least(n, BYTE_RECENT), chance);
}

/* ln of a class's share of all samples, Q10 */
static int32_t byte_log_share(int c, uint32_t n, const int64_t *n_per_class) {
    uint32_t of = (uint32_t)n_per_class[c];
    return byte_log(of ? of : 1) - byte_log(n);
}

/* ln of how much more frequent a class was lately than a share that is given by its ln, Q10 */
static int32_t byte_lead(const byte_shape *s, char *model, int c, int32_t log_share) {
    return byte_log(byte_lately(s, model, c) | 63) - 11357 - log_share; /* ln 2^16 */
}

/* The lead over what the class shall count: as all classes, or its share, where a small lead is none */
static int32_t byte_excess(
    const byte_shape *s, char *model, int c, int n_classes, uint32_t n, const int64_t *n_per_class) {
    int32_t of = s->is_balanced ? -byte_log((uint32_t)n_classes) : byte_log_share(c, n, n_per_class);
    int32_t more = byte_clip(byte_lead(s, model, c, of), 4096);
    return s->is_balanced || more > 512 || more < -512 ? more : 0;
}

/* Weights of a class that was frequent lately move less up, and more down. */
static void byte_add_excess(
    const byte_shape *s, char *model, int32_t *logit, uint32_t n, const int64_t *n_per_class) {
    int v, n_classes = 0;
    for (v = 0; v < s->n_classes; v++) n_classes += n_per_class[v] > 0;
    if (!n_classes) return;
    if (s->n_vectors == 1)
        logit[0] += byte_excess(s, model, 1, n_classes, n, n_per_class)
            - byte_excess(s, model, 0, n_classes, n, n_per_class);
    else
        for (v = 0; v < s->n_vectors; v++)
            if (n_per_class[v]) logit[v] += byte_excess(s, model, v, n_classes, n, n_per_class);
}

/* -- kept samples: half a byte a feature, or a whole one where bytes allow -------------------------- */

static inline int32_t byte_kept(const byte_shape *s, const uint8_t *slot, int32_t d) {
    return s->slot_bytes == s->n_features ? (int8_t)slot[d] : ((slot[d >> 1] >> (d & 1) * 4 & 15) - 8) * BYTE_KEPT_UNIT;
}

static inline void byte_keep(const byte_shape *s, uint8_t *slot, int32_t d, int32_t z) {
    int by = (d & 1) * 4, v = (int)byte_clip((z + (z < 0 ? -6 : 6)) / BYTE_KEPT_UNIT, 7) + 8;
    if (s->slot_bytes == s->n_features) slot[d] = (uint8_t)(int8_t)z;
    else slot[d >> 1] = (uint8_t)((slot[d >> 1] & 240 >> by) | v << by);
}

static inline uint8_t *byte_slot(const byte_shape *s, char *model, uint32_t i, int c) {
    return (uint8_t *)model + s->at_slots + ((int32_t)i * s->n_classes + c) * s->slot_bytes;
}

/* m 2^by rounded, at most 2^29 */
static int32_t byte_shifted(int32_t m, int by) {
    int32_t most = by > 29 ? 0 : (int32_t)536870912 >> (by > 0 ? by : 0);
    if (m > most || m < -most) return m > 0 ? 536870912 : -536870912;
    if (by >= 0) return m * ((int32_t)1 << (by > 29 ? 0 : by));
    return by < -30 ? 0 : (m + ((int32_t)1 << (-by - 1))) >> -by;
}

/* z by the scale `to` of what was kept by the scale `from` */
static inline int8_t byte_z_of_kept(const byte_scale *from, const byte_scale *to, int32_t kept) {
    int32_t m = byte_mean_of(from) * 32 + kept * from->s;
    return byte_code(to->s, byte_shifted(m, from->e - 5 - to->e) - byte_mean_of(to));
}

/* Kept samples have scales of their own, which become today's where n is a power of two. */
static void byte_keep_again(const byte_shape *s, char *model, uint32_t n) {
    const byte_scale *to = (const byte_scale *)(model + s->at_scale);
    byte_scale *from = (byte_scale *)(model + s->at_code);
    int32_t d, i;
    if (n & (n - 1)) return;
    for (d = 0; d < s->n_features; d++) {
        for (i = 0; i < s->n_slots * s->n_classes; i++) {
            uint8_t *slot = (uint8_t *)model + s->at_slots + i * s->slot_bytes;
            byte_keep(s, slot, d, byte_z_of_kept(from, to, byte_kept(s, slot, d)));
        }
        if (!s->is_common || d == s->n_features - 1) *from++ = *to++;
    }
}

/* Keep the n-th sample, of class y, in a slot by chance, such that the slots are a fair sample of the class. */
static void byte_keep_sample(
    const byte_shape *s, char *model, const float *x, int y, uint32_t n, const int64_t *n_per_class) {
    const byte_scale *f = (const byte_scale *)(model + s->at_code);
    uint32_t m = (uint32_t)n_per_class[y] + 1, Q = (uint32_t)s->n_slots;
    uint32_t i = m <= Q ? m - 1 : byte_below(byte_hash(s->key, n, 23), m);
    int32_t d;
    byte_keep_again(s, model, n);
    if (i >= Q) return;
    for (d = 0; d < s->n_features; d++) {
        byte_keep(s, byte_slot(s, model, i, y), d, byte_code_of(f, x[d]));
        if (!s->is_common) f++;
    }
}

/* z of the i-th kept sample of class c */
static void byte_recall(const byte_shape *s, char *model, uint32_t i, int c, int8_t *z) {
    const byte_scale *from = (const byte_scale *)(model + s->at_code), *to = (const byte_scale *)(model + s->at_scale);
    const uint8_t *slot = byte_slot(s, model, i, c);
    int32_t d;
    for (d = 0; d < s->n_features; d++) {
        z[d] = byte_z_of_kept(from, to, byte_kept(s, slot, d));
        if (!s->is_common) from++, to++;
    }
}

static inline uint32_t byte_n_of(const int64_t *n_per_class, int c, int y) { /* samples, that of class y included */
    return (uint32_t)n_per_class[c] + (c == y);
}

/* The class of a kept sample to learn again after one of class y: at first any by its share, later one that is less
 * than half as frequent lately as in all; -1: none */
static int byte_class_to_recall(
    const byte_shape *s, char *model, int y, int is_first, uint32_t n, uint32_t chance, const int64_t *n_per_class) {
    int K = s->n_classes, k, c = 0;
    uint32_t i = byte_below(chance, is_first ? n : (uint32_t)K);
    if (is_first) {
        for (; c < K - 1 && i >= byte_n_of(n_per_class, c, y); c++) i -= byte_n_of(n_per_class, c, y);
        return c;
    }
    c = (int)i;
    for (k = 0; k < K && (c == y || !n_per_class[c]); k++) c = c + 1 < K ? c + 1 : 0;
    return k < K && byte_lead(s, model, c, byte_log_share(c, n, n_per_class)) < -710 ? c : -1; /* ln 2 */
}

/* -- learning -------------------------------------------------------------------------------------- */

typedef struct { /* what a sample makes of the weights */
    byte_sums R[BYTE_MOST_VECTORS];
    int32_t last[BYTE_MOST_VECTORS], both[BYTE_MOST_VECTORS];
    byte_seen seen[BYTE_MOST_SEEN];
} byte_view;

/* One step, by the logits of the last weights; `chance` tells the steps of the n-th sample apart. */
static void byte_step_by(
    const byte_shape *s, char *model, const int8_t *z, byte_view *of, int y, int32_t weight, int32_t rate,
    uint32_t chance, uint32_t n, const int64_t *n_per_class) {
    byte_step step;
    if (s->replays) byte_add_excess(s, model, of->last, n, n_per_class);
    byte_find_step(s, model, of->R, of->last, y, weight, chance, &step);
    step.rate = rate;
    if (step.e >= 0) byte_take_step(s, model, z, chance, &step, of->seen);
}

/* Learn kept samples again: two after each of the first samples, later one, which counts twice; z is overwritten. */
static void byte_replay(
    const byte_shape *s, char *model, int8_t *z, byte_view *of, int y, int32_t rate, uint32_t n,
    const int64_t *n_per_class) {
    int is_first = n <= BYTE_FIRST || n_per_class[y] < BYTE_FEW, r, c;
    for (r = 0; r < 1 + is_first; r++) {
        uint32_t chance = n + (uint32_t)(r + 1) * 0x51ED2701u, m;
        c = byte_class_to_recall(s, model, y, is_first, n, byte_hash(s->key, chance, 21), n_per_class);
        if (c < 0) continue;
        m = byte_least(byte_n_of(n_per_class, c, y), (uint32_t)s->n_slots);
        byte_recall(s, model, byte_below(byte_hash(s->key, chance, 22), m), c, z);
        byte_find_logits(s, model, z, of->R, of->last, of->both, 0, of->seen);
        byte_step_by(s, model, z, of, c, is_first ? 256 : 512, rate, chance, n, n_per_class);
        byte_note_class(s, model, c, n, byte_hash(s->key, chance, 12));
    }
}

/* The weights learn the n-th sample, scaled to z, which is overwritten. */
static void byte_learn_scaled(
    const byte_shape *s, char *model, const float *x, int8_t *z, int y, int32_t weight, uint32_t n,
    const int64_t *n_per_class) {
    byte_view of;
    int32_t times = (int32_t)byte_least((uint32_t)(weight + 255) >> 8, BYTE_MOST_STEPS), t, rate;
    byte_find_logits(s, model, z, of.R, of.last, of.both, s->has_mean, of.seen);
    byte_note_lapses(
        s, model, byte_best(s, of.last, n_per_class) != y, byte_best(s, of.both, n_per_class) != y, n);
    rate = byte_rate(s, model, n);
    weight = (int32_t)byte_least((uint32_t)(weight / times), 256);
    for (t = 0; t < times; t++) {
        if (t) byte_find_logits(s, model, z, of.R, of.last, of.both, 0, of.seen);
        byte_step_by(s, model, z, &of, y, weight, rate, n + (uint32_t)t * 0x2545F491u, n, n_per_class);
    }
    if (s->replays) byte_note_class(s, model, y, n, byte_hash(s->key, n, 12)); /* once, whatever its weight */
    if (s->n_slots) {
        byte_keep_sample(s, model, x, y, n, n_per_class);
        byte_replay(s, model, z, &of, y, rate, n, n_per_class);
    }
    if (s->has_mean) byte_learn_mean(s, model, n);
}

/* Learn the n-th sample, of class y and weight Q8, which is finite. */
static void byte_learn(
    const byte_shape *s, char *model, const float *x, int8_t *z, int y, int32_t weight, uint32_t n,
    const int64_t *n_per_class) {
    byte_far far = byte_scale_sample(s, model, x, z, n);
    if (!byte_note_dropout(&far, n, n_per_class[y])) byte_learn_scaled(s, model, x, z, y, weight, n, n_per_class);
    memset(z, 0, (size_t)s->n_features);
}

/* Entry i of all directions, as it is drawn: four bytes' sum is nearly normal, of deviation 147.8. */
static int8_t byte_draw(const byte_shape *s, int32_t i) {
    uint32_t h = byte_hash(s->key, (uint32_t)i, 3);
    int32_t sum = (int32_t)((h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24)) - 510;
    return (int8_t)byte_clip((sum * 275 + 512) >> 10, 127); /* 127 is 3.2 deviations */
}

/* An empty model: the directions as they are drawn */
static void byte_reset(const byte_shape *s, char *model) {
    int8_t *u = (int8_t *)model + s->at_u;
    int32_t i;
    memset(byte_head_of(model)->tilt, 0, sizeof byte_head_of(model)->tilt);
    byte_find_amplitudes(byte_head_of(model));
    byte_head_of(model)->n_classes = (uint8_t)s->n_classes;
    for (i = 0; i < 2; i++) byte_head_of(model)->n_features[i] = (uint8_t)(s->n_features >> 8 * i);
    for (i = 0; i < s->n_directions * s->n_kept; i++) u[i] = byte_draw(s, i);
}

/* -- more classes ---------------------------------------------------------------------------------- */

#if BYTE_MOST_VECTORS > 1
/* Give the weights of P directions, of `was` bytes each, the room of all vectors, nearer to the end of the model. */
static inline void byte_widen(const byte_shape *s, char *model, int32_t at, int32_t from, int32_t was, int32_t P) {
    int32_t p, size = 2 * s->n_vectors;
    memset(model + at + P * size, 0, (size_t)((s->n_directions - P) * size));
    for (p = P - 1; p >= 0; p--) {
        int8_t *w = (int8_t *)model + at + p * size;
        memmove(w, model + from + p * was, (size_t)was);
        memset(w + was, 0, (size_t)(size - was));
        if (was == 2) { /* the one vector was the second class's; the first has its opposite */
            memcpy(w + 2, w, 2);
            w[0] = (int8_t)-w[0];
            w[1] = (int8_t)-w[1];
        }
    }
}

static inline int32_t byte_end(const byte_shape *s) { /* of what is laid out */
    return s->at_slots + s->n_slots * s->slot_bytes * s->n_classes;
}

/* Give the kept samples of `was` classes the room of all, nearer to the end of the model. */
static inline void byte_spread(const byte_shape *s, char *model, int32_t from, int was) {
    int32_t i, size = s->slot_bytes;
    int c;
    for (i = s->n_slots - 1; i >= 0; i--)
        for (c = s->n_classes - 1; c >= 0; c--) {
            uint8_t *slot = byte_slot(s, model, (uint32_t)i, c);
            if (c < was) memmove(slot, model + from + (i * was + c) * size, (size_t)size);
            else memset(slot, 0, (size_t)size);
        }
}

/* Lay a model out for more classes: the last directions make room, or where the mean does, new ones follow, whose
 * weights are 0. The rest goes to the front first, then each part to its new place, the last part first. */
static inline void byte_grow(const byte_shape *s, const byte_shape *before, char *model, const int64_t *n_per_class) {
    byte_row row[BYTE_MOST_VECTORS];
    uint16_t lapses[3] = {0}, lately[BYTE_MOST_VECTORS] = {0};
    int64_t count[BYTE_MOST_VECTORS] = {0};
    int32_t P = s->n_directions < before->n_directions ? s->n_directions : before->n_directions;
    int32_t of_u = P * s->n_kept, was = 2 * before->n_vectors, of_scales = before->at_u - before->at_scale, i;
    int32_t w = before->at_u + of_u, mean = w + P * was, code = mean + (s->has_mean ? P * was : 0);
    int32_t slots = code + of_scales;
    memset(row, 0, sizeof row);
    memcpy(row, byte_rows_of(model), sizeof(byte_row) * (size_t)before->n_vectors);
    memcpy(count, n_per_class, sizeof(int64_t) * (size_t)before->n_classes);
    if (s->replays) {
        memcpy(lapses, byte_shares_of(before, model)->lapses, sizeof lapses);
        for (i = 0; i < before->n_classes; i++) lately[i] = (uint16_t)byte_lately(before, model, i);
    }
    if (before->n_vectors == 1) {
        row[1] = row[0];
        row[0].one = (int8_t)-row[0].one;
        row[0].one_mean = (int8_t)-row[0].one_mean;
    }
    memmove(model + w, model + before->at_w, (size_t)(P * was));
    if (s->has_mean) memmove(model + mean, model + before->at_mean, (size_t)(P * was));
    if (s->n_slots) {
        memmove(model + code, model + before->at_code, (size_t)of_scales);
        memmove(
            model + slots, model + before->at_slots, (size_t)(s->n_slots * before->n_classes * s->slot_bytes));
        byte_spread(s, model, slots, before->n_classes);
        memmove(model + s->at_code, model + code, (size_t)of_scales);
    }
    if (s->has_mean) byte_widen(s, model, s->at_mean, mean, was, P);
    byte_widen(s, model, s->at_w, w, was, P);
    memmove(model + s->at_u, model + before->at_u, (size_t)of_u);
    for (i = of_u; i < s->n_directions * s->n_kept; i++) model[s->at_u + i] = byte_draw(s, i);
    if (byte_end(s) < byte_end(before)) memset(model + byte_end(s), 0, (size_t)(byte_end(before) - byte_end(s)));
    memmove(model + s->at_scale, model + before->at_scale, (size_t)of_scales);
    if (s->replays) {
        memcpy(byte_shares_of(s, model)->lapses, lapses, sizeof lapses);
        memcpy(byte_shares_of(s, model)->lately, lately, sizeof(uint16_t) * (size_t)s->n_vectors);
    }
    if (s->counts) memcpy(model + s->at_counts, count, sizeof(int64_t) * (size_t)s->n_classes);
    memcpy(byte_rows_of(model), row, sizeof(byte_row) * (size_t)s->n_vectors);
    byte_head_of(model)->n_classes = (uint8_t)s->n_classes;
}
#endif

/* What no stream of samples can have left in a model, as a text; NULL: nothing */
static const char *byte_fault(const byte_shape *s, char *model) {
    const byte_head *head = byte_head_of(model);
    const byte_row *row = byte_rows_of(model);
    const byte_scale *f = (const byte_scale *)(model + s->at_scale);
    byte_head same = *head;
    int32_t d;
    int v, k;
    for (k = 0; k < 2; k++)
        if (head->n_features[k] != (uint8_t)(s->n_features >> 8 * k))
            return BYTE_TEXT("the snapshot is of other features");
    if (head->H_amplitudes > (uint64_t)1 << 62 || head->H_directions >> 62)
        return BYTE_TEXT("a sum of squares is too large");
    for (k = 0; k <= BYTE_WIDTHS; k++)
        if (head->tilt[k] < BYTE_FAINTEST - byte_first_tilt(k) || head->tilt[k] > -byte_first_tilt(k))
            return BYTE_TEXT("the snapshot's amplitudes are out of range");
    byte_find_amplitudes(&same);
    if (memcmp(same.amplitude, head->amplitude, sizeof same.amplitude))
        return BYTE_TEXT("the snapshot's amplitudes are not those of its tilts");
    for (v = 0; v < s->n_vectors; v++)
        if (row[v].e > BYTE_STEEPEST || row[v].e_mean > BYTE_STEEPEST) return BYTE_TEXT("a unit is out of range");
    for (v = 0; s->counts && v < s->n_classes; v++)
        if (((const int64_t *)(model + s->at_counts))[v] < 0)
            return BYTE_TEXT("the snapshot's counters are inconsistent");
    for (d = 0; d < (s->is_common ? 1 : s->n_features); d++)
        if (f[d].e < -120) return BYTE_TEXT("a scale is out of range");
    f = (const byte_scale *)(model + s->at_code);
    for (d = 0; s->n_slots && d < (s->is_common ? 1 : s->n_features); d++)
        if (f[d].e < -120) return BYTE_TEXT("a scale of the kept samples is out of range");
    return 0;
}

#endif
