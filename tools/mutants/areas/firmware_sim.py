"""The simulated node, its line, limits and disk."""

from mutant import Area, mutants_of

AREA = Area(
    "firmware_sim",
    ("tests/firmware_sim",),
    (
        *mutants_of(
            "firmware_sim/node/scoring.py",
            (
                "        self.correct += int(right.sum())\n",
                "",
                "correct predictions are not counted",
            ),
            (
                "        self.unknown += n - int(fresh.sum())\n",
                "",
                "predictions for no sample are not counted",
            ),
        ),
        *mutants_of(
            "firmware_sim/node/raw_signals.py",
            (
                "        self._tail = ring[n:]\n",
                "",
                "a housing stops ringing at the end of a block",
            ),
            (
                "self._next_strike += slip / self._strikes_per_turn",
                "self._next_strike += slip * self._strikes_per_turn",
                "strikes are as rare as they should be frequent",
            ),
            (
                "return self.n_balls * (1 - self.cage)",
                "return self.n_balls * (1 + self.cage)",
                "the inner race turns with the shaft backwards",
            ),
        ),
        *mutants_of(
            "firmware_sim/node/node.py",
            ("        self.boot_dropped += 1\n", "", "a heartbeat does not report dropped samples"),
            (
                "if self._queued_bytes + len(sample.data) > self.tx_bytes:",
                "if False:",
                "the transmit buffer has no end",
            ),
        ),
        *mutants_of(
            "firmware_sim/line/outcome.py",
            (
                "                self.copies += 1\n",
                "                pass\n",
                "copies are not counted",
            ),
            (
                "                self.bad += 1\n",
                "                pass\n",
                "bad runs are not counted",
            ),
        ),
        *mutants_of(
            "firmware_sim/line/injector.py",
            (
                'kind = "overdue" if behind >= WINDOW else "reorder"',
                'kind = "reorder"',
                "a frame outside the sequence window is entered as reordered",
            ),
        ),
        *mutants_of(
            "firmware_sim/line/line.py",
            (
                "self._free_at += n * self._byte_s",
                "self._free_at += n * self._byte_s / 2",
                "a paced line is twice as fast as its baud",
            ),
            ("            self.lost_bytes += due - taken\n", "", "lost bytes are not counted"),
        ),
        *mutants_of(
            "firmware_sim/limits/profiles.py",
            (
                "limit = size + allowance_bytes",
                "limit = size + 2 * allowance_bytes",
                "a process may grow by twice its allowance",
            ),
        ),
        *mutants_of(
            "tests/rig/power/disk.py",
            (
                "return self.cut_at is not None and self.operations > self.cut_at",
                "return False",
                "the power is never cut",
            ),
            (
                "self.medium_size = rng.choice([self.medium_size, *self.sizes])",
                "self.medium_size = len(self.content)",
                "an un-synced length survives every power cut",
            ),
        ),
        *mutants_of(
            "tests/rig/power/cuts.py",
            (
                "        if index < least or index < newest - 1:\n",
                "        if index < newest - 1:\n",
                "a lost save that had returned counts as the previous one",
            ),
        ),
        *mutants_of(
            "tests/rig/conformance/checks.py",
            (
                '    return counters["bad_tag"] - ledger.counts().get("hostile", 0) if',
                '    return counters["bad_tag"] if',
                "forged frames excuse missing samples",
            ),
            (
                'counted == injected if relation == "=" else counted >= injected',
                "counted >= injected",
                "a count above what was injected passes",
            ),
        ),
        *mutants_of(
            "tests/rig/boards/here.py",
            (
                '"arena": there.arena != bytes(learner.arena),',
                '"arena": len(there.arena) != len(bytes(learner.arena)),',
                "a board's arena of other bytes passes",
            ),
        ),
        *mutants_of(
            "tests/rig/boards/program.py",
            (
                '    if said:\n        raise RuntimeError(f"guest errors: {len(said)}, first {said[0]}")\n',
                "",
                "a program that faults passes",
            ),
        ),
        *mutants_of(
            "tests/rig/conformance/parity_section.py",
            (
                "    broken += left_out if needed else []\n",
                "",
                "a machine that is needed may be left out",
            ),
        ),
    ),
)
