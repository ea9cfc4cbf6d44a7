"""Checks of parameters: each message names the parameter, what was given, and what is allowed."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable
from dataclasses import field
from typing import Any, TypeVar

import numpy as np

# Of every parameter that is a number > 0: with rows of k(x, x) up to LARGEST_NORM and weights up to
# LARGEST_WEIGHT, no product or quotient of a few overflows.
SMALLEST, LARGEST = 1e-30, 1e30
LONG = re.compile(r"\d+\.\d{6,}(?:e[-+]\d+)?")
Check = Callable[[str, object], Any]
T = TypeVar("T")


def param(default: T, check: Check) -> T:
    """A dataclass field whose value a core takes as `check` returns it."""
    return field(default=default, metadata={"check": check})


def size(default: T, check: Check) -> T:
    """`param`, of a field that only the plan depends on: a core finds it in the shapes of its
    arrays."""
    return field(default=default, metadata={"check": check, "of_plan": True})


def checked(self: object) -> dict[str, Any]:
    """Of a dataclass, the fields with a check, as that returns them."""
    fields = getattr(type(self), "__dataclass_fields__", {}).items()
    checks = {name: field.metadata["check"] for name, field in fields if "check" in field.metadata}
    return {name: check(name, getattr(self, name)) for name, check in checks.items()}


def optional(check: Check) -> Check:
    """`check`, or None."""
    return lambda name, value: None if value is None else check(name, value)


def within(least: int, most: int) -> Check:
    """`whole`, as a check."""
    return lambda name, value: whole(name, value, least, most)


def among(*allowed: str) -> Check:
    """`one_of`, as a check."""
    return lambda name, value: one_of(name, value, *allowed)


def between(least: float, most: float) -> Check:
    """A number from `least` to `most`."""

    def check(name: str, value: object) -> float:
        if not least <= (number := positive(name, value)) <= most:
            raise ValueError(f"{name}={value!r}: give a number from {least:g} to {most:g}")
        return number

    return check


def whole(name: str, value: object, least: int, most: int) -> int:
    """`value` as an int from `least` to `most`; np.int8(2) is accepted, 2.0 is not."""
    if not isinstance(value, (int, np.integer)) or not least <= int(value) <= most:
        raise ValueError(f"{name}={value!r}: give an integer from {least} to {most:,}")
    return int(value)


def positive(name: str, value: object) -> float:
    """`value` as a float from 1e-30 to 1e30."""
    number = _as_float(value)
    if not SMALLEST <= number <= LARGEST:
        raise ValueError(f"{name}={value!r}: give a number > 0, from {SMALLEST} to {LARGEST}")
    return number


def share(name: str, value: object) -> float:
    """`value` as a float above 0 and below 1."""
    number = positive(name, value)
    if number >= 1.0:
        raise ValueError(f"{name}={value!r}: give a share between 0 and 1")
    return number


def not_negative(name: str, value: object) -> float:
    """`value` as a float from 0 to 1e30."""
    number = _as_float(value)
    if not 0.0 <= number <= LARGEST:
        raise ValueError(f"{name}={value!r}: give a number >= 0, at most {LARGEST}")
    return number


def rounded(text: str) -> str:
    """A text with six digits of each number in it that has more."""
    return LONG.sub(lambda found: f"{float(found[0]):.6g}", text)


def one_of(name: str, value: object, *allowed: str) -> str:
    """`value`, if it is one of the strings `allowed`."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}={value!r}: give {' or '.join(map(repr, allowed))}")
    return value


def flag(name: str, value: object) -> bool:
    """`value` as a bool; only True and False are accepted."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r}: give True or False")
    return bool(value)


def _as_float(value: object) -> float:
    """`value` as a float; NaN if it is not a number, or too large for a float."""
    try:
        return float(value) if isinstance(value, numbers.Real) else math.nan
    except OverflowError:
        return math.nan
