"""Alarms in a stretch of time, as a share of the samples: what `alarm_rate` asks for."""

from __future__ import annotations

import math

from edgesvm.contract.params import positive
from edgesvm.learners.novelty.constants import LEAST_RATE, MOST_RATE

__all__ = ["alarm_rate_of"]

TAIL = 0.025  # of the alarms by chance, on either side
Z_95 = 1.959964
MANY = 500  # alarms, from which the Poisson distribution is a normal one
SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}


def alarm_rate_of(text: str, rate: float | None = None) -> float:
    """The share of samples that may alarm, of a text.

    Parameters
    ----------
    text : str
        Alarms in a stretch of time, as "1/day" or "2.5/hour" (second, minute, hour, day or week);
        or a share of the samples, as "0.001".
    rate : float, optional
        Samples a second; a text with a stretch of time needs it.

    Returns
    -------
    float, from 1e-9 to 0.05: an `alarm_rate` for the novelty learners

    Raises
    ------
    ValueError
        The text is none of these, `rate` is missing or not positive, or the share is out of range.

    Examples
    --------
    >>> from edgesvm import alarm_rate_of
    >>> alarm_rate_of("36/hour", rate=10.0), alarm_rate_of("0.002")
    (0.001, 0.002)
    """
    alarms, seconds = read(text)
    if seconds is None:
        return _in_range(alarms, repr(text))
    if rate is None:
        raise ValueError(f"{text!r} needs the samples a second: give rate=")
    samples = positive("rate", rate)
    return _in_range(alarms / seconds / samples, f"{text!r} at {samples:g} samples a second")


def read(text: str) -> tuple[float, int | None]:
    """Alarms, and in how many seconds; None for a share. Raises ValueError if the text is none."""
    count, slash, unit = text.partition("/")
    seconds = SECONDS.get(unit.strip())
    try:
        alarms = positive("alarms", float(count))
    except ValueError:
        alarms = None
    if alarms is None or (slash and seconds is None):
        raise ValueError(
            f"{text!r} is no alarm rate: give alarms in a time, as 1/day (second, minute, hour,"
            " day or week), or a share of the samples, as 0.001"
        )
    return alarms, seconds


def by_chance(expected: float) -> tuple[int, int]:
    """Least and most alarms of a stream that has `expected` in the mean: 95 % of the Poisson
    distribution."""
    if expected > MANY:
        half = Z_95 * math.sqrt(expected)
        return math.ceil(expected - half), math.floor(expected + half)
    n, below, least = 0, 0.0, None
    chance = math.exp(-expected)
    while below + chance < 1 - TAIL:
        below += chance
        if least is None and below > TAIL:
            least = n
        n += 1
        chance *= expected / n
    return n if least is None else least, n


def _in_range(share: float, what: str) -> float:
    if not LEAST_RATE <= share <= MOST_RATE:
        raise ValueError(
            f"{what} is {share:.3g} of the samples: it may be from {LEAST_RATE} to {MOST_RATE}"
        )
    return share
