"""The contract of the regressors that have no intervals; of the others it is that of all learners,
and what test_targets.py adds."""

import contextlib
import copy
import pickle

import numpy as np
import pytest
from allocations import hook_calls
from each import each
from registry import DTYPES, REGISTERED, REGRESSORS, on

import edgesvm
from edgesvm.contract.registry import LEARNERS
from edgesvm.errors import CorruptModelError, SampleRefused

N, D = 150, 4
NAMES = list(REGRESSORS)
of_each = each("name, dtype", [(name, dtype) for name in NAMES for dtype in DTYPES])
SETUP = """
import numpy as np
from test_regressors import NAMES, make, stream

cases = {}
for name in NAMES:
    for dtype in ("float32", "float64"):
        X, y = stream(dtype, 600)
        learned = make(name, dtype).partial_fit(X, y)
        learning = make(name, dtype).allocate(X.shape[1])
        cases[f"{name} {dtype} learn_one"] = learning.learn_one, (list(X), y.tolist())
        cases[f"{name} {dtype} predict_one"] = learned.predict_one, (list(X),)
"""


def make(name, dtype="float32", engine="compiled", **changes):
    return on(engine, LEARNERS[name])(**{"dtype": dtype, **REGRESSORS[name], **changes})


def stream(dtype="float32", n=N, seed=1):
    rng = np.random.default_rng([seed, n])
    X = rng.standard_normal((n, D))
    y = 20 + 3 * np.sin(X[:, 0]) + X[:, 1] + np.sin(np.arange(n) / 40) + rng.standard_normal(n) / 4
    return X.astype(dtype), y


def test_every_regressor_is_tried():
    others = {entry.kind.__name__ for entry in REGISTERED if entry.regresses}
    assert {name for name, kind in LEARNERS.items() if kind.regresses is True} == others | set(
        NAMES
    )


@of_each
def test_one_at_a_time_and_any_cutting_equal_a_batch(name, dtype):
    X, y = stream(dtype)
    weights = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 3.0], N)
    before = X.copy(), y.copy()
    whole = make(name, dtype).partial_fit(X, y, sample_weight=weights)
    single = make(name, dtype).allocate(D)
    for x, target, weight in zip(X, y, weights, strict=True):
        single.learn_one(x, target, weight)
    parts = make(name, dtype)
    for cut in np.split(np.arange(N), [1, 17, 60, 61, 149]):
        parts.partial_fit(X[cut], y[cut], sample_weight=weights[cut])
    assert bytes(whole.arena) == bytes(single.arena) == bytes(parts.arena)
    assert whole.n_seen_ == N and whole.nbytes == whole.plan(D).total
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


@of_each
def test_what_is_refused_leaves_no_trace(name, dtype):
    X, y = stream(dtype)
    model = make(name, dtype).partial_fit(X[:100], y[:100])
    before = bytes(model.arena)
    bad = X[100].copy()
    bad[2] = np.nan
    for x, target, weight in (
        *((bad, 1.0, 1.0), (X[100], np.nan, 1.0), (X[100], -np.inf, 1.0), (X[100], 1e150, 1.0)),
        *((X[100, :3], 1.0, 1.0), (X[100], 1.0, -1.0)),
    ):
        with pytest.raises(ValueError):
            model.learn_one(x, target, weight)
    with pytest.raises(TypeError):
        model.learn_one(X[100], "warm")
    with pytest.raises(ValueError):
        model.predict_one(bad)
    assert bytes(model.arena) == before


@of_each
def test_a_prediction_changes_nothing_and_is_one_number(name, dtype):
    X, y = stream(dtype)
    model = make(name, dtype).partial_fit(X, y)
    before = bytes(model.arena)
    predicted = model.predict(X)
    assert predicted.shape == (N,) and predicted.dtype == np.float64
    assert [model.predict_one(x) for x in X] == predicted.tolist()
    np.testing.assert_array_equal(model.predict(X, n_jobs=2), predicted)
    assert bytes(model.arena) == before
    for absent in ("decision_function", "classes_"):
        assert not hasattr(model, absent)
    with pytest.raises(AttributeError, match="numbers"):
        model.predict_with_score(X[0])
    assert 0.0 < model.score(X, y) < 1.0


@of_each
def test_saved_and_continued_equals_never_stopped(name, dtype, tmp_path):
    X, y = stream(dtype)
    model = make(name, dtype).partial_fit(X[:90], y[:90])
    model.save(tmp_path / "model")
    others = [edgesvm.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))]
    for one in (model, *others, copy.deepcopy(model)):
        one.partial_fit(X[90:], y[90:])
    for other in others:
        assert bytes(other.arena) == bytes(model.arena)


@of_each
def test_a_spoiled_snapshot_is_refused_or_serves(name, dtype, tmp_path):
    X, y = stream(dtype)
    model = make(name, dtype).partial_fit(X, y)
    sound = bytes(model.arena)
    rng = np.random.default_rng(3)
    for _ in range(300):
        model.core.arena.memory[:] = np.frombuffer(sound, np.uint8)
        for place in rng.integers(len(sound), size=rng.integers(1, 9)):
            model.core.arena.memory[place] = rng.integers(256)
        try:
            model.core.check()
        except CorruptModelError:
            continue
        with contextlib.suppress(SampleRefused):
            model.predict(X[:10])
            model.partial_fit(X[:10], y[:10])


@of_each
def test_sparse_rows_give_the_bits_of_dense_ones(name, dtype):
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
    X, y = stream(dtype)
    X[X < 0.3] = 0.0
    dense = make(name, dtype).partial_fit(X, y)
    other = make(name, dtype).partial_fit(sparse.csr_matrix(X), y)
    assert bytes(other.arena) == bytes(dense.arena)
    np.testing.assert_array_equal(other.predict(sparse.csr_matrix(X)), dense.predict(X))


@of_each
def test_the_compiled_core_is_its_numpy_twin(name, dtype):
    X, y = stream(dtype)
    core = make(name, dtype).partial_fit(X, y)
    twin = make(name, dtype, "reference").partial_fit(X, y)
    assert (core.n_seen_, core.n_updates_) == (twin.n_seen_, twin.n_updates_)
    rtol = 2e-3 if dtype == "float32" else 1e-9
    np.testing.assert_allclose(core.predict(X), twin.predict(X), rtol)


@each("name", NAMES)
def test_fit_forgets_and_a_clone_is_new(name):
    X, y = stream()
    once = make(name).fit(X, y)
    again = make(name).partial_fit(X[:20], y[:20]).fit(X, y)
    np.testing.assert_allclose(again.predict(X), once.predict(X), rtol=1e-9)
    assert not once.like_new().is_fitted


def test_no_allocator_call_per_sample():
    measured = hook_calls(SETUP, 2000)
    assert len(measured) == 4 * len(NAMES)
    assert {case: calls.excess for case, calls in measured.items() if any(calls.excess)} == {}
