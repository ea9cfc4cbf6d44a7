"""learners of two classes put together to one of many."""

from mutant import Area, mutants_of

AREA = Area(
    "multiclass",
    (
        "tests/learners/test_multiclass.py",
        "tests/learners/test_blocks_of_decisions.py",
        "tests/learners/test_blocks_of_kernel_values.py",
        "tests/conformance/test_twin.py",
    ),
    (
        *mutants_of(
            "edgesvm/contract/core.pyx",
            (
                "score[slot] = least - max(1.0, fabs(least))",
                "score[slot] = least",
                "a class without a sample may win",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/multiclass.py",
            (
                "max(to_fit, default=0)",
                "min(to_fit, default=0)",
                "the bench is overwritten by parts that are fitted later",
            ),
            (
                "part.arena.memory[some] = bench.arena.memory[some]",
                "pass",
                "what a part has learned stays on the bench",
            ),
            (
                "            at += part.arena.nbytes\n",
                "",
                "only the first part is zeroed",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/_multiclass.pyx",
            (
                "found[i * n_parts + p] = values[i]",
                "found[i + p] = values[i]",
                "rows of a tile have one another's values",
            ),
            (
                "            if not self.has_both(p):\n                continue\n            if known",
                "            if p == 0 or not self.has_both(p):\n"
                "                continue\n            if known",
                "the first part does not look at rows together",
            ),
            (
                "return slot > other if self.pairs else slot == other",
                "return slot < other if self.pairs else slot == other",
                "the sides of a pair are swapped",
            ),
            (
                "score[high if f > 0.0 else low] += 1.0",
                "score[high] += 1.0",
                "one side has all votes",
            ),
            ("                self.sums[low] -= f\n", "", "sums forget the losing side"),
            (
                "                if high < low:\n                    f = -f\n",
                "",
                "a pair whose labels came in falling order votes wrong",
            ),
            (
                "self.sums[b] / (1.0 + fabs(self.sums[b])) / 3.0",
                "self.sums[b]",
                "a sum outweighs a vote",
            ),
            (
                "                self.n_left_out[0] += 1\n",
                "                pass\n",
                "what a part left out is not counted",
            ),
            (
                "        if self.is_full(slot):\n            return FULL\n",
                "",
                "a full part is found after others learned",
            ),
            (
                "score[last[1]] = (score[last[1]] - score[last[0]]) / 4.0",
                "score[last[1]] = (score[last[1]] - score[last[0]]) / 2.0",
                "the decision of two among many is doubled",
            ),
            (
                'if self.n_left_out[0] < 0 or self.views["sums"].any():',
                "if self.n_left_out[0] < 0:",
                "a snapshot's sums are left behind",
            ),
            (
                "                (<KernelCore> self.part(p)).known = NULL\n",
                "                pass\n",
                "a part goes on with kernel values of other rows",
            ),
            (
                "                (<KernelCore> self.part(p)).number = self.same.number + self.same.start[p]",
                "                (<KernelCore> self.part(p)).number = self.same.number",
                "every part takes the first one's kernel values",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/_same_vectors.pyx",
            (
                "while slot[h] >= 0 and memcmp(first[slot[h]], vector, n_bytes):",
                "while False:",
                "vectors of one hash are taken for equal",
            ),
            (
                "            table.fill(-1)\n",
                "            if not in_dtype:\n                table.fill(-1)\n",
                "a part that is not full takes kernel values summed in float64",
            ),
        ),
    ),
)
