"""What finds the strange rows: ours in so many bytes, and what a user would take instead."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDOneClassSVM
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import OneClassSVM

from benchmarks.common.clock import timed
from benchmarks.novelty.rows import CLIP, Rows, Scaled
from edgesvm import GaussianNovelty, KernelNovelty, Learner, MemoryBudgetError

BUDGETS = {"4 KiB": 4 << 10, "16 KiB": 16 << 10, "64 KiB": 64 << 10}
FALSE_ALARMS = 0.01
N_NYSTROEM = 128
TREES = "river HalfSpaceTrees"


class Found(NamedTuple):
    auc: float
    detected: float  # share of the strange rows above all but 1 % of the normal ones
    n_bytes: int
    us: float  # a row learned


def judged(scores: Callable[[np.ndarray], np.ndarray], rows: Rows) -> tuple[float, float]:
    """AUC and detection by scores that are higher for what is stranger."""
    fine, odd = scores(rows.normal), scores(rows.strange)
    labels = np.repeat([0, 1], [len(fine), len(odd)])
    above = odd > np.quantile(fine, 1 - FALSE_ALARMS)
    return float(roc_auc_score(labels, np.concatenate([fine, odd]))), float(above.mean())


# -- ours --------------------------------------------------------------------------------------


def ours(n_features: int, **params: Any) -> dict[str, Learner]:
    """By name; those that have no room are left out."""
    found: dict[str, Learner] = {}
    for name, learner in {
        "GaussianNovelty": GaussianNovelty(**params),
        "GaussianNovelty, diagonal": GaussianNovelty(covariance="diagonal", **params),
    }.items():
        found[name] = learner
    for name, budget in BUDGETS.items():
        try:
            found[f"KernelNovelty, {name}"] = KernelNovelty(**params).fitted_into(
                budget, n_features
            )
        except MemoryBudgetError:
            continue
    return found


def run_ours(learner: Learner, rows: Rows) -> Found:
    seconds = timed(lambda: learner.partial_fit(rows.learned))
    auc, detected = judged(lambda X: -learner.score_samples(X), rows)
    return Found(auc, detected, learner.nbytes, 1e6 * seconds / len(rows.learned))


# -- others, on rows scaled by the running statistics ------------------------------------------


def of_scikit_learn(n_features: int, seed: int) -> dict[str, Any]:
    gamma = 3 / n_features
    nystroem = Nystroem(gamma=gamma, n_components=N_NYSTROEM, random_state=seed)
    return {
        "OneClassSVM, gamma 1/D": OneClassSVM(gamma=1 / n_features, nu=0.01),
        "OneClassSVM, gamma 3/D": OneClassSVM(gamma=gamma, nu=0.01),
        "Nyström, SGDOneClassSVM": make_pipeline(
            nystroem, SGDOneClassSVM(nu=0.01, random_state=seed)
        ),
        "IsolationForest": IsolationForest(random_state=seed),
    }


def run_other(model: Any, rows: Rows, scaled: Scaled) -> Found:
    seconds = timed(lambda: model.fit(scaled.learned))
    there = Rows(scaled.learned, scaled(rows.normal), scaled(rows.strange))
    auc, detected = judged(lambda Z: -model.decision_function(Z), there)
    return Found(auc, detected, len(pickle.dumps(model)), 1e6 * seconds / len(rows.learned))


class Streamed:
    """One of river's, one row at a time: its score is higher for what is stranger."""

    def __init__(self, model: Any, squeeze: float = 1.0, shift: float = 0.0) -> None:
        self.model, self.squeeze, self.shift = model, squeeze, shift

    def fit(self, Z: np.ndarray) -> None:
        for row in self.rows(Z):
            self.model.learn_one(row)

    def decision_function(self, Z: np.ndarray) -> np.ndarray:
        return -np.array([self.model.score_one(row) for row in self.rows(Z)])

    def rows(self, Z: np.ndarray) -> Iterator[dict[int, float]]:
        return (dict(enumerate(row)) for row in (self.shift + self.squeeze * Z).tolist())


def of_river(seed: int) -> dict[str, Streamed]:
    """Its trees take features from 0 to 1; its `OneClassSVM` is linear."""
    from river.anomaly import HalfSpaceTrees, OneClassSVM

    trees = Streamed(HalfSpaceTrees(seed=seed), squeeze=0.5 / CLIP, shift=0.5)
    return {TREES: trees, "river OneClassSVM": Streamed(OneClassSVM(nu=0.01))}
