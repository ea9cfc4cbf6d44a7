"""What can go wrong, and the one table from a step's status to the exception a caller sees.

Wrong use is a ``ValueError`` or ``TypeError``; these classes are for the rest. Bad frames and bad
samples on a link are counted; they are never raised and never learned.
"""

from __future__ import annotations

from collections.abc import Sized

from edgesvm.core.status import Status


class SampleRefused(ValueError):
    """A sample that was not learned and left the model as it was; ``status`` says why."""

    def __init__(self, message: str, status: Status) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self):
        return type(self), (self.args[0], self.status)


class NotFittedError(ValueError, AttributeError):
    """A prediction was asked of a learner that has seen no sample (bases as scikit-learn's own)."""


class MemoryBudgetError(ValueError):
    """The plan does not fit: ``required`` bytes would do, ``available`` were given."""

    def __init__(self, message: str, required: int, available: int) -> None:
        super().__init__(message)
        self.required = required
        self.available = available

    def __reduce__(self):
        return type(self), (self.args[0], self.required, self.available)


class LinkDown(ConnectionError):
    """The port is gone (unplugged or closed) or could not be opened."""


class NoSchema(TimeoutError):
    """The node did not describe its samples in the time allowed."""


class SchemaChanged(RuntimeError):
    """The node has changed the number of features of its samples."""


class VersionMismatch(RuntimeError):
    """The node and this host have no protocol version in common."""


class CorruptModelError(ValueError):
    """The bytes are no snapshot of ours, or were damaged."""


class FormatVersionError(CorruptModelError):
    """A sound snapshot, in a format version this release does not read."""


class RecordingError(ValueError):
    """The file is not a recording, is damaged, or holds samples of another kind."""


REFUSALS: dict[Status, str] = {
    Status.NOT_FINITE: (
        "has a feature that is NaN or infinite, or too large to be squared in {dtype}"
    ),
    Status.BAD_WEIGHT: (
        "has a weight that is negative, NaN or infinite, or too small to divide by; "
        "give a finite weight >= 0"
    ),
    Status.FULL: (
        "has a full store before it, of max_samples samples; give a larger max_samples, or"
        " when_full='oldest'"
    ),
    Status.UNKNOWN_LABEL: "has a label that is none of the classes {classes}",
}


def refusal(status: Status, sample: str, dtype: object, classes: Sized) -> SampleRefused:
    """The exception for a refused sample."""
    why = REFUSALS[status].format(dtype=dtype, classes=classes)
    if status == Status.UNKNOWN_LABEL and len(classes) == 2:
        why += "; OneVsOne(learner=..., n_classes=...) learns more than two"
    return SampleRefused(f"{sample} {why}", status)
