"""Two ledgers side by side: what costs more or less now, what is new and what is gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MOVED = 0.02  # relative
# Absolute, of a sample: what the places that a heap gives to arrays change from run to run.
# Lines of the small cache are not compared: by those places alone, 12 became 70.
LEAST = {"instructions": 40.0, "ll_lines": 2.0}
# What a line costs, in instructions: lines that cost less than the instructions may move have not.
A_LINE = 100.0
KIND = ("compiler", "vectors", "valgrind", "Python", "NumPy", "machine")

Entries = dict[str, dict[str, Any]]  # by the name of the entry point


@dataclass(frozen=True)
class Move:
    """One figure of one entry point."""

    entry_point: str
    what: str
    before: float
    now: float

    def __str__(self) -> str:
        change = f"{100 * (self.now / self.before - 1):+.1f} %" if self.before else "from nothing"
        what = self.what.replace("_", " ")
        return f"{self.entry_point}: {what} {self.before:,.1f} -> {self.now:,.1f} ({change})"


def moves(before: Entries, now: Entries) -> list[Move]:
    """Figures of entry points in both that differ by more than they may."""
    return [
        Move(entry_point, what, before[entry_point][what], entry[what])
        for entry_point, entry in now.items()
        if entry_point in before
        for what in LEAST
        if abs(entry[what] - before[entry_point][what]) > may_move(what, before[entry_point])
    ]


def may_move(what: str, entry: dict[str, Any]) -> float:
    """By how much a figure of an entry point may differ."""
    least = max(LEAST[what], MOVED * abs(entry[what]))
    return max(least, MOVED * entry["instructions"] / A_LINE) if what == "ll_lines" else least


def absent(one: Entries, other: Entries) -> list[str]:
    """Entry points of one ledger that the other does not have."""
    return [entry_point for entry_point in one if entry_point not in other]


def other_kind(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """What makes two builds no match for a comparison: the compiler, what runs the learners."""
    return [
        f"{name}: {before.get(name)} in the ledger, {now.get(name)} here"
        for name in KIND
        if before.get(name) != now.get(name)
    ]
