"""What the first lines of a sketch tell: the names of its columns, and which are no features."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from edgesvm.core.text import tidied
from edgesvm.data.rows import CLOCKS, NAME, value_of

ENOUGH = 12  # lines that show that a column only rises
TIME = re.compile(r"\d[:/-]\d")
LABEL = re.compile(r"\$?[^\W\d][\w+-]*")
WORD = re.compile(r"[^\W\d][^\s:]*( ?[(\[].*)?")  # of a header, perhaps with a unit


class Columns(NamedTuple):
    """The columns of lines, by their numbers from 0.

    width : how many; 0 if no line is of numbers. names : empty if no line has them. out : why
    each column is no feature: clocks, words and labels.
    """

    width: int
    names: tuple[str, ...]
    out: dict[int, str]


def columns_of(lines: Sequence[str]) -> Columns:
    """What these lines, as they came, hold."""
    rows = [_cells(tidied(line)) for line in lines if line.strip() and line[0] not in "#="]
    rows = [cells for cells in rows if any(_number(cell) is not None for cell in cells)]
    widths = [len(cells) for cells in rows]
    width = max(widths, key=widths.count, default=0)
    named = sorted(map(_names, lines), key=len, reverse=True)
    is_worded = all(_number(cells[-1]) is None for cells in rows)  # the label, without a name
    names = next((one for one in named if width - is_worded <= len(one) <= width), [])
    names += ["label"] * (width - len(names)) if names else []
    columns = list(zip(*(cells for cells in rows if len(cells) == width), strict=True))
    found = {j: _why_out(cells, names[j] if names else "") for j, cells in enumerate(columns)}
    out = {j: why for j, why in found.items() if why}
    return Columns(width, tuple(names), out if len(out) < width else {})


def _cells(line: str) -> list[str]:
    line = re.sub(r"^@\d+ |\*[0-9A-Fa-f]{2,4}\s*$", "", line.strip())
    separator = next((one for one in "\t;|," if one in line), None)
    return [cell.strip() for cell in line.split(separator)]


def _names(line: str) -> list[str]:
    """The names before the values of a line, or those of a header; else empty."""
    if found := NAME.findall(line):
        return found
    cells = [cell.strip('"') for cell in _cells(line.lstrip("# "))]
    return cells if all(map(WORD.fullmatch, cells)) and not any(map(_number, cells)) else []


def _number(cell: str) -> float | None:
    """The number; None for a word, and for what stands for a missing one."""
    value = value_of(cell, comma=True)
    return None if value is None or math.isnan(value) else value


def _why_out(cells: Sequence[str], name: str) -> str:
    """Why a column is no feature; empty if it is one."""
    values = [value for cell in cells if (value := _number(cell)) is not None]
    if not values:
        are_words = all(LABEL.fullmatch(cell) and value_of(cell) is None for cell in cells)
        return "times" if all(map(TIME.search, cells)) else "words" if are_words else ""
    if name == "label":
        return "a label"
    steps = [b - a for a, b in pairwise(values)]
    if name.lower() in CLOCKS and steps and min(steps) >= 0 < max(steps):
        return "a time that never falls"
    rises = len(values) == len(cells) >= ENOUGH and min(steps) > 0
    is_even = rises and (max(steps) < 2 * min(steps) or all(value % 1 == 0 for value in values))
    return "it rises with every line" if is_even else ""
