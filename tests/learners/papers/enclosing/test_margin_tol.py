"""The tolerance relative to the margin: what it promises, and what is called converged."""

import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest
from balls import (
    ENGINES,
    MACHINES,
    assert_state_is_true,
    clouds,
    coefficients,
    machine,
    mirrored,
    transformed_kernel,
)
from each import each

from edgesvm import RBF, BallVectorMachine, BatchSVM, OneVsOne, Standardized
from edgesvm.persist.format import head
from edgesvm.persist.store import restore


def relative(kind, engine="compiled", **params):
    return machine(kind, engine, **{"margin_tol": 0.1, **params})


def level_of(model, K, alpha):
    """f of a sample on the surface of the ball"""
    views, square = model.core.views, alpha @ K @ alpha
    if "lift" not in views:
        return square
    return 0.5 * (square + float(views["lift"]) + float(views["shrunk"]))


@pytest.mark.parametrize("engine", ENGINES)
@each("kind", MACHINES)
@each("C, epsilon", [(10.0, 0.1), (30.0, 1e-3)])
def test_every_row_is_within_a_tenth_of_the_margin(kind, engine, C, epsilon):
    """However large epsilon is."""
    X, y = clouds(50)
    model = relative(kind, engine, C=C, epsilon=epsilon).fit(X, y)
    assert model.converged_
    K = transformed_kernel(model, X, y)
    alpha = coefficients(model, len(X))
    level = level_of(model, K, alpha)
    assert (K @ alpha).min() >= 0.9 * level - 1e-7
    assert (1 - 1e-6) * model.margin_ >= 0.9 * level
    distance = (model.margin_ - 2.0 * K @ alpha + K.diagonal()).max()
    assert distance <= model.radius_**2 + 1e-6
    assert_state_is_true(model, X, y)


@each("kind", MACHINES)
def test_the_default_is_the_support_vector_machine(kind):
    """With this epsilon alone the margin is below what it allows, and the model is none."""
    X, y = clouds(600)
    params = {"kernel": RBF(0.5), "C": 10.0, "epsilon": 1e-3}
    paper = kind(margin_tol=None, **params).fit(X, y)
    ours = kind(**params).fit(X, y)
    peer = BatchSVM(kernel=RBF(0.5), C=10.0).fit(X, y)
    assert paper.margin_ < (2.0 + 1.0 / 10.0) * 1e-3
    assert paper.enclosed_ and not paper.converged_
    assert ours.converged_ and ours.margin_ < paper.margin_
    assert abs(ours.score(X, y) - peer.score(X, y)) < 0.02
    assert paper.score(X, y) < ours.score(X, y) - 0.03


@pytest.mark.filterwarnings("ignore:.*ended before it converged")
@pytest.mark.parametrize("engine", ENGINES)
@each("kind", MACHINES)
def test_a_margin_that_kernel_rows_do_not_resolve_is_told(kind, engine):
    X, y = mirrored(20)
    for margin_tol in (0.1, None):
        model = relative(kind, engine, C=1e9, margin_tol=margin_tol, max_iter=3000).fit(X, y)
        assert not model.converged_


@pytest.mark.parametrize("engine", ENGINES)
def test_a_tolerance_larger_than_the_level_of_the_surface_is_not_converged(engine):
    """It is less than |c|^2, and rows on the wrong side are in the ball."""
    X, y = clouds(60)
    model = machine(BallVectorMachine, engine, C=1.0, epsilon=0.02, shrink=False).fit(X, y)
    K = transformed_kernel(model, X, y)
    alpha = coefficients(model, len(X))
    tolerance = level_of(model, K, alpha) - model.core.least_inside
    assert tolerance < model.margin_ and model.core.least_inside < 0.0
    assert model.enclosed_ and not model.converged_


@each("kind", MACHINES)
def test_a_stream_is_never_called_converged(kind):
    X, y = clouds(200)
    model = relative(kind, C=10.0).partial_fit(X, y)
    assert not model.enclosed_ and not model.converged_
    fitted = relative(kind, C=10.0).fit(X, y)
    moved = [fitted.learn_one(x, label) for x, label in zip(*clouds(50, seed=9), strict=True)]
    assert any(moved) and not fitted.converged_


@pytest.mark.parametrize("engine", ENGINES)
def test_a_stream_after_a_ball_that_was_reduced(engine):
    """No ball of that radius encloses the new samples: each cost max_iter moves."""
    X, _ = clouds(60)
    most = 3000
    model = relative(
        BallVectorMachine, engine, C=0.5, max_rounds=5, max_iter=most, margin_tol=0.05
    ).fit(X, X[:, 0] > 0)
    before = model.n_iter_
    assert model.converged_ and model.core.views["shrunk"] > 0
    far = -4.0 * X[:30]
    model.partial_fit(far, X[:30, 0] > 0)
    assert model.n_iter_ - before < most
    both = np.vstack([X, far]), np.concatenate([X[:, 0] > 0, X[:30, 0] > 0])
    assert_state_is_true(model, *both)


def without_margin_tol(model):
    """The snapshot as it was before there was the parameter."""
    snapshot = model.snapshot()

    def older(params):
        kept = {k: v for k, v in params.items() if k != "margin_tol"}
        return {
            k: replace(v, params=older(v.params)) if k == "learner" else v for k, v in kept.items()
        }

    body = head(replace(snapshot, params=older(snapshot.params))) + bytes(snapshot.arena)
    return body + struct.pack("<I", zlib.crc32(body))


@each("kind", MACHINES)
def test_an_older_snapshot_means_epsilon_alone(kind):
    X, y = clouds(80)
    for wrap in (
        lambda part: part,
        lambda part: Standardized(learner=part),
        lambda part: OneVsOne(learner=part, n_classes=2),
    ):
        model = wrap(machine(kind)).partial_fit(X, y)
        again = restore(without_margin_tol(model))
        assert getattr(again, "learner", again).margin_tol is None
        for each_model in (model, again):
            each_model.partial_fit(*clouds(40, seed=5))
        assert bytes(model.arena) == bytes(again.arena)
