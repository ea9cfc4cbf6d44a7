/* Most directions in vectors, for the host: the same bits as the loops of byte.h, several times as fast.
 *
 * Included by byte.h, on whose types and numbers it works. A lane of 32 bits is a direction, or a pair of 16 bits: c
 * and s of a direction, or its two weights. byte.h does the last directions, fewer than two blocks. Where 16 bits do,
 * the comment says why: w and u are at most 128, z, c and s 127.
 */
#ifdef __x86_64__ /* whose vectors are chosen at run time */
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#define BYTE_HAS_LANES __builtin_cpu_supports("avx2")
#elif defined(__arm__)
#include <sys/auxv.h>
#pragma GCC push_options
#pragma GCC target("arch=armv7-a,fpu=neon")
#define BYTE_HAS_LANES (getauxval(AT_HWCAP) >> 12 & 1)
#else
#define BYTE_HAS_LANES 1
#endif
#include "byte_vectors.h"

enum {
    BYTE_MOST_WALKED = 1024,              /* features of which the walks are on the stack, 24 KiB */
    BYTE_MOST_SEEN = 2048 / BYTE_LANES,   /* vectors of directions, 24 KiB */
    BYTE_MEANS = BYTE_LANES               /* vectors of weights whose mean is learned together */
};

BYTE_INLINE byte_bits byte_mix_lanes(byte_bits h) {
    h = (h ^ h >> 16) * 0x7FEB352Du;
    h = (h ^ h >> 15) * 0x846CA68Bu;
    return h ^ h >> 16;
}

BYTE_INLINE byte_bits byte_next_lanes(byte_bits s) {
    s ^= s << 13;
    s ^= s >> 17;
    return s ^ s << 5;
}

/* before + l by, for lane l */
BYTE_INLINE byte_bits byte_count_lanes(uint32_t before, uint32_t by) {
    return (byte_bits)BYTE_FIRST_LANES * by + before;
}

/* -- z at the features of directions ------------------------------------------------------------------ */

/* z in the order of each stride, so that a direction's features are neighbours */
typedef struct {
    const int8_t *z;
    int32_t is_short; /* fewer directions than make the walks worth it, or too many features */
    int8_t walk[BYTE_STRIDES][BYTE_MOST_WALKED + BYTE_KEPT];
    uint16_t place[BYTE_STRIDES][BYTE_MOST_WALKED]; /* of a feature in the walk */
} byte_walks;

static void byte_walk(const byte_shape *s, const int8_t *z, byte_walks *t) {
    int32_t i[BYTE_STRIDES] = {0}, D = s->n_features, k, j;
    t->z = z;
    t->is_short = D > BYTE_MOST_WALKED || (D > BYTE_KEPT && s->n_directions < 2 * D);
    if (t->is_short) return;
    for (j = 0; j < D; j++)
        for (k = 0; k < BYTE_STRIDES; k++) {
            t->walk[k][j] = z[i[k]];
            t->place[k][i[k]] = (uint16_t)j;
            i[k] += (int32_t)s->stride[k];
            i[k] -= i[k] >= D ? D : 0;
        }
    for (k = 0; k < BYTE_STRIDES; k++)
        for (j = 0; j < BYTE_KEPT; j++) t->walk[k][D + j] = s->n_kept < BYTE_KEPT ? 0 : t->walk[k][j];
}

BYTE_INLINE int64_t byte_word(const void *from) {
    int64_t word;
    memcpy(&word, from, 8);
    return word;
}

