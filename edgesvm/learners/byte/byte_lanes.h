/* Blocks of eight directions in AVX2, for the host: the same bits as the loops of byte.h, several times as fast.
 *
 * Included by byte.h, on whose types and numbers it works. A lane of 32 bits is a direction of the block, or a pair
 * of 16 bits: c and s of a direction, or its two weights. byte.h does the last directions, fewer than two blocks. Where
 * 16 bits do, the comment says why: w and u are at most 128, z, c and s 127.
 */
#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("avx2")

enum { BYTE_MOST_WALKED = 1024 }; /* features of which the walks are on the stack, 24 KiB */

typedef __m256i byte_lanes;
#define BYTE_LANES_INLINE static inline __attribute__((always_inline))

BYTE_LANES_INLINE byte_lanes byte_all(int32_t v) { return _mm256_set1_epi32(v); }

BYTE_LANES_INLINE byte_lanes byte_by_width(const int32_t *v) { /* v[0..3] twice */
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)v));
}

BYTE_LANES_INLINE byte_lanes byte_mix_lanes(byte_lanes h) {
    h = _mm256_mullo_epi32(_mm256_xor_si256(h, _mm256_srli_epi32(h, 16)), byte_all(0x7FEB352D));
    h = _mm256_mullo_epi32(_mm256_xor_si256(h, _mm256_srli_epi32(h, 15)), byte_all((int32_t)0x846CA68Bu));
    return _mm256_xor_si256(h, _mm256_srli_epi32(h, 16));
}

BYTE_LANES_INLINE byte_lanes byte_next_lanes(byte_lanes s) {
    s = _mm256_xor_si256(s, _mm256_slli_epi32(s, 13));
    s = _mm256_xor_si256(s, _mm256_srli_epi32(s, 17));
    return _mm256_xor_si256(s, _mm256_slli_epi32(s, 5));
}

/* before + l by, for l of 0 to 7 */
BYTE_LANES_INLINE byte_lanes byte_count_lanes(uint32_t before, uint32_t by) {
    byte_lanes l = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_add_epi32(byte_all((int32_t)before), _mm256_mullo_epi32(l, byte_all((int32_t)by)));
}

/* -- z at the features of a block -------------------------------------------------------------------- */

/* z in the order of each stride, so that a direction's features are neighbours */
typedef struct {
    const int8_t *z;
    int32_t is_short; /* fewer directions than make the walks worth it, or too many features */
    int8_t walk[BYTE_STRIDES][BYTE_MOST_WALKED + BYTE_KEPT];
    uint16_t place[BYTE_STRIDES][BYTE_MOST_WALKED]; /* of a feature in the walk */
} byte_walks;

static void byte_walk(const byte_shape *s, const int8_t *z, byte_walks *t) {
    byte_lanes at = _mm256_setzero_si256(), stride;
    int32_t i[BYTE_STRIDES], D = s->n_features, k, j;
    t->z = z;
    t->is_short = D > BYTE_MOST_WALKED || (D > BYTE_KEPT && s->n_directions < 2 * D);
    if (t->is_short) return;
    stride = _mm256_loadu_si256((const __m256i *)s->stride);
    for (j = 0; j < D; j++) {
        _mm256_storeu_si256((__m256i *)i, at);
        for (k = 0; k < BYTE_STRIDES; k++) {
            t->walk[k][j] = z[i[k]];
            t->place[k][i[k]] = (uint16_t)j;
        }
        at = _mm256_add_epi32(at, stride);
        at = _mm256_sub_epi32(at, _mm256_and_si256(_mm256_cmpgt_epi32(at, byte_all(D - 1)), byte_all(D)));
    }
    for (k = 0; k < BYTE_STRIDES; k++)
        for (j = 0; j < BYTE_KEPT; j++) t->walk[k][D + j] = s->n_kept < BYTE_KEPT ? 0 : t->walk[k][j];
}

typedef struct { /* a word of 8 bytes for each direction: of 0, 1, 4, 5 and of 2, 3, 6, 7 */
    byte_lanes a, b;
} byte_words;

BYTE_LANES_INLINE int64_t byte_word(const void *from) {
    int64_t word;
    memcpy(&word, from, 8);
    return word;
}

