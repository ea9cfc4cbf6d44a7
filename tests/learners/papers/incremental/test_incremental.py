"""IncrementalSVM and WindowedSVM: which samples a scheme keeps, what a cycle leaves, what is given
up, and which model of a window answers."""

from itertools import pairwise

import numpy as np
from each import each

from edgesvm import (
    RBF,
    BatchSVM,
    IncrementalSVM,
    WindowedSVM,
)

SCHEMES = ["error_driven", "fixed_partition", "exceeding_margin", "exceeding_margin_errors"]


def clouds(n, seed=0, apart=1.0, noise=0.0):
    """Two round clouds in the plane, labels -1 and 1, some of them switched."""
    rng = np.random.default_rng([seed, n])
    y = np.where(rng.random(n) < 0.5, -1, 1)
    X = rng.standard_normal((n, 2)) + apart * y[:, None]
    return X, np.where(rng.random(n) < noise, -y, y)


def board(n, seed=0):
    """A board of 4 by 4 squares, no noise."""
    X = 4.0 * np.random.default_rng([seed, n]).random((n, 2))
    return X, np.where(np.floor(X).astype(int).sum(axis=1) % 2 == 0, -1, 1)


def made(kind, **params):
    return kind(**{"kernel": RBF(0.5), "C": 5.0, "dtype": "float64", "tol": 1e-6, **params})


def incremental(**params):
    return made(IncrementalSVM, **params)


def windowed(**params):
    return made(WindowedSVM, **params)


def model(learner):
    """Support vectors, coefficients and intercept, to be compared."""
    return learner.support_vectors_, learner.dual_coef_[0], learner.intercept_[0]


def assert_same_model(a, b, atol=1e-9):
    for found, expected in zip(model(a), model(b), strict=True):
        np.testing.assert_allclose(found, expected, atol=atol)


KEEPS = {  # by the paper's definitions, of y f
    "error_driven": lambda yf: yf <= 0,
    "fixed_partition": lambda yf: yf > -np.inf,
    "exceeding_margin": lambda yf: abs(yf) <= 1,
    "exceeding_margin_errors": lambda yf: yf <= 1,
}


@each("scheme", SCHEMES)
def test_which_samples_join_the_batch(scheme):
    X, y = clouds(300, noise=0.1)
    learner = incremental(scheme=scheme, batch_size=40, max_vectors=200)
    for k, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        first = k < 40
        margin = label * learner.decision_one(x) if k else 0.0
        kept = learner.learn_one(x, label)
        assert kept == (first or KEEPS[scheme](margin)), (k, margin)
    assert learner.n_updates_ < 300 or scheme == "fixed_partition"
    assert learner.n_updates_ == 40 * learner.n_cycles_ + learner.n_waiting_


def joined(X, y, **params):
    """Whether each sample joined a batch, and y f of the model of the moment; the first batch, of
    50, is stored whole."""
    learner = incremental(batch_size=50, max_vectors=200, **params)
    margins, kept = [], []
    for x, label in zip(X, y.tolist(), strict=True):
        margins.append(label * learner.decision_one(x) if learner.is_fitted else 0.0)
        kept.append(learner.learn_one(x, label))
    return np.array(kept[50:]), np.array(margins[50:])


def test_the_active_scheme_keeps_a_share_of_either_kind():
    X, y = clouds(1000, apart=0.5)
    kept, margins = joined(X, y, scheme="active", errors_kept=0.75, correct_kept=0.25)
    for wrong, share in ((True, 0.75), (False, 0.25)):
        of_kind = kept[(margins <= 0) == wrong]
        deviation = np.sqrt(share * (1 - share) / len(of_kind))
        assert len(of_kind) > 200 and abs(of_kind.mean() - share) < 4 * deviation