/* z at the features of directions p on */
BYTE_INLINE byte_words byte_gather_lanes(const byte_shape *s, const byte_walks *t, int32_t p) {
    int32_t k = p / BYTE_BLOCK % BYTE_STRIDES, D = s->n_features, l, j;
    const int8_t *walk = t->walk[k];
    const uint16_t *place = t->place[k];
    int8_t at[BYTE_LANES][BYTE_KEPT];
    byte_bits h;
#define FIRST(l) byte_word(walk)
#define IN_WALK(l) byte_word(walk + place[h[l]])
#define FOUND(l) byte_word(at[l])
    if (D <= BYTE_KEPT) return (byte_words)BYTE_WORDS(FIRST);
    h = byte_mix_lanes(byte_count_lanes(s->key + (uint32_t)p * 0x9E3779B1u + 7 * 0x85EBCA6Bu, 0x9E3779B1u));
    h = ((h >> 16) * (uint32_t)D + ((h & 0xFFFF) * (uint32_t)D >> 16)) >> 16; /* h D >> 32 by halves of h */
    if (!t->is_short) return (byte_words)BYTE_WORDS(IN_WALK);
    for (l = 0; l < BYTE_LANES; l++) {
        int32_t i = (int32_t)h[l];
        for (j = 0; j < BYTE_KEPT; j++) {
            at[l][j] = t->z[i];
            i += (int32_t)s->stride[k];
            if (i >= D) i -= D;
        }
    }
    return (byte_words)BYTE_WORDS(FOUND);
#undef FIRST
#undef IN_WALK
#undef FOUND
}

/* u of directions; of fewer than 8 entries a word goes on into what follows, where z is 0 */
BYTE_INLINE byte_words byte_load_u(const int8_t *u, int K) {
#define ENTRIES(l) byte_word(u + (l) * K)
    if (K == BYTE_KEPT) return byte_load_words(u);
    return (byte_words)BYTE_WORDS(ENTRIES);
#undef ENTRIES
}

/* Entries 0 to 3 and 4 to 7 of the directions, back */
BYTE_INLINE void byte_store_u(int8_t *u, int K, byte_lanes lower, byte_lanes upper) {
    byte_lanes first = BYTE_ZIP_LOW(lower, upper), last = BYTE_ZIP_HIGH(lower, upper);
    int64_t word[BYTE_LANES];
    int l, j;
    if (K == BYTE_KEPT) {
        memcpy(u, &first, sizeof first);
        memcpy(u + sizeof first, &last, sizeof last);
        return;
    }
    memcpy(word, &first, sizeof first);
    memcpy(word + BYTE_LANES / 2, &last, sizeof last);
    for (l = 0; l < BYTE_LANES - 1; l++) memcpy(u + l * K, &word[l], 8); /* the next one writes over its rest */
    for (j = 0; j < K; j++) u[l * K + j] = (int8_t)((uint64_t)word[l] >> 8 * j);
}

/* -- features ------------------------------------------------------------------------------------------ */

/* Sines of angles in pairs: byte_cos, a quarter turn later */
BYTE_INLINE byte_pairs byte_sin_pairs(byte_pairs i) {
    byte_pairs a = i << 8 >> 7 | 1, size = byte_signed(a, a), by;
    size *= 256 - size; /* below 2^14, as a is odd */
    by = (byte_high(byte_all_pairs(3686), size + size) + 12698) << 1;
    return byte_high_rounded(byte_high(byte_signed(size, a), by), byte_all_pairs(254)); /* (127 s + 2^13) >> 14 */
}

/* c and s of directions, pairs of 16 bits */
BYTE_INLINE byte_pairs byte_find_pairs(const byte_shape *s, const int8_t *u, byte_words z) {
    byte_lanes x = (byte_dots(byte_load_u(u, s->n_kept), z) >> s->angle_shift) * byte_by_width(s->angle) >> 8;
    return byte_sin_pairs((byte_pairs)(((x + 64) & 0xFFFF) | x << 16));
}

/* Pairs of weights, of directions or of vectors, in 16 bits */
BYTE_INLINE byte_pairs byte_load_pairs(const int8_t *w) {
    byte_column in_bytes;
    memcpy(&in_bytes, w, sizeof in_bytes);
    return byte_widen_pairs(in_bytes);
}

/* What the pass for the logits saw of directions, kept on the stack for the step after it */
typedef struct {
    byte_words z;
    byte_pairs f;
} byte_seen;

BYTE_INLINE byte_seen byte_see(const byte_shape *s, const char *model, const byte_walks *walks, int32_t p) {
    byte_seen b;
    b.z = byte_gather_lanes(s, walks, p);
    b.f = byte_find_pairs(s, (const int8_t *)model + s->at_u + p * s->n_kept, b.z);
    return b;
}

/* -- sums ------------------------------------------------------------------------------------------------ */

enum { BYTE_CHUNKS = (BYTE_MOST_VECTORS + BYTE_LANES - 1) / BYTE_LANES };

