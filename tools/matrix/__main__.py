"""Every Python of this machine with an old and a new NumPy: a wheel, installed, and some tests.

    make matrix
    make matrix MATRIX_ARGS="--only 3.10 3.13"

One wheel is built for each Python, with the newest NumPy, and used with both. A table is printed at
the end. Exit code 1 if anything failed.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "matrix"
BUILD = ("pip>=23.1", "meson>=1.3", "ninja")  # beside what pyproject.toml requires
# The oldest NumPy that has a wheel for a Python; what we support begins with 1.24.
OLDEST = {"3.10": "1.24.*", "3.11": "1.24.*", "3.12": "1.26.*", "3.13": "2.1.*"}
NEWEST = ">=2.0"
TESTS = (
    "tests/test_lazy.py",
    "tests/core/test_linalg.py",
    "tests/persist/test_format.py",
    "tests/cli/test_words.py",
    "tests/learners/test_stream_svm_formulas.py",
    "tests/learners/gradient",
)
TEST_TOOLS = ("pytest>=8", "pytest-timeout", "hypothesis>=6.100", "pyserial", "cobs")
START = """if True:
    import time, numpy
    def kib():
        return int(open("/proc/self/statm").read().split()[1]) * 4
    began, before = time.process_time(), kib()
    import edgesvm
    seconds = time.process_time() - began
    print(numpy.__version__, seconds, kib() - before, kib())
"""


def pythons() -> Iterator[tuple[str, Path]]:
    """Version and program of each Python from 3.10 on, one for each minor version."""
    pyenv = Path.home() / ".pyenv" / "versions"
    places = [*pyenv.glob("*/bin/python"), *Path("/usr/bin").glob("python3*")]
    places += Path("/usr/local/bin").glob("python3*")
    seen = set()
    for place in sorted(places):
        if not re.fullmatch(r"python(3(\.\d+)?)?", place.name):
            continue
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run([place, "-c", code], capture_output=True, text=True, check=False)
        version = done.stdout.strip()
        if done.returncode or version in seen or tuple(map(int, version.split("."))) < (3, 10):
            continue
        seen.add(version)
        yield version, place


def run(*command: object, env: dict[str, str] | None = None) -> str:
    """The output of a command that must succeed."""
    words = [str(word) for word in command]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(words, cwd=ROOT, env=env, text=True, check=False, **pipes)
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, words, done.stdout)
    return done.stdout


def environment(python: Path, folder: Path, *packages: str) -> Path:
    """The bin folder of a new virtual environment."""
    shutil.rmtree(folder, ignore_errors=True)
    run(python, "-m", "venv", folder)
    run(folder / "bin" / "python", "-m", "pip", "install", "-q", *packages)
    return folder / "bin"


def wheel(version: str, python: Path) -> tuple[Path, float]:
    """A wheel, not stripped, and the seconds of processor time that it took."""
    required = shlex.split(run(sys.executable, ROOT / "tools" / "extra.py", "requires"))
    bin_ = environment(python, FOLDER / version / "build", *BUILD, *required)
    out = FOLDER / version / "out"
    shutil.rmtree(out, ignore_errors=True)
    env = {**os.environ, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(
        *(bin_ / "python", "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"),
        *(f"-Cbuild-dir={FOLDER / version / 'meson'}", "-w", out, "."),
        env=env,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    (made,) = out.glob("*.whl")
    return made, used


def tested(version: str, python: Path, made: Path, numpy: str) -> tuple[str, str, str]:
    """NumPy's version, what `import edgesvm` costs beyond it, and the tests' last line."""
    name = re.sub(r"[^\d.]", "", numpy)
    folder = FOLDER / version / f"numpy{name}"
    bin_ = environment(python, folder, f"numpy{numpy}", *TEST_TOOLS)
    run(bin_ / "python", "-m", "pip", "install", "-q", "--no-deps", made)
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    starts = [run(bin_ / "python", "-c", START, env=env).split() for _ in range(5)]
    found = starts[0][0]
    seconds, added, whole = (min(float(start[i]) for start in starts) for i in (1, 2, 3))
    command = [bin_ / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    told = done.stdout.strip().splitlines()
    passed = told[-1].strip("= ") if told else done.stderr
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n")
        passed = f"FAILED: {passed}"
    cost = f"{seconds:.3f} s, {added / 1024:.1f} of {whole / 1024:.1f} MiB"
    return found, cost, re.sub(r" in .*", "", passed)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make matrix", description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="3.X", help="these Pythons")
    args = parser.parse_args()
    rows, failed = [], False
    for version, python in pythons():
        if args.only and version not in args.only:
            continue
        try:
            made, used = wheel(version, python)
            for numpy in (f"=={OLDEST[version]}" if version in OLDEST else NEWEST, NEWEST):
                found, cost, passed = tested(version, python, made, numpy)
                size = f"{made.stat().st_size:,}"
                row = (version, found, size, f"{used:.0f} s", cost, passed)
                if row[:2] not in [earlier[:2] for earlier in rows]:
                    rows.append(row)
                failed |= passed.startswith("FAILED")
                print("  ".join(row), flush=True)
        except subprocess.CalledProcessError as error:
            failed = True
            rows.append((version, "", "", "", "", "FAILED"))
            print(f"{version}: {' '.join(error.cmd)}\n{error.output}", flush=True)
    head = ("Python", "NumPy", "wheel, bytes", "processor", "import edgesvm", "tests")
    print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    return int(failed or not rows)


if __name__ == "__main__":
    sys.exit(main())
