/* Included by waves.h once a type: T, BITS, UBITS, LANES, NAME, MAGIC. */

#define VEC NAME(vec)
#define MASK NAME(mask)
#define LOW32 ((UBITS)0xFFFFFFFFu)

typedef UBITS NAME(hash) __attribute__((vector_size(64)));
typedef int16_t NAME(angle) __attribute__((vector_size(2 * LANES)));

/* Each step of the hash (lowbias32, Wellons 2018) keeps 32 bits, so both types draw the same. */
#define MIX(h)                                                                      \
    do {                                                                            \
        h = (h ^ (h >> 16)) * (UBITS)0x7FEB352Du & LOW32;                           \
        h = (h ^ (h >> 15)) * (UBITS)0x846CA68Bu & LOW32;                           \
        h ^= h >> 16;                                                               \
    } while (0)

/* out = turns in 1/65536, of which only the low 16 bits count */
#define AS_ANGLE(turns, out)                                                        \
    do {                                                                            \
        VEC rest = turns - ((turns + MAGIC) - MAGIC);                               \
        rest = rest * (T)65536 + MAGIC;                                             \
        out = __builtin_convertvector((MASK)rest, NAME(angle));                     \
    } while (0)

/* Up to LANES numbers; a copy of a size that is not constant would be a call. */
#define SOME(n, p) ((n) - (p) < LANES ? (size_t)((n) - (p)) : (size_t)LANES)
#define COPY(to, from, count, item)                                                 \
    do {                                                                            \
        if ((count) == LANES)                                                       \
            memcpy(to, from, LANES * (item));                                       \
        else                                                                        \
            memcpy(to, from, (count) * (item));                                     \
    } while (0)

/* angle[r * apart + p] of N_ROWS rows, one behind the other; each entry is drawn once */
#define ANGLES(N_ROWS, apart)                                                       \
    do {                                                                            \
        VEC turns;                                                                  \
        NAME(hash) lane;                                                            \
        EDGESVM_CHECK(width > 0 && first % 4 == 0 && n >= 0);                       \
        for (int j = 0; j < LANES; j++) {                                           \
            lane[j] = (UBITS)j;                                                     \
            turns[j] = (T)scale[j % 4];                                             \
        }                                                                           \
        for (int64_t p = 0; p < n; p += LANES) {                                    \
            NAME(hash) row = (lane + (UBITS)(first + p)) * (UBITS)0x9E3779B1u + key; \
            VEC sum[N_ROWS] = {{0}};                                                \
            NAME(angle) out;                                                        \
            for (int64_t d = 0; d < width; d++) {                                   \
                NAME(hash) h = (row + (UBITS)(uint32_t)d * 0x85EBCA6Bu) & LOW32;    \
                VEC entry;                                                          \
                MIX(h);                                                             \
                h = (h & 0x00FF00FFu) + (h >> 8 & 0x00FF00FFu);                     \
                h = (h & 0xFFFFu) + (h >> 16);                                      \
                entry = __builtin_convertvector((MASK)h - 510, VEC);                \
                for (int r = 0; r < N_ROWS; r++)                                    \
                    sum[r] += entry * x[r * width + d];                             \
            }                                                                       \
            for (int r = 0; r < N_ROWS; r++) {                                      \
                sum[r] *= turns;                                                    \
                AS_ANGLE(sum[r], out);                                              \
                COPY(angle + r * (apart) + p, &out, SOME(n, p), sizeof *angle);     \
            }                                                                       \
        }                                                                           \
    } while (0)

/* angle[p] of directions first .. first + n, in 1/65536 turn: that of scale[p % 4] * (x . direction),
 * given in turns */
EDGESVM_CLONES
static void NAME(waves_angles)(const T *x, int64_t width, uint32_t key, const double *scale,
                               int64_t first, int64_t n, int16_t *angle)
{
    ANGLES(1, 0);
}

/* waves_angles of one, two or four rows, one behind the other; angle[r * apart + p] */
EDGESVM_CLONES
static void NAME(waves_angles_rows)(const T *x, int n_rows, int64_t width, uint32_t key,
                                    const double *scale, int64_t first, int64_t n, int16_t *angle,
                                    int64_t apart)
{
    if (n_rows == 4)
        ANGLES(4, apart);
    else if (n_rows == 2)
        ANGLES(2, apart);
    else
        ANGLES(1, apart);
}

/* v[j] + v[j + h] and v[j] - v[j + h], of the lanes j without the bit h */
#define MIX_LANES(v, h, ...) \
    v = EDGESVM_LANES_OF(v, __VA_ARGS__) + (VEC)((NAME(hash))v ^ ((lane & (UBITS)h) * (SIGN / (UBITS)h)))

/* angle[p] of the first n directions of an orthogonal block, d of them in all: that of
 * scale[p % 4] * (x . direction). v (d,): TMP */
