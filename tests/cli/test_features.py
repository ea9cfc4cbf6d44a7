"""``edgesvm features``: a row for each window of a file, and what a gap does to it."""

import csv
import io

import numpy as np
import pytest

from edgesvm import WindowFeatures
from edgesvm.cli import main
from edgesvm.link import Batch, RecordingSchema, RecordingWriter

ARGV = ["--window", "50", "--hop", "20", "--bands", "10-50,50-200"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The working folder; raw samples in it, in files of every kind."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((300, 2)).astype(np.float32)
    y = np.repeat([3, 5], 150)
    np.savez("raw.npz", X=X)
    np.savez("words.npz", X=X, y=np.where(y == 3, "fine", "worn"))
    lines = [f"{a!r},{b!r},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    with open("raw.csv", "w", encoding="utf-8") as file:
        file.write("\n".join(["a,b,label", *lines]))
    return X


def run(capsys, *argv):
    """What was written: the rows as dicts, and stderr."""
    assert main(["features", *argv]) == 0
    captured = capsys.readouterr()
    return list(csv.DictReader(io.StringIO(captured.out))), captured.err


def numbers(rows, names):
    return np.array([[float(row[name]) for name in names] for row in rows])


def record(path, X, sequence, period_us=1000):
    n = len(X)
    schema = RecordingSchema(X.shape[1], period_us=period_us)
    batch = Batch(X, np.full(n, 7, np.int32), np.arange(n) != 49, np.ones(n, np.float32), sequence)
    with RecordingWriter(path, schema) as writer:
        writer.append(batch)


def test_rows_are_those_of_window_features(here, capsys):
    windows = WindowFeatures(window=50, hop=20, rate=1000, bands="10-50,50-200")
    expected, names = windows.push_many(here), windows.names()
    record("raw.rec", here, np.arange(300, dtype=np.uint32))
    for argv, labels in (
        (["raw.npz", "--rate", "1000"], {None}),
        (["words.npz", "--rate", "1000"], {"fine", "worn"}),
        (["raw.csv", "--rate", "1000"], {"3", "5"}),
        (["raw.rec"], {"", "7"}),  # the rate is the recording's
    ):
        rows, said = run(capsys, *argv, *ARGV)
        of_file = windows.names(channels=["a", "b"]) if argv[0] == "raw.csv" else names
        np.testing.assert_allclose(numbers(rows, of_file), expected, rtol=1e-5)
        assert [int(row["sample"]) for row in rows] == list(range(49, 300, 20))
        assert {row.get("label") for row in rows} == labels
        assert "300 samples, 13 windows, 0 dropped" in said


def test_a_gap_drops_the_windows_over_it(here, capsys):
    record("gap.rec", here, np.r_[0:130, 140:310].astype(np.uint32))
    rows, said = run(capsys, "gap.rec", *ARGV)
    assert [int(r["sample"]) for r in rows] == [*range(49, 130, 20), *range(189, 310, 20)]
    assert "2 dropped" in said
    here[130, 1] = np.nan
    np.savez("nan.npz", X=here)
    rows, said = run(capsys, "nan.npz", "--rate", "1000", *ARGV)
    assert [int(r["sample"]) for r in rows] == [*range(49, 130, 20), *range(180, 300, 20)]
    assert "299 samples" in said and "2 dropped" in said


def test_numbers_that_wrap_are_no_gap(here, capsys):
    record("wrap.rec", here, np.arange(-100, 200).astype(np.uint32))
    rows, said = run(capsys, "wrap.rec", *ARGV)
    assert len(rows) == 13 and "0 dropped" in said


def test_a_picture(here, capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    everything = "--rate", "1000", "--features", "all"
    run(capsys, "raw.npz", *ARGV, *everything, "--plot", "out.png")
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert main(["features", "raw.npz", "--window", "400", "--plot", "none.png"]) == 2
    assert "no window is complete" in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv, message",
    [
        (["--bands", "10-600", "--rate", "1000"], "half the rate"),
        (["--features", "power"], "needs bands"),
        (["--window", "1"], "window=1"),
    ],
)
def test_wrong_options(here, capsys, argv, message):
    assert main(["features", "raw.npz", *argv]) == 2
    assert message in capsys.readouterr().err
