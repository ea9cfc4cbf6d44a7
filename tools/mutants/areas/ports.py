"""Several ports in one process."""

from mutant import Area, mutants_of

AREA = Area(
    "ports",
    ("tests/cli/test_several_ports.py",),
    (
        *mutants_of(
            "edgesvm/cli/several_ports.py",
            ("TURN if left is None else min(TURN, left)", "left", "a port takes all at once"),
            (
                "        self.runner.handle_waiting(self._left())  # a thread",
                "        pass  # a thread",
                "what a lost port had sent waits",
            ),
            (
                "            self.runner.handle_waiting(self._left())\n\n    def _lost",
                "            pass\n\n    def _lost",
                "what has arrived is not handled at the end",
            ),
        ),
        *mutants_of(
            "edgesvm/cli/each_port.py",
            (
                "parse_bytes(options.memory) // learners",
                "parse_bytes(options.memory)",
                "each port has all the memory",
            ),
        ),
        *mutants_of(
            "edgesvm/runner.py",
            (
                "        self._fitted = self.learner.is_fitted  # it may",
                "        pass  # it may",
                "a learner that another port taught does not answer",
            ),
        ),
    ),
)