/* R[i][k] += w_c c + w_s s of the i-th chunk of vectors, over the directions of width k */
BYTE_INLINE void byte_add_chunks(const int8_t *w, byte_pairs f, int V, byte_lanes (*R)[BYTE_WIDTHS]) {
    int32_t pair[BYTE_LANES];
    int i, k, l;
    memcpy(pair, &f, sizeof f);
    for (i = 0; i * BYTE_LANES < V; i++)
        for (k = 0; k < BYTE_WIDTHS; k++) {
            byte_lanes sum = R[i][k];
            for (l = k; l < BYTE_LANES; l += BYTE_WIDTHS)
                sum += byte_add_products(
                    byte_load_pairs(w + 2 * (l * V + i * BYTE_LANES)), (byte_pairs)byte_all(pair[l]));
            R[i][k] = sum;
        }
}

BYTE_INLINE void byte_put_chunks(byte_sums *R, byte_lanes (*from)[BYTE_WIDTHS], int V) {
    int v, k;
    for (v = 0; v < V; v++)
        for (k = 0; k < BYTE_WIDTHS; k++) R[v][k] = from[v / BYTE_LANES][k][v % BYTE_LANES];
}

BYTE_INLINE void byte_put_sums(byte_sums *R, byte_lanes sum) {
    int l;
    memset(R, 0, sizeof *R);
    for (l = 0; l < BYTE_LANES; l++) R[0][l % BYTE_WIDTHS] += sum[l];
}

static void byte_sum_up_lanes(
    const byte_shape *s, const char *model, const int8_t *z, int32_t P, byte_sums *R, byte_sums *of_mean,
    byte_seen *seen) {
    const int8_t *w = (const int8_t *)model + s->at_w;
    const int8_t *mean = of_mean ? (const int8_t *)model + s->at_mean : 0;
    int32_t p, V = s->n_vectors;
    byte_walks walks;
    byte_walk(s, z, &walks);
    if (V == 1) {
        byte_lanes sum = {0}, sum_of_mean = {0};
        for (p = 0; p < P; p += BYTE_LANES) {
            byte_seen b = byte_see(s, model, &walks, p);
            if (seen && p < BYTE_MOST_SEEN * BYTE_LANES) seen[p / BYTE_LANES] = b;
            sum += byte_add_products(byte_load_pairs(w + 2 * p), b.f);
            if (mean) sum_of_mean += byte_add_products(byte_load_pairs(mean + 2 * p), b.f);
        }
        byte_put_sums(R, sum);
        if (mean) byte_put_sums(of_mean, sum_of_mean);
    } else {
        byte_lanes sums[2][BYTE_CHUNKS][BYTE_WIDTHS];
        memset(sums[0], 0, sizeof sums[0][0] * (size_t)((V + BYTE_LANES - 1) / BYTE_LANES));
        memset(sums[1], 0, sizeof sums[0][0] * (size_t)((V + BYTE_LANES - 1) / BYTE_LANES));
        for (p = 0; p < P; p += BYTE_LANES) {
            byte_seen b = byte_see(s, model, &walks, p);
            if (seen && p < BYTE_MOST_SEEN * BYTE_LANES) seen[p / BYTE_LANES] = b;
            byte_add_chunks(w + p * 2 * V, b.f, V, sums[0]);
            if (mean) byte_add_chunks(mean + p * 2 * V, b.f, V, sums[1]);
        }
        byte_put_chunks(R, sums[0], V);
        if (mean) byte_put_chunks(of_mean, sums[1], V);
    }
}

/* -- a step ---------------------------------------------------------------------------------------------- */

/* a and b, Q16, rounded by the halves of chance */
BYTE_INLINE byte_pairs byte_round_pairs(byte_lanes a, byte_lanes b, byte_bits chance) {
    return byte_upper_halves(a + (byte_lanes)(chance & 0xFFFF), b + (byte_lanes)(chance >> 16));
}

