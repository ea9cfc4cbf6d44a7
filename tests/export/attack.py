"""Mutated snapshots with a right CRC, of every learner that can be exported: its C takes those that
the host takes and no others, file by file, and what is taken is safe to go on with. The C runs
under the address and undefined-behaviour sanitizers.

    python tests/export/attack.py --files 100k --log attack.jsonl

Prints a line for each class. What is in the log is not done again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "support"), str(ROOT)]

from exported import ATTACKED  # noqa: E402

from edgesvm.errors import CorruptModelError  # noqa: E402
from edgesvm.persist.format import pack  # noqa: E402
from edgesvm.persist.store import restore  # noqa: E402
from rig.boards import STRICT, hard_samples, write  # noqa: E402

SANITIZED = [
    *("-g", "-O1", "-fsanitize=address,undefined,float-cast-overflow"),
    "-fno-sanitize-recover=all",
]
REFUSED, TAKEN = "-+"  # of hostile/arenas.c; "!": taken, and a decision was not finite
ROUND = 1000  # arenas of a file
STATES = (0, 3, 40, 400)  # samples learned by the snapshots that are mutated
WHOLE = [0, 1, 2, 3, 4, 7, 16, 63, 255, -1, -2]
WHOLE += [(1 << bits) + d for bits in (15, 31, 32, 61, 62) for d in (-1, 0, 1)] + [
    -1 << 31,
    -1 << 63,
]
REAL = [0.0, 1.0, 0.5, 2.0, 1e-9, 1e30, 1e38, 1e100, 1e300, 1.7e308, 1e-30, 1e-300, 5e-324]
REAL += [-x for x in REAL] + [np.inf, -np.inf, np.nan]


class Target:
    """A learner, snapshots of it, and its C."""

    def __init__(self, name: str, number: int, folder: Path) -> None:
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
        sources = [HERE / "hostile/arenas.c", *folder.glob("*.c"), *folder.glob("edgesvm/*.c")]
        command = [
            "gcc",
            *STRICT,
            *SANITIZED,
            f"-I{folder}",
            *sources,
            "-o",
            folder / "main",
            "-lm",
        ]
        subprocess.run(command, check=True)

    def attack(self, seed: int, n: int, n_rows: int) -> dict[str, Any]:
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

    def verdict(self, arena: np.ndarray) -> str:
        """What the host says of it."""
        body = self.head + arena.tobytes()
        try:
            restore(body + zlib.crc32(body).to_bytes(4, "little"))
        except CorruptModelError:
            return REFUSED
        return TAKEN

    def mutated(self, seed: int, n: int) -> Iterator[np.ndarray]:
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

    def change_number(self, rng: np.random.Generator, arena: np.ndarray) -> None:
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


def rounds(
    name: str, n_files: int, n_rows: int, done: dict[tuple[str, int], dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Attack a class: what came out, round by round; rounds that are done are not done again."""
    kinds = len(ATTACKED[name])
    targets: dict[int, Target] = {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(-(-n_files // ROUND)):
            number = seed % kinds
            if (name, seed) not in done and number not in targets:
                targets[number] = Target(name, number, Path(folder) / str(number))
            entry = done.get((name, seed))
            n = min(ROUND, n_files - seed * ROUND)
            yield entry or {
                **{"name": name, "seed": seed},
                **targets[number].attack(seed, n, n_rows),
            }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("only", nargs="*", help="classes; all by default")
    parser.add_argument("--files", type=int, default=100_000, help="of each class (100,000)")
    parser.add_argument("--rows", type=int, default=1000, help="after each that is taken (1000)")
    parser.add_argument("--log", type=Path, help="rounds done, as JSON lines")
    options = parser.parse_args()
    done: dict[tuple[str, int], dict[str, Any]] = {}
    if options.log and options.log.exists():
        for line in options.log.read_text().splitlines():
            entry = json.loads(line)
            done[entry["name"], entry["seed"]] = entry
    print(f"{'':26}{'files':>10}{'host takes':>12}{'C takes':>10}{'findings':>10}")
    n_findings = 0
    for name in options.only or ATTACKED:
        total: Counter[str] = Counter()
        for entry in rounds(name, options.files, options.rows, done):
            total += Counter({key: entry[key] for key in ("files", "here", "there")})
            total["findings"] += len(entry["findings"])
            if entry["findings"]:
                print(f"{name}, round {entry['seed']}: {entry['findings'][:9]} {entry['trouble']}")
            if options.log and (name, entry["seed"]) not in done:
                with options.log.open("a") as log:
                    print(json.dumps(entry), file=log)
        n_findings += total["findings"]
        print(
            f"{name:26}{total['files']:>10,}{total['here']:>12,}{total['there']:>10,}"
            f"{total['findings']:>10,}",
            flush=True,
        )
    return int(n_findings > 0)


if __name__ == "__main__":
    sys.exit(main())
