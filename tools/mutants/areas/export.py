"""export: the C floor, and what a snapshot's numbers must be."""

from mutant import Area, mutants_of

AREA = Area(
    "export",
    ("tests/export",),
    (
        *mutants_of(
            "edgesvm/export/floor/sums.h",
            (
                "if (i_ >= full_) TERM(a_, i_);",
                "if (i_ > full_) TERM(a_, i_);",
                "the first number of a tail is left out",
            ),
            (
                "out[i] = unit * unit * (double)total;",
                "out[i] = unit * (unit * (double)total);",
                "a distance of codes is rounded another way",
            ),
            (
                "            if (full_ > L) {                                                            \\\n",
                "            if (full_ > 2 * L) {                                                        \\\n",
                "a second vector of numbers is left out",
            ),
            (
                "s = ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));",
                "s = ((a[0] + a[4]) + (a[1] + a[5])) + ((a[2] + a[6]) + (a[3] + a[7]));",
                "a row's sums are folded in another order",
            ),
            (
                "return x > -708.0 ? p * k : 0.0;",
                "return p * k;",
                "exp of a number far below zero is not zero",
            ),
        ),
        *mutants_of(
            "edgesvm/export/floor/arith.h",
            (
                "return a > b || b != b ? a : b;",
                "return a > b ? a : b;",
                "the greater of a number and NaN is NaN",
            ),
        ),
        *mutants_of(
            "edgesvm/export/floor/tiled.h",
            (
                "if (f[t] < least) {",
                "if (f[t] <= least) {",
                "of two core vectors as far out, the last is taken",
            ),
            (
                "s[t % 8] += weight[t]",
                "s[t % 4] += weight[t]",
                "a weighted sum has four lanes",
            ),
        ),
        *mutants_of(
            "edgesvm/export/floor/dual.h",
            (
                "s[i % 8] += ESVM_NAME(coef)[i]",
                "s[0] += ESVM_NAME(coef)[i]",
                "vectors are summed in order, not by lanes",
            ),
        ),
        *mutants_of(
            "edgesvm/export/floor/chain.h",
            (
                "    if (ESVM_ONE_CLASS) slot = -1;",
                "    ",
                "labels count ahead of a learner without labels",
            ),
        ),
        *mutants_of(
            "edgesvm/export/floor/soft.c",
            (
                "q += left > (int64_t)n || (left == (int64_t)n && (q & 1));",
                "q += left > (int64_t)n + 1;",
                "some quotients are rounded down",
            ),
            ("    q += left > (int64_t)q;\n", "", "some roots are rounded down"),
            (
                "if (e == 0) return esvm_sqrt(x * 18014398509481984.0) * 7.450580596923828e-09;",
                "",
                "the root of a subnormal number is wrong",
            ),
        ),
        *mutants_of(
            "edgesvm/export/floor/model.h",
            (
                "if (memcmp(bytes, ESVM_NAME(head), ESVM_HEAD)) return ESVM_BAD_SNAPSHOT;",
                "",
                "a snapshot of other parameters is taken over",
            ),
            (
                "if (!esvm_is_finite(d) || (check->least",
                "if ((check->least",
                "a snapshot with NaN among its doubles is taken over",
            ),
            (
                "if (p[i] > check->most) return 0;",
                "",
                "a snapshot with an index of one byte out of range is taken over",
            ),
            (
                "if (at + n > ESVM_HEAD + ESVM_ARENA)",
                "if (at + n > ESVM_HEAD + ESVM_ARENA + 4)",
                "the CRC at a snapshot's end is missing",
            ),
            (
                "(check->least == 0 && d < 0.0)",
                "(check->least == 0 && d < -1e300)",
                "a negative square is taken over",
            ),
            (
                "if (count > seen - learned) return 0;",
                "",
                "more samples learned than seen are taken over",
            ),
        ),
        *mutants_of(
            "edgesvm/export/floor/link.c",
            (
                "if (i + code > n) return n + 1;",
                "if (i + code > n + 1) return n + 1;",
                "a block that is cut short by a byte is read",
            ),
            (
                "esvm_crc32(0, raw, end) != get32(raw + end)",
                "0",
                "frames with a wrong CRC are read",
            ),
            (
                "if (l->epoch.seen >> behind & 1) {",
                "if (l->epoch.seen >> behind & 1 && behind) {",
                "the last sample is learned again when it comes twice",
            ),
            (
                "if (l->late_on && l->counts.seq_jump != jumps) forget(l);",
                "",
                "after a jump a late label finds a sample from before",
            ),
            (
                "if (l->known && l->schema.boot_id != l->coming.boot_id) begin_epoch(l);",
                "",
                "samples of another boot are taken for old ones",
            ),
            (
                "l->x[i] += l->scales[2 * i + 1];",
                "",
                "offsets of 16-bit samples are left out",
            ),
            (
                "    set_state(l, sequence, CLOSED);\n    if (behind",
                "    if (behind",
                "a sample is learned again with a label that comes twice",
            ),
            (
                "crc == l->staged_crc && at == l->staged_bytes",
                "at == l->staged_bytes",
                "pages of two snapshots are put together",
            ),
            (
                "if (get16(body) != l->transfer) begin_transfer",
                "if (at == 0) begin_transfer",
                "a transfer that is over is done again",
            ),
            (
                "l->since_push = l->counts.learned;",
                "",
                "the snapshot is pushed after every sample",
            ),
            (
                "if (slot == -2) {",
                "if (slot == -2 && has_label) {",
                "a sample that was refused waits for a label",
            ),
        ),
        *mutants_of(
            "edgesvm/export/floor/floor.h",
            (
                "defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) ||",
                "defined(__FAST_MATH__) ||",
                "some parts of -ffast-math are let through",
            ),
        ),
        *mutants_of(
            "edgesvm/export/compiled.py",
            (
                "frames.get(name, LIBRARY_STACK)",
                "frames.get(name, 0)",
                "routines of the library take no stack",
            ),
        ),
        *mutants_of(
            "edgesvm/export/report.py",
            (
                "return self.ram <= self.board.ram and",
                "return",
                "a model larger than RAM fits",
            ),
        ),
        *mutants_of(
            "edgesvm/export/glue.py",
            (
                '"srcFilter": ["+<*.c>", "+<edgesvm/*.c>"],',
                '"srcFilter": ["+<*.c>"],',
                "PlatformIO leaves the runtime out",
            ),
        ),
    ),
)
