"""Algorithm 1: what is kept, what is drawn, when it stops, and out of what."""

import math
import re

import numpy as np
import pytest
from each import each

import edgesvm
from edgesvm import RBF, BatchSVM, Linear, RandSVM, data
from edgesvm.learners.papers.randomized._rand_svm import WorkingSet
from edgesvm.learners.papers.randomized.rand_svm import (
    estimated_support,
    support_for_margin,
)
from reference.rand_svm import WorkingSetRef

WORKING_SETS = [WorkingSet, WorkingSetRef]


def board(n, seed=0):
    """Four by four squares of two classes, separable."""
    X = np.random.default_rng([seed, n]).uniform(0, 4, (n, 2)).astype(np.float32)
    return X, np.floor(X).sum(axis=1) % 2 == 0


def clouds(n, seed=0, gap=3.0):
    rng = np.random.default_rng([seed, n])
    y = rng.random(n) < 0.5
    return (rng.standard_normal((n, 2)) + gap * y[:, None]).astype(np.float32), y


def rand_svm(size, *, C=10.0, kernel=None, tol=1e-3, dtype="float32", **params):
    solver = BatchSVM(
        max_samples=size, C=C, kernel=kernel or RBF(0.5), tol=tol, dtype=dtype, cache="1MiB"
    )
    return RandSVM(solver=solver, **params)


# -- equation 4 ------------------------------------------------------------------------------------


def test_k_is_the_papers():
    """Section 3: (32 log(4 n / delta)) / epsilon^2, or 16 for separable data."""
    assert estimated_support(10**5) == math.ceil(800 * math.log(4e5 / 0.9)) == 10404
    assert estimated_support(10**5, separable=True) == 5202
    assert estimated_support(10**6) == 12246
    assert estimated_support(10**5, 0.05) > 166_000
    X, y = clouds(400)
    model = rand_svm(400, epsilon=0.5, delta=0.5).fit(X, y)
    assert model.k_ == estimated_support(400, 0.5, 0.5) == math.ceil(128 * math.log(3200))


def test_rows_that_are_not_of_unit_norm_are_told_where_equation_4_is_asked():
    X, y = clouds(100)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for rows, longest in ((3.0 * unit, "9"), (0.5 * unit, "0.25")):
        with pytest.warns(UserWarning, match=re.escape(f"k(x, x) = {longest};")) as told:
            rand_svm(100, kernel=Linear()).fit(rows, y)
        assert told[0].filename == __file__
        rand_svm(100, kernel=Linear(), k=30).fit(rows, y)  # which asks nothing of them
        rand_svm(100, kernel=RBF(0.5)).fit(rows, y)
    unit[0] = 0.0  # of no direction, in no one's way
    rand_svm(100, kernel=Linear()).fit(unit, y)


def test_a_sample_has_c_times_k_rows_where_there_is_room():
    X, y = clouds(500)
    sizes = {
        rand_svm(300, k=40).fit(X, y).sample_size_: 80,
        rand_svm(300, k=40, c=1.5).fit(X, y).sample_size_: 60,
        rand_svm(70, k=40).fit(X, y).sample_size_: 70,
        rand_svm(600).fit(X, y).sample_size_: 500,
    }
    assert all(found == expected for found, expected in sizes.items()) and len(sizes) == 4


# -- Theorems 1 to 3 -------------------------------------------------------------------------------


def test_k_is_the_theorems():
    k = 8 / 0.3**2 * (1 + (1 + 2.0**2) / (2 * 0.7)) ** 2 * math.log(4 * 5000 / 0.1)
    assert support_for_margin(5000, 0.7, 2.0, loss=0.3, delta=0.1) == math.ceil(k)
    with_removed = support_for_margin(5000, 0.7, 2.0, loss=0.3, delta=0.1, n_removed=37)
    assert with_removed == math.ceil(k + 37), "theorem 3"
    assert support_for_margin(10, 1e-20) == 2**62 - 512


# -- the four stops --------------------------------------------------------------------------------


def test_no_violators_is_the_optimum_of_all_the_data():
    X, y = clouds(1500)
    model = rand_svm(400, tol=1e-4, dtype="float64").fit(X, y)
    assert model.stop_ == "optimal" and model.converged_
    assert model.n_violators_ == 0 and model.n_passes_ >= 2
    assert len(model.support_vectors_) < 400 == model.sample_size_ < model.k_
    whole = BatchSVM(
        max_samples=1500, C=10.0, kernel=RBF(0.5), tol=1e-4, dtype="float64", cache="32MiB"
    ).fit(X, y)
    np.testing.assert_allclose(model.objective_, whole.objective_, rtol=1e-5)
    decisions = whole.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), decisions, atol=1e-2)
    sign = np.where(y, 1.0, -1.0)
    outside = sign * model.decision_function(X) < 1 - 1e-3
    assert outside.sum() <= len(model.support_vectors_)