/* Four entries of each direction; `chance` goes on by four. */
BYTE_INLINE byte_lanes byte_move_four(byte_lanes u, byte_lanes z, byte_lanes move, byte_bits *chance, int n) {
    byte_lanes moved[4];
    byte_pairs even, odd;
    int j;
    for (j = 0; j < 4; j++) {
        moved[j] = (byte_lanes){0};
        if (j >= n) continue;
        *chance = byte_next_lanes(*chance);
        moved[j] = move * (z << (24 - 8 * j) >> 24) + (byte_lanes)(*chance >> 8 & 0xFFFF);
    }
    even = byte_clip_pairs(((byte_pairs)u << 8 >> 8) + byte_upper_halves(moved[0], moved[2]));
    odd = byte_clip_pairs(((byte_pairs)u >> 8) + byte_upper_halves(moved[1], moved[3]));
    return (byte_lanes)((even & 255) | odd << 8);
}

typedef struct { /* how far directions move, by width */
    byte_lanes amplitude, most, high, low;
} byte_rates;

/* With q = e A >> 20 and M = 2^e_most by, an entry moves by q M >> 12 = q high + (q low >> 12) for z = 1, at most 2^20;
 * so q counts up to 2^32 / M. All fits in 32 bits where |q| < 2^19. That is so where the turns are together at most
 * BYTE_FEW_TURNS, as |w_s c - w_c s| < 2^15. */
enum { BYTE_FEW_TURNS = 1700 };

BYTE_INLINE byte_rates byte_find_rates(const byte_head *head, int e_most, const int32_t *by) {
    int32_t amplitude[BYTE_WIDTHS], most[BYTE_WIDTHS], high[BYTE_WIDTHS], low[BYTE_WIDTHS], k;
    byte_rates r;
    for (k = 0; k < BYTE_WIDTHS; k++) {
        int64_t M = (int64_t)by[k] << e_most, limit = (int64_t)1 << 32;
        if (M > limit) M = limit;
        amplitude[k] = head->amplitude[k];
        most[k] = M && limit / M < 1 << 19 ? (int32_t)(limit / M) + 1 : 1 << 19;
        high[k] = (int32_t)(M >> 12);
        low[k] = (int32_t)(M & 4095);
    }
    r.amplitude = byte_by_width(amplitude);
    r.most = byte_by_width(most);
    r.high = byte_by_width(high);
    r.low = byte_by_width(low);
    return r;
}

/* q, in two steps of 10 bits */
BYTE_INLINE byte_lanes byte_find_slopes(byte_lanes e, byte_rates r) {
    byte_bits low = (byte_bits)((e & 1023) * r.amplitude) >> 10;
    return ((e >> 10) * r.amplitude + (byte_lanes)low) >> 10;
}

BYTE_INLINE byte_lanes byte_find_move_lanes(byte_lanes q, byte_rates r) {
    q = byte_clip_lanes(q, r.most);
    return byte_clip_lanes(q * r.high + (q * r.low >> 12), byte_all(1 << 20));
}

/* Weights of as many vectors as directions, in the other order */
BYTE_INLINE void byte_transpose(byte_column *r) {
    byte_column t[BYTE_LANES];
    int round, i;
    for (round = 1; round < BYTE_LANES; round *= 2) { /* each moves the upper half of the rows between the lower ones */
        for (i = 0; i < BYTE_LANES / 2; i++) {
            t[2 * i] = BYTE_ZIP_LOW(r[i], r[i + BYTE_LANES / 2]);
            t[2 * i + 1] = BYTE_ZIP_HIGH(r[i], r[i + BYTE_LANES / 2]);
        }
        for (i = 0; i < BYTE_LANES; i++) r[i] = t[i];
    }
}

typedef struct { /* of directions and a sample */
    byte_pairs f, turned; /* c and s; -s and c */
    byte_bits chance;
    byte_lanes e;
} byte_moving;

/* The weights of vector v in directions, moved: a step has 22 bits, so before they are clipped they have 14. */
BYTE_INLINE byte_column byte_move_vector(
    byte_column weights, byte_moving *b, const byte_step *t, int v, byte_pairs *over) {
    byte_pairs pairs = byte_widen_pairs(weights);
    byte_lanes step = byte_by_width(t->step[v]), f = (byte_lanes)b->f;
    b->e += byte_add_products(pairs, b->turned) * t->turn[v];
    b->chance = byte_next_lanes(b->chance);
    pairs += byte_round_pairs(step * byte_low_halves(f), step * (f >> 16), b->chance);
    *over |= (pairs > 127) | (pairs < -127);
    return byte_narrow_pairs(byte_clip_pairs(pairs));
}

