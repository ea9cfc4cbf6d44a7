"""Decisions of many rows, by blocks, and features found ahead: to the byte what they are one by
one. The parts of a multiclass learner take kernel values with equal vectors once."""

import numpy as np
from each import each

from edgesvm import (
    RBF,
    AdaGradSVM,
    BatchSVM,
    FourierSVM,
    KernelPerceptron,
    KernelStreamSVM,
    OneVsOne,
    OneVsRest,
    Perceptron,
    Polynomial,
    Standardized,
    StreamSVM,
    TwinVectorMachine,
)
from edgesvm.learners._multiclass import SameVectors

N = 75
PLANES = {
    "as they are": StreamSVM(normalize=False, fit_intercept=False),
    "fourier": FourierSVM(n_directions=70),
    "fourier, one width": FourierSVM(n_directions=70, weigh_widths=False),
    "rest of stream": OneVsRest(learner=StreamSVM(), n_classes=5),
    "pairs of stream": OneVsOne(learner=StreamSVM(average=False), n_classes=5),
    "rest of perceptrons": OneVsRest(learner=Perceptron(), n_classes=4),
    "pairs of adagrad": OneVsOne(learner=AdaGradSVM(), n_classes=4),
    "rest of standardized": OneVsRest(learner=Standardized(learner=StreamSVM()), n_classes=4),
    "fourier of five": FourierSVM(n_classes=5, n_directions=70),
    "one of many pairs": OneVsOne(learner=Perceptron(), n_classes=13),
}
KERNELS = {
    "kernels": KernelStreamSVM(max_vectors=9),
    "stream of many": KernelStreamSVM(max_vectors=70),
    "not full": KernelStreamSVM(max_vectors=200, C=0.1),
    "kernel perceptron": KernelPerceptron(max_vectors=67),
    "pairs of kernels": OneVsOne(learner=KernelStreamSVM(max_vectors=6), n_classes=5),
    "rest of kernels": OneVsRest(learner=KernelStreamSVM(max_vectors=6), n_classes=5),
    "pairs of perceptrons": OneVsOne(learner=KernelPerceptron(max_vectors=12), n_classes=4),
    "rest of twins": OneVsRest(learner=TwinVectorMachine(max_twins=6), n_classes=4),
    "pairs not full": OneVsOne(learner=KernelStreamSVM(max_vectors=40), n_classes=4),
    "pairs, some full": OneVsOne(learner=KernelStreamSVM(max_vectors=22), n_classes=4),
    "pairs that share": OneVsOne(
        learner=KernelStreamSVM(max_vectors=30, when_full="share"), n_classes=5
    ),
    "pairs of stores": OneVsOne(learner=BatchSVM(kernel=RBF(0.1), max_samples=N), n_classes=5),
    "rest of stores": OneVsRest(learner=BatchSVM(kernel=RBF(0.01), max_samples=N), n_classes=4),
    "pairs, some in float64": OneVsOne(
        learner=BatchSVM(kernel=Polynomial(3), tol=1e-5, max_samples=N), n_classes=4
    ),
}
LEARNERS = PLANES | KERNELS


def rows(width, dtype, n_classes):
    rng = np.random.default_rng([width, n_classes])
    y = rng.integers(0, n_classes, N)
    X = rng.standard_normal((N, width)) + 2 * rng.standard_normal((n_classes, width))[y]
    X[5] = 0.0
    X[:, 13:] *= rng.random(X[:, 13:].shape) < 0.1
    return X.astype(dtype), y


def of_dtype(learner, dtype):
    inner = learner.get_params(deep=False).get("learner")
    if inner is None:
        return type(learner)(**learner.get_params(deep=False) | {"dtype": dtype})
    return type(learner)(**learner.get_params(deep=False) | {"learner": of_dtype(inner, dtype)})


def taught(name, width, dtype, n_classes):
    learner = of_dtype(LEARNERS[name], dtype)
    most = n_classes if learner.n_classes_planned > 2 else min(n_classes, 2)
    X, y = rows(width, dtype, most)
    learner.partial_fit(X, y).decision_one(X[0])  # which solves a store
    return learner, X


@each("name", LEARNERS)
@each("dtype", ["float32", "float64"])
@each("n_classes", [1, 2, 4])
def test_each_row_has_the_value_that_it_has_alone(name, dtype, n_classes):
    for width in (1, 3, 8, 16, 20, 37) if name in PLANES else (1, 2, 8, 13, 100):
        learner, X = taught(name, width, dtype, n_classes)
        before = bytes(learner.arena)
        alone = np.array([learner.decision_one(row) for row in X])
        for n in (N, 32, 31, 9, 8, 7):
            assert learner.decision_function(X[:n]).tobytes() == alone[:n].tobytes()
        assert learner.decision_function(X, n_jobs=2).tobytes() == alone.tobytes()
        assert learner.predict(X).tolist() == [learner.predict_one(row) for row in X]
        assert bytes(learner.arena) == before


def test_equal_vectors_of_parts_are_counted_once():
    for name, count in (("pairs of stores", "n_support"), ("pairs of perceptrons", "n_held")):
        core = taught(name, 100, "float32", 4)[0].core
        same = SameVectors(core.parts)
        assert same.n_held == sum(part.views[count][()] for part in core.parts)
        assert 0 < same.n <= 0.75 * same.n_held, name  # then they are shared


def test_what_is_learned_between_two_calls_is_in_the_second():
    learner, X = taught("pairs of kernels", 8, "float32", 4)
    learner.decision_function(X)
    y = np.arange(N) % 4
    learner.partial_fit(X[::-1], y)
    alone = np.array([learner.decision_one(row) for row in X])
    assert learner.decision_function(X).tobytes() == alone.tobytes()


def test_rows_too_wide_for_a_block_are_decided_one_by_one():
    for name in ("kernels", "pairs of kernels"):
        learner, X = taught(name, 1025, "float32", 3)
        alone = np.array([learner.decision_one(row) for row in X])
        assert learner.decision_function(X).tobytes() == alone.tobytes()


@each("learner", [PLANES["fourier"], PLANES["fourier of five"]], ids=["fourier", "five"])
@each("width", [3, 20])
@each("size", [3, 9, N])
def test_features_found_ahead_are_those_of_the_row_that_is_learned(learner, width, size):
    """Also behind a row of weight zero, which is seen and not learned."""
    X, y = rows(width, "float32", 2)
    weights = np.ones(N)
    weights[[2, 10, 11]] = 0.0
    batch, alone = (of_dtype(learner, "float32") for _ in range(2))
    for row, label, weight in zip(X, y, weights, strict=True):
        alone.learn_one(row, label, weight)
    for at in range(0, N, size):
        part = slice(at, at + size)
        batch.partial_fit(X[part], y[part], sample_weight=weights[part])
    assert bytes(batch.arena) == bytes(alone.arena)
