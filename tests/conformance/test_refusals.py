"""A refused sample is named, not learned, and leaves every byte as it was."""

import inspect

import numpy as np
import pytest
from each import each, each_of
from registry import OWN_METHODS, answer, answers
from test_stream import state

import edgesvm

pytestmark = pytest.mark.entries(*OWN_METHODS)

N = 90
BAD_VALUES = [np.nan, np.inf, -np.inf, "overflow"]


def spoil(row, bad):
    """`row` with its last value replaced by one that must be refused."""
    row = row.copy()
    # finite, but its square is not
    row[-1] = np.finfo(row.dtype).max / 2 if bad == "overflow" else bad
    return row


def learned(subject):
    return subject.learned(N)


def refuses(learner, call, *needles, error=ValueError):
    """`call` raises, the text names what was wrong, and nothing has changed."""
    before = state(learner)
    with pytest.raises(error) as caught:
        call()
    assert state(learner) == before
    for needle in needles:
        assert needle in str(caught.value)


@each_of("subject", learner=learned)
@each("bad", BAD_VALUES)
def test_values_that_are_not_finite(subject, learner, bad):
    if bad == "overflow" and not subject.entry.squares:
        pytest.skip("it takes every finite number")
    if str(bad) == "nan" and subject.entry.stands_nan:
        pytest.skip("it takes NaN")
    row = spoil(subject.stream(1)[0][0], bad)
    refuses(learner, lambda: learner.learn_one(row, 1), "NaN")
    refuses(learner, lambda: learner.partial_fit([row], [1]), "row 0", "NaN")
    refuses(learner, lambda: answer(learner, row), "NaN")
    refuses(learner, lambda: learner.predict_one(row), "NaN")
    refuses(learner, lambda: answers(learner, [row]), "row 0", "NaN")
    refuses(learner, lambda: learner.predict([row]), "row 0", "NaN")


@each_of("subject", learner=learned)
def test_a_float64_too_large_for_the_learner(subject, learner):
    row = np.zeros(subject.n_features, np.float64)
    row[0] = 1e300
    refuses(learner, lambda: learner.learn_one(row, 1), subject.dtype)


@each_of("subject", learner=learned)
@each("change", [-1, 1, 100])
def test_wrong_length(subject, learner, change):
    wrong = subject.n_features + change
    row = np.zeros(wrong, subject.dtype)
    numbers = str(wrong), str(subject.n_features)
    refuses(learner, lambda: learner.learn_one(row, 1), *numbers)
    refuses(learner, lambda: learner.partial_fit([row], [1]), *numbers)
    refuses(learner, lambda: answer(learner, row), *numbers)
    refuses(learner, lambda: learner.predict_one(row), *numbers)
    refuses(learner, lambda: learner.predict([row]), *numbers)


@each_of("subject", learner=learned)
def test_wrong_number_of_dimensions(subject, learner):
    row = np.zeros(subject.n_features, subject.dtype)
    for x in (row[0], 3.0, [row], np.zeros((1, 1, subject.n_features))):
        refuses(learner, lambda x=x: learner.learn_one(x, 1), "1D")
        refuses(learner, lambda x=x: learner.predict_one(x), "1D")
    for X in (row, 3.0, [[row]]):
        refuses(learner, lambda X=X: learner.partial_fit(X, [1]), "2D")
        refuses(learner, lambda X=X: learner.predict(X), "2D")


@each_of("subject", learner=learned)
@each("kind", ["complex", "text", "words", "dates", "None"])
def test_wrong_type(subject, learner, kind):
    row = {
        "complex": np.zeros(subject.n_features, complex),
        "text": np.full(subject.n_features, "1.0"),
        "words": np.full(subject.n_features, "warm", object),
        "dates": np.zeros(subject.n_features, "M8[s]"),
        "None": None,
    }[kind]
    wrong_use = (ValueError, TypeError)
    refuses(learner, lambda: learner.learn_one(row, 1), error=wrong_use)
    refuses(learner, lambda: learner.predict_one(row), error=wrong_use)
    refuses(learner, lambda: learner.partial_fit([row], [1]), error=wrong_use)
    refuses(learner, lambda: learner.predict([row]), error=wrong_use)


@pytest.mark.labels
@each_of("subject", learner=learned)
@each("label", [0, 2, "2", None, float("nan"), (), [1], np.array([1, -1])])
def test_unknown_label(subject, learner, label):
    if subject.entry.takes_more and isinstance(label, (int, str, tuple)):
        pytest.skip("it may be new")
    X, _ = subject.stream(1)
    wrong_use = (ValueError, TypeError)
    refuses(learner, lambda: learner.learn_one(X[0], label), error=wrong_use)
    if not isinstance(label, (list, tuple, np.ndarray)):
        refuses(learner, lambda: learner.partial_fit(X, [label]), "row 0", "-1", "1")
        refuses(learner, lambda: learner.learn_one(X[0], label), "-1", "1")


