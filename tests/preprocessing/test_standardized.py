"""Standardized: running statistics against NumPy's, and the learner behind it sees what they
say."""

import numpy as np
import pytest
from each import each

import edgesvm
from edgesvm import (
    RBF,
    ByteSVM,
    FourierSVM,
    FourierSVR,
    IncrementalSVM,
    KernelStreamSVM,
    Polynomial,
    Standardized,
    StreamSVM,
)
from edgesvm.data import Checkerboard, Source
from edgesvm.serve.taught import predict_then_learn

N, WIDTH = 500, 6
INNER = [
    StreamSVM(C=10.0, bound="lower", dtype="float64"),
    StreamSVM(lookahead=5, dtype="float64"),
    KernelStreamSVM(max_vectors=9, gamma=0.3, dtype="float64"),
]


def raw(n=N, dtype="float64", seed=1):
    """Features as different in scale as a sensor board's."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n)
    X = rng.standard_normal((n, WIDTH)) + 0.7 * y[:, None]
    return (X * 10.0 ** np.arange(-3, WIDTH - 3) + np.arange(WIDTH) * 50.0).astype(dtype), y


def on_twin(learner):
    return type("Standardized", (Standardized,), {"_engine": "reference"})(learner=learner)


def scaled_by_hand(X):
    """Each row by NumPy's mean and deviation of the rows up to and including itself."""
    rows = [(X[i] - X[: i + 1].mean(axis=0)) for i in range(len(X))]
    deviations = np.array([X[: i + 1].std(axis=0) for i in range(len(X))])
    return np.divide(rows, deviations, out=np.zeros_like(X), where=deviations > 0)


@each("offset", [1e6, -1e6])
def test_a_huge_offset_leaves_the_deviation(offset):
    """E[x^2] - E[x]^2 would be left with nothing of it: 1e12 beside 1."""
    rng = np.random.default_rng(0)
    X = (offset + rng.standard_normal((4000, 2)) * [1.0, 8.0]).astype(np.float32)
    y = np.where(X[:, 1] > offset, 1, 0)
    learner = Standardized().partial_fit(X, y)
    exact = X.astype(np.float64)
    np.testing.assert_allclose(learner.scale_, exact.std(axis=0), rtol=1e-9)
    np.testing.assert_allclose(learner.mean_, exact.mean(axis=0), rtol=1e-12)
    assert learner.score(X, y) > 0.9
    assert StreamSVM().partial_fit(X, y).score(X, y) < 0.7  # the control


def test_the_learner_behind_it_tells_what_it_counted():
    X, y = raw(200)
    inner = IncrementalSVM(max_vectors=12, batch_size=30, kernel=RBF(0.2), dtype="float64")
    by_hand = IncrementalSVM(**inner.get_params()).partial_fit(scaled_by_hand(X), y)
    outer = Standardized(learner=inner).partial_fit(X, y)
    at_work = outer.learner_
    assert at_work.n_given_up_ == by_hand.n_given_up_ > 0
    assert (at_work.n_cycles_, at_work.n_waiting_, at_work.n_seen_) == (6, 20, 200)
    np.testing.assert_allclose(at_work.dual_coef_, by_hand.dual_coef_, atol=1e-6)
    at_work.update()
    assert outer.learner_.n_waiting_ == 0 and outer.learner_.n_cycles_ == 7
    scaled = (X - outer.mean_) / outer.scale_
    np.testing.assert_allclose(
        outer.decision_function(X), by_hand.update().decision_function(scaled), atol=1e-5
    )
    assert inner.nbytes == 0, "what was given stays as it is"


def test_a_constant_feature_is_zero_and_stays_harmless():
    X, y = raw()
    X[:, 2] = 3.7
    learner = Standardized(learner=INNER[0]).partial_fit(X, y)
    assert learner.scale_[2] == 0.0 and learner.mean_[2] == 3.7
    without = Standardized(learner=INNER[0]).partial_fit(np.delete(X, 2, axis=1), y)
    expected = without.decision_function(np.delete(X, 2, axis=1))
    np.testing.assert_allclose(learner.decision_function(X), expected, rtol=1e-12)
    X[:, 2] = 1e6  # never seen to vary, so there is no scale to say how far this is
    np.testing.assert_allclose(learner.decision_function(X), expected, rtol=1e-12)


