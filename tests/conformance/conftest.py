"""Parametrises each check over the registered learners, both dtypes, and both engines.

A check that takes `subject` runs on the compiled core and, in the long run, on its NumPy twin; one
that takes `compiled` on the compiled core alone. `make test` takes every entry in float32, and in
float64 the first of a kind. `pytest.mark.entries(*names)` narrows that to the entries named, the
first of them in both dtypes; `dtype="float64"` exchanges the two. The long run takes the rest.
"""

import sys
from dataclasses import dataclass
from itertools import product
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


def pytest_generate_tests(metafunc):
    mark = metafunc.definition.get_closest_marker("entries")
    names, dtype = [entry.name for entry in REGISTERED], DTYPES[0]
    in_both = {entry.family: entry.name for entry in reversed(REGISTERED)}.values()
    if mark is not None:
        names, dtype = mark.args or names, mark.kwargs.get("dtype", dtype)
        in_both = mark.args[:1] or in_both

    def is_long(subject: Subject) -> bool:
        name = subject.entry.name
        return (
            subject.engine == "reference"
            or name not in names
            or (subject.dtype != dtype and name not in in_both)
        )

    for fixture, engines in (("subject", ("compiled", "reference")), ("compiled", ("compiled",))):
        if fixture in metafunc.fixturenames:
            subjects = [Subject(*each) for each in product(REGISTERED, DTYPES, engines)]
            marks = [pytest.mark.long if is_long(subject) else () for subject in subjects]
            metafunc.parametrize(fixture, list(map(as_parameter, subjects, marks)))


def as_parameter(subject: Subject, marks: Any) -> Any:
    return pytest.param(subject, marks=marks, id=str(subject))
