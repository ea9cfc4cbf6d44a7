"""Bands of frequencies, and the band-pass filters that measure the power in them.

The coefficients are computed by additions, multiplications, divisions and square roots alone: the C
library's sine may differ in the last bit from one machine to the next, and an arena must not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

PI = 3.141592653589793
N_SECTIONS = 2  # per band
MAX_BANDS = 16


class Section(NamedTuple):
    """y[i] = b (x[i] - x[i-2]) - a1 y[i-1] - a2 y[i-2]"""

    b: float
    a1: float
    a2: float


def as_bands(bands: Any, rate: float) -> tuple[tuple[float, float], ...]:
    """The (lo, hi) of each band in Hz, from pairs or from "10-50,50-200".

    Raises
    ------
    ValueError
        A band is not 0 < lo < hi < rate / 2, or there are more than 16.
    """
    try:
        pairs = [part.split("-") for part in bands.split(",")] if isinstance(bands, str) else bands
        found = tuple((float(lo), float(hi)) for lo, hi in pairs) if bands else ()
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"bands={bands!r}: give pairs (lo, hi) in Hz, or '10-50,50-200'"
        ) from error
    for lo, hi in found:
        if not 0.0 < lo < hi < rate / 2:
            raise ValueError(
                f"bands={bands!r}: give 0 < lo < hi < {rate / 2:g}, half the rate, in Hz"
            )
        if hi - lo < 1e-6 * rate:
            raise ValueError(
                f"bands={bands!r}: {lo:g}-{hi:g} is narrower than a millionth of the rate"
            )
    if len(found) > MAX_BANDS:
        raise ValueError(f"bands={bands!r}: give at most {MAX_BANDS}")
    return found


def as_text(bands: Iterable[tuple[float, float]]) -> str:
    """``"10-50,50-200"``"""
    return ",".join(f"{lo!r}-{hi!r}" for lo, hi in bands)


def butterworth(lo: float, hi: float, rate: float) -> list[Section]:
    """The two sections of a Butterworth band-pass, whose power is halved at `lo` and `hi`.

    It is ``scipy.signal.butter(2, [lo, hi], "bandpass", fs=rate)``: the poles exp(+-3 pi i / 4) of
    the low-pass, moved by s -> (s^2 + lo hi) / (s (hi - lo)) in warped frequencies, then by the
    bilinear transform. Of a pole p = -r + i r of the low-pass, scaled to half the width, come the
    two poles p +- sqrt(p^2 - lo hi), and with its conjugate those of both sections.
    """
    low, high = tangent(lo / rate), tangent(hi / rate)
    width, middle = high - low, low * high
    r = width / 2.0 / math.sqrt(2.0)
    # sqrt(p^2 - middle), where p^2 = -2 i r^2
    size = math.sqrt(middle * middle + 4.0 * r * r * r * r)
    v = math.sqrt((size + middle) / 2.0)  # its imaginary part, downwards
    u = r * r / v
    sections = []
    for sigma, omega in ((-r + u, r - v), (-r - u, r + v)):
        square = sigma * sigma + omega * omega
        a0 = 1.0 - 2.0 * sigma + square
        sections.append(
            Section(width / a0, 2.0 * (square - 1.0) / a0, (1.0 + 2.0 * sigma + square) / a0)
        )
    return sections


def tangent(turns: float) -> float:
    """tan(pi turns), 0 < turns < 1/2, by the series of the sine."""
    return sine(PI * turns) / sine(PI * (0.5 - turns))


def sine(angle: float) -> float:
    """sin(angle), 0 <= angle <= pi / 2."""
    term = total = angle
    for k in range(2, 40, 2):
        term *= -angle * angle / (k * (k + 1))
        total += term
    return total
