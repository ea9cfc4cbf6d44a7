"""Before anything is learned: what a signal is like, and how long it takes from nothing to the
first number: `python -m tools.first_hour.look WHEEL_OR_CLONE`."""

from __future__ import annotations

import math
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def a_recorded_signal() -> str:
    """Raw signals in a CSV: which windows, and which bands?"""
    rng = random.Random(0)
    turns = [2 * math.pi * n / 1000 for n in range(8000)]
    rows = [f"{math.sin(30 * t) + rng.gauss(0, 0.1)},{rng.gauss(0, 1)}\n" for t in turns]
    return _shown("".join(rows), "--rate", "1000")


def a_clipped_channel_and_a_clock() -> str:
    """A CSV with a clock, a channel that is clipped, and one that does not move."""
    rows = (f"{20 * n},{min(math.sin(n / 9), 0.5)},7\n" for n in range(4000))
    return _shown("".join(rows), "--rate", "50")


def _shown(csv: str, *options: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pump.csv").write_text(csv, encoding="ascii")
        call = [sys.executable, "-m", "edgesvm", "look", "pump.csv", *options]
        done = subprocess.run(call, capture_output=True, text=True, cwd=folder, check=False)
    return f"{done.stdout}{done.stderr}exit code {done.returncode}\n"


def first_number(source: str) -> str:
    """From a wheel, or the folder of a clone, to an accuracy: commands, and what they took."""
    with tempfile.TemporaryDirectory() as folder:
        rng = random.Random(0)
        rows = [f"{rng.gauss(n % 2, 1)},{rng.gauss(0, 1)},{n % 2}\n" for n in range(2000)]
        Path(folder, "room.csv").write_text("".join(rows), encoding="ascii")
        commands = [
            [sys.executable, "-m", "venv", "env"],
            ["env/bin/pip", "install", "-q", str(Path(source).resolve())],
            ["env/bin/edgesvm", "eval", "room.csv"],
        ]
        lines, began = [], time.monotonic()
        for command in commands:
            before, start = _processor_s(), time.monotonic()
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
            took = f"{time.monotonic() - start:.0f} s, {_processor_s() - before:.0f} of processor"
            lines.append(f"{' '.join(command)}: {took}")
        lines += [done.stdout, f"{len(commands)} commands, {time.monotonic() - began:.0f} s"]
    return "\n".join(lines)


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    print(first_number(sys.argv[1]))
