"""Make the release's files in dist/: a source archive, and from it a wheel for this Python.

    make wheel

The wheel is made twice, in two folders, and must come out in the same bytes. It is then tagged for
manylinux, given its bill of materials, checked, and installed into a new environment.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from contents import check
from sbom import with_sbom

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
BIN = Path(sys.executable).parent


def epoch() -> str:
    """The time of the last commit, which files in the archives have."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    log = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(log, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    """Run a command quietly; its output is shown if it fails."""
    env = {**os.environ, "SOURCE_DATE_EPOCH": epoch()}
    env["PATH"] = f"{BIN}{os.pathsep}{env['PATH']}"
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}{done.stderr}wheel: {command[0]} failed")


def source_archive() -> Path:
    """From what is committed."""
    run(BIN / "python", "-m", "build", "--no-isolation", "--sdist", "--outdir", DIST)
    (archive,) = DIST.glob("*.tar.gz")
    return archive


def built(archive: Path, folder: Path) -> Path:
    """A wheel from the source archive, unpacked in `folder`."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    run(
        *(BIN / "python", "-m", "build", "--no-isolation", "--wheel"),
        *("--outdir", folder / "out"),
        cwd=source,
    )
    (wheel,) = (folder / "out").glob("*.whl")
    return wheel


def tagged(wheel: Path) -> Path:
    """The wheel under the oldest manylinux tag that it fits; its modules stripped."""
    out = wheel.parent / "tagged"
    run(BIN / "auditwheel", "repair", "--strip", "--wheel-dir", out, wheel)
    (repaired,) = out.glob("*.whl")
    return repaired


def installed(wheel: Path, folder: Path) -> str:
    """What the command says of itself in a new environment."""
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin" / "pip", "install", "-q", wheel)
    told = [folder / "bin" / "edgesvm", "--version"]
    return subprocess.run(told, capture_output=True, text=True, check=True).stdout.strip()


def step(name: str, action: Callable[[], Path]) -> Path:
    started = time.monotonic()
    made = action()
    size = f"{made.stat().st_size:,} bytes"
    print(f"{name:<10} {made.name}, {size} ({time.monotonic() - started:.0f} s)", flush=True)
    return made


def main() -> int:
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    archive = step("source", source_archive)
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / name for name in ("first", "second")]
        wheels = []
        for folder in folders:
            folder.mkdir()
            plain = step("wheel", lambda folder=folder: built(archive, folder))
            wheels.append(with_sbom(tagged(plain), int(epoch())))
        if not filecmp.cmp(*wheels, shallow=False):
            raise SystemExit("wheel: two builds of the same sources differ")
        print("same bytes twice")
        final = step("tagged", lambda: Path(shutil.copy(wheels[0], DIST)))
        for line in check(final):
            print(line)
        print(installed(final, Path(scratch) / "env"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