/* Vectors v on, as many as directions. Where there are fewer, a row goes on into the next one, stored later. */
BYTE_INLINE void byte_move_vectors(
    int8_t *w, int V, byte_moving *b, const byte_step *t, int v, byte_pairs *over) {
    byte_column r[BYTE_LANES];
    int l, is_still = 1;
    for (l = v; l < V && l < v + BYTE_LANES; l++) is_still &= !t->slope[l];
    if (is_still) return;
    for (l = 0; l < BYTE_LANES; l++) memcpy(&r[l], w + 2 * (l * V + v), sizeof r[l]);
    byte_transpose(r);
    for (l = 0; l < BYTE_LANES && v + l < V; l++)
        if (t->slope[v + l]) r[l] = byte_move_vector(r[l], b, t, v + l, &over[v + l]);
    byte_transpose(r);
    for (l = 0; l < BYTE_LANES; l++) memcpy(w + 2 * (l * V + v), &r[l], sizeof r[l]);
}

static uint64_t byte_move_lanes(
    const byte_shape *s, char *model, const int8_t *z, int32_t P, uint32_t n, byte_step *t, const int32_t *by,
    const byte_seen *seen) {
    int8_t *u = (int8_t *)model + s->at_u, *w = (int8_t *)model + s->at_w;
    int32_t p, V = s->n_vectors, K = s->n_kept, v, l, turns = 0;
    byte_rates rates = byte_find_rates(byte_head_of(model), t->e, by);
    byte_longs sum = {0};
    byte_pairs over[BYTE_MOST_VECTORS];
    uint64_t squares = 0;
    byte_walks walks;
    if (P > BYTE_MOST_SEEN * BYTE_LANES) byte_walk(s, z, &walks);
    for (v = 0; v < V; v++) {
        over[v] = (byte_pairs){0};
        turns += t->turn[v] < 0 ? -t->turn[v] : t->turn[v];
    }
    for (p = 0; p < P; p += BYTE_LANES, u += BYTE_LANES * K, w += BYTE_LANES * 2 * V) {
        byte_seen now = p < BYTE_MOST_SEEN * BYTE_LANES ? seen[p / BYTE_LANES] : byte_see(s, model, &walks, p);
        byte_lanes move, lower, upper, z[2];
        byte_words was;
        byte_moving b;
        b.f = now.f;
        b.turned = (byte_pairs)((byte_bits)b.f << 16 | (byte_bits)b.f >> 16);
        b.turned = byte_signed(b.turned, (byte_pairs)byte_all(0x1FFFF)); /* of -1 and 1 */
        b.chance = byte_count_lanes(s->key + n * 0x9E3779B1u + (1000 + (uint32_t)p) * 0x85EBCA6Bu, 0x85EBCA6Bu);
        b.chance = byte_mix_lanes(b.chance) | 1;
        b.e = (byte_lanes){0};
        if (V == 1) {
            byte_column weights;
            memcpy(&weights, w, sizeof weights);
            weights = byte_move_vector(weights, &b, t, 0, over);
            memcpy(w, &weights, sizeof weights);
        } else {
            for (v = 0; v < V; v += BYTE_LANES) byte_move_vectors(w, V, &b, t, v, over);
        }
        if (!t->rate) continue;
        if (turns <= BYTE_FEW_TURNS && (int64_t)turns * 287 << t->e <= 1 << 22) { /* nor is q 2^e clipped: A < 9160 */
            byte_lanes q = byte_find_slopes(b.e, rates);
            sum = byte_add_squares(sum, q);
            move = byte_find_move_lanes(q, rates);
        } else {
            int32_t e[BYTE_LANES], moves[BYTE_LANES];
            memcpy(e, &b.e, sizeof e);
            for (l = 0; l < BYTE_LANES; l++)
                moves[l] = byte_find_move(byte_head_of(model), t->e, by, l % BYTE_WIDTHS, e[l], &squares);
            memcpy(&move, moves, sizeof move);
        }
        was = byte_load_u(u, K);
        lower = BYTE_EVEN((byte_lanes)was.a, (byte_lanes)was.b);
        upper = BYTE_ODD((byte_lanes)was.a, (byte_lanes)was.b);
        z[0] = BYTE_EVEN((byte_lanes)now.z.a, (byte_lanes)now.z.b);
        z[1] = BYTE_ODD((byte_lanes)now.z.a, (byte_lanes)now.z.b);
        lower = byte_move_four(lower, z[0], move, &b.chance, K);
        if (K > 4) upper = byte_move_four(upper, z[1], move, &b.chance, K - 4);
        byte_store_u(u, K, lower, upper);
    }
    for (v = 0; v < V; v++)
        for (l = 0; l < BYTE_LANES; l++) t->is_over[v] |= ((byte_lanes)over[v])[l] != 0;
    for (l = 0; l < BYTE_LANES / 2; l++) squares += (uint64_t)sum[l] << (2 * t->e);
    return squares;
}

