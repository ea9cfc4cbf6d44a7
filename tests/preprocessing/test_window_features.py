"""WindowFeatures: equal to NumPy and SciPy on the same window, in fixed memory, however cut. What
holds for all that takes raw samples is in tests/conformance/test_raw.py."""

import numpy as np
import pytest
from each import each

import edgesvm
from edgesvm import CorruptModelError, MemoryBudgetError, WindowFeatures
from edgesvm.preprocessing.window_features import ALL, as_bands, butterworth

signal = pytest.importorskip("scipy.signal")
stats = pytest.importorskip("scipy.stats")

RATE, BANDS = 1000.0, [(10, 50), (50, 200), (200, 400)]
EVERYTHING = {"rate": RATE, "bands": BANDS, "features": "all", "dtype": "float64"}


class InNumpy(WindowFeatures):
    _engine = "reference"


def signals(n, n_channels=3, seed=0):
    """Tones, noise of several shapes, offsets and a trend."""
    rng, t = np.random.default_rng(seed), np.arange(n)[:, None] / RATE
    tones = np.sin(2 * np.pi * t * rng.uniform(5, 450, n_channels))
    noise = rng.gamma(1.0, 1.0, (n, n_channels)) * rng.uniform(0.1, 2, n_channels)
    return tones + noise + 3 * t + rng.uniform(-20, 20, n_channels)


