"""One channel from the others, and an alarm where it is not what they say."""

from dataclasses import replace

import numpy as np
import pytest

from edgesvm import GaussianNovelty, VirtualSensor, load
from edgesvm.cli import main
from edgesvm.errors import SampleRefused
from edgesvm.persist import pack, restore


def channels(n, seed=0):
    """Three channels, and a fourth that follows from them; each within a range."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, 4))
    X[:, 3] = 20 + 5 * X[:, 0] * X[:, 1] + 2 * np.sin(4 * X[:, 2]) + 0.1 * rng.standard_normal(n)
    return X.astype(np.float32)


def taught(n=3000):
    sensor = VirtualSensor(learner=GaussianNovelty(alarm_rate=0.001, learn="until 2000"))
    sensor = sensor.fitted_into("8KiB", 4).allocate(4)
    for x in channels(n):
        sensor.learn(x)
    return sensor


def test_a_fault_within_the_usual_range_is_found():
    sensor, X = taught(), channels(400, seed=1)
    faulty = X.copy()
    faulty[:, 3] += 1.5  # within its range of 18 to 27
    strange = [
        np.mean([sensor.learner_.predict_one(sensor.residual(x)) == -1 for x in rows])
        for rows in (X, faulty)
    ]
    alone = GaussianNovelty(alarm_rate=0.001, learn="until 2000").partial_fit(channels(3000))
    assert strange[0] < 0.01 and strange[1] > 0.9
    assert np.mean(alone.predict(faulty) == -1) < 0.1
    value, low, high = sensor.expected(X[0])
    assert low < value < high and abs(value - X[0, 3]) < 1.0


def test_saving_and_going_on_is_never_having_stopped(tmp_path):
    whole = taught(500)
    whole.save(tmp_path / "sensor.esvm")
    other = load(tmp_path / "sensor.esvm")
    for x in channels(200, seed=2):
        assert other.residual(x) == whole.residual(x)
        whole.learn(x)
        other.learn(x)
    assert bytes(other.arena) == bytes(whole.arena)
    assert whole.nbytes <= 8192


def test_bad_samples_are_refused_without_a_trace():
    sensor = taught(300)
    before = bytes(sensor.arena)
    for place, value in ((0, np.inf), (3, np.inf), (3, np.nan)):
        x = channels(1)[0]
        x[place] = value
        with pytest.raises(SampleRefused):
            sensor.learn(x)
    assert bytes(sensor.arena) == before
    with pytest.raises(ValueError, match="target"):
        VirtualSensor(target=4).plan(4)


def test_intervals_of_a_channel_that_is_not_learned_widen_and_end():
    sensor = VirtualSensor().fitted_into("8KiB", 4).allocate(4)
    X = channels(6000)
    X[:, 3] += np.sin(np.arange(6000) / 300)  # what no channel tells
    for x in X[:3000]:
        sensor.learn(x)
    held, width = np.zeros(3000), np.zeros(3000)
    for i, x in enumerate(X[3000:]):
        _, low, high = sensor.expected(x)
        held[i], width[i] = low <= x[3] <= high, high - low
        sensor.learner_.watch_one(sensor.residual(x))
    assert sensor.drift_.measured == 1023 and sensor.ahead_ == 3001
    assert np.isfinite(width[:1023]).all() and np.isinf(width[1024:]).all()
    assert width[800] > 1.1 * width[0] and np.mean(held[:1023]) > 0.85


def test_a_snapshot_of_a_build_without_the_copy_goes_on():
    sensor, x = taught(300), channels(1, seed=3)[0]
    saved = sensor.snapshot()
    other = restore(pack(replace(saved, arena=saved.arena[: sensor.plan(4).offsets["copy"]])))
    assert other.residual(x) == sensor.residual(x) and other.drift_.measured < 2
    other.learn(x)


def test_a_channel_is_watched_by_its_name_or_number(tmp_path, capsys):
    path = tmp_path / "pump.csv"
    np.savetxt(path, channels(400), delimiter=",", header="speed,current,valve,flow", comments="")
    words = ["watch", str(path), "--learn", "300", "--alarm-rate", "0.001", "--residual"]
    for asked in ("flow", "3", "-1", "flaw", "4", "-5", "1.0"):
        found = main([*words, asked]) != 2
        told = capsys.readouterr().err
        assert "VirtualSensor(target=3," in told if found else "speed, current, valve" in told
        assert found == (asked in {"flow", "3", "-1"}) and (found or told.count("\n") == 1)


def test_inspect_says_what_is_in_the_file(tmp_path, capsys):
    model = taught(300)
    model.save(tmp_path / "m.esvm")
    assert main(["inspect", str(tmp_path / "m.esvm")]) == 0
    told = capsys.readouterr().out
    assert "VirtualSensor" in told and f"{model.nbytes:,} B" in told
    assert main(["export", str(tmp_path / "m.esvm"), "--c", str(tmp_path / "c")]) == 2
    assert "a VirtualSensor cannot be exported to C" in capsys.readouterr().err
