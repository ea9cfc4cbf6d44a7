"""learners/auto: who answers, who ends, and FourierSVM that grows."""

from mutant import Area, mutants_of

AREA = Area(
    "auto",
    ("tests/learners/auto/test_auto.py",),
    (
        *mutants_of(
            "edgesvm/learners/auto/_auto.pyx",
            (
                "note_lapse(self.lapses, c, is_wrong[c], min(n, RECENT))",
                "note_lapse(self.lapses, c, is_wrong[0], min(n, RECENT))",
                "all are judged by what the plane had wrong",
            ),
            (
                "<double> behind * behind <= CLEARLY * CLEARLY * (self.n_wrong[c] + best)",
                "<double> behind * behind <= 100.0 * CLEARLY * CLEARLY * (self.n_wrong[c] + best)",
                "hardly one ever ends",
            ),
            (
                "if self.ended[0] & 3 != stage and self.at_work(FOURIER) != NULL:",
                "if False:",
                "FourierSVM forgets all when it grows",
            ),
            (
                "memset((<LearnerCore> part).arena.base, 0, (<LearnerCore> part).arena.nbytes)",
                "pass",
                "one that ended leaves its bytes behind",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/fourier/_fourier_svm.pyx",
            (
                "memset(row + self.bytes_of(done), 0, self.bytes_of(n - n_before))",
                "pass",
                "the last block's new cosines are its old sines",
            ),
            (
                "memmove(row + self.bytes_of(2 * self.directions.n), old + self.bytes_of(2 * n_old),",
                "memmove(row + self.bytes_of(2 * self.directions.n), old + self.bytes_of(2 * n_old - 1),",
                "x has the weights of the last sine",
            ),
        ),
    ),
)
