"""Every changed byte and every cut of a snapshot, in C under the
address and undefined-behaviour sanitizers; and the same verdicts as the host's."""

import shutil
import subprocess
from pathlib import Path

import pytest
from attack import SANITIZED, Target
from exported import ATTACKED, SETTINGS

from edgesvm import StreamSVM
from edgesvm.persist.format import pack
from rig.boards import STRICT, hard_samples, run_here, write

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")

HOSTILE = Path(__file__).parent / "hostile"
D = 3


def learned(name, n=80):
    make, n_features, classes = SETTINGS[name]
    learner = make("float32").allocate(n_features, classes=classes)
    run_here(learner, *hard_samples(n, n_features, "float32", 1, classes))
    return learner, n_features


SOME = ["StreamSVM", "KernelNovelty", "FourierSVR"]


@pytest.mark.parametrize(
    "names, n, n_rows",
    [
        pytest.param(SOME, 100, 100, id="some"),
        pytest.param(ATTACKED, 2000, 1000, id="all", marks=pytest.mark.long),
    ],
)
@pytest.mark.timeout(7200)
def test_a_board_takes_what_the_host_takes(names, n, n_rows, tmp_path):
    """Mutated snapshots with a right CRC; what is taken learns, and nothing is found. `make
    conformance` tries 100,000 of each class."""
    for name in names:
        for number in range(len(ATTACKED[name])):
            target = Target(name, number, tmp_path / f"{name}{number}")
            came_out = target.attack(number, n, n_rows)
            assert came_out["findings"] == [], (name, number, came_out)
            assert 0 < came_out["there"] < n


def built(learner, folder, program, flags, cc="gcc"):
    """A program of `hostile/` with a learner's C."""
    write(learner, folder)
    sources = [HOSTILE / program, *folder.glob("*.c"), *(folder / "edgesvm").glob("*.c")]
    command = [cc, *STRICT, *flags, f"-I{folder}", *sources, "-o", folder / "main", "-lm"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if "cannot find" in done.stderr:
        pytest.skip(f"{cc} has no sanitizers here")
    assert done.returncode == 0, done.stderr
    return folder / "main"


def tries(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return int(done.stdout)


def small():
    learner = StreamSVM().allocate(D, classes=[0, 1])
    run_here(learner, *hard_samples(20, D, "float32", 1))
    return learner


def test_no_changed_byte_and_no_cut_of_a_snapshot_is_taken(tmp_path):
    learner = small()
    n = len(pack(learner.snapshot()))
    main = built(learner, tmp_path, "snapshots.c", SANITIZED)
    n_head = n - learner.nbytes - 4
    tried = tries(main)
    assert tried == n + 255 * (n + n_head)
    print(f"\nrestore: {tried:,} snapshots refused, one taken")
