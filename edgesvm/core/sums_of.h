/* Included by sums.c once a type: T, BITS (an integer as wide), LANES, NAME, OWN, and the constants of exp.
 *
 * A vector of LANES numbers (64 bytes) is added lane by lane, two vectors a step; then the two are added, then the
 * tail, then the lanes are folded in halves:
 *
 *     a[j] = sum over even vectors      b[j] = sum over odd vectors
 *     t    = (a + b) + tail
 *     sum  = fold(t):  t[j] + t[j + LANES/2], then LANES/4, ... 1
 *
 * The tail is the *last* LANES numbers with those already counted masked to zero (below LANES numbers: zero-padded
 * at the end), so no byte outside is ever read. No pair is fused (-ffp-contract=off), so a wider unit changes speed
 * and nothing else. */
#define line OWN(line)
#define vec OWN(one_vec)
#define part OWN(part)
#define quarter OWN(one_quarter)

typedef T vec __attribute__((vector_size(SUMS_WIDTH)));
typedef T quarter __attribute__((vector_size(16)));
typedef T part __attribute__((vector_size(EIGHTH * sizeof(T))));    /* as many numbers as `wide` has */
typedef float OWN(floats) __attribute__((vector_size(SUMS_WIDTH / sizeof(T) * sizeof(float))));   /* as `vec` */
typedef BITS OWN(bits) __attribute__((vector_size(SUMS_WIDTH)));
typedef struct { vec p[PARTS]; } line;              /* LANES numbers */

/* LANES of these from n on keep the last n numbers, or the first from LANES - n on. */
static const BITS OWN(tail)[2 * LANES] = {[LANES ... 2 * LANES - 1] = -1};
static const BITS OWN(head)[2 * LANES] = {[0 ... LANES - 1] = -1};

INLINE line OWN(load)(const T *x) { line v; EACH memcpy(&v.p[p], x + p * (LANES / PARTS), sizeof(vec)); return v; }
INLINE void OWN(add)(line *s, line u, line v) { EACH s->p[p] += u.p[p] * v.p[p]; }
INLINE line OWN(plus)(line u, line v) { EACH u.p[p] += v.p[p]; return u; }
INLINE line OWN(minus)(line u, line v) { EACH u.p[p] -= v.p[p]; return u; }

INLINE line OWN(masked)(line v, const BITS *mask)
{
    EACH {
        OWN(bits) keep;
        memcpy(&keep, mask + p * (LANES / PARTS), sizeof keep);
        v.p[p] = (vec)((OWN(bits))v.p[p] & keep);
    }
    return v;
}

INLINE line OWN(load_tail)(const T *p, int64_t n)
{
    if (n >= LANES) return OWN(masked)(OWN(load)(p + n - LANES), OWN(tail) + n % LANES);
#if PARTS == 1 && defined(__AVX512F__)
    return (line){{(vec)FIRST(p, n)}};
#else                               /* not into v, which then would not stay in registers */
    T few[LANES] = {0};
    memcpy(few, p, (size_t)n * sizeof(T));
    return OWN(load)(few);
#endif
}

INLINE quarter OWN(to_quarter)(line v)
{
    quarter q[4];
    memcpy(q, &v, 64);
    return (q[0] + q[2]) + (q[1] + q[3]);
}

INLINE T OWN(fold)(line v)
{
    quarter q = OWN(to_quarter)(v);
    return LANES == 16 ? (q[0] + q[2 % (LANES / 4)]) + (q[1] + q[3 % (LANES / 4)]) : q[0] + q[1];
}

/* sums[r] of four, by one transposition; the pairs are those of `fold` */
INLINE void OWN(fold_rows)(T *sums, const line *v)
{
    quarter q[4];
    for (int r = 0; r < 4; r++) q[r] = OWN(to_quarter)(v[r]);
#if LANES == 16
    quarter even = PICK(q[0], q[1], 0, 4, 1, 5) + PICK(q[0], q[1], 2, 6, 3, 7);
    quarter odd = PICK(q[2], q[3], 0, 4, 1, 5) + PICK(q[2], q[3], 2, 6, 3, 7);
    even = PICK(even, odd, 0, 1, 4, 5) + PICK(even, odd, 2, 3, 6, 7);
    memcpy(sums, &even, 16);
#else
    for (int r = 0; r < 4; r += 2) {
        q[r] = PICK(q[r], q[r + 1], 0, 2) + PICK(q[r], q[r + 1], 1, 3);
        memcpy(sums + r, &q[r], 16);
    }
#endif
}

INLINE void OWN(term)(int what, line u, line v, line *dot, line *square)
{
    if (what & WITH) OWN(add)(dot, u, v);
    if (what & APART) u = OWN(minus)(u, v);
    if (what & SQUARE) OWN(add)(square, u, u);
}

/* The lanes of x.w and of x.x, or of |x - w|^2, without the tail */
INLINE void OWN(whole)(int what, const T *x, const T *w, int64_t n, line *dot, line *square)
{
    line a = {0}, b = {0}, c = {0}, d = {0};
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        if (what & AHEAD) FETCH(x + i + 4 * n);
        OWN(term)(what, OWN(load)(x + i), OWN(load)(w + i), &a, &c);
        if (what & AHEAD) FETCH(x + i + 4 * n + LANES);
        OWN(term)(what, OWN(load)(x + i + LANES), OWN(load)(w + i + LANES), &b, &d);
    }
    if (what & AHEAD) FETCH(x + i + 4 * n);
    if (i + LANES <= n) OWN(term)(what, OWN(load)(x + i), OWN(load)(w + i), &a, &c);
    *dot = OWN(plus)(a, b);
    *square = OWN(plus)(c, d);
}

