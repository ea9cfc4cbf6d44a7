"""What the first lines of a sketch tell: the names of its columns, and which of them are clocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from edgesvm.core.text import tidied
from edgesvm.data.rows import CLOCKS, NAME

ENOUGH = 12  # lines that show that a column only rises
TIME = re.compile(r"\d[:/-]\d")
WORD = re.compile(r"[^\W\d][^\s:]*( ?[(\[].*)?")  # of a header, perhaps with a unit


class Columns(NamedTuple):
    """The columns of lines, by their numbers from 0.

    width : how many; 0 if no line is of numbers. names : empty if no line has them. clocks : why
    each column that tells when, and not what, is of no use.
    """

    width: int
    names: tuple[str, ...]
    clocks: dict[int, str]


def columns_of(lines: Sequence[str]) -> Columns:
    """What these lines, as they came, hold."""
    rows = [_cells(tidied(line)) for line in lines if line.strip() and line[0] not in "#="]
    rows = [cells for cells in rows if any(_number(cell) is not None for cell in cells)]
    widths = [len(cells) for cells in rows]
    width = max(widths, key=widths.count, default=0)
    named = sorted(map(_names, lines), key=len, reverse=True)
    names = next((one for one in named if max(width - 1, 1) <= len(one) <= width), [])
    names += ["label"] * (width - len(names)) if names else []
    columns = list(zip(*(cells for cells in rows if len(cells) == width), strict=True))
    found = {j: _clock(cells, names[j] if names else "") for j, cells in enumerate(columns)}
    clocks = {j: why for j, why in found.items() if why}
    return Columns(width, tuple(names), clocks if len(clocks) < width else {})


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
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None


def _clock(cells: Sequence[str], name: str) -> str:
    """Why a column tells the time, or counts the lines; empty if it does not."""
    values = [value for cell in cells if (value := _number(cell)) is not None]
    if not values:
        return "times" if all(map(TIME.search, cells)) else ""
    steps = [b - a for a, b in pairwise(values)]
    if name.lower() in CLOCKS and steps and min(steps) >= 0 < max(steps):
        return "a time that never falls"
    rises = len(values) == len(cells) >= ENOUGH and min(steps) > 0
    is_even = rises and (max(steps) < 2 * min(steps) or all(value % 1 == 0 for value in values))
    return "it rises with every line" if is_even else ""
