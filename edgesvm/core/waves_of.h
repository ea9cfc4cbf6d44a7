/* Included by sums_of.h once a type: random Fourier features whose directions are drawn anew for each sample, and so cost
 * no memory. A direction is a lane, so only the sum over directions knows of widths.
 *
 * Number d of direction p is the sum of the four bytes of a 32-bit hash of (key, p, d), less its mean 510: nearly
 * normal, an integer, and the same on every machine. The angle of a direction is kept in 1/65536 of a turn, in 16 bits;
 * cosine and sine are polynomials of it.
 *
 * Orthogonal directions come d at a time, d a power of two: the rows of (H D3 H D2 H D1) / d, where H is the Hadamard
 * matrix and each D has random signs (Yu et al. 2016). No matrix is formed: the product with H is d log d additions. */
#define WAVES (LANES * SUMS_WIDTH < 256 ? 4 : LANES * SUMS_WIDTH / 64)  /* numbers in a vector; scales come by four */
#define VEC OWN(wave)
#define MASK OWN(wave_mask)
#define HASH OWN(hash)
#define ANGLE OWN(angle)
#define LOW32 ((UBITS)0xFFFFFFFFu)

typedef T VEC __attribute__((vector_size(WAVES * sizeof(T))));
typedef BITS MASK __attribute__((vector_size(WAVES * sizeof(T))));
typedef UBITS HASH __attribute__((vector_size(WAVES * sizeof(T))));
typedef int16_t ANGLE __attribute__((vector_size(2 * WAVES)));

#if WAVES == 16
#define EVERY_LANE 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define LANES_1 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14
#define LANES_2 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13
#define LANES_4 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11
#define LANES_8 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7
#elif WAVES == 8
#define EVERY_LANE 0, 1, 2, 3, 4, 5, 6, 7
#define LANES_1 1, 0, 3, 2, 5, 4, 7, 6
#define LANES_2 2, 3, 0, 1, 6, 7, 4, 5
#define LANES_4 4, 5, 6, 7, 0, 1, 2, 3
#else
#define EVERY_LANE 0, 1, 2, 3
#define LANES_1 1, 0, 3, 2
#define LANES_2 2, 3, 0, 1
#endif

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
        out = __builtin_convertvector((MASK)rest, ANGLE);                           \
    } while (0)

/* Up to WAVES numbers; a copy of a size that is not constant would be a call. */
#define SOME(n, p) ((n) - (p) < WAVES ? (size_t)((n) - (p)) : (size_t)WAVES)
#define COPY(to, from, count, item)                                                 \
    do {                                                                            \
        if ((count) == WAVES)                                                       \
            memcpy(to, from, WAVES * (item));                                       \
        else                                                                        \
            memcpy(to, from, (count) * (item));                                     \
    } while (0)

