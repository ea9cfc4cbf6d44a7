"""Files in the place of a port: the same runner and watcher, as fast as they are read."""

import json

import numpy as np
import pytest

from edgesvm import ByteSVM
from edgesvm.cli import main
from edgesvm.cli.link_settings import LearningLink
from edgesvm.errors import LinkDown
from edgesvm.link import Batch, Recording, RecordingSchema, RecordingWriter
from edgesvm.link._ring import LateLabel
from edgesvm.serve.taught import taught


def values(n=3000, at=2000):
    X = np.random.default_rng(0).standard_normal((n, 3)).astype(np.float32)
    X[at : at + 100, 1] += 30
    return X


def recorded(path, X, y=None, late=False, first=0):
    n = len(X)
    has = np.full(n, y is not None and not late)
    labels = np.zeros(n, np.int32) if y is None else y
    numbers = np.arange(first, first + n, dtype=np.uint32)
    schema = RecordingSchema(3, y is not None, period_us=100_000, late=late)
    with RecordingWriter(path, schema) as writer:
        for k in range(n):
            part = slice(k, k + 1)
            ones = np.ones(1, np.float32)
            writer.append(Batch(X[part], labels[part], has[part], ones, numbers[part]))
            if late and k >= 5:
                writer.append_labels([LateLabel(k - 5, int(labels[k - 5]), 1.0)])
    return str(path)


def run_of(path, **options):
    link = LearningLink(url=str(path), **options).open()
    runner = taught(link, ByteSVM().allocate(link.schema.n_features), answers=False)
    with pytest.raises(LinkDown, match="end of the file"):
        while True:
            runner.step(0.0)
    link.close()
    assert runner.check_identities() == []
    return runner


@pytest.mark.parametrize("kind", ["csv", "npz", "rec"])
def test_a_run_learns_each_row_of_a_file_once(kind, tmp_path):
    X = values(700)
    y = (X[:, 0] > 0).astype(np.int32)
    path = tmp_path / f"x.{kind}"
    if kind == "rec":
        recorded(path, X, y)
    elif kind == "npz":
        np.savez(path, X=X, y=y)
    else:
        path.write_text(
            "".join(f"{a:.9g},{b:.9g},{c:.9g},{k}\n" for (a, b, c), k in zip(X, y, strict=True))
        )
    runner = run_of(path)
    direct = ByteSVM().allocate(3).partial_fit(X, y)
    assert runner.pupil.learned == 700
    assert runner.pupil.learner.core.arena.memory.tobytes() == direct.core.arena.memory.tobytes()


def test_late_labels_of_a_recording(tmp_path):
    X = values(300)
    runner = run_of(recorded(tmp_path / "x.rec", X, (X[:, 0] > 0).astype(np.int32), late=True))
    assert runner.pupil.learned == 295 and runner.pupil.waiting == 5


def test_a_recording_that_goes_on_after_a_restart_has_growing_numbers(tmp_path):
    recorded(tmp_path / "x.rec", values(50))
    recorded(tmp_path / "x.rec", values(50))
    link = LearningLink(url=str(tmp_path / "x.rec")).open()
    assert np.array_equal(link.take().sequence, np.arange(100))
    assert link.seconds(99) == pytest.approx(9.9)
    link.close()


def alarms(capsys, *words):
    code = main([*words, "--json"])
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return code, [one for one in events if one["event"] == "alarm"], events[-1]


def test_a_watch_of_a_file_has_its_times_and_the_alarms_of_a_port(tmp_path, capsys):
    path = recorded(tmp_path / "pump.rec", values())
    words = ("watch", path, "--learn", "1m", "--alarm-rate", "0.0001", "--then", "nothing")
    code, (alarm,), end = alarms(capsys, *words)
    assert code == 3 and alarm["time"].startswith("+0:03:20.") and end["counters"]["alarms"] == 1
    assert end["counters"]["learned"] == 601 and end["broken_identities"] == []
    np.savez(tmp_path / "pump.npz", X=values())
    words = ("watch", str(tmp_path / "pump.npz"), "--alarm-rate", "0.0001", "--learn", "601")
    _, (same,), _ = alarms(capsys, *words)
    assert same["time"] == "row 2,002" or same["sample"] == alarm["sample"]
    assert main(["watch", str(tmp_path / "pump.npz")]) == 2
    assert "has no times: give --rate" in capsys.readouterr().err


def test_eval_of_rows_without_labels_says_how_to_watch_them(tmp_path, capsys):
    path = recorded(tmp_path / "pump.rec", values())
    assert main(["eval", path]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and f"{path} has no labels" in told
    code, (alarm,), end = alarms(capsys, *told.partition(": edgesvm ")[2].split())
    assert code == 3 and alarm["sample"] == 2003 and end["alarms"] == 1


def test_inspect_knows_recordings(tmp_path, capsys):
    path = recorded(tmp_path / "x.rec", values(200), (values(200)[:, 0] > 0).astype(np.int32))
    assert main(["inspect", path]) == 0
    told = capsys.readouterr().out
    assert "samples        200\nn features     3\nperiod us      100,000\n" in told
    assert "labels         0=" in told
    assert main(["inspect", path, "--json"]) == 0
    held = json.loads(capsys.readouterr().out)
    with Recording(path) as recording:
        assert held["records"] == recording.n_records and held["period_us"] == 100_000
    assert sum(held["labels"].values()) == 200
