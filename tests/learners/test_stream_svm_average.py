"""The average of the weights over the stream, against its definition; class weights; the learner as
printed in the paper.
"""

import numpy as np
from each import each
from streams import bounds, gaussian, make

from edgesvm import OneVsOne, Standardized, StreamSVM
from edgesvm.persist.format import Snapshot, pack
from edgesvm.persist.store import restore

KEPT = ({}, {"n_balls": 3}, {"lookahead": 4}, {"n_balls": 3, "join": "reach"})
TOLERANCE = {"float32": 1e-5, "float64": 1e-12}

kept_ones = each("kept", KEPT, ids=str)


def stream(n=120, seed=3):
    return gaussian(np.random.default_rng(seed), n, 4)


def weights_after_each(model, X, y):
    """w after each sample, (n, width)."""
    found = []
    for x, label in zip(X, y, strict=True):
        model.learn_one(x, label)
        found.append(model.core.views["w"].astype(float))
    return np.array(found)


def plane(model):
    """The mean, which decides or not; positive for the larger label."""
    core = model.core
    return core.labels.sign * core.mean_of_w()


@kept_ones
@bounds
@each("dtype", TOLERANCE)
def test_sample_t_counts_t_times(dtype, bound, kept):
    X, y = stream()
    X = X.astype(dtype)
    model = make(StreamSVM, bound=bound, average=True, dtype=dtype, **kept)
    last = make(StreamSVM, bound=bound, dtype=dtype, **kept)
    for learner in (model, last):
        learner.allocate(4, classes=[-1, 1])
    after = weights_after_each(model, X, y)
    np.testing.assert_array_equal(after, weights_after_each(last, X, y))  # the ball is the same
    t = np.arange(1, len(X) + 1)
    close = {"rtol": 0, "atol": TOLERANCE[dtype]}
    np.testing.assert_allclose(plane(model), t @ after / t.sum(), **close)
    z = np.hstack([X, np.ones((len(X), 1))])
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    deciding = plane(model) if model.answers_ == "mean" else plane(last)
    np.testing.assert_allclose(model.decision_function(X), z @ deciding, **close)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), deciding, **close)


def test_a_sample_inside_changes_counters_only():
    X, y = stream()
    model = make(StreamSVM, average=True).partial_fit(X.astype("f"), y)
    assert model.n_seen_ % 4 == 0
    model.learn_one(X[1].astype("f"), y[1])  # this one is asked about; the next is not
    before = {name: view.tobytes() for name, view in model.core.views.items()}
    plane_before = plane(model)
    assert not model.learn_one(X[0].astype("f"), y[0])
    changed = {n for n, view in model.core.views.items() if view.tobytes() != before[n]}
    assert changed == {"n_seen", "n_per_class"}
    assert (plane(model) != plane_before).any()  # w counts for one sample more


def test_whichever_was_wrong_less_often_decides():
    """The mean in a stream without order, the last weights in one that turns round."""
    X, y = stream(2000)
    turned = np.where(np.arange(2000) // 250 % 2, -y, y)
    still = make(StreamSVM, bound="lower", average=True, C=0.3).partial_fit(X, y)
    turning = make(StreamSVM, bound="lower", average=True, C=0.3).partial_fit(X, turned)
    assert (still.answers_, turning.answers_) == ("mean", "last")
    error_rates = still.core.views["error_rates"]
    asked = make(StreamSVM, bound="lower", average=True, C=0.3).allocate(4, [-1, 1])
    wrong = []
    for i, (x, label) in enumerate(zip(X[:400].astype("f"), y[:400], strict=True)):
        if i % 4 == 0:
            core, z = asked.core, np.append(x, 1.0)
            planes = core.views["w"], core.mean_of_w()
            wrong.append([label * (plane_ @ z) <= 0 for plane_ in planes])
        asked.learn_one(x, label)
    np.testing.assert_allclose(asked.core.views["error_rates"], np.mean(wrong, axis=0))
    assert (error_rates < 0.5).all()


@kept_ones
@bounds
@each("swapped", [False, True])
def test_merged_averages_count_by_samples(swapped, bound, kept):
    X, y = stream()
    known = [[-1, 1], [1, -1] if swapped else [-1, 1]]
    params = {"bound": bound, "average": True, "dtype": "float64", **kept}
    here, there = (make(StreamSVM, **params).allocate(4, classes=c) for c in known)
    here.partial_fit(X[:80], y[:80])
    there.partial_fit(X[80:], y[80:])
    expected = (80 * plane(here) + 40 * plane(there)) / 120
    here.merge(there)
    np.testing.assert_allclose(plane(here), expected, rtol=1e-9, atol=1e-12)
    more, labels = stream(10, seed=8)
    sign = here.core.labels.sign
    after = sign * weights_after_each(here, 2.0 * more, labels)
    t = np.arange(121, 131)  # goes on as after 120 samples
    expected = (7260 * expected + t @ after) / (7260 + t.sum())
    np.testing.assert_allclose(plane(here), expected, rtol=1e-9, atol=1e-12)


@each("C", [1.0, 5.0])
def test_of_paper_is_what_is_printed(C):
    X, y = stream()
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    w, R, xi2 = y[0] * X[0], 0.0, 1.0
    for x, label in zip(X[1:], y[1:], strict=True):
        d = np.sqrt(((w - label * x) ** 2).sum() + xi2 + 1 / C)
        if d >= R:
            step = (1 - R / d) / 2
            w = w + step * (label * x - w)
            R = (R + d) / 2
            xi2 = xi2 * (1 - step) ** 2 + step**2
    model = StreamSVM.of_paper(C=C, dtype="float64")
    model.partial_fit(X, y, classes=[-1, 1])
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.radius_, R, rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), X @ w, rtol=1e-9, atol=1e-12)


# -- snapshots -------------------------------------------------------------------------------------


def test_what_is_not_in_an_old_snapshot_has_its_old_meaning():
    X, y = stream()
    old = StreamSVM(bound="upper", average=False).partial_fit(X.astype("f"), y)
    assert old.snapshot().params.keys().isdisjoint({"average", "class_weight", "join"})
    again = restore(pack(old.snapshot()))
    assert (again.average, again.class_weight, again.join) == (False, None, "closest")


@each("kind", [Standardized, OneVsOne])
def test_an_old_snapshot_that_names_no_learner(kind):
    """Its learner is the default of the first release."""
    X, y = stream()
    more = {} if kind is Standardized else {"n_classes": 2}
    first = StreamSVM(bound="upper", average=False)
    told = kind(learner=first, **more).partial_fit(X.astype("f"), y)
    snapshot = told.snapshot()
    unnamed = Snapshot(
        snapshot.learner,
        {**snapshot.params, "learner": None},
        4,
        snapshot.labels,
        snapshot.closed,
        snapshot.arena,
    )
    again = restore(pack(unnamed))
    np.testing.assert_array_equal(again.decision_function(X), told.decision_function(X))
