"""When it is solved, from where, how far, and out of what."""

import numpy as np
import pytest
from each import each
from problems import assert_optimal, clouds, ring, svm

import edgesvm
from edgesvm import Linear
from edgesvm.data import Rows

ENGINES = ["compiled", "reference"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_warm_start_changes_the_way_alone(engine):
    X, y = ring(200)
    cold = svm(200, engine, tol=1e-6).fit(X, y)
    warm = svm(200, engine, tol=1e-6).fit(X, y, alpha=cold.alpha_)
    near = svm(200, engine, tol=1e-6).fit(X, y, alpha=0.97 * cold.alpha_)
    far = svm(200, engine, tol=1e-6).fit(X, y, alpha=np.full(200, 5.0))
    for model in (warm, near, far):
        np.testing.assert_allclose(model.objective_, cold.objective_, rtol=1e-8)
        np.testing.assert_allclose(model.decision_function(X), cold.decision_function(X), atol=1e-4)
        assert_optimal(model, X, y, 10.0, 1e-6)
    assert warm.n_iter_ <= 5 < cold.n_iter_
    assert near.n_iter_ < cold.n_iter_


@pytest.mark.parametrize("engine", ENGINES)
def test_a_start_out_of_the_box_is_put_into_it(engine):
    X, y = ring(100)
    wild = np.random.default_rng(0).uniform(-50, 50, 100)
    model = svm(100, engine).fit(X, y, alpha=wild)
    assert_optimal(model, X, y, 10.0, 1e-5)


@each("alpha", [np.zeros(99), np.zeros((100, 1)), np.full(100, np.nan)])
def test_a_start_that_is_none_is_refused(alpha):
    X, y = ring(100)
    model = svm(100).fit(X, y)
    before = bytes(model.arena)
    with pytest.raises(ValueError, match="alpha"):
        model.solve(alpha=alpha)
    assert bytes(model.arena) == before


@pytest.mark.filterwarnings("ignore:.*ended before it converged")
@pytest.mark.parametrize("engine", ENGINES)
@each("max_iter", [1, 7, 25])
def test_max_iter_tells(engine, max_iter):
    X, y = ring(200)
    model = svm(200, engine, max_iter=max_iter).fit(X, y)
    assert not model.converged_ and model.n_iter_ == max_iter and model.gap_ > model.tol
    assert abs((np.where(y, 1, -1) * model.alpha_).sum()) < 1e-9
    assert model.decision_function(X).shape == (200,)


@pytest.mark.filterwarnings("ignore:.*ended before it converged")
def test_progress_is_told_and_may_stop_it():
    X, y = ring(200, noise=1.5)
    told = []
    params = {"C": 1e4, "tol": 1e-7}
    model = svm(200, **params).fit(X, y, progress=lambda *now: told.append(now))
    assert [n for n, _ in told] == [1000 * (k + 1) for k in range(len(told))] and len(told) > 2
    assert told[-1][0] <= model.n_iter_ and all(gap > 0 for _, gap in told)

    def stop(n_iter, gap):
        if n_iter >= 2000:
            raise KeyboardInterrupt

    stopped = svm(200, **params).partial_fit(X, y)
    before = bytes(stopped.arena)
    with pytest.raises(KeyboardInterrupt):
        stopped.solve(progress=stop)
    assert bytes(stopped.arena) == before, "the samples are held as before, and nothing else"
    assert stopped.solve().objective_ == model.objective_


def test_a_decision_between_leaves_no_trace():
    X, y = clouds(90)
    plain, asked = svm(91), svm(91)
    for begin in range(0, 90, 9):
        part = slice(begin, begin + 9)
        plain.partial_fit(X[part], y[part])
        asked.partial_fit(X[part], y[part]).predict(X)
        asked.solve(alpha=asked.alpha_)
    last = X[-1], bool(y[-1])
    for model in (plain, asked):
        model.learn_one(*last)
    assert bytes(plain.solve().arena) == bytes(asked.solve().arena)


def test_more_rows_than_there_is_room_for():
    X, y = ring(40)
    model = svm(30)
    with pytest.raises(ValueError, match=r"40 rows .*max_samples=30"):
        model.fit(X, y)
    assert model.nbytes == 0
    model.partial_fit(X[:25], y[:25])
    before = bytes(model.arena)
    for use in (lambda: model.partial_fit(X[:6], y[:6]), lambda: model.fit(X, y)):
        with pytest.raises(ValueError, match="max_samples=30"):
            use()
        assert bytes(model.arena) == before
    model.partial_fit(X[:40], y[:40], sample_weight=np.arange(40) < 5)
    with pytest.raises(ValueError, match="max_samples"):
        model.learn_one(X[0], bool(y[0]))
    assert model.n_held_ == 30


class Chunked:
    """A source of one's own; `bad` spoils the labels of its last chunk, `value` its row 23."""

    n_features = 3

    def __init__(self, bad=None, value=None):
        self.bad, self.value, self.passes = bad, value, 0

    def chunks(self, rows):
        self.passes += 1
        X = np.linspace(0, 1, 90).reshape(30, 3)
        y = np.arange(30) % 2
        if self.value is not None:
            X[23, 1] = self.value
        for at in range(0, 30, 10):
            labels = y[at : at + 10].astype(object)
            if self.bad is not None and at == 20:
                labels[:] = self.bad
            yield Rows(X[at : at + 10], labels)


@each("bad", [2, None, float("nan")])
def test_a_source_of_bad_labels_is_refused_before_anything_is_forgotten(bad):
    model = svm(30).fit(Chunked())
    before = bytes(model.arena)
    if bad is None:
        bad = float("inf")
    with pytest.raises(ValueError, match=r"row 20 .*"):
        model.fit(Chunked(bad))
    assert bytes(model.arena) == before


@each("value", [float("nan"), float("inf"), 1e19])
def test_a_source_of_bad_rows_is_refused_before_anything_is_forgotten(value):
    """By its place in the source, not in a chunk; 1e19 squared is a number, but no kernel row's."""
    model = svm(30, kernel=Linear()).fit(Chunked())
    before = bytes(model.arena)
    with pytest.raises(ValueError, match=r"BatchSVM: row 23 \(label 1\) has a feature"):
        model.fit(Chunked(value=value))
    assert bytes(model.arena) == before


def test_saved_when_solved_and_when_not(tmp_path):
    X, y = ring(60)
    for model in (svm(60).partial_fit(X, y), svm(60).fit(X, y)):
        model.save(tmp_path / "model.esvm")
        loaded = edgesvm.load(tmp_path / "model.esvm")
        assert bytes(loaded.arena) == bytes(model.arena)
        assert loaded.decision_function(X).tolist() == model.decision_function(X).tolist()


def test_nothing_but_the_samples_and_the_answer_is_left():
    X, y = ring(100)
    model = svm(100).fit(X, y)
    views = model.core.views
    for name in (
        "gradient",
        "diagonal",
        "state",
        "spare",
        "slot",
        "owner",
        "filled",
        "used",
        "cache",
    ):
        assert not views[name].any(), name
