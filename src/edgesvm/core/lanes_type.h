/* Included by lanes.h once a type: T, BITS (an integer as wide as T), LANES, NAME. */

static const BITS NAME(tail_masks)[2 * LANES] = {
#if LANES == 16
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1};
#else
    0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
#endif

#define VEC NAME(vec)

/* Macros, not functions: a plain function would be compiled for the baseline and called from the clone. */
#define LOAD(v, p) memcpy(&(v), (p), sizeof(v))
#define LOAD_TAIL(v, p, n)                                                          \
    do {                                                                            \
        if ((n) >= LANES) {                                                         \
            NAME(mask) keep_;                                                       \
            LOAD(keep_, NAME(tail_masks) + (n) % LANES);                            \
            LOAD(v, (p) + (n) - LANES);                                             \
            v = (VEC)((NAME(mask))(v) & keep_);                                     \
        } else {                                                                    \
            memset(&(v), 0, sizeof(v));                                             \
            memcpy(&(v), (p), (size_t)(n) * sizeof(T));                             \
        }                                                                           \
    } while (0)
/* t[j] + t[j + width], width = LANES/2, LANES/4, ... 1: halves of 32, 16, 8 bytes, then single numbers */
#define FOLD(sum, v)                                                                \
    do {                                                                            \
        NAME(half) lo_, hi_;                                                        \
        NAME(quarter) l_, h_;                                                       \
        memcpy(&lo_, &(v), 32); memcpy(&hi_, (const char *)&(v) + 32, 32);          \
        lo_ += hi_;                                                                 \
        memcpy(&l_, &lo_, 16); memcpy(&h_, (const char *)&lo_ + 16, 16);            \
        l_ += h_;                                                                   \
        sum = LANES == 16 ? (l_[0] + l_[2 % (LANES / 4)]) + (l_[1] + l_[3 % (LANES / 4)]) \
                          : l_[0] + l_[1];                                          \
    } while (0)

/* sums[r] of four vectors, by one transposition; the pairs are those of FOLD */
#if LANES == 16
#define FOLD_ROWS(sums, v)                                                          \
    do {                                                                            \
        NAME(quarter) q_[4], even_, odd_;                                           \
        HALVE_ROWS(q_, v);                                                          \
        even_ = PICK(q_[0], q_[1], 0, 4, 1, 5) + PICK(q_[0], q_[1], 2, 6, 3, 7);    \
        odd_ = PICK(q_[2], q_[3], 0, 4, 1, 5) + PICK(q_[2], q_[3], 2, 6, 3, 7);     \
        even_ = PICK(even_, odd_, 0, 1, 4, 5) + PICK(even_, odd_, 2, 3, 6, 7);      \
        memcpy((sums), &even_, 16);                                                 \
    } while (0)
#else
#define FOLD_ROWS(sums, v)                                                          \
    do {                                                                            \
        NAME(quarter) q_[4];                                                        \
        HALVE_ROWS(q_, v);                                                          \
        q_[0] = PICK(q_[0], q_[1], 0, 2) + PICK(q_[0], q_[1], 1, 3);                \
        q_[2] = PICK(q_[2], q_[3], 0, 2) + PICK(q_[2], q_[3], 1, 3);                \
        memcpy((sums), &q_[0], 16); memcpy((sums) + 2, &q_[2], 16);                 \
    } while (0)
#endif
/* halves of 32 and 16 bytes, of four vectors */
#define HALVE_ROWS(q, v)                                                            \
    for (int r_ = 0; r_ < 4; r_++) {                                                \
        NAME(half) lo_, hi_;                                                        \
        NAME(quarter) h_;                                                           \
        memcpy(&lo_, &(v)[r_], 32); memcpy(&hi_, (const char *)&(v)[r_] + 32, 32);  \
        lo_ += hi_;                                                                 \
        memcpy(&(q)[r_], &lo_, 16); memcpy(&h_, (const char *)&lo_ + 16, 16);       \
        (q)[r_] += h_;                                                              \
    }

