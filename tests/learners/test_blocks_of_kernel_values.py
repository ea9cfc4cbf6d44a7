"""Kernel learners decide many rows by blocks of eight, and the parts of a multiclass learner take
kernel values with equal vectors once: to the byte what rows are one by one."""

import numpy as np
from each import each

from edgesvm import (
    LASVM,
    Forgetron,
    IncrementalDecrementalSVM,
    KernelPerceptron,
    KernelStreamSVM,
    OneVsOne,
    OneVsRest,
    TwinVectorMachine,
)

N = 75
TWO = {
    "stream": KernelStreamSVM(max_vectors=9),
    "stream of many": KernelStreamSVM(max_vectors=70),
    "share": KernelStreamSVM(max_vectors=9, when_full="share"),
    "share, linear": KernelStreamSVM(max_vectors=9, when_full="share", kernel="linear"),
    "not full": KernelStreamSVM(max_vectors=200, C=0.1),
    "perceptron": KernelPerceptron(max_vectors=67),
    "linear": KernelPerceptron(max_vectors=9, kernel="linear"),
    "poly": Forgetron(max_vectors=9, kernel="poly"),
    "lasvm": LASVM(max_vectors=30),
    "twins": TwinVectorMachine(max_twins=20),
    "decremental": IncrementalDecrementalSVM(max_vectors=40),
}
MANY = {
    "pairs": OneVsOne(learner=KernelStreamSVM(max_vectors=6), n_classes=5),
    "rest": OneVsRest(learner=KernelStreamSVM(max_vectors=6), n_classes=5),
    "pairs of perceptrons": OneVsOne(learner=KernelPerceptron(max_vectors=12), n_classes=4),
    "rest of twins": OneVsRest(learner=TwinVectorMachine(max_twins=6), n_classes=4),
    "pairs not full": OneVsOne(learner=KernelStreamSVM(max_vectors=40), n_classes=4),
    "pairs, some full": OneVsOne(learner=KernelStreamSVM(max_vectors=22), n_classes=4),
    "pairs that share": OneVsOne(
        learner=KernelStreamSVM(max_vectors=30, when_full="share"), n_classes=5
    ),
}


def rows(width, dtype, n_classes):
    rng = np.random.default_rng([width, n_classes])
    y = rng.integers(0, n_classes, N)
    X = rng.standard_normal((N, width)) + rng.standard_normal((n_classes, width))[y]
    X[5] = 0.0
    return X.astype(dtype), y


def taught(name, width, dtype, n_classes):
    learner = (TWO | MANY)[name]
    params = learner.get_params(deep=False)
    if inner := params.get("learner"):
        params["learner"] = type(inner)(**inner.get_params(deep=False) | {"dtype": dtype})
    else:
        params["dtype"] = dtype
    X, y = rows(width, dtype, n_classes if name in MANY else min(n_classes, 2))
    return type(learner)(**params).partial_fit(X, y), X


@each("name", [*TWO, *MANY])
@each("dtype", ["float32", "float64"])
@each("n_classes", [1, 2, 4])
def test_each_row_has_the_value_that_it_has_alone(name, dtype, n_classes):
    for width in (1, 2, 8, 13, 100):
        learner, X = taught(name, width, dtype, n_classes)
        before = bytes(learner.arena)
        alone = np.array([learner.decision_one(row) for row in X])
        for n in (N, 32, 31, 9, 8, 7):
            assert learner.decision_function(X[:n]).tobytes() == alone[:n].tobytes()
        assert learner.decision_function(X, n_jobs=2).tobytes() == alone.tobytes()
        assert learner.predict(X).tolist() == [learner.predict_one(row) for row in X]
        assert bytes(learner.arena) == before


def test_what_is_learned_between_two_calls_is_in_the_second():
    learner, X = taught("pairs", 8, "float32", 4)
    learner.decision_function(X)
    y = np.arange(N) % 4
    learner.partial_fit(X[::-1], y)
    alone = np.array([learner.decision_one(row) for row in X])
    assert learner.decision_function(X).tobytes() == alone.tobytes()


def test_rows_too_wide_for_a_block_are_decided_one_by_one():
    for name in ("stream", "pairs"):
        learner, X = taught(name, 1025, "float32", 3)
        alone = np.array([learner.decision_one(row) for row in X])
        assert learner.decision_function(X).tobytes() == alone.tobytes()
