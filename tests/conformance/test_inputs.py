"""Inputs are read and left alone; outputs are the caller's; other layouts mean the same."""

import contextlib

import numpy as np
import pytest
from each import each, each_of
from registry import OWN_METHODS, answer, answers, decides
from test_stream import state

from edgesvm.errors import SampleRefused

pytestmark = pytest.mark.entries(*OWN_METHODS)

N = 120


@each_of("subject")
def test_inputs_are_untouched_and_may_be_read_only(subject):
    X, y = subject.stream(N)
    weights = np.linspace(0.5, 2.0, N)
    kept = X.copy(), y.copy(), weights.copy()
    for array in (X, y, weights):
        array.flags.writeable = False
    learner = subject.make().partial_fit(X, y, sample_weight=weights)
    learner.learn_one(X[0], y[0])
    answer(learner, X[0])
    learner.predict_one(X[0])
    learner.score(X, y, sample_weight=weights)
    learner.fit(X, y, sample_weight=weights)
    for array, copy in zip((X, y, weights), kept, strict=True):
        assert array.tobytes() == copy.tobytes()


@each_of("subject")
def test_learned_samples_are_not_referred_to(subject):
    X, y = subject.stream(N)
    learner = subject.make().partial_fit(X, y)
    for row, label in zip(X[:20], y, strict=False):
        learner.learn_one(row, label)
    before = state(learner)
    X[:] = 1e6
    y[:] = 7
    assert state(learner) == before


@each_of("subject")
def test_outputs_are_the_callers(subject):
    X, _ = subject.stream(N)
    learner = subject.learned()
    before = state(learner)
    decisions, labels = decides(learner)(X), learner.predict(X)
    expected = decisions.copy(), labels.copy()
    learner.get_params()[subject.entry.tuned] = -1.0
    again = decides(learner)(X)
    assert not np.shares_memory(decisions, again)
    assert not np.shares_memory(decisions, learner.arena.memory)
    decisions[:], labels[:] = np.nan, 9
    assert state(learner) == before
    assert decides(learner)(X).tolist() == expected[0].tolist()
    assert learner.predict(X).tolist() == expected[1].tolist()


@pytest.mark.labels
@each_of("subject")
def test_classes_are_the_callers(subject):
    learner = subject.learned()
    before = state(learner)
    learner.classes_[:] = 9
    assert state(learner) == before


@pytest.mark.labels
@each_of("subject")
def test_decisions_into_the_callers_array(subject):
    X, _ = subject.stream(N)
    learner = subject.learned()
    out = np.full_like(learner.decision_function(X), np.nan)
    assert learner.decision_function(X, out=out) is out
    assert out.tolist() == learner.decision_function(X).tolist()


@pytest.mark.labels
@each_of("subject")
@each(
    "out",
    [np.empty(N - 1), np.empty((N, 1)), np.empty(N, np.float32), np.empty(2 * N)[::2], [0.0] * N],
    ids=["short", "two-dimensional", "float32", "strided", "list"],
)
def test_an_unfit_out_is_refused(subject, out):
    X, model = subject.stream(N)[0], subject.learned()
    read_only = np.zeros_like(model.decision_function(X))
    read_only.flags.writeable = False
    for refused in (out, read_only):
        with pytest.raises((ValueError, TypeError), match="out"):
            model.decision_function(X, out=refused)
    assert not read_only.any()


def unaligned(X):
    raw = np.zeros(X.nbytes + 1, np.uint8)
    view = raw[1:].view(X.dtype).reshape(X.shape)
    view[:] = X
    return view


LAYOUTS = {
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": lambda X: X[:, ::-1].copy()[:, ::-1],
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
    "list": lambda X: X.tolist(),
    "float64": lambda X: X.astype(np.float64),
    "object": lambda X: X.astype(object),
    "unaligned": unaligned,
    "subclass": lambda X: X.view(type("Subclass", (np.ndarray,), {})),
}


@each_of("subject")
@each("layout", LAYOUTS)
def test_layout_and_type_do_not_matter(subject, layout):
    X, y = subject.stream(N)
    other = LAYOUTS[layout](X)
    plain = subject.make().partial_fit(X, y)
    learner = subject.make().partial_fit(other, y)
    assert state(learner) == state(plain)
    assert answers(learner, other).tolist() == answers(plain, X).tolist()
    single = subject.make()
    for row, label in zip(other, y, strict=True):
        single.learn_one(row, label)
    assert state(single) == state(plain)
    decisions = np.array([answer(single, row) for row in other])
    assert decisions.tolist() == answers(plain, X).tolist()


@each_of("subject")
@each("dtype", [np.int8, np.uint16, np.int64, np.bool_, np.float16])
def test_other_number_types_are_converted(subject, dtype):
    X = np.random.default_rng(0).integers(0, 2, (N, subject.n_features)).astype(dtype)
    y = subject.stream(N)[1]
    learner = subject.make().partial_fit(X, y)
    assert state(learner) == state(subject.make().partial_fit(X.astype(subject.dtype), y))


class NAType:
    """As pandas' NA: no comparison has an answer."""

    def __eq__(self, other):
        return self

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")

    __hash__ = None


@each_of("subject")
def test_what_is_missing_is_nan_as_a_feature_and_no_label(subject):
    X, y = subject.stream(N)
    marked = X.astype(object)
    marked[3, 1] = NAType()
    as_nan = X.copy()
    as_nan[3, 1] = np.nan
    learned, y_marked = [], np.asarray(y).astype(object)
    for given in (as_nan, marked, np.ma.masked_array(X, np.isnan(as_nan))):
        learner = subject.make().partial_fit(X, y)
        with contextlib.suppress(SampleRefused):
            learner.partial_fit(given, y)
        learned.append(state(learner))
    assert learned[0] == learned[1] == learned[2]
    y_marked[3] = NAType()
    for labels in (y_marked, np.ma.masked_array(y, np.arange(N) == 3)):
        with pytest.raises(ValueError, match="row 3 "):
            subject.make().partial_fit(X, labels)
    learner = subject.make().partial_fit(X, y)
    for missing in (NAType(), NAType() if subject.entry.regresses else np.ma.masked):
        with pytest.raises((ValueError, TypeError), match=r"target|label"):
            learner.learn_one(X[0], missing)
        assert state(learner) == state(subject.make().partial_fit(X, y))


@pytest.mark.labels
@each_of("subject")
def test_a_date_that_python_does_not_have_is_no_label(subject):
    X, _ = subject.stream(N)
    dates = np.array(["2024-01-01", "2024-02-01"], "datetime64[ns]")[np.arange(N) % 2]
    with pytest.raises(ValueError, match=r"row 0 .*datetime64"):
        subject.make().partial_fit(X, dates)
    with pytest.raises(SampleRefused, match="datetime64"):
        subject.make().learn_one(X[0], dates[0])
