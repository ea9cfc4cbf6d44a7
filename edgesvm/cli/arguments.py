"""Option values, checked while the command line is parsed, before anything is opened."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, TypeVar

from edgesvm.persist.files import folder_of

Number = TypeVar("Number", int, float)
Settings = TypeVar("Settings")
Found = TypeVar("Found")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


class Refused(ValueError, argparse.ArgumentTypeError):
    """A text is no such value."""


def read(settings: type[Settings], options: argparse.Namespace, **more: Any) -> Settings:
    """Settings, a dataclass, of the options of the same names as its fields, and `more`."""
    names = [field.name for field in fields(settings)]  # type: ignore[arg-type]
    given = {name: getattr(options, name) for name in names if hasattr(options, name)}
    return settings(**{**given, **more})


def _checked(
    kind: Callable[[str], Number], text: str, fits: Callable[[Number], bool], say: str
) -> Number:
    """`text` as a number, or an error that says what to give instead."""
    try:
        number = kind(text)
    except ValueError:
        raise Refused(f"{text}: give {say}") from None
    if not fits(number):
        raise Refused(f"{text}: give {say}")
    return number


def said(check: Callable[[str], Found], text: str) -> Found:
    """`check` of a text; what its ValueError says is what the user is told."""
    try:
        return check(text)
    except ValueError as error:
        raise Refused(str(error)) from None


def number(text: str) -> float:
    """A number; NaN if it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def whole(least: int) -> Callable[[str], int]:
    """A check: an integer >= `least`."""

    def check(text: str) -> int:
        return _checked(int, text, lambda value: value >= least, f"an integer >= {least}")

    return check


count = whole(1)
seed = whole(0)


def share(text: str) -> float:
    """A number between 0 and 1."""
    return _checked(float, text, lambda value: 0 < value < 1, "a share between 0 and 1, as 0.9")


def seconds(text: str) -> float:
    """A time in seconds, > 0."""
    return _checked(float, text, lambda value: 0 < value < 1e9, "a number of seconds > 0")


def duration(text: str) -> float:
    """``90s``, ``5m``, ``2h`` or ``1d``, in seconds, > 0."""
    found = re.fullmatch(r"(\d+\.?\d*)([smhd])", text)
    found_s = float(found[1]) * SECONDS[found[2]] if found else 0.0
    if not 0 < found_s < 1e9:
        raise Refused(f"{text}: give a time, such as 90s or 5m (s, m, h or d)")
    return found_s


def rate(text: str) -> float:
    """A rate per second, > 0."""
    wanted = "a rate per second, > 0 and at most 1e6"
    return _checked(float, text, lambda value: 0 < value <= 1e6, wanted)


def value_range(text: str) -> tuple[float, float]:
    """Two finite numbers LO,HI, the lower one first."""
    low, _, high = text.partition(",")
    ends = number(low), number(high)
    if not (all(map(math.isfinite, ends)) and ends[0] < ends[1]):
        raise Refused(f"{text}: give two finite numbers LO,HI, the lower one first")
    return ends


def file_in_folder(text: str) -> str:
    """A file, there or not, whose folder exists."""
    folder = folder_of(text)
    if not os.path.isdir(folder):
        raise Refused(f"{text}: the folder {folder} does not exist")
    if os.path.exists(text) and not os.path.isfile(text):
        raise Refused(f"{text} is not a regular file")
    return text


def new_file(text: str) -> str:
    """A file that can be written at the end; hours of learning would be lost to a bad name."""
    folder = folder_of(file_in_folder(text))
    if not os.access(folder, os.W_OK):
        whole = os.path.realpath(folder)
        raise Refused(f"{text}: the folder {whole} is not writable")
    return text


def different(files: Iterable[tuple[str, str]]) -> None:
    """Raise ValueError if two of the options, each given with its path, name the same file."""
    named: dict[str, str] = {}
    for option, path in files:
        real = os.path.realpath(path)
        if real in named:
            raise ValueError(f"{named[real]} and {option} are both {path}: use two files")
        named[real] = option


def add_columns(command: argparse.ArgumentParser) -> None:
    """Add the options that say what the columns of a CSV are."""
    command.add_argument(
        "--label-column",
        metavar="NAME",
        help='label column of a CSV, or "none"; default: label, class, target or y, else the last',
    )
    command.add_argument(
        "--drop-column",
        metavar="NAME",
        action="append",
        default=[],
        help="a CSV column that is not a feature; may be repeated",
    )
    add_more_columns(command)


def add_more_columns(command: argparse._ActionsContainer, *, hidden: bool = False) -> None:
    """Add the options that say what becomes of columns and cells that are no plain numbers."""

    def said(text: str) -> str:
        return argparse.SUPPRESS if hidden else text

    command.add_argument(
        "--keep-column",
        metavar="NAME",
        action="append",
        default=[],
        help=said("a CSV column that is a feature, though it is constant or rises with every row"),
    )
    command.add_argument(
        "--encode",
        type=count,
        metavar="N",
        help=said(
            "a CSV column of words is a feature a value, if it has N values at most; default 16"
        ),
    )
    command.add_argument(
        "--missing",
        choices=("mean", "skip", "error"),
        help=said(
            "a row of a CSV with a missing cell (empty, na, null, ?): put the mean of its column "
            "there (default with --regress), pass over the row and count it (default), or stop"
        ),
    )


def columns(options: argparse.Namespace) -> dict[str, Any]:
    """What the options say of the columns of a CSV, as `open_rows` is told."""
    keep = options.missing == "mean" and getattr(options, "regress", False)
    return {
        "drop_columns": tuple(options.drop_column),
        "keep_columns": tuple(options.keep_column),
        "encode": options.encode,
        "missing": "keep" if keep else options.missing,
    }


def say_notes(path: str, notes: Iterable[str]) -> None:
    """Say on stderr what was found out about a file."""
    for note in notes:
        print(f"edgesvm: {path}: {note}", file=sys.stderr)
