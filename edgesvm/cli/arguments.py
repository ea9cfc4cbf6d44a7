"""Option values, checked while the command line is parsed, before anything is opened."""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from edgesvm.persist.files import folder_of

Number = TypeVar("Number", int, float)
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def numeric(
    kind: Callable[[str], Number], fits: Callable[[Number], bool], told: str
) -> Callable[[str], Number]:
    """A check: a number that fits; the error says what to give instead."""

    def check(text: str) -> Number:
        with contextlib.suppress(ValueError):
            if fits(value := kind(text)):
                return value
        raise ValueError(f"{text}: give {told}")

    return check


def whole(least: int) -> Callable[[str], int]:
    """A check: an integer >= `least`."""
    return numeric(int, lambda value: value >= least, f"an integer >= {least}")


count = whole(1)
seed = whole(0)
share = numeric(float, lambda value: 0 < value < 1, "a share between 0 and 1, as 0.9")
part = numeric(float, lambda value: 0 <= value < 1, "a share from 0 to less than 1")
seconds = numeric(float, lambda value: 0 < value < 1e9, "a number of seconds > 0")
rate = numeric(float, lambda value: 0 < value <= 1e6, "a rate per second, > 0 and at most 1e6")


def number(text: str) -> float:
    """A number; NaN if it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def duration(text: str) -> float:
    """``90s``, ``5m``, ``2h`` or ``1d``, in seconds, > 0."""
    found = re.fullmatch(r"(\d+\.?\d*)([smhd])", text)
    found_s = float(found[1]) * SECONDS[found[2]] if found else 0.0
    if not 0 < found_s < 1e9:
        raise ValueError(f"{text}: give a time, such as 90s or 5m (s, m, h or d)")
    return found_s


def value_range(text: str) -> tuple[float, float]:
    """Two finite numbers LO,HI, the lower one first."""
    low, _, high = text.partition(",")
    ends = number(low), number(high)
    if not (all(map(math.isfinite, ends)) and ends[0] < ends[1]):
        raise ValueError(f"{text}: give two finite numbers LO,HI, the lower one first")
    return ends


def names(text: str) -> tuple[str, ...]:
    """Words with commas between, all different."""
    found = tuple(name.strip() for name in text.split(","))
    if not all(found) or len(set(found)) < len(found):
        raise ValueError(f"{text}: give different names with commas between, such as x,y,z")
    return found


def file_in_folder(text: str) -> str:
    """A file, there or not, whose folder exists."""
    folder = folder_of(text)
    if not os.path.isdir(folder):
        raise ValueError(f"{text}: the folder {folder} does not exist")
    if os.path.exists(text) and not os.path.isfile(text):
        raise ValueError(f"{text} is not a regular file")
    return text


def new_file(text: str) -> str:
    """A file that can be written at the end; hours of learning would be lost to a bad name."""
    folder = folder_of(file_in_folder(text))
    if not os.access(folder, os.W_OK):
        whole = os.path.realpath(folder)
        raise ValueError(f"{text}: the folder {whole} is not writable")
    return text


def different(files: Iterable[tuple[str, str]]) -> None:
    """Raise ValueError if two of the options, each given with its path, name the same file."""
    named: dict[str, str] = {}
    for option, path in files:
        real = os.path.realpath(path)
        if real in named:
            raise ValueError(f"{named[real]} and {option} are both {path}: use two files")
        named[real] = option