INLINE void OWN(one)(int what, const T *x, const T *w, int64_t n, T *dot, T *square)
{
    line a, c;
    EDGESVM_CHECK(n >= 0);
    OWN(whole)(what, x, w, n, &a, &c);
    if (n % LANES) OWN(term)(what, OWN(load_tail)(x, n), OWN(load_tail)(w, n), &a, &c);
    if (what & WITH) *dot = OWN(fold)(a);
    if (what & SQUARE) *square = OWN(fold)(c);
}

/* Of the first four of `rows` rows, one behind the other; `end` is w's tail. A row below LANES numbers is read beyond
 * its end where others follow, and masked. A longer row's tail has to be masked for its square only: w's is. */
INLINE void OWN(four)(int what, const T *x, const T *w, line end, int64_t n, int64_t rows, T *dots, T *squares)
{
    line dot[4], square[4];
    EDGESVM_CHECK(n > 0 && rows >= 4);
    for (int r = 0; r < 4; r++, x += n) {
        line a, c, u;
        OWN(whole)(what, x, w, n, &a, &c);
        if (n % LANES) {
            if (n < LANES && (rows - r) * n >= LANES) {
                u = OWN(masked)(OWN(load)(x), OWN(head) + LANES - n % LANES);
            } else if (n < LANES || (what & SQUARE)) {
                u = OWN(load_tail)(x, n);
            } else {
                u = OWN(load)(x + n - LANES);
            }
            OWN(term)(what, u, end, &a, &c);
        }
        dot[r] = a;
        square[r] = c;
    }
    if (what & WITH) OWN(fold_rows)(dots, dot);
    if (what & SQUARE) OWN(fold_rows)(squares, square);
}

/* sum x[i] * z[i] */
T NAME(lanes_dot)(const T *x, const T *z, int64_t n)
{
    T dot;
    OWN(one)(WITH, x, z, n, &dot, NULL);
    return dot;
}

/* sum (x[i] - z[i])^2 */
T NAME(lanes_square_distance)(const T *x, const T *z, int64_t n)
{
    T square;
    OWN(one)(APART | SQUARE, x, z, n, NULL, &square);
    return square;
}

/* *dot = sum x[i] * w[i],  *square = sum x[i] * x[i];  x is read once */
void NAME(lanes_dot_square)(const T *x, const T *w, int64_t n, T *dot, T *square)
{
    OWN(one)(WITH | SQUARE, x, w, n, dot, square);
}

/* lanes_dot_square of four rows; the next are fetched */
void NAME(lanes_dot_square_rows)(const T *x, const T *w, int64_t n, int64_t rows, T *dots, T *squares)
{
    OWN(four)(WITH | SQUARE | AHEAD, x, w, OWN(load_tail)(w, n), n, rows, dots, squares);
}

/* lanes_dot of four rows that are finite, and read lately */
void NAME(lanes_dot_rows)(const T *x, const T *w, int64_t n, int64_t rows, T *dots)
{
    OWN(four)(WITH, x, w, OWN(load_tail)(w, n), n, rows, dots, NULL);
}

/* x.x of four rows; the next are fetched */
void NAME(lanes_square_rows)(const T *x, int64_t n, int64_t rows, T *squares)
{
    OWN(four)(SQUARE | AHEAD, x, x, (line){0}, n, rows, NULL, squares);
}

/* out[i] = w . row i, or |w - row i|^2, of finite rows from z on. Narrow rows at the end are copied, to where others
 * could follow. */
void NAME(lanes_sums)(int apart, const T *w, const T *z, int64_t n, int64_t n_rows, double *out)
{
    T few[5 * LANES] = {0}, found[4];
    const line end = OWN(load_tail)(w, n);
    for (int64_t m; n_rows > 0; n_rows -= m, z += m * n, out += m) {
        const T *x = z;
        int64_t rows = n_rows;
        m = rows < 4 ? rows : 4;
        if (n < LANES && (rows - 3) * n < LANES) {
            memcpy(few, z, (size_t)(m * n) * sizeof(T));
            x = few;
            rows = 5 * LANES;
        } else if (m < 4) {
            *out = apart ? NAME(lanes_square_distance)(z, w, n) : NAME(lanes_dot)(z, w, n);
            m = 1;
            continue;
        }
        if (apart)
            OWN(four)(APART | SQUARE, x, w, end, n, rows, NULL, found);
        else
            OWN(four)(WITH, x, w, end, n, rows, found, NULL);
        for (int r = 0; r < m; r++) out[r] = found[r];
    }
}

/* y = a x + b y */
void NAME(lanes_axpby)(T a, const T *x, T b, T *y, int64_t n)
{
    EDGESVM_CHECK(n >= 0);
    for (int64_t i = 0; i < n; i++) y[i] = a * x[i] + b * y[i];
}

/* y += a x */
void NAME(lanes_add)(T a, const T *x, T *y, int64_t n)
{
    EDGESVM_CHECK(n >= 0);
    for (int64_t i = 0; i < n; i++) y[i] += a * x[i];
}

/* y += a (x - y) */
void NAME(lanes_approach)(T a, const T *x, T *y, int64_t n)
{
    EDGESVM_CHECK(n >= 0);
    for (int64_t i = 0; i < n; i++) y[i] += a * (x[i] - y[i]);
}

/* -- eight samples side by side (number 8 d + c is feature d of sample c), so that a vector's lanes are samples and the
 * lanes of a sum are sums one after another, folded in the same order without moving a number across lanes ---------- */

/* Put eight samples, one behind the other, side by side. */
void NAME(lanes_block_turn)(const T *x, int64_t width, T *turned)
{
    EDGESVM_CHECK(width > 0 && width <= ROWS_WIDEST);
    for (int64_t d = 0; d < width; d++)
        for (int c = 0; c < 8; c++) turned[8 * d + c] = x[c * width + d];
}

