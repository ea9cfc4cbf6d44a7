/* Included by lanes_block.h once a type: T, LANES, NAME; FULL, HALVES, QUARTERS (vectors); PUT (one, to double). */

/* Put eight samples, one behind the other, side by side. */
EDGESVM_SUM void NAME(lanes_block_turn)(const T *x, int64_t width, T *turned)
{
    EDGESVM_CHECK(width > 0 && width <= ROWS_WIDEST);
    for (int64_t d = 0; d < width; d++)
        for (int c = 0; c < ROWS_BLOCK; c++) turned[ROWS_BLOCK * d + c] = x[c * width + d];
}

#define VEC FULL
BLOCK_FULL
static void NAME(lanes_block_full)(
    int squares, const T *turned, const T *z, int64_t width, int64_t n, double *out)
{
    LANES_WITH_BLOCK;
}
#undef VEC
#define VEC HALVES
BLOCK_HALVES
static void NAME(lanes_block_halves)(
    int squares, const T *turned, const T *z, int64_t width, int64_t n, double *out)
{
    LANES_WITH_BLOCK;
}
#undef VEC
#define VEC QUARTERS
static void NAME(lanes_block_quarters)(
    int squares, const T *turned, const T *z, int64_t width, int64_t n, double *out)
{
    LANES_WITH_BLOCK;
}
#undef VEC

/* out[8 i + c] = x_c . row i, or |x_c - row i|^2, with rows from z on */
EDGESVM_SUM void NAME(lanes_block_sums)(
    int squares, const T *turned, const T *z, int64_t width, int64_t n, double *out)
{
    if (BLOCK_LANES == 8)
        NAME(lanes_block_full)(squares, turned, z, width, n, out);
    else if (BLOCK_LANES == 4)
        NAME(lanes_block_halves)(squares, turned, z, width, n, out);
    else
        NAME(lanes_block_quarters)(squares, turned, z, width, n, out);
}

#undef T
#undef LANES
#undef NAME
#undef FULL
#undef HALVES
#undef QUARTERS
#undef PUT