@each("errors, correct, scheme", [(1, 0, "error_driven"), (1, 1, "fixed_partition")])
def test_the_active_scheme_between_two_of_the_paper(errors, correct, scheme):
    X, y = clouds(300, apart=0.5)
    active = joined(X, y, scheme="active", errors_kept=errors, correct_kept=correct)
    for found, expected in zip(active, joined(X, y, scheme=scheme), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_cycle_is_the_svm_of_support_vectors_and_batch():
    """The scheme of the paper written out with BatchSVM."""
    X, y = clouds(200, noise=0.05)
    learner = incremental(batch_size=50, max_vectors=100)
    held_X, held_y = np.empty((0, 2)), np.empty(0, int)
    for begin in range(0, 200, 50):
        part = slice(begin, begin + 50)
        learner.partial_fit(X[part], y[part])
        together = np.vstack([held_X, X[part]]), np.concatenate([held_y, y[part]])
        batch = BatchSVM(max_samples=150, kernel=RBF(0.5), C=5.0, dtype="float64", tol=1e-6)
        batch.fit(*together)
        np.testing.assert_allclose(
            learner.decision_function(X), batch.decision_function(X), atol=1e-4
        )
        np.testing.assert_array_equal(learner.support_vectors_, batch.support_vectors_)
        held_X, held_y = (rows[batch.support_] for rows in together)
    assert learner.n_cycles_ == 4 and learner.n_given_up_ == 0 and learner.converged_


def test_weights_are_bounds_and_stay_with_the_vectors():
    X, y = clouds(80, noise=0.2)
    weights = np.random.default_rng(0).choice([0.25, 1.0, 4.0], 80)
    learner = incremental(batch_size=40, C=2.0)
    learner.partial_fit(X, y, sample_weight=weights)
    bounds = {tuple(x): 2.0 * w for x, w in zip(X, weights, strict=True)}
    vectors, coefficients, _ = model(learner)
    shares = [abs(c) / bounds[tuple(x)] for x, c in zip(vectors, coefficients, strict=True)]
    assert max(shares) <= 1 and sum(share == 1 for share in shares) > 5
    assert len({c for c in np.abs(coefficients) if c in (0.5, 2.0, 8.0)}) == 3


def test_there_is_a_model_before_the_first_cycle():
    """At each doubling the batch so far is solved, and all of it stays for the first cycle."""
    X, y = clouds(64, apart=1.5)
    y[:2] = -1, 1
    learner = incremental(batch_size=64)
    for old, n in pairwise((0, 2, 4, 8, 16, 32)):
        learner.partial_fit(X[old:n], y[old:n])
        batch = BatchSVM(max_samples=64, kernel=RBF(0.5), C=5.0, dtype="float64", tol=1e-6)
        batch.fit(X[:n], y[:n])
        np.testing.assert_allclose(
            learner.decision_function(X), batch.decision_function(X), atol=1e-4
        )
        assert learner.n_cycles_ == 0 and learner.n_waiting_ == n
    learner.partial_fit(X[32:], y[32:])
    batch = BatchSVM(max_samples=64, kernel=RBF(0.5), C=5.0, dtype="float64", tol=1e-6).fit(X, y)
    np.testing.assert_allclose(learner.decision_function(X), batch.decision_function(X), atol=1e-4)
    assert learner.n_cycles_ == 1 and learner.n_waiting_ == 0


def test_update_learns_what_waits():
    X, y = clouds(130, noise=0.1)
    learner = incremental(batch_size=50).partial_fit(X, y)
    assert learner.n_waiting_ == 30
    before = learner.decision_function(X)
    learner.update()
    assert learner.n_waiting_ == 0 and learner.n_cycles_ == 3
    assert not np.allclose(learner.decision_function(X), before, atol=1e-3)
    state = bytes(learner.arena)
    learner.update()
    assert bytes(learner.arena) == state
    early = incremental(batch_size=50).partial_fit(X[:9], y[:9]).update()
    assert early.n_cycles_ == 1 and early.n_waiting_ == 0


@each("V", [12, 300])
def test_the_gradient_that_stays_is_that_of_the_model(V):
    """c - K beta of the support vectors, after 130 cycles, where some had to go and where not."""
    X, y = clouds(520, noise=0.05)
    learner = incremental(batch_size=4, max_vectors=V).partial_fit(X, y)
    assert learner.n_cycles_ == 130 and (learner.n_given_up_ > 0) == (V == 12)
    vectors, coefficients, intercept = model(learner)
    n, gradient = len(vectors), learner.core.views["gradient"]
    sign = np.sign(coefficients)
    expected = learner.core.labels.sign * (sign - (learner.decision_function(vectors) - intercept))
    np.testing.assert_allclose(gradient[:n], expected, atol=1e-5)
    assert not gradient[n:].any()


@each("scheme", SCHEMES)
def test_a_stream_that_begins_with_one_class(scheme):
    """Nothing of it is lost that fits; with the second class there is a model."""
    X, y = clouds(120, apart=2.0)
    late = np.concatenate([np.flatnonzero(y > 0), np.flatnonzero(y < 0)])
    n_first = int((y > 0).sum())
    learner = incremental(scheme=scheme, batch_size=10, max_vectors=25)
    learner.partial_fit(X[late[:n_first]], y[late[:n_first]], classes=[-1, 1])
    assert set(learner.predict(X)) == {1} and len(learner.support_vectors_) == 0
    learner.partial_fit(X[late[n_first:]], y[late[n_first:]])
    assert learner.score(X, y) > 0.9
    assert (learner.dual_coef_ > 0).any() and (learner.dual_coef_ < 0).any()


def test_of_one_class_the_newest_stay():
    X, _ = clouds(100)
    learner = incremental(batch_size=10, max_vectors=15).partial_fit(X, np.ones(100, int))
    views = learner.core.views
    rows = views["rows"].transpose(0, 2, 1).reshape(-1, 2)
    np.testing.assert_array_equal(rows[:15], X[-15:])
    assert not rows[15:].any() and learner.n_given_up_ == 0


# -- where there is no room ------------------------------------------------------------------------


def test_those_farthest_on_the_wrong_side_are_given_up():
    """One cycle written out: of each class in proportion, by the whole solution's decisions."""
    X, y = clouds(60, apart=0.5, noise=0.1)
    V = 20
    learner = incremental(batch_size=60, max_vectors=V).partial_fit(X, y)
    whole = BatchSVM(max_samples=60, kernel=RBF(0.5), C=5.0, dtype="float64", tol=1e-6).fit(X, y)
    support, n = whole.support_, len(whole.support_)
    assert n > V and learner.n_given_up_ == n - V
    margin = y[support] * whole.decision_function(X[support])
    margin[whole.alpha_[support] < 5.0] = 1.0
    n_positive = (y[support] > 0).sum()
    quota = {1: round(V * n_positive / n)}
    quota[-1] = V - quota[1]
    kept = np.sort(
        np.concatenate(
            [
                support[y[support] == c][
                    np.argsort(margin[y[support] == c], kind="stable")[-quota[c] :]
                ]
                for c in (1, -1)
            ]
        )
    )
    rest = BatchSVM(max_samples=V, kernel=RBF(0.5), C=5.0, dtype="float64", tol=1e-6)
    rest.fit(X[kept], y[kept])
    np.testing.assert_allclose(learner.decision_function(X), rest.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(learner.support_vectors_, rest.support_vectors_)


@each("dtype", ["float32", "float64"])
@each("V, b", [(2, 1), (3, 1), (2, 30), (15, 1), (16, 16), (17, 15)])
def test_every_size(V, b, dtype):
    X, y = clouds(200, noise=0.1)
    learner = incremental(max_vectors=V, batch_size=b, dtype=dtype)
    learner.partial_fit(X.astype(dtype), y)
    assert 1 <= len(learner.support_vectors_) <= V or learner.n_cycles_ == 0
    assert abs(learner.dual_coef_.sum()) < 1e-9
    learner.core.check()
    assert learner.n_cycles_ == 200 // b


# -- models of the last 1 to w batches -------------------------------------------------------------


B = 25


def batches(n, seed=0):
    X, y = clouds(n * B, seed, noise=0.1)
    return [(X[k : k + B], y[k : k + B]) for k in range(0, n * B, B)]


def written_out(stream, scheme, **params):
    """One model of some batches: the first taken whole, of each other what the scheme keeps."""
    learner = incremental(batch_size=B, max_vectors=40, **params)
    learner.partial_fit(*stream[0])
    for X, y in stream[1:]:
        kept = KEEPS[scheme](y * learner.decision_function(X))
        if kept.any():
            learner.partial_fit(X[kept], y[kept]).update()
    return learner


@each("scheme", SCHEMES)
@each("window", [1, 2, 3, 4])
def test_the_oldest_answers_for_the_last_batches(window, scheme):
    stream = batches(7)
    learner = windowed(window=window, scheme=scheme, batch_size=B, max_vectors=40)
    for k, (X, y) in enumerate(stream):
        learner.partial_fit(X, y)
        expected = written_out(stream[max(0, k + 1 - window) : k + 1], scheme)
        assert_same_model(learner, expected, atol=1e-4)
        assert learner.n_batches_ == k + 1 and learner.n_waiting_ == 0


def test_samples_wait_for_their_batch():
    stream = batches(3)
    learner = windowed(batch_size=B)
    for X, y in stream[:2]:
        learner.partial_fit(X, y)
    before = learner.decision_function(stream[0][0])
    X, y = stream[2]
    for k in range(B - 1):
        assert learner.learn_one(X[k], y[k]) and learner.n_waiting_ == k + 1
        assert learner.decision_function(stream[0][0]).tolist() == before.tolist()
    learner.learn_one(X[-1], y[-1])
    assert learner.n_waiting_ == 0
    assert learner.decision_function(stream[0][0]).tolist() != before.tolist()
