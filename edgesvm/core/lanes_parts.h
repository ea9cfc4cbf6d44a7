/* Included by lanes_type.h once a target, for vectors in one part, in two or in four: PART, PARTS, MASK
 * (integers as wide), TARGET, AT (a name), TO_QUARTER. As one number of 64 bytes GCC puts a sum into memory
 * and back at every step where the target's vectors are narrower. */

/* Macros, not functions: a plain function would be compiled for the baseline and called from the clone. */
#define EACH for (int p_ = 0; p_ < PARTS; p_++)
#define ADD(sum, u, v) EACH (sum)[p_] += (u)[p_] * (v)[p_]
#define TAKE(u, v) EACH (u)[p_] -= (v)[p_]
#define LOAD(v, p) EACH memcpy(&(v)[p_], (p) + p_ * (LANES / PARTS), sizeof(PART))
#define LOAD_TAIL(v, p, n)                                                          \
    do {                                                                            \
        if ((n) >= LANES) {                                                         \
            MASK keep_[PARTS];                                                      \
            LOAD(keep_, NAME(tail_masks) + (n) % LANES);                            \
            LOAD(v, (p) + (n) - LANES);                                             \
            EACH (v)[p_] = (PART)((MASK)(v)[p_] & keep_[p_]);                       \
        } else if (PARTS == 1) {                                                    \
            memset((v), 0, sizeof(PART));                                           \
            memcpy((v), (p), (size_t)(n) * sizeof(T));                              \
        } else {            /* not into v, which then would not stay in registers */ \
            T few_[LANES] = {0};                                                    \
            memcpy(few_, (p), (size_t)(n) * sizeof(T));                             \
            LOAD(v, few_);                                                          \
        }                                                                           \
    } while (0)
/* t[j] + t[j + width], width = LANES/2, LANES/4, ... 1: halves of 32, 16, 8 bytes, then single numbers */
#define FOLD(sum, v)                                                                \
    do {                                                                            \
        NAME(quarter) l_;                                                           \
        TO_QUARTER(l_, v);                                                          \
        sum = LANES == 16 ? (l_[0] + l_[2 % (LANES / 4)]) + (l_[1] + l_[3 % (LANES / 4)]) \
                          : l_[0] + l_[1];                                          \
    } while (0)

/* sums[r] of four vectors, by one transposition; the pairs are those of FOLD */
#if LANES == 16
#define FOLD_ROWS(sums, v)                                                          \
    do {                                                                            \
        NAME(quarter) q_[4], even_, odd_;                                           \
        for (int r_ = 0; r_ < 4; r_++) TO_QUARTER(q_[r_], (v)[r_]);                 \
        even_ = PICK(q_[0], q_[1], 0, 4, 1, 5) + PICK(q_[0], q_[1], 2, 6, 3, 7);    \
        odd_ = PICK(q_[2], q_[3], 0, 4, 1, 5) + PICK(q_[2], q_[3], 2, 6, 3, 7);     \
        even_ = PICK(even_, odd_, 0, 1, 4, 5) + PICK(even_, odd_, 2, 3, 6, 7);      \
        memcpy((sums), &even_, 16);                                                 \
    } while (0)
#else
#define FOLD_ROWS(sums, v)                                                          \
    do {                                                                            \
        NAME(quarter) q_[4];                                                        \
        for (int r_ = 0; r_ < 4; r_++) TO_QUARTER(q_[r_], (v)[r_]);                 \
        q_[0] = PICK(q_[0], q_[1], 0, 2) + PICK(q_[0], q_[1], 1, 3);                \
        q_[2] = PICK(q_[2], q_[3], 0, 2) + PICK(q_[2], q_[3], 1, 3);                \
        memcpy((sums), &q_[0], 16); memcpy((sums) + 2, &q_[2], 16);                 \
    } while (0)
#endif

