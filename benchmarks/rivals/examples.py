"""scikit-learn's own sets and tools, as its examples use them, on the default learner as it comes
and on scikit-learn's.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate, learning_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import ByteSVM

SETS = ("iris", "digits", "wine", "breast_cancer")
SHARES = (0.2, 0.5, 1.0)  # of the rows to learn


class Contestant(NamedTuple):
    learner: Any
    grid: dict[str, list[Any]]  # of a search


CONTESTANTS = {
    "ByteSVM()": Contestant(ByteSVM(), {"n_bytes": [4096, 16384]}),
    "SVC, scaled": Contestant(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0, 10.0]}),
    "SVC, as it comes": Contestant(SVC(), {"C": [1.0, 10.0]}),
    "LogisticRegression, scaled": Contestant(
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        {"logisticregression__C": [0.1, 1.0]},
    ),
    "RandomForest": Contestant(
        RandomForestClassifier(random_state=0), {"max_features": ["sqrt", 0.5]}
    ),
}


def searched(learner: Any, grid: dict[str, list[Any]], X: np.ndarray, y: np.ndarray) -> float:
    """Accuracy of the learner that a search chooses, on rows that the search did not see."""
    return float(cross_val_score(GridSearchCV(learner, grid, cv=3), X, y).mean())


def calibrated(learner: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Accuracy and log loss."""
    scores = ("accuracy", "neg_log_loss")
    found = cross_validate(CalibratedClassifierCV(learner, cv=3), X, y, scoring=scores)
    return float(found["test_accuracy"].mean()), -float(found["test_neg_log_loss"].mean())


def measured(contestant: Contestant, X: np.ndarray, y: np.ndarray) -> list[float]:
    """Accuracies in %, the last column a log loss."""
    learner, grid = contestant
    plain = float(cross_val_score(learner, X, y).mean())
    _, _, curve = learning_curve(
        learner, X, y, train_sizes=SHARES[:-1], shuffle=True, random_state=0
    )
    right, loss = calibrated(learner, X, y)
    accuracies = plain, *curve.mean(axis=1), searched(learner, grid, X, y), right
    return [*(100.0 * float(value) for value in accuracies), loss]


def main() -> None:
    args = parsed(arguments(__doc__))
    sets = SETS[:1] if args.quick else SETS
    names = list(CONTESTANTS)[:2] if args.quick else list(CONTESTANTS)
    figures: dict[str, dict[str, list[float]]] = {name: {} for name in names}
    warnings.simplefilter("error")
    for name in sets:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        for contestant in names:
            figures[contestant][name] = measured(CONTESTANTS[contestant], X, y)
            progress(f"{name}, {contestant}")
    columns = [
        "learner",
        "cross_val_score",
        *(f"learning_curve, {100 * share:.0f} %" for share in SHARES[:-1]),
        "GridSearchCV",
        "CalibratedClassifierCV",
        "its log loss",
    ]

    def row(name: str, values: Any) -> list[str]:
        return [name, *(f"{v:.1f}" for v in values[:-1]), f"{values[-1]:.3f}"]

    means = [row(name, np.mean([*figures[name].values()], axis=0)) for name in names]
    tables = [Table("Means of the sets", columns, means)]
    tables += [Table(of, columns, [row(name, figures[name][of]) for name in names]) for of in sets]
    about = (
        "Accuracy in %, of 5 folds as scikit-learn cuts them, with its defaults and nothing else"
        " set. ByteSVM has 4 KiB and scales its samples itself; the search chooses among two values"
        " of one parameter in 3 folds of the rows to learn."
    )
    title = "scikit-learn's sets by scikit-learn's tools"
    publish(Report("rivals/examples", title, tables, [about], figures), args.out)


if __name__ == "__main__":
    main()