/* Entries 0 to 3, or 4 to 7, of the eight directions in order */
BYTE_LANES_INLINE byte_lanes byte_lower(byte_words w) {
    return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(w.a), _mm256_castsi256_ps(w.b), 0x88));
}
BYTE_LANES_INLINE byte_lanes byte_upper(byte_words w) {
    return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(w.a), _mm256_castsi256_ps(w.b), 0xDD));
}

/* z at the features of directions p to p + 7 */
BYTE_LANES_INLINE byte_words byte_gather_lanes(const byte_shape *s, const byte_walks *t, int32_t p) {
    int32_t k = p / BYTE_BLOCK % BYTE_STRIDES, D = s->n_features;
    int32_t start[BYTE_BLOCK];
    byte_words z;
    byte_lanes h, high, low;
    if (D <= BYTE_KEPT) {
        z.a = z.b = _mm256_set1_epi64x(byte_word(t->walk[k]));
        return z;
    }
    h = byte_mix_lanes(byte_count_lanes(s->key + (uint32_t)p * 0x9E3779B1u + 7 * 0x85EBCA6Bu, 0x9E3779B1u));
    high = _mm256_mullo_epi32(_mm256_srli_epi32(h, 16), byte_all(D)); /* h D >> 32 by halves of h */
    low = _mm256_mullo_epi32(_mm256_and_si256(h, byte_all(0xFFFF)), byte_all(D));
    h = _mm256_srli_epi32(_mm256_add_epi32(high, _mm256_srli_epi32(low, 16)), 16);
    _mm256_storeu_si256((__m256i *)start, h);
    if (t->is_short) {
        int8_t at[BYTE_BLOCK][BYTE_KEPT];
        int l, j;
        for (l = 0; l < BYTE_BLOCK; l++) {
            int32_t i = start[l];
            for (j = 0; j < BYTE_KEPT; j++) {
                at[l][j] = t->z[i];
                i += (int32_t)s->stride[k];
                if (i >= D) i -= D;
            }
        }
        z.a = _mm256_setr_epi64x(byte_word(at[0]), byte_word(at[1]), byte_word(at[4]), byte_word(at[5]));
        z.b = _mm256_setr_epi64x(byte_word(at[2]), byte_word(at[3]), byte_word(at[6]), byte_word(at[7]));
    } else {
        const int8_t *walk = t->walk[k];
        const uint16_t *place = t->place[k];
#define AT(l) byte_word(walk + place[start[l]])
        z.a = _mm256_setr_epi64x(AT(0), AT(1), AT(4), AT(5));
        z.b = _mm256_setr_epi64x(AT(2), AT(3), AT(6), AT(7));
#undef AT
    }
    return z;
}

/* u of a block; of fewer than 8 entries a word goes on into what follows, where z is 0 */
BYTE_LANES_INLINE byte_words byte_load_u(const int8_t *u, int K) {
    const int64_t first = 0x0706050403020100;
    byte_lanes two = _mm256_setr_epi64x(first, first + K * 0x0101010101010101, first, first + K * 0x0101010101010101);
    byte_words w;
#define LOAD(l) _mm_loadu_si128((const __m128i *)(u + l * K))
    w.a = _mm256_shuffle_epi8(_mm256_set_m128i(LOAD(4), LOAD(0)), two);
    w.b = _mm256_shuffle_epi8(_mm256_set_m128i(LOAD(6), LOAD(2)), two);
#undef LOAD
    return w;
}

/* Entries 0 to 3 and 4 to 7 of the directions, back */
BYTE_LANES_INLINE void byte_store_u(int8_t *u, int K, byte_lanes lower, byte_lanes upper) {
    byte_lanes a = _mm256_unpacklo_epi32(lower, upper), b = _mm256_unpackhi_epi32(lower, upper); /* 0 1 4 5, 2 3 6 7 */
    byte_lanes first = _mm256_permute2x128_si256(a, b, 0x20), last = _mm256_permute2x128_si256(a, b, 0x31);
    int64_t word[BYTE_BLOCK];
    int l, j;
    if (K == BYTE_KEPT) {
        _mm256_storeu_si256((__m256i *)u, first);
        _mm256_storeu_si256((__m256i *)(u + 32), last);
        return;
    }
    _mm256_storeu_si256((__m256i *)word, first);
    _mm256_storeu_si256((__m256i *)(word + 4), last);
    for (l = 0; l < BYTE_BLOCK - 1; l++) memcpy(u + l * K, &word[l], 8); /* the next one writes over its rest */
    for (j = 0; j < K; j++) u[l * K + j] = (int8_t)((uint64_t)word[l] >> 8 * j);
}

