/* Included by rows_block.h once a type: T, NAME, WIDE_ROWS (rows in float64). */

/* Put eight samples, one behind the other, side by side. */
EDGESVM_SUM void NAME(rows_block_turn)(const T *x, int64_t width, double *turned)
{
    EDGESVM_CHECK(width > 0 && width <= ROWS_WIDEST);
    for (int64_t d = 0; d < width; d++)
        for (int c = 0; c < ROWS_BLOCK; c++) turned[ROWS_BLOCK * d + c] = x[c * width + d];
}

/* As many samples at a time as leave room in the registers for eight sums and their terms; of rows
 * below ROWS_LANES features, which have no lanes, AVX2 is quicker with two. */
IN_EACH_WIDTH(ROWS_WITH_BLOCK, rows_block, vec_f64, half_f64, quarter_f64)

/* out[8 i + c] = x_c . row i, or |x_c - row i|^2 */
EDGESVM_SUM void NAME(rows_block_sums)(
    int squares, const double *turned, const T *rows, int64_t width, int64_t n, double *out)
{
    if (BLOCK_LANES == 4 && width < ROWS_LANES)
        NAME(rows_block_quarters)(squares, turned, rows, width, n, out);
    else
        BY_WIDTH(rows_block, squares, turned, rows, width, n, out);
}

#undef T
#undef NAME
#undef WIDE_ROWS