void NAME(rows_block_turn)(const T *x, int64_t width, double *turned)
{
    EDGESVM_CHECK(width > 0 && width <= ROWS_WIDEST);
    for (int64_t d = 0; d < width; d++)
        for (int c = 0; c < 8; c++) turned[8 * d + c] = x[c * width + d];
}

#define SAMPLES (SUMS_WIDTH < 8 * (int)sizeof(T) ? SUMS_WIDTH / (int)sizeof(T) : 8)
typedef T OWN(samples) __attribute__((vector_size(SAMPLES * sizeof(T))));

/* sum[r] += that of feature d of rows r and of the samples at x */
INLINE void OWN(of_feature)(int squares, int R, OWN(samples) *sum, const T *z, const T *x, int64_t width, int64_t d)
{
    OWN(samples) v, u;
    memcpy(&v, x + 8 * d, sizeof v);
    for (int r = 0; r < R; r++) {
        u = squares ? z[r * width + d] - v : z[r * width + d] * v;
        sum[r] += squares ? u * u : u;
    }
}

INLINE void OWN(block_of)(int squares, int R, const T *turned, const T *z, int64_t width, double *out)
{
    const int64_t whole = width - width % LANES;
    const int used = whole ? LANES : (int)width;    /* lanes beyond the width are zero, and are passed over */
    for (int c = 0; c < 8; c += SAMPLES) {
        const T *const x = turned + c;
        OWN(samples) lane[LANES][4];
        for (int j = 0; j < used; j++) {
            OWN(samples) a[4] = {{0}}, b[4] = {{0}};
            int64_t d = j;
            for (; d + LANES < whole; d += 2 * LANES) {
                OWN(of_feature)(squares, R, a, z, x, width, d);
                OWN(of_feature)(squares, R, b, z, x, width, d + LANES);
            }
            if (d < whole) OWN(of_feature)(squares, R, a, z, x, width, d);
            for (int r = 0; r < R; r++) a[r] += b[r];
            d = whole ? width - LANES + j : j;
            if (d >= whole) OWN(of_feature)(squares, R, a, z, x, width, d);
            for (int r = 0; r < R; r++) lane[j][r] = a[r];
        }
        for (int h = LANES / 2; h; h /= 2)
            for (int j = 0; j < h && j + h < used; j++)
                for (int r = 0; r < R; r++) lane[j][r] += lane[j + h][r];
        for (int r = 0; r < R; r++)
            for (int k = 0; k < SAMPLES; k++) out[8 * r + c + k] = lane[0][r][k];
    }
}

/* out[8 i + c] = x_c . row i, or |x_c - row i|^2, as lanes_sums has it, with rows from z on */
void NAME(lanes_block_sums)(int squares, const T *turned, const T *z, int64_t width, int64_t n, double *out)
{
    EDGESVM_CHECK(n >= 0 && width > 0 && width <= ROWS_WIDEST);
    for (; n >= 4; n -= 4, z += 4 * width, out += 32)
        if (squares) OWN(block_of)(1, 4, turned, z, width, out); else OWN(block_of)(0, 4, turned, z, width, out);
    for (; n > 0; n--, z += width, out += 8)
        if (squares) OWN(block_of)(1, 1, turned, z, width, out); else OWN(block_of)(0, 1, turned, z, width, out);
}

/* -- sums in float64, whatever the rows' type. Narrow rows (below 8 features): eight rows at a time, a lane each; the
 * last eight may have some that were there before. Wider ones: lanes along the features. Which one is a matter of the
 * width alone, so a row's value does not depend on where the row is or on how many there are. ---------------------- */

INLINE eight OWN(widen)(const T *x)
{
    eight v;
    EACH {
        part h;
        memcpy(&h, x + p * EIGHTH, sizeof h);
        v.p[p] = __builtin_convertvector(h, wide);
    }
    return v;
}

INLINE void OWN(wide_term)(int squares, eight *sum, eight u, const eight *v)
{
    EACH {
        if (squares) u.p[p] -= v->p[p];
        sum->p[p] += u.p[p] * (squares ? u.p[p] : v->p[p]);
    }
}

INLINE double OWN(rest)(int squares, double sum, const T *row, const T *x, int64_t d, int64_t width)
{
    for (; d < width; d++) {
        double u = row[d], v = x[d];
        if (squares) { u -= v; sum += u * u; } else sum += u * v;
    }
    return sum;
}

INLINE void OWN(narrow)(int squares, const T *x, const T *row, int64_t width, double *out)
{
    eight a = {0};
    for (int64_t d = 0; d < width; d++) {
        T u[8];
        eight v;
        for (int r = 0; r < 8; r++) u[r] = row[r * width + d];
        EACH v.p[p] = (wide){0} + (double)x[d];
        OWN(wide_term)(squares, &a, OWN(widen)(u), &v);
    }
    memcpy(out, &a, sizeof a);
}

INLINE void OWN(rows)(int squares, const T *x, const T *rows, int64_t width, int64_t n, double *out)
{
    const int64_t tail = width - width % 8;
    int64_t i = 0;
    EDGESVM_CHECK(n >= 0 && width > 0);
    if (width < 8) {
        for (; n >= 8 && i < n; i += 8) {
            const int64_t at = i + 8 <= n ? i : n - 8;
            if (width == 2)
                OWN(narrow)(squares, x, rows + at * 2, 2, out + at);
            else
                OWN(narrow)(squares, x, rows + at * width, width, out + at);
        }
        if (i > n) i = n;
    } else {
        for (; i + 4 <= n; i += 4, rows += 4 * width) {
            eight a[4] = {{{{0}}}};
            for (int64_t d = 0; d < tail; d += 8) {
                eight v = OWN(widen)(x + d);
                for (int r = 0; r < 4; r++) OWN(wide_term)(squares, &a[r], OWN(widen)(rows + r * width + d), &v);
            }
            for (int r = 0; r < 4; r++)
                out[i + r] = OWN(rest)(squares, fold_eight(&a[r]), rows + r * width, x, tail, width);
        }
    }
    for (; i < n; i++, rows += width) {
        eight a = {{{0}}};
        for (int64_t d = 0; d < tail; d += 8) {
            eight v = OWN(widen)(x + d);
            OWN(wide_term)(squares, &a, OWN(widen)(rows + d), &v);
        }
        out[i] = OWN(rest)(squares, fold_eight(&a), rows, x, tail, width);
    }
}