/* -- features ------------------------------------------------------------------------------------------ */

/* c and s of a block, pairs of 16 bits */
BYTE_LANES_INLINE byte_lanes byte_find_pairs(const byte_shape *s, const int8_t *u, byte_words z) {
    byte_words w = byte_load_u(u, s->n_kept);
    byte_lanes one = _mm256_set1_epi16(1), x, a, size, by;
    /* u z = |u| (z sign u); two of them have 16 bits, 2 128 127 < 2^15 */
    w.a = _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(w.a), _mm256_sign_epi8(z.a, w.a)), one);
    w.b = _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(w.b), _mm256_sign_epi8(z.b, w.b)), one);
    x = _mm256_hadd_epi32(w.a, w.b);
    x = _mm256_mullo_epi32(_mm256_srai_epi32(x, s->angle_shift), byte_by_width(s->angle));
    x = _mm256_srli_epi32(x, 8);
    x = _mm256_blend_epi16(x, _mm256_slli_epi32(x, 16), 0xAA);
    x = _mm256_add_epi16(x, byte_all(64));
    /* byte_cos of both. a is odd, so size < 2^14; mulhi is a product >> 16 */
    a = _mm256_or_si256(_mm256_srai_epi16(_mm256_slli_epi16(x, 8), 7), one);
    size = _mm256_abs_epi16(a);
    size = _mm256_mullo_epi16(size, _mm256_sub_epi16(_mm256_set1_epi16(256), size));
    by = _mm256_mulhi_epu16(_mm256_slli_epi16(size, 2), _mm256_set1_epi16(3686));
    by = _mm256_slli_epi16(_mm256_add_epi16(by, _mm256_set1_epi16(12698)), 1);
    x = _mm256_mulhi_epi16(_mm256_slli_epi16(_mm256_sign_epi16(size, a), 1), by);
    return _mm256_mulhrs_epi16(x, _mm256_set1_epi16(254)); /* (127 x + 2^13) >> 14 */
}

/* Eight pairs of weights, of directions or of vectors, in 16 bits */
BYTE_LANES_INLINE byte_lanes byte_load_pairs(const int8_t *w) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)w));
}

