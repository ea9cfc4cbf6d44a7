"""The rates of faults: named mixes, settings of a user, and the gaps between faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

# Probability per frame of each kind. "field": about 1 % of frames lost, as on a long cable beside a
# motor.
MIXES: dict[str, dict[str, float]] = {
    "none": {},
    "field": {
        "flip": 0.004,
        "split": 0.0005,
        "join": 0.0005,
        "drop": 0.002,
        "drop8": 0.0005,
        "truncate": 0.001,
        "insert": 0.002,
        "glue": 0.0005,
        "burst": 0.0005,
        "empty": 0.0005,
        "duplicate": 0.001,
        "reorder": 0.001,
        "overdue": 0.0002,
        "disconnect": 5e-6,
    },
    "noisy": {"flip": 0.05, "drop": 0.02, "truncate": 0.01, "insert": 0.02, "duplicate": 0.01},
    "loose-plug": {"disconnect": 0.001},
    "loss": {"lose": 0.01},
}


def fault_rates(mix: str = "none", extra: Iterable[str] = ()) -> dict[str, float]:
    """The rates of a named mix, overridden by ``kind=rate`` settings.

    Raises
    ------
    ValueError
        Unknown mix, or a setting that is not kind=rate.
    """
    if mix not in MIXES:
        raise ValueError(f"no fault mix {mix!r}; there are {', '.join(MIXES)}")
    rates = dict(MIXES[mix])
    for setting in extra:
        kind, _, value = setting.partition("=")
        try:
            rates[kind] = float(value)
        except ValueError:
            raise ValueError(f"fault {setting!r} must be kind=rate, as in flip=0.01") from None
    return rates


class Gaps:
    """Draws the number of frames before the next fault (geometric: one draw per fault).

    Parameters
    ----------
    rates : mapping of str to float
        Probability of each kind; they add up to at most 1.
    """

    def __init__(self, rates: Mapping[str, float], rng: np.random.Generator) -> None:
        self._rng = rng
        self._total = sum(rates.values())
        self._kinds = [kind for kind, rate in rates.items() if rate > 0]
        self._edges = np.cumsum([rates[kind] for kind in self._kinds]).tolist()

    def next(self) -> int | None:
        """The number of frames before the next fault; None: no fault."""
        if not self._kinds:
            return None
        return int(self._rng.geometric(min(1.0, self._total))) - 1

    def kind(self) -> str:
        """The kind of the next fault."""
        draw = self._rng.random() * self._edges[-1]
        at = next((i for i, edge in enumerate(self._edges) if draw < edge), -1)
        return self._kinds[at]


def checked_rates(rates: Mapping[str, float], known: Iterable[str]) -> dict[str, float]:
    """The rates; ValueError for an unknown kind, one out of range, or a sum above 1."""
    names = list(known)
    unknown = [kind for kind in rates if kind not in names]
    if unknown:
        raise ValueError(f"no fault {unknown[0]!r}; there are {', '.join(names)}")
    if not all(0 <= rate <= 1 for rate in rates.values()) or sum(rates.values()) > 1:
        raise ValueError(f"fault rates must be from 0 to 1 and add up to at most 1: {rates}")
    return dict(rates)
