"""Which samples a scheme keeps, what a cycle leaves, and what goes where there is no room."""

from itertools import pairwise

import numpy as np
import pytest
from each import each
from streams_of_clouds import SCHEMES, board, clouds, incremental, model, windowed

from edgesvm import (
    RBF,
    BatchSVM,
    CorruptModelError,
    Linear,
    MemoryBudgetError,
    NotFittedError,
)

ENGINES = ["compiled", "reference"]
KEEPS = {  # by the paper's definitions, of y f
    "error_driven": lambda yf: yf <= 0,
    "fixed_partition": lambda yf: True,
    "exceeding_margin": lambda yf: abs(yf) <= 1,
    "exceeding_margin_errors": lambda yf: yf <= 1,
}


@pytest.mark.parametrize("engine", ENGINES)
@each("scheme", SCHEMES)
def test_which_samples_join_the_batch(scheme, engine):
    X, y = clouds(300, noise=0.1)
    learner = incremental(engine, scheme=scheme, batch_size=40, max_vectors=200)
    for k, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        first = k < 40
        margin = label * learner.decision_one(x) if k else 0.0
        kept = learner.learn_one(x, label)
        assert kept == (first or KEEPS[scheme](margin)), (k, margin)
    assert learner.n_updates_ < 300 or scheme == "fixed_partition"
    assert learner.n_updates_ == 40 * learner.n_cycles_ + learner.n_waiting_


def joined(engine, X, y, **params):
    """Whether each sample joined a batch, and y f of the model of the moment; the first batch, of
    50, is stored whole."""
    learner = incremental(engine, batch_size=50, max_vectors=200, **params)
    margins, kept = [], []
    for x, label in zip(X, y.tolist(), strict=True):
        margins.append(label * learner.decision_one(x) if learner.is_fitted else 0.0)
        kept.append(learner.learn_one(x, label))
    return np.array(kept[50:]), np.array(margins[50:])


@pytest.mark.parametrize("engine", ENGINES)
def test_the_active_scheme_keeps_a_share_of_either_kind(engine):
    X, y = clouds(1000, apart=0.5)
    kept, margins = joined(engine, X, y, scheme="active", errors_kept=0.75, correct_kept=0.25)
    for wrong, share in ((True, 0.75), (False, 0.25)):
        of_kind = kept[(margins <= 0) == wrong]
        deviation = np.sqrt(share * (1 - share) / len(of_kind))
        assert len(of_kind) > 200 and abs(of_kind.mean() - share) < 4 * deviation