BYTE_LANES_INLINE __m128i byte_pack_pairs(byte_lanes w) {
    return _mm_packs_epi16(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
}

/* What the pass for the logits saw in a block, kept on the stack for the step after it */
typedef struct {
    byte_words z;
    byte_lanes f;
} byte_seen;

enum { BYTE_MOST_SEEN = 256 }; /* 24 KiB */

BYTE_LANES_INLINE byte_seen byte_see(const byte_shape *s, const char *model, const byte_walks *walks, int32_t p) {
    byte_seen b;
    b.z = byte_gather_lanes(s, walks, p);
    b.f = byte_find_pairs(s, (const int8_t *)model + s->at_u + p * s->n_kept, b.z);
    return b;
}

/* -- sums ------------------------------------------------------------------------------------------------ */

enum { BYTE_CHUNKS = (BYTE_MOST_VECTORS + 7) / 8 }; /* of eight vectors */

/* R[i][k] += w_c c + w_s s of vectors 8 i to 8 i + 7, over the block's two directions of width k */
BYTE_LANES_INLINE void byte_add_chunks(
    const int8_t *w, const int32_t *pair, int V, byte_lanes (*R)[BYTE_WIDTHS]) {
    int i, k;
    for (i = 0; i * 8 < V; i++)
        for (k = 0; k < BYTE_WIDTHS; k++) {
            const int8_t *at = w + 16 * i + k * 2 * V;
            byte_lanes a = _mm256_madd_epi16(byte_load_pairs(at), byte_all(pair[k]));
            byte_lanes b = _mm256_madd_epi16(byte_load_pairs(at + 4 * 2 * V), byte_all(pair[k + 4])); /* same width */
            R[i][k] = _mm256_add_epi32(R[i][k], _mm256_add_epi32(a, b));
        }
}

BYTE_LANES_INLINE void byte_put_chunks(byte_sums *R, byte_lanes (*from)[BYTE_WIDTHS], int V) {
    int v, k;
    for (v = 0; v < V; v++)
        for (k = 0; k < BYTE_WIDTHS; k++) memcpy(&R[v][k], (const char *)&from[v / 8][k] + 4 * (v % 8), 4);
}

BYTE_LANES_INLINE void byte_put_sums(byte_sums *R, byte_lanes sum) {
    __m128i both = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    _mm_storeu_si128((__m128i *)R[0], both);
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
        byte_lanes sum = _mm256_setzero_si256(), sum_of_mean = sum;
        for (p = 0; p < P; p += BYTE_BLOCK) {
            byte_seen b = byte_see(s, model, &walks, p);
            if (seen && p < BYTE_MOST_SEEN * BYTE_BLOCK) seen[p / BYTE_BLOCK] = b;
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(byte_load_pairs(w + 2 * p), b.f));
            if (!mean) continue;
            sum_of_mean = _mm256_add_epi32(sum_of_mean, _mm256_madd_epi16(byte_load_pairs(mean + 2 * p), b.f));
        }
        byte_put_sums(R, sum);
        if (mean) byte_put_sums(of_mean, sum_of_mean);
    } else {
        byte_lanes sums[2][BYTE_CHUNKS][BYTE_WIDTHS];
        int32_t pair[BYTE_BLOCK];
        memset(sums[0], 0, sizeof sums[0][0] * (size_t)((V + 7) / 8));
        memset(sums[1], 0, sizeof sums[0][0] * (size_t)((V + 7) / 8));
        for (p = 0; p < P; p += BYTE_BLOCK) {
            byte_seen b = byte_see(s, model, &walks, p);
            if (seen && p < BYTE_MOST_SEEN * BYTE_BLOCK) seen[p / BYTE_BLOCK] = b;
            _mm256_storeu_si256((__m256i *)pair, b.f);
            byte_add_chunks(w + p * 2 * V, pair, V, sums[0]);
            if (mean) byte_add_chunks(mean + p * 2 * V, pair, V, sums[1]);
        }
        byte_put_chunks(R, sums[0], V);
        if (mean) byte_put_chunks(of_mean, sums[1], V);
    }
}

/* -- a step ---------------------------------------------------------------------------------------------- */

BYTE_LANES_INLINE byte_lanes byte_clip_pairs(byte_lanes v) {
    return _mm256_max_epi16(_mm256_min_epi16(v, _mm256_set1_epi16(127)), _mm256_set1_epi16(-127));
}

/* The upper halves of a and b, as pairs */
BYTE_LANES_INLINE byte_lanes byte_upper_halves(byte_lanes a, byte_lanes b) {
    return _mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xAA);
}

/* Pairs of weights moved by step f, before they are clipped: a step has 22 bits, so moved has 14. */
BYTE_LANES_INLINE byte_lanes byte_move_pairs(byte_lanes w, byte_lanes step, byte_lanes f, byte_lanes chance) {
    byte_lanes c = _mm256_mullo_epi32(step, _mm256_srai_epi32(_mm256_slli_epi32(f, 16), 16));
    byte_lanes s = _mm256_mullo_epi32(step, _mm256_srai_epi32(f, 16));
    c = _mm256_add_epi32(c, _mm256_and_si256(chance, byte_all(0xFFFF)));
    s = _mm256_add_epi32(s, _mm256_srli_epi32(chance, 16));
    return _mm256_add_epi16(w, byte_upper_halves(c, s));
}

/* Four entries of each direction; `chance` goes on by four. */
BYTE_LANES_INLINE byte_lanes byte_move_four(byte_lanes u, byte_lanes z, byte_lanes move, byte_lanes *chance, int n) {
    byte_lanes moved[4], even, odd;
    int j;
    for (j = 0; j < 4; j++) {
        moved[j] = _mm256_setzero_si256();
        if (j >= n) continue;
        *chance = byte_next_lanes(*chance);
        moved[j] = _mm256_mullo_epi32(move, _mm256_srai_epi32(_mm256_slli_epi32(z, 24 - 8 * j), 24));
        moved[j] = _mm256_add_epi32(moved[j], _mm256_and_si256(_mm256_srli_epi32(*chance, 8), byte_all(0xFFFF)));
    }
    even = _mm256_srai_epi16(_mm256_slli_epi16(u, 8), 8);
    odd = _mm256_srai_epi16(u, 8);
    even = byte_clip_pairs(_mm256_add_epi16(even, byte_upper_halves(moved[0], moved[2])));
    odd = byte_clip_pairs(_mm256_add_epi16(odd, byte_upper_halves(moved[1], moved[3])));
    return _mm256_or_si256(_mm256_and_si256(even, _mm256_set1_epi16(255)), _mm256_slli_epi16(odd, 8));
}

