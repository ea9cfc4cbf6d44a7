"""Options of a learner without labels: how long it learns, and what is an alarm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from edgesvm import catalogue
from edgesvm.cli import arguments, parameters
from edgesvm.cli.options import option
from edgesvm.contract.registry import kind_of
from edgesvm.learners.novelty.novelty import (
    MOST_WARM_UP,
    NoveltyLearner,
    alarm_rate_of,
    k_of_n,
    read_rate,
)

KINDS = catalogue.commands("novelty")
DEFAULT_KIND = "gaussian"
SMALLER_KIND = "kernel"  # where the usual one does not fit


class Learning(NamedTuple):
    """How long to learn: so many samples (windows), or so many seconds."""

    samples: int | None
    seconds: float | None


def learning(text: str) -> Learning:
    """``5m``, ``90s``, ``2h``, ``1d``, or a number of samples."""
    try:
        if text.isdecimal() and 0 < int(text) <= MOST_WARM_UP:
            return Learning(int(text), None)
        return Learning(None, arguments.duration(text))
    except ValueError:
        raise ValueError(
            f"{text}: give a time, such as 5m (s, m, h or d), or a number of samples"
        ) from None


def checked_alarm_rate(text: str) -> str:
    """``1/day`` or a share; what share the first is depends on the samples a second."""
    read_rate(text)
    return text


def checked_alarm(text: str) -> str:
    """``K/N``: strange samples of the last N that begin an alarm."""
    k_of_n("alarm", text)
    return text


@dataclass(frozen=True, kw_only=True)
class NoveltySettings:
    """The learner without labels that is asked for, and what is an alarm."""

    TITLE: ClassVar[str] = "what is normal, and what is an alarm"

    learn: Learning = option(
        learning("5m"),
        "learn for so long (s, m, h, d), or from N samples or windows; default 5m",
        unit="5m|N",
        check=learning,
    )
    alarm_rate: str = option(
        "1/day",
        "alarms expected of a machine that runs well: 1/day, 2/hour, or a share of the samples "
        "(windows) such as 0.001; the threshold follows, so that it holds",
        unit="1/day",
        check=checked_alarm_rate,
    )
    alarm: str = option(
        "3/5",
        "an alarm begins when K of the last N are above the threshold, and lasts while any is held "
        "apart",
        unit="K/N",
        check=checked_alarm,
    )
    then: str = option(
        "normal",
        "what to learn while watching: normal: what is not strange, which follows a machine that "
        "changes slowly, and a fault that grows as slowly; nothing; or all",
        choices=("normal", "all", "nothing"),
    )
    memory: str = option("64KiB", "such as 16384 or 16KiB, windows included", unit="BYTES")
    learner: str | None = option(
        None,
        "gaussian (default): mean and covariance, for the smallest boards; kernel: distances to "
        "stored samples",
        choices=KINDS,
    )
    residual: str | None = option(
        None,
        "watch a channel, by its name or its number from 0, -1 the last, against what the other "
        "channels say of it: finds a fault that moves it within its usual range",
        unit="NAME|N",
    )
    clock: str | None = option(
        None,
        "look at samples by the hour of the week, in this computer's local time; sample: in that "
        "of the last number of each sample, in seconds since Monday 0:00, as in a replay",
        choices=("host", "sample"),
        without="host",
    )
    set: tuple[tuple[str, str], ...] = option((), **parameters.SET)

    @property
    def needs_rate(self) -> bool:
        """Whether ``--alarm-rate`` is alarms in a time."""
        return read_rate(self.alarm_rate)[1] is not None

    def channel(self, names: Sequence[str], n_channels: int) -> int:
        """The number of the channel of ``--residual``. ValueError if there is none."""
        asked, numbers = str(self.residual), [*range(n_channels), *range(-n_channels, 0)]
        if asked in names:
            return names.index(asked)
        if asked in map(str, numbers):
            return int(asked) % n_channels
        there = ", ".join(names or map(str, range(n_channels)))
        raise ValueError(f"--residual {asked}: no such channel; there are {there}")

    def new_learner(
        self, samples_per_second: float | None, usual: str = DEFAULT_KIND
    ) -> NoveltyLearner:
        """The learner, not allocated. Raises ValueError for a parameter that it does not have."""
        kind: type[NoveltyLearner] = kind_of(KINDS[self.learner or usual])
        own: dict[str, Any] = {
            "alarm_rate": alarm_rate_of(self.alarm_rate, samples_per_second),
            "learn": "all" if self.then == "all" else "normal",
            "warm_up": self.learn.samples or MOST_WARM_UP,
            "alarm": self.alarm,
        }
        for name, text in self.set:
            if name in own:
                raise ValueError(f"--set {name}: give --learn, --alarm-rate, --alarm or --then")
            own[name] = parameters.parsed(kind, name, text, KINDS)
        return kind(**own)
