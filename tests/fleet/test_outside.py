"""Rows outside a ball, searched in parts; and a ball fitted by that search, without a cluster."""

from itertools import pairwise

import numpy as np
import pytest

from edgesvm import RBF, BallVectorMachine, CoreVectorMachine
from edgesvm.data.sources import Source
from edgesvm.errors import ConvergenceWarning
from edgesvm.fleet import PartitionError, enclosing, workers
from edgesvm.fleet.outside import Search, _mixed, candidates, drawn, first_of
from edgesvm.fleet.surveys import survey

rng = np.random.default_rng(8)
X = rng.uniform(0, 4, (3000, 2)).astype(np.float32)
y = np.where(np.floor(X).sum(axis=1) % 2 == 0, "even", "odd")
y[rng.random(len(y)) < 0.02] = "odd"
MACHINES = [BallVectorMachine, CoreVectorMachine]


def machine(kind, **params):
    return kind(**{"C": 10.0, "kernel": RBF(2.0), "max_core": 2000, "seed": 3, **params})


class Here:
    """Partitions in this process, in the place of a `Cluster`."""

    def __init__(self, n, rows=X, labels=y):
        self.parts = list(zip(np.array_split(rows, n), np.array_split(labels, n), strict=True))
        self.names = [f"partition {k}" for k in range(n)]
        self.n_searches = self.n_fetched = 0

    def submit(self, function, *arguments):
        return function(*arguments)

    def each(self, function, *arguments):
        self.n_searches += function is candidates
        return [function(*one) for one in zip(self.parts, *arguments, strict=True)]

    def over(self, function, common, *each):
        return workers.over(function, self.names, self.parts, common, *each)

    def of_partitions(self, results):
        return results

    def some(self, function, calls):
        self.n_fetched += 1
        return [function(self.parts[k], *rest) for k, rest in calls.items()]

    def results(self, tasks, names=None):
        return tasks

    def check(self, tasks):
        pass

    def forget(self, tasks):
        pass


def enclosed(learner, cluster, progress=None):
    surveyed = survey(cluster, learner._survey_options, learner.n_classes_planned)
    return enclosing.enclosed(learner, cluster, surveyed, progress)


def outputs(model, rows, labels):
    """f of each row, without its own axis, from the definition in float64."""
    K = model.kernel(np.float64(rows), np.float64(model.support_vectors_))
    f = K @ model.dual_coef_[0] + model.intercept_[0]
    return np.where(labels == model.classes_[1], f, -f)


def n_outside(model, rows, labels):
    """Rows outside by more than float32 rounds, from eq. 3."""
    square = np.float64(model.margin_)
    kappa = 2.0 + 1.0 / model.C
    f = outputs(model, rows, labels)
    f[model.support_] += model.slack_
    distance = kappa + square - 2.0 * f
    return int((distance > model.radius_**2 + 1e-5).sum())


@pytest.mark.parametrize("kind", MACHINES)
def test_every_row_is_inside_in_any_partitions_and_the_bytes_are_the_same(kind):
    here = machine(kind).fit(X, y)
    seen = []
    models = [enclosed(machine(kind), Here(n), lambda *told: seen.append(told)) for n in (1, 7, 64)]
    assert len({bytes(model.arena) for model in models}) == 1
    model = models[0]
    assert model.enclosed_ and model.converged_
    assert n_outside(model, X, y) == n_outside(here, X, y) == 0
    assert n_outside(model, X, np.where(y == "odd", "even", "odd")) > 0  # it can tell
    assert model.classes_.tolist() == ["even", "odd"]
    for name in ("n_seen", "n_per_class"):
        assert np.array_equal(model.core.views[name], here.core.views[name])
    assert abs(model.score(X, y) - here.score(X, y)) < 0.02
    assert seen[-1][0] >= 1 and seen[-1][1] == model.n_core_
    model._check(model.core)  # as a snapshot is


def test_what_is_drawn_before_the_first_pass_is_as_in_one_place():
    for kind in MACHINES:
        here, cluster = machine(kind, max_core=100).fit(X, y), Here(3)
        there = enclosed(machine(kind, max_core=100), cluster)
        assert not here.enclosed_ and not there.enclosed_
        if kind is BallVectorMachine:  # the other made room, and went on to search
            assert cluster.n_searches == 0
            assert bytes(there.arena) == bytes(here.arena)
    with pytest.warns(ConvergenceWarning, match="max_iter=5"):
        enclosed(machine(BallVectorMachine, max_iter=5), Here(3))


