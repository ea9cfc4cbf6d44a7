"""Values of options, checked while they are parsed, before anything is opened."""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path


def count(text: str) -> int:
    """A whole number of things, at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: give a whole number >= 1")
    return number


def seconds(text: str) -> float:
    """A time, above 0."""
    number = float(text)
    if not 0 < number < 1e9:
        raise argparse.ArgumentTypeError(f"{text}: give a number of seconds > 0")
    return number


def rate(text: str) -> float:
    """So many a second, above 0."""
    number = float(text)
    if not 0 < number <= 1e6:
        raise argparse.ArgumentTypeError(f"{text}: give a number a second, > 0 and at most 1e6")
    return number


def value_range(text: str) -> tuple[float, float]:
    """Two finite numbers, the lower first: LO,HI."""
    low, comma, high = text.partition(",")
    ends = float(low), float(high) if comma else float("nan")
    if not (all(map(math.isfinite, ends)) and ends[0] < ends[1]):
        raise argparse.ArgumentTypeError(f"{text}: give two finite numbers, the lower first: LO,HI")
    return ends


def new_file(text: str) -> str:
    """A file that can be written at the end; hours of learning would be lost to a wrong name."""
    path = Path(text)
    folder = path.parent
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(f"{text}: there is no folder {folder}")
    if path.exists() and not path.is_file():
        raise argparse.ArgumentTypeError(f"{text} is no plain file")
    if not os.access(folder, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text}: nothing can be written in {folder.resolve()}")
    return text


def seed(text: str) -> int:
    """Of a random order: a whole number, at least 0."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text}: give a whole number >= 0")
    return number
