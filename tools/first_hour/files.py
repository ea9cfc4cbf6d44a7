"""Files as they come: a German spreadsheet, words, times, holes, one class, no labels."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.first_hour.played import command


@contextmanager
def _folder(name: str, lines: list[str]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_text("\n".join(lines) + "\n")
        yield folder


def _table(n: int = 400) -> list[str]:
    draw = random.Random(0)
    lines = ["millis;Farbe;Strom;Raum;Temperatur;Zustand"]
    for i in range(n):
        worn = draw.random() < 0.4
        warm = "" if i % 50 == 3 else f"{20 + draw.random():.2f}"
        color = draw.choice(["rot", "blau", "grau"])
        cells = [100 * i, color, f"{draw.gauss(2 * worn, 0.5):.3f}", 7, warm]
        line = ";".join(map(str, [*cells, "worn" if worn else "fine"]))
        lines.append(line.replace(".", ","))
    return lines


def _pump(n: int = 3000) -> list[str]:
    """A sample a second, time stamps, no labels; a fault from 33:20 on."""
    draw = random.Random(1)
    lines = ["time,x,y,z"]
    for i in range(n):
        x, y, z = (draw.gauss(0, 1) for _ in range(3))
        y += 30 * (2000 <= i < 2100)
        lines.append(f"2024-03-01 00:{i // 60:02d}:{i % 60:02d},{x:.3f},{y:.3f},{z:.3f}")
    return lines


def eval_of_a_german_table() -> str:
    """`eval` on semicolons, decimal commas, words, a millis(), a constant and holes."""
    with _folder("anlage.csv", _table()) as folder:
        return command("eval", "anlage.csv", folder=folder)


def eval_with_holes_filled() -> str:
    """The same with the mean where a cell is missing."""
    with _folder("anlage.csv", _table()) as folder:
        return command("eval", "anlage.csv", "--missing", "mean", folder=folder)


def run_on_a_file() -> str:
    """`run` on the same file."""
    with _folder("anlage.csv", _table()) as folder:
        return command("run", "anlage.csv", folder=folder)


def eval_of_columns_that_are_no_numbers() -> str:
    """`eval` on columns of names: all of them in one message."""
    lines = ["id,name,x,label", *(f"u{i},n{i % 40},{i % 9},{i % 2}" for i in range(100))]
    with _folder("users.csv", lines) as folder:
        return command("eval", "users.csv", folder=folder)


def watch_of_a_file() -> str:
    """`watch` on a file with time stamps: alarms at their times, by the names of the columns."""
    with _folder("pump.csv", _pump()) as folder:
        words = ("watch", "pump.csv", "--learn", "10m", "--alarm-rate", "1/day")
        return command(*words, folder=folder)


def eval_without_labels() -> str:
    """`eval` on a file without labels: how often a watch would have raised an alarm."""
    with _folder("pump.csv", _pump()) as folder:
        return command("eval", "pump.csv", "--label-column", "none", folder=folder)


def eval_of_one_class() -> str:
    """`eval` on one class only."""
    draw = random.Random(2)
    with _folder("one.csv", [f"{draw.random()},{draw.random()},0" for _ in range(300)]) as folder:
        return command("eval", "one.csv", folder=folder)


def eval_of_rare_faults() -> str:
    """`eval` on 2 % faults in a random order: labels do not come in runs."""
    draw = random.Random(3)
    lines = []
    for _ in range(2000):
        fault = draw.random() < 0.02
        lines.append(f"{draw.gauss(fault, 1):.3f},{draw.gauss(0, 1):.3f},{int(fault)}")
    with _folder("rare.csv", lines) as folder:
        return command("eval", "rare.csv", folder=folder)
