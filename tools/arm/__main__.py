"""Cross-compile edgesvm for 64- and 32-bit ARM, make wheels and test them under emulation.

    make arm ARM_ARGS="--only armhf --jobs 1"

A wheel for each machine is built from the sources here, installed by Debian's pip into a Debian of
that machine and run there beside Debian's NumPy: the arenas of all learners are compared with those
of x86-64, a part of the tests is run, and the README's Python. The wheels are left in
build/arm/*/dist. Exit code 1 if anything fails; --needed says that a missing tool does.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from cross import build_wheel
from emulate import install, python, run
from machine import MACHINES, ROOT, Machine, missing
from root import make_root
from strip import stripped
from wheel_tag import tagged

WHAT = """if True:
    import platform, numpy, edgesvm
    versions = f"Python {platform.python_version()}, NumPy {numpy.__version__}"
    print(platform.machine(), versions, edgesvm.__version__, edgesvm.__file__)
"""

# Arithmetic, learners and files. Left out: ports and processes, which ask nothing of ARM, and what
# takes minutes under emulation.
TESTS = (
    "tests/core",
    "tests/contract/test_sparse.py",
    "tests/persist/test_format.py",
    "tests/learners/batch/test_batch_svr.py",
    "tests/learners/batch/test_smo.py",
    "tests/learners/batch/test_reservoir_svm.py",
    "tests/learners/fourier",
    "tests/learners/gradient",
    "tests/learners/papers/enclosing/test_ball_nonzeros.py",
    "tests/learners/papers/online/test_linear.py",
    "tests/learners/twin/test_kt_conditions.py",
    "tests/learners/twin/test_policies.py",
    "tests/learners/test_extremes.py",
    "tests/learners/test_kernel_stream_svm.py",
    "tests/learners/test_stream_svm_average.py",
    "tests/learners/test_stream_svm_formulas.py",
    "tests/learners/test_stream_svm_merge.py",
    "tests/learners/test_stream_svm_samples.py",
    "tests/test_readme.py::test_readme",
)
OPTIONS = ("-q", "-m", "not long", "-p", "no:cacheprovider", "-rfE")
# Debian's Hypothesis may be older than the tests want, and warns of what newer ones allow.
OLD_HYPOTHESIS = ("-W", "ignore::hypothesis.errors.HypothesisWarning")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make arm", description=__doc__.splitlines()[0])
    names = [machine.name for machine in MACHINES]
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    parser.add_argument("--needed", action="store_true", help="fail, not skip, if a tool is absent")
    return parser.parse_args()


class Steps:
    """The steps for one machine: each printed with what it found and its seconds."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.failed = machine, False

    def take(self, name: str, step: Callable[[], str]) -> None:
        start = time.monotonic()
        found = step()
        print(f"{self.machine.name} {name}: {found} ({time.monotonic() - start:.0f} s)", flush=True)

    def run(self, name: str, program: Path, *arguments: str, telling: str = "") -> None:
        """A run under emulation: its last line with this text, or all it printed if it fails."""

        def step() -> str:
            log = self.machine.folder / f"{name}.log"
            passed = run(self.machine, program, log, *arguments)
            told = [line for line in log.read_text().splitlines() if telling in line]
            if passed and told:
                return told[-1].strip("= ")
            self.failed = True
            return f"FAILED\n{log.read_text()}"

        self.take(name, step)


def check(machine: Machine, jobs: int) -> bool:
    """All steps for one machine; whether each found what it should."""
    steps, wheels = Steps(machine), []

    def root() -> str:
        return str(make_root(machine).relative_to(ROOT))

    def wheel() -> str:
        wheels.append(tagged(machine, stripped(machine, build_wheel(machine, jobs))))
        with zipfile.ZipFile(wheels[0]) as archive:
            sizes = [i.file_size for i in archive.infolist() if i.filename.endswith(".so")]
        told = f"{len(sizes)} modules of {sum(sizes):,} bytes"
        return f"{wheels[0].name}, {wheels[0].stat().st_size:,} bytes, {told}"

    def installed() -> str:
        install(machine, wheels[0])
        return "by the pip of the root"

    steps.take("root", root)
    steps.take("wheel", wheel)
    program = python(machine)
    steps.take("installed", installed)
    steps.run("imported", program, "-c", WHAT)
    steps.run("arenas", program, "tests/conformance/arena_hashes.py")
    command = ("-m", "edgesvm.cli")
    demo = ("demo", "--samples", "300", "--out", str(machine.folder / "demo"))
    steps.run("plan", program, *command, "plan", "16KiB", "--features", "8", telling="fourier")
    steps.run("demo", program, *command, *demo, telling="300 of 300 samples received")
    steps.run("tests", program, "-m", "pytest", *OPTIONS, *OLD_HYPOTHESIS, *TESTS)
    return not steps.failed


def main() -> int:
    args = arguments()
    if reason := missing():
        print(f"arm: {'FAILED' if args.needed else 'SKIPPED'}, {reason}")
        return int(args.needed)
    passed = [check(machine, args.jobs) for machine in MACHINES if machine.name in args.only]
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main())