typedef struct { /* how far directions move, by width */
    byte_lanes amplitude, most, high, low;
} byte_rates;

/* With q = e A >> 20 and M = 2^e_most by, an entry moves by q M >> 12 = q high + (q low >> 12) for z = 1, at most 2^20;
 * so q counts up to 2^32 / M. All fits in 32 bits where |q| < 2^19. That is so where the turns are together at most
 * BYTE_FEW_TURNS, as |w_s c - w_c s| < 2^15. */
enum { BYTE_FEW_TURNS = 1700 };

BYTE_LANES_INLINE byte_rates byte_find_rates(const byte_head *head, int e_most, const int32_t *by) {
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
BYTE_LANES_INLINE byte_lanes byte_find_slopes(byte_lanes e, byte_rates r) {
    byte_lanes low = _mm256_mullo_epi32(_mm256_and_si256(e, byte_all(1023)), r.amplitude);
    byte_lanes high = _mm256_mullo_epi32(_mm256_srai_epi32(e, 10), r.amplitude);
    return _mm256_srai_epi32(_mm256_add_epi32(high, _mm256_srli_epi32(low, 10)), 10);
}

BYTE_LANES_INLINE byte_lanes byte_find_move_lanes(byte_lanes q, byte_rates r) {
    byte_lanes most = byte_all(1 << 20), move;
    q = _mm256_max_epi32(_mm256_min_epi32(q, r.most), _mm256_sub_epi32(_mm256_setzero_si256(), r.most));
    move = _mm256_mullo_epi32(q, r.high);
    move = _mm256_add_epi32(move, _mm256_srai_epi32(_mm256_mullo_epi32(q, r.low), 12));
    return _mm256_max_epi32(_mm256_min_epi32(move, most), _mm256_sub_epi32(_mm256_setzero_si256(), most));
}

BYTE_LANES_INLINE byte_lanes byte_add_squares(byte_lanes sum, byte_lanes q) {
    byte_lanes odd = _mm256_srli_epi64(q, 32);
    return _mm256_add_epi64(sum, _mm256_add_epi64(_mm256_mul_epi32(q, q), _mm256_mul_epi32(odd, odd)));
}

/* 8 x 8 of 16 bits: weights of eight vectors in eight directions, in the other order */
BYTE_LANES_INLINE void byte_transpose(__m128i *r) {
    __m128i t[8];
    int round, i;
    for (round = 0; round < 3; round++) { /* each moves the upper half of the rows between the lower ones */
        for (i = 0; i < 4; i++) {
            t[2 * i] = _mm_unpacklo_epi16(r[i], r[i + 4]);
            t[2 * i + 1] = _mm_unpackhi_epi16(r[i], r[i + 4]);
        }
        for (i = 0; i < 8; i++) r[i] = t[i];
    }
}

typedef struct { /* of a block and its sample */
    byte_lanes f, turned; /* c and s; -s and c */
    byte_lanes chance, e;
} byte_moving;

/* The weights of vector v in eight directions, moved */
BYTE_LANES_INLINE __m128i byte_move_vector(
    __m128i weights, byte_moving *b, const byte_step *t, int v, byte_lanes *over) {
    byte_lanes pairs = _mm256_cvtepi8_epi16(weights);
    b->e = _mm256_add_epi32(b->e, _mm256_mullo_epi32(_mm256_madd_epi16(pairs, b->turned), byte_all(t->turn[v])));
    b->chance = byte_next_lanes(b->chance);
    pairs = byte_move_pairs(pairs, byte_by_width(t->step[v]), b->f, b->chance);
    *over = _mm256_max_epi16(*over, _mm256_abs_epi16(pairs));
    return byte_pack_pairs(byte_clip_pairs(pairs));
}

/* Vectors v to v + 7. Where there are fewer, a row goes on into the next one, which is stored later. */
BYTE_LANES_INLINE void byte_move_vectors(
    int8_t *w, int V, byte_moving *b, const byte_step *t, int v, byte_lanes *over) {
    __m128i r[8];
    int l, is_still = 1;
    for (l = v; l < V && l < v + 8; l++) is_still &= !t->slope[l];
    if (is_still) return;
    for (l = 0; l < 8; l++) r[l] = _mm_loadu_si128((const __m128i *)(w + 2 * (l * V + v)));
    byte_transpose(r);
    for (l = 0; l < 8 && v + l < V; l++)
        if (t->slope[v + l]) r[l] = byte_move_vector(r[l], b, t, v + l, &over[v + l]);
    byte_transpose(r);
    for (l = 0; l < 8; l++) _mm_storeu_si128((__m128i *)(w + 2 * (l * V + v)), r[l]);
}

static uint64_t byte_move_lanes(
    const byte_shape *s, char *model, const int8_t *z, int32_t P, uint32_t n, byte_step *t, const int32_t *by,
    const byte_seen *seen) {
    int8_t *u = (int8_t *)model + s->at_u, *w = (int8_t *)model + s->at_w;
    int32_t p, V = s->n_vectors, K = s->n_kept, v, turns = 0;
    byte_rates rates = byte_find_rates(byte_head_of(model), t->e, by);
    byte_lanes sum = _mm256_setzero_si256(), over[BYTE_MOST_VECTORS], sign = byte_all(0x1FFFF); /* -1, 1 */
    uint64_t part[4], squares = 0;
    byte_walks walks;
    if (P > BYTE_MOST_SEEN * BYTE_BLOCK) byte_walk(s, z, &walks);
    for (v = 0; v < V; v++) {
        over[v] = _mm256_setzero_si256();
        turns += t->turn[v] < 0 ? -t->turn[v] : t->turn[v];
    }
    for (p = 0; p < P; p += BYTE_BLOCK, u += BYTE_BLOCK * K, w += BYTE_BLOCK * 2 * V) {
        byte_seen now = p < BYTE_MOST_SEEN * BYTE_BLOCK ? seen[p / BYTE_BLOCK] : byte_see(s, model, &walks, p);
        byte_words was;
        byte_lanes move, lower, upper;
        byte_moving b;
        b.f = now.f;
        b.turned = _mm256_or_si256(_mm256_slli_epi32(b.f, 16), _mm256_srli_epi32(b.f, 16));
        b.turned = _mm256_sign_epi16(b.turned, sign);
        b.chance = byte_count_lanes(s->key + n * 0x9E3779B1u + (1000 + (uint32_t)p) * 0x85EBCA6Bu, 0x85EBCA6Bu);
        b.chance = _mm256_or_si256(byte_mix_lanes(b.chance), byte_all(1));
        b.e = _mm256_setzero_si256();
        if (V == 1)
            _mm_storeu_si128((__m128i *)w, byte_move_vector(_mm_loadu_si128((const __m128i *)w), &b, t, 0, over));
        else
            for (v = 0; v < V; v += 8) byte_move_vectors(w, V, &b, t, v, over);
        if (!t->rate) continue;
        if (turns <= BYTE_FEW_TURNS && (int64_t)turns * 287 << t->e <= 1 << 22) { /* nor is q 2^e clipped: A is below 9160 */
            byte_lanes q = byte_find_slopes(b.e, rates);
            sum = byte_add_squares(sum, q);
            move = byte_find_move_lanes(q, rates);
        } else {
            int32_t e[BYTE_BLOCK], moves[BYTE_BLOCK];
            _mm256_storeu_si256((__m256i *)e, b.e);
            squares += byte_find_moves(byte_head_of(model), t->e, by, BYTE_BLOCK, e, moves);
            move = _mm256_loadu_si256((const __m256i *)moves);
        }
        was = byte_load_u(u, K);
        lower = byte_move_four(byte_lower(was), byte_lower(now.z), move, &b.chance, K);
        upper = K > 4 ? byte_move_four(byte_upper(was), byte_upper(now.z), move, &b.chance, K - 4) : byte_upper(was);
        byte_store_u(u, K, lower, upper);
    }
    for (v = 0; v < V; v++)
        t->is_over[v] |= _mm256_movemask_epi8(_mm256_cmpgt_epi16(over[v], _mm256_set1_epi16(127))) != 0;
    _mm256_storeu_si256((__m256i *)part, sum);
    return squares + ((part[0] + part[1] + part[2] + part[3]) << (2 * t->e));
}

/* -- the mean ---------------------------------------------------------------------------------------------- */

/* Pairs of means moved to w's, before they are clipped */
BYTE_LANES_INLINE byte_lanes byte_follow_pairs(byte_lanes mean, byte_lanes w, const byte_lanes *by, byte_lanes chance) {
    byte_lanes most = byte_all(4096), off[2];
    int i;
    for (i = 0; i < 2; i++) {
        byte_lanes a = i ? _mm256_srai_epi32(w, 16) : _mm256_srai_epi32(_mm256_slli_epi32(w, 16), 16);
        byte_lanes m = i ? _mm256_srai_epi32(mean, 16) : _mm256_srai_epi32(_mm256_slli_epi32(mean, 16), 16);
        a = _mm256_sub_epi32(_mm256_srav_epi32(_mm256_mullo_epi32(a, by[0]), by[1]), m);
        a = _mm256_max_epi32(_mm256_min_epi32(a, most), _mm256_sub_epi32(_mm256_setzero_si256(), most));
        off[i] = _mm256_mullo_epi32(a, by[2]);
    }
    off[0] = _mm256_add_epi32(off[0], _mm256_and_si256(chance, byte_all(0xFFFF)));
    off[1] = _mm256_add_epi32(off[1], _mm256_srli_epi32(chance, 16));
    return _mm256_add_epi16(mean, byte_upper_halves(off[0], off[1]));
}

/* The means of eight vectors, or of one in eight directions at once, up to direction P; up, down, share, chance and
 * is_over are of the eight. Vectors that do not exist have share 0, so the bytes of the next ones stay. */
static void byte_learn_mean_lanes(
    const int8_t *w, int8_t *mean, int32_t P, int V, int32_t (*of)[BYTE_MEANS], uint32_t *chance, int *is_over) {
    byte_lanes by[3], chances = _mm256_loadu_si256((const __m256i *)chance), over = _mm256_setzero_si256();
    int16_t most[16];
    int32_t p, i;
    for (i = 0; i < 3; i++) by[i] = V == 1 ? byte_all(of[i][0]) : _mm256_loadu_si256((const __m256i *)of[i]);
    for (p = 0; p < P; p += V == 1 ? 8 : 1, w += V == 1 ? 16 : 2 * V, mean += V == 1 ? 16 : 2 * V) {
        byte_lanes moved;
        if (V == 1) {
            chance[0] = byte_next(p ? chance[7] : chance[0]);
            for (i = 1; i < 8; i++) chance[i] = byte_next(chance[i - 1]);
            chances = _mm256_setr_epi32(
                (int32_t)chance[0], (int32_t)chance[1], (int32_t)chance[2], (int32_t)chance[3], (int32_t)chance[4],
                (int32_t)chance[5], (int32_t)chance[6], (int32_t)chance[7]);
        } else {
            chances = byte_next_lanes(chances);
        }
        moved = byte_follow_pairs(byte_load_pairs(mean), byte_load_pairs(w), by, chances);
        over = _mm256_max_epi16(over, _mm256_abs_epi16(moved));
        _mm_storeu_si128((__m128i *)mean, byte_pack_pairs(byte_clip_pairs(moved)));
    }
    _mm256_storeu_si256((__m256i *)most, over);
    if (V > 1) _mm256_storeu_si256((__m256i *)chance, chances);
    for (i = 0; i < 16; i++) is_over[V == 1 ? 0 : i / 2] |= most[i] > 127;
    if (V == 1) chance[0] = chance[7];
}

#pragma GCC pop_options

/* How many directions lanes take: whole blocks, before so many directions that weights of eight vectors are within the
 * model. */
static inline int32_t byte_in_lanes(const byte_shape *s) {
    int32_t V = s->n_vectors, P = s->n_directions - (V > 1 ? (16 * ((V + 7) / 8) - 1) / (2 * V) : 0);
    return P < BYTE_BLOCK || s->n_features > 0xFFFF || !__builtin_cpu_supports("avx2") ? 0 : P & ~(BYTE_BLOCK - 1);
}