@each("inner", INNER, ids=repr)
def test_equals_the_learner_on_rows_scaled_by_hand(inner):
    X, y = raw()
    learner = Standardized(learner=inner, clip=None).partial_fit(X, y)
    by_hand = type(inner)(**inner.get_params()).partial_fit(scaled_by_hand(X), y)
    assert learner.n_updates_ == by_hand.n_updates_
    final = (X - X.mean(axis=0)) / X.std(axis=0)
    found, expected = learner.decision_function(X), by_hand.decision_function(final)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    assert inner.nbytes == 0, "the learner given is a pattern and stays as it is"


@each("inner", INNER, ids=repr)
def test_until_is_the_scale_of_the_first_samples(inner):
    X, y = raw()
    n = 200
    learner = Standardized(learner=inner, until=n, clip=None).partial_fit(X, y)
    np.testing.assert_allclose(learner.mean_, X[:n].mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(learner.scale_, X[:n].std(axis=0), rtol=1e-12)
    assert learner.n_scaled_ == n and learner.n_seen_ == N
    final = (X - X[:n].mean(axis=0)) / X[:n].std(axis=0)
    rows = np.concatenate([scaled_by_hand(X[:n]), final[n:]])
    by_hand = type(inner)(**inner.get_params()).partial_fit(rows, y)
    found, expected = learner.decision_function(X), by_hand.decision_function(final)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    for wrong in (0, 2.0, True + 0.5):
        with pytest.raises(ValueError, match="until="):
            Standardized(until=wrong).plan(3)


def test_what_the_learner_behind_refuses_leaves_the_statistics():
    """(1.5e4 x.x + 1)^64 is beyond float64 for some samples and not for others."""
    inner = KernelStreamSVM(max_vectors=4, kernel=Polynomial(64, gamma=1.5e4), when_full="share")
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20, 3)).astype(np.float32)
    learner, refused = Standardized(learner=inner), 0
    for row in X:
        before = bytes(learner.arena) if learner.nbytes else None
        try:
            learner.learn_one(row, 1)
        except ValueError as error:
            assert "too large" in str(error)
            assert bytes(learner.arena) == before
            refused += 1
    assert 0 < refused < 19 and learner.n_seen_ == 20 - refused


def test_a_deviation_beyond_float64_is_refused():
    far = np.full(3, 1e153)
    far[1:] = 0.0
    learner = Standardized(learner=StreamSVM(dtype="float64")).partial_fit([far] * 9, [1] * 9)
    before = bytes(learner.arena)
    with pytest.raises(ValueError, match="too large"):
        for _ in range(10_000):
            far = -far
            before = bytes(learner.arena)
            learner.learn_one(far * 13, 1)
    assert bytes(learner.arena) == before
    assert np.isfinite(learner.scale_).all()


def test_parameters_are_nested_as_in_scikit_learn():
    learner = Standardized(learner=StreamSVM(C=3.0))
    assert learner.set_params(learner__C=5.0, learner__lookahead=2) is learner
    assert (learner.learner.C, learner.learner.lookahead) == (5.0, 2)
    learner.set_params(learner=KernelStreamSVM(), learner__max_vectors=7)
    assert learner.get_params()["learner__max_vectors"] == 7
    for name in ("learner__sigma", "C", "other__C"):
        with pytest.raises(ValueError, match="no parameter"):
            learner.set_params(**{name: 1})
    with pytest.raises(ValueError, match=r"learner__C.*None"):
        Standardized().set_params(learner__C=2.0)