def test_as_many_support_vectors_as_expected():
    X, y = board(2000)
    told = []
    model = rand_svm(200, k=50, kernel=RBF(2.0))
    model.fit(X, y, progress=lambda *now: told.append(now[1]))
    assert model.stop_ == "support_vectors" and not model.converged_
    assert all(n_support < 50 for n_support in told[:-1]) and told[-1] >= 50 == model.k_
    assert model.sample_size_ == 100


def test_a_full_sample():
    X, y = clouds(1500, gap=1.0)
    told = []
    model = rand_svm(40).fit(X, y, progress=lambda *now: told.append(now[1]))
    assert model.stop_ == "sample_full" and not model.converged_
    assert max(told[:-1], default=0) < told[-1] == 40 == model.sample_size_ < model.k_
    assert model.n_violators_ > 0


def primal(model, X, y, weights=1.0):
    """C-SVM-1, as the paper has it."""
    beta, rows = model.dual_coef_[0], model.support_vectors_.astype(float)
    inner = beta @ model.solver.kernel(rows, rows) @ beta
    slack = np.maximum(0.0, 1.0 - np.where(y, 1.0, -1.0) * model.decision_function(X))
    return 0.5 * inner + model.solver.C * np.sum(weights * slack)


def test_the_best_solution_is_returned():
    """The second sample is nearly all violators, and its solution worse than the first's."""
    X, y = clouds(3000, gap=2.0)
    told = []
    model = rand_svm(300, k=150, C=1.0, dtype="float64")
    model.fit(X, y, progress=lambda *_: told.append((primal(model, X, y), model.n_passes_)))
    assert model.stop_ == "support_vectors" and told[0][0] < 0.7 * told[-1][0]
    assert primal(model, X, y) == pytest.approx(min(told)[0], rel=1e-3)
    assert model.primal_objective_ == pytest.approx(min(told)[0], rel=1e-6)
    first = rand_svm(300, C=1.0, dtype="float64", max_passes=1).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), first.decision_function(X), atol=5e-3)
    assert model.n_violators_ == first.n_violators_ > 0


def test_the_primal_objective_is_that_of_the_returned_solution():
    """An earlier solution may be a little better than the optimal one, within a large tolerance."""
    stops = set()
    for seed in range(12):
        X, y = clouds(600, seed, gap=2.0)
        for size in (60, 300):
            model = rand_svm(size, C=1.0, dtype="float64", tol=0.3, seed=seed).fit(X, y)
            assert model.primal_objective_ == pytest.approx(primal(model, X, y), rel=1e-6)
            stops.add(model.stop_)
    assert stops == {"optimal", "sample_full"}


def test_a_solution_that_the_solver_moves_is_counted_again():
    X, y = clouds(3000, gap=2.0)
    model = rand_svm(300, k=150, C=1.0, dtype="float64")
    model.set_params(solver__max_iter=120).fit(X, y)
    assert model.primal_objective_ == pytest.approx(primal(model, X, y), rel=1e-6)


def test_the_last_solution_is_returned_as_the_paper_has_it():
    X, y = clouds(3000, gap=2.0)
    told = []
    model = rand_svm(300, k=150, C=1.0, dtype="float64", returns="last")
    model.fit(X, y, progress=lambda *now: told.append((primal(model, X, y), *now[1:])))
    assert model.stop_ == "support_vectors" and told[-1][0] > 1.4 * min(told)[0]
    assert model.primal_objective_ == pytest.approx(told[-1][0], rel=1e-6)
    assert model.primal_objective_ == pytest.approx(primal(model, X, y), rel=1e-6)
    assert (len(model.support_vectors_), model.n_violators_) == told[-1][1:]


def test_the_duality_gap_of_the_optimum():
    X, y = clouds(2000, gap=2.0)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 2.0], 2000)
    model = rand_svm(1200, C=1.0, tol=1e-5, dtype="float64").fit(X, y, sample_weight=weights)
    assert model.converged_ and model.n_passes_ > 1
    assert model.primal_objective_ == pytest.approx(-model.objective_, rel=1e-4)
    assert model.primal_objective_ == pytest.approx(primal(model, X, y, weights), rel=1e-6)
    stopped = rand_svm(100, C=1.0, dtype="float64").fit(X, y, sample_weight=weights)
    assert not stopped.converged_
    assert -stopped.objective_ < -model.objective_ < stopped.primal_objective_


def test_max_passes():
    X, y = board(3000)
    model = rand_svm(300, kernel=RBF(2.0), max_passes=1).fit(X, y)
    assert (model.stop_, model.n_passes_, model.converged_) == ("max_passes", 1, False)
    assert model.n_violators_ > 0


