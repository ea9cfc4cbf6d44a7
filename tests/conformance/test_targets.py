"""Regressors: which targets are refused, intervals and forecasts, late targets, odd scales."""

import pickle

import numpy as np
import pytest
from each import each, each_of
from registry import OWN_METHODS, answers
from test_refusals import refuses
from test_stream import state
from test_twin import whole_numbers

import edgesvm
from edgesvm.learners.fourier.constants import SCORED_FROM
from edgesvm.learners.wrapper import found_within

pytestmark = [pytest.mark.entries(*OWN_METHODS), pytest.mark.targets]

N = 150
BAD = [np.nan, np.inf, -np.inf, 1.1e100, -1e300, 10**400, None, "1.5", "warm", b"1", 1j, [1.0, 2.0]]


def as_column(*targets):
    column = np.empty(len(targets), object)
    column[:] = targets
    return column


@each_of("subject")
@each("bad", BAD)
def test_what_is_no_target_is_refused_by_name_and_leaves_no_trace(subject, bad):
    X, y = subject.stream(N)
    wrong_use = (ValueError, TypeError)
    for learner in (subject.learned(N), subject.make().allocate(subject.n_features)):
        refuses(learner, lambda m=learner: m.learn_one(X[0], bad), "target", error=wrong_use)
        refuses(learner, lambda m=learner: m.partial_fit(X[:1], as_column(bad)), "row 0")
        rows = as_column(*y[:3], bad)
        if isinstance(bad, float):
            continue  # the rows before it are learned
        if bad is not None:
            for learn in (learner.partial_fit, learner.fit):
                refuses(learner, lambda f=learn, y=rows: f(X[:4], y), "row 3", "target")
    expected = subject.make().partial_fit(X, y)
    assert state(learner.partial_fit(X, y)) == state(expected)


@each_of("subject")
@each("bad", [np.nan, np.inf, -1.1e100, None])
def test_fit_refuses_a_missing_target_before_it_forgets(subject, bad):
    X, y = subject.stream(4)
    learner = subject.learned(N)
    refuses(learner, lambda: learner.fit(X, as_column(*y[:2], bad, y[3])), "row 2")
    refuses(learner, lambda: learner.score(X, as_column(*y[:2], bad, y[3])), "row 2")


@each_of("subject")
def test_columns_of_targets_of_any_type(subject):
    X, y = subject.stream(N)
    y = np.round(y)
    plain = subject.make().partial_fit(X, y)
    columns = [
        y.tolist(),
        y.astype(np.int16),
        y.astype(">f8"),
        y.astype(object),
        np.repeat(y, 2)[::2],
    ]
    columns += [y.astype(np.float32), [int(of) for of in y], [np.float32(of) for of in y]]
    for column in columns:
        assert state(subject.make().partial_fit(X, column)) == state(plain)
    single = subject.make()
    for i, row in enumerate(X):
        single.learn_one(row, columns[i % len(columns)][i])
    assert state(single) == state(plain)


@each_of("subject")
def test_a_regressor_has_no_classes(subject):
    learner, (X, y) = subject.learned(), subject.stream(3)
    for name in ("decision_function", "classes_", "predict_proba"):
        assert not hasattr(learner, name)
    with pytest.raises(AttributeError, match="predicts numbers"):
        learner.predict_with_score(X[0])
    refuses(learner, lambda: learner.partial_fit(X, y, classes=[0, 1]), "classes")
    with pytest.raises(ValueError, match=r"classes=\[0, 1\]: a regressor has none"):
        subject.make().allocate(subject.n_features, classes=[0, 1])


@each_of("subject")
def test_a_score_is_the_share_of_the_variance_that_is_explained(subject):
    X, y = subject.stream(600, seed=3)
    learner = subject.make().partial_fit(X[:400], y[:400])
    X, y = X[400:], y[400:]
    weights = np.linspace(0.0, 2.0, 200)
    for given, w in ((None, np.ones(200)), (weights, weights)):
        rest = w @ (y - learner.predict(X)) ** 2
        expected = 1 - rest / (w @ (y - np.average(y, weights=w)) ** 2)
        assert learner.score(X, y, sample_weight=given) == pytest.approx(expected)