@pytest.mark.labels
@each_of("subject")
@each("label", [None, float("nan"), float("inf"), np.float32("-inf"), [1], np.array([1, -1])])
def test_what_is_no_label_is_refused_at_first_too(subject, label):
    X, y = subject.stream(N)
    learner = subject.make().allocate(subject.n_features)
    refuses(learner, lambda: learner.learn_one(X[0], label))
    column = np.empty(1, object)
    column[0] = label
    refuses(learner, lambda: learner.partial_fit(X[:1], column), "row 0")
    assert state(learner.partial_fit(X, y)) == state(subject.make().partial_fit(X, y))


@each_of("subject", learner=learned)
@each("weight", [-1.0, np.nan, np.inf, -np.inf])
def test_bad_weight(subject, learner, weight):
    X, y = subject.stream(1)
    refuses(learner, lambda: learner.partial_fit(X, y, sample_weight=[weight]), "row 0", "weight")
    refuses(learner, lambda: learner.learn_one(X[0], y[0], weight), "the sample", "weight")


@each_of("subject", learner=learned)
def test_columns_of_different_lengths(subject, learner):
    X, y = subject.stream(4)
    refuses(learner, lambda: learner.partial_fit(X, y[:3]), "y")
    refuses(learner, lambda: learner.partial_fit(X[:3], y), "y")
    refuses(learner, lambda: learner.partial_fit(X, np.stack([y, y], axis=1)), "y")
    refuses(learner, lambda: learner.partial_fit(X, None), "y")
    for weights in (np.ones(3), np.ones(5), 1.0, np.ones((4, 1))):
        refuses(
            learner, lambda w=weights: learner.partial_fit(X, y, sample_weight=w), "sample_weight"
        )


CULPRITS = ["nan", "overflow", "label", "weight", "nan and label", "label and weight"]


@each_of("subject")
@each("culprit", CULPRITS)
@each("k", [0, 1, 2, 37, N - 1])
def test_rows_before_the_refused_one_are_learned(subject, k, culprit):
    X, y = subject.stream(N)
    weights = np.ones(N)
    if "nan" in culprit:
        X[k, 0] = np.inf if subject.entry.stands_nan else np.nan
    if culprit == "overflow" and not subject.entry.squares:
        pytest.skip("it takes every finite number")
    if "overflow" in culprit:
        X[k] = spoil(X[k], "overflow")
    if "label" in culprit:
        y[k] = subject.entry.no_label
    if "weight" in culprit:
        weights[k] = -1.0
    names = subject.entry.labels
    learner = subject.make().allocate(subject.n_features, classes=names)
    with pytest.raises(ValueError, match=rf"\brow {k}\b"):
        learner.partial_fit(X, y, sample_weight=weights)
    before = subject.make().allocate(subject.n_features, classes=names)
    before.partial_fit(X[:k], y[:k])
    assert state(learner) == state(before)
    assert learner.n_seen_ == k
    rest = subject.stream(N)
    learner.partial_fit(rest[0][k:], rest[1][k:])
    whole = subject.make().partial_fit(*rest, classes=names)
    assert state(learner) == state(whole)


@pytest.mark.labels
@each_of("subject")
@each("single", [True, False])
def test_the_label_of_a_refused_sample_is_not_taken_up(subject, single):
    X, _y = subject.stream(10)
    X[3, 0] = np.nan
    learner = subject.make().partial_fit(X[:3], ["a", "a", "a"])
    with pytest.raises(ValueError, match="NaN"):
        if single:
            learner.learn_one(X[3], "b")
        else:
            learner.partial_fit(X[3:], ["b", "c", "c", "c", "c", "c", "c"])
    assert learner.classes_.tolist() == ["a"]
    learner.partial_fit(X[4:6], ["c", "a"])
    assert learner.classes_.tolist() == ["a", "c"]


TOO_MANY = "Only binary classification is supported|more than n_classes"
UNFIT_LABELS = {
    "a class too many": ([0, 1, 2, 0, 3, 4], TOO_MANY),
    "a word too many": (["a", "b", "b", "c", "d", "e"], TOO_MANY),
    "measurements": ([0.5, 1.5, 0.25, 0.5, 2.5, 0.75], "Unknown label type: continuous"),
    "no label": ([0.0, 1.0, np.nan, 0.0], "row 2 .*NaN"),
    "infinite": ([0.0, np.inf, 1.0, 0.0], "row 1 .*infinite"),
    "None": ([0, 1, 1, None], "row 3 .*None"),
}
UNFIT = {
    "no weight": ([0, 1, 1, 0], [0.0] * 4, "weight.*zero"),
    "weights too few": ([0, 1, 1, 0], [1.0] * 3, "sample_weight"),
    "no row": ([], None, "0 sample"),
}


@each_of("subject", learner=learned)
@each("case", UNFIT)
def test_fit_refuses_before_it_forgets(subject, learner, case):
    y, weights, text = UNFIT[case]
    X, _ = subject.stream(6)
    before = state(learner)
    with pytest.raises(ValueError, match=text):
        learner.fit(X[: len(y)], y, sample_weight=weights)
    assert state(learner) == before


