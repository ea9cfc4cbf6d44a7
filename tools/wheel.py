"""Make the release's files in dist/: a source archive, and from it a wheel for this Python.

    make wheel

The wheel is made twice, in two folders, and must come out in the same bytes. It is then tagged for
manylinux, checked, and installed into a new environment.
"""

from __future__ import annotations

import filecmp
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
BIN = Path(sys.executable).parent
NEEDED = (
    "edgesvm/py.typed",
    "edgesvm/examples/arduino/vibration_features/vibration_features.ino",
    "edgesvm/examples/pi/edgesvm.service",
    "edgesvm/export/costs.json",
    "edgesvm/export/floor/esvm.h",
    "edgesvm/export/translated/learn/standardized.h",
    "edgesvm/learners/byte/byte.h",  # of exported models
)
UNWANTED = ("tests/", "reference/", "rig/", "_ref.py")  # what only a clone needs


def run(*command: str | Path) -> str:
    """What a command prints."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{done.stdout}{done.stderr}wheel: {command[0]} failed")
    return done.stdout.strip()


def built(archive: Path, folder: Path) -> Path:
    """A wheel from the source archive, stripped, under the oldest manylinux tag that it fits."""
    pip = (BIN / "pip", "wheel", "--no-deps", "--no-build-isolation")  # in a folder of its own
    run(*pip, "--wheel-dir", folder, archive)
    (wheel,) = folder.glob("*.whl")
    run(BIN / "auditwheel", "repair", "--strip", "--wheel-dir", folder / "tagged", wheel)
    return next((folder / "tagged").glob("*.whl"))


def check(wheel: Path) -> None:
    """Raise SystemExit for what must be in a wheel and is not, or must not and is."""
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    missing = [name for name in NEEDED if name not in names]
    missing += [] if any(name.endswith("/licenses/LICENSE") for name in names) else ["LICENSE"]
    beyond = [name for name in names if any(part in name for part in UNWANTED)]
    if missing or beyond:
        raise SystemExit(f"wheel: missing: {missing}; for a clone only: {beyond}")


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    run(BIN / "python", "-m", "build", "--no-isolation", "--sdist", "--outdir", DIST)
    (archive,) = DIST.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(tempfile.mkdtemp(dir=scratch)) for _ in range(2)]
        one, other = (built(archive, folder) for folder in folders)
        if not filecmp.cmp(one, other, shallow=False):
            raise SystemExit("wheel: two builds of the same sources differ")
        check(one)
        shutil.copy(one, DIST)
        environment = Path(scratch) / "env"
        run(sys.executable, "-m", "venv", environment)
        run(environment / "bin" / "pip", "install", "-q", one)
        version = run(environment / "bin" / "edgesvm", "--version")
        print(f"{one.name}, {one.stat().st_size:,} bytes, the same twice; {version}")


if __name__ == "__main__":
    main()
