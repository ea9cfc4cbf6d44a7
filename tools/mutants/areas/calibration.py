"""calibration: probabilities and prices of errors around a learner."""

from mutant import Area, mutants_of

AREA = Area(
    "calibration",
    ("tests/calibration", "tests/conformance/test_twin.py", "tests/persist"),
    (
        *mutants_of(
            "edgesvm/calibration/_calibrated.pyx",
            (
                "keep = 1.0 - 1.0 / RECENT",
                "keep = 1.0",
                "the information of old samples does not fade",
            ),
            (
                "(bb * g - ab) * r / det, 0.0)",
                "(bb * g + ab) * r / det, 0.0)",
                "the step is not Newton's",
            ),
            (
                "            if status > CHANGED:\n                return status\n        status = self.inner",
                "        status = self.inner",
                "what cannot be scored is learned",
            ),
            (
                "(self.missed - (margin <= q))",
                "(1.0 - self.missed - (margin <= q))",
                "the share to be missed is kept as the recall",
            ),
            (
                "            value[0] += self.lift(1) - self.lift(0)",
                "            value[0] += self.lift(1)",
                "the price of class 0 is not heard",
            ),
            (
                "if self.named_at != self.labels.n_changes:",
                "if self.named_at == 0:",
                "a price stays with a label that was forgotten",
            ),
            (
                "            if k == slot or (self.n_per_class[k] and self.n_seen_classes() == 1):",
                "            if k == slot:",
                "the first class of many has no slope",
            ),
            (
                '        if not (abs(views["information"]) <= MOST_INFORMATION).all():',
                "        if False:",
                "a snapshot's information may be of any size",
            ),
        ),
        *mutants_of(
            "edgesvm/contract/core.pyx",
            (
                "weight * self.class_weight(y) if self.balanced else weight",
                "weight",
                "class_weight does nothing",
            ),
            (
                "n_classes * (self.n_per_class[slot] + 1)",
                "n_classes * (self.n_per_class[0] + 1)",
                "every class counts as the first",
            ),
        ),
    ),
)