@pytest.mark.labels
@each_of("subject", learner=learned)
@each("case", UNFIT_LABELS)
def test_fit_refuses_labels_before_it_forgets(subject, learner, case):
    y, text = UNFIT_LABELS[case]
    if subject.entry.takes_more and (text == TOO_MANY or case == "measurements"):
        pytest.skip("it takes more")
    X, _ = subject.stream(len(y))
    refuses(learner, lambda: learner.fit(X, y))
    with pytest.raises(ValueError, match=text):
        learner.fit(X, y)


@each_of("subject")
def test_a_dtype_changed_since_does_not_change_what_is_read(subject):
    """The memory is of the old dtype until the learner is fitted anew."""
    if len(subject.entry.dtypes) == 1:
        pytest.skip("it has one dtype")
    X, y = subject.stream(N)
    learner = subject.learned(N)
    inner = subject.entry.inner(learner)
    expected = answers(learner, X).tolist()
    inner.dtype = "float64" if subject.dtype == "float32" else "float32"
    assert answers(learner, X).tolist() == expected
    assert np.array([answer(learner, row) for row in X]).tolist() == expected
    learner.partial_fit(X, y)
    assert state(learner) == state(subject.make().partial_fit(X, y).partial_fit(X, y))
    assert learner.fit(X, y).arena.nbytes == learner.plan(subject.n_features).total


@pytest.mark.labels
@each_of("subject")
def test_a_label_too_many_in_the_batch_that_brings_the_last(subject):
    if subject.entry.takes_more:
        pytest.skip("it takes more")
    n = subject.entry.n_classes
    X, _y = subject.stream(n + 3)
    names = [*["a", "a", "b", "c", "d", "e"][: n + 2], "a"]
    learner = subject.make()
    with pytest.raises(ValueError, match=rf"row {n + 1} .*'{names[n + 1]}'"):
        learner.partial_fit(X, names)
    assert state(learner) == state(subject.make().partial_fit(X[: n + 1], names[: n + 1]))


FIRST_SAMPLES = {
    "infinite": lambda x: (np.full(len(x) + 2, np.inf), 1),
    "no label": lambda x: (np.ones(len(x) + 2), None),
    "text": lambda x: (np.full(len(x) + 2, "warm"), 1),
    "empty": lambda x: (np.empty(0), 1),
    "two-dimensional": lambda x: (np.ones((2, 2)), 1),
}


@each_of("subject")
@each("first", FIRST_SAMPLES)
@each("single", [True, False])
def test_a_refused_first_sample_does_not_fix_the_width(subject, first, single):
    """As if never called: the next sample may have another length and other labels."""
    X, y = subject.stream(N)
    x, label = FIRST_SAMPLES[first](X[0])
    learner = subject.make()
    with pytest.raises((ValueError, TypeError)):
        if single:
            learner.learn_one(x, label)
        else:
            learner.partial_fit([x], [label])
    with pytest.raises(edgesvm.NotFittedError):
        learner.predict(X)
    assert state(learner.partial_fit(X, y)) == state(subject.make().partial_fit(X, y))


@pytest.mark.labels
@each_of("subject", learner=learned)
def test_refused_predictions_leave_rows_before_in_out(subject, learner):
    X, _ = subject.stream(10)
    expected = learner.decision_function(X)
    X[6, 0] = np.inf
    out = np.zeros_like(expected)
    refuses(learner, lambda: learner.decision_function(X, out=out), "row 6")
    assert out[:6].tolist() == expected[:6].tolist()


def counts(entry):
    """Names of the parameters that are whole numbers, the capacity among them."""
    parameters = inspect.signature(entry.kind.__init__).parameters.items()
    whole = [name for name, parameter in parameters if type(parameter.default) is int]
    whole += [entry.capacity] if entry.sized is not entry.kind else []
    return [name for name in whole if name not in entry.unread]


@each_of("subject")
@each("value", [-1, 2.5, np.nan, np.inf, "3", None, 2**41])
def test_a_count_out_of_range_or_not_whole_is_named(subject, value):
    names = counts(subject.entry)
    assert subject.entry.capacity in ["", *names]
    for name in names:
        with pytest.raises((ValueError, TypeError), match=rf"{name}={value!r}"):
            subject.make(**{name: value}).plan(3)


@each_of("subject")
def test_a_parameter_that_is_not_one(subject):
    with pytest.raises(ValueError, match="no parameter 'sigma'"):
        subject.make().set_params(sigma=1)
    with pytest.raises(TypeError):
        subject.make(sigma=1)


@each_of("subject")
@each(
    "name, value",
    [("dtype", "int32"), ("dtype", None), *(("", v) for v in (0.0, -1.0, np.nan, np.inf, "1"))],
)
def test_a_parameter_out_of_range_is_named(subject, name, value):
    name = name or subject.entry.tuned
    if not name:
        pytest.skip("it has no number among its parameters")
    X, y = subject.stream(4)
    learner = subject.make(**{name: value})
    for use in (
        lambda: learner.plan(3),
        lambda: learner.learn_one(X[0], 1),
        lambda: learner.fit(X, y),
    ):
        with pytest.raises((ValueError, TypeError), match=rf"{name}={value!r}"):
            use()
    assert learner.nbytes == 0
