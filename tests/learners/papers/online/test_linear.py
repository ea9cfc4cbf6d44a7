"""Perceptron, PassiveAggressive, Pegasos against the formulas of their papers, in plain loops."""

import numpy as np
import pytest
from each import each

from edgesvm import PassiveAggressive, Pegasos, Perceptron, load
from edgesvm.errors import SampleRefused

CLASSES = [-1, 1]


def stream(n=300, width=4, seed=0):
    """Two overlapping clouds, and weights."""
    rng = np.random.default_rng(seed)
    y = rng.choice(CLASSES, n)
    X = rng.standard_normal((n, width)) + 0.7 * y[:, None] + 0.3
    return X, y, rng.choice([0.5, 1.0, 3.0], n)


def learned(kind, X, y, weights=None, **params):
    model = kind(dtype="float64", **params)
    return model.partial_fit(X, y, classes=CLASSES, sample_weight=weights)


def plane(model):
    return np.append(model.coef_[0], model.intercept_)


def with_constant(X):
    return np.hstack([X, np.ones((len(X), 1))])


# -- perceptron ------------------------------------------------------------------------------------


@each("weighted", [False, True])
def test_perceptron_adds_each_mistake(weighted):
    X, y, s = stream()
    s = s if weighted else np.ones(len(X))
    w, mistakes = np.zeros(5), 0
    for z, label, weight in zip(with_constant(X), y, s, strict=True):
        if label * sum(w * z) <= 0:
            w, mistakes = w + weight * label * z, mistakes + 1
    model = learned(Perceptron, X, y, s)
    np.testing.assert_allclose(plane(model), w, rtol=1e-11)
    assert model.n_updates_ == mistakes > 30


# -- passive-aggressive ----------------------------------------------------------------------------


def objective(variant, step, loss, zz, C):
    """What Crammer et al. minimise, (4), (6) and (7), at w = w_t + step y z."""
    xi = max(0.0, loss - step * zz)
    if variant == "PA":
        return 0.5 * step**2 * zz if xi < 1e-12 else np.inf
    return 0.5 * step**2 * zz + C * (xi if variant == "PA-I" else xi**2)


@each("variant", ["PA", "PA-I", "PA-II"])
@each("weighted", [False, True])
def test_passive_aggressive_solves_the_papers_problem(variant, weighted):
    X, y, s = stream(120)
    s = s if weighted else np.ones(len(X))
    model = PassiveAggressive(dtype="float64", variant=variant, C=0.2)
    model.allocate(4, classes=CLASSES)
    passive = 0
    for x, label, weight in zip(X, y, s, strict=True):
        w = plane(model)
        moved = model.learn_one(x, label, weight)
        z = np.append(x, 1.0)
        loss, zz = 1 - label * sum(w * z), sum(z * z)
        if loss <= 0:
            passive += 1
            assert not moved and (plane(model) == w).all()
            continue
        step = (plane(model) - w) @ z * label / zz
        np.testing.assert_allclose(plane(model), w + step * label * z, rtol=1e-9, atol=1e-12)
        best = objective(variant, step, loss, zz, 0.2 * weight)
        others = [*np.linspace(0, 2 * loss / zz, 41), step * 0.99, step * 1.01]
        assert best <= min(objective(variant, t, loss, zz, 0.2 * weight) for t in others) + 1e-12
        assert moved
    assert passive > 10


# -- Pegasos ---------------------------------------------------------------------------------------


def pegasos(X, y, s, *, lambda_, k, project):
    """Figure 1, with the next k of the stream as A_t; also whether a projection took place."""
    w, projected = np.zeros(X.shape[1]), 0
    for t in range(1, len(X) // k + 1):
        A = range((t - 1) * k, t * k)
        eta = 1 / (lambda_ * t)
        violators = [i for i in A if y[i] * (w @ X[i]) < 1]
        w = (1 - eta * lambda_) * w + eta / k * sum(
            (s[i] * y[i] * X[i] for i in violators), np.zeros(len(w))
        )
        if project:
            factor = min(1, 1 / np.sqrt(lambda_) / np.linalg.norm(w))
            projected += factor < 1
            w = factor * w
    return w, projected


@each("k", [1, 7, 20])
@each("project", [False, True])
@each("weighted", [False, True])
def test_pegasos_takes_the_papers_steps(k, project, weighted):
    X, y, s = stream()
    s = s if weighted else np.ones(len(X))
    params = {"lambda_": 0.02, "batch_size": k, "project": project}
    for n in (len(X), len(X) - 3):
        w, projected = pegasos(with_constant(X[:n]), y, s, lambda_=0.02, k=k, project=project)
        model = learned(Pegasos, X[:n], y[:n], s[:n], **params)
        np.testing.assert_allclose(plane(model), w, rtol=1e-9)
        assert model.n_steps_ == n // k
        assert (projected > 0) == project
        assert not project or np.linalg.norm(w) <= 1 / np.sqrt(0.02) * (1 + 1e-9)


# -- all of them -----------------------------------------------------------------------------------


@each("kind", [Perceptron, PassiveAggressive, Pegasos])
@each("dtype", ["float32", "float64"])
def test_what_would_overflow_is_refused_and_changes_nothing(kind, dtype, tmp_path):
    variant = {"variant": "PA-II", "C": 1e30} if kind is PassiveAggressive else {}
    model = kind(dtype=dtype, **variant).allocate(2, classes=CLASSES)
    model.partial_fit([[1.0, 2.0], [-2.0, 1.0]], [1, -1])
    before = bytes(model.arena)
    far = np.array([-3e18, -6e18] if dtype == "float32" else [-3e149, -3e149], dtype)
    weight = 8.0
    if kind is not PassiveAggressive:  # whose step is at most the loss
        with pytest.raises(SampleRefused, match="the model would overflow"):
            model.learn_one(far, 1, weight)
    assert bytes(model.arena) == before
    rng = np.random.default_rng(0)
    for _ in range(300):  # as far as it goes: always finite, and a snapshot that loads
        x = (rng.standard_normal(2) * 10 ** rng.uniform(0, 18)).astype(dtype)
        try:
            model.learn_one(x, rng.choice(CLASSES), 10 ** rng.uniform(0, 15))
        except SampleRefused:
            continue
        assert np.isfinite(model.decision_one(x))
    model.save(tmp_path / "model")
    assert bytes(load(tmp_path / "model").arena) == bytes(model.arena)
