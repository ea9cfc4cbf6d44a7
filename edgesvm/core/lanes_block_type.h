/* Included by lanes_block.h once a type: T, LANES, NAME; FULL, HALVES, QUARTERS (vectors); PUT (one, to double). */

IN_EACH_WIDTH(LANES_WITH_BLOCK, lanes_block, FULL, HALVES, QUARTERS)

/* out[8 i + c] = x_c . row i, or |x_c - row i|^2, with rows from z on */
EDGESVM_SUM void NAME(lanes_block_sums)(
    int squares, const T *turned, const T *z, int64_t width, int64_t n, double *out)
{
    BY_WIDTH(lanes_block, squares, turned, z, width, n, out);
}

#undef T
#undef LANES
#undef NAME
#undef FULL
#undef HALVES
#undef QUARTERS
#undef PUT
