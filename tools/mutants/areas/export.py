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
        ),
    ),
)