/* out[i] = x . row i */
void NAME(rows_dot)(const T *x, const T *rows, int64_t width, int64_t n, double *out)
{
    OWN(rows)(0, x, rows, width, n, out);
}

/* out[i] = |x - row i|^2 */
void NAME(rows_square_distance)(const T *x, const T *rows, int64_t width, int64_t n, double *out)
{
    OWN(rows)(1, x, rows, width, n, out);
}

/* x . w of a row and float64 weights, in the order of rows_dot */
double NAME(plane_dot)(const T *x, const double *w, int64_t width)
{
    int64_t d = 0;
    eight a = {{{0}}};
    for (; d + 8 <= width; d += 8) {
        const eight v = load_eight(w + d);
        OWN(wide_term)(0, &a, OWN(widen)(x + d), &v);
    }
    double sum = fold_eight(&a);
    for (; d < width; d++) sum += x[d] * w[d];
    return sum;
}

/* w += a x */
void NAME(plane_add)(double a, const T *x, double *w, int64_t width)
{
    for (int64_t d = 0; d < width; d++) w[d] += a * x[d];
}

INLINE void OWN(pair_term)(int squares, wide *sum, double z, const double *x)
{
    wide v, u;
    memcpy(&v, x, sizeof v);
    u = squares ? z - v : z * v;
    *sum += squares ? u * u : u;
}

/* s[r] = lane j of the sum with row r, plus its lane j + 4 */
INLINE void OWN(lane_pair)(int squares, wide *s, int j, const double *x, const double *const *z, int64_t tail)
{
    wide a[4] = {{0}}, b[4] = {{0}};
    for (int64_t d = j; d < tail; d += 8)
        for (int r = 0; r < 4; r++) {
            OWN(pair_term)(squares, &a[r], z[r][d], x + 8 * d);
            OWN(pair_term)(squares, &b[r], z[r][d + 4], x + 8 * (d + 4));
        }
    for (int r = 0; r < 4; r++) s[r] = a[r] + b[r];
}

INLINE void OWN(rows_of_block)(int squares, const double *turned, const T *rows, int64_t width, int64_t n, double *out)
{
    const int64_t tail = width - width % 8;
    const double *z[4];
    double place[4 * ROWS_WIDEST];
    for (int64_t i = 0, m; i < n; i += m, rows += m * width) {
        m = n - i < 4 ? n - i : 4;      /* of less than four rows the last stands for the missing */
        if (sizeof(T) < sizeof(double)) for (int64_t k = 0; k < m * width; k++) place[k] = rows[k];
        z[0] = sizeof(T) < sizeof(double) ? place : (const double *)(const void *)rows;
        for (int r = 1; r < 4; r++) z[r] = z[r - 1] + (r < m ? width : 0);
        for (int c = 0; c < 8; c += EIGHTH) {
            wide s[4] = {{0}}, t[4], v[4];
            if (tail) {
                OWN(lane_pair)(squares, s, 0, turned + c, z, tail);
                OWN(lane_pair)(squares, t, 2, turned + c, z, tail);
                for (int r = 0; r < 4; r++) s[r] += t[r];
                OWN(lane_pair)(squares, t, 1, turned + c, z, tail);
                OWN(lane_pair)(squares, v, 3, turned + c, z, tail);
                for (int r = 0; r < 4; r++) s[r] += t[r] + v[r];
            }
            for (int64_t d = tail; d < width; d++)
                for (int r = 0; r < 4; r++) OWN(pair_term)(squares, &s[r], z[r][d], turned + c + 8 * d);
            for (int r = 0; r < m; r++) memcpy(out + 8 * (i + r) + c, &s[r], sizeof s[r]);
        }
    }
}

/* out[8 i + c] = x_c . row i, or |x_c - row i|^2, as rows_sums has it */
void NAME(rows_block_sums)(int squares, const double *turned, const T *rows, int64_t width, int64_t n, double *out)
{
    EDGESVM_CHECK(n >= 0 && width > 0 && width <= ROWS_WIDEST);
    if (squares) OWN(rows_of_block)(1, turned, rows, width, n, out);
    else OWN(rows_of_block)(0, turned, rows, width, n, out);
}

/* -- tiles: LANES rows (64 bytes), transposed: feature d of row t is number d * LANES + t % LANES of tile t / LANES.
 * One vector is then one feature of LANES rows, so that two features cost as little as they are: no sum across lanes,
 * no tail, exp in vectors too. Each row's sum runs over its features in order.
 *
 * `present` has 64 features a word, TILES_WORDS(width) words a tile: where its bit is not set, a feature is zero in all
 * rows of the tile. It may be NULL, and a bit may be set without need. ------------------------------------------- */