/* sum x[i] * z[i] */
EDGESVM_CLONES
EDGESVM_SUM T NAME(lanes_dot)(const T *x, const T *z, int64_t n)
{
    VEC a = {0}, b = {0}, u, v;
    int64_t i = 0;
    T sum;
    EDGESVM_CHECK(n >= 0);
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        LOAD(u, x + i); LOAD(v, z + i); a += u * v;
        LOAD(u, x + i + LANES); LOAD(v, z + i + LANES); b += u * v;
    }
    if (i + LANES <= n) { LOAD(u, x + i); LOAD(v, z + i); a += u * v; }
    a += b;
    if (n % LANES) { LOAD_TAIL(u, x, n); LOAD_TAIL(v, z, n); a += u * v; }
    FOLD(sum, a);
    return sum;
}

/* *dot = sum x[i] * w[i],  *square = sum x[i] * x[i];  x is read once */
EDGESVM_CLONES
EDGESVM_SUM void NAME(lanes_dot_square)(const T *x, const T *w, int64_t n, T *dot, T *square)
{
    VEC a = {0}, b = {0}, c = {0}, d = {0}, u, v;
    int64_t i = 0;
    EDGESVM_CHECK(n >= 0);
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        LOAD(u, x + i); LOAD(v, w + i); a += u * v; c += u * u;
        LOAD(u, x + i + LANES); LOAD(v, w + i + LANES); b += u * v; d += u * u;
    }
    if (i + LANES <= n) { LOAD(u, x + i); LOAD(v, w + i); a += u * v; c += u * u; }
    a += b;
    c += d;
    if (n % LANES) { LOAD_TAIL(u, x, n); LOAD_TAIL(v, w, n); a += u * v; c += u * u; }
    FOLD(*dot, a);
    FOLD(*square, c);
}

/* lanes_dot_square of the first four of `rows` rows, one behind the other; the next are fetched.
 * A row below LANES numbers is read beyond its end where others follow, and masked. */
EDGESVM_CLONES
EDGESVM_SUM void NAME(lanes_dot_square_rows)(const T *x, const T *w, int64_t n, int64_t rows, T *dots,
                                             T *squares)
{
    VEC dot[4], square[4], end, u, v;
    NAME(mask) first;
    EDGESVM_CHECK(n > 0 && rows >= 4);
    LOAD_TAIL(end, w, n);
    LOAD(first, NAME(tail_masks) + LANES - n % LANES);
    for (int r = 0; r < 4; r++, x += n) {
        VEC a = {0}, b = {0}, c = {0}, d = {0};
        int64_t i = 0;
        for (; i + 2 * LANES <= n; i += 2 * LANES) {
            FETCH(x + i + 4 * n);
            LOAD(u, x + i); LOAD(v, w + i); a += u * v; c += u * u;
            FETCH(x + i + 4 * n + LANES);
            LOAD(u, x + i + LANES); LOAD(v, w + i + LANES); b += u * v; d += u * u;
        }
        FETCH(x + i + 4 * n);
        if (i + LANES <= n) { LOAD(u, x + i); LOAD(v, w + i); a += u * v; c += u * u; }
        a += b;
        c += d;
        if (n % LANES) {
            if (n < LANES && (rows - r) * n >= LANES) {
                LOAD(u, x);
                u = (VEC)((NAME(mask))(u) & ~first);
            } else {
                LOAD_TAIL(u, x, n);
            }
            a += u * end;
            c += u * u;
        }
        dot[r] = a;
        square[r] = c;
    }
    FOLD_ROWS(dots, dot);
    FOLD_ROWS(squares, square);
}

/* sum (x[i] - z[i])^2 */
EDGESVM_CLONES
EDGESVM_SUM T NAME(lanes_square_distance)(const T *x, const T *z, int64_t n)
{
    VEC a = {0}, b = {0}, u, v;
    int64_t i = 0;
    T sum;
    EDGESVM_CHECK(n >= 0);
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        LOAD(u, x + i); LOAD(v, z + i); u -= v; a += u * u;
        LOAD(u, x + i + LANES); LOAD(v, z + i + LANES); u -= v; b += u * u;
    }
    if (i + LANES <= n) { LOAD(u, x + i); LOAD(v, z + i); u -= v; a += u * u; }
    a += b;
    if (n % LANES) { LOAD_TAIL(u, x, n); LOAD_TAIL(v, z, n); u -= v; a += u * u; }
    FOLD(sum, a);
    return sum;
}

#undef VEC
#undef LOAD
#undef LOAD_TAIL
#undef FOLD
#undef FOLD_ROWS
#undef HALVE_ROWS
#undef T
#undef BITS
#undef LANES
#undef NAME
