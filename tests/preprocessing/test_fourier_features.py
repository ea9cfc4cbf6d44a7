"""FourierFeatures: the features of FourierSVM, and the learner behind it sees nothing else."""

import math

import numpy as np
import pytest
from each import each

import edgesvm
from edgesvm import (
    AdaGradSVM,
    FourierFeatures,
    FourierSVM,
    KernelStreamSVM,
    OneVsOne,
    OneVsRest,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    Standardized,
    StreamSVM,
)
from edgesvm.learners.fourier._directions import key_of
from edgesvm.learners.fourier.directions import hashes

INNER = [
    StreamSVM(),
    StreamSVM(bound="upper", lookahead=4),
    Perceptron(),
    PassiveAggressive(),
    Pegasos(),
    AdaGradSVM(n_classes=3),
    OneVsOne(learner=StreamSVM(), n_classes=3),
]


def disc(n, seed=0, dtype="float32"):
    """Points inside a circle against those outside: no line separates them."""
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return X.astype(dtype), (X**2).sum(axis=1) < 2.4


def features_of(X, **params):
    """What the inner learner gets: the weights of a perceptron that learned one row."""
    shape = Perceptron(fit_intercept=False, dtype=X.dtype.name)
    rows = []
    for x in X:
        learner = FourierFeatures(learner=shape, **params).allocate(X.shape[1], [0, 1])
        learner.learn_one(x, 1)
        rows.append(learner.learner_.coef_[0])
    return np.array(rows)


@each("dtype", ["float32", "float64"])
@each("n_directions", [1, 63, 64, 65, 200])
def test_features_are_those_of_fourier_svm(dtype, n_directions):
    """FourierSVM's first step goes along them: its weights are their multiple."""
    X, _ = disc(5, dtype=dtype)
    params = {"n_directions": n_directions, "gamma": 0.3, "seed": 7}
    F = features_of(X, **params)
    assert F.shape == (5, 2 * n_directions + 3) and F.dtype == dtype
    for x, f in zip(X, F, strict=True):
        w = FourierSVM(dtype=dtype, **params).allocate(3, [0, 1]).partial_fit([x], [1])
        w = w.core.views["w"][0].astype(float)
        np.testing.assert_allclose(w[:-1] / w[-1], f, rtol=1e-6, atol=1e-15)