@each("learner", [StreamSVM(), FourierSVM(n_directions=9), FourierSVR(n_directions=9)])
@each("engine", ["compiled", "reference"])
def test_a_missing_value_counts_as_the_mean_so_far(learner, engine):
    """As if it had been put there by hand, before the sample was learned or asked about."""
    X, y = raw(200, "float32")
    holes = np.random.default_rng(3).random(X.shape) < 0.2
    holes[0] = False
    kind = on_twin(learner) if engine == "reference" else Standardized(learner=learner)
    model, by_hand = (type(kind)(learner=learner, missing=of) for of in ("mean", "refuse"))
    for x, label, gone in zip(X, y.tolist(), holes, strict=True):
        filled = x
        if gone.any():
            filled = np.where(gone, by_hand.mean_.astype("float32"), x)
            x = np.where(gone, np.float32(np.nan), x)  # noqa: PLW2901
            assert model.predict_one(x) == by_hand.predict_one(filled)
            if learner.regresses:
                assert model.forecast_one(x) == by_hand.forecast_one(filled)
                assert model.predict_interval_one(x) == by_hand.predict_interval_one(filled)
        model.learn_one(x, label)
        by_hand.learn_one(filled, label)
    assert model.n_missing_ == holes.sum() and by_hand.n_missing_ == 0
    for name, array in by_hand.core.views.items():
        assert array.tobytes() == model.core.views[name].tobytes(), name
    with pytest.raises(ValueError, match="infinite"):
        model.learn_one(np.full(WIDTH, np.inf, np.float32), 1)
    with pytest.raises(ValueError, match="NaN"):
        by_hand.learn_one(np.full(WIDTH, np.nan, np.float32), 1)
    with pytest.raises(ValueError, match="missing='zero'"):
        Standardized(missing="zero").plan(3)


@each("wrong", [3, "StreamSVM", StreamSVM, Standardized()])
def test_what_is_no_learner_is_named(wrong):
    with pytest.raises(ValueError, match="learner="):
        Standardized(learner=wrong).plan(3)


# -- values far out --------------------------------------------------------------------------------


def checkerboard(n=20_000):
    X, y = Checkerboard(seed=1).read(n)
    return X * np.float32(3.0) + np.float32(20.0), y


def last_accuracy(learner, X, y):
    """Of the last 1,000 rows, each predicted before it is learned."""
    return predict_then_learn(Source(X, y), learner).score.rolling


@each("row", [1, 2, 3, 10, 30, 2000])
def test_one_spike_does_not_spoil_the_default_learner(row):
    X, y = checkerboard()
    scale = X[:, 0].std()
    for size in (1e2, 1e3, 1e5, 1e7):
        X[row - 1, 0] = 20.0 + size * scale
        learner = Standardized()
        assert last_accuracy(learner, X, y) > 0.91, size
        assert learner.scale_[0] < 1.3 * scale
        assert learner.far_out_ == (row > 10)


@each("old, new", [((0.0, 1.0), (0.0, 100.0)), ((5.0, 9.0), (5.0, 0.1))])
def test_another_scale_late_in_a_stream_is_followed(old, new):
    """As without `clip`, in the end."""
    rng = np.random.default_rng(0)
    n = 10_000
    parts = [rng.normal(level, scale, n) for level, scale in (old, new)]
    X, y = np.concatenate(parts).astype(np.float32)[:, None], np.arange(2 * n) % 2
    learner = Standardized(learner=StreamSVM()).partial_fit(X[:n], y[:n])
    exact = Standardized(learner=StreamSVM(), clip=None).partial_fit(X[:n], y[:n])
    for begin in range(n, 2 * n, 200):
        for one in (learner, exact):
            one.partial_fit(X[begin : begin + 200], y[begin : begin + 200])
        if begin >= n + 5000:
            np.testing.assert_allclose(learner.scale_, exact.scale_, rtol=0.15)
            assert abs(learner.mean_ - exact.mean_) < 0.15 * exact.scale_


@each("make", [ByteSVM, Standardized])
@each("jump, scale", [(50.0, 1.0), (-1e4, 100.0), (1e6, 10.0)])
def test_a_level_that_lasts_starts_the_scale_anew(make, jump, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5600, 3)).astype(np.float32)
    X[5000:, 1] = jump + scale * X[5000:, 1]
    learner = make().partial_fit(X, X[:, 0] > 0)
    np.testing.assert_allclose(learner.scale_, [1.0, scale, 1.0], rtol=0.2)
    assert (abs(learner.mean_ - [0.0, jump, 0.0]) < 0.25 * learner.scale_).all()


