"""The raw signals: their spectra have the lines of the physics."""

import numpy as np
import pytest
from each import each

from firmware_sim.node import RawRotatingMachine
from firmware_sim.node.raw_signals import BALL_FACES, CAGE, INNER_RACE, OUTER_RACE

RATE, SPEED = 2000, 28.0
SEGMENT = 2 * RATE  # samples; then a bin is half a Hz


def machine(defect="outer-race", seconds=60, **settings):
    """The vertical axis before the onset of a fault, and where it is full-grown."""
    settings = {"rate": RATE, "onset_s": seconds, "growth_s": 10.0, "defect": defect, **settings}
    X, y = RawRotatingMachine(1, **settings).read((2 * seconds + 10) * RATE)
    assert y.tolist() == [0] * seconds * RATE + [1] * (seconds + 10) * RATE
    return X[: seconds * RATE, 1], X[-seconds * RATE :, 1]


def amplitudes(x):
    """Mean amplitude spectrum of segments of two seconds."""
    taper = np.hanning(SEGMENT)
    return np.abs(np.fft.rfft(x.reshape(-1, SEGMENT) * taper, axis=1)).mean(axis=0) * 2 / sum(taper)


def envelope(x):
    """Of the band around the resonance, 700 Hz."""
    spectrum, hertz = np.fft.fft(x), np.fft.fftfreq(len(x), 1 / RATE)
    spectrum[(hertz < 500) | (hertz > 900)] = 0
    found = np.abs(np.fft.ifft(spectrum))
    return found - found.mean()


def line(spectrum, order):
    """Height of the line at `order` times the shaft, wherever it drifts, above what is around."""
    at = round(2 * SPEED * order)
    wide = max(2, round(0.025 * at))
    around = np.r_[spectrum[at - 4 * wide : at - 2 * wide], spectrum[at + 2 * wide : at + 4 * wide]]
    return spectrum[at - wide : at + wide + 1].max() / np.median(around)


def test_the_frequencies_of_a_bearing_are_those_of_its_sheet():
    """6205-2RS: 0.39828, 3.5848, 5.4152 and 4.7135 times the shaft."""
    found = CAGE, OUTER_RACE, INNER_RACE, BALL_FACES
    np.testing.assert_allclose(found, [0.39828, 3.5848, 5.4152, 4.7135], rtol=1e-3)


@each(
    "defect, struck, swing",
    [("outer-race", 3.585, 3.585), ("inner-race", 5.415, 1.0), ("ball", 4.713, 0.3983)],
)
def test_the_envelope_has_the_line_of_a_defect_once_it_has_begun(defect, struck, swing):
    before, after = (amplitudes(envelope(x)) for x in machine(defect))
    for order in (struck, swing):
        assert line(before, order) < 3 and line(after, order) > 7
    for other in {3.585, 5.415, 4.713} - {struck}:
        assert line(after, other) < 5
    if swing != struck:  # side bands
        assert line(after, struck + swing) > 4 and line(after, struck - swing) > 4


def test_imbalance_is_at_the_shafts_frequency_and_looseness_at_all_its_halves():
    for defect, grown, same in (
        ("imbalance", [1.0], [0.5, 1.5, 2.5]),
        ("looseness", [0.5, 1.5, 2.5, 3.0], []),
    ):
        before, after = map(amplitudes, machine(defect))
        assert line(before, 1.0) > 20 and line(before, 2.0) > 3
        for order in grown:
            assert line(after, order) > 3 * line(before, order), (defect, order)
        for order in same:
            assert line(after, order) < 3 and line(before, order) < 3


def test_a_fault_grows_after_its_onset():
    X, _ = RawRotatingMachine(0, rate=RATE, onset_s=20, growth_s=60).read(90 * RATE)
    strength = [x.std() for x in np.split(X[:, 1], 9)]
    assert abs(strength[0] - strength[1]) < 0.005 and abs(strength[7] - strength[8]) < 0.035
    assert (np.diff(strength[1:7]) > 0.01).all() and strength[6] > 2.5 * strength[1]


def test_parameters_out_of_range_are_refused():
    for settings, message in (
        ({"rate": 100}, "rate must be 500"),
        ({"rate": 2e6}, "rate must be 500"),
        ({"defect": "cage"}, "defect must be one of"),
        ({"onset_s": -1.0}, "onset_s must be"),
        ({"onset_s": np.nan}, "onset_s must be"),
        ({"onset_s": 1.0, "growth_s": 0.0}, "growth_s must be above 0"),
    ):
        with pytest.raises(ValueError, match=message):
            RawRotatingMachine(0, **{"rate": 2000.0, **settings})
