"""The exceptions, and the one table from a core's status to its message.

Wrong arguments raise ``ValueError`` or ``TypeError``; these classes are for everything else. Bad
frames and bad samples on a link are counted: they are never learned and raise nothing.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sized
from typing import Any

from edgesvm.core.constants import LARGEST_NORM, LARGEST_WEIGHT, LEAST_WEIGHT
from edgesvm.core.status import Status


class SampleRefused(ValueError):
    """A sample was refused and the model has not changed; ``status`` gives the reason."""

    def __init__(self, message: str, status: Status) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self):
        return type(self), (self.args[0], self.status)


class NotTaught(ValueError):
    """A label that somebody gave for an earlier row was not learned, and the model has not changed;
    the message says why."""


class NotFittedError(ValueError, AttributeError):
    """A prediction was requested before any sample was learned. What is raised is also
    scikit-learn's exception of this name, if that is imported."""

    def __reduce__(self):
        return NotFittedError, self.args


class DataConversionWarning(UserWarning):
    """Labels came as a column of shape (n, 1); also scikit-learn's warning of this name, if that is
    imported."""


class ConvergenceWarning(UserWarning):
    """A `fit` ended before its solution converged; also scikit-learn's warning of this name, if
    that is imported."""


def as_sklearns(kind: type[Any]) -> type[Any]:
    """The class to raise or to warn with: `kind`, and a class that is also scikit-learn's of the
    same name where scikit-learn is imported, so that code written for either catches it."""
    theirs = getattr(sys.modules.get("sklearn.exceptions"), kind.__name__, None)
    return kind if theirs is None else _both(kind, theirs)  # type: ignore[arg-type]


@functools.cache
def _both(kind: type[Any], theirs: type[Any]) -> type[Any]:
    return type(kind.__name__, (kind, theirs), {"__module__": kind.__module__})


class LearnerBusy(RuntimeError):
    """A callback came back to the learner that called it, which is not ready for that; or this
    process was forked while another thread was at work with the learner."""


class MemoryBudgetError(ValueError):
    """``required`` bytes are needed, but only ``available`` were given."""

    def __init__(self, message: str, required: int, available: int) -> None:
        super().__init__(message)
        self.required = required
        self.available = available

    def __reduce__(self):
        return type(self), (self.args[0], self.required, self.available)


class LinkDown(ConnectionError):
    """The port was unplugged or closed, or could not be opened."""


class NoSchema(TimeoutError):
    """The node did not announce its schema in time."""


class SchemaChanged(RuntimeError):
    """The node has changed its number of features."""


class VersionMismatch(RuntimeError):
    """Node and host have no protocol version in common."""


class CorruptModelError(ValueError):
    """The bytes are not an edgesvm snapshot or checkpoint, or are damaged."""


class FormatVersionError(CorruptModelError):
    """The snapshot or checkpoint has a format version that this release does not read."""


class RowsError(ValueError):
    """The file cannot be read as samples; the message says which line and why."""


class RecordingError(ValueError):
    """The file is not a recording, is damaged, or holds samples of another schema."""


REFUSALS: dict[Status, str] = {
    Status.NOT_FINITE: (
        "has a feature that is NaN or infinite, or too large to be squared in {dtype}, or for the"
        f" kernel: k(x, x) is at most {LARGEST_NORM}"
    ),
    Status.BAD_WEIGHT: (
        f"has a weight that is neither 0 nor from {LEAST_WEIGHT:.1e} to {LARGEST_WEIGHT:.1e}, or"
        " would make the model overflow"
    ),
    Status.FULL: (
        "does not fit: the store already holds max_samples samples; give a larger max_samples, or"
        " when_full='oldest'"
    ),
    Status.BAD_TARGET: "has a target that is NaN, infinite, or beyond 1e100",
    Status.UNKNOWN_LABEL: "has a label that is not one of the classes {classes}",
}


def refusal(
    status: Status,
    sample: str,
    dtype: object,
    classes: Sized,
    weight: float | None = None,
) -> SampleRefused:
    """The exception for a refused sample; `weight` its own, if known."""
    why = REFUSALS[status].format(dtype=dtype, classes=classes)
    if status == Status.BAD_WEIGHT and weight is not None:
        why = _weight_refused(weight)
    if status == Status.UNKNOWN_LABEL and len(classes) == 2:
        why += "; for more than two give classes=, n_classes= or OneVsOne(learner=...)"
    return SampleRefused(f"{sample} {why}", Status(status))


def too_long(sample: str, count: int, max_nonzeros: int) -> SampleRefused:
    """The exception for a row of more non-zeros than a core set of so many takes."""
    return SampleRefused(
        f"{sample} does not fit: its {count:,} non-zeros are more than half of"
        f" max_nonzeros={max_nonzeros:,}; give a larger max_nonzeros",
        Status.FULL,
    )


def _weight_refused(weight: float) -> str:
    """What is wrong with a weight that was refused."""
    if not LEAST_WEIGHT <= weight <= LARGEST_WEIGHT:
        return (
            f"has a weight of {weight:g}: a weight is 0, or from {LEAST_WEIGHT:.1e} to"
            f" {LARGEST_WEIGHT:.1e}"
        )
    return f"has a weight of {weight:g}, with which the model would overflow; give a smaller one"