/* sum x[i] * z[i] */
TARGET
static T AT(lanes_dot)(const T *x, const T *z, int64_t n)
{
    PART a[PARTS] = {{0}}, b[PARTS] = {{0}}, u[PARTS], v[PARTS];
    int64_t i = 0;
    T sum;
    EDGESVM_CHECK(n >= 0);
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        LOAD(u, x + i); LOAD(v, z + i); ADD(a, u, v);
        LOAD(u, x + i + LANES); LOAD(v, z + i + LANES); ADD(b, u, v);
    }
    if (i + LANES <= n) { LOAD(u, x + i); LOAD(v, z + i); ADD(a, u, v); }
    EACH a[p_] += b[p_];
    if (n % LANES) { LOAD_TAIL(u, x, n); LOAD_TAIL(v, z, n); ADD(a, u, v); }
    FOLD(sum, a);
    return sum;
}

/* *dot = sum x[i] * w[i],  *square = sum x[i] * x[i];  x is read once */
TARGET
static void AT(lanes_dot_square)(const T *x, const T *w, int64_t n, T *dot, T *square)
{
    PART a[PARTS] = {{0}}, b[PARTS] = {{0}}, c[PARTS] = {{0}}, d[PARTS] = {{0}}, u[PARTS], v[PARTS];
    int64_t i = 0;
    EDGESVM_CHECK(n >= 0);
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        LOAD(u, x + i); LOAD(v, w + i); ADD(a, u, v); ADD(c, u, u);
        LOAD(u, x + i + LANES); LOAD(v, w + i + LANES); ADD(b, u, v); ADD(d, u, u);
    }
    if (i + LANES <= n) { LOAD(u, x + i); LOAD(v, w + i); ADD(a, u, v); ADD(c, u, u); }
    EACH a[p_] += b[p_];
    EACH c[p_] += d[p_];
    if (n % LANES) { LOAD_TAIL(u, x, n); LOAD_TAIL(v, w, n); ADD(a, u, v); ADD(c, u, u); }
    FOLD(*dot, a);
    FOLD(*square, c);
}

/* Sums over the first four of `rows` rows, one behind the other: with w, with themselves, or both; or
 * with themselves less w (APART); `end` is w's tail. A row below LANES numbers is read beyond its end
 * where others follow, and masked. A longer row's tail has to be masked for its square only: w's is. */
#define SUM_ROWS(WITH_W, APART, SQUARED, FETCH_NEXT)                                \
    do {                                                                            \
        PART dot[4][PARTS], square[4][PARTS], u[PARTS], v[PARTS];                   \
        MASK first[PARTS];                                                          \
        EDGESVM_CHECK(n > 0 && rows >= 4);                                          \
        LOAD(first, NAME(tail_masks) + LANES - n % LANES);                          \
        for (int r = 0; r < 4; r++, x += n) {                                       \
            PART a[PARTS] = {{0}}, b[PARTS] = {{0}}, c[PARTS] = {{0}}, d[PARTS] = {{0}}; \
            int64_t i = 0;                                                          \
            for (; i + 2 * LANES <= n; i += 2 * LANES) {                            \
                FETCH_NEXT(x + i + 4 * n);                                          \
                LOAD(u, x + i);                                                     \
                if ((WITH_W) || (APART)) LOAD(v, w + i);                            \
                if (WITH_W) ADD(a, u, v);                                           \
                if (APART) TAKE(u, v);                                              \
                if (SQUARED) ADD(c, u, u);                                          \
                FETCH_NEXT(x + i + 4 * n + LANES);                                  \
                LOAD(u, x + i + LANES);                                             \
                if ((WITH_W) || (APART)) LOAD(v, w + i + LANES);                    \
                if (WITH_W) ADD(b, u, v);                                           \
                if (APART) TAKE(u, v);                                              \
                if (SQUARED) ADD(d, u, u);                                          \
            }                                                                       \
            FETCH_NEXT(x + i + 4 * n);                                              \
            if (i + LANES <= n) {                                                   \
                LOAD(u, x + i);                                                     \
                if ((WITH_W) || (APART)) LOAD(v, w + i);                            \
                if (WITH_W) ADD(a, u, v);                                           \
                if (APART) TAKE(u, v);                                              \
                if (SQUARED) ADD(c, u, u);                                          \
            }                                                                       \
            EACH a[p_] += b[p_];                                                    \
            EACH c[p_] += d[p_];                                                    \
            if (n % LANES) {                                                        \
                if (n < LANES && (rows - r) * n >= LANES) {                         \
                    LOAD(u, x);                                                     \
                    EACH u[p_] = (PART)((MASK)u[p_] & ~first[p_]);                  \
                } else if (n < LANES || (SQUARED)) {                                \
                    LOAD_TAIL(u, x, n);                                             \
                } else {                                                            \
                    LOAD(u, x + n - LANES);                                         \
                }                                                                   \
                if (WITH_W) ADD(a, u, end);                                         \
                if (APART) TAKE(u, end);                                            \
                if (SQUARED) ADD(c, u, u);                                          \
            }                                                                       \
            EACH dot[r][p_] = a[p_];                                                \
            EACH square[r][p_] = c[p_];                                             \
        }                                                                           \
        if (WITH_W) FOLD_ROWS(dots, dot);                                           \
        if (SQUARED) FOLD_ROWS(squares, square);                                    \
    } while (0)

