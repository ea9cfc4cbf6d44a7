"""A history keeps the whole time in the same bytes."""

import numpy as np
import pytest

from edgesvm.serve.page.history import MOST_CHANNELS, History, Signal


def test_the_whole_time_is_kept_at_half_the_resolution():
    history = History(["mean", "peak"], highest=["peak"], capacity=8, every=1.0)
    size, seen = history.nbytes, []
    for second in np.arange(0.0, 100.0, 0.25):
        if history.is_due(second):
            seen.append(second)
            history.add(second, {"mean": second, "peak": 1.0 if len(seen) == 10 else 0.0})
        assert history.n <= 8 and history.nbytes == size
    told = history.as_dict()
    assert history.every == 16.0 and told["every"] == 16.0
    assert len(told["time"]) == history.n and np.all(np.diff(told["time"]) > 0)
    assert max(told["peak"]) == 1.0 and sum(told["peak"]) == 1.0
    assert np.all(np.diff(told["mean"]) > 0) and told["mean"][0] < 10


def test_a_figure_that_is_missing_is_none_and_does_not_pull_down_its_neighbour():
    history = History(["a"], capacity=4)
    for second, value in enumerate([None, None, None, 3.0, 5.0]):
        history.add(second, {"a": value})
    assert history.as_dict()["a"] == [None, 3.0, 5.0]
    history.add(6.0, {"a": float("inf")})
    assert history.as_dict()["a"][-1] is None
    for capacity in (0, 1, 3):
        with pytest.raises(ValueError, match="even"):
            History(["a"], capacity=capacity)


def test_a_signal_is_the_band_of_the_last_minute():
    now, names = 0.0, [f"x{j}" for j in range(24)]
    signal = Signal(len(names), lambda: now)
    for _ in range(400):  # four times a second; all but the first channel are missing
        now += 0.25
        signal.add(np.float32([[now] + 23 * [np.nan], [-now] + 23 * [np.nan]]))
    told = signal.as_dict(names)
    times, (x, *others) = told["trace_times"], told["traces"]
    assert times[:120] == times[120:][::-1] == np.arange(40.5, 100.5, 0.5).tolist()
    assert x[120] == 100.0 and x[-1] == 40.75 and x[:120] == [-v for v in x[120:][::-1]]
    assert others == [[None] * 240] * (MOST_CHANNELS - 1)