def course(levels, at, window, std):
    """Roughness of six levels of a run's pyramid and turns of four, in one window."""
    found = np.zeros(10)
    for level, y in enumerate(levels):
        d = np.diff(y[-(-at // 2**level) : (at + window) // 2**level])
        if len(d) >= 2:
            found[level] = np.abs(d).mean() / std
            found[6 + level : 7 + level if level < 4 else 0] = np.mean((d[1:] > 0) != (d[:-1] > 0))
    return found


def pyramid(x, n_levels):
    levels = [x]
    while len(levels) < n_levels:
        levels.append(levels[-1][: len(levels[-1]) // 2 * 2].reshape(-1, 2).mean(axis=1))
    return levels


def by_hand(X, window, hop, start=0):
    """All features of each window, from the raw samples of the whole stream; the run began at
    `start`."""
    X = np.column_stack([X, np.sqrt((X**2).sum(axis=1))])[start:]
    behind = []
    for lo, hi in BANDS:
        sos = signal.butter(2, [lo, hi], "bandpass", fs=RATE, output="sos")
        settled = signal.sosfilt_zi(sos)[..., None] * X[0]
        behind.append(signal.sosfilt(sos, X, axis=0, zi=settled)[0])
    centers = np.mean(BANDS, axis=1)
    pyramids, rows = [pyramid(x, 6) for x in X.T], []
    for at in range(0, len(X) - window + 1, hop):
        row = []
        for c in range(X.shape[1]):
            x = X[at : at + window, c]
            before = np.cumsum(x)[:-1] / np.arange(1, window)
            power = [np.mean(y[at : at + window, c] ** 2) for y in behind]
            row += [
                x.mean(), x.std(), np.sqrt((x**2).mean()), x.min(), x.max(), np.ptp(x),
                abs(x).max() / np.sqrt((x**2).mean()), stats.skew(x), stats.kurtosis(x),
                np.count_nonzero(np.diff(x[1:] > before)) * RATE / window,
                np.polyfit(np.arange(window) / RATE, x, 1)[0],
                *power, centers[np.argmax(power)], power @ centers / sum(power),
                *course(pyramids[c], at, window, x.std()),
            ]  # fmt: skip
        correlation = np.corrcoef(X[at : at + window, :-1].T)
        rows.append([*row, *correlation[np.triu_indices(X.shape[1] - 1, 1)]])
    return np.array(rows)


@each("window, hop", [(256, 128), (100, 30), (64, 64), (50, 80), (7, 1)])
def test_equals_numpy_and_scipy_on_the_same_window(window, hop):
    X = signals(900 if hop > 1 else 120)
    windows = WindowFeatures(window=window, hop=hop, **EVERYTHING)
    found, expected = windows.push_many(X), by_hand(X, window, hop)
    assert found.shape == expected.shape and len(windows.names()) == found.shape[1]
    for j, name in enumerate(windows.names()):
        np.testing.assert_allclose(
            found[:, j], expected[:, j], rtol=1e-9, atol=1e-9, err_msg=f"{name}"
        )


def test_rounding_does_not_grow_with_an_offset():
    """A small signal on a large one, as gravity is for an accelerometer in float64."""
    X = signals(600)
    names = "std,skewness,kurtosis,slope,correlation"
    windows = WindowFeatures(**{**EVERYTHING, "features": names})
    found = windows.push_many(X + 1e6)
    np.testing.assert_allclose(found, windows.reset().push_many(X), rtol=1e-6, atol=1e-6)


@each("window, hop, n_channels", [(100, 100, 1), (70, 30, 3)])
def test_patterns_by_hand(window, hop, n_channels):
    """Shares of values above the bias; biases at the quantiles that are wanted of them."""
    X = signals(window * 60, n_channels) - 3 * np.arange(window * 60)[:, None] / RATE
    windows = WindowFeatures(window=window, hop=hop, features="patterns", dtype="float64")
    rows = windows.push_many(X)
    state, each_level = windows._core.views, windows._patterns
    assert int(state["n_taught"][0]) == 16 and [len(of) for of in each_level] == [28] * 3
    wanted = np.array([pattern.wanted for of in each_level for pattern in of])
    assert abs(rows[-30:].mean(axis=0) - wanted).mean() < 0.04
    expected = []
    for level, of in enumerate(each_level):
        for j, ((a, b, c), _, _) in enumerate(of):
            channel = (j + level) % n_channels
            y = pyramid(X[:, channel], 3)[level]
            at = (len(rows) - 1) * hop
            y = y[-(-at // 2**level) : (at + window) // 2**level]
            nine = np.lib.stride_tricks.sliding_window_view(y, 9)
            value = 3 * nine[:, [a, b, c]].sum(axis=1) - nine.sum(axis=1)
            bias = state["bias"][level, j] / state["scales"][channel, 1]
            expected.append(np.mean(value > bias))
    np.testing.assert_allclose(rows[-1], expected, atol=1e-12)


@each("dtype", ["float32", "float64"])
@each("features, n_channels", [("all", 3), ("rocket", 3), ("rocket", 5), ("patterns", 1)])
def test_the_twin_has_the_same_state(dtype, features, n_channels):
    X = signals(700, n_channels).astype(dtype)
    X[:40] /= 1000  # the unit of patterns grows
    params = {**EVERYTHING, "features": features, "window": 90, "hop": 40, "dtype": dtype}
    both = [engine(**params) for engine in (WindowFeatures, InNumpy)]
    for windows in both:
        windows.push_many(X[:300])
        windows.gap()
        windows.push_many(X[300:])
    for name, array in both[0]._core.views.items():
        theirs = both[1]._core.views[name]
        np.testing.assert_allclose(array, theirs, rtol=1e-9, atol=1e-7, err_msg=name)
    assert both[0].n_dropped_ == both[1].n_dropped_ == 2


def test_a_gap_drops_the_open_windows_and_counts_them():
    X = signals(1000)
    windows = WindowFeatures(window=100, hop=30, **EVERYTHING)
    windows.allocate(3).gap()
    assert windows.n_dropped_ == 0
    before = windows.push_many(X[:190])  # those from 120, 150 and 180 are open
    windows.gap()
    windows.gap()
    assert windows.n_dropped_ == 3
    after = windows.push_many(X[190:])
    rows = [by_hand(X[:190], 100, 30), by_hand(X, 100, 30, start=190)]
    np.testing.assert_allclose(np.vstack([before, after]), np.vstack(rows), rtol=1e-8)
    assert windows.n_rows_ == sum(map(len, rows)) and windows.n_pushed_ == 1000


@each("value", [0.0, -3.5, 1e15, -1e15])
@each("dtype", ["float32", "float64"])
def test_a_stuck_sensor_gives_finite_features(value, dtype):
    windows = WindowFeatures(**{**EVERYTHING, "dtype": dtype})
    rows = windows.push_many(np.full((600, 2), value))
    named = dict(zip(windows.names(), rows[-1], strict=True))
    assert len(rows) == 3 and np.isfinite(rows).all()
    assert named["x1_mean"] == np.array(value, dtype)
    for name in ("std", "skewness", "kurtosis", "crossings", "slope", "power_10-50", "centroid"):
        assert named[f"x0_{name}"] == 0.0, name
    assert named["x0_x1_correlation"] == 0.0 and named["x0_dominant_band"] == 0.0


@each("window", [64, 4096, 1 << 20])
def test_memory_is_that_of_the_plan_and_does_not_grow_with_the_window(window):
    params = {**EVERYTHING, "dtype": "float32"}
    windows = WindowFeatures(window=window, hop=window // 2, **params)
    c, b, w, pairs = 4, 3, 2, 3
    row = c * (23 + b) + pairs
    total = 8 * (4 + c + 5 * b * c + w * c * (9 + b) + w * pairs + 12 * c + 10 * w * c) + 4 * row
    assert windows.plan(3).total == windows.allocate(3).nbytes == total + total % 8
    rocket = WindowFeatures(window=window, hop=window // 2, features="rocket")
    c, n_levels = 3, max(window.bit_length() - 4, 1)
    n = n_levels * (84 // n_levels)
    parts = [8 * (4 + c + 9 * w * c + 2 * max(n_levels, 6) * c + 10 * w * c), 8, 16 * c]
    parts += [36 * c * n_levels, 4 * n, 8 * n, 8 * n, 4 * w * n, 4 * (18 * c + n)]
    assert rocket.plan(3).total == sum(part + part % 8 for part in parts)
    assert len(rocket.names(3)) == 18 * c + n and n <= 84


@each("lo, hi, rate", [(10, 50, 1000), (0.1, 499, 1000), (20, 20.2, 1000), (0.3, 0.35, 50)])
def test_filters_are_butterworth(lo, hi, rate):
    sos = [[b, 0, -b, 1, a1, a2] for b, a1, a2 in butterworth(lo, hi, rate)]
    _, found = signal.freqz_sos(sos, worN=512, fs=rate)
    theirs = signal.butter(2, [lo, hi], "bandpass", fs=rate, output="sos")
    np.testing.assert_allclose(found, signal.freqz_sos(theirs, worN=512, fs=rate)[1], atol=1e-9)


def test_wrong_parameters():
    for params, message in (
        ({"window": 1}, "window=1"),
        ({"hop": 0}, "hop=0"),
        ({"window": 1 << 20, "hop": 1}, "overlap"),
        ({"rate": np.nan}, "rate"),
        ({"rate": 1e13}, "rate"),
        ({"bands": [(50, 10)]}, "lo < hi"),
        ({"bands": "10-600"}, "half the rate"),
        ({"bands": "10"}, "pairs"),
        ({"bands": [(1, 2)] * 17}, "at most 16"),
        ({"bands": [(10, 10.0001)]}, "narrower"),
        ({"features": "means"}, "'means' is none"),
        ({"features": "power", "bands": ()}, "needs bands"),
        ({"features": "magnitude"}, "at least one"),
        ({"features": []}, "at least one"),
        ({"dtype": "int8"}, "dtype"),
    ):
        with pytest.raises(ValueError, match=message):
            WindowFeatures(**{"rate": RATE, "bands": BANDS, **params}).plan(2)
    assert as_bands("10-50, 50-200", RATE) == as_bands([(10, 50), (50, 200)], RATE)
    with pytest.raises(AttributeError, match="allocate"):
        WindowFeatures().gap()


def test_names_follow_the_row():
    assert "power" not in " ".join(WindowFeatures().names(1))
    windows = WindowFeatures(rate=RATE, bands="10-50", features="correlation,power,magnitude")
    assert windows.names(2, channels=["a", "b"]) == [
        "a_power_10-50", "b_power_10-50", "magnitude_power_10-50", "a_b_correlation",
    ]  # fmt: skip
    everything = {**EVERYTHING, "features": ",".join(ALL)}
    assert all(any(name in f for f in WindowFeatures(**everything).names(2)) for name in ALL[:-1])
    for n, names in ((1, 18), (4, 72), (5, 50)):  # of more than four, averages
        assert len(WindowFeatures().names(n)) == names
    assert WindowFeatures().names(5)[-1] == "channels_turns_3"
    rocket = WindowFeatures(features="rocket").names(2)
    assert rocket[:36] == WindowFeatures().names(2) and rocket[36] == "x0_pattern_0_012"
    assert len(set(rocket)) == 36 + 80


def test_a_snapshot_has_its_features_by_name(tmp_path):
    """So a default of another build is no other row."""
    old = "mean,std,min,max,skewness,kurtosis,crossings,slope"
    windows = WindowFeatures(features=old).allocate(1)
    assert windows.nbytes == 8 * (4 + 1 + 2 * 9) + 32
    windows.save(tmp_path / "windows.esvm")
    assert edgesvm.load(tmp_path / "windows.esvm").names() == [f"x0_{f}" for f in old.split(",")]
    WindowFeatures().allocate(1).save(tmp_path / "windows.esvm")
    assert edgesvm.load(tmp_path / "windows.esvm").features == f"{old},roughness,turns"


def test_a_snapshot_no_stream_can_have_made(tmp_path):
    path = tmp_path / "windows.esvm"
    for name, value in (
        ("n_run", 99), ("n_rows", -1), ("moments", np.nan), ("power", -1.0), ("course", -1.0),
        ("n_taught", 17), ("latest", 1 << 28), ("scales", -1.0), ("swing", -1.0), ("above", -1),
        ("inverse", -1.0),
    ):  # fmt: skip
        windows = WindowFeatures(**{**EVERYTHING, "features": ",".join(ALL)})
        windows.push_many(signals(50))
        windows._core.views[name][...] = value
        with pytest.raises(CorruptModelError):
            windows.save(path)
    WindowFeatures(**EVERYTHING).allocate(2).save(path)
    with pytest.raises(MemoryBudgetError):
        edgesvm.load(path, max_bytes=100)