/* lanes_dot_square of four rows; the next are fetched */
TARGET
static void AT(lanes_dot_square_rows)(const T *x, const T *w, int64_t n, int64_t rows, T *dots,
                                      T *squares)
{
    PART end[PARTS];
    LOAD_TAIL(end, w, n);
    SUM_ROWS(1, 0, 1, FETCH);
}

/* lanes_dot of four rows that are finite, and read lately */
TARGET
static void AT(lanes_dot_rows)(const T *x, const T *w, int64_t n, int64_t rows, T *dots)
{
    T squares[4];
    PART end[PARTS];
    LOAD_TAIL(end, w, n);
    SUM_ROWS(1, 0, 0, NO_FETCH);
}

/* x.x of four rows; the next are fetched */
TARGET
static void AT(lanes_square_rows)(const T *x, int64_t n, int64_t rows, T *squares)
{
    const T *const w = x;
    const PART end[PARTS] = {{0}};
    T dots[4];
    SUM_ROWS(0, 0, 1, FETCH);
}

/* sum (x[i] - z[i])^2 */
TARGET
static T AT(lanes_square_distance)(const T *x, const T *z, int64_t n)
{
    PART a[PARTS] = {{0}}, b[PARTS] = {{0}}, u[PARTS], v[PARTS];
    int64_t i = 0;
    T sum;
    EDGESVM_CHECK(n >= 0);
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        LOAD(u, x + i); LOAD(v, z + i); TAKE(u, v); ADD(a, u, u);
        LOAD(u, x + i + LANES); LOAD(v, z + i + LANES); TAKE(u, v); ADD(b, u, u);
    }
    if (i + LANES <= n) { LOAD(u, x + i); LOAD(v, z + i); TAKE(u, v); ADD(a, u, u); }
    EACH a[p_] += b[p_];
    if (n % LANES) { LOAD_TAIL(u, x, n); LOAD_TAIL(v, z, n); TAKE(u, v); ADD(a, u, u); }
    FOLD(sum, a);
    return sum;
}

/* out[i] = w . row i, or |w - row i|^2, of finite rows from z on. Narrow rows at the end are copied, to
 * where others could follow. */
TARGET
static void AT(lanes_sums)(int apart, const T *w, const T *z, int64_t n, int64_t n_rows,
                           double *out)
{
    T few[5 * LANES] = {0}, dots[4], squares[4];
    PART end[PARTS];
    LOAD_TAIL(end, w, n);
    for (int64_t m; n_rows > 0; n_rows -= m, z += m * n, out += m) {
        const T *x = z;
        int64_t rows = n_rows;
        m = rows < 4 ? rows : 4;
        if (n < LANES && (rows - 3) * n < LANES) {
            memcpy(few, z, (size_t)(m * n) * sizeof(T));
            x = few;
            rows = 5 * LANES;
        } else if (m < 4) {
            *out = apart ? AT(lanes_square_distance)(z, w, n) : AT(lanes_dot)(z, w, n);
            m = 1;
            continue;
        }
        if (apart) SUM_ROWS(0, 1, 1, NO_FETCH); else SUM_ROWS(1, 0, 0, NO_FETCH);
        for (int r = 0; r < m; r++) out[r] = apart ? squares[r] : dots[r];
    }
}

#undef EACH
#undef ADD
#undef TAKE
#undef LOAD
#undef LOAD_TAIL
#undef FOLD
#undef FOLD_ROWS
#undef SUM_ROWS
#undef PART
#undef PARTS
#undef MASK
#undef TARGET
#undef AT
#undef TO_QUARTER