def test_a_solver_that_was_cut_short_has_not_converged():
    X, y = clouds(300, gap=1.0)
    solver = BatchSVM(max_samples=300, max_iter=3, C=100.0)
    model = RandSVM(solver=solver).fit(X, y)
    assert model.stop_ == "unsolved" and not model.converged_, "all rows are in the sample"
    assert model.n_violators_ == 0
    outside = np.where(y, 1.0, -1.0) * model.decision_function(X) < 1 - solver.tol
    assert (outside & (model.solver_.alpha_ == 0.0)).any(), "a row of the sample violates"


def test_samples_that_come_later_take_the_verdict_back():
    X, y = clouds(300)
    model = rand_svm(600, k=300).fit(X, y)
    assert model.converged_
    model.partial_fit(X[:5], y[:5])
    assert model.stop_ is None and not model.converged_ and model.n_seen_ == 305
    assert model.predict(X).shape == (300,)


# -- the way there ---------------------------------------------------------------------------------


def test_violators_are_counted_as_defined():
    X, y = board(3000)
    model = rand_svm(300, kernel=RBF(2.0))
    checked = []

    def check(n_passes, n_support, n_violators):
        margin = np.where(y, 1.0, -1.0) * model.decision_function(X)
        outside = X[margin < 1 - model.solver.tol]
        held = model.core.views["rows"].transpose(0, 2, 1).reshape(-1, 2)[:300]
        known = {row.tobytes() for row in held}
        checked.append(n_violators == sum(row.tobytes() not in known for row in outside))

    model.fit(X, y, progress=check)
    assert len(checked) > 2 and all(checked)


def test_a_stopped_fit_keeps_the_last_solution():
    X, y = board(3000)

    expected = []

    def stop(n_passes, n_support, n_violators):
        if n_passes == 2:
            expected.extend(model.predict(X).tolist())
            raise KeyboardInterrupt

    model = rand_svm(200, kernel=RBF(2.0))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, progress=stop)
    assert model.stop_ is None and not model.converged_ and model.n_passes_ == 2
    assert model.score(X, y) > 0.8
    assert model.predict(X).tolist() == expected
    again = model.fit(X, y)
    assert bytes(again.arena) == bytes(rand_svm(200, kernel=RBF(2.0)).fit(X, y).arena)


def test_a_rare_class_that_the_first_sample_misses():
    """A sample of one class has no support vectors: a whole sample of violators would be of the
    other class alone, and so on for ever."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((5000, 2)).astype(np.float32)
    y = np.zeros(5000, bool)
    X[2500:2560] += 8
    y[2500:2560] = True
    model = rand_svm(40, C=100.0, seed=2)
    told = []
    model.fit(X, y, progress=lambda *now: told.append(now))
    assert told[0][1:] == (0, 60), "the first sample is of one class, and all of the other violate"
    assert model.score(X, y) > 0.999


# -- the working set -------------------------------------------------------------------------------


def views(capacity, width=2):
    return {
        "drawn_rows": np.zeros((capacity, width), np.float32),
        "drawn_slots": np.zeros(capacity, np.int8),
        "drawn_weights": np.zeros(capacity),
        "drawn_numbers": np.zeros(capacity, np.int64),
        "draws": np.zeros(4, np.uint64),
    }


@each("kind", WORKING_SETS)
def test_every_row_is_drawn_as_often(kind):
    """Algorithm R: 4 of 12 rows, 3,000 seeds; each row is in a third of the samples, 5 deviations
    either way."""
    X = np.arange(24, dtype=np.float32).reshape(12, 2)
    times = np.zeros(12)
    for seed in range(3000):
        arrays = views(4)
        working = kind(arrays, seed)
        working.keep(np.empty(0, np.int64), 4)
        working.offer(0, X[:7], np.zeros(7, np.int8), None, np.arange(7))
        working.offer(7, X[7:], np.zeros(5, np.int8), None, np.arange(5))
        assert (working.n_rows, working.n_offered) == (4, 12)
        numbers = arrays["drawn_numbers"]
        assert arrays["drawn_rows"].tolist() == X[numbers].tolist()
        times[numbers] += 1
    assert times.sum() == 12_000
    assert np.abs(times - 1000).max() < 5 * math.sqrt(3000 * (1 / 3) * (2 / 3))


@each("kind", WORKING_SETS)
def test_kept_in_front(kind):
    X = np.arange(40, dtype=np.float32).reshape(20, 2)
    slots = np.arange(20, dtype=np.int8) % 2
    weights = 0.5 + np.arange(20)
    arrays = views(8)
    working = kind(arrays, 1)
    working.keep(np.empty(0, np.int64), 8)
    working.offer(0, X[:8], slots[:8], weights[:8], np.arange(8))
    working.keep(np.array([1, 4, 6], np.int32), 8)  # NumPy's own integers on 32-bit machines
    working.offer(0, X[:12], slots[:12], weights[:12], np.array([8, 9, 10]))
    working.offer(12, X[12:], slots[12:], weights[12:], np.array([1, 2, 4, 5, 6]))
    violators = [8, 9, 10, 13, 14, 16, 17, 18]
    assert (working.n_kept, working.n_drawn, working.n_offered) == (3, 5, len(violators))
    numbers = arrays["drawn_numbers"].tolist()
    assert numbers[:3] == [1, 4, 6] and set(numbers[3:]) <= set(violators)
    assert len(set(numbers)) == 8
    assert arrays["drawn_rows"].tolist() == X[numbers].tolist()
    assert arrays["drawn_slots"].tolist() == slots[numbers].tolist()
    assert arrays["drawn_weights"].tolist() == weights[numbers].tolist()


# -- sources ---------------------------------------------------------------------------------------


class Rows:
    """A source of one's own; `spoil` changes the labels and rows of its n-th pass."""

    n_features = 2

    def __init__(self, n=3000, spoil=None, bad_pass=1, rows=None):
        self.X, self.y = board(n)
        self.spoil, self.bad_pass, self.rows, self.passes = spoil, bad_pass, rows, 0

    def chunks(self, rows):
        self.passes += 1
        for at in range(0, len(self.X), self.rows or rows):
            part = slice(at, at + (self.rows or rows))
            X, y = self.X[part].copy(), self.y[part].astype(object)
            if self.spoil and self.passes == self.bad_pass and at:
                self.spoil(X, y)
            yield data.Rows(X, y)


