"""The table of remarks: each appears where it is due, and only there."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from each import each

from edgesvm import ByteSVM, Calibrated, GaussianNovelty, Perceptron, Standardized
from edgesvm.serve.remarks import (
    BLOCK,
    EVERY,
    KEYS,
    USUAL,
    Facts,
    Remarks,
    Rows,
    flagged,
    made,
)
from edgesvm.serve.score import Prequential, RegressionScore

LOOK = EVERY * BLOCK
RNG = np.random.default_rng(0)
SHUFFLED = RNG.permutation([0] * 700 + [1] * 300).tolist()
GOOD = [t if hit else 1 - t for t, hit in zip(SHUFFLED, RNG.random(1000) < 0.9, strict=True)]
RARE = RNG.permutation([0] * 960 + [1] * 40).tolist()  # 92 % are as the one before, by chance
RARE_RUNS = [0] * 480 + [1] * 20 + [0] * 500  # they are, though their share is rare
WAVE = np.sin(np.arange(1000) / 20)
RUNS = [0] * 500 + [1] * 500
LATE = [0, *RUNS[:-1]]  # answers with the label before


def test_the_page_about_the_page_explains_each_key():
    page = (Path(__file__).parents[2] / "docs" / "page.md").read_text(encoding="utf-8")
    assert [key for key in KEYS if f"`{key}`" not in page] == []


def scored(truth, predicted):
    score = Prequential(1000)
    for t, p in zip(truth, predicted, strict=True):
        score.add(t, p)
    return score


def numbers(targets, values):
    score = RegressionScore(1000, coverage=0.9)
    for y, p in zip(targets, values, strict=True):
        score.add(y, (p, p, p))
    return score


def sensor(ahead):
    return SimpleNamespace(ahead_=ahead, drift_=SimpleNamespace(measured=800))


def noise(n, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


def rows(*blocks):
    looked = Rows(3)
    for block in blocks:
        for x in block:
            looked.add(x)
    return looked


def well(n=USUAL):
    return noise(n * BLOCK) * [1, 5, 0.1] + [0, 100, 0]


def with_column(block, value):
    block = block.copy()
    block[:, 1] = value if np.ndim(value) == 0 else value * block[:, 1]
    return block


def novelty(X, **params):
    return GaussianNovelty(**params).partial_fit(X)


def calibrated(**params):
    model = Calibrated(learner=Perceptron(), **params)
    return model.partial_fit(noise(400), np.arange(400) % 2)


RISING = with_column(well(2), [10])
# Key, what calls for it and a part of its line, and what does not.
CASES = [
    (
        "stuck",
        [
            ({"rows": rows(well(), with_column(well(1), 7))}, "x1: no longer"),
            ({"learner": novelty(np.vstack([noise(500), np.ones((60, 3))]))}, "x0, x1, x2"),
        ],
        [{"rows": rows(well(6))}, {"rows": rows(*[with_column(well(1), 7)] * 6)}],
    ),
    (
        "jumped",
        [({"rows": rows(well(), RISING)}, "x1: varies")],
        [{"rows": rows(well(9))}, {"rows": rows(well(), RISING[:BLOCK], well(1))}],
    ),
    (
        "far_out",
        [({"learner": SimpleNamespace(far_out_=5), "far_before": 2}, "3 rows")],
        [
            {"learner": SimpleNamespace(far_out_=2), "far_before": 2},
            {"learner": Standardized()},
        ],
    ),
    ("refused", [({"counters": {"refused_value": 2}}, "2 rows")], [{"counters": {}}]),
    (
        "lost",
        [({"learner": novelty(np.vstack([noise(500), 50 + noise(280)]))}, "held apart")],
        [{"learner": novelty(np.vstack([noise(500), 50 + noise(200)]))}],
    ),
    (
        "alarm_rate",
        [({"learner": novelty(np.vstack([noise(500), 50 + noise(200)]))}, "rate of 0.001")],
        [{"learner": novelty(noise(3000))}, {"learner": novelty(noise(9), stuck="learn")}],
    ),
    (
        "worse_than_larger_class",
        [
            ({"score": scored(SHUFFLED, [1 - t for t in SHUFFLED])}, "(70.0 %)"),
            ({"score": scored(SHUFFLED * 5, SHUFFLED * 4 + [0] * len(SHUFFLED))}, "lately"),
        ],
        [{"score": scored(SHUFFLED, GOOD)}, {"score": scored(SHUFFLED[:99], [1] * 99)}],
    ),
    (
        "worse_than_label_before",
        [({"score": scored(RUNS, GOOD)}, "(99.9 %)")],
        [
            {"score": scored(RUNS, RUNS)},
            {"score": scored(RUNS, GOOD), "labels_stop": True},
            {"score": scored(RARE, [1 - t for t in RARE])},
        ],
    ),
    (
        "labels_in_runs",
        [
            ({"score": scored(RUNS, LATE)}, "99.9 %"),
            ({"score": scored(RARE_RUNS, RARE_RUNS)}, "99.8 %"),
        ],
        [
            {"score": scored(RARE, RARE)},
            {"score": scored(SHUFFLED, GOOD)},
            {"score": scored([1] * 300, [1] * 300)},
        ],
    ),
    (
        "one_answer",
        [({"score": scored(SHUFFLED, [0] * 1000)}, "the last 1,000 predictions were all 0")],
        [{"score": scored(SHUFFLED, GOOD)}, {"score": scored([0] * 300, [0] * 300)}],
    ),
    (
        "vanished",
        [({"score": scored(SHUFFLED, GOOD), "seen": {0: (700, 999), 1: (150, 500)}}, "class 1")],
        [
            {"score": scored(SHUFFLED, GOOD), "seen": {0: (700, 999), 1: (300, 950)}},
            {"score": scored(RUNS, RUNS), "seen": {0: (500, 500), 1: (500, 999)}},
        ],
    ),
    (
        "recall",
        [
            (
                {
                    "learner": calibrated(min_recall={1: 0.9}),
                    "score": scored(SHUFFLED, [0] * 500 + SHUFFLED[500:]),
                },
                "0.9 was promised",
            )
        ],
        [{"learner": calibrated(min_recall={1: 0.9}), "score": scored(SHUFFLED, GOOD)}],
    ),
    (
        "unseen_label",
        [({"learner": calibrated(cost={7: 2.0})}, "--cost: no sample has the label 7")],
        [{"learner": calibrated(cost={1: 2.0})}, {"learner": Calibrated(cost={7: 2.0})}],
    ),
    (
        "full",
        [({"learner": SimpleNamespace(n_given_up_=1234)}, "1,234 support vectors")],
        [{"learner": SimpleNamespace(n_given_up_=0)}],
    ),
    (
        "no_window",
        [
            (
                {"counters": {"taken": 4000, "windows": 0, "gaps": 9}, "samples_a_window": 400},
                "9 gaps",
            )
        ],
        [
            {"counters": {"taken": 3999, "rows": 0}, "samples_a_window": 400},
            {"counters": {"taken": 4000, "rows": 1}, "samples_a_window": 400},
            {"counters": {"taken": 4000}},
        ],
    ),
    (
        "worse_than_mean",
        [({"score": numbers(RNG.standard_normal(200), 9 * WAVE[:200])}, "of the mean ")],
        [{"score": numbers(WAVE, 0.9 * WAVE)}, {"score": numbers(WAVE[:99], 9 * WAVE[:99])}],
    ),
    (
        "worse_than_value_before",
        [({"score": numbers(WAVE, 0.8 * WAVE)}, "of the target before 0.0")],
        [
            {"score": numbers(WAVE, WAVE)},
            {"score": numbers(WAVE, 0.8 * WAVE), "labels_stop": True},
        ],
    ),
    (
        "one_label",
        [({"score": scored([1] * 300, [1] * 300)}, "only one label seen, 1")],
        [{"score": scored(RARE, RARE)}, {"score": scored([1] * 30, [1] * 30)}],
    ),
    (
        "rare_label",
        [
            (
                {
                    "learner": ByteSVM().partial_fit(noise(200), [0, 1] * 99 + [0, 2]),
                    "counters": {"rare_label": 1},
                },
                "such as 2, came",
            )
        ],
        [{"counters": {"rare_label": 0}}],
    ),
    (
        "intervals",
        [
            ({"sensor": sensor(900)}, "last learned 900 samples ago"),
            ({"score": numbers(WAVE, WAVE + 2), "labels_stop": True}, "0.0 % of the"),
        ],
        [{"sensor": sensor(800)}, {"score": numbers(WAVE, WAVE + 2)}, {"labels_stop": True}],
    ),
    (
        "refused_lines",
        [({"link": SimpleNamespace(refused_lines=lambda: "3 lines; last")}, "3 lines")],
        [{"link": SimpleNamespace(refused_lines=lambda: None)}, {"link": object()}],
    ),
]


@each("key, due, not_due", CASES)
def test_each_remark_is_made_where_it_is_due_and_only_there(key, due, not_due):
    for facts, part in due:
        line = dict(made(Facts(**facts))).get(key, "")
        assert part in line and "; " in line, facts
    for facts in not_due:
        assert key not in dict(made(Facts(**facts))), facts


def test_every_remark_is_tried_once_and_has_a_key_for_a_label():
    assert [key for key, _, _ in CASES] == list(KEYS)
    assert all(re.fullmatch("[a-z_]+", key) for key in KEYS)
    assert list(made(Facts())) == []


def test_a_model_at_work_is_looked_at_now_and_then_in_fixed_bytes():
    learner, score, counts = Standardized().fitted_into("8KiB", 3), Prequential(), {}
    learner.allocate(3)
    remarks = Remarks(Facts(learner=learner, score=score, names=["a", "b", "c"]))
    remarks.counters = lambda: counts
    X = noise(8 * LOOK)
    X[6 * LOOK :, 1] = X[6 * LOOK, 1]
    told = []
    for n, x in enumerate(X, start=1):
        remarks.add(x)
        remarks.turn(n)
        told += [(n, line) for line in remarks.news()]
        if n == 2 * LOOK:
            counts["refused_value"] = 1
            size = remarks.facts.rows.nbytes
    assert [n for n, _ in told] == [3 * LOOK, 7 * LOOK] and "b: no longer changes" in told[1][1]
    assert list(remarks.held) == ["stuck", "refused"] == flagged(remarks.flags | 0xFF)
    assert remarks.facts.rows.nbytes == size == 3 * (BLOCK * 4 + 3 * 8 + 4)
    for x in noise(LOOK):
        remarks.add(x)
    remarks.look()
    assert list(remarks.held) == ["refused"] and remarks.news() == []


def test_values_far_out_are_told_however_early():
    learner = SimpleNamespace(far_out_=7)  # of an earlier run
    remarks = Remarks(Facts(learner=learner))
    assert remarks.look() == []
    learner.far_out_ += 2
    assert [line[:6] for line in remarks.look()] == ["2 rows"]


def test_huge_values_raise_nothing():
    looked = Rows(2, np.float64)
    for x in np.float64([[1e200, 1], [-1e300, 2]] * (5 * BLOCK)):
        looked.add(x)
    assert not looked.jumps.any() and not looked.still.any()


@pytest.mark.parametrize("n", [1, LOOK])
def test_a_class_that_vanished_is_found_by_looking(n):
    score = Prequential()
    remarks = Remarks(Facts(score=score))
    for t in (SHUFFLED * 3)[: 2 * LOOK]:
        score.add(t, t)
    remarks.look()
    for _ in range(n):
        score.add(0, 0)
    remarks.look()
    for _ in range(n):
        score.add(0, 0)
    remarks.look()
    assert ("vanished" in remarks.held) == (n == LOOK)
