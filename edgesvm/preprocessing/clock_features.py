"""ClockFeatures: samples against their level and against what is usual at this hour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from edgesvm.budget import NOT_NEGATIVE, MemoryPlan
from edgesvm.contract.params import among, checked, param, whole
from edgesvm.contract.registry import also_loaded
from edgesvm.learner import DTYPES, MAX_FEATURES
from edgesvm.preprocessing._windows import ClockFeaturesCore
from edgesvm.preprocessing.window_features import COUNTS, RawFeatures

__all__ = ["ClockFeatures"]

OF_A_CHANNEL = ("value", "level", "difference", "residual")
LEAST = 2  # numbers in a sample: a channel and the time
HOURS = 168  # of a week
# The time, the seconds of the slow mean, at most twelve hours, the hour, and two counts.
CLOCK = ((0, HOURS * 3600), (0, 43_200), (0, HOURS - 1), NOT_NEGATIVE, NOT_NEGATIVE)


@also_loaded
@dataclass(kw_only=True, eq=False)
class ClockFeatures(RawFeatures):
    """What a sample is against the clock, so that a machine with the rhythm of a day or a week is
    normal in all of it: a row for each sample, to be learned by a learner of what is normal.

    Each channel gives four numbers: its value; the level, value minus slow mean; the difference to
    the sample before; and the residual, value minus what is usual at this hour of the week, in
    deviations.

    Parameters
    ----------
    dtype : {"float32", "float64"}, default "float32"
        Of the samples and of the rows.

    Notes
    -----
    The last number of a sample is the time, in seconds since Monday 0:00 of the local clock, 0 to
    604,800; others are refused, as are NaN and values beyond 1e15. In float32 a second is exact.

    The slow mean is of some twelve hours. A value counts for it, and for its hour, as at most 8
    times the usual distance from the slow mean. When an hour ends, mean and deviation of its
    samples become the n-th part, and at least an eighth, of what the hour has, after n visits; they
    count as at most 3 deviations. What is usual is that of the hour of the week once it was seen
    twice; before that the same hours of all days together; and before two of these, the slow mean.
    The residual is in deviations, for which the usual distance counts as a quarter of a visit, and
    at most 16.

    A clock that is set back lets the hour go on until it is another one; a step ahead begins
    another hour. After a `gap` the first difference is 0.

    Bytes, with c channels besides the time: 240 + 728 c + 4 c s, s = 4 or 8: the hours of a channel
    are 168 pairs of 16 bits.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import Chain, ClockFeatures, GaussianNovelty
    >>> hours = np.arange(0, 5 * 168, 0.25)
    >>> at_work = (hours % 24 >= 8) & (hours % 24 < 17) & (hours % 168 < 120)
    >>> noise = np.random.default_rng(0).normal(0, 0.1, len(hours))
    >>> X = np.column_stack([at_work + noise, hours % 168 * 3600]).astype(np.float32)
    >>> chain = Chain(windows=ClockFeatures(), learner=GaussianNovelty()).allocate(n_channels=2)
    >>> chain.windows_.nbytes
    984
    >>> answers = [chain.push(x) for x in X]
    >>> on_sunday = np.float32([1.0, 155 * 3600])
    >>> chain.push(np.float32([0.0, 155 * 3600]))[0], chain.push(on_sunday)[0]
    (1, -1)
    """

    dtype: str = param("float32", among(*DTYPES))

    _compiled: ClassVar[type[Any]] = ClockFeaturesCore

    def names(
        self, n_channels: int | None = None, channels: Sequence[str] | None = None
    ) -> list[str]:
        """Names of the numbers in a row, in order: ``"x0_value"``, ``"x0_level"``,
        ``"x0_difference"``, ``"x0_residual"``, ``"x1_value"`` and so on; `channels` names the
        channels besides the time. `n_channels`, with the time, is needed before ``allocate``."""
        if channels is None:
            n_channels = self.core.n_channels if n_channels is None else n_channels
            channels = [f"x{c}" for c in range(n_channels - 1)]
        return [f"{channel}_{name}" for channel in channels for name in OF_A_CHANNEL]

    def apart(self) -> Any:
        """As in the base; they know the same hours."""
        apart = super().apart()
        apart.arena.memory[:] = self.arena.memory
        apart.gap()
        return apart

    def plan(self, n_channels: int) -> MemoryPlan:
        """The arrays needed, and their total in bytes. Nothing is allocated."""
        checked(self)
        c = whole("n_channels", n_channels, LEAST, MAX_FEATURES // len(OF_A_CHANNEL)) - 1
        return MemoryPlan.of(
            [
                *COUNTS,
                ("clock", "f8", (5,), CLOCK),
                ("channels", "f8", (c, 7)),
                ("codes", "i2", (c, HOURS, 2)),
                ("visits", "u1", (HOURS,)),
                ("row", self.dtype, (len(OF_A_CHANNEL) * c,)),
            ]
        )

    @property
    def _written(self) -> dict[str, Any]:
        return {"dtype": self.dtype}

    @property
    def visits_(self) -> Any:
        return self.core.views["visits"].copy()
