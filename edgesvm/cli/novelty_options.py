"""Options of a learner without labels: how long it learns, and what is an alarm."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from edgesvm import catalogue
from edgesvm.cli import arguments, parameters
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
DEFAULT_RATE = "1/day"


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
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"{text}: give a time, such as 5m (s, m, h or d), or a number of samples"
        ) from None


def alarm_rate(text: str) -> str:
    """``1/day`` or a share; what share the first is depends on the samples a second."""
    arguments.said(read_rate, text)
    return text


def alarm(text: str) -> str:
    """``K/N``: strange samples of the last N that begin an alarm."""
    arguments.said(partial(k_of_n, "alarm"), text)
    return text


@dataclass(frozen=True)
class NoveltySettings:
    """The learner without labels that is asked for, and what is an alarm."""

    memory: str
    learner: str | None
    parameters: Mapping[str, str]  # besides what the options below say
    learn: Learning
    alarm_rate: str
    alarm: str  # K/N
    then: str  # "nothing", "normal" or "all": what to learn while watching
    residual: int | None = None  # the channel that the others are to explain
    clock: str | None = None  # "host" or "sample": who knows the time

    @classmethod
    def of(cls, options: argparse.Namespace) -> NoveltySettings:
        return arguments.read(cls, options, parameters=parameters.given(options))

    @property
    def needs_rate(self) -> bool:
        """Whether ``--alarm-rate`` is alarms in a time."""
        return read_rate(self.alarm_rate)[1] is not None

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
        for name, text in self.parameters.items():
            if name in own:
                raise ValueError(f"--set {name}: give --learn, --alarm-rate, --alarm or --then")
            own[name] = parameters.parsed(kind, name, text)
        return kind(**own)


def add_to(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("what is normal, and what is an alarm")
    group.add_argument(
        "--learn",
        type=learning,
        default=learning("5m"),
        metavar="5m|N",
        help="learn for so long (s, m, h, d), or from N samples or windows; default 5m",
    )
    group.add_argument(
        "--alarm-rate",
        type=alarm_rate,
        default=DEFAULT_RATE,
        metavar="1/day",
        help="alarms expected of a machine that runs well: 1/day, 2/hour, or a share of the "
        "samples (windows) such as 0.001; the threshold follows, so that it holds; default "
        f"{DEFAULT_RATE}",
    )
    group.add_argument(
        "--alarm",
        type=alarm,
        default="3/5",
        metavar="K/N",
        help="an alarm begins when K of the last N are strange, and ends when none of a good many "
        "is; default 3/5",
    )
    group.add_argument(
        "--then",
        choices=("normal", "all", "nothing"),
        default="nothing",
        help="what to learn while watching: nothing (default); normal: what is not strange, which "
        "follows a machine that changes, and a fault that grows slowly too; or all",
    )
    group.add_argument(
        "--memory",
        default="64KiB",
        metavar="BYTES",
        help="memory budget, windows included, such as 16384 or 16KiB; default 64KiB",
    )
    group.add_argument(
        "--learner",
        choices=KINDS,
        help=f"default {DEFAULT_KIND}; {catalogue.help_of('novelty')}",
    )
    group.add_argument(
        "--residual",
        type=int,
        metavar="N",
        help="watch channel N against what the other channels say of it, counted from 0, -1 the "
        "last: finds a fault that moves it within its usual range",
    )
    group.add_argument(
        "--clock",
        nargs="?",
        choices=("host", "sample"),
        const="host",
        help="look at samples by the hour of the week, in this computer's local time; sample: in "
        "that of the last number of each sample, in seconds since Monday 0:00, as in a replay",
    )
    parameters.add_set(group)
