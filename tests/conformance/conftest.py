"""Parametrises each check of `each_of("subject")` over the registered learners and both dtypes;
those that `pytest.mark.raw` says also hold where raw samples are taken, over these too. Checks of
`pytest.mark.labels` are made of classifiers alone, those of `pytest.mark.targets` of regressors.

`make test` takes every entry in float32, and in float64 the first of a kind.
`pytest.mark.entries(*names)` narrows that to the entries named, the first of them in both dtypes;
`dtype="float64"` exchanges the two. The long run takes the rest, and all values of `Subject.some`.
What `make test` takes is one item; elsewhere, and with `-k`, each learner is one.
"""

import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from registry import DTYPES, RAW, REGISTERED, Registered, RegisteredRaw


@dataclass(frozen=True)
class Subject:
    """A registered learner in one dtype."""

    entry: Registered | RegisteredRaw
    dtype: str
    samples: ClassVar[bool] = False  # whether `some` leaves values out

    def some(self, values: Sequence[Any]) -> Sequence[Any]:
        """The values that a slow check tries: `make test` takes one of them for each learner, so
        that the learners share them; the long run all."""
        at = zlib.crc32(str(self).encode()) % len(values)
        return values[at : at + 1] if self.samples else values

    @property
    def n_features(self) -> int:
        return self.entry.n_features

    def make(self, **changes: Any) -> Any:
        return self.entry.make(**{"dtype": self.dtype, **changes})

    def stream(self, n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
        return self.entry.stream(n, self.dtype, seed)

    def learned(self, n: int = 150, **changes: Any) -> Any:
        """A learner that has seen n samples."""
        return self.entry.taught(self.make(**changes), *self.stream(n))

    def __str__(self) -> str:
        return f"{self.entry.name}-{self.dtype}"


def is_meant(entry: Registered, metafunc: Any) -> bool:
    """Whether a check makes sense for an entry."""
    marked = metafunc.definition.get_closest_marker
    relabels = metafunc.module.__name__.endswith("test_labels")
    return not (
        (entry.regresses and marked("labels"))
        or (not entry.regresses and marked("targets"))
        or (not entry.forecasts and marked("forecasts"))
        or (relabels and entry.by_label)
    )


def pytest_generate_tests(metafunc):
    mark = metafunc.definition.get_closest_marker("entries")
    of_raw = metafunc.definition.get_closest_marker("raw")
    raw = [entry.name for entry in RAW] if of_raw else []
    entries = [entry for entry in REGISTERED if is_meant(entry, metafunc)]
    all_names, dtype = [entry.name for entry in entries], DTYPES[0]
    names = all_names
    in_both = {entry.family: entry.name for entry in reversed(entries)}.values()
    if mark is not None:
        dtype = mark.kwargs.get("dtype", dtype)
        if mark.args:
            names = [name for name in mark.args if name in all_names]
            in_both = names[:1]

    def is_long(subject: Subject) -> bool:
        name, usual = subject.entry.name, dtype if dtype in subject.entry.dtypes else DTYPES[0]
        return name not in names or (subject.dtype != usual and name not in in_both)

    if of_raw:
        firsts = {entry.family: entry.name for entry in reversed(RAW)}.values()
        only = "only" in of_raw.args
        names = [*(() if only else names), *raw]
        in_both = [*(() if only else in_both), *firsts]
    if of_raw:
        entries = RAW if "only" in of_raw.args else [*entries, *RAW]
    if "every_subject" not in metafunc.fixturenames:
        return
    quick = metafunc.config.option.markexpr == "not long"  # what is long need not be made
    Subject.samples = quick
    subjects = [Subject(entry, dtype) for entry in entries for dtype in entry.dtypes]
    usual = [subject for subject in subjects if not is_long(subject)]
    if quick and not metafunc.config.option.keyword:
        items = [pytest.param(usual, id="all")]
    else:
        items = [
            pytest.param([s], id=str(s), marks=() if s in usual else pytest.mark.long)
            for s in (usual if quick else subjects)
        ]
    metafunc.parametrize("every_subject", items)
