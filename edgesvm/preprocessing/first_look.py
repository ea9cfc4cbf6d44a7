"""Raw signals before anything is learned: their ranges and spectrum, and the windows and bands
that suit them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST = 64  # samples; fewer say nothing about windows
SEGMENT = 1024  # samples, at most, of one spectrum
WINDOWS = tuple(2**k for k in range(5, 13))
AT_LEAST_WINDOWS = 8  # in what was recorded, or two neighbours cannot be compared
STEADY = 0.1  # neighbouring windows' spreads differ by no more
SLOW = 0.9  # of the variance lies between windows, not within them
OVER_FLOOR = 6.0  # a peak is so many times as high as what surrounds it
PERIODS = 4  # of the lowest peak, in a window
LEAST_SHARE = 0.02  # and has so much of all power
MOST_PEAKS = 4
TOP = 0.45  # of the rate: the highest end of a band
CLIPPED = 0.02  # so many samples at one end of the range are no chance
FEW_VALUES = 8
SHOWN = 120  # points of a spectrum as it is drawn
TRACE = 240  # samples of a channel as it is drawn


@dataclass(frozen=True)
class Proposal:
    """Windows and bands for a signal, and the figures behind them."""

    window: int | None = None
    hop: int | None = None
    bands: tuple[tuple[float, float], ...] = ()
    why: list[str] = field(default_factory=list)

    def options(self, rate: float) -> str:
        """As one gives them to a command; empty without windows."""
        if self.window is None:
            return ""
        bands = ",".join(f"{lo:g}-{hi:g}" for lo, hi in self.bands)
        text = f"--window {self.window} --hop {self.hop} --rate {rate:g}"
        return f"{text} --bands {bands}" if bands else text


def ranges(X: Floats, names: Sequence[str]) -> list[dict[str, Any]]:
    """Of each channel of X (n, d): name, low, high, mean, std and a remark, which may be empty."""
    described = []
    for name, x in zip(names, X.T, strict=True):
        low, high = float(x.min()), float(x.max())
        figures = {"low": low, "high": high, "mean": float(x.mean()), "std": float(x.std())}
        described.append({"name": name, **figures, "remark": _remark(x, low, high)})
    return described


def _remark(x: Floats, low: float, high: float) -> str:
    if low == high:
        return "constant"
    if _only_rises(x):
        return "only rises: a time or a number of the sample?"
    values = len(np.unique(x))
    if values <= FEW_VALUES:
        return f"{values} values only: a label?"
    ends = {"lowest": np.mean(x == low), "highest": np.mean(x == high)}
    which = max(ends, key=lambda end: ends[end])
    if len(x) >= LEAST and ends[which] > CLIPPED:
        return f"{ends[which]:.0%} at its {which} value: clipped?"
    return ""


def _only_rises(x: Floats) -> bool:
    return len(x) >= LEAST and bool((np.diff(x) > 0).all())


def signals(X: Floats) -> Floats:
    """The channels of X (n, d) that move, without clocks."""
    if not len(X):
        return X[:, :0]
    return X[:, [x.min() < x.max() and not _only_rises(x) for x in X.T]]


def spectrum(X: Floats, rate: float) -> tuple[Floats, Floats]:
    """Where the power of a signal lies (Welch's method, Hann windows, half overlapped)."""
    n = min(SEGMENT, 1 << int(math.log2(len(X) // 4)))
    window = np.hanning(n + 1)[:-1]
    starts = range(0, len(X) - n + 1, max(n // 2, 1))
    pieces = np.stack([X[at : at + n] for at in starts])
    pieces = pieces - pieces.mean(axis=1, keepdims=True)
    power = np.mean(np.abs(np.fft.rfft(pieces * window[:, None], axis=1)) ** 2, axis=0)[1:]
    total = power.sum(axis=0)
    moving = power[:, total > 0] / total[total > 0]
    shares = moving.mean(axis=1) if moving.size else np.zeros(len(power))
    return rate * np.arange(1, len(power) + 1) / n, shares


def peaks(frequencies: Floats, shares: Floats) -> list[tuple[float, float]]:
    """(Hz, share of the power) of what stands out of its surroundings, by frequency."""
    found = []
    around = max(len(shares) // 32, 8)
    for k in range(len(shares)):
        near = shares[max(k - 2, 0) : k + 3]  # what a Hann window makes of one tone
        floor = np.median(shares[max(k - around, 0) : k + around + 1])
        if shares[k] == near.max() > OVER_FLOOR * floor and near.sum() >= LEAST_SHARE:
            found.append((float(frequencies[k]), float(near.sum())))
    return sorted(sorted(found, key=lambda peak: -peak[1])[:MOST_PEAKS])


def bands(tones: Sequence[tuple[float, float]], rate: float) -> tuple[tuple[float, float], ...]:
    """A band for each peak, and one above; without a peak three."""
    top = _rounded(TOP * rate)
    at = [hz for hz, _ in tones if hz < top]
    if not at:
        ends = [top / 64, top / 16, top / 4, top]
    else:
        between = [math.sqrt(a * b) for a, b in itertools.pairwise(at)]
        ends = [at[0] / 2, *between, min(2 * at[-1], top)]
        if ends[-1] <= top / 1.5:
            ends.append(top)
    cuts = sorted({_rounded(end) for end in ends})
    return tuple(itertools.pairwise(cuts))


def _rounded(hz: float) -> float:
    """Two digits."""
    return float(f"{hz:.2g}")


def unsteadiness(X: Floats, window: int) -> float:
    """By how much the spread of a window differs from that of the next one: the median, as a share,
    of the channel of X (n, d) where it is largest."""
    spread = np.log(np.maximum(_cut(X, window).std(axis=1), 1e-12))
    return float(np.expm1(np.median(np.abs(np.diff(spread, axis=0)), axis=0)).max())


def slowness(X: Floats, window: int) -> float:
    """The share of the variance that lies between windows: of the channel where it is least."""
    between = _cut(X, window).mean(axis=1).var(axis=0)
    return float((between / X.var(axis=0)).min())


def _cut(X: Floats, window: int) -> Floats:
    n = len(X) // window
    return X[: n * window].reshape(n, window, X.shape[1])


def propose(X: Floats, rate: float, seen: tuple[Floats, Floats] | None = None) -> Proposal:
    """Windows and bands for the raw samples X (n, d) at `rate` Hz, whose `spectrum` was `seen`."""
    X = signals(X)
    fits = [window for window in WINDOWS if AT_LEAST_WINDOWS * window <= len(X)]
    if not fits or not X.shape[1]:
        return Proposal(why=["too few samples that move to say anything: record a minute or two"])
    if (slow := slowness(X, fits[0])) > SLOW:
        told = f"{slow:.0%} of the variance lies between windows of {fits[0]}: it moves too slowly"
        return Proposal(why=[f"{told} for windows, learn the samples as they are"])
    tried = {window: unsteadiness(X, window) for window in fits}
    tones = peaks(*(seen or spectrum(X, rate)))
    least = PERIODS * rate / tones[0][0] if tones else 0.0
    steady = [window for window in fits if tried[window] <= STEADY and window >= least]
    window = steady[0] if steady else fits[-1]
    told = ", ".join(f"{n}: {share:.1%}" for n, share in tried.items() if n <= 2 * window)
    why = [f"spread from window to window, by samples in it: {told}"]
    if not steady:
        why.append(f"none is steady to {STEADY:.0%}: {window} is the longest that can be compared")
    if tones:
        why.append(f"a window holds {window * tones[0][0] / rate:.2g} periods of the lowest peak")
    why += [f"{_rounded(hz):g} Hz has {share:.0%} of the power" for hz, share in tones]
    if not tones:
        why.append("no frequency stands out: the bands are four times as high each")
    return Proposal(window, window // 2, bands(tones, rate), why)


def figures(X: Floats, rate: float, names: Sequence[str]) -> dict[str, Any]:
    """All that is shown of the raw samples X (n, d), n >= 1, as JSON has it."""
    shown: dict[str, Any] = {"frequencies": [], "levels": []}
    seen = None
    if len(X) >= LEAST:
        hz, shares = seen = spectrum(signals(X), rate)
        of = max(1, math.ceil(len(hz) / SHOWN))
        starts = np.arange(0, len(hz), of)
        highest = np.maximum.reduceat(shares, starts)
        levels = 10 * np.log10(np.maximum(highest * len(hz), 1e-9))  # 0: of white noise
        shown = {"frequencies": hz[starts].round(6).tolist(), "levels": levels.round(1).tolist()}
    proposal = propose(X, rate, seen)
    return {
        "channels": ranges(X, names),
        "traces": [[float(f"{v:.6g}") for v in x] for x in X[-TRACE:].T],
        "spectrum": shown,
        "options": proposal.options(rate),
        "why": proposal.why,
    }