@each("errors, correct, scheme", [(1, 0, "error_driven"), (1, 1, "fixed_partition")])
def test_the_active_scheme_between_two_of_the_paper(errors, correct, scheme):
    X, y = clouds(300, apart=0.5)
    active = joined("compiled", X, y, scheme="active", errors_kept=errors, correct_kept=correct)
    for found, expected in zip(active, joined("compiled", X, y, scheme=scheme), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_draws_of_the_active_scheme():
    X, y = clouds(400, apart=0.5)
    by_seed = [
        joined("compiled", X, y, scheme="active", correct_kept=0.5, seed=s)[0].tolist()
        for s in (0, 0, 1)
    ]
    assert by_seed[0] == by_seed[1] != by_seed[2]
    for shares in ({"errors_kept": 1.5}, {"correct_kept": -0.1}, {"errors_kept": np.nan}):
        with pytest.raises(ValueError, match=f"{next(iter(shares))}="):
            incremental(scheme="active", **shares).plan(2)
    with pytest.raises(ValueError, match="no sample would be learned"):
        incremental(scheme="active", errors_kept=0, correct_kept=0).plan(2)
    with pytest.raises(ValueError, match="scheme='active'"):
        windowed(scheme="active").plan(2)


def test_the_third_scheme_leaves_out_what_the_fourth_takes():
    """A sample far on the wrong side: an error, outside the band."""
    X, y = clouds(100, apart=2.0)
    for scheme, kept in (("exceeding_margin", False), ("exceeding_margin_errors", True)):
        learner = incremental(scheme=scheme, batch_size=100).partial_fit(X, y)
        far = max(X[y == 1], key=learner.decision_one)
        assert learner.decision_one(far) > 1
        assert learner.learn_one(far, -1) is kept
        assert learner.learn_one(far, 1) is False


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cycle_is_the_svm_of_support_vectors_and_batch(engine):
    """The scheme of the paper written out with BatchSVM."""
    X, y = clouds(200, noise=0.05)
    learner = incremental(engine, batch_size=50, max_vectors=100)
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


@pytest.mark.parametrize("engine", ENGINES)
def test_weights_are_bounds_and_stay_with_the_vectors(engine):
    X, y = clouds(80, noise=0.2)
    weights = np.random.default_rng(0).choice([0.25, 1.0, 4.0], 80)
    learner = incremental(engine, batch_size=40, C=2.0)
    learner.partial_fit(X, y, sample_weight=weights)
    bounds = {tuple(x): 2.0 * w for x, w in zip(X, weights, strict=True)}
    vectors, coefficients, _ = model(learner)
    shares = [abs(c) / bounds[tuple(x)] for x, c in zip(vectors, coefficients, strict=True)]
    assert max(shares) <= 1 and sum(share == 1 for share in shares) > 5
    assert len({c for c in np.abs(coefficients) if c in (0.5, 2.0, 8.0)}) == 3


@pytest.mark.parametrize("engine", ENGINES)
def test_there_is_a_model_before_the_first_cycle(engine):
    """At each doubling the batch so far is solved, and all of it stays for the first cycle."""
    X, y = clouds(64, apart=1.5)
    y[:2] = -1, 1
    learner = incremental(engine, batch_size=64)
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


@pytest.mark.parametrize("engine", ENGINES)
def test_update_learns_what_waits(engine):
    X, y = clouds(130, noise=0.1)
    learner = incremental(engine, batch_size=50).partial_fit(X, y)
    assert learner.n_waiting_ == 30
    before = learner.decision_function(X)
    learner.update()
    assert learner.n_waiting_ == 0 and learner.n_cycles_ == 3
    assert not np.allclose(learner.decision_function(X), before, atol=1e-3)
    state = bytes(learner.arena)
    learner.update()
    assert bytes(learner.arena) == state
    early = incremental(engine, batch_size=50).partial_fit(X[:9], y[:9]).update()
    assert early.n_cycles_ == 1 and early.n_waiting_ == 0


@pytest.mark.parametrize("engine", ENGINES)
@each("V", [12, 300])
def test_the_gradient_that_stays_is_that_of_the_model(V, engine):
    """c - K beta of the support vectors, after 130 cycles, where some had to go and where not."""
    X, y = clouds(520, noise=0.05)
    learner = incremental(engine, batch_size=4, max_vectors=V).partial_fit(X, y)
    assert learner.n_cycles_ == 130 and (learner.n_given_up_ > 0) == (V == 12)
    vectors, coefficients, intercept = model(learner)
    n, gradient = len(vectors), learner.core.views["gradient"]
    sign = np.sign(coefficients)
    expected = learner.core.labels.sign * (sign - (learner.decision_function(vectors) - intercept))
    np.testing.assert_allclose(gradient[:n], expected, atol=1e-5)
    assert not gradient[n:].any()


@each("place, value", [(0, np.nan), (3, np.inf), (-1, 1.0)])
def test_a_gradient_that_cannot_be_is_refused(place, value):
    X, y = clouds(100, noise=0.05)
    learner = incremental(batch_size=10).partial_fit(X, y)
    learner.core.check()
    learner.core.views["gradient"][place] = value
    with pytest.raises(CorruptModelError, match="gradient"):
        learner.core.check()


def test_a_waiting_sample_with_a_coefficient_is_refused():
    X, y = clouds(103, noise=0.05)
    learner = incremental(batch_size=10).partial_fit(X, y)
    learner.core.check()
    held = int(learner.core.views["n_held"])
    learner.core.views["beta"][held - 1] = 0.5
    with pytest.raises(CorruptModelError, match="a sample that waits has a coefficient"):
        learner.core.check()


def test_update_without_a_sample_is_not_fitted():
    for learner in (incremental(), incremental().allocate(2)):
        with pytest.raises(NotFittedError):
            learner.update()


@pytest.mark.parametrize("engine", ENGINES)
@each("scheme", SCHEMES)
def test_a_stream_that_begins_with_one_class(scheme, engine):
    """Nothing of it is lost that fits; with the second class there is a model."""
    X, y = clouds(120, apart=2.0)
    late = np.concatenate([np.flatnonzero(y > 0), np.flatnonzero(y < 0)])
    n_first = int((y > 0).sum())
    learner = incremental(engine, scheme=scheme, batch_size=10, max_vectors=25)
    learner.partial_fit(X[late[:n_first]], y[late[:n_first]], classes=[-1, 1])
    assert set(learner.predict(X)) == {1} and len(learner.support_vectors_) == 0
    learner.partial_fit(X[late[n_first:]], y[late[n_first:]])
    assert learner.score(X, y) > 0.9
    assert (learner.dual_coef_ > 0).any() and (learner.dual_coef_ < 0).any()


@pytest.mark.parametrize("engine", ENGINES)
def test_of_one_class_the_newest_stay(engine):
    X, _ = clouds(100)
    learner = incremental(engine, batch_size=10, max_vectors=15).partial_fit(X, np.ones(100, int))
    views = learner.core.views
    rows = views["rows"].transpose(0, 2, 1).reshape(-1, 2)
    np.testing.assert_array_equal(rows[:15], X[-15:])
    assert not rows[15:].any() and learner.n_given_up_ == 0


# -- where there is no room ------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_those_farthest_on_the_wrong_side_are_given_up(engine):
    """One cycle written out: of each class in proportion, by the whole solution's decisions."""
    X, y = clouds(60, apart=0.5, noise=0.1)
    V = 20
    learner = incremental(engine, batch_size=60, max_vectors=V).partial_fit(X, y)
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


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rare_class_is_not_given_up(engine):
    """All its vectors may be errors; a share of the room is theirs."""
    X, y = clouds(600, apart=0.6)
    keep = (y < 0) | (np.arange(600) % 12 == 0)
    learner = incremental(engine, batch_size=20, max_vectors=20, C=0.5)
    learner.partial_fit(X[keep], y[keep])
    assert learner.n_given_up_ > 0
    assert (learner.dual_coef_ > 0).any() and (learner.dual_coef_ < 0).any()


def test_a_model_in_little_room_is_worth_having():
    X, y = clouds(4000, noise=0.1)
    test_X, test_y = clouds(2000, seed=1)
    best = (np.sign(test_X.sum(axis=1)) == test_y).mean()
    for V in (10, 30, 100):
        learner = incremental(batch_size=V, max_vectors=V, kernel=RBF(0.1), C=1.0)
        learner.partial_fit(X, y)
        assert learner.n_given_up_ > V and len(learner.support_vectors_) <= V
        assert learner.score(test_X, test_y) > best - 0.06


@each("scheme", SCHEMES)
def test_the_batch_solution_is_nearly_reached(scheme):
    X, y = board(3000)
    test_X, test_y = board(2000, seed=1)
    params = {"kernel": RBF(4.0), "C": 100.0}
    batch = BatchSVM(max_samples=3000, tol=1e-3, **params).fit(X, y).score(test_X, test_y)
    learner = incremental(scheme=scheme, batch_size=100, max_vectors=400, tol=1e-3, **params)
    learner.partial_fit(X, y).update()
    assert batch > 0.95 and learner.score(test_X, test_y) > batch - 0.04
    assert learner.condensed_ == len(learner.support_vectors_) / 3000 < 0.15


def test_a_limit_on_iterations_is_told():
    X, y = clouds(200, noise=0.2)
    learner = incremental(batch_size=100, max_iter=3).partial_fit(X, y)
    assert not learner.converged_ and 3 <= learner.n_iter_ <= 6
    assert np.isfinite(learner.decision_function(X)).all()
    assert abs(learner.dual_coef_.sum()) < 1e-9


@each("dtype", ["float32", "float64"])
@each("V, b", [(2, 1), (3, 1), (2, 30), (15, 1), (16, 16), (17, 15)])
def test_every_size(V, b, dtype):
    X, y = clouds(200, noise=0.1)
    learners = [
        incremental(engine, max_vectors=V, batch_size=b, dtype=dtype).partial_fit(
            X.astype(dtype), y
        )
        for engine in ENGINES
    ]
    for learner in learners:
        assert 1 <= len(learner.support_vectors_) <= V or learner.n_cycles_ == 0
        assert abs(learner.dual_coef_.sum()) < 1e-9
        learner.core.check()
    assert learners[0].n_cycles_ == 200 // b


def test_duplicates_and_a_linear_kernel():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (400, 2)).astype(float), np.where(rng.random(400) < 0.5, -1, 1)
    for kernel in (RBF(1.0), Linear()):
        learner = incremental(kernel=kernel, batch_size=16, max_vectors=20).partial_fit(X, y)
        assert np.isfinite(learner.decision_function(X)).all()
        learner.core.check()


@each(
    "name, value",
    [
        ("scheme", "all"),
        ("scheme", None),
        ("batch_size", 0),
        ("batch_size", 2.5),
        ("max_vectors", 1),
        ("C", 0.0),
        ("tol", -1.0),
        ("cache", 100),
        ("max_iter", 0),
        ("kernel", "sigmoid"),
        ("gamma", -1.0),
    ],
)
def test_parameters_out_of_range(name, value):
    params = {"kernel": "rbf"} if name == "gamma" else {}
    with pytest.raises(ValueError, match=name):
        incremental(**{**params, name: value}).allocate(2)


def test_the_batch_grows_with_the_vectors_where_it_is_not_named():
    small = incremental().within("16KiB", 4)
    large = type(small).within("256KiB", 4)
    assert large.max_vectors > 10 * small.max_vectors > 100
    assert large.plan(4).total <= 256 * 1024
    assert large.plan(4).total - type(small)(max_vectors=large.max_vectors // 2).plan(4).total > 0
    named = type(small).within("256KiB", 4, batch_size=10)
    assert named.max_vectors > large.max_vectors
    with pytest.raises(MemoryBudgetError):
        type(small).within(500, 4)