/* Set the bits of the features of x that are not +0. */
void NAME(tiles_note_row)(const T *x, int64_t width, uint64_t *present)
{
    int64_t d = 0;
    EDGESVM_CHECK(width > 0);
    for (; d + LANES <= width; d += LANES) {
        uint64_t all = 0;
        BITS bits[LANES];
        if (is_blank(x + d)) continue;
        memcpy(bits, x + d, sizeof bits);
        for (int c = 0; c < LANES; c++) all |= (uint64_t)(bits[c] != 0) << c;
        present[d / 64] |= all << d % 64;
    }
    for (; d < width; d++) {
        BITS bits;
        memcpy(&bits, x + d, sizeof bits);
        present[d / 64] |= (uint64_t)(bits != 0) << d % 64;
    }
}

/* STEP of each feature d that is noted in a tile, or of 64 at once where most of them are; FIRST, of the n from d on,
 * where not all of them are stepped over */
#define NOTED(STEP, FIRST)                                                          \
    EDGESVM_CHECK(width > 0);                                                       \
    for (int64_t d = 0, end; d < width; d = end) {                                  \
        uint64_t w = present ? present[d / 64] : ~(uint64_t)0;                      \
        end = width - d < 64 ? width : d + 64;                                      \
        if (!present || 2 * __builtin_popcountll(w) > end - d) {                    \
            for (; d < end; d++) { STEP; }                                          \
            continue;                                                               \
        }                                                                           \
        FIRST;                                                                      \
        for (const int64_t from = d; w; w &= w - 1) { d = from + __builtin_ctzll(w); STEP; } \
    }

/* row = x, a row of a tile: its features are LANES apart, and noted if `present` is not NULL */
void NAME(tiles_put)(T *row, const uint64_t *present, int64_t width, const T *x)
{
    NOTED(row[d * LANES] = x[d], (void)0)
}

/* x = row */
void NAME(tiles_get)(const T *row, const uint64_t *present, int64_t width, T *x)
{
    NOTED(x[d] = row[d * LANES], memset(x + d, 0, (size_t)(end - d) * sizeof(T)))
}

/* A tile becomes zero; its notes stay. */
void NAME(tiles_wipe)(T *tile, const uint64_t *present, int64_t width)
{
    NOTED(memset(tile + d * LANES, 0, 64), (void)0)
}
#undef NOTED

/* v = exp(v), v <= 0; 0 below LOWEST.  exp(v) = 2^k exp(r), |r| <= ln(2)/2, Taylor.
 * v log2(e) + MAGIC has the nearest whole number k in its low bits, and they become the exponent. */
INLINE vec OWN(exp)(vec v)
{
    const T taylor[] = TAYLOR;
    vec t = v * (T)1.4426950408889634 + MAGIC, k = t - MAGIC;
    vec r = (v - k * LN2_HIGH) - k * LN2_LOW, p = r * taylor[0] + taylor[1];
    _Pragma("GCC unroll 16")
    for (int i = 2; i < (int)(sizeof taylor / sizeof(T)); i++) p = p * r + taylor[i];
    p *= (vec)(((OWN(bits))t + (BITS)BIAS) << MANTISSA);
    return (vec)((OWN(bits))p & (OWN(bits))(v > LOWEST));
}

/* Products or squared distances become kernel values. */
INLINE void OWN(of_sums)(const sums_kernel *k, line *a, int n)
{
    if (k->kind == TILES_RBF)
        for (int c = 0; c < n; c++) EACH a[c].p[p] = OWN(exp)(a[c].p[p] * -(T)k->gamma);
    else if (k->kind == TILES_POLYNOMIAL)
        for (int c = 0; c < n; c++) EACH {
            vec b = a[c].p[p] * (T)k->gamma + (T)k->coef0, v = (vec){0} + (T)1;
            for (int e = k->degree; e; e >>= 1) { if (e & 1) v *= b; b *= b; }    /* as power() of kernels.pxd */
            a[c].p[p] = v;
        }
}

/* One sample beside tiles */
typedef struct {
    const T *x, *tile;
    const uint64_t *present;
    int64_t width, words;
    int hollow;                 /* whether most of x is zero, and that may be passed over */
    uint64_t in_x[TILES_WORDS(TILES_WIDEST)];       /* then the features of x, for a distance */
} OWN(beside);

INLINE void OWN(look_at)(OWN(beside) *of, const T *x, const T *tile, const uint64_t *present, int64_t width, int distance)
{
    int64_t n = 0;
    of->x = x; of->tile = tile; of->present = present; of->width = width;
    of->words = TILES_WORDS(of->width);
    of->hollow = 0;
    if (of->width > LANES && (!distance || (of->present && of->width <= TILES_WIDEST))) {
        for (int64_t d = 0; d < of->width; d++) n += of->x[d] != 0;
        of->hollow = 2 * n < of->width;
    }
    if (of->hollow && distance) {
        memset(of->in_x, 0, (size_t)of->words * sizeof(uint64_t));
        NAME(tiles_note_row)(of->x, of->width, of->in_x);
    }
}

/* a += feature d of the rows of m tiles, times x[d] */
INLINE void OWN(add_feature)(const OWN(beside) *of, line *a, int m, int64_t d)
{
    const T *at = of->tile + d * LANES;
    for (int c = 0; c < m; c++, at += of->width * LANES) {
        line u = OWN(load)(at);
        EACH a[c].p[p] += u.p[p] * of->x[d];
    }
}

INLINE void OWN(add_square)(line *a, const T *at, T x)
{
    line u = OWN(load)(at);
    EACH { u.p[p] -= x; a->p[p] += u.p[p] * u.p[p]; }
}

/* a = products of x and the rows of m tiles. What a zero of x would add, a zero, changes no bit of a sum that began at
 * +0: in a hollow x zeros are passed over, LANES at once where all are. */
INLINE void OWN(products)(const OWN(beside) *of, line *a, int m)
{
    if (!of->hollow) {
        for (int64_t d = 0; d < of->width; d++) OWN(add_feature)(of, a, m, d);
        return;
    }
    for (int64_t d = 0, end; d < of->width; d = end) {
        end = of->width - d < LANES ? of->width : d + LANES;
        if (end - d == LANES && is_blank(of->x + d)) continue;
        for (int64_t e = d; e < end; e++)
            if (of->x[e] != 0) OWN(add_feature)(of, a, m, e);
    }
}

