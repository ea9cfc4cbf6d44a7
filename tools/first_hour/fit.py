"""`fit` as one calls it who knows scikit-learn."""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from edgesvm import ByteSVM, Standardized, cli

SETS = ("iris", "digits", "wine", "breast_cancer")


def scikit_learns_sets_as_they_come() -> str:
    """cross_val_score(ByteSVM(), X, y), two of the sets class by class, beside SVC"""
    found = np.array([_scores(name) for name in SETS])
    lines = [f"{name}: {_said(*row)}" for name, row in zip(SETS, found, strict=True)]
    return "\n".join([*lines, f"mean: {_said(*found.mean(axis=0))}"])


def more_than_two_classes() -> str:
    """Standardized().fit(X, y) of three kinds of iris, and of ten digits in too few bytes"""
    X, y, names = _iris()
    model = Standardized().fit(X, names[y])
    learned = f"{', '.join(model.classes_)}: {100 * model.score(X, names[y]):.1f} % right"
    small = Standardized.within("1.5KiB", n_features=64)
    try:
        small.fit(*datasets.load_digits(return_X_y=True))
    except ValueError as error:
        return f"{learned}\n{error}"
    return learned


def an_order_that_is_kept() -> str:
    """ByteSVM().fit(X, y, shuffle=False) of rows class by class"""
    X, y, _ = _iris()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ByteSVM().fit(X, y, shuffle=False)
    return "\n".join(str(warning.message) for warning in said)


def a_file_in_the_order_of_its_classes() -> str:
    """edgesvm eval iris.csv, as scikit-learn's set comes"""
    X, y, _ = _iris()
    return _evaluated(X, y)


def more_labels_than_bytes() -> str:
    """edgesvm eval digits.csv --memory 400: too few for ten labels"""
    return _evaluated(*datasets.load_digits(return_X_y=True), "--memory", "400")


def _evaluated(X: np.ndarray, y: np.ndarray, *options: str) -> str:
    rows = [",".join([*map(str, x), str(label)]) for x, label in zip(X, y, strict=True)]
    header = ",".join([*(f"x{j}" for j in range(X.shape[1])), "label"])
    shown = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.csv"
        file.write_text("\n".join([header, *rows, ""]), "utf-8")
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            cli.main(["eval", str(file), *options])
    return shown.getvalue()


def _iris() -> Any:
    iris = datasets.load_iris()
    return iris.data, iris.target, iris.target_names


def _scores(name: str) -> list[float]:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    svc = make_pipeline(StandardScaler(), SVC())
    return [100 * float(cross_val_score(model, X, y).mean()) for model in (ByteSVM(), svc)]


def _said(ours: float, theirs: float) -> str:
    return f"ByteSVM {ours:.1f} %, SVC {theirs:.1f} %"
