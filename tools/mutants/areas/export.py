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
