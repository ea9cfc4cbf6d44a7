"""Regressors on microcontrollers: the host's bits in learning, forecasts and intervals; the cost.

The figures of docs/notes/export.md are printed by

    EDGESVM_BOARDS=required pytest -n 0 -m long -s tests/export/test_regressor_boards.py
"""

import numpy as np
import pytest
from each import each
from on_boards import board

from edgesvm import AdaGradSVR, FourierSVR, Standardized
from rig.boards import compare, hard_samples, run

D = 9


def made(n_bytes):
    """A standardized regressor of so many bytes; of none, the linear one."""
    if n_bytes:
        whole = Standardized(learner=FourierSVR(), missing="mean")
        return whole.fitted_into(n_bytes, D).allocate(D)
    return Standardized(learner=AdaGradSVR()).allocate(D)


def check(n_bytes, name, folder, samples):
    """The same samples here and there; what came out of the board."""
    folder.mkdir(exist_ok=True)
    learner = made(n_bytes)
    there = run(learner, board(name), folder, samples, stack=2048)
    assert compare(learner, there, samples) == (len(samples[0]), [])
    return there


def usual(n):
    """Samples as a sensor's."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D)) + 1
    y = np.sin(X[:, 0]) * X[:, 1] + X[:, 2] + 0.1 * rng.standard_normal(n)
    return X.astype(np.float32), y, np.ones(n)


@each("name, most", [("M0", 1_400_000), ("M3", 600_000)])
def test_a_board_forecasts_as_the_host(name, most, tmp_path):
    there = check(2048, name, tmp_path, hard_samples(150, D, np.float32, 3, None))
    assert there.flash <= 28 << 10 and there.ram <= 2400
    assert 0 < there.decide < there.learn < most


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("n_bytes", [0, 2048, 8192])
@pytest.mark.parametrize("name", ["M0", "M3"])
def test_ten_thousand_hard_samples(name, n_bytes, tmp_path):
    check(n_bytes, name, tmp_path / "hard", hard_samples(10_000, D, np.float32, 3, None))
    there = check(n_bytes, name, tmp_path / "usual", usual(400))
    print(
        f"\n{name} {n_bytes or 'linear'}: flash {there.flash}, RAM {there.ram}, stack"
        f" {there.stack} bytes; instructions to forecast {there.decide:,}, to learn"
        f" {there.learn:,}"
    )
