"""Exported models decide as the learner does, in ONNX Runtime and in ONNX's own reference."""

import numpy as np
import pytest
from each import each

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from onnx.reference import ReferenceEvaluator  # noqa: E402

import edgesvm  # noqa: E402
from edgesvm import (  # noqa: E402
    RBF,
    AdaGradSVM,
    AdaGradSVR,
    BatchSVM,
    ByteSVM,
    CoreVectorMachine,
    FourierSVM,
    FourierSVR,
    KernelPerceptron,
    KernelStreamSVM,
    Linear,
    OneVsOne,
    OneVsRest,
    PassiveAggressive,
    Perceptron,
    Polynomial,
    RandSVM,
    RobustStandardized,
    Standardized,
    StreamSVM,
    TwinVectorMachine,
)
from edgesvm.catalogue import CATALOGUE  # noqa: E402
from edgesvm.compat.onnx import export  # noqa: E402
from edgesvm.contract.registry import LEARNERS  # noqa: E402

REGRESSORS = {name for name, kind in LEARNERS.items() if kind.regresses is True}
WITHOUT = {"Calibrated", "GaussianNovelty", "KernelNovelty"}
WITHOUT |= {"OneVsOne", "WindowedSVM", "SharedTwinSVM", "IncrementalDecrementalSVR", "BatchSVR"}
TOLERANCE = 5e-4  # relative to the largest score; angles of 16 bits are right to 1e-4
OF_BYTES = 5e-3  # of cosines that are rounded to bytes


def stream(n_labels=2):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4)) * [1, 2, 3, 1] + [0, 1, 5, 0]
    X[:, 3] = 7.0  # never changes: a scaler makes it 0
    score = X[:, 0] + 0.5 * X[:, 1] - 0.1 * (X[:, 2] - 5) ** 2
    return X.astype(np.float32), np.digitize(score, np.linspace(-0.6, 1, n_labels - 1))


def exported(learner, path, X):
    """Labels and scores of the exported model, and its operators."""
    export(learner, path)
    labels, scores = runtime.InferenceSession(path).run(None, {"X": X})
    if labels.dtype.kind == "i":  # the reference fails on words
        again = ReferenceEvaluator(str(path)).run(None, {"X": X[:20]})
        assert labels[:20].tolist() == list(again[0])
        np.testing.assert_allclose(scores[:20], again[1], atol=1e-4 * np.abs(scores).max())
    return labels, scores, [node.op_type for node in onnx.load(path).graph.node]