EDGESVM_CLONES
static void NAME(waves_mixed)(const T *x, int64_t width, uint32_t key, const double *scale,
                              int64_t d, int64_t block, int64_t n, T *v, int16_t *angle)
{
    const UBITS SIGN = (UBITS)1 << (8 * sizeof(T) - 1);
    const NAME(hash) lane = {EVERY_LANE};
    VEC turns;
    EDGESVM_CHECK(0 < width && width <= d && d % 16 == 0 && (d & (d - 1)) == 0 && n <= d);
    for (int j = 0; j < LANES; j++)
        turns[j] = (T)scale[j % 4];
    memcpy(v, x, (size_t)width * sizeof(T));
    memset(v + width, 0, (size_t)(d - width) * sizeof(T));
    for (int64_t round = 3 * block; round < 3 * block + 3; round++) {
        for (int64_t i = 0; i < d; i += LANES) {
            UBITS h = ((UBITS)(uint32_t)round * (UBITS)0x9E3779B1u + key
                       + (UBITS)(uint32_t)(i / 32) * 0x85EBCA6Bu) & LOW32;
            VEC a;
            MIX(h);
            memcpy(&a, v + i, sizeof a);
            a = (VEC)((NAME(hash))a ^ ((((NAME(hash)){0} + (h >> i % 32)) >> lane & 1) * SIGN));
            MIX_LANES(a, 1, LANES_1);
            MIX_LANES(a, 2, LANES_2);
            MIX_LANES(a, 4, LANES_4);
#ifdef LANES_8
            MIX_LANES(a, 8, LANES_8);
#endif
            memcpy(v + i, &a, sizeof a);
        }
        for (int64_t h = LANES; h < d; h *= 2)
            for (int64_t i = 0; i < d; i += 2 * h)
                for (int64_t j = i; j < i + h; j += LANES) {
                    VEC a, b, sum, difference;
                    memcpy(&a, v + j, sizeof a);
                    memcpy(&b, v + j + h, sizeof b);
                    sum = a + b;
                    difference = a - b;
                    memcpy(v + j, &sum, sizeof sum);
                    memcpy(v + j + h, &difference, sizeof difference);
                }
    }
    for (int64_t p = 0; p < n; p += LANES) {
        VEC sum;
        NAME(angle) out;
        memcpy(&sum, v + p, sizeof sum);
        sum *= turns;
        AS_ANGLE(sum, out);
        COPY(angle + p, &out, SOME(n, p), sizeof *angle);
    }
    memset(v, 0, (size_t)d * sizeof(T));
}

/* wave[p] = cos(angle[p]), wave[n + p] = sin(angle[p]), to 1e-7: from the half angle, by Taylor */
EDGESVM_CLONES
static void NAME(waves_of)(const int16_t *angle, int64_t n, T *wave)
{
    EDGESVM_CHECK(n >= 0);
    for (int64_t p = 0; p < n; p += LANES) {
        const size_t some = SOME(n, p);
        NAME(angle) in = {0};
        VEC r, z, s, c;
        COPY(&in, angle + p, some, sizeof *angle);
        r = __builtin_convertvector(in, VEC) * (T)(1.0 / 65536);
        z = r * r;
        s = z * (T)-7.3704309457143504e-03 + (T)8.2145886611128230e-02;
        s = s * z + (T)-5.9926452932079211e-01; s = s * z + (T)2.5501640398773455e+00;
        s = s * z + (T)-5.1677127800499703e+00; s = (s * z + (T)3.1415926535897931e+00) * r;
        c = z * (T)1.9295743094039231e-03 + (T)-2.5806891390014061e-02;
        c = c * z + (T)2.3533063035889320e-01; c = c * z + (T)-1.3352627688545895e+00;
        c = c * z + (T)4.0587121264167685e+00; c = c * z + (T)-4.9348022005446790e+00;
        c = c * z + (T)1;
        c *= s + s;
        s = (T)1 - (s + s) * s;
        COPY(wave + p, &s, some, sizeof(T));
        COPY(wave + n + p, &c, some, sizeof(T));
    }
}

/* wave[p] *= amplitude[p % 4] */
EDGESVM_CLONES
static void NAME(waves_weigh)(T *wave, int64_t n, const double *amplitude)
{
    VEC factor;
    EDGESVM_CHECK(n >= 0);
    for (int j = 0; j < LANES; j++)
        factor[j] = (T)amplitude[j % 4];
    for (int64_t p = 0; p < n; p += LANES) {
        const size_t some = SOME(n, p);
        VEC f = {0};
        COPY(&f, wave + p, some, sizeof(T));
        f *= factor;
        COPY(wave + p, &f, some, sizeof(T));
    }
}

/* dot[j] += scale * the sum of w[p] * wave[p] over p % 4 = j */
EDGESVM_CLONES
static void NAME(waves_dots)(const T *w, const T *wave, int64_t n, double scale, double *dot)
{
    VEC sum = {0};
    EDGESVM_CHECK(n >= 0);
    for (int64_t p = 0; p < n; p += LANES) {
        const size_t some = SOME(n, p);
        VEC a = {0}, b = {0};
        COPY(&a, w + p, some, sizeof(T));
        COPY(&b, wave + p, some, sizeof(T));
        sum += a * b;
    }
    for (int j = 0; j < LANES; j++)
        dot[j % 4] += scale * (double)sum[j];
}

#undef VEC
#undef MASK
#undef LOW32
#undef MIX
#undef SOME
#undef COPY
#undef ANGLES
#undef AS_ANGLE
#undef MIX_LANES
#undef EVERY_LANE
#undef LANES_1
#undef LANES_2
#undef LANES_4
#undef LANES_8
#undef T
#undef BITS
#undef UBITS
#undef LANES
#undef NAME
#undef MAGIC
