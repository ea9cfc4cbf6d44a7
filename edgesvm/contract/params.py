"""The door for parameters: each check names the parameter, what was given, and what was allowed."""

from __future__ import annotations

import numbers
import sys


def whole(name: str, value: object, least: int, most: int) -> int:
    """`value` as an int from `least` to `most`; 2.0 is no whole number, np.int8(2) is one."""
    if not isinstance(value, numbers.Integral) or not least <= value <= most:
        raise ValueError(f"{name}={value!r}: give a whole number from {least} to {most:,}")
    return int(value)


def positive(name: str, value: object) -> float:
    """`value` as a float, finite and > 0."""
    if not _is_finite(value) or not value > 0:  # type: ignore[operator]
        raise ValueError(f"{name}={value!r}: give a finite number > 0")
    return float(value)  # type: ignore[arg-type]


def not_negative(name: str, value: object) -> float:
    """`value` as a float, finite and >= 0."""
    if not _is_finite(value) or not value >= 0:  # type: ignore[operator]
        raise ValueError(f"{name}={value!r}: give a finite number >= 0")
    return float(value)  # type: ignore[arg-type]


def one_of(name: str, value: object, *allowed: str) -> str:
    """`value`, one of the names `allowed`."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}={value!r}: give {' or '.join(map(repr, allowed))}")
    return value


def _is_finite(value: object) -> bool:
    # Compared, not converted: an int of a thousand digits is larger than any float.
    return isinstance(value, numbers.Real) and abs(value) <= sys.float_info.max