/* -- the mean ---------------------------------------------------------------------------------------------- */

/* Pairs of means moved to w's, before they are clipped */
BYTE_INLINE byte_pairs byte_follow_pairs(byte_pairs mean, byte_pairs w, const byte_lanes *by, byte_bits chance) {
    byte_lanes most = byte_all(4096), x = (byte_lanes)w, m = (byte_lanes)mean;
    byte_lanes c = byte_clip_lanes((byte_low_halves(x) * by[0] >> by[1]) - byte_low_halves(m), most);
    byte_lanes s = byte_clip_lanes(((x >> 16) * by[0] >> by[1]) - (m >> 16), most);
    return mean + byte_round_pairs(c * by[2], s * by[2], chance);
}

/* The means of as many vectors as lanes, or of one in as many directions at once, up to direction P; up, down, share,
 * chance and is_over are of each. Vectors that do not exist have share 0, so the bytes of the next ones stay. */
static void byte_learn_mean_lanes(
    const int8_t *w, int8_t *mean, int32_t P, int V, int32_t (*of)[BYTE_MEANS], uint32_t *chance, int *is_over) {
    int32_t p, i, at_once = V == 1 ? BYTE_LANES : 1, size = 2 * V * at_once;
    byte_pairs over = {0};
    byte_bits chances;
    byte_lanes by[3];
    memcpy(&chances, chance, sizeof chances);
    memcpy(by, of, sizeof by);
    if (V == 1)
        for (i = 0; i < 3; i++) by[i] = byte_all(of[i][0]);
    for (p = 0; p < P; p += at_once, w += size, mean += size) {
        byte_pairs moved;
        byte_column packed;
        if (V == 1) {
            chance[0] = byte_next(p ? chance[BYTE_LANES - 1] : chance[0]);
            for (i = 1; i < BYTE_LANES; i++) chance[i] = byte_next(chance[i - 1]);
            memcpy(&chances, chance, sizeof chances);
        } else {
            chances = byte_next_lanes(chances);
        }
        moved = byte_follow_pairs(byte_load_pairs(mean), byte_load_pairs(w), by, chances);
        over |= (moved > 127) | (moved < -127);
        packed = byte_narrow_pairs(byte_clip_pairs(moved));
        memcpy(mean, &packed, sizeof packed);
    }
    memcpy(chance, &chances, sizeof chances);
    for (i = 0; i < BYTE_LANES; i++) is_over[V == 1 ? 0 : i] |= ((byte_lanes)over)[i] != 0;
    if (V == 1) chance[0] = chance[BYTE_LANES - 1];
}

#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#elif defined(__x86_64__) || defined(__arm__)
#pragma GCC pop_options
#endif

/* How many directions lanes take: whole blocks, before so many directions that weights of a chunk of vectors are within
 * the model. */
static inline int32_t byte_in_lanes(const byte_shape *s) {
    int32_t V = s->n_vectors, in_chunks = (V + BYTE_LANES - 1) / BYTE_LANES * BYTE_LANES;
    int32_t P = s->n_directions - (V > 1 ? (2 * in_chunks - 1) / (2 * V) : 0);
    return P < BYTE_BLOCK || s->n_features > 0xFFFF || !BYTE_HAS_LANES ? 0 : P & ~(BYTE_BLOCK - 1);
}
