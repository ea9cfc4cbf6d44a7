"""ByteSVM: the twin's bytes, classes as they come, bytes used up, scale, hostile models."""

from dataclasses import replace

import numpy as np
import pytest
from each import each

import edgesvm
from edgesvm import ByteSVM, CorruptModelError
from edgesvm.data import Checkerboard
from edgesvm.persist.format import pack, unpack
from edgesvm.persist.store import restore


def clouds(n, n_features, n_classes, seed=0):
    """Clouds of unequal scale about places that differ by class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    places = rng.standard_normal((n_classes, n_features)) * 2
    X = (rng.standard_normal((n, n_features)) + places[y]) * 10.0 ** (np.arange(n_features) % 5 - 2)
    return (X + 3.0).astype(np.float32), y


# -- against the twin ------------------------------------------------------------------------------

ODD = {
    "usual": lambda X: None,
    "first far out": lambda X: X.__setitem__((0, 0), 1e20),
    "spikes": lambda X: np.multiply(X, np.float32(1e12), out=X, where=np.quantile(X, 0.98) < X),
    "constant": lambda X: X.__setitem__((slice(2, 50), slice(None, None, 2)), 3.0),
    "zero at first": lambda X: X.__setitem__(slice(5), 0.0),
    "subnormal": lambda X: np.multiply(X, np.float32(1e-40), out=X),
    "largest": lambda X: np.copyto(X, np.sign(X - 3) * np.finfo(np.float32).max),
}
SETTINGS = [
    ({}, 5, 2),
    ({"replay": False}, 5, 2),  # as snapshots of 0.1 are
    ({"replay": False, "n_bytes": 2500}, 5, 4),
    ({"n_bytes": 200, "seed": 3}, 5, 2),  # without a mean
    ({"n_classes": 2, "n_bytes": 109}, 12, 2),  # the least
    ({"n_classes": 4}, 5, 4),
    ({}, 5, 4),
    ({"n_bytes": 6150}, 8, 4),  # the fourth class ends the mean, and adds directions
    ({"scale": "common"}, 20, 3),
    ({"learn_directions": False, "class_weight": "balanced", "n_bytes": 700}, 40, 3),
    ({}, 1, 3),
    ({"n_bytes": 2500, "n_classes": 11}, 9, 11),
    ({"n_bytes": 20_000, "n_classes": 40}, 2, 40),
    ({"n_bytes": 20_000}, 1100, 2),  # more than the walks of the lanes have room for
    ({"n_bytes": 20_000, "scale": "common"}, 300, 2),
]
HARD = [*SETTINGS[:4], ({"scale": "common"}, 20, 3), ({"scale": "each", "n_bytes": 900}, 35, 2)]
CASES = [(*setting, "usual", i % 2) for i, setting in enumerate(SETTINGS)]
CASES += [(*setting, odd, i % 2) for setting in HARD for i, odd in enumerate(ODD) if i]


@each("params, n_features, n_classes, odd, weighted", CASES)
def test_every_byte_is_the_twins_after_each_row(params, n_features, n_classes, odd, weighted):
    n = 40 if n_features < 100 else 10
    X, y = clouds(n, n_features, n_classes)
    y = y if weighted else np.arange(n) // 12 % n_classes  # at random, or one after the other
    ODD[odd](X)
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 40.0], n) if weighted else np.ones(n)
    fast, plain = ByteSVM(**params), ByteSVM(**params)
    plain._engine = "reference"
    for row in range(n):
        for learner in (fast, plain):
            learner.partial_fit(X[row : row + 1], y[row : row + 1], sample_weight=weight[[row]])
        assert bytes(fast.arena) == bytes(plain.arena), row
    found, expected = fast.decision_function(X), plain.decision_function(X)
    assert found.tolist() == expected.tolist()


@each("scale", ["each", "common"])
def test_dropouts_and_a_level_that_lasts_are_learned_as_the_twin_does(scale):
    X, y = clouds(600, 18, 2)
    X[80:120, 16] = X[150:250:7, 3] = -1e6
    X[260:280, :5] = 1e18
    X[300:, 9] += 1e5
    pair = [ByteSVM(n_bytes=450, scale=scale), ByteSVM(n_bytes=450, scale=scale)]
    pair[1]._engine = "reference"
    for begin in range(0, 600, 50):
        for learner in pair:
            learner.partial_fit(X[begin : begin + 50], y[begin : begin + 50])
        fast, plain = (bytes(learner.arena) for learner in pair)
        assert fast == plain, begin


@each("params, n_classes", [({"class_weight": "balanced"}, 2), ({"n_bytes": 2000}, 3)])
def test_a_class_that_stays_away_is_learned_again_as_the_twin_does(params, n_classes):
    X, y = clouds(300, 4, n_classes)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    fast, plain = ByteSVM(**params), ByteSVM(**params)
    plain._engine = "reference"
    for part in np.array_split(np.arange(len(X)), 10):
        for learner in (fast, plain):
            learner.partial_fit(X[part], y[part])
        assert bytes(fast.arena) == bytes(plain.arena), part[-1]


# -- classes ---------------------------------------------------------------------------------------


@each("n_bytes", [2048, 6150])
def test_classes_that_come_are_learned_as_if_said_at_the_start(n_bytes):
    X, y = clouds(6000, 8, 5)
    late = np.arange(6000) // 600  # class k comes with row 600 k
    X, y = X[y <= late], y[y <= late]
    grown = ByteSVM(n_bytes=n_bytes).partial_fit(X[:-1000], y[:-1000])
    said = ByteSVM(n_bytes=n_bytes, n_classes=5).partial_fit(X[:-1000], y[:-1000])
    right, at_best = (model.score(X[-1000:], y[-1000:]) for model in (grown, said))
    assert right > at_best - 0.02 and right > 0.9
    assert grown.core.layout["n_classes"] == 5


def test_what_was_learned_stays_when_a_class_comes():
    """Its first sample takes a part of its neighbourhood; few others take that back."""
    X, y = clouds(1500, 6, 3)
    two = y < 2
    X, y, x = X[two], y[two], X[~two][0]
    model = ByteSVM().partial_fit(X, y)
    before = model.score(X, y)
    assert [model.learn_one(x, 2) for _ in range(3)] == [False, False, True]
    assert sorted(model.core.counts.tolist()) == sorted([(y == 0).sum(), (y == 1).sum(), 1])
    assert model.score(X, y) > 0.8
    assert model.partial_fit(X[:50], y[:50]).score(X, y) > before - 0.03


@each("n_features, scale", [(400, "auto"), (400, "each"), (3, "auto"), (60, "common")])
@each("n_bytes", [900, 2200, 4096])
def test_each_class_that_fits_has_its_directions(n_bytes, n_features, scale):
    learner = ByteSVM(n_bytes=max(n_bytes, 2150 if scale == "each" else 0), scale=scale)
    x = np.ones(n_features, np.float32)
    most = learner._most_classes(n_features)
    for label in range(most):
        learner.learn_one(x * (label + 1), label)
    layout = learner.core.layout
    assert layout["n_directions"] >= 4 and layout["at_mean"] <= learner.n_bytes
    assert layout["n_classes"] == max(most, 2)
    if most > 2:
        refused = bytes(learner.arena)
        with pytest.raises(ValueError, match=f"{most - 1}.*larger n_classes, or .*larger budget"):
            learner.learn_one(x, most)
        with pytest.raises(ValueError, match=r"row 0 .*larger budget"):
            learner.partial_fit(x[None], [most])
        assert bytes(learner.arena) == refused


@each("n_features", [1, 7, 12, 60, 819])
def test_the_least_bytes_hold_the_model(n_features):
    """With one feature more a scale for each would have taken the room of the directions."""
    for n_classes in (2, 127):
        model = ByteSVM(n_classes=n_classes)
        model.n_bytes = model._least_bytes(n_features)
        X, y = clouds(30, n_features, 2)
        layout = model.partial_fit(X, y).core.layout
        assert layout["n_directions"] == 4 and layout["at_mean"] <= model.n_bytes
        model.n_bytes -= 1
        with pytest.raises(ValueError, match="n_bytes"):
            model.plan(n_features)


@each("n_classes", [2, 3])
def test_a_label_of_weight_zero_is_no_class(n_classes):
    X, y = clouds(200, 3, n_classes)
    for learner in (ByteSVM().partial_fit(X, y), ByteSVM().fit(X, y, np.sign(y))):
        learner.learn_one(X[0], 7, weight=0.0)
        known = learner.classes_.tolist()
        assert known in ([0, 1, 2][:n_classes], [1, 2][: n_classes - 1])
        assert len(learner.weights_[0]) == (1 if len(known) < 3 else 3)


def test_a_label_that_came_once_is_no_class():
    """However the rows are cut, and saved in between; one that no longer comes gives way."""
    X, y = clouds(4000, 2, 2)
    y = np.where(y, "on", "off").astype(object)
    y[[60, 500]] = "o?"  # in the first 100 rows a class at once
    y[[200, 900, 1300]] = "of"  # three times, but not within 1,000 rows
    y[[2000, 2100, 2200, 2300]] = "idle"
    whole, one, cut = ByteSVM().partial_fit(X, y), ByteSVM(), ByteSVM()
    for at, (x, label) in enumerate(zip(X, y, strict=True)):
        one.learn_one(x, label)
        if at % 50 == 0:
            part = slice(at, at + 50)
            cut = restore(pack(cut.partial_fit(X[part], y[part]).snapshot()))
    assert bytes(whole.arena) == bytes(one.arena) == bytes(cut.arena)
    for model in (whole, one, cut):
        assert model.classes_.tolist() == ["idle", "off", "on"]
    assert whole.rare_labels_ == 3 + 2 and whole.core.counts.sum() == len(X) - 5
    assert len(ByteSVM().fit(X[:1000], y[:1000]).classes_) == 4  # all are given
    named = ByteSVM(n_classes=5).partial_fit(X, y)
    assert named.rare_labels_ == 0 and len(named.classes_) == 5


# -- scale -----------------------------------------------------------------------------------------


def test_mean_and_scale_are_near_the_true_ones():
    X, y = clouds(20_000, 6, 2)
    model = ByteSVM().partial_fit(X, y)
    deviation = X.std(axis=0, dtype=float)
    assert (abs(model.mean_ - X.mean(axis=0, dtype=float)) < 0.15 * deviation).all()
    np.testing.assert_allclose(model.scale_, deviation, rtol=0.08)
    model = ByteSVM(scale="common").partial_fit(X[:, :1], y)
    assert model.mean_ == 0
    np.testing.assert_allclose(
        model.scale_, np.sqrt((X[:, :1].astype(float) ** 2).mean()), rtol=0.08
    )


@each("row", [1, 2, 3, 50, 2000])
def test_one_spike_does_not_spoil_it(row):
    X, y = Checkerboard(seed=1).read(10_000)
    X = X * np.float32(3.0) + np.float32(20.0)
    scale, mean = X[:, 0].std(), X[:, 0].mean()
    for size in (1e2, -1e4, 1e30):
        X[row - 1, 0] = 20.0 + size * scale
        model = ByteSVM().partial_fit(X, y)
        assert model.score(X[-2000:], y[-2000:]) > 0.92, size
        assert 0.9 * scale < model.scale_[0] < 1.5 * scale, size
        assert abs(model.mean_[0] - mean) < 0.15 * scale, size
        assert model.far_out_ == (row > 10), size


def test_one_heavy_weight_does_not_spoil_it():
    X, y = Checkerboard(seed=1).read(20_000)
    for row in (1, 200, 19_000):
        weight = np.ones(len(X))
        weight[row] = 255.0
        model = ByteSVM().partial_fit(X, y, sample_weight=weight)
        assert model.score(X[-4000:], y[-4000:]) > 0.88, row


# -- hostile snapshots -----------------------------------------------------------------------------


def test_a_model_laid_out_for_fewer_classes_than_said_is_refused(tmp_path):
    X, y = clouds(100, 5, 3)
    ByteSVM(n_bytes=900, n_classes=3).partial_fit(X, y).save(tmp_path / "m.esvm")
    snapshot = unpack((tmp_path / "m.esvm").read_bytes())
    arena = bytearray(snapshot.arena)
    arena[40 + 40] = 2  # n_per_class has three numbers
    (tmp_path / "m.esvm").write_bytes(pack(replace(snapshot, arena=bytes(arena))))
    with pytest.raises(CorruptModelError, match="other classes"):
        edgesvm.load(tmp_path / "m.esvm")
