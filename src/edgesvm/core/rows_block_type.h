/* Included by rows_block.h once a type: T, NAME, WIDE_ROWS (rows in float64). */

/* Put eight samples, one behind the other, side by side. */
EDGESVM_SUM void NAME(rows_block_turn)(const T *x, int64_t width, double *turned)
{
    EDGESVM_CHECK(width > 0 && width <= ROWS_WIDEST);
    for (int64_t d = 0; d < width; d++)
        for (int c = 0; c < ROWS_BLOCK; c++) turned[ROWS_BLOCK * d + c] = x[c * width + d];
}

#define VEC vec_f64
BLOCK_FULL
static void NAME(rows_block_full)(
    int squares, const double *turned, const T *rows, int64_t width, int64_t n, double *out)
{
    ROWS_WITH_BLOCK;
}
#undef VEC
#define VEC half_f64
BLOCK_HALVES
static void NAME(rows_block_halves)(
    int squares, const double *turned, const T *rows, int64_t width, int64_t n, double *out)
{
    ROWS_WITH_BLOCK;
}
#undef VEC
#define VEC quarter_f64
static void NAME(rows_block_quarters)(
    int squares, const double *turned, const T *rows, int64_t width, int64_t n, double *out)
{
    ROWS_WITH_BLOCK;
}
#undef VEC

/* out[8 i + c] = x_c . row i, or |x_c - row i|^2 */
EDGESVM_SUM void NAME(rows_block_sums)(
    int squares, const double *turned, const T *rows, int64_t width, int64_t n, double *out)
{
    if (BLOCK_LANES == 8)
        NAME(rows_block_full)(squares, turned, rows, width, n, out);
    else if (BLOCK_LANES == 4 && width >= ROWS_LANES)
        NAME(rows_block_halves)(squares, turned, rows, width, n, out);
    else
        NAME(rows_block_quarters)(squares, turned, rows, width, n, out);
}

#undef T
#undef NAME
#undef WIDE_ROWS
