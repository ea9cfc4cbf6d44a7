"""joblib and skops keep a learner as a pickle does."""

import numpy as np
import pytest
from each import each

from edgesvm import RBF, BatchSVM, Standardized, StreamSVM
from edgesvm.contract.registry import LEARNERS

X = np.random.default_rng(0).standard_normal((60, 4)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int)
MADE = [StreamSVM(C=2.0), BatchSVM(kernel=RBF(0.5)), Standardized(learner=StreamSVM())]
MADE += [LEARNERS[name]() for name in sorted(LEARNERS)]


def assert_same(loaded, learner):
    assert bytes(loaded.arena) == bytes(learner.arena) and repr(loaded) == repr(learner)
    more = () if not learner.takes_labels else (Y[:30],)
    loaded.partial_fit(X[:30], *more)
    learner.partial_fit(X[:30], *more)
    assert bytes(loaded.arena) == bytes(learner.arena)


@each("learner", MADE)
def test_skops(learner):
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    kept = skops.dumps(learner.fit(X, Y))
    foreign = skops.get_untrusted_types(data=kept)
    assert foreign and all(name.startswith("edgesvm.") for name in foreign)
    assert_same(skops.loads(kept, trusted=foreign), learner)


@each("learner", MADE)
def test_joblib(learner, tmp_path):
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    joblib.dump(learner.fit(X, Y), tmp_path / "model", compress=3)
    assert_same(joblib.load(tmp_path / "model"), learner)
