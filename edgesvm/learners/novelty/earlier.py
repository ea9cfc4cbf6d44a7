"""The arrays of novelty learners of earlier builds, and what today's are of them.

Their threshold settled, and there was one model. Behind the six numbers of ``tail`` was the first
score of the alarm that was on.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edgesvm.budget import SCRATCH, Table

SETTLED = "settled"  # the value of `alarm` that they do not have
N_STUCK = 1  # of their array `lately`
IN_ALARM = 9  # of today's array `alarm`

Arrays = Table


def arrays(dtype: str, n_features: int, sensors: bool) -> Arrays:
    """Their arrays, but for those of a subclass."""
    looks_back: Arrays = [
        ("values", dtype, (n_features,)),
        ("repeats", "i2", (n_features + 1,)),
        ("lively", "i2", (n_features + 1,)),
        ("lately", "f8", (4,)),
    ]
    return [
        ("n_scored", "i8", ()),
        ("n_alarms", "i8", ()),
        ("alarmed", "i8", ()),
        ("tail", "f8", (7,)),
        ("mean", "f8", (n_features,)),
        ("spread", "f8", (n_features,)),
        ("scaled", dtype, (n_features,), SCRATCH),
        *(looks_back if sensors else []),
    ]


def read(source: Mapping[str, np.ndarray], target: Mapping[str, np.ndarray]) -> None:
    """Fill today's arrays, which have those of the same name already, with what theirs say."""
    if "alarmed" not in source:
        return
    target["tail"][:], target["n_kept"][...] = source["tail"][:-1], source["n_updates"]
    target["n_strange"][...], target["n_alarms"][...] = source["n_alarms"], 0
    if "lately" in source:
        target["alarm"][IN_ALARM] = source["lately"][N_STUCK]
