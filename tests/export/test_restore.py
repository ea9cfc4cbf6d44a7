"""Every changed byte and every cut of a snapshot, in C under the
address and undefined-behaviour sanitizers; and the same verdicts as the host's."""

import os
import shutil
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest
from exported import ATTACKED

from edgesvm import StreamSVM
from edgesvm.errors import CorruptModelError
from edgesvm.persist.format import pack
from edgesvm.persist.store import restore
from rig.boards import STRICT, hard_samples, run_here, write

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")

HOSTILE = Path(__file__).parent / "hostile"
D = 3


SANITIZED = [
    *("-g", "-O1", "-fsanitize=address,undefined,float-cast-overflow"),
    "-fno-sanitize-recover=all",
]
REFUSED, TAKEN = "-+"  # of hostile/arenas.c; "!": taken, and a decision was not finite
STATES = (0, 3, 40, 400)  # samples learned by the snapshots that are mutated
WHOLE = [0, 1, 2, 3, 4, 7, 16, 63, 255, -1, -2]
WHOLE += [(1 << bits) + d for bits in (15, 31, 32, 61, 62) for d in (-1, 0, 1)] + [
    -1 << 31,
    -1 << 63,
]
REAL = [0.0, 1.0, 0.5, 2.0, 1e-9, 1e30, 1e38, 1e100, 1e300, 1.7e308, 1e-30, 1e-300, 5e-324]
REAL += [-x for x in REAL] + [np.inf, -np.inf, np.nan]


def compile_with(folder, program, flags=SANITIZED, cc="gcc"):
    """A program of `hostile/` with a learner's C."""
    sources = [HOSTILE / program, *folder.glob("*.c"), *folder.glob("edgesvm/*.c")]
    command = [cc, *STRICT, *flags, f"-I{folder}", *sources, "-o", folder / "main", "-lm"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if "cannot find" in done.stderr:
        pytest.skip("gcc has no sanitizers here")
    assert done.returncode == 0, done.stderr


class Target:
    """A learner, snapshots of it, and its C."""

    def __init__(self, name, number, folder):
        make, width, classes = ATTACKED[name][number]
        dtype = ("float32", "float64")[number % 2]
        rng = np.random.default_rng(0)
        X = rng.standard_normal((max(STATES), width)).astype(dtype)
        if classes is None:
            y = X[:, 0] + rng.standard_normal(len(X))
        else:
            y = np.array(classes)[rng.integers(len(classes), size=len(X))]
            X[:, 0] += y
        learners = [make(dtype).allocate(width, classes=classes) for _ in STATES]
        for learner, n in zip(learners, STATES, strict=True):
            learner.partial_fit(X[:n], y[:n])
        self.folder = folder
        self.head = pack(learners[0].snapshot())[: -4 - learners[0].nbytes]
        self.arenas = [np.frombuffer(bytes(learner.arena), np.uint8) for learner in learners]
        self.leaves = [leaf for leaf in learners[0].plan(width).leaves() if leaf.nbytes]
        self.rows = lambda n: hard_samples(n, width, dtype, 5, classes)
        write(learners[-1], folder)
        compile_with(folder, "arenas.c")

    def attack(self, seed, n, n_rows):
        """What becomes of n mutated snapshots, here and in C, each taken one with so many rows."""
        arenas = list(self.mutated(seed, n))
        files = [self.folder / file for file in ("arenas", "rows", "slots", "weights")]
        for file, part in zip(files, (arenas, *self.rows(n_rows)), strict=True):
            np.asarray(part).tofile(file)
        process = subprocess.Popen(
            [self.folder / "main", *files],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},
        )
        here = "".join(map(self.verdict, arenas))
        there, trouble = process.communicate()
        marks = enumerate(zip(here, there, strict=False))
        findings = [i for i, (one, other) in marks if one != other]
        if process.returncode:
            findings.append(len(there))
        return {
            "files": n,
            "here": here.count(TAKEN),
            "there": len(there) - there.count(REFUSED),
            "findings": findings,
            "trouble": trouble[:1500],
        }

    def verdict(self, arena):
        """What the host says of it."""
        body = self.head + arena.tobytes()
        try:
            restore(body + zlib.crc32(body).to_bytes(4, "little"))
        except CorruptModelError:
            return REFUSED
        return TAKEN

    def mutated(self, seed, n):
        """Arenas in which a byte, or a number or a few, are changed."""
        rng = np.random.default_rng(seed)
        for _ in range(n):
            arena = self.arenas[rng.integers(len(self.arenas))].copy()
            for _ in range(rng.choice([1, 1, 1, 2, 3])):
                if rng.random() < 0.2:
                    arena[rng.integers(len(arena))] ^= rng.integers(1, 256, dtype=np.uint8)
                else:
                    self.change_number(rng, arena)
            yield arena

    def change_number(self, rng, arena):
        leaf = self.leaves[rng.integers(len(self.leaves))]
        numbers = np.ndarray(leaf.nbytes // leaf.dtype.itemsize, leaf.dtype, arena, leaf.offset)
        i = rng.integers(min(len(numbers), rng.choice([1, 4, 1 << 40])))  # the first count most
        with np.errstate(all="ignore"):
            if leaf.dtype.kind == "f":
                old = numbers[i]
                near = [-old, old * 2, old / 2, old * (1 + 1e-6), old + 1e-3]
                numbers[i] = rng.choice([*REAL, *near])
            else:
                old = int(numbers[i])
                sizes = [size for other in self.leaves for size in other.shape]
                value = int(rng.choice([old - 1, old + 1, old + 2, int(rng.choice(sizes)), 0]))
                value = WHOLE[rng.integers(len(WHOLE))] if rng.random() < 0.5 else value
                bits = 8 * leaf.dtype.itemsize
                numbers.view(f"u{leaf.dtype.itemsize}")[i] = value % (1 << bits)


FILES = int(os.environ.get("EDGESVM_FILES", "2000"))
SOME = ["StreamSVM", "KernelNovelty", "FourierSVR"]


@pytest.mark.parametrize(
    "names, n, n_rows",
    [
        pytest.param(SOME, 100, 100, id="some"),
        pytest.param(ATTACKED, FILES, 1000, id="all", marks=pytest.mark.long),
    ],
)
@pytest.mark.timeout(7200)
def test_a_board_takes_what_the_host_takes(names, n, n_rows, tmp_path):
    """Mutated snapshots with a right CRC; what is taken learns, and nothing is found."""
    for name in names:
        for number in range(len(ATTACKED[name])):
            target = Target(name, number, tmp_path / f"{name}{number}")
            came_out = target.attack(number, n, n_rows)
            assert came_out["findings"] == [], (name, number, came_out)
            assert 0 < came_out["there"] < n


def test_no_changed_byte_and_no_cut_of_a_snapshot_is_taken(tmp_path):
    learner = StreamSVM().allocate(D, classes=[0, 1])
    run_here(learner, *hard_samples(20, D, "float32", 1))
    n = len(pack(learner.snapshot()))
    write(learner, tmp_path)
    compile_with(tmp_path, "snapshots.c")
    done = subprocess.run(tmp_path / "main", check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    n_head = n - learner.nbytes - 4
    assert int(done.stdout) == n + 255 * (n + n_head)
