"""What an exported model decides and learns is the host's, to the bit."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from exported import SETTINGS
from on_host import Compiled, compilers, difference, differences

from rig.boards import hard_samples, run_here

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")

N = 1200
N_LONG = 100_000
SOFT = "-DESVM_SOFT_DOUBLE=1"  # quotients and roots as on a processor without double


def flags_of_processor():
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    except OSError:
        return []


def both(name, dtype, folder, cc="gcc -O2"):
    """A learner, and its C."""
    make, n_features, classes = SETTINGS[name]
    learner = make(dtype).allocate(n_features, classes=classes)
    return learner, Compiled(learner, folder, cc), n_features, classes


# Of each learner its first setting, and those that other functions of its core learn by.
USUAL = [
    *(name for name in SETTINGS if "," not in name),
    "stream, lookahead",
    "stream, balls",
    "scaled stream, clipped",
    "kernel novelty, exact",
    "calibrated, by recall",
]
OTHERS = [name for name in SETTINGS if name not in USUAL]


@pytest.mark.timeout(1800)  # beside other work
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(USUAL[::2], id="usual"),
        pytest.param(USUAL[1::2], id="more"),
        pytest.param(OTHERS, id="others", marks=pytest.mark.long),
    ],
)
def test_learns_and_decides_as_the_host(names, tmp_path):
    for name in names:
        check(list(SETTINGS).index(name), name, tmp_path / name)


def check(number, name, folder):
    """In one of the two dtypes; the long run takes both."""
    dtype = ("float32", "float64")[number % 2]
    made = both(name, dtype, folder, f"gcc -O0 {SOFT}")
    learner, compiled, n_features, classes = made
    samples = hard_samples(N, n_features, learner.dtype, number, classes)
    assert differences(learner, compiled, samples) == ""
    assert learner.n_updates_ > 0


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SETTINGS)
def test_for_long(name, dtype, tmp_path):
    """The host runs once, every compiler's C beside it."""
    make, n_features, classes = SETTINGS[name]
    learner = make(dtype).allocate(n_features, classes=classes)
    flags = [f"{cc} {how}" for cc in compilers() for how in ("-O3 -march=native", f"-Os {SOFT}")]
    built = [Compiled(learner, tmp_path / str(i), how) for i, how in enumerate(flags)]
    samples = hard_samples(N_LONG, n_features, learner.dtype, 7, classes)  # ByteSVM has one
    here = run_here(learner, *samples)
    for compiled in built:
        assert difference(learner, here, compiled, compiled.run(*samples)) == ""


def test_a_stuck_sensor_and_a_new_start_are_the_hosts(tmp_path):
    for name, dtype in (
        *(("gaussian novelty", "float32"), ("gaussian novelty, until", "float64")),
        *(("kernel novelty", "float32"), ("kernel novelty, exact", "float64")),
    ):
        learner, compiled, n_features, _ = both(name, dtype, tmp_path / name)
        X = np.random.default_rng(3).standard_normal((2600, n_features)).astype(dtype)
        X[300:400] = X[300]
        X[700:800, 1] = -0.0
        X[1000:2500] += 40
        samples = X, np.ones(len(X), np.int8), np.ones(len(X))
        assert differences(learner, compiled, samples) == ""
        assert learner.n_stuck_ > 80 and learner.n_lost_ >= 1


@pytest.mark.skipif("fma" not in flags_of_processor(), reason="no fused multiply-add here")
def test_rotations_are_not_fused(tmp_path):
    """gcc 12 makes vfmaddsub of c * a - s * b beside c * b + s * a, -ffp-contract=off or not."""
    for cc in compilers():
        how = f"{cc} -O3 -mfma -ffp-contract=off"
        made = both("kernel novelty, exact", "float64", tmp_path / cc, how)
        learner, compiled, n_features, classes = made
        samples = hard_samples(300, n_features, "float64", 0, classes)
        assert differences(learner, compiled, samples) == ""


@pytest.mark.skipif("fma" not in flags_of_processor(), reason="no fused multiply-add here")
def test_a_fused_build_differs(tmp_path):
    """The control: what is compared would not agree by itself."""
    make, n_features, classes = SETTINGS["scaled stream"]
    learner = make("float32").allocate(n_features, classes=classes)
    cc = "gcc -O2 -mfma -ffp-contract=fast"
    guard = '#pragma GCC optimize("fp-contract=off")'
    samples = hard_samples(N, n_features, "float32", 0)
    fused = Compiled(learner, tmp_path / "fused", cc, without=guard)
    assert differences(learner, fused, samples) != ""
    guarded = Compiled(learner.reset(), tmp_path / "guarded", cc)
    assert differences(learner, guarded, samples) == ""