@each("size, stop, goes_back", [(1000, "optimal", False), (100, "sample_full", True)])
def test_passes_over_a_source(size, stop, goes_back):
    source, primals = Rows(), []
    model = rand_svm(size, kernel=RBF(2.0))
    model.fit(source, progress=lambda *_: primals.append(primal(model, source.X, source.y)))
    assert model.stop_ == stop and (primals[-1] > min(primals)) == goes_back
    more = 3 if goes_back else 2
    assert source.passes == model.n_passes_ + more, "to see it, to sample it, to go back"
    again = rand_svm(size, kernel=RBF(2.0)).fit(source.X, source.y)
    assert bytes(model.arena) == bytes(again.arena)


def third_label(X, y):
    y[3] = "third"


def no_label(X, y):
    y[3] = None


def not_a_number(X, y):
    X[3, 1] = np.nan


@each("spoil", [third_label, no_label, not_a_number])
def test_bad_rows_are_refused_before_anything_is_forgotten(spoil):
    model = rand_svm(200, kernel=RBF(2.0)).fit(Rows())
    before = bytes(model.arena)
    with pytest.raises(ValueError, match="row 203"):
        model.fit(Rows(spoil=spoil))
    assert bytes(model.arena) == before and model.classes_.tolist() == [False, True]


# A row that is not a number is noticed when it is decided, or learned: not when it is not drawn.
@each(
    "spoil, bad_pass",
    [*((third_label, n) for n in (2, 3, 4)), *((not_a_number, n) for n in (3, 4))],
)
def test_a_source_that_changes_between_passes(spoil, bad_pass, tmp_path):
    """The last solution stays, and what was half drawn leaves no trace."""
    model = rand_svm(200, kernel=RBF(2.0))
    with pytest.raises(ValueError, match=r"RandSVM: .*row 203 "):
        model.fit(Rows(spoil=spoil, bad_pass=bad_pass))
    assert model.is_fitted == (bad_pass > 2) and model.stop_ is None
    if model.is_fitted:
        model.save(tmp_path / "model.esvm")
        loaded = edgesvm.load(tmp_path / "model.esvm")
        X, y = board(500, seed=9)
        assert loaded.score(X, y) == model.score(X, y) > 0.7


@each(
    "kernel, dtype, value",
    [(edgesvm.Polynomial(3), "float32", 1e13), (Linear(), "float64", 1e19)],
)
def test_a_row_too_large_for_its_kernel_is_refused_before_anything_is_forgotten(
    kernel, dtype, value
):
    """Its square is finite: it is the solver's kernel row that has no room for it."""
    X, y = clouds(600)
    model = rand_svm(200, kernel=kernel, dtype=dtype, k=200).fit(X, y)
    before = bytes(model.arena)
    X = X.astype(np.float64)
    X[350] = value
    with pytest.raises(ValueError, match=r"RandSVM: row 350 \(label"):
        model.fit(X, y)
    assert bytes(model.arena) == before