def test_the_answer_is_that_of_all_rows_in_one_part():
    rows, labels = np.vstack([X[:1500]] * 2), np.tile(y[:1500], 2)  # so that some f are equal
    swapped = np.where(labels == "odd", "even", "odd")  # the other label comes first
    for said, k, epsilon in (
        (labels, 5, 1e-4),
        (labels, 40, 1e-4),
        (swapped, 40, 1e-4),
        (swapped, 40, 0.9),
    ):
        model = machine(BallVectorMachine, max_core=50).fit(rows, said)
        model.core.allow(epsilon, np.inf)
        search = Search.of(model, 7, k)
        whole = candidates((rows, said), search, (0, 3000))
        cuts = [0, 1, 900, 2999, 3000]
        parts = [candidates((rows[a:b], said[a:b]), search, (a, b)) for a, b in pairwise(cuts)]
        for order in (parts, parts[::-1]):
            for mine, theirs in zip(first_of(k, *order), whole, strict=True):
                assert np.array_equal(mine, theirs)
        assert len(whole.numbers) == k
        assert not np.isin(whole.numbers, model.core_).any()
        f = outputs(model, rows, said)
        f[model.core_] = np.inf
        least = model.core.least_inside
        far = f < least - 1e-6
        assert whole.inside.any() == (k > far.sum())
        if not far.any():  # then those nearest to the surface, the nearest first
            assert np.allclose(f[whole.numbers], np.sort(f)[:k], atol=1e-6)
        else:
            chances = np.where(f < least, drawn(np.arange(3000), search.seed), 2.0)
            n = min(k, int(far.sum()))
            assert whole.numbers[:n].tolist() == np.argsort(chances)[:n].tolist()


def test_draws_differ_by_pass_and_are_even():
    model = machine(BallVectorMachine, max_core=50).fit(X, y)
    other_seed = machine(BallVectorMachine, max_core=50, seed=4).fit(X, y)
    searches = Search.of(model, 0, 5), Search.of(model, 1, 5), Search.of(other_seed, 0, 5)
    assert len({search.seed for search in searches}) == 3
    numbers = np.arange(100_000)
    one, other = drawn(numbers, 1), drawn(numbers, 2)
    assert (one == other).sum() == 0
    assert np.abs(np.histogram(one, 10, (0, 1))[0] - 10_000).max() < 500
    # splitmix64 from 0: the reference implementation's first two numbers
    golden = np.uint64(0x9E3779B97F4A7C15)
    states = np.array([0, golden], np.uint64)
    assert _mixed(states).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


def test_weights_and_rows_that_changed():
    model = machine(BallVectorMachine, max_core=50).fit(X, y)
    model.core.allow(1e-4, np.inf)
    search = Search.of(model, 0, 3000)
    with pytest.raises(PartitionError, match="changed between two passes"):
        candidates((X[:10], y[:10]), search, (0, 11))
    with pytest.raises(PartitionError, match="changed between two passes"):
        candidates((X[:10], np.full(10, "prime")), search, (0, 10))
    found = candidates((X, y), search, (0, 3000))
    assert len(found.numbers) == 3000 - model.n_core_

    class Weighted:
        def source(self, owner):
            return Source(X, y, np.arange(3000) % 3, owner=owner)

    some = candidates(Weighted(), search, (0, 3000))
    assert set(some.numbers) == {n for n in found.numbers.tolist() if n % 3}
    assert np.array_equal(some.weights, some.numbers % 3)


def test_labels_that_were_fixed():
    fixed = machine(BallVectorMachine).allocate(2, classes=["odd", "even"])
    there = enclosed(fixed, Here(2))
    here = machine(BallVectorMachine).allocate(2, classes=["odd", "even"]).fit(X, y)
    assert there.core.labels.closed
    assert there.core.labels.in_slots == here.core.labels.in_slots
    wrong = machine(BallVectorMachine).allocate(2, classes=["odd", "prime"])
    with pytest.raises(PartitionError, match=r"partition 0: it has the label 'even'"):
        enclosed(wrong, Here(2))
