"""Learners as classifiers, regressors and anomaly detectors of river, and under its own checks."""

import pickle

import numpy as np
import pytest
from each import each

river = pytest.importorskip("river", minversion="0.26", reason="river is not installed")
pytest.importorskip("sklearn", reason="river's checks need scikit-learn, which is not installed")

from river import checks, compose, drift, ensemble, evaluate, metrics  # noqa: E402
from river import datasets as river_data  # noqa: E402
from river import preprocessing as river_stages  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402

import edgesvm  # noqa: E402
from edgesvm.compat.river import AnomalyDetector, Classifier, Regressor, scored  # noqa: E402
from edgesvm.contract.registry import LEARNERS  # noqa: E402
from edgesvm.data import Source  # noqa: E402
from edgesvm.serve.taught import predict_then_learn  # noqa: E402

OLDEST = {"when_full": "oldest"}
PARAMS = {"BatchSVM": OLDEST, "BatchSVR": OLDEST}  # by default its store refuses the 1,001st sample
N_CHECKS = {False: 42, True: 53}  # of a two-class, of a multiclass learner
REGRESSORS = {name for name, kind in LEARNERS.items() if kind.regresses is True}
WITHOUT_LABELS = {name for name, kind in LEARNERS.items() if not kind.takes_labels}


def run_checks(model):
    n = 0
    for check in checks.yield_checks(model):
        try:
            check(model.clone())
        except Exception as error:
            raise AssertionError(check.__name__) from error
        n += 1
    return n


# Every fourth learner by name; what all share is checked by tests/conformance.
@each("name", [*sorted(set(LEARNERS) - WITHOUT_LABELS - REGRESSORS)[::4], "OneVsRest"])
def test_rivers_own_checks(name):
    model = Classifier(LEARNERS[name](**PARAMS.get(name, {})))
    assert not model._unit_test_skips()
    assert run_checks(model) >= N_CHECKS[name in ("OneVsOne", "OneVsRest")]


@each("name", [*sorted(REGRESSORS), ""])
def test_rivers_own_checks_of_regressors(name):
    model = Regressor(LEARNERS[name](**PARAMS.get(name, {}))) if name else Regressor()
    assert not model._unit_test_skips()
    assert run_checks(model) >= 25
    assert model.predict_one({"a": 1.0}) == 0.0
    rng = np.random.default_rng(0)
    for x in rng.standard_normal((300, 2)):
        model.learn_one({"a": x[0], "b": x[1]}, 5.0 + 2.0 * x[0] - x[1], w=2.0)
    assert abs(model.predict_one({"b": 1.0, "a": 1.0}) - 6.0) < 0.5


