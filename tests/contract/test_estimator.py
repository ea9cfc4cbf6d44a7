"""scikit-learn's tools take a learner for what it does: it has none of their base classes."""

import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest

from edgesvm import GaussianNovelty, OneVsOne, Standardized, StreamSVM, errors

IMPORTED = """
import importlib.util, signal, sys
importlib.util.find_spec("edgesvm")  # the loader of an editable install
def state():
    handlers = [signal.getsignal(number) for number in sorted(signal.valid_signals())]
    return handlers, [*sys.meta_path], [*sys.path_hooks], sys.excepthook
before = state()
import edgesvm, edgesvm.cli, edgesvm.serve.job, edgesvm.serve.score
assert state() == before
here = {name.partition(".")[0] for name in sys.modules}
assert not here & {"sklearn", "scipy", "river", "pandas", "joblib"}, here
learner = edgesvm.StreamSVM()
assert learner._repr_html_() is None
bases = edgesvm.StreamSVM.__mro__
import sklearn.base, sklearn.exceptions
assert edgesvm.StreamSVM.__mro__ == bases and state()[1] == before[1]
assert "StreamSVM" in learner._repr_html_()
for kind in edgesvm.NotFittedError, sklearn.exceptions.NotFittedError:
    try:
        learner.predict([[1.0]])
    except kind as error:
        assert "has not learned" in str(error)
"""
APP = """
import time
try:
    print("ready", flush=True)
    time.sleep(60)
finally:
    print("closed", flush=True)
"""


def data(n_classes=2):
    rng = np.random.default_rng(0)
    y = np.arange(120) % n_classes
    return rng.standard_normal((120, 3)) + 2.5 * np.eye(3)[y], y


def test_importing_changes_nothing_of_python_and_imports_no_extra():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    subprocess.run([sys.executable, "-I", "-c", IMPORTED], check=True)


def test_ctrl_c_of_a_program_that_imports_edgesvm_runs_its_finally(tmp_path):
    (tmp_path / "myapp").mkdir()
    (tmp_path / "myapp" / "__init__.py").write_text("import edgesvm, edgesvm.cli\n")
    (tmp_path / "myapp" / "__main__.py").write_text(APP)
    with subprocess.Popen(
        [sys.executable, "-m", "myapp"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as app:
        assert app.stdout.readline() == "ready\n"
        app.send_signal(signal.SIGINT)
        out, told = app.communicate(timeout=60)
    assert out == "closed\n" and "KeyboardInterrupt" in told
    assert app.returncode == -signal.SIGINT


# -- with scikit-learn -----------------------------------------------------------------------------

TOOLS = (
    *("CalibratedClassifierCV", "BaggingClassifier", "AdaBoostClassifier"),
    *("VotingClassifier", "StackingClassifier", "OneVsRestClassifier"),
)


def around(tool, learner):
    """The learner in scikit-learn's tool of this name."""
    from sklearn import calibration, ensemble, multiclass
    from sklearn.base import clone

    pair = [("one", learner), ("two", clone(learner))]
    return {
        "CalibratedClassifierCV": lambda: calibration.CalibratedClassifierCV(learner, cv=3),
        "BaggingClassifier": lambda: ensemble.BaggingClassifier(learner, 3, random_state=0),
        "AdaBoostClassifier": lambda: ensemble.AdaBoostClassifier(learner, n_estimators=3),
        "VotingClassifier": lambda: ensemble.VotingClassifier(pair),
        "StackingClassifier": lambda: ensemble.StackingClassifier(pair, cv=3),
        "OneVsRestClassifier": lambda: multiclass.OneVsRestClassifier(learner),
    }[tool]()


@pytest.mark.parametrize("tool", TOOLS)
def test_tools(tool):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    X, y = data()
    model = around(tool, StreamSVM()).fit(X, y)
    assert model.score(X, y) > 0.9
    assert sorted(set(model.predict(X).tolist())) == [0, 1]


def test_what_they_ask_an_estimator():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from sklearn.base import is_classifier, is_outlier_detector
    from sklearn.exceptions import NotFittedError
    from sklearn.utils import get_tags
    from sklearn.utils.validation import check_is_fitted

    X, y = data(3)
    many = Standardized(learner=OneVsOne(n_classes=3))
    assert is_classifier(many) and get_tags(many).classifier_tags.multi_class
    assert get_tags(many).target_tags.required and get_tags(many).input_tags.sparse
    assert not get_tags(StreamSVM()).classifier_tags.multi_class
    with pytest.raises(NotFittedError):
        check_is_fitted(many)
    check_is_fitted(many.fit(X, y))
    novelty = GaussianNovelty()
    assert is_outlier_detector(novelty) and not is_classifier(novelty)
    assert not get_tags(novelty).target_tags.required


def test_what_is_raised_is_theirs_too_and_comes_through_a_pickle():
    exceptions = pytest.importorskip("sklearn.exceptions", reason="scikit-learn is not installed")
    for kind in (errors.NotFittedError, errors.ConvergenceWarning, errors.DataConversionWarning):
        both = errors.as_sklearns(kind)
        assert issubclass(both, kind) and issubclass(both, getattr(exceptions, kind.__name__))
        assert errors.as_sklearns(kind) is both
    with pytest.raises(errors.NotFittedError) as raised:
        StreamSVM().predict(np.eye(3))
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is errors.NotFittedError and again.args == raised.value.args


class Priced(StreamSVM):
    def fit(self, X, y, price=None):
        return super().fit(X, y)


def test_metadata_is_requested_by_the_names_of_the_arguments():
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")

    with sklearn.config_context(enable_metadata_routing=True):
        learner = Priced().set_fit_request(price=True).set_score_request(sample_weight="w")
        routing = sklearn.base.clone(learner).get_metadata_routing()
        assert routing.fit.requests == {"price": True}
        assert routing.score.requests == {"sample_weight": "w", "n_jobs": None}
        assert routing.partial_fit.requests == {"classes": None, "sample_weight": None}
        routing.fit.add_request(param="price", alias=False)
        assert learner.get_metadata_routing().fit.requests == {"price": True}
        with pytest.raises(TypeError, match="fit takes no 'weight' besides X and y; it takes pri"):
            learner.set_fit_request(weight=True)
        for method in ("partial_fit", "predict", "decision_function"):
            asked = {"predict": "n_jobs", "decision_function": "out"}.get(method, "classes")
            getattr(learner, f"set_{method}_request")(**{asked: True})
            assert getattr(learner.get_metadata_routing(), method).requests[asked] is True