/* Whether most features are present in x or in one of m tiles */
INLINE int OWN(is_crowded)(const OWN(beside) *of, int m)
{
    int64_t n = 0;
    for (int c = 0; c < m; c++)
        for (int64_t k = 0; k < of->words; k++)
            n += __builtin_popcountll(of->present[c * of->words + k] | of->in_x[k]);
    return 2 * n > m * of->width;
}

/* a = squared distances of x and the rows of m tiles. What is zero in x and in all rows of a tile adds +0. */
INLINE void OWN(distances)(const OWN(beside) *of, line *a, int m)
{
    if (!of->hollow || OWN(is_crowded)(of, m)) {
        for (int64_t d = 0; d < of->width; d++)
            for (int c = 0; c < m; c++) OWN(add_square)(a + c, of->tile + (c * of->width + d) * LANES, of->x[d]);
        return;
    }
    for (int c = 0; c < m; c++)
        for (int64_t k = 0; k < of->words; k++)
            for (uint64_t w = of->present[c * of->words + k] | of->in_x[k]; w; w &= w - 1) {
                int64_t d = 64 * k + __builtin_ctzll(w);
                OWN(add_square)(a + c, of->tile + (c * of->width + d) * LANES, of->x[d]);
            }
}

/* a = kernel values of x and the rows of the next m tiles */
INLINE void OWN(values)(const sums_kernel *k, OWN(beside) *of, line *a, int m)
{
    for (int c = 0; c < m; c++) a[c] = (line){0};
    if (k->kind == TILES_RBF) OWN(distances)(of, a, m); else OWN(products)(of, a, m);
    OWN(of_sums)(k, a, m);
    if (of->hollow && k->kind == TILES_RBF) of->present += m * of->words;
    of->tile += m * of->width * LANES;
}

/* out = a tile's values in float32 */
INLINE void OWN(as_floats)(float *out, const line *a)
{
    EACH {
        OWN(floats) h = __builtin_convertvector(a->p[p], OWN(floats));
        memcpy(out + p * (LANES / PARTS), &h, sizeof h);
    }
}

/* f += a tile's values times w, in float64 */
INLINE void OWN(add_weighted)(eight *f, const double *w, const line *a)
{
    T values[LANES];
    memcpy(values, a, 64);
    for (int h = 0; h < LANES; h += 8) {
        eight u = OWN(widen)(values + h), v = load_eight(w + h);
        EACH f->p[p] += v.p[p] * u.p[p];
    }
}

#define TILES (SUMS_WIDTH == 16 ? 2 : 4)            /* looked at together */

/* out[t] = (float) k(x, row t), for all rows of n_tiles tiles */
void NAME(tiles_kernel)(int kind, double gamma, double coef0, int degree, const T *x, const T *tile, const uint64_t *present, int64_t width,
                        int64_t n_tiles, float *out)
{
    const sums_kernel *k = &(sums_kernel){kind, degree, gamma, coef0};
    OWN(beside) of;
    line a[TILES];
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    OWN(look_at)(&of, x, tile, present, width, k->kind == TILES_RBF);
    for (; n_tiles >= TILES; n_tiles -= TILES) {
        OWN(values)(k, &of, a, TILES);
        for (int c = 0; c < TILES; c++, out += LANES) OWN(as_floats)(out, a + c);
    }
    for (; n_tiles > 0; n_tiles--, out += LANES) {
        OWN(values)(k, &of, a, 1);
        OWN(as_floats)(out, a);
    }
}

/* sum_t weight[t] k(x, row t), over all rows of n_tiles tiles: eight float64 lanes, folded in halves */
double NAME(tiles_weighted)(int kind, double gamma, double coef0, int degree, const T *x, const T *tile, const uint64_t *present, int64_t width,
                            int64_t n_tiles, const double *weight)
{
    const sums_kernel *k = &(sums_kernel){kind, degree, gamma, coef0};
    OWN(beside) of;
    line a[TILES];
    eight f = {{{0}}};
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    OWN(look_at)(&of, x, tile, present, width, k->kind == TILES_RBF);
    for (; n_tiles >= TILES; n_tiles -= TILES) {
        OWN(values)(k, &of, a, TILES);
        for (int c = 0; c < TILES; c++, weight += LANES) OWN(add_weighted)(&f, weight, a + c);
    }
    for (; n_tiles > 0; n_tiles--, weight += LANES) {
        OWN(values)(k, &of, a, 1);
        OWN(add_weighted)(&f, weight, a);
    }
    return fold_eight(&f);
}

/* Of each four rows of a tile, the features in which one of them is not +0; all, if most are present in the tile */
INLINE void OWN(note_fours)(const T *tile, const uint64_t *present, int64_t width, uint64_t *four)
{
    const int64_t words = TILES_WORDS(width);
    int64_t n = 0;
    for (int64_t k = 0; k < words; k++) n += __builtin_popcountll(present[k]);
    memset(four, 2 * n > width ? 0xff : 0, (size_t)(words * LANES / 4) * sizeof *four);
    for (int64_t k = 0; k < words && 2 * n <= width; k++)
        for (uint64_t w = present[k]; w; w &= w - 1) {
            const T *at = tile + (64 * k + __builtin_ctzll(w)) * LANES;
            for (int g = 0; g < LANES / 4; g++) {
                BITS b[4];
                memcpy(b, at + 4 * g, sizeof b);
                if (b[0] | b[1] | b[2] | b[3]) four[g * words + k] |= w & -w;
            }
        }
}

