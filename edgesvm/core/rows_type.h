/* Included by rows.h once a type: T, NAME; WIDEN (eight T from p into a vector of float64), WIDEN_4 (four),
 * GATHER_4 (four that are a stride apart), APART and APART_4 (eight or four pairs from p, their first and
 * their second numbers). */

#define SQUARE(sum, u, v) do { (u) -= (v); (sum) += (u) * (u); } while (0)
#define PRODUCT(sum, u, v) do { (sum) += (u) * (v); } while (0)
#define BOTH(TERM, s, u, v)                                                         \
    do { TERM((s).low, (u).low, (v).low); TERM((s).high, (u).high, (v).high); } while (0)
#define WIDEN_BOTH(v, p) do { WIDEN_4((v).low, p); WIDEN_4((v).high, (p) + 4); } while (0)

/* OUT[i] = sum over features of TERM(sum, row i, x) */
#define FOR_ROWS(TERM)                                                              \
    do {                                                                            \
        int64_t i = 0, d, tail = width - width % ROWS_LANES;                        \
        EDGESVM_CHECK(n >= 0 && width > 0);                                         \
        if (ROWS_PAIRS && width == 2) {                                             \
            const double x_0 = x[0], x_1 = x[1];                                    \
            for (; n >= ROWS_LANES && i < n; i += ROWS_LANES) {                     \
                const int64_t at = i + ROWS_LANES <= n ? i : n - ROWS_LANES;        \
                vec_f64 a = {0}, u, v;                                              \
                APART(u, v, rows + 2 * at);                                         \
                TERM(a, u, x_0); TERM(a, v, x_1);                                   \
                memcpy(out + at, &a, sizeof a);                                     \
            }                                                                       \
        } else if (width < ROWS_LANES) {                                            \
            for (; n >= ROWS_LANES && i < n; i += ROWS_LANES) {                     \
                const int64_t at = i + ROWS_LANES <= n ? i : n - ROWS_LANES;        \
                const T *p = rows + at * width;                                     \
                vec_f64 a = {0};                                                    \
                for (d = 0; d < width; d++, p++) {                                  \
                    vec_f64 u = {p[0], p[width], p[2 * width], p[3 * width],        \
                                 p[4 * width], p[5 * width], p[6 * width], p[7 * width]}; \
                    TERM(a, u, (double)x[d]);                                       \
                }                                                                   \
                memcpy(out + at, &a, sizeof a);                                     \
            }                                                                       \
        } else {                                                                    \
            for (; i + 4 <= n; i += 4, rows += 4 * width) {                         \
                vec_f64 a[4] = {{0}}, u, v;                                         \
                for (d = 0; d < tail; d += ROWS_LANES) {                            \
                    WIDEN(v, x + d);                                                \
                    for (int c = 0; c < 4; c++) {                                   \
                        WIDEN(u, rows + c * width + d); TERM(a[c], u, v);           \
                    }                                                               \
                }                                                                   \
                for (int c = 0; c < 4; c++) {                                       \
                    double s = ROWS_FOLD(a[c]);                                     \
                    for (d = tail; d < width; d++) {                                \
                        double u_ = rows[c * width + d]; TERM(s, u_, (double)x[d]); \
                    }                                                               \
                    out[i + c] = s;                                                 \
                }                                                                   \
            }                                                                       \
        }                                                                           \
        if (i > n) i = n;                                                           \
        for (; i < n; i++, rows += width) {                                         \
            vec_f64 a = {0}, u, v;                                                  \
            for (d = 0; d < tail; d += ROWS_LANES) {                                \
                WIDEN(v, x + d); WIDEN(u, rows + d); TERM(a, u, v);                 \
            }                                                                       \
            double s = ROWS_FOLD(a);                                                \
            for (d = tail; d < width; d++) {                                        \
                double u_ = rows[d]; TERM(s, u_, (double)x[d]);                     \
            }                                                                       \
            out[i] = s;                                                             \
        }                                                                           \
    } while (0)

