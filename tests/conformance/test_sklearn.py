"""scikit-learn's tools take every learner, though it is no dependency; its own checks pass."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from each import each_of
from registry import DOORS, settings

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone, is_classifier  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

# check -> why a learner of this library cannot pass it
EXPECTED_FAILURES = {
    "check_non_transformer_estimators_n_iter": (
        "the newest rows of its sorted data, which a window holds, are of one class: no iteration"
    ),
    "check_estimators_unfitted": "asks for scikit-learn's own class; ours has the same bases",
    "check_supervised_y_2d": "asks for scikit-learn's own warning; a (n, 1) column is refused",
    "check_class_weight_classifiers": (
        "gives a weight for each class; ours are by the counts so far, or None"
    ),
    "check_sample_weight_equivalence_on_dense_data": (
        "weight 2 is one sample of twice the cost, which in one pass is not two samples"
    ),
    "check_sample_weight_equivalence_on_sparse_data": "the same",
}
PRICED = {
    "check_classifiers_train": "a price moves the decision from the most probable label",
}
FOUR_CLASSES = dict.fromkeys(
    ("check_dtype_object", "check_estimator_sparse_array", "check_estimator_sparse_matrix"),
    "its data have four classes, the learner has room for three",
)


# A check asks for what it asks once a learner, in one item: there are some fifty.
@each_of("compiled")
def test_its_own_checks(compiled):
    failures = EXPECTED_FAILURES | (FOUR_CLASSES if compiled.entry.n_classes == 3 else {})
    failures |= PRICED if compiled.entry.by_label else {}
    with warnings.catch_warnings():
        # scikit-learn is no dependency, so no learner inherits from its base class.
        warnings.filterwarnings(
            "ignore", message=".*does not inherit from `sklearn.base.BaseEstimator`"
        )
        checks = check_estimator(
            compiled.make(), expected_failed_checks=failures, on_skip=None, on_fail=None
        )
    for check in checks:
        if check["status"] == "failed":
            raise AssertionError(check["check_name"]) from check["exception"]
    assert sum(check["status"] == "passed" for check in checks) > 40


@pytest.mark.entries(*DOORS)
def test_clone_is_equal_and_holds_nothing(compiled):
    learner = compiled.learned()
    copied = clone(learner)
    assert settings(copied) == settings(learner)
    assert copied.nbytes == 0 and type(copied) is type(learner)
    for name, value in learner.get_params(deep=False).items():
        assert getattr(learner, name) is value


@pytest.mark.entries(*DOORS)
def test_pipeline(compiled):
    X, y = compiled.stream(200)
    pipeline = make_pipeline(StandardScaler(), compiled.make()).fit(X, y)
    scaled = StandardScaler().fit(X).transform(X)
    expected = compiled.make().fit(scaled, y)
    assert pipeline.predict(X).tolist() == expected.predict(scaled).tolist()
    assert pipeline.decision_function(X).tolist() == expected.decision_function(scaled).tolist()


@pytest.mark.entries(*DOORS)
def test_grid_search(compiled):
    if not compiled.entry.tuned:
        pytest.skip("it has no number among its parameters")
    X, y = compiled.stream(150)
    words = ("cold", "hot", "mild", "off")[: compiled.entry.n_classes]
    labels = np.array(compiled.entry.renamed(y, words))
    grid = compiled.entry.named(**{compiled.entry.tuned: [0.1, 10.0]})
    search = GridSearchCV(compiled.make(), grid, cv=3, scoring="balanced_accuracy")
    search.fit(X, labels)
    assert list(search.best_params_) == list(grid)
    assert search.best_params_[next(iter(grid))] in (0.1, 10.0)
    assert search.predict(X).dtype.kind == "U"
    assert set(search.predict(X)) <= set(words)


@pytest.mark.entries(*DOORS)
def test_cross_validation_scores(compiled):
    X, y = compiled.stream(150)
    for scoring in ("accuracy", "roc_auc") if compiled.entry.n_classes == 2 else ("accuracy",):
        scores = cross_val_score(compiled.make(), X, y, cv=3, scoring=scoring)
        assert scores.shape == (3,) and np.isfinite(scores).all()


@pytest.mark.entries(*DOORS)
def test_it_is_a_classifier(compiled):
    assert is_classifier(compiled.make())


def test_the_package_does_not_import_scikit_learn():
    code = "import sys, edgesvm; assert not [m for m in sys.modules if m.startswith('sklearn')]"
    subprocess.run([sys.executable, "-I", "-c", code], check=True)
