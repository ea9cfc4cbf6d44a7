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
        ),
        *mutants_of(
            "edgesvm/export/floor/model.h",
            (
                "if (memcmp(bytes, ESVM_NAME(head), ESVM_HEAD)) return ESVM_BAD_SNAPSHOT;",
                "",
                "a snapshot of other parameters is taken over",
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
    ),
)
