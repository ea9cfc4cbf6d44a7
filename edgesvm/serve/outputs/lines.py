"""An answer as a line of JSON, the same in every sink, and which answers are wanted."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from edgesvm.link.wire import ABSTAIN, ALARM, REJECTED, TRAINED
from edgesvm.serve import remarks
from edgesvm.serve.journal import Journal
from edgesvm.serve.outputs.sink import Line

LASTING = ALARM | -(1 << remarks.FIRST_BIT)  # of the flags: what begins and ends
FLAGS = {"abstained": ABSTAIN, "trained": TRAINED, "rejected": REJECTED, "alarm": ALARM}


def line(port: str, journal: Journal, entry: np.void) -> Line:
    """An entry of a journal as a line; docs/outputs.md explains its fields."""
    score, flags = float(entry["score"]), int(entry["flags"])
    told: dict[str, Any] = {
        "time": round(float(entry["time"]), 3),
        "port": port,
        "sequence": int(entry["sequence"]),
        "predicted": journal.told(entry, "predicted"),
        **_interval(entry),
        "score": score if math.isfinite(score) else None,  # JSON has no other numbers
        **{name: bool(flags & bit) for name, bit in FLAGS.items()},
        "label": journal.told(entry, "label"),
        "remarks": remarks.flagged(flags),
    }
    return Line(port, json.dumps(told))


def _interval(entry: np.void) -> dict[str, Any]:
    """The ends of a predicted target's interval; empty for a class."""
    ends = [name for name in ("low", "high") if name in (entry.dtype.names or ())]
    known = entry["has_prediction"] and all(math.isfinite(entry[name]) for name in ends)
    return {name: entry[name].item() if known else None for name in ends}


class When:
    """Which answers are wanted: every N-th, from the first on, and those where an alarm or a remark
    begins or ends; None: in place of every N-th, those where the prediction, or whether there is
    one, differs from the one before.
    """

    def __init__(self, every: int | None) -> None:
        self.every = every

    def wanted(self, entries: np.ndarray, first: int, before: np.void | None) -> np.ndarray:
        """Indices of the wanted ones of `entries`, of which the first has the number `first` in
        its journal and `before` was the one before."""
        before = entries[0] if before is None else before
        wanted = changes(entries["flags"] & LASTING, before["flags"] & LASTING)
        if self.every is None:
            wanted |= changes(entries["has_prediction"], before["has_prediction"])
            wanted |= changes(entries["predicted"], before["predicted"])
            wanted[0] |= first == 0
        else:
            wanted |= (first + np.arange(len(entries))) % self.every == 0
        return np.flatnonzero(wanted)


def changes(values: np.ndarray, before: Any) -> np.ndarray:
    """Where a value differs from the one before it."""
    return np.diff(values, prepend=before) != 0