def assert_equal(learner, path, X, norm=1.0):
    labels, scores, operators = exported(learner, path, X)
    within = getattr(learner, "inner", learner)
    tolerance = OF_BYTES if isinstance(within, ByteSVM) else TOLERANCE
    f = learner.decision_function(X)
    expected = np.stack([-f, f], axis=1) if f.ndim == 1 else f
    expected = expected * np.reshape(norm, (-1, 1))
    np.testing.assert_allclose(scores, expected, atol=tolerance * np.abs(expected).max())
    ranked = np.sort(expected, axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > 2 * tolerance * np.abs(expected).max()
    # of one class the support vectors are on the boundary
    assert clear.mean() > (0.9 if learner.takes_labels else 0.7)
    assert (labels == learner.predict(X))[clear].all()
    return operators


@each("name", sorted(set(LEARNERS) - WITHOUT - REGRESSORS))
def test_every_learner_with_its_defaults(name, tmp_path):
    X, y = stream()
    learner = LEARNERS[name]().fit(X, y)
    scales = name in ("StreamSVM", "OneVsRest")  # to unit norm: f is times that norm
    operators = assert_equal(
        learner, tmp_path / "m.onnx", X, np.sqrt((X**2).sum(axis=1) + 1) if scales else 1.0
    )
    linear = {"OneVsRest", *(e.name for e in CATALOGUE if e.family == "plane")}
    assert (operators == ["LinearClassifier"]) == (name in linear)


CHANGED = [
    BatchSVM(kernel=Polynomial(2, 0.1)),
    BatchSVM(kernel=Linear(), dtype="float64"),
    OneVsRest(learner=KernelPerceptron(kernel="linear")),
    KernelPerceptron(kernel=RBF(0.3)),
    TwinVectorMachine(kernel="poly", degree=3, gamma=0.1, max_twins=20),
    CoreVectorMachine(normalize=True, kernel="linear"),
    RandSVM(solver=BatchSVM(kernel="linear"), k=1000),
    StreamSVM(normalize=False, fit_intercept=True, n_balls=3),
    FourierSVM(directions="orthogonal", weigh_widths=False),
    FourierSVM(n_directions=70, loss="logistic"),
    Standardized(learner=PassiveAggressive()),
    Standardized(learner=KernelStreamSVM(max_vectors=30)),
    Standardized(learner=AdaGradSVM(), clip=1.0),
    RobustStandardized(learner=Perceptron(), clip=1.0),
    RobustStandardized(learner=FourierSVM()),
]


@each("learner", CHANGED)
def test_parameters_and_stages(learner, tmp_path):
    X, y = stream()
    assert_equal(learner.fit(X, y), tmp_path / "m.onnx", X)


@each(
    "learner",
    [
        *(LEARNERS[name]() for name in sorted(REGRESSORS - WITHOUT)),
        FourierSVR(gamma=0.3, n_directions=70, directions="orthogonal", dtype="float64"),
        Standardized(learner=FourierSVR(n_directions=40), missing="mean"),
        Standardized(learner=AdaGradSVR(), clip=None, missing="mean"),
        RobustStandardized(learner=AdaGradSVR(loss="pinball"), clip=1.0),
    ],
)
def test_regressors(learner, tmp_path):
    X, _ = stream()
    y = 40.0 + 10 * np.tanh(X[:, 0]) + X[:, 1] * X[:, 2]
    learner.fit(X, y)
    path = tmp_path / "m.onnx"
    if getattr(learner, "missing", None) == "mean":
        X[::7, 1] = np.nan
    export(learner, path)
    expected = learner.predict(X)
    assert expected.std() > 1.0
    for rows in (X, X * 30):  # beyond the range of the targets too
        (values,) = runtime.InferenceSession(path).run(None, {"X": rows})
        (again,) = ReferenceEvaluator(str(path)).run(None, {"X": rows[:20]})
        assert values.shape == (len(X),) and values.dtype == np.float32
        np.testing.assert_allclose(again, values[:20], rtol=1e-4)
    (values,) = runtime.InferenceSession(path).run(None, {"X": X})
    np.testing.assert_allclose(values, expected, atol=TOLERANCE * np.abs(expected).max())


def test_scales_are_folded_into_one_vector(tmp_path):
    X, y = stream()
    learner = Standardized(learner=Perceptron(), clip=None).fit(X, y)
    assert assert_equal(learner, tmp_path / "m.onnx", X) == ["LinearClassifier"]
    (node,) = onnx.load(tmp_path / "m.onnx").graph.node
    plane = {a.name: list(a.floats) for a in node.attribute}["coefficients"][4:]
    inner = learner.learner_.coef_[0, :3] / learner.scale_[:3]
    np.testing.assert_allclose(plane, [*inner, 0.0], rtol=1e-6)


@each(
    "learner", [AdaGradSVM(n_classes=4), FourierSVM(n_classes=3), OneVsRest(learner=Perceptron())]
)
def test_more_than_two_labels(learner, tmp_path):
    X, y = stream(3)
    words = np.array(["low", "some", "high"])[y]
    for labels in (y * 5 - 3, words):
        learner.fit(X, labels)
        assert_equal(learner, tmp_path / "m.onnx", X)
    two = learner.fit(X[y > 0], y[y > 0])
    assert_equal(two, tmp_path / "m.onnx", X)


def test_labels_of_other_kinds(tmp_path):
    X, y = stream()
    for kind in (Perceptron, KernelPerceptron):
        learner = kind().fit(X, y > 0)
        labels, _, _ = exported(learner, tmp_path / "m.onnx", X)
        assert labels.dtype == np.int64 and (labels == learner.predict(X)).all()
        learner.fit(X, np.where(y, "worn", "fine"))
        labels, _, _ = exported(learner, tmp_path / "m.onnx", X)
        assert labels.tolist() == learner.predict(X).tolist()
    with pytest.raises(ValueError, match=r"labels of int or str, not \[0.5, 1.5\]"):
        export(Perceptron().fit(X, y + 0.5), tmp_path / "m.onnx")
    with pytest.raises(ValueError, match=r"it has one label, \[1\]"):
        export(Perceptron().fit(X[:2], [1, 1]), tmp_path / "m.onnx")
    with pytest.raises(edgesvm.NotFittedError):
        export(Perceptron(), tmp_path / "m.onnx")


def test_what_cannot_be_exported_says_so_in_a_line(tmp_path):
    X, y = stream()
    learners = [LEARNERS[name]() for name in sorted(WITHOUT)]
    scaled_parts = OneVsRest(learner=Standardized(learner=StreamSVM()))  # by different norms
    others = [scaled_parts, OneVsRest(learner=BatchSVM()), Standardized(learner=OneVsOne())]
    for learner in learners + others:
        with pytest.raises(ValueError, match="cannot be exported") as caught:
            export(learner.fit(X, y), tmp_path / "m.onnx")
        assert "\n" not in str(caught.value) and not (tmp_path / "m.onnx").exists()


def test_names_of_features_and_words_are_in_the_file(tmp_path):
    learner = StreamSVM().allocate(2).name_features(["heat", "load"])
    export(learner.partial_fit([[0.0, 1.0], [1.0, 0.0]], ["fine", "worn"]), tmp_path / "m.onnx")
    model = onnx.load(tmp_path / "m.onnx")
    assert {p.key: p.value for p in model.metadata_props} == {"feature_names": '["heat", "load"]'}
    session = runtime.InferenceSession(tmp_path / "m.onnx")
    (said,) = session.run(["label"], {"X": np.eye(2, dtype=np.float32)})
    assert said.tolist() == [learner.predict_one(x) for x in np.eye(2)]
