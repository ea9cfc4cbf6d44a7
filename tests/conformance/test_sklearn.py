"""scikit-learn's tools take every learner, though it is no dependency; its own checks pass."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from each import each, each_of
from registry import OWN_METHODS

from edgesvm import (
    BatchSVM,
    BatchSVR,
    OneVsOne,
    OneVsRest,
    ReservoirSVM,
    StreamSVM,
)
from edgesvm.catalogue import CATALOGUE
from edgesvm.contract.registry import LEARNERS

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import (  # noqa: E402
    check_dataframe_column_names_consistency,
    check_estimator,
    check_sample_weight_equivalence_on_dense_data,
)

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (`check_.*?`|the same) \| (.+?) \| (.+) \|$", re.M)
ALL = {  # what the table says instead of names
    "all that learn a sample in one step, and the wrappers": [
        entry.name for entry in CATALOGUE if entry.weights == "steps"
    ],
    "all with `class_weight`": [
        entry.name for entry in CATALOGUE if "class_weight" in entry.takes.split()
    ],
}


def table():
    """The exceptions in docs/scikit-learn.md: reason by check, by class name."""
    reasons, checks = {}, []
    for cell, names, reason in ROW.findall((ROOT / "docs/scikit-learn.md").read_text("utf-8")):
        checks = checks if cell == "the same" else re.findall(r"`(\w+)`", cell)
        for name in ALL.get(names, names.split(", ")):
            reasons.setdefault(name, {}).update(dict.fromkeys(checks, reason))
    return reasons


def failing(learner):
    """Names of the checks that it fails."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*ended before it converged")
        warnings.filterwarnings("ignore", message=".*does not inherit from `sklearn.base")
        found = check_estimator(learner, on_skip=None, on_fail=None)
    assert sum(check["status"] == "passed" for check in found) > 40
    return {check["check_name"] for check in found if check["status"] == "failed"}


@each("name", LEARNERS)
def test_its_own_checks_fail_as_the_table_has_it(name):
    allowed = set(table().get(name, {}))
    told = (
        f"{name}: `weights` and `takes` in edgesvm/catalogue.py, or docs/scikit-learn.md, say that"
    )
    assert failing(LEARNERS[name]()) == allowed, f"{told} these checks fail: {sorted(allowed)}"


def test_the_table_names_learners():
    assert set(table()) <= set(LEARNERS) and len(table()) > 20


@each("learner", [BatchSVM, BatchSVR, ReservoirSVM, OneVsOne, OneVsRest])
def test_weights_equal_repetition_for_an_exact_solver(learner):
    exact = {"tol": 1e-10, "dtype": "float64"}
    many = learner in (OneVsOne, OneVsRest)
    model = learner(learner=BatchSVM(**exact), n_classes=3) if many else learner(**exact)
    check_sample_weight_equivalence_on_dense_data(learner.__name__, model)


@each("name", sorted(LEARNERS))
def test_columns_of_a_dataframe(name):
    pytest.importorskip("pandas", reason="pandas is not installed")
    check_dataframe_column_names_consistency(name, LEARNERS[name]())


def test_metadata_routing_reaches_a_learner():
    X, y = np.random.default_rng(0).standard_normal((60, 3)), np.arange(60) % 2
    weights = np.where(np.arange(60) < 30, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        learner = StreamSVM().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, learner).fit(X, y, sample_weight=weights)
    scaled = StandardScaler().fit_transform(X)
    expected = StreamSVM().fit(scaled, y, sample_weight=weights)
    assert bytes(pipeline[-1].arena) == bytes(expected.arena)
    assert clone(learner).get_metadata_routing().fit.requests["sample_weight"] is True


def test_a_solver_that_ended_early_warns_as_theirs():
    X = np.random.default_rng(0).standard_normal((60, 3))
    with pytest.warns(ConvergenceWarning, match=r"BatchSVM ended before it converged \(max_iter=1"):
        BatchSVM(max_iter=1).fit(X, X[:, 0] * X[:, 1] > 0)


@pytest.mark.entries(*OWN_METHODS)
@each_of("subject")
def test_pipeline(subject):
    X, y = subject.stream(200)
    pipeline = make_pipeline(StandardScaler(), subject.make()).fit(X, y)
    scaled = StandardScaler().fit(X).transform(X)
    expected = subject.make().fit(scaled, y)
    assert pipeline.predict(X).tolist() == expected.predict(scaled).tolist()
    assert pipeline.score(X, y) == expected.score(scaled, y)


@pytest.mark.entries(*OWN_METHODS)
@pytest.mark.labels
@each_of("subject")
def test_grid_search(subject):
    if not subject.entry.tuned:
        pytest.skip("it has no number among its parameters")
    X, y = subject.stream(150)
    words = ("cold", "hot", "mild", "off")[: subject.entry.n_classes]
    labels = np.array(subject.entry.renamed(y, words))
    grid = subject.entry.named(**{subject.entry.tuned: [0.1, 10.0]})
    search = GridSearchCV(subject.make(), grid, cv=3, scoring="balanced_accuracy")
    search.fit(X, labels)
    assert list(search.best_params_) == list(grid)
    assert search.best_params_[next(iter(grid))] in (0.1, 10.0)
    assert search.predict(X).dtype.kind == "U"
    assert set(search.predict(X)) <= set(words)


@pytest.mark.entries(*OWN_METHODS)
@pytest.mark.targets
@each_of("subject")
def test_grid_search_and_scores_of_a_regressor(subject):
    if not subject.entry.tuned:
        pytest.skip("it has nothing to tune")
    X, y = subject.stream(150)
    values = [0.999, 0.5] if subject.entry.tuned == "forgetting" else [0.01, 0.3]
    grid = subject.entry.named(**{subject.entry.tuned: values})
    search = GridSearchCV(subject.make(), grid, cv=3, scoring="neg_mean_absolute_error")
    assert list(search.fit(X, y).best_params_.values()) == values[1:]
    theirs = cross_val_score(subject.make(), X, y, cv=3, scoring="r2")
    assert theirs.tolist() == pytest.approx(cross_val_score(subject.make(), X, y, cv=3).tolist())
