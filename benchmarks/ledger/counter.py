"""Runs of Python callables counted by valgrind's callgrind: instructions, and the lines of 64 bytes
that a first and a last cache had to fetch.

`start` runs Python below valgrind; there, a `Counter` counts. Outside its calls valgrind only
translates, which is several times faster. The caches have fixed sizes, whatever the machine's.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.report import ROOT

HERE = Path(__file__).resolve().parent
HEADER = Path("/usr/include/valgrind/callgrind.h")
# Bytes, ways, bytes of a line: the sizes of a small board. So many ways that it hardly matters
# where in memory things happen to be.
CACHES = ("--I1=32768,8,64", "--D1=32768,64,64", "--LL=1048576,64,64")


class Counts(NamedTuple):
    """Of one or more samples."""

    instructions: float
    d1_lines: float  # data that the first cache did not hold
    ll_lines: float  # that the last did not hold either


def missing() -> str | None:
    """Why nothing can be counted here, if so."""
    if shutil.which("valgrind") is None or not HEADER.exists():
        return "there is no valgrind here (apt-get install valgrind)"
    if shutil.which(compiler()) is None:
        return f"there is no C compiler {compiler()!r} here"
    return None


def compiler() -> str:
    return os.environ.get("CC", "cc").split()[-1]


def start(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    """Python with these arguments, below valgrind; a `Counter` there takes the same folder. Hash
    seed, threads, clock and the environment, whose length moves the stack, are always the same.
    """
    library = folder / "count.so"
    command = [compiler(), "-O2", "-shared", "-fPIC", "-o", str(library), str(HERE / "count.c")]
    subprocess.run(command, check=True)
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {"PYTHONHASHSEED": "0", "PATH": os.defpath, **dict.fromkeys(names, "1")}
    environment["LD_PRELOAD"] = str(library)
    tool = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--cache-sim=yes", *CACHES]
    tool += [f"--callgrind-out-file={folder / 'dump'}", f"--log-file={folder / 'log'}"]
    return subprocess.Popen(
        [*tool, sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


class Counter:
    """Counts callables, in a process that `start` has started.

    Parameters
    ----------
    folder : Path
        Where the dumps go; `callgrind_annotate` reads them.
    keep : bool
        Leave them there.
    """

    def __init__(self, folder: Path, *, keep: bool = False) -> None:
        self.folder, self.keep, self.n_dumps = folder, keep, 0
        library = ctypes.PyDLL(str(folder / "count.so"))
        self._counted = library.counted
        self._counted.restype = ctypes.py_object
        self._counted.argtypes = [ctypes.c_char_p, ctypes.py_object]
        library.vectors.restype = ctypes.c_char_p
        self.vectors = library.vectors().decode()

    def __call__(self, name: str, call: Callable[[], object]) -> Counts:
        """Counts of one call."""
        self._counted(name.encode(), call)
        self.n_dumps += 1
        dump = self.folder / f"dump.{self.n_dumps}"
        counts = counts_of(dump.read_text())
        if not self.keep:
            dump.unlink()
        return counts

    def per_sample(self, name: str, calls: Callable[[int], Callable[[], object]], n: int) -> Counts:
        """Of each of the samples n to 2n: the counts of a run over 2n without those of a run over
        n, so that cold caches and what a run costs beside its samples fall out. `calls` makes a
        run, and is not counted; nor is a first run, in which CPython looks names up.
        """
        calls(n)()
        short, long = (self(f"{name}, {k} times", calls(k)) for k in (n, 2 * n))
        return Counts(*((b - a) / n for a, b in zip(short, long, strict=True)))


def counts_of(dump: str) -> Counts:
    """Of a dump's totals; zeros at their end are not written."""
    found: dict[str, list[str]] = {}
    for line in dump.splitlines():
        name, colon, rest = line.partition(": ")
        if colon and name in ("events", "totals"):
            found[name] = rest.split()
    values = map(int, found["totals"])
    event = dict.fromkeys(found["events"], 0) | dict(zip(found["events"], values, strict=False))
    return Counts(event["Ir"], event["D1mr"] + event["D1mw"], event["DLmr"] + event["DLmw"])