class Cards:
    """In place of river's credit cards, which it downloads: after 300, 2 % are strange."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        rng = np.random.default_rng(7)
        for i in range(self.n):
            strange = i > 300 and rng.random() < 0.02
            x = rng.standard_normal(30) + 3 * strange
            yield {f"V{j}": value for j, value in enumerate(x.tolist())}, int(strange)


@each("name", sorted(WITHOUT_LABELS))
def test_rivers_own_checks_of_detectors(name, monkeypatch):
    monkeypatch.setattr(checks, "_yield_datasets", lambda model, scale=1: [Cards(1000 * scale)])
    assert run_checks(AnomalyDetector(LEARNERS[name]())) >= 26
    model, scores = AnomalyDetector(LEARNERS[name]()), []
    for x, _ in Cards(2000):
        scores.append(model.score_one(x))
        model.learn_one(x)
    assert roc_auc_score([label for _, label in Cards(2000)], scores) > 0.8
    assert model.threshold_ > np.median(scores)


def test_one_sample_at_a_time_is_the_learner_itself():
    X, y = np.random.default_rng(0).standard_normal((300, 3)).astype(np.float32), None
    y = X[:, 0] + X[:, 1] > 0
    model = Classifier(edgesvm.StreamSVM(C=2.0))
    for x, label in zip(X, y, strict=True):
        model.learn_one(dict(zip("abc", x.tolist(), strict=True)), bool(label), w=2.0)
    direct = edgesvm.StreamSVM(C=2.0).partial_fit(X, y, sample_weight=np.full(300, 2.0))
    assert bytes(model.learner_.arena) == bytes(direct.arena)
    assert not model.learner.is_fitted, "the parameter stays as it was given"
    row = dict(zip("cab", X[0, [2, 0, 1]].tolist(), strict=True))
    assert model.predict_one(row) == direct.predict_one(X[0])


def test_late_and_missing_features():
    model = Classifier(edgesvm.Perceptron(), n_features=3)
    model.learn_one({"b": 1.0, "a": 2.0}, True)
    assert model.columns_ == {"a": 0, "b": 1} and model.learner_.n_features_in_ == 3
    model.learn_one({"late": -5.0}, False)
    assert model.columns_["late"] == 2 and model.n_left_out_ == 0
    direct = edgesvm.Perceptron().partial_fit([[2.0, 1, 0], [0, 0, -5]], [True, False])
    assert bytes(model.learner_.arena) == bytes(direct.arena)
    model.learn_one({"a": 1.0, "later": 9.0, "latest": 9.0}, True)
    assert "later" not in model.columns_ and model.n_left_out_ == 2
    assert model.predict_one({}) == direct.predict_one([0.0, 0, 0])


def test_a_refused_sample_leaves_no_trace():
    model = Classifier(edgesvm.StreamSVM())
    fresh = pickle.dumps(model)
    for x, told in (({"a": np.nan}, "NaN"), ({}, "feature"), ({"a": "red"}, "could not convert")):
        with pytest.raises(ValueError, match=told):
            model.learn_one(x, True)
        assert pickle.dumps(model) == fresh
    model.learn_one({"a": 1.0, "b": 2.0}, True)
    assert model.learner_.n_features_in_ == 2
    before = bytes(model.learner_.arena)
    with pytest.raises(ValueError, match="NaN"):
        model.learn_one({"a": 1.0, "b": float("nan")}, True)
    assert bytes(model.learner_.arena) == before and list(model.columns_) == ["a", "b"]


def test_which_learner_where():
    with pytest.raises(ValueError, match="use AnomalyDetector"):
        Classifier(edgesvm.GaussianNovelty())
    with pytest.raises(ValueError, match="use Classifier"):
        AnomalyDetector(edgesvm.StreamSVM())
    with pytest.raises(ValueError, match="use Regressor"):
        Classifier(edgesvm.FourierSVR())
    with pytest.raises(ValueError, match="use Classifier"):
        Regressor(edgesvm.StreamSVM())
    with pytest.raises(ValueError, match="n_features=0"):
        Classifier(n_features=0)


def test_probabilities():
    plain = Classifier(edgesvm.StreamSVM())
    assert plain.predict_proba_one({"a": 1.0}) == {False: 0.5, True: 0.5}
    plain.learn_one({"a": 1.0}, True)
    assert plain.predict_proba_one({"a": 1.0}) == {False: 0.0, True: 1.0}
    plain.learn_one({"a": -1.0}, False)
    f = plain.learner_.decision_one([0.7])
    assert abs(plain.predict_proba_one({"a": 0.7})[True] - 1 / (1 + np.exp(-f))) < 1e-12
    model, loss = Classifier(edgesvm.Calibrated()), metrics.LogLoss()
    evaluate.progressive_val_score(river_data.Phishing(), model, loss)
    assert loss.get() < 0.4  # of equal shares: 0.69
    three = Classifier(edgesvm.Calibrated(learner=edgesvm.OneVsRest(n_classes=3)))
    assert three.predict_proba_one({"a": 1.0}) == {}
    for k in range(60):
        three.learn_one({"a": float(k % 3)}, "xyz"[k % 3])
    shares = three.predict_proba_one({"a": 2.0})
    assert shares.keys() == set("xyz") and abs(sum(shares.values()) - 1) < 1e-9


def test_pipelines_and_drift_detectors():
    scaled = river_stages.StandardScaler() | Classifier(edgesvm.KernelStreamSVM(max_vectors=30))
    accuracy = metrics.Accuracy()
    evaluate.progressive_val_score(river_data.Phishing(), scaled, accuracy)
    assert accuracy.get() > 0.85
    picked = compose.Select("a", "b") | Classifier(edgesvm.StreamSVM())
    picked.learn_one({"a": 1.0, "b": 2.0, "c": 3.0}, True)
    assert set(picked["Classifier"].columns_) == {"a", "b"}

    first = Classifier(edgesvm.StreamSVM())
    watched = drift.DriftRetrainingClassifier(model=first, drift_detector=drift.binary.DDM())
    rng, right = np.random.default_rng(1), 0
    for t in range(4000):
        x = rng.standard_normal(2)
        sample, label = {"a": x[0], "b": x[1]}, bool((x[0] > 0) ^ (t >= 2000))
        right += t > 2500 and watched.predict_one(sample) == label
        watched.learn_one(sample, label)
    assert watched.model is not first and right > 1400  # a new one took over


def test_rivers_metrics_over_our_loop():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2)).astype(np.float32)
    y = X[:, 0] > 0.5
    told = metrics.Accuracy(), metrics.F1()
    found = predict_then_learn(Source(X, y), edgesvm.StreamSVM(), listeners=[scored(*told)])
    assert told[0].cm.n_samples == found.score.n == 399
    assert told[0].get() == found.score.accuracy and 0.5 < told[1].get() < 1


def test_rivers_ensembles_take_it():
    bag = ensemble.BaggingClassifier(Classifier(edgesvm.StreamSVM()), n_models=3, seed=1)
    accuracy = metrics.Accuracy()
    evaluate.progressive_val_score(river_data.Phishing(), bag, accuracy)
    assert accuracy.get() > 0.75
