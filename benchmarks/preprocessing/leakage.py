"""The power of a tone in bands of frequencies: by band-pass filters of one to three sections, by
Goertzel's resonators, and by the FFT of the whole window, rectangular or Hann.

What a band should have is all of a tone inside it, and nothing of one outside. A window has 256
samples at 1 kHz; each tone is measured at several phases, after the filters have settled.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import signal

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.report import Report, Table, publish
from edgesvm import WindowFeatures

RATE, WINDOW = 1000.0, 256
BANDS = ((10.0, 50.0), (50.0, 200.0), (200.0, 400.0))
TONES = (5.0, 20.0, 30.0, 45.0, 55.0, 100.0, 101.7, 150.0, 195.0, 205.0, 300.0)
SHOWN = 1  # the band whose share is shown tone by tone
LEAD = 4 * WINDOW  # samples before the window
GRID = 4  # Goertzel's resonators in a band

Method = Callable[[np.ndarray], np.ndarray]  # samples, the window last -> power of each band


def by_windows(x: np.ndarray) -> np.ndarray:
    windows = WindowFeatures(
        window=WINDOW, hop=WINDOW, rate=RATE, bands=BANDS, features="power", dtype="float64"
    )
    return windows.push_many(x[:, None])[-1]


def by_filter(order: int) -> Method:
    sections = [signal.butter(order, band, "bandpass", fs=RATE, output="sos") for band in BANDS]
    return lambda x: np.array([np.mean(signal.sosfilt(sos, x)[-WINDOW:] ** 2) for sos in sections])


def by_goertzel(n: int) -> Method:
    """n resonators a band, at the middles of n equal parts; their mean stands for the band."""
    at = np.arange(WINDOW) / RATE
    waves = [
        np.exp(-2j * np.pi * np.outer(lo + (hi - lo) * (np.arange(n) + 0.5) / n, at))
        for lo, hi in BANDS
    ]
    bins = [max((hi - lo) * WINDOW / RATE / n, 1.0) if n > 1 else 1.0 for lo, hi in BANDS]

    def power(x: np.ndarray) -> np.ndarray:
        tuned = [2 * np.sum(np.abs(wave @ x[-WINDOW:] / WINDOW) ** 2) for wave in waves]
        return np.array(tuned) * bins

    return power


def by_fft(taper: np.ndarray) -> Method:
    at = np.fft.rfftfreq(WINDOW, 1 / RATE)
    inside = np.array([(at >= lo) & (at < hi) for lo, hi in BANDS])

    def power(x: np.ndarray) -> np.ndarray:
        spectrum = np.abs(np.fft.rfft(x[-WINDOW:] * taper)) ** 2
        return inside @ spectrum * 2 / (WINDOW * (taper**2).sum())

    return power


METHODS: dict[str, tuple[Method, str]] = {
    "filter, 1 section": (by_filter(1), "16"),
    "filter, 2 sections (WindowFeatures)": (by_windows, "32"),
    "filter, 3 sections": (by_filter(3), "48"),
    "Goertzel, 1 a band": (by_goertzel(1), "16 w"),
    f"Goertzel, {GRID} a band": (by_goertzel(GRID), f"{16 * GRID} w"),
    "FFT, rectangular": (by_fft(np.ones(WINDOW)), f"{8 * WINDOW}"),
    "FFT, Hann": (by_fft(np.hanning(WINDOW)), f"{8 * WINDOW}"),
}


def shares(method: Method, tone: float, phases: int) -> np.ndarray:
    """Power of each band over the tone's, mean of the phases."""
    at = np.arange(LEAD + WINDOW) / RATE
    angles = 2 * np.pi * np.arange(phases) / phases
    return np.mean(
        [method(np.sqrt(2) * np.sin(2 * np.pi * tone * at + angle)) for angle in angles], axis=0
    )


def main() -> None:
    args = parsed(arguments(__doc__, rounds=8, seed=0))
    n_random = 20 if args.quick else 400
    random = np.random.default_rng(args.seed).uniform(2, 498, n_random)
    expected = np.array([[lo <= tone < hi for lo, hi in BANDS] for tone in random], float)
    rows, errors, found = [], [], {}
    for name, (method, n_bytes) in METHODS.items():
        told = [float(shares(method, tone, args.rounds)[SHOWN]) for tone in TONES]
        error = np.abs([shares(method, tone, args.rounds) for tone in random] - expected)
        found[name] = {"tones": told, "mean_error": float(error.mean())}
        rows.append([name, *(f"{share:.2f}" for share in told)])
        errors.append([name, f"{error.mean():.3f}", n_bytes])
    lo, hi = BANDS[SHOWN]
    tables = [
        Table(
            f"Share of a tone's power that the band of {lo:g} to {hi:g} Hz has",
            ["method", *(f"{tone:g} Hz" for tone in TONES)],
            rows,
        ),
        Table(
            f"{n_random} tones, uniform from 2 to 498 Hz",
            ["method", "mean error of a share", "bytes a channel and band"],
            errors,
            "An error is the distance from 1 inside the band, from 0 outside. w is the number of "
            "windows that overlap; the sums of squares behind a filter take 8 w more.",
        ),
    ]
    bands = ", ".join(f"{lo:g}-{hi:g}" for lo, hi in BANDS)
    about = [f"Bands {bands} Hz, windows of {WINDOW} samples at {RATE:g} Hz, {args.rounds} phases."]
    title = "Leakage between bands: filters, Goertzel, FFT"
    publish(Report("preprocessing/leakage", title, tables, about, found), args.out)


if __name__ == "__main__":
    main()