/* a += what a feature adds: its LANES values in a tile, at z, with those of four rows, at y */
INLINE void OWN(add_to_four)(int squares, line *a, const T *z, const T *y)
{
    const line v = OWN(load)(z);
    for (int r = 0; r < 4; r++) EACH {
        vec u = squares ? v.p[p] - y[r] : v.p[p] * y[r];
        a[r].p[p] += squares ? u * u : u;
    }
}

/* a = kernel values of the four rows of y, features LANES apart, with the rows of the tile z; in_z and in_y are their
 * notes, or NULL */
INLINE void OWN(four_values)(const sums_kernel *k, int squares, line *a, const T *z, const T *y, const uint64_t *in_z,
                             const uint64_t *in_y, int64_t width)
{
    const int64_t words = in_z ? TILES_WORDS(width) : 0;
    int64_t n = in_z ? 0 : width;
    for (int r = 0; r < 4; r++) a[r] = (line){0};
    for (int64_t i = 0; i < words; i++)
        n += __builtin_popcountll(squares ? in_z[i] | in_y[i] : in_z[i] & in_y[i]);
    if (2 * n > width)
        for (int64_t d = 0; d < width; d++) OWN(add_to_four)(squares, a, z + d * LANES, y + d * LANES);
    else
        for (int64_t i = 0; i < words; i++)
            for (uint64_t w = squares ? in_z[i] | in_y[i] : in_z[i] & in_y[i]; w; w &= w - 1) {
                int64_t d = (64 * i + __builtin_ctzll(w)) * LANES;
                OWN(add_to_four)(squares, a, z + d, y + d);
            }
    OWN(of_sums)(k, a, 4);
}

/* Kernel values of `rows` rows x, which lie in tiles, with n_tiles tiles, each fetched once for all of them, and each
 * of its features for four: into `out`, or weighed into f */
INLINE void OWN(tiles_of_rows)(const sums_kernel *k, const T *x, const uint64_t *in_x, int64_t rows, const T *tile,
                               const uint64_t *present, int64_t width, int64_t n_tiles, const double *weight, eight *f,
                               float *const *out)
{
    uint64_t fours[TILES_FOURS];
    const int64_t words = TILES_WORDS(width);
    if (in_x) for (int64_t j = 0; j < rows; j += LANES)
        OWN(note_fours)(x + j * width, in_x + j / LANES * words, width, fours + j / 4 * words);
    for (int64_t i = 0; i < n_tiles; i++) {
        const T *z = tile + i * width * LANES;
        const uint64_t *in_z = in_x ? present + i * words : NULL;
        if (in_x && i + 1 < n_tiles)
            for (int64_t q = 0; q < words; q++)
                for (uint64_t w = in_z[words + q]; w; w &= w - 1)
                    __builtin_prefetch(z + (width + 64 * q + __builtin_ctzll(w)) * LANES, 0, 2);
        for (int64_t j = 0; j < rows; j += 4) {
            const T *y = x + j / LANES * LANES * width + j % LANES;
            line a[4];
            if (k->kind == TILES_RBF)
                OWN(four_values)(k, 1, a, z, y, in_z, fours + j / 4 * words, width);
            else
                OWN(four_values)(k, 0, a, z, y, in_z, fours + j / 4 * words, width);
            for (int c = 0; c < 4 && (f || j + c < rows); c++)
                if (f) OWN(add_weighted)(f + j + c, weight + i * LANES, a + c);
                else OWN(as_floats)(out[j + c] + i * LANES, a + c);
        }
    }
}

/* out[j] = what tiles_weighted gives for row j of x, to the bit, for n rows x, which lie in tiles too. in_x are the notes
 * of x; it and `present` are NULL, or neither. */
void NAME(tiles_weighted_rows)(int kind, double gamma, double coef0, int degree, const T *x, const uint64_t *in_x, int64_t n, const T *tile,
                               const uint64_t *present, int64_t width, int64_t n_tiles, const double *weight,
                               double *out)
{
    const sums_kernel *k = &(sums_kernel){kind, degree, gamma, coef0};
    const int64_t words = TILES_WORDS(width);
    int64_t together = TILES_TOGETHER;
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    if (width > TILES_WIDEST) in_x = NULL;
    if (in_x && words * together / 4 > TILES_FOURS) together = TILES_FOURS / (words * LANES / 4) * LANES;
    for (int64_t first = 0; first < n; first += together) {
        eight f[TILES_TOGETHER] = {{{{0}}}};
        const int64_t rows = n - first < together ? n - first : together;
        OWN(tiles_of_rows)(k, x + first * width, in_x ? in_x + first / LANES * words : NULL, rows, tile, present, width,
                           n_tiles, weight, f, NULL);
        for (int64_t j = 0; j < rows; j++) out[first + j] = fold_eight(f + j);
    }
}

/* out[j] = what tiles_kernel gives of row j of x, to the bit, for n rows x, at most TILES_ROWS; in_x as above */
void NAME(tiles_kernel_rows)(int kind, double gamma, double coef0, int degree, const T *x, const uint64_t *in_x, int64_t n, const T *tile,
                             const uint64_t *present, int64_t width, int64_t n_tiles, float *const *out)
{
    const sums_kernel *k = &(sums_kernel){kind, degree, gamma, coef0};
    EDGESVM_CHECK(n >= 0 && n <= TILES_ROWS && n_tiles >= 0 && width > 0);
    OWN(tiles_of_rows)(k, x, width <= TILES_WIDEST ? in_x : NULL, n, tile, present, width, n_tiles, NULL, NULL, out);
}

