/* Included by rows.h once a type: T, NAME, WIDEN (eight T from p into a vector of float64). */

#define SQUARE(sum, u, v) do { (u) -= (v); (sum) += (u) * (u); } while (0)
#define PRODUCT(sum, u, v) do { (sum) += (u) * (v); } while (0)

/* OUT[i] = sum over features of TERM(sum, row i, x) */
#define FOR_ROWS(TERM)                                                              \
    do {                                                                            \
        int64_t i = 0, d, tail = width - width % ROWS_LANES;                        \
        EDGESVM_CHECK(n >= 0 && width > 0);                                         \
        if (width < ROWS_LANES) {                                                   \
            for (; i + ROWS_LANES <= n; i += ROWS_LANES, rows += ROWS_LANES * width) { \
                vec_f64 a = {0};                                                    \
                for (d = 0; d < width; d++) {                                       \
                    const T *p = rows + d;                                          \
                    vec_f64 u = {p[0], p[width], p[2 * width], p[3 * width],        \
                                 p[4 * width], p[5 * width], p[6 * width], p[7 * width]}; \
                    TERM(a, u, (double)x[d]);                                       \
                }                                                                   \
                memcpy(out + i, &a, sizeof a);                                      \
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

/* out[i] = |x - row i|^2 */
EDGESVM_CLONES
EDGESVM_SUM void NAME(rows_square_distance)(const T *x, const T *rows, int64_t width, int64_t n, double *out)
{
    FOR_ROWS(SQUARE);
}

/* out[i] = x . row i */
EDGESVM_CLONES
EDGESVM_SUM void NAME(rows_dot)(const T *x, const T *rows, int64_t width, int64_t n, double *out)
{
    FOR_ROWS(PRODUCT);
}

#undef T
#undef NAME
#undef WIDEN
#undef SQUARE
#undef PRODUCT
#undef FOR_ROWS