/* angle[r * apart + p] of N_ROWS rows, one behind the other; each entry is drawn once */
#define ANGLES(N_ROWS, apart)                                                       \
    do {                                                                            \
        VEC turns;                                                                  \
        HASH lane;                                                                  \
        EDGESVM_CHECK(width > 0 && first % 4 == 0 && n >= 0);                       \
        for (int j = 0; j < WAVES; j++) {                                           \
            lane[j] = (UBITS)j;                                                     \
            turns[j] = (T)scale[j % 4];                                             \
        }                                                                           \
        for (int64_t p = 0; p < n; p += WAVES) {                                    \
            HASH row = (lane + (UBITS)(first + p)) * (UBITS)0x9E3779B1u + key;      \
            VEC sum[N_ROWS] = {{0}};                                                \
            ANGLE out;                                                              \
            for (int64_t d = 0; d < width; d++) {                                   \
                HASH h = (row + (UBITS)(uint32_t)d * 0x85EBCA6Bu) & LOW32;          \
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

/* angle[r * apart + p] of directions first .. first + n and one, two or four rows, one behind the other, in 1/65536
 * turn: that of scale[p % 4] * (x . direction), given in turns */
void NAME(waves_angles)(const T *x, int n_rows, int64_t width, uint32_t key,
                        const double *scale, int64_t first, int64_t n, int16_t *angle, int64_t apart)
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
    v = TURN(v, __VA_ARGS__) + (VEC)((HASH)v ^ ((lane & (UBITS)h) * (SIGN / (UBITS)h)))

/* angle[p] of the first n directions of an orthogonal block, d of them in all: that of
 * scale[p % 4] * (x . direction). v (d,): TMP */
void NAME(waves_mixed)(const T *x, int64_t width, uint32_t key, const double *scale,
                       int64_t d, int64_t block, int64_t n, T *v, int16_t *angle)
{
    const UBITS SIGN = (UBITS)1 << (8 * sizeof(T) - 1);
    const HASH lane = {EVERY_LANE};
    VEC turns;
    EDGESVM_CHECK(0 < width && width <= d && d % 16 == 0 && (d & (d - 1)) == 0 && n <= d);
    for (int j = 0; j < WAVES; j++)
        turns[j] = (T)scale[j % 4];
    memcpy(v, x, (size_t)width * sizeof(T));
    memset(v + width, 0, (size_t)(d - width) * sizeof(T));
    for (int64_t round = 3 * block; round < 3 * block + 3; round++) {
        for (int64_t i = 0; i < d; i += WAVES) {
            UBITS h = ((UBITS)(uint32_t)round * (UBITS)0x9E3779B1u + key
                       + (UBITS)(uint32_t)(i / 32) * 0x85EBCA6Bu) & LOW32;
            VEC a;
            MIX(h);
            memcpy(&a, v + i, sizeof a);
            a = (VEC)((HASH)a ^ ((((HASH){0} + (h >> i % 32)) >> lane & 1) * SIGN));
            MIX_LANES(a, 1, LANES_1);
            MIX_LANES(a, 2, LANES_2);
#ifdef LANES_4
            MIX_LANES(a, 4, LANES_4);
#endif
#ifdef LANES_8
            MIX_LANES(a, 8, LANES_8);
#endif
            memcpy(v + i, &a, sizeof a);
        }
        for (int64_t h = WAVES; h < d; h *= 2)
            for (int64_t i = 0; i < d; i += 2 * h)
                for (int64_t j = i; j < i + h; j += WAVES) {
                    VEC a, b, sum, difference;
                    memcpy(&a, v + j, sizeof a);
                    memcpy(&b, v + j + h, sizeof b);
                    sum = a + b;
                    difference = a - b;
                    memcpy(v + j, &sum, sizeof sum);
                    memcpy(v + j + h, &difference, sizeof difference);
                }
    }
    for (int64_t p = 0; p < n; p += WAVES) {
        VEC sum;
        ANGLE out;
        memcpy(&sum, v + p, sizeof sum);
        sum *= turns;
        AS_ANGLE(sum, out);
        COPY(angle + p, &out, SOME(n, p), sizeof *angle);
    }
    memset(v, 0, (size_t)d * sizeof(T));
}

/* wave[p] = cos(angle[p]), wave[n + p] = sin(angle[p]), to 1e-7: from the half angle, by Taylor */
void NAME(waves_of)(const int16_t *angle, int64_t n, T *wave)
{
    EDGESVM_CHECK(n >= 0);
    for (int64_t p = 0; p < n; p += WAVES) {
        const size_t some = SOME(n, p);
        ANGLE in = {0};
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
void NAME(waves_weigh)(T *wave, int64_t n, const double *amplitude)
{
    VEC factor;
    EDGESVM_CHECK(n >= 0);
    for (int j = 0; j < WAVES; j++)
        factor[j] = (T)amplitude[j % 4];
    for (int64_t p = 0; p < n; p += WAVES) {
        const size_t some = SOME(n, p);
        VEC f = {0};
        COPY(&f, wave + p, some, sizeof(T));
        f *= factor;
        COPY(wave + p, &f, some, sizeof(T));
    }
}

/* dot[j] += scale * the sum of w[p] * wave[p] over p % 4 = j, of each lane of 64 bytes by itself */
void NAME(waves_dots)(const T *w, const T *wave, int64_t n, double scale, double *dot)
{
    line sum = {0};
    T few[2][LANES] = {{0}}, each[LANES];
    int64_t p = 0;
    EDGESVM_CHECK(n >= 0);
    for (; p + LANES <= n; p += LANES) OWN(add)(&sum, OWN(load)(w + p), OWN(load)(wave + p));
    if (p < n) {
        memcpy(few[0], w + p, (size_t)(n - p) * sizeof(T));
        memcpy(few[1], wave + p, (size_t)(n - p) * sizeof(T));
        OWN(add)(&sum, OWN(load)(few[0]), OWN(load)(few[1]));
    }
    memcpy(each, &sum, sizeof each);
    for (int j = 0; j < LANES; j++) dot[j % 4] += scale * (double)each[j];
}

#undef EVERY_LANE
#undef LANES_1
#undef LANES_2
#undef LANES_4
#undef LANES_8