/* out[t] = x . row t, or |x - row t|^2, for all rows of n_tiles tiles; summed in float64 */
void NAME(tiles_sums)(int squares, const T *x, const T *tile, const uint64_t *present, int64_t width, int64_t n_tiles,
                      double *out)
{
    OWN(beside) of;
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    OWN(look_at)(&of, x, tile, present, width, 1);
    if (!squares) of.hollow = 0;
    for (int64_t i = 0; i < n_tiles; i++, tile += width * LANES, out += LANES) {
        eight a[LANES / 8] = {{{{0}}}};
#define ADD_WIDE(d)                                                                 \
        for (int h = 0; h < LANES / 8; h++) {                                       \
            eight v;                                                                \
            EACH v.p[p] = (wide){0} + (double)x[d];                                 \
            OWN(wide_term)(squares, &a[h], OWN(widen)(tile + (d) * LANES + 8 * h), &v); \
        }
        if (of.hollow) {
            for (int64_t k = 0; k < of.words; k++)
                for (uint64_t w = *of.present++ | of.in_x[k]; w; w &= w - 1) ADD_WIDE(64 * k + __builtin_ctzll(w))
        } else
            for (int64_t d = 0; d < width; d++) ADD_WIDE(d)
#undef ADD_WIDE
        memcpy(out, a, sizeof a);
    }
}

/* v[i] = exp(scale * v[i]), none of them above 0 */
void NAME(tiles_exp)(T scale, T *v, int64_t n)
{
    vec a = {0};
    EDGESVM_CHECK(n >= 0);
    for (; n >= LANES / PARTS; n -= LANES / PARTS, v += LANES / PARTS) {
        memcpy(&a, v, sizeof a);
        a = OWN(exp)(a * scale);
        memcpy(v, &a, sizeof a);
    }
    if (!n) return;
    memcpy(&a, v, (size_t)n * sizeof(T));
    a = OWN(exp)(a * scale);
    memcpy(v, &a, (size_t)n * sizeof(T));
}

/* -- a row by the running means and spreads of its features, which are looked at feature by feature: so every width gives
 * the same bits. n: values in the moments with x; bound: deviations from which on a value is far out; clip: largest |out| */

/* out = x by the moments with x among them. Returns 0; 1, without an out, if a value may be far out, as the third;
 * -1 if the moments would not be finite. */
int NAME(moments_next)(const T *restrict x, const double *restrict mean,
                      const double *restrict spread, double n, double bound,
                      double clip, T *restrict out, int64_t width)
{
    int64_t n_bad = 0, n_far = n == 3.0;
    double share = 1.0 / n, most = bound * bound / (n - 1.0);
    T end = (T)clip;
    for (int64_t j = 0; j < width; j++) {
        double delta = x[j] - mean[j], m = mean[j] + delta * share;
        double s = spread[j] + delta * (x[j] - m), variance = s * share;
        n_bad += !(fabs(s) <= DBL_MAX);
        n_far += IS_FAR(delta, spread[j], most);
        T z = (T)STANDARD(x[j], m, variance);
        out[j] = WITHIN(end, z);
    }
    return n_far ? 1 : n_bad ? -1 : 0;
}

/* take x into the moments, as it is */
void NAME(moments_keep)(const T *restrict x, double *restrict mean, double *restrict spread, double n, int64_t width)
{
    double share = 1.0 / n;
    for (int64_t j = 0; j < width; j++) {
        double delta = x[j] - mean[j];
        mean[j] += delta * share;
        spread[j] += delta * (x[j] - mean[j]);
    }
}

/* Whether a value of x is far out of the moments of n values */
int NAME(moments_far)(const T *restrict x, const double *restrict mean,
                      const double *restrict spread, double n, double bound,
                      int64_t width)
{
    double most = bound * bound / n;
    for (int64_t j = 0; j < width; j++) {
        double delta = x[j] - mean[j];
        if (spread[j] > 0.0 && IS_FAR(delta, spread[j], most)) return 1;
    }
    return 0;
}

/* out = x by the moments of n values */
void NAME(moments_map)(const T *restrict x, const double *restrict mean,
                      const double *restrict spread, double n, double clip,
                      T *restrict out, int64_t width)
{
    double share = 1.0 / n;
    T end = (T)clip;
    for (int64_t j = 0; j < width; j++) {
        double variance = spread[j] * share;
        T z = (T)STANDARD(x[j], mean[j], variance);
        out[j] = WITHIN(end, z);
    }
}

/* -- steps of weights, each by itself -------------------------------------------------------------------------------- */

/* w += step * f,  mean += share * (w - mean) */
void NAME(step_both)(T *restrict w, T *restrict mean, const T *restrict f, T step, T share, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        w[i] += step * f[i];
        mean[i] += share * (w[i] - mean[i]);
    }
}

/* Each weight by its own sum of squares (diagonal AdaGrad): squares += (g f)^2,  w += rate g f / sqrt(squares) */
void NAME(step_diagonal)(T *restrict w, T *restrict squares, const T *restrict f, T g, T rate, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        T slope = g * f[i], sum = squares[i] + slope * slope;
        squares[i] = sum;
        w[i] += sum > 0 ? rate * slope / ROOT(sum) : 0;
    }
}

/* One column of Bierman's update of a covariance U D U' (1976): u += less b, b += more u of before */
void NAME(bierman_column)(T *restrict u, T *restrict b, T less, T more, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        T before = u[i];
        u[i] = before + less * b[i];
        b[i] += more * before;
    }
}

#include "waves_of.h"

#undef line
#undef vec
#undef part
#undef quarter
#undef SAMPLES
#undef TILES
#undef T
#undef BITS
#undef UBITS
#undef ROOT
#undef LANES
#undef FIRST
#undef NAME
#undef OWN
#undef MAGIC
#undef LN2_HIGH
#undef LN2_LOW
#undef LOWEST
#undef MANTISSA
#undef BIAS
#undef TAYLOR
