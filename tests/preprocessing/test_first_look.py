"""What is said of raw signals before anything is learned: of signals whose answer is known."""

import numpy as np
import pytest

from edgesvm.preprocessing import first_look
from edgesvm.preprocessing.first_look import bands, figures, peaks, propose, ranges, spectrum
from edgesvm.preprocessing.window_features import as_bands

RATE = 1000.0


def signal(*tones, n=20_000, noise=0.2, rate=RATE):
    """(n, 1): tones (Hz, amplitude) and noise."""
    t = np.arange(n) / rate
    x = sum(a * np.sin(2 * np.pi * hz * t) for hz, a in tones)
    return (x + noise * np.random.default_rng(0).standard_normal(n))[:, None]


def test_the_spectrum_is_that_of_scipy():
    scipy_signal = pytest.importorskip("scipy.signal")
    X = signal((25, 1), (120, 0.5))
    hz, shares = spectrum(X, RATE)
    expected_hz, power = scipy_signal.welch(X[:, 0], RATE, "hann", 1024, detrend="constant")
    assert np.allclose(hz, expected_hz[1:])
    power[-1] *= 2  # what only occurs once counts half there
    assert np.allclose(shares, power[1:] / power[1:].sum(), rtol=1e-6)


def test_each_tone_is_a_peak_in_a_band_of_its_own():
    X = signal((25, 1), (120, 0.5))
    found = peaks(*spectrum(X, RATE))
    assert [hz for hz, _ in found] == pytest.approx([25, 120], abs=1)
    assert found[0][1] == pytest.approx(0.5 / (0.5 + 0.125 + 0.04), abs=0.02)  # of the power
    inside = [[lo < hz < hi for hz in (25, 120)] for lo, hi in bands(found, RATE)]
    assert inside == [[True, False], [False, True], [False, False]]


@pytest.mark.parametrize("rate", [2.0, 52.0, 1000.0, 44_100.0])
@pytest.mark.parametrize("tones", [(), (0.01,), (0.1, 0.2, 0.3), (0.49,)])
def test_bands_are_such_that_windows_take_them(rate, tones):
    proposal = propose(signal(*((share * rate, 1) for share in tones), rate=rate), rate)
    assert as_bands(proposal.bands, rate) == proposal.bands and proposal.bands
    text = proposal.options(rate).split("--bands ")[1]
    assert as_bands(text, rate) == proposal.bands


def test_a_window_is_steady_and_holds_periods_of_the_lowest_tone():
    slow, quick = (propose(signal((hz, 1)), RATE).window for hz in (8, 100))
    assert slow == 512 and quick < slow  # 4 periods of 8 Hz are 500 samples
    noise = signal(noise=1.0)
    window = propose(noise, RATE).window
    assert first_look.unsteadiness(noise, window) <= first_look.STEADY
    assert first_look.unsteadiness(noise, window // 2) > first_look.STEADY


def test_what_moves_slowly_needs_no_windows():
    walk = np.random.default_rng(0).standard_normal((20_000, 1)).cumsum(axis=0)
    proposal = propose(walk, 1.0)
    assert proposal.window is None and proposal.options(1.0) == ""
    assert "too slowly" in proposal.why[0]


@pytest.mark.parametrize("X", [np.zeros((0, 2)), np.zeros((5000, 2)), signal((25, 1), n=100)])
def test_nothing_is_made_up_from_too_little(X):
    assert propose(X, RATE).window is None


def test_what_is_odd_about_a_channel_is_said():
    n = 1000
    wave = np.sin(np.arange(n))
    columns = {
        "constant": np.ones(n),
        "time": np.arange(n) + 0.5,
        "label": np.arange(n) // 300 % 2,
        "clipped": np.clip(2 * wave, -2, 1),
        "": wave,
    }
    for channel in ranges(np.stack([*columns.values()], axis=1), list(columns)):
        assert channel["name"] in channel["remark"]
        assert channel["name"] or not channel["remark"]


def test_a_clock_beside_a_signal_says_nothing():
    X = signal((25, 1))
    beside = np.concatenate([np.arange(len(X))[:, None] / RATE, X, np.ones_like(X)], axis=1)
    assert propose(beside, RATE) == propose(X, RATE)


@pytest.mark.parametrize("n", [1, 2, 63, 64, 5000])
def test_there_are_figures_of_any_number_of_samples(n):
    shown = figures(signal((25, 1), n=n), RATE, ["x0"])
    assert len(shown["traces"][0]) == min(n, first_look.TRACE)
    assert len(shown["spectrum"]["levels"]) <= first_look.SHOWN
    noise = figures(np.random.default_rng(0).standard_normal((8000, 2)), RATE, ["a", "b"])
    assert np.abs(noise["spectrum"]["levels"]).max() < 4.0  # decibels: flat
