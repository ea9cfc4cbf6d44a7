"""Decisions of many rows, by blocks: to the byte what they are one by one."""

import numpy as np
from each import each

from edgesvm import (
    AdaGradSVM,
    FourierSVM,
    OneVsOne,
    OneVsRest,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    Standardized,
    StreamSVM,
)

WIDTHS = (1, 3, 8, 16, 20, 37)
TWO = {
    "stream": StreamSVM(),
    "as they are": StreamSVM(normalize=False, fit_intercept=False),
    "perceptron": Perceptron(),
    "passive-aggressive": PassiveAggressive(fit_intercept=False),
    "pegasos": Pegasos(),
    "adagrad": AdaGradSVM(),
    "fourier": FourierSVM(n_directions=70),
    "fourier, one width": FourierSVM(n_directions=70, weigh_widths=False),
}
MANY = {
    "rest of stream": OneVsRest(learner=StreamSVM(), n_classes=5),
    "pairs of stream": OneVsOne(learner=StreamSVM(average=False), n_classes=5),
    "rest of perceptrons": OneVsRest(learner=Perceptron(), n_classes=4),
    "pairs of adagrad": OneVsOne(learner=AdaGradSVM(), n_classes=4),
    "rest of standardized": OneVsRest(learner=Standardized(learner=StreamSVM()), n_classes=4),
    "adagrad of five": AdaGradSVM(n_classes=5),
    "fourier of five": FourierSVM(n_classes=5, n_directions=70),
    "one of many pairs": OneVsOne(learner=Perceptron(), n_classes=13),
}
N = 75


def rows(width, dtype, n_classes):
    rng = np.random.default_rng([width, n_classes])
    y = rng.integers(0, n_classes, N)
    X = rng.standard_normal((N, width)) + 2 * rng.standard_normal((n_classes, width))[y]
    X[5] = 0.0
    return X.astype(dtype), y


def of_dtype(learner, dtype):
    inner = learner.get_params(deep=False).get("learner")
    if inner is None:
        return type(learner)(**learner.get_params(deep=False) | {"dtype": dtype})
    return type(learner)(**learner.get_params(deep=False) | {"learner": of_dtype(inner, dtype)})


def decided_alike(learner, X):
    one = np.array([learner.decision_one(row) for row in X])
    assert learner.decision_function(X).tobytes() == one.tobytes()
    assert learner.predict(X).tolist() == [learner.predict_one(row) for row in X]


@each("learner", [*TWO.values(), *MANY.values()], ids=[*TWO, *MANY])
@each("dtype", ["float32", "float64"])
@each("n_classes", [1, 2, 4])
def test_each_row_has_the_value_that_it_has_alone(learner, dtype, n_classes):
    for width in WIDTHS:
        X, y = rows(width, dtype, n_classes if learner in MANY.values() else min(n_classes, 2))
        decided_alike(of_dtype(learner, dtype).partial_fit(X, y), X)


@each("learner", [TWO["fourier"], MANY["fourier of five"]], ids=["fourier", "five"])
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