@pytest.mark.forecasts
@each_of("subject")
@each("spike", [1e7, -1e7, 1e30, 9e99])
def test_a_spike_does_not_spoil_the_model(subject, spike):
    X, y = subject.stream(700)
    learner = subject.make().partial_fit(X[:500], y[:500])
    before, far = learner.score(X[500:], y[500:]), found_within(learner, "far_targets_")
    learner.learn_one(X[0], spike)
    # 67 coefficients of 500 rows feel one sample more than others do, until the next ones
    least = before - (0.25 if subject.entry.name == "FourierRLS-orthogonal" else 0.2)
    assert learner.score(X[500:], y[500:]) > least
    assert found_within(learner, "far_targets_") == far + 1
    learner.partial_fit(X[500:600], y[500:600])
    assert learner.score(X[600:], y[600:]) > before - 0.2
    ends = learner.predict_interval(X[600:])
    assert np.median(ends[:, 1] - ends[:, 0]) < 30


# -- scales ----------------------------------------------------------------------------------------


@pytest.mark.forecasts
@each_of("subject")
@each("scale", [5e-324, 1e-308, 1e-162, 1e-154, 1e-30, 1.0, 1e30, 1e98])
def test_targets_of_any_scale_are_learned_and_loaded(subject, scale, tmp_path):
    X, y = subject.stream(N)
    learner = subject.make().partial_fit(X, (y - 20.0) * scale)
    assert np.isfinite(answers(learner, X)).all()
    learner.save(tmp_path / "model")
    loaded = edgesvm.load(tmp_path / "model")
    assert state(loaded) == state(learner)
    assert np.isfinite(answers(loaded.partial_fit(X, y), X)).all()
    assert scale < 1e-150 or learner.score(X, (y - 20.0) * scale) > 0.3


@pytest.mark.forecasts
@each_of("subject")
@each("power", [-200, 10, 300])
def test_a_target_in_another_unit_is_predicted_in_it(subject, power):
    """The unit is a power of two, so not a bit is lost."""
    X, y = subject.stream(N)
    plain = answers(subject.make().partial_fit(X, y), X)
    scaled = answers(subject.make().partial_fit(X, y * 2.0**power), X)
    assert (scaled / 2.0**power).tolist() == plain.tolist()


@each_of("subject")
@each("value", [0.0, -3.5, 1e90])
def test_targets_that_do_not_vary(subject, value):
    X, _ = subject.stream(N)
    learner = subject.make().partial_fit(X, np.full(N, value))
    # any value within its tube is an optimum of the exact learner
    free = 1.000001 * learner.epsilon if "Decremental" in subject.entry.name else 0.0
    assert np.abs(learner.predict(X) - value).max() <= free
    assert np.isfinite(answers(learner, X)).all()


# -- intervals -------------------------------------------------------------------------------------


def drifting(subject, n):
    """A stream whose function, level and noise change under way."""
    X, y = subject.stream(n)
    t = np.linspace(0.0, 1.0, n)
    noise = np.random.default_rng(7).standard_normal(n)
    return X, y + 10.0 * t + 4.0 * np.sin(9.0 * t) * X[:, 1] + (0.5 + 2.0 * t) * noise


@pytest.mark.forecasts
@each_of("subject")
@each("asked", [0.5, 0.8, 0.95])
def test_coverage_is_as_asked_on_a_stream_that_drifts(subject, asked):
    """Each answer's own interval is counted here too, before its sample is learned."""
    n, skipped = 3000, 200
    X, y = drifting(subject, n)
    learner, hits = subject.make(coverage=asked).partial_fit(X[:1], y[:1]), []
    for x, target in zip(X[1:], y[1:].tolist(), strict=True):
        low, high = learner.predict_interval_one(x)
        _, least, most = learner.forecast_one(x)
        hits.append((low <= target <= high, least <= target <= most))
        learner.learn_one(x, target)
    assert np.abs(np.mean(hits[skipped:], axis=0) - asked).max() < 0.03
    counted = np.mean(hits[SCORED_FROM - 1 :], axis=0)[1]
    assert learner.coverage_ == pytest.approx(counted, abs=0.01)  # a scale has the sample in it
    assert learner.n_scored_ == n - SCORED_FROM


@pytest.mark.forecasts
@each_of("subject")
@each("asked", [0.1, 0.3, 1 / 3, 0.9, 0.95, 0.999])
def test_the_coverage_that_was_asked_for_is_given_and_no_other(subject, asked):
    X, y = subject.stream(N)
    learner = subject.make(coverage=asked).partial_fit(X, y)
    assert learner.coverage_asked == pytest.approx(asked)
    ends = learner.predict_interval(X, coverage=asked)
    assert ends.tolist() == learner.predict_interval(X).tolist()
    assert (ends[:, 0] <= ends[:, 1]).all()
    with pytest.raises(ValueError, match="this learner has tracked"):
        learner.predict_interval(X, coverage=0.5)


