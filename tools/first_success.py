"""How long until edgesvm does something useful, from the pages alone:
`python tools/first_success.py WHEEL`.

Each task is begun in a new environment and does what its page says, no more: the commands below are
those of the page, and a test of the page runs them too. Printed: commands typed, and seconds of
the machine; reading and typing come on top.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
PATIENCE_S = 120
RAW = "--raw --signal-rate 1000 --labels none --onset 5m --growth 2m --samples 420000"
WATCH = (
    "edgesvm watch sensor --window 500 --rate 1000 --bands 10-50,50-200,200-450 "
    "--learn 600 --alarm-rate 1/day --checkpoint pump.ckpt --once"
)


class Machine:
    """A new environment in a folder of its own, with what was installed there."""

    def __init__(self, folder: Path, wheel: str, *also: str) -> None:
        self.folder, self.typed, self._behind = folder, 2, list[subprocess.Popen[bytes]]()
        subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
        pip = [folder / "env/bin/python", "-m", "pip", "install", "-q", wheel, *also]
        subprocess.run(pip, check=True)

    def words(self, command: str) -> list[str]:
        program, *rest = shlex.split(command)
        return [str(self.folder / "env/bin" / program), *rest]

    def run(self, command: str, code: int = 0) -> str:
        self.typed += 1
        done = subprocess.run(
            self.words(command), cwd=self.folder, capture_output=True, text=True, check=False
        )
        if done.returncode != code:
            sys.exit(f"{command}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def begin(self, command: str) -> None:
        """A command with an & behind it."""
        self.typed += 1
        self._behind.append(subprocess.Popen(self.words(command), cwd=self.folder))

    def python(self, code: str) -> str:
        (self.folder / "try.py").write_text(code, encoding="utf-8")
        return self.run("python try.py")

    def wait_for(self, what: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not what():
            if time.monotonic() > deadline:
                sys.exit("nothing came")
            time.sleep(0.05)

    def appears(self, name: str) -> None:
        self.wait_for((self.folder / name).is_symlink)

    def end(self) -> None:
        for process in self._behind:
            process.kill()
            process.wait()


def blocks(page: str) -> list[str]:
    """The page's blocks of Python."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.DOTALL)


def vibration(machine: Machine) -> None:
    machine.begin(f"python -m firmware_sim serve {RAW} --symlink sensor")
    machine.appears("sensor")
    assert "ALARM 1" in machine.run(WATCH, 3)


def pipeline(machine: Machine) -> None:
    assert machine.python("".join(blocks("scikit-learn.md")[:2])).split()[-1] == "True"


def loop(machine: Machine) -> None:
    assert "Accuracy" in machine.python(blocks("river.md")[0])


def metrics(machine: Machine) -> None:
    for i in (1, 2):
        machine.begin(f"python -m firmware_sim serve --rate 200 --symlink sensor{i}")
        machine.appears(f"sensor{i}")
        machine.begin(f"edgesvm run sensor{i} --quiet --http {8450 + i}")
    for i in (1, 2):
        machine.typed += 1
        machine.wait_for(lambda i=i: "edgesvm_samples" in read(8450 + i))  # type: ignore[misc]


def read(port: int) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            text: str = answer.read().decode()
            return text
    except OSError:
        return ""


TASKS: dict[str, tuple[Callable[[Machine], None], tuple[str, ...], str]] = {
    "alarm of a machine that begins to fail": (vibration, (), "vibration-monitor.md, 1 and 3"),
    "a scikit-learn pipeline and a search": (pipeline, ("scikit-learn",), "scikit-learn.md"),
    "river's loop": (loop, ("river",), "river.md"),
    "metrics of two devices": (metrics, (), "page.md"),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", help="of edgesvm, or the folder of its sources")
    wheel = str(Path(parser.parse_args().wheel).resolve())
    print("| task | page | commands | install, s | all, s |\n|---|---|---|---|---|")
    for name, (act, also, page) in TASKS.items():
        with tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            machine = Machine(Path(folder), wheel, *also)
            installed = time.monotonic() - started
            try:
                act(machine)
            finally:
                machine.end()
            seconds = time.monotonic() - started
            print(f"| {name} | {page} | {machine.typed} | {installed:.0f} | {seconds:.0f} |")


if __name__ == "__main__":
    main()