@each("make", [ByteSVM, Standardized])
@each("n, value", [(1, 1e18), (60, -127.0), (600, -127.0), (600, 32767.0), (-100, 65535.0)])
def test_a_dropout_is_forgotten(make, n, value):
    """n rows in a row, or a share of -n rows of 5,000."""
    X, y = Checkerboard(seed=1).read(9000)
    X = X * np.float32(3.0) + np.float32(20.0)
    clean = make().partial_fit(X[:5000], y[:5000])
    model = make().partial_fit(X[:5000], y[:5000]) if n > 0 else make()
    bad = X[5000 : 5000 + n] if n > 0 else X[:5000].copy()
    bad[0 if n > 0 else 20 :: 1 if n > 0 else -5000 // n, 0] = value
    model.partial_fit(bad, y[5000 : 5000 + n] if n > 0 else y[:5000])
    for one in (clean, model):
        one.partial_fit(X[6000:7000], y[6000:7000])
    np.testing.assert_allclose(model.scale_, clean.scale_, rtol=0.15)
    assert model.score(X[7000:], y[7000:]) > clean.score(X[7000:], y[7000:]) - 0.02
    assert model.far_out_ == (n if n > 0 else 100)


def test_a_value_that_tells_a_class_is_learned():
    """A sensor at its end whenever the machine fails"""
    X = np.random.default_rng(0).normal(size=(4000, 2)).astype(np.float32)
    y = np.arange(len(X)) // 100 % 20 == 19
    X[y, 0] = 4095.0
    for model in (ByteSVM(), Standardized(learner=FourierSVM())):
        assert model.partial_fit(X, y).predict(X)[y].mean() > 0.95


def test_a_rare_value_of_a_sparse_feature_reaches_the_learner():
    """1 in one row of 1,000, else 0: the label says the same."""
    X = np.zeros((40_000, 2), np.float32)
    X[:, 1] = np.random.default_rng(0).standard_normal(len(X))
    X[500::1000, 0] = 1.0
    y = X[:, 0] > 0
    learner = Standardized().partial_fit(X, y)
    assert learner.predict(X[30_000:])[y[30_000:]].all() and learner.score(X, y) > 0.999
    assert learner.far_out_ > 0


@each("until", [None, 60])
@each("dtype", ["float32", "float64"])
def test_twin_agrees_on_values_far_out(until, dtype):
    X, y = (np.concatenate([part] * 2) for part in raw(dtype=dtype))
    X[::17, 1] *= 1e3
    X[100:130, 3] = X[140:300:9, 3] = -127.0
    X[N + 5 :, 2] += 1e4
    X[0, 0] = X[1, 2] = X[70, 3] = X[2, 4] = 1e6
    X[:, 5] = np.arange(len(X)) == 40
    inner = StreamSVM(C=10.0, dtype=dtype)
    fast = Standardized(learner=inner, until=until, clip=4.0)
    plain = on_twin(inner).set_params(until=until, clip=4.0)
    for begin in range(0, len(X), 3):
        part = slice(begin, begin + 3)
        for learner in (fast, plain):
            learner.partial_fit(X[part], y[part], classes=[-1, 1])
        np.testing.assert_allclose(fast.mean_, plain.mean_, rtol=1e-9)
        np.testing.assert_allclose(fast.scale_, plain.scale_, rtol=1e-9, atol=1e-12)
    expected = plain.decision_function(X)
    tolerance = 1e-4 if dtype == "float32" else 1e-8
    np.testing.assert_allclose(fast.decision_function(X), expected, rtol=tolerance, atol=tolerance)
    assert fast.far_out_ == plain.far_out_ > 5


@each("name, value", [("spread", -1.0), ("mean", np.nan), ("scaled", 1.0), ("far_out", -1)])
def test_a_snapshot_no_stream_can_have_made(name, value, tmp_path):
    X, y = raw()
    learner = Standardized(learner=INNER[0]).partial_fit(X, y)
    learner.core.views[name].reshape(-1)[-1] = value
    with pytest.raises(edgesvm.CorruptModelError):
        learner.save(tmp_path / "model.esvm")