/* The same sums. */
#define FOR_ROWS_IN_HALVES(TERM)                                                    \
    do {                                                                            \
        int64_t i = 0, d, tail = width - width % ROWS_LANES;                        \
        EDGESVM_CHECK(n >= 0 && width > 0);                                         \
        if (ROWS_PAIRS && width == 2) {                                             \
            const double x_0 = x[0], x_1 = x[1];                                    \
            for (; n >= ROWS_LANES && i < n; i += ROWS_LANES) {                     \
                const int64_t at = i + ROWS_LANES <= n ? i : n - ROWS_LANES;        \
                rows_f64 a = {{0}, {0}}, u, v;                                      \
                APART_4(u.low, v.low, rows + 2 * at);                               \
                APART_4(u.high, v.high, rows + 2 * at + 8);                         \
                TERM(a.low, u.low, x_0); TERM(a.low, v.low, x_1);                   \
                TERM(a.high, u.high, x_0); TERM(a.high, v.high, x_1);               \
                memcpy(out + at, &a, sizeof a);                                     \
            }                                                                       \
        } else if (width < ROWS_LANES) {                                            \
            for (; n >= ROWS_LANES && i < n; i += ROWS_LANES) {                     \
                const int64_t at = i + ROWS_LANES <= n ? i : n - ROWS_LANES;        \
                const T *p = rows + at * width;                                     \
                rows_f64 a = {{0}, {0}}, u;                                         \
                for (d = 0; d < width; d++, p++) {                                  \
                    GATHER_4(u.low, p, width);                                      \
                    GATHER_4(u.high, p + 4 * width, width);                         \
                    TERM(a.low, u.low, (double)x[d]);                               \
                    TERM(a.high, u.high, (double)x[d]);                             \
                }                                                                   \
                memcpy(out + at, &a, sizeof a);                                     \
            }                                                                       \
        } else {                                                                    \
            for (; i + 4 <= n; i += 4, rows += 4 * width) {                         \
                rows_f64 a[4] = {{{0}, {0}}}, u, v;                                 \
                for (d = 0; d < tail; d += ROWS_LANES) {                            \
                    WIDEN_BOTH(v, x + d);                                           \
                    WIDEN_BOTH(u, rows + d); BOTH(TERM, a[0], u, v);                \
                    WIDEN_BOTH(u, rows + width + d); BOTH(TERM, a[1], u, v);        \
                    WIDEN_BOTH(u, rows + 2 * width + d); BOTH(TERM, a[2], u, v);    \
                    WIDEN_BOTH(u, rows + 3 * width + d); BOTH(TERM, a[3], u, v);    \
                }                                                                   \
                for (int c = 0; c < 4; c++) {                                       \
                    double s;                                                       \
                    ROWS_FOLD_HALVES(s, a[c]);                                      \
                    for (d = tail; d < width; d++) {                                \
                        double u_ = rows[c * width + d]; TERM(s, u_, (double)x[d]); \
                    }                                                               \
                    out[i + c] = s;                                                 \
                }                                                                   \
            }                                                                       \
        }                                                                           \
        if (i > n) i = n;                                                           \
        for (; i < n; i++, rows += width) {                                         \
            rows_f64 a = {{0}, {0}}, u, v;                                          \
            double s;                                                               \
            for (d = 0; d < tail; d += ROWS_LANES) {                                \
                WIDEN_BOTH(v, x + d); WIDEN_BOTH(u, rows + d); BOTH(TERM, a, u, v); \
            }                                                                       \
            ROWS_FOLD_HALVES(s, a);                                                 \
            for (d = tail; d < width; d++) {                                        \
                double u_ = rows[d]; TERM(s, u_, (double)x[d]);                     \
            }                                                                       \
            out[i] = s;                                                             \
        }                                                                           \
    } while (0)

#define ROWS(name, TERM)                                                            \
    BLOCK_NOT_HALVES                                                                \
    static void NAME(name##_full)(                                                  \
        const T *x, const T *rows, int64_t width, int64_t n, double *out)           \
    {                                                                               \
        FOR_ROWS(TERM);                                                             \
    }                                                                               \
    BLOCK_HALVES                                                                    \
    static void NAME(name##_halves)(                                                \
        const T *x, const T *rows, int64_t width, int64_t n, double *out)           \
    {                                                                               \
        FOR_ROWS_IN_HALVES(TERM);                                                   \
    }                                                                               \
    EDGESVM_SUM void NAME(name)(const T *x, const T *rows, int64_t width, int64_t n, double *out) \
    {                                                                               \
        if (BLOCK_LANES == 4)                                                       \
            NAME(name##_halves)(x, rows, width, n, out);                            \
        else                                                                        \
            NAME(name##_full)(x, rows, width, n, out);                              \
    }

ROWS(rows_square_distance, SQUARE)  /* out[i] = |x - row i|^2 */
ROWS(rows_dot, PRODUCT)             /* out[i] = x . row i */

#undef T
#undef NAME
#undef WIDEN
#undef WIDEN_4
#undef GATHER_4
#undef APART
#undef APART_4
#undef BOTH
#undef WIDEN_BOTH
#undef SQUARE
#undef PRODUCT
#undef FOR_ROWS
#undef FOR_ROWS_IN_HALVES
#undef ROWS
