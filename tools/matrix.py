"""Every Python of this machine with an old and the newest NumPy: a wheel and some tests.

    make matrix MATRIX_ARGS="3.10 3.13"

One wheel is built for each Python, with the newest NumPy, and used with both. Exit code 1 if
anything failed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "matrix"
# The oldest NumPy that has a wheel for a Python; what we support begins with 1.24.
OLDEST = {"3.10": "==1.24.*", "3.11": "==1.24.*", "3.12": "==1.26.*", "3.13": "==2.1.*"}
TESTS = ("tests/test_lazy.py", "tests/persist/test_format.py", "tests/contract", "tests/data")
TESTS += ("tests/learners/fourier", "tests/learners/batch")
TEST_TOOLS = ("pytest>=8,<9.2", "pytest-timeout", "hypothesis>=6.100", "cobs", "scikit-learn")


def pythons() -> dict[str, Path]:
    """Program of each Python, by its minor version."""
    found = {}
    places = [*Path.home().glob(".pyenv/versions/*/bin"), Path("/usr/bin"), Path("/usr/local/bin")]
    for place in (path for folder in places for path in folder.glob("python3.[0-9]*")):
        if named := re.fullmatch(r"python(3\.\d\d)", place.name):
            found.setdefault(named[1], place)
    return found


def environment(python: Path, folder: Path, *packages: str) -> Path:
    """Python of a new virtual environment."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([python, "-m", "venv", folder], check=True)
    made = folder / "bin" / "python"
    subprocess.run([made, "-m", "pip", "install", "-q", *packages], check=True)
    return made


def wheel(version: str, python: Path) -> Path:
    made, out = FOLDER / version / "build", FOLDER / version / "out"
    pip = [environment(python, made, "pip>=23.1"), "-m", "pip", "wheel", "-q", "--no-deps"]
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run([*pip, "-w", out, "."], cwd=ROOT, check=True)
    return next(out.glob("*.whl"))


def passes(version: str, python: Path, made: Path, numpy: str) -> bool:
    tools = (f"numpy{numpy}", *TEST_TOOLS)
    tested = environment(python, FOLDER / version / re.sub(r"\W", "", f"numpy{numpy}"), *tools)
    subprocess.run([tested, "-m", "pip", "install", "-q", made], check=True)
    command = [tested, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(ROOT / t for t in TESTS)]
    print(f"Python {version}, NumPy {numpy}", flush=True)
    # from elsewhere, or the sources here are imported
    return subprocess.run(command, cwd=FOLDER, check=False).returncode == 0


def main(only: list[str]) -> int:
    found = {version: at for version, at in pythons().items() if version in (only or OLDEST)}
    passed = []
    for version, python in sorted(found.items()):
        made = wheel(version, python)
        passed += [passes(version, python, made, n) for n in (OLDEST[version], ">=2.0")]
    return int(not passed or not all(passed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
