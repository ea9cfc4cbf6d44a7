"""core: arithmetic, random numbers, the row cache, the arena, tiles; and the memory plan."""

from mutant import Area, mutants_of

AREA = Area(
    "core",
    ("tests/core", "tests/test_budget.py"),
    (
        *mutants_of(
            "edgesvm/core/kernels.pxd",
            ("p = p * r + 0.5\n", "p = p * r + 0.4999999\n", "a term of exp's series is off"),
            ("if not x > -708.0:", "if not x > -600.0:", "exp is zero too early"),
            (
                "return exp_(-kernel.gamma * square_distance(x, z, n))",
                "return exp_(-kernel.gamma * dot(x, z, n))",
                "RBF of the product, not of the distance",
            ),
            (
                "kernel.gamma * dot(x, z, n) + kernel.coef0",
                "kernel.gamma * dot(x, z, n)",
                "the polynomial kernel without coef0",
            ),
        ),
        *mutants_of(
            "edgesvm/core/rows_block.h",
            (
                "LANE_PAIR(TERM, s, 0); LANE_PAIR(TERM, t_, 2);",
                "LANE_PAIR(TERM, s, 0); LANE_PAIR(TERM, t_, 1);",
                "a block folds its lanes in another order",
            ),
            (
                "whole ? n - ROWS_LANES + j : j;",
                "whole + j;",
                "the tail of a block's weighted sum is in other lanes",
            ),
            (
                "(r < m ? width : 0)",
                "width",
                "a block reads rows behind the last",
                "what is read there is not kept",
            ),
        ),
        *mutants_of(
            "edgesvm/core/lanes_block.h",
            (
                "for (int r = 0; r < (R); r++) a[r] += b[r];",
                "",
                "a block leaves out odd vectors of features",
            ),
            (
                "d = whole ? width - LANES + j : j;",
                "d = whole + j;",
                "the tail of a block is in other lanes",
            ),
        ),
        *mutants_of(
            "edgesvm/core/lanes_type.h",
            ("y[i] = a * x[i] + b * y[i]", "y[i] = a * x[i] + y[i]", "axpby without its b"),
            (
                "q = ((v)[0] + (v)[2]) + ((v)[1] + (v)[3])",
                "q = ((v)[0] + (v)[1]) + ((v)[2] + (v)[3])",
                "four parts are folded in another order",
            ),
        ),
        *mutants_of(
            "edgesvm/core/lanes_parts.h",
            ("if (APART) TAKE(u, end);", "", "a distance leaves out the sample's tail"),
            (
                "if (n < LANES && (rows - 3) * n < LANES) {",
                "if (0) {",
                "up to three narrow rows are summed one by one",
                "the sums are the same, later",
            ),
            (
                "EACH u[p_] = (PART)((MASK)u[p_] & ~first[p_]);",
                "",
                "a narrow row goes on into the next",
            ),
            (
                "(rows - r) * n >= LANES",
                "rows * n >= LANES",
                "the last rows are read beyond their end",
            ),
            (
                "PICK(even_, odd_, 0, 1, 4, 5) + PICK(even_, odd_, 2, 3, 6, 7)",
                "PICK(even_, odd_, 0, 1, 4, 5) + PICK(even_, odd_, 3, 2, 6, 7)",
                "the sums of two rows are mixed up",
            ),
            (
                "if (n % LANES) { LOAD_TAIL(u, x, n); LOAD_TAIL(v, z, n); ADD(a, u, v); }",
                "",
                "dot leaves the tail out",
            ),
            (
                "if (i + LANES <= n) { LOAD(u, x + i); LOAD(v, z + i); TAKE(u, v); ADD(a, u, u); }",
                "if (i + LANES < n) { LOAD(u, x + i); LOAD(v, z + i); TAKE(u, v); ADD(a, u, u); }",
                "the distance leaves out a last vector that is whole",
            ),
        ),
        *mutants_of(
            "edgesvm/core/tiles_type.h",
            (
                "BITS bits; LOAD(bits, x + d);",
                "BITS bits = x[d] != 0;",
                "a negative zero is not stored",
            ),
            (
                "if (b[0] | b[1] | b[2] | b[3]) four",
                "if (b[0] | b[1] | b[2]) four",
                "the last of four rows counts only where another has a feature",
            ),
        ),
        *mutants_of(
            "edgesvm/core/tiles_parts.h",
            (
                "if (blank_) continue;",
                "if (blank_) break;",
                "what follows a vector of zeros is left out",
            ),
            (
                "if (x[e_] != 0) ADD_FEATURE",
                "if (e_ != d_) ADD_FEATURE",
                "the first feature of a vector is left out",
            ),
            (
                "for (uint64_t w_ = present[c_ * words + k_] | in_x[k_]; w_;",
                "for (uint64_t w_ = present[c_ * words + k_]; w_;",
                "a distance leaves out what only x has",
            ),
            (
                "if (hollow && kind == TILES_RBF) present += (m) * words;",
                "if (hollow && kind == TILES_RBF) present += words;",
                "tiles are read by another tile's features",
            ),
            (
                "a[c_] = a[c_] * (T)gamma + (T)coef0; POWER",
                "a[c_] = a[c_] * (T)gamma - (T)coef0; POWER",
                "the sign of coef0 in tiles",
            ),
            (
                "memcpy(&a, v + i, (size_t)(n - i) * sizeof(T)); a *= scale; EXP(a);",
                "memcpy(&a, v + i, (size_t)(n - i) * sizeof(T)); EXP(a);",
                "the tail of exp is not scaled",
            ),
            (
                "COMMON(in_z[k_], in_y[k_]); w_; w_ &= w_ - 1)",
                "COMMON(in_z[k_], in_z[k_]); w_; w_ &= w_ - 1)",
                "rows weighed together leave out what only they have",
            ),
            (
                "together = TILES_FOURS / (words * LANES / 4) * LANES;",
                "together = TILES_FOURS / (words * LANES / 4);",
                "wide rows are weighed together by other rows' notes",
            ),
            (
                "(c) / PARTS * stride_ + (c) % PARTS * (LANES / PARTS)",
                "(c) / PARTS * stride_ + (c) % PARTS * LANES",
                "a part of a tile is of other features",
            ),
            (
                "(f)[(c_ * (LANES / 8) + k_) % PARTS]",
                "(f)[c_]",
                "rows in parts are added in another order",
            ),
        ),
        *mutants_of(
            "edgesvm/core/tiles.pxd",
            (
                "n_tiles = (last + lanes - 1) // lanes - tile",
                "n_tiles = last // lanes - tile",
                "a kernel row ends at its last whole tile",
            ),
            (
                "cdef int64_t a = (s // lanes) * lanes * rows.width + s % lanes",
                "cdef int64_t a = (s // lanes) * lanes * rows.width + t % lanes",
                "a swap takes the wrong lane",
            ),
            (
                "for i in range((n + lanes - 1) // lanes):",
                "for i in range(n // lanes):",
                "clearing leaves out the last row",
            ),
            ("        p[k] |= q[k]\n", "        p[k] = q[k]\n", "a swap forgets a tile's features"),
        ),
        *mutants_of(
            "edgesvm/core/tiles.pxd",
            (
                "tiles_exp_f64(-kernel.gamma, v, n)",
                "tiles_exp_f64(-kernel.gamma, v, n - 1)",
                "the last RBF value is left a distance",
            ),
        ),
        *mutants_of(
            "edgesvm/core/rng.pxd",
            ("rotate_left(s[3], 45)", "rotate_left(s[3], 44)", "another generator"),
            ("while draw < limit:", "while False:", "draws below n are biased"),
        ),
        *mutants_of(
            "edgesvm/core/row_cache.pyx",
            (
                "if c.used[k] < c.used[oldest]:",
                "if c.used[k] > c.used[oldest]:",
                "the most recently used row is evicted",
            ),
            ("    c.slot[c.owner[oldest]] = 0\n", "", "an evicted row still has a slot"),
            ("c.n_missed += 1", "c.n_missed += 0", "misses are not counted"),
            ("if b < c.filled[k]:", "if b <= c.filled[k]:", "a column after the end is swapped"),
            (
                "memset(c.block, 0, c.touched * sizeof(float))",
                "memset(c.block, 0, c.touched)",
                "a quarter of the cache is wiped",
            ),
        ),
        *mutants_of(
            "edgesvm/core/arena.pyx",
            (
                "offset > self.nbytes - length",
                "offset > self.nbytes",
                "an array may reach beyond the arena",
            ),
            ("% 8:\n", "% 4:\n", "a buffer may begin at a multiple of 4"),
            ("if view.readonly or not", "if not", "a read-only buffer is taken"),
            ("            self.block[:] = 0\n", "", "a buffer is not zeroed"),
        ),
        *mutants_of(
            "edgesvm/budget.py",
            (
                "offset += -(-array.nbytes // ALIGNMENT) * ALIGNMENT",
                "offset += array.nbytes",
                "arrays are not aligned",
            ),
            ("if offset > MAX_PLAN_BYTES:", "if False:", "a plan has no limit"),
            (
                "offset=at + leaf.offset",
                "offset=leaf.offset",
                "leaves stand where their part does not",
            ),
            ('"kib": 2**10', '"kib": 10**3', "a KiB is 1,000 bytes"),
        ),
    ),
)
