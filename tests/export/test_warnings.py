"""Exported C gives no warning, whatever a project's flags, and compiles as C++ too."""

import os
import re
import shutil
import subprocess

import numpy as np
import pytest
from each import each
from exported import ATTACKED, SETTINGS

from edgesvm import BallVectorMachine, OneVsOne, Standardized, StreamSVM, TwinVectorMachine
from edgesvm.export.folder import export
from rig.boards import STRICT, hard_samples, run_here

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")

LONG = pytest.mark.long
FLAGS = [*STRICT, "-Wconversion", "-Wsign-conversion", "-Wdouble-promotion"]
CHECKS = {"gcc": ["-O3", "-c", "-o", os.devnull]}  # GCC follows values only where it optimizes
CLANG = next(filter(shutil.which, ("clang", "clang-16", "clang-15", "clang-14")), None)
IN_C = [[cc, *FLAGS, *CHECKS.get(cc, ["-fsyntax-only"])] for cc in ("gcc", CLANG) if cc]
AS_CPP = [[cc, "-x", "c++", "-std=c++11", "-fsyntax-only"] for cc in ("g++",) if shutil.which(cc)]


def complaints(folder):
    """What the compilers say of a folder's C, first line by first line."""
    found = []
    for cc in [*IN_C, *AS_CPP]:
        for source in [*folder.glob("*.c"), *folder.glob("edgesvm/*.c")]:
            command = [*cc, f"-I{folder}", str(source)]
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            found += [f"{cc[0]}: {line}" for line in done.stderr.splitlines() if "error: " in line]
    return found


def settings():
    yield from SETTINGS.items()
    yield from (("chain", made) for made in ATTACKED["Chain"])


@pytest.mark.parametrize("part", [7, *(pytest.param(i, marks=LONG) for i in range(7))])
def test_a_learner_that_learns_on(part, tmp_path):
    """Every setting, in one of the two dtypes."""
    for i, (name, (make, n_features, classes)) in enumerate(settings()):
        if i % 8 == part:
            dtype = ("float32", "float64")[i // 8 % 2]
            export(make(dtype).allocate(n_features, classes=classes), tmp_path / str(i), "mod")
            assert complaints(tmp_path / str(i)) == [], name


@each(
    "make",
    [
        *(SETTINGS[name][0] for name in ("scaled stream", "fourier", "calibrated, of four")),
        lambda dtype: Standardized(learner=TwinVectorMachine(max_twins=9, dtype=dtype)),
        *(SETTINGS[name][0] for name in ("byte", "byte, calibrated")),
        lambda dtype: OneVsOne(learner=BallVectorMachine(max_core=12, dtype=dtype), n_classes=4),
    ],
)
def test_a_learner_that_only_decides(make, tmp_path):
    X, slots, _ = hard_samples(60, 5, "float32", 1, (0, 1))
    fine = (np.abs(X) < 1e6).all(axis=1)
    learner = make("float32").allocate(5, classes=[0, 1]).partial_fit(X[fine], slots[fine])
    export(learner, tmp_path, "mod", inference=True)
    assert complaints(tmp_path) == []


@each("which", [0, 1])
def test_a_chain_that_only_decides(which, tmp_path):
    make, n_channels, _ = ATTACKED["Chain"][which]
    chain = make("float32").allocate(n_channels)
    for i, x in enumerate(np.random.default_rng(0).standard_normal((90, n_channels))):
        chain.push(x.astype(np.float32), i // 50)
    export(chain, tmp_path, "mod", inference=True)
    assert complaints(tmp_path) == []


@pytest.mark.skipif(shutil.which("avr-gcc") is None, reason="no avr-gcc on the path")
def test_a_board_has_no_texts(tmp_path):
    export(SETTINGS["byte"][0]("float32").allocate(4, classes=[0, 1]), tmp_path, "mod")
    command = ["avr-gcc", "-mmcu=atmega328p", "-Os", "-std=c99", f"-I{tmp_path}", "-S", "-o", "-"]
    done = subprocess.run(
        [*command, tmp_path / "mod.c"], check=True, capture_output=True, text=True
    )
    assert set(re.findall(r'\.(?:string|ascii)\t"(.*?)(?:\\0)?"', done.stdout)) <= {"!"}


@each("name", ["gaussian novelty, diagonal", "calibrated, of four"])
def test_no_pointer_leaves_an_array(name, tmp_path):
    """A diagonal has no scratch for a factor, and class -1 no score. GCC looks when it inlines."""
    make, n_features, classes = SETTINGS[name]
    learner = make("float32").allocate(n_features, classes=classes)
    run_here(learner, *hard_samples(60, n_features, "float32", 1, classes))
    for inference in (False, True):
        export(learner, tmp_path, "mod", inference=inference)
        command = ["gcc", "-O2", *STRICT, "-Warray-bounds", f"-I{tmp_path}", "-c"]
        done = subprocess.run(
            [*command, tmp_path / "mod.c", "-o", tmp_path / "mod.o"],
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.stderr == ""


def test_the_control_is_found(tmp_path):
    export(StreamSVM().allocate(2, classes=[0, 1]), tmp_path, "mod")
    (tmp_path / "more.c").write_text("int less(long x);\nint less(long x) { return x; }\n")
    assert len(complaints(tmp_path)) == len(IN_C)