@pytest.mark.forecasts
@each_of("subject")
def test_what_predictions_need_is_said_where_nothing_is_learned(subject):
    X, _ = subject.stream(3)
    for learner in (subject.make(), subject.make().allocate(subject.n_features)):
        for ask in (
            lambda m=learner: m.predict_interval(X),
            lambda m=learner: m.predict_interval_one(X[0]),
            lambda m=learner: m.forecast_one(X[0]),
            lambda m=learner: m.predict_one(X[0]),
        ):
            with pytest.raises(edgesvm.NotFittedError, match="learn"):
                ask()


# -- late targets ----------------------------------------------------------------------------------

DELAY = 3


def learn_late(learner, X, y, asked, delay=DELAY):
    """Live through a stream whose targets come late; what `asked` said of each sample it came."""
    said = [None]
    learner.learn_one(X[0], y[0])
    for i in range(1, len(X)):
        said.append(asked.forecast_one(X[i]))
        if i > delay:
            at = i - delay
            learner.learn_late_one(X[at], y[at], said[at])
    return said


@pytest.mark.forecasts
@each_of("subject")
def test_late_targets_are_measured_by_what_was_issued(subject):
    X, y = subject.stream(N)
    y = y.tolist()
    learner = subject.make(label_delay=DELAY).allocate(subject.n_features)
    said = learn_late(learner, X, y, learner)
    learned = range(1, N - DELAY)
    hits = [said[i][1] <= y[i] <= said[i][2] for i in learned][SCORED_FROM - 1 :]
    assert learner.n_scored_ == len(hits)
    assert learner.coverage_ == pytest.approx(np.mean(hits))
    assert learner.forecast_one(X[0]) == (
        learner.predict_one(X[0]),
        *learner.predict_interval_one(X[0]),
    )


@pytest.mark.forecasts
@each_of("subject")
def test_the_twin_agrees_on_late_targets(subject):
    X, y = subject.stream(N)
    rtol = subject.entry.twin_rtol[subject.dtype]
    fast = subject.make(label_delay=DELAY).allocate(subject.n_features)
    plain = subject.entry.make(subject.dtype, "reference", label_delay=DELAY)
    said = learn_late(fast, X, y.tolist(), fast)
    plain.partial_fit(X[:1], y[:1])
    for i in range(1, N - DELAY):
        plain.learn_late_one(X[i], y[i], said[i])
    expected, found = answers(plain, X), answers(fast, X)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * np.abs(expected).max())
    assert whole_numbers(fast) == whole_numbers(plain)


@pytest.mark.forecasts
@each_of("subject")
def test_a_late_target_of_which_nothing_was_said_is_one_in_time(subject):
    X, y = subject.stream(N)
    learner = subject.make()
    for row, target in zip(X, y, strict=True):
        assert type(learner.learn_late_one(row, target, None)) is bool
    assert state(learner) == state(subject.make().partial_fit(X, y))


@pytest.mark.forecasts
@each_of("subject")
@each(
    "issued",
    [(1.0, 2.0), (1.0, 2.0, 3.0, 4.0), (np.nan, 1.0, 2.0), (1.0, -np.inf, 2.0), 5.0, "abc"],
)
def test_what_cannot_have_been_issued_is_refused_and_forgotten(subject, issued):
    X, y = subject.stream(N + 1)
    learner = subject.make().partial_fit(X[:N], y[:N])
    refuses(learner, lambda: learner.learn_late_one(X[N], y[N], issued), "issued")
    refuses(learner, lambda: learner.learn_late_one(X[N], np.nan, (1.0, 0.0, 2.0)), "target")
    other = subject.make().partial_fit(X[:N], y[:N])
    learner.learn_one(X[N], y[N])
    assert state(learner) == state(other.partial_fit(X[N:], y[N:]))


@pytest.mark.forecasts
@each_of("subject")
def test_a_late_stream_saved_and_continued_equals_one_never_stopped(subject):
    X, y = subject.stream(N)
    whole, parts = (subject.make(label_delay=DELAY).partial_fit(X[:9], y[:9]) for _ in range(2))
    for i in range(9, N):
        said = whole.forecast_one(X[i])
        assert parts.forecast_one(X[i]) == said
        whole.learn_late_one(X[i], y[i], said, 2.0)
        parts = pickle.loads(pickle.dumps(parts))
        parts.learn_late_one(X[i], y[i], said, weight=2.0)
    assert state(parts) == state(whole)
