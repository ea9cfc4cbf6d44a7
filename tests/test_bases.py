"""Classes get bases from another package when it is imported, in either order, and only then."""

import subprocess
import sys

import pytest

CODE = """
import pickle, sys
{imports}
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from edgesvm import errors
learner = made if "made" in globals() else edgesvm.StreamSVM()
assert isinstance(learner, BaseEstimator) and isinstance(learner, ClassifierMixin)
assert issubclass(edgesvm.OneVsOne, ClassifierMixin)
assert issubclass(edgesvm.GaussianNovelty, OutlierMixin)
assert not issubclass(edgesvm.GaussianNovelty, ClassifierMixin)
assert edgesvm.StreamSVM.score is edgesvm.Learner.score  # our own methods come first
assert hasattr(learner, "set_partial_fit_request")
for ours, theirs in [
    (errors.NotFittedError, NotFittedError),
    (errors.ConvergenceWarning, ConvergenceWarning),
    (errors.DataConversionWarning, DataConversionWarning),
]:
    assert issubclass(ours, theirs)
class Later(edgesvm.StreamSVM):
    def fit(self, X, y, price=None):
        return super().fit(X, y)
import sklearn
with sklearn.config_context(enable_metadata_routing=True):
    assert Later().set_fit_request(price=True).get_metadata_routing().fit.requests["price"]
assert pickle.loads(pickle.dumps(learner)).get_params() == learner.get_params()
"""
LATE = """class Extra:
    hooked = True

    def __init_subclass__(cls):
        cls.seen = True
"""
ORDERS = ["import edgesvm", "import edgesvm\nmade = edgesvm.StreamSVM()", "import sklearn, edgesvm"]


@pytest.mark.parametrize("imports", ORDERS, ids=["after", "after an instance", "before"])
def test_learners_are_estimators_in_either_order(imports):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    subprocess.run([sys.executable, "-I", "-c", CODE.format(imports=imports)], check=True)


def test_nothing_that_is_no_dependency_is_imported():
    code = """
import sys, edgesvm, edgesvm.cli, edgesvm.runner, edgesvm.evaluation
here = {name.partition(".")[0] for name in sys.modules}
assert not here & {"sklearn", "scipy", "river", "pandas", "joblib", "onnx", "skops"}, here
assert edgesvm.StreamSVM.__mro__[-2].__name__ == "Saved"
"""
    subprocess.run([sys.executable, "-I", "-c", code], check=True)


def test_a_module_is_waited_for_only_by_its_name(tmp_path):
    (tmp_path / "late.py").write_text(LATE)
    (tmp_path / "broken.py").write_text("class Extra: pass\nraise RuntimeError('half')\n")
    code = f"""
import sys
from edgesvm.bases import WAITING, joined
sys.path.insert(0, {str(tmp_path)!r})
class Base: pass
@joined("late", "Extra")
class Early(Base): pass
class Below(Early): pass
@joined("broken", "Extra")
class Other(Base): pass
assert not hasattr(Early, "hooked")
try:
    import broken
except RuntimeError:
    assert Other.__bases__ == (Base,) and "broken" in WAITING
import late
assert Below.hooked and Below.seen and Early.seen and "late" not in WAITING
assert late.__loader__.get_source("late").startswith("class Extra")
@joined("late", "Extra")
class Next(Base): pass
assert Next.__bases__ == (Base, late.Extra)
"""
    subprocess.run([sys.executable, "-I", "-c", code], check=True)
