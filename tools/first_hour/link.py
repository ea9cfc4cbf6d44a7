"""Sensors that print lines: without labels, with words, with decimal commas, with nonsense."""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Iterator

from tools.first_hour.played import on_a_port


def _integers(n: int = 4000) -> Iterator[str]:
    """An accelerometer in integers, three axes, no label. The last axis has no value twice within
    600 lines, whichever of them are read first."""
    draw = random.Random(0)
    last = draw.sample(range(680, 1280), 600)
    for i in range(n):
        x, y = 400 * math.sin(i / 3), 300 * math.cos(i / 5)
        yield f"{x + draw.gauss(0, 40):.0f},{y + draw.gauss(0, 40):.0f},{last[i % 600]}"


def _floats(n: int = 4000) -> Iterator[str]:
    for line in _integers(n):
        yield ",".join(f"{int(cell) / 100:.2f}" for cell in line.split(","))


def _worn_or_fine(n: int = 4000, comma: bool = False) -> Iterator[str]:
    draw = random.Random(1)
    for i in range(n):
        worn = i // 40 % 2
        cells = [f"{draw.gauss(2 * worn, 0.5):.3f}" for _ in range(2)]
        line = ";".join([*cells, ("fine", "worn")[worn]])
        yield line.replace(".", ",") if comma else line


def watch_without_labels() -> str:
    """`watch` takes all columns of a sketch that prints integers."""
    words = ("watch", "PORT", "--text", "--learn", "200")
    return on_a_port(*words, lines=_integers(), until=lambda shown: "watching" in shown)


def watch_floats_without_labels() -> str:
    """`watch` takes all columns of a sketch that prints floats."""
    words = ("watch", "PORT", "--text", "--learn", "200")
    return on_a_port(*words, lines=_floats(), until=lambda shown: "watching" in shown)


def watch_with_a_label_column() -> str:
    """`watch --label first` leaves the first column out."""
    words = ("watch", "PORT", "--text", "--label", "first", "--learn", "200")
    return on_a_port(*words, lines=_floats(), until=lambda shown: "watching" in shown)


def run_on_integers_without_labels() -> str:
    """`run` on an axis in the label's place."""
    words = ("run", "PORT", "--text")
    return on_a_port(*words, lines=_integers(), until=lambda shown: "signal" in shown)


def run_on_floats_without_labels() -> str:
    """`run` on an axis of floats in the label's place."""
    return on_a_port("run", "PORT", "--text", lines=_floats())


def run_on_words() -> str:
    """`run` on labels that are words, with semicolons and decimal commas."""
    words = ("run", "PORT", "--text", "--samples", "600")
    return on_a_port(*words, lines=_worn_or_fine(comma=True))


def record_words() -> str:
    """`record` keeps words as numbers, and says which."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("record", "PORT", f"{folder}/x.rec", "--text", "--samples", "200")
        return on_a_port(*words, lines=_worn_or_fine())


def run_on_nonsense() -> str:
    """`run` on lines that are no samples, until it gives up."""
    lines = (f"Temperature is {20 + i % 3} C, all fine" for i in range(200))
    return on_a_port("run", "PORT", "--text", "--wait", "3", lines=lines, hz=20)


def run_on_nonsense_and_ctrl_c() -> str:
    """The same, and Ctrl-C before it gives up."""
    lines = (f"Temperature is {20 + i % 3} C, all fine" for i in range(200))
    return on_a_port("run", "PORT", "--text", lines=lines, hz=20, at_most=3)
