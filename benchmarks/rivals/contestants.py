"""Who competes, and how each runs: predict a sample, then learn it; once labels stop, predict only.

Ours are as large as fits, and are given raw rows: they stand behind `Standardized`, or scale them
themselves. The others are given rows that are scaled in the same way, which costs them neither time
nor bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from benchmarks.common.clock import since
from benchmarks.common.rivals import NystroemSGD, vectors_within
from benchmarks.common.scores import float_bytes
from benchmarks.rivals.streams import running
from edgesvm import ByteSVM, FourierSVM, Standardized
from edgesvm.cli.learner_options import DEFAULTS, class_of
from edgesvm.learner import Learner

CHECKED_EVERY = 64  # rows between two looks at the clock


class OutOfTime(Exception):
    """A contestant took more of the processor than a cell may have."""


@dataclass(frozen=True)
class Found:
    """Predictions while labels came, from the second row on, and after; bytes at the end; seconds
    of the processor until labels stopped.
    """

    before: np.ndarray
    after: np.ndarray
    n_bytes: int
    seconds: float


def prequential(
    predict: Callable[[Any], Any], learn: Callable[[Any, Any], Any], rows: Any, y: Any, limit: float
) -> tuple[np.ndarray, float]:
    """Predictions of all rows but the first, and seconds of the processor."""
    begin = process_time()
    predicted = []
    for i, (x, label) in enumerate(zip(rows, y, strict=True)):
        if i:
            predicted.append(predict(x))
        learn(x, label)
        if i % CHECKED_EVERY == 0 and since(begin) > limit:
            raise OutOfTime
    return np.array(predicted), since(begin)


def ours(learner: Learner, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, limit: float) -> Found:
    """A learner that is allocated."""
    before, seconds = prequential(learner.predict_one, learner.learn_one, X, y.tolist(), limit)
    return Found(before, learner.predict(X_test), learner.nbytes, seconds)


def standardized_fourier(budget: int, n_features: int, n_classes: int) -> Learner:
    plain = FourierSVM(n_classes=n_classes)
    return Standardized.within(budget, n_features=n_features, learner=plain)


# Ours that learn any number of classes: (bytes, features, classes) to the largest that fits. The
# name is that of the command line.
OF_MANY: dict[str, Callable[[int, int, int], Learner]] = {
    "byte": lambda budget, n_features, _: ByteSVM.within(budget, n_features=n_features),
    "fourier": standardized_fourier,
}


def allocated(
    kind: str, budget: int, n_features: int, *, n_classes: int = 2, classes: Any = None
) -> Learner:
    """The largest of its kind; MemoryBudgetError if none fits."""
    if kind in OF_MANY:
        whole = OF_MANY[kind](budget, n_features, n_classes)
    else:
        plain = class_of(kind)(**DEFAULTS.get(kind, {}))
        whole = Standardized(learner=plain).fitted_into(budget, n_features)
    return whole.allocate(n_features, classes=classes)


def n_directions(learner: Learner) -> int:
    """Random directions of a learner, or of the one inside; each gives a cosine and a sine."""
    plain: Any = learner
    if isinstance(plain, ByteSVM):
        return plain.n_directions_
    while not hasattr(plain, "n_directions"):
        plain = plain.inner
    return int(plain.n_directions)


# -- what a user would take instead ----------------------------------------------------------------


def river(make: Callable[[], Any], X: Any, y: Any, X_test: Any, limit: float) -> Found:
    model, (X, X_test) = make(), running(X, X_test)
    names = range(X.shape[1])
    rows = [dict(zip(names, x, strict=True)) for x in X.tolist()]
    before, seconds = prequential(model.predict_one, model.learn_one, rows, y.tolist(), limit)
    before = np.array([bool(p) for p in before])  # None before there was a sample of each class
    after = [bool(model.predict_one(dict(zip(names, x, strict=True)))) for x in X_test.tolist()]
    return Found(before, np.array(after), model._raw_memory_usage, seconds)


def of_river() -> dict[str, Callable[[], Any]]:
    from river import forest, linear_model, tree

    return {
        "LogisticRegression": linear_model.LogisticRegression,
        "PAClassifier": linear_model.PAClassifier,
        "ALMAClassifier": linear_model.ALMAClassifier,
        "HoeffdingTree": tree.HoeffdingTreeClassifier,
        "ARF": partial(forest.ARFClassifier, seed=0),
    }


def sgd(X: Any, y: Any, X_test: Any, limit: float) -> Found:
    """scikit-learn's averaged SGD, a row at a time."""
    from sklearn.linear_model import SGDClassifier

    model, (X, X_test) = SGDClassifier(average=True, random_state=0), running(X, X_test)

    def learn(x: np.ndarray, label: bool) -> None:
        model.partial_fit(x[None], [label], classes=[False, True])

    before, seconds = prequential(lambda x: model.predict(x[None])[0], learn, X, y, limit)
    return Found(before, model.predict(X_test), float_bytes(vars(model).values()), seconds)


def nystroem(budget: int, X: Any, y: Any, X_test: Any, limit: float) -> Found:
    """Nystroem's map from the first rows, then averaged SGD on it: none is predicted until then
    but the larger class.
    """
    size = vectors_within(budget, X.shape[1], 8)
    if size < 1:
        raise MemoryError
    warm = min(10 * size, len(X) // 2)
    model = NystroemSGD(min(size, warm), alpha=1e-4, gamma=1 / X.shape[1], warm=warm, chunk=warm)
    X, X_test = running(X, X_test)
    begin = process_time()
    model.partial_fit(X[:warm], y[:warm], classes=[False, True])

    def learn(x: np.ndarray, label: bool) -> None:
        model.partial_fit(x[None], np.array([label]), classes=[False, True])

    first = larger_so_far(y[:warm])
    rest, _ = prequential(lambda x: model.predict(x[None])[0], learn, X[warm:], y[warm:], limit)
    before = np.concatenate([first, model.predict(X[warm][None]), rest])
    return Found(before, model.predict(X_test), model.nbytes, since(begin))


def larger_so_far(y: np.ndarray) -> np.ndarray:
    """Of each row but the first: the larger class of those before it."""
    positive = np.cumsum(y)[:-1]
    answer: np.ndarray = 2 * positive > np.arange(1, len(y))
    return answer


def svc(X: Any, y: Any, X_test: Any, limit: float) -> Found:
    """LIBSVM, C = 10, on all rows so far, fitted anew whenever these have doubled, and at the
    end.
    """
    from sklearn.svm import SVC

    X, X_test = running(X, X_test)
    begin = process_time()
    before, n, model = [], 1, None
    while n < len(X):
        end = min(2 * n, len(X))
        one_class = len(np.unique(y[:n])) == 1
        model = None if one_class else SVC(C=10.0, gamma=1 / X.shape[1]).fit(X[:n], y[:n])
        before.append(np.full(end - n, y[0]) if model is None else model.predict(X[n:end]))
        n = end
        if since(begin) > limit:
            raise OutOfTime
    model = SVC(C=10.0, gamma=1 / X.shape[1]).fit(X, y)
    return Found(np.concatenate(before), model.predict(X_test), X.nbytes, since(begin))