def rows_of(n_directions, n_features, seed):
    """Orthogonal directions as the rows of a matrix, by Hadamard matrices and signs written out."""
    d = max(16, 2 ** math.ceil(math.log2(n_features)))
    H = np.ones((1, 1))
    while len(H) < d:
        H = np.block([[H, H], [H, -H]])
    rows = []
    for block in range(-(-n_directions // d)):
        V = np.eye(d)
        for r in range(3):
            words = hashes(key_of(seed), 3 * block + r, np.arange(d) // 32).tolist()
            signs = [-1 if w >> i % 32 & 1 else 1 for i, w in enumerate(words)]
            V = H @ np.diag(signs) @ V
        rows.append(V / d)
    return np.concatenate(rows)[:n_directions]


@each("dtype", ["float32", "float64"])
@each("n_features, n_directions", [(3, 5), (3, 40), (16, 16), (17, 70), (70, 300)])
def test_orthogonal_directions_are_those_written_out(dtype, n_features, n_directions):
    V = rows_of(n_directions, n_features, seed=7)
    d = V.shape[1]
    for first in range(0, n_directions, d):
        block = V[first : first + d]
        np.testing.assert_allclose(block @ block.T, d * np.eye(len(block)), atol=1e-9)
    X = np.random.default_rng(1).standard_normal((4, n_features)).astype(dtype)
    params = {"n_directions": n_directions, "gamma": 0.3, "seed": 7, "directions": "orthogonal"}
    angles = np.sqrt(0.6) * X @ V[:, :n_features].T
    expected = [
        np.hstack([np.cos(block), np.sin(block)])
        for block in np.split(angles, range(64, n_directions, 64), axis=1)
    ]
    found = features_of(X, **params)
    np.testing.assert_allclose(found, np.hstack([*expected, X]), atol=1e-4)
    for x, f in zip(X, found, strict=True):
        w = FourierSVM(dtype=dtype, **params).allocate(n_features, [0, 1]).partial_fit([x], [1])
        w = w.core.views["w"][0].astype(float)
        np.testing.assert_allclose(w[:-1] / w[-1], f, rtol=1e-6, atol=1e-15)


def test_orthogonal_directions_have_the_gaussian_kernel():
    X = np.random.default_rng(3).standard_normal((12, 20))
    params = {"n_directions": 4096, "gamma": 0.03, "directions": "orthogonal"}
    waves = features_of(X, **params)[:, :-20]
    kernel = np.exp(-0.03 * ((X[:, None] - X) ** 2).sum(axis=2))
    assert abs(waves @ waves.T / 4096 - kernel).max() < 4 / np.sqrt(4096)


@each("learner", INNER, ids=repr)
def test_equals_the_learner_on_rows_mapped_by_hand(learner):
    """To the bit."""
    X, y = disc(150)
    params = {"n_directions": 70, "seed": 3}
    behind = FourierFeatures(learner=learner, **params).partial_fit(X, y)
    by_hand = learner.like_new().partial_fit(F := features_of(X, **params), y)
    assert behind.decision_function(X).tolist() == by_hand.decision_function(F).tolist()
    for name, array in by_hand.core.views.items():
        assert array.tolist() == behind.core.views[name].tolist(), name


@each("loss", ["hinge", "logistic"])
@each("n_classes", [2, 3])
def test_adagrad_behind_it_is_fourier_svm(loss, n_classes):
    """Up to the order of sums, and the sum of squares of cosines and sines, right to 1e-7."""
    X, _ = disc(400, dtype="float64")
    y = np.digitize((X**2).sum(axis=1), [1.5, 3.5][: n_classes - 1])
    settings = {"loss": loss, "n_classes": n_classes, "dtype": "float64"}
    even = {"weigh_widths": False, "learning_rate": AdaGradSVM().learning_rate}
    whole = FourierSVM(n_directions=100, seed=5, **even, **settings).partial_fit(X, y)
    staged = FourierFeatures(learner=AdaGradSVM(**settings), n_directions=100, seed=5)
    staged.partial_fit(X, y)
    for name in ("w", "w_mean", "G", "lapses"):
        ours, theirs = (one.core.views[name] for one in (staged, whole))
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6, err_msg=name)


def test_a_linear_learner_learns_what_no_plane_divides():
    X, y = disc(4000)
    for learner in (StreamSVM(), AdaGradSVM(), PassiveAggressive(C=0.1), Pegasos()):
        alone = learner.like_new().partial_fit(X[:3000], y[:3000])
        staged = FourierFeatures(learner=learner).partial_fit(X[:3000], y[:3000])
        assert alone.score(X[3000:], y[3000:]) < 0.75
        assert staged.score(X[3000:], y[3000:]) > 0.85


def test_several_classes_inside_and_outside():
    X, _ = disc(3000)
    y = np.digitize((X**2).sum(axis=1), [1.5, 3.5])
    for learner in (
        FourierFeatures(learner=OneVsOne(learner=StreamSVM(), n_classes=3)),
        Standardized(learner=FourierFeatures(learner=OneVsRest(learner=StreamSVM(), n_classes=3))),
        OneVsRest(learner=FourierFeatures(learner=AdaGradSVM()), n_classes=3),
        Standardized(learner=FourierFeatures(learner=AdaGradSVM(n_classes=3))),
    ):
        assert learner.partial_fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]) > 0.8, learner


@each("budget", [600, "4KiB", "64KiB"])
def test_within_makes_the_directions_as_many_as_fit(budget):
    inner = StreamSVM(lookahead=2)
    direct = FourierFeatures.within(budget, n_features=3, learner=inner)
    behind = Standardized.within(budget, n_features=3, learner=FourierFeatures(learner=inner))
    for learner, stage in ((direct, direct), (behind, behind.learner)):
        assert stage.learner.get_params() == inner.get_params()
        total = learner.plan(3).total
        stage.set_params(n_directions=stage.n_directions + 1)
        assert total <= edgesvm.budget.parse_bytes(budget) < learner.plan(3).total
    fixed = FourierFeatures.within("64KiB", n_features=3, learner=inner, n_directions=9)
    assert fixed.n_directions == 9


def test_only_a_linear_learner_is_behind_it():
    for learner in (
        FourierSVM(),
        KernelStreamSVM(),
        Standardized(),
        FourierFeatures(),
        OneVsRest(learner=FourierFeatures()),
    ):
        with pytest.raises(ValueError, match="give a linear learner"):
            FourierFeatures(learner=learner).plan(3)


@each("name", ["features", "w"])
def test_a_snapshot_no_stream_can_have_made(name, tmp_path):
    learner = FourierFeatures(learner=StreamSVM(), n_directions=9).partial_fit(*disc(50))
    learner.core.views[name][3] = np.inf if name == "w" else 1.0
    with pytest.raises(edgesvm.CorruptModelError):
        learner.save(tmp_path / "model.esvm")
