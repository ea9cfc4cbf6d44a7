"""A copy of the tree with its own environment and build folder, in which mutants are tried."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from mutants.areas import Area
from mutants.mutant import Mutant
from mutants.sources import ROOT

TEST_SECONDS = 120  # time limit of one test: a mutant may loop for ever
ENDED_FIRST = "1000"  # where memory runs out: a mutant may ask for any
BUILD_SECONDS = 1800


@dataclass
class Result:
    """The outcome of a mutant: "killed", "survived" or "unbuilt"."""

    outcome: str
    by: str  # the first test that failed
    seconds: float


class Tree:
    """A copy in `folder`, made once and used for any number of mutants."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.built = folder, folder / "build"
        self.said = ""  # by the last run of tests

    def prepare(self) -> None:
        """Update the copy and build it."""
        with contextlib.suppress(FileNotFoundError):  # Linux alone has it
            Path("/proc/self/oom_score_adj").write_text(ENDED_FIRST)  # also of all tests
        self._copy()
        environment = self.folder / ".venv"
        if not environment.exists():
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
            (site,) = environment.glob("lib/python*/site-packages")
            ours = [path for path in sys.path if path.endswith("site-packages")]
            (site / "packages.pth").write_text("\n".join(ours) + "\n")
        if not self.built.exists():
            self.built.mkdir()
            install = [".venv/bin/python", "-m", "pip", "install", "--no-build-isolation"]
            install += [
                "--no-deps",
                "--force-reinstall",
                f"-Cbuild-dir={self.built.name}",
                "-e",
                ".",
            ]
            if code := self._run(install, BUILD_SECONDS)[0]:
                shutil.rmtree(self.built)
                sys.exit(f"the copy in {self.folder} could not be installed: pip ended with {code}")
        if failed := self._build():
            sys.exit(f"the tree does not build:\n{failed}")

    def _copy(self) -> None:
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        wanted = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
        for folder in ("edgesvm", "firmware_sim", "tests"):
            for old in (self.folder / folder).rglob("*"):
                if old.is_file() and old.relative_to(self.folder).as_posix() not in wanted:
                    old.unlink()
        for name in wanted:
            source, target = ROOT / name, self.folder / name
            if not target.exists() or source.read_bytes() != target.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    def _build(self) -> str:
        """Bring the build up to date; what failed, or nothing."""
        code, said = self._run(["ninja", "-C", str(self.built)], BUILD_SECONDS)
        return said[-3000:] if code else ""

    def try_out(self, mutant: Mutant, area: Area, limit: float) -> Result:
        """Build with the mistake and run the area's tests until the first failure."""
        began = time.monotonic()
        path = self.folder / mutant.file
        right = path.read_bytes()
        path.write_bytes(mutant.applied(right.decode()).encode())
        try:
            if self._build():
                return Result("unbuilt", "", time.monotonic() - began)
            failed = self.first_failure(area, limit)
        finally:
            path.write_bytes(right)
        return Result("killed" if failed else "survived", failed, time.monotonic() - began)

    def first_failure(self, area: Area, limit: float) -> str:
        """The first of an area's tests that fails, "" if none does, within a limit in seconds."""
        failures = (self._first_of(tests, limit) for tests in area.runs())
        return next(filter(None, failures), "")

    def _first_of(self, tests: list[str], limit: float) -> str:
        command = [".venv/bin/python", "-m", "pytest", "-q", "-x", "--tb=short", "-m", "not long"]
        command += ["-p", "no:cacheprovider", f"--timeout={TEST_SECONDS}"]
        code, self.said = self._run([*command, *tests], limit)
        if code == 0:
            return ""
        found = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", self.said, re.MULTILINE)
        return found[1] if found else f"pytest ended with {code}"

    def _run(self, command: list[str], limit: float) -> tuple[int, str]:
        """The exit code and the output of a command; what takes too long is killed."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env={**os.environ, "PATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            said = ""
        finally:  # whatever it started, too
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return process.wait(), said
