"""Parametrises each check over every registered learner, both dtypes, and both engines.

A check that takes `subject` runs on the compiled core and on the NumPy twin; one that takes
`compiled` on the compiled core alone. Twins that solve a system for a sample are slow: the first
entry of such a kind runs in float64, the others in the long run.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from registry import REGISTERED, Registered

DTYPES = ("float32", "float64")


@dataclass(frozen=True)
class Subject:
    """A registered learner in one dtype on one engine."""

    entry: Registered
    dtype: str
    engine: str

    @property
    def n_features(self) -> int:
        return self.entry.n_features

    def make(self, **changes: Any) -> Any:
        return self.entry.make(**{"dtype": self.dtype, "engine": self.engine, **changes})

    def stream(self, n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
        return self.entry.stream(n, self.dtype, seed)

    def learned(self, n: int = 150, **changes: Any) -> Any:
        """A learner that has seen n samples."""
        return self.make(**changes).partial_fit(*self.stream(n))

    def __str__(self) -> str:
        return f"{self.entry.name}-{self.dtype}-{self.engine}"


def is_slow(subject: Subject) -> bool:
    entry = subject.entry
    if subject.engine == "compiled" or entry.is_quick:
        return False
    first = next(e for e in REGISTERED if (e.kind, e.wrapper) == (entry.kind, entry.wrapper))
    return entry is not first or subject.dtype == "float32"


def pytest_generate_tests(metafunc):
    for fixture, engines in (("subject", ("compiled", "reference")), ("compiled", ("compiled",))):
        if fixture in metafunc.fixturenames:
            subjects = [
                Subject(e, d, engine) for e in REGISTERED for d in DTYPES for engine in engines
            ]
            metafunc.parametrize(
                fixture,
                [
                    pytest.param(s, marks=pytest.mark.long if is_slow(s) else (), id=str(s))
                    for s in subjects
                ],
            )
