"""The synthetic sensors: what a linear classifier makes of them. Of all that is synthetic, that a
seed means a stream.
"""

import numpy as np
import pytest
from each import each

from edgesvm.data import SETS
from firmware_sim.node import SIGNALS, PumpFlow, RawRotatingMachine, RotatingMachine

STREAMS = [*SETS.values(), *SIGNALS.values(), RawRotatingMachine]
STREAMS += [lambda seed: RawRotatingMachine(seed, onset_s=1.0, growth_s=1.0, defect="ball")]


def least_squares_accuracy(X, y, X_test, y_test):
    A = np.column_stack([X, np.ones(len(X))])
    w = np.linalg.lstsq(A, 2.0 * y - 1, rcond=None)[0]
    return np.mean((np.column_stack([X_test, np.ones(len(X_test))]) @ w > 0) == y_test)


@pytest.mark.parametrize("name", SIGNALS)
def test_rows_are_of_the_stated_kind_and_of_the_order_of_one(name):
    signal = SIGNALS[name](seed=3)
    X, y = signal.read(4000)
    assert X.shape == (4000, signal.n_features) and X.dtype == np.float32
    assert y.shape == (4000,) and y.dtype == (np.float64 if signal.targets else np.int32)
    assert np.isfinite(X).all()
    if not signal.targets:
        assert set(np.unique(y)) == set(range(signal.n_classes))
    assert (
        np.abs(X.mean(axis=0)).max() < 1.5 and 0.2 < X.std(axis=0).min() < X.std(axis=0).max() < 3
    )


@each("new", STREAMS)
def test_rows_depend_on_the_seed_and_not_on_the_cutting(new):
    whole, cut = new(seed=5).read(4000), new(seed=5)
    parts = [cut.read(n) for n in (1, 0, 255, 256, 257, 254, 1024, 1025, 928)]
    assert np.concatenate([X for X, _ in parts]).tobytes() == whole.X.tobytes()
    assert np.concatenate([y for _, y in parts]).tobytes() == whole.y.tobytes()
    assert not np.array_equal(whole.X, new(seed=6).read(4000).X)


def test_the_flow_is_no_plane_of_its_sensors_and_they_drift():
    X, y = PumpFlow(1).read(20_000)
    A = np.column_stack([X, np.ones(len(X))])
    squares = np.column_stack([A, *(X[:, [i]] * X[:, i:] for i in range(5))])

    def r2(A, learned, asked):
        w = np.linalg.lstsq(A[learned], y[learned], rcond=None)[0]
        return 1 - np.mean((y - A @ w)[asked] ** 2) / y[asked].var()

    everything, first, last = slice(None), slice(3000), slice(15_000, None)
    assert r2(A, everything, everything) < 0.985
    assert r2(squares, everything, everything) > 0.99
    assert r2(squares, first, last) < 0.985
    assert 1 - np.diff(y).var() / y.var() < 0.97  # the value before


@pytest.mark.parametrize("signal", [RotatingMachine(0), RotatingMachine(1)])
def test_a_linear_classifier_does_well_and_a_trivial_one_does_not(signal):
    X, y = signal.read(20000)
    halves = X[:10000], y[:10000], X[10000:], y[10000:]
    assert 0.94 < least_squares_accuracy(*halves) < 0.985
    assert 0.4 < y.mean() < 0.6
    single = [
        least_squares_accuracy(X[:10000, [j]], y[:10000], X[10000:, [j]], y[10000:])
        for j in range(X.shape[1])
    ]
    assert max(single) < least_squares_accuracy(*halves) - 0.01
