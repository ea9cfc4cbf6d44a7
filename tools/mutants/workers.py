"""A copy of the tree with its own environment and build folder, in which mutants are tried."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from mutant import Area, Mutant

ROOT = Path(__file__).resolve().parents[2]
TEST_SECONDS = 120  # time limit of one test: a mutant may loop forever
# Tests that use pseudo-terminals, sockets or the clock run in one worker at a time.
ALONE = ("tests/link", "tests/cli", "tests/firmware_sim", "tests/examples", "tests/test_")


@dataclass
class Result:
    """The outcome of a mutant: "killed", "survived" or "unbuilt"."""

    outcome: str
    by: str = ""  # the first test that failed
    seconds: float = 0.0

    def as_json(self) -> dict[str, object]:
        return asdict(self)


class Worker:
    """A copy of the tree in `folder`, made once and used for any number of mutants."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder
        self._lock = folder.parent / "terminals.lock"

    def prepare(self) -> None:
        """Update the copy and build it."""
        self.tree.mkdir(parents=True, exist_ok=True)
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        wanted = {name for name in listed if (ROOT / name).is_file()}
        for folder in ("edgesvm", "firmware_sim", "tests"):
            for old in (self.tree / folder).rglob("*"):
                if old.is_file() and str(old.relative_to(self.tree)) not in wanted:
                    old.unlink()
        for name in wanted:
            source, target = ROOT / name, self.tree / name
            if not target.exists() or source.read_bytes() != target.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
        self._make_environment()
        built = self._build()
        if built.returncode:
            raise RuntimeError(f"the tree does not build:\n{built.stdout[-3000:]}")

    def _make_environment(self) -> None:
        """Make an environment for the copy's own build, with the packages of this interpreter."""
        venv = self.tree / ".venv"
        if not (venv / "bin" / "pip").exists():
            subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        (site,) = venv.glob("lib/python*/site-packages")
        ours = [path for path in sys.path if path.endswith("site-packages")]
        (site / "packages.pth").write_text("\n".join(ours) + "\n")
        for mark in (".tools", ".extra-test", ".extra-plot"):
            (venv / mark).touch()

    def _build(self) -> subprocess.CompletedProcess[str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["make", "-s", "build", "VENV=.venv"],
            cwd=self.tree,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def try_out(self, mutant: Mutant, area: Area, *, whole_suite: bool) -> Result:
        """Build with the mistake and run tests until the first failure."""
        began = time.monotonic()
        path = self.tree / mutant.file
        right = path.read_text()
        path.write_text(mutant.applied(self.tree))
        try:
            if (built := self._build()).returncode:
                return Result("unbuilt", built.stdout.strip()[-300:], time.monotonic() - began)
            failed = self.first_failure(area.tests)
            if not failed and whole_suite:
                failed = self.first_failure()
        finally:
            path.write_text(right)
        seconds = round(time.monotonic() - began, 1)
        return Result("killed" if failed else "survived", failed, seconds)

    def first_failure(self, tests: tuple[str, ...] = ()) -> str:
        """The first of these tests (default: all) that fails; "" if none does."""
        if tests:
            if any(test.startswith(ALONE) for test in tests):
                with self._alone():
                    return self._run(tests)
            return self._run(tests)
        quiet = [f"--ignore={name}" for name in self._alone_names()]
        if failed := self._run(("tests", *quiet)):
            return failed
        with self._alone():
            return self._run(tuple(self._alone_names()))

    def _alone_names(self) -> list[str]:
        paths = sorted((self.tree / "tests").iterdir())
        names = [f"tests/{path.name}" for path in paths]
        return [name for name in names if name.startswith(ALONE)]

    @contextmanager
    def _alone(self):
        with self._lock.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _run(self, tests: tuple[str, ...]) -> str:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        command = [".venv/bin/python", "-m", "pytest", "-q", "-x", "--tb=no", "-m", "not long"]
        command += ["-p", "no:cacheprovider", f"--timeout={TEST_SECONDS}", *tests]
        process = subprocess.Popen(
            command,
            cwd=self.tree,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            told, _ = process.communicate(timeout=1800)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "the suite hung"
        if process.returncode == 0:
            return ""
        found = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", told, re.MULTILINE)
        last = (told.strip().splitlines() or [""])[-1]
        return found[1] if found else f"pytest ended with {process.returncode}: {last[:200]}"
