"""Numbers predicted on the command line: over a link, from files, and what is refused."""

import json
import os

import edge as support
import numpy as np
import pytest

from edgesvm import FourierSVR, Standardized, load
from edgesvm.cli import main
from edgesvm.link import Recording
from firmware_sim.node import FrameNode, PumpFlow

on_a_pty = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
N = 2500


def edge(node, *words):
    """A command of edgesvm at the other end of the node's line; its report, and the node's."""
    report = support.edge(node, *words, "--quiet", timeout_s=240.0)
    assert report.exit_code == 0, report.edge_errors
    assert report.edge["broken_identities"] == []
    return report


def learner():
    return Standardized(learner=FourierSVR(), missing="mean").fitted_into("16KiB", 5)


def in_order(X, y):
    """The regressor that learned the rows in order, and what was forecast for each."""
    model, said = learner(), []
    for x, target in zip(X, y.tolist(), strict=True):
        if model.is_fitted:
            said.append(model.forecast_one(x))
        model.learn_one(x, target)
    return model, np.array(said)


def figures(y, said):
    """Of the test-then-train score, by NumPy."""
    target, (value, low, high) = y[1:], said.T
    error = target - value
    return {
        "predicted": len(target),
        "mae": np.abs(error).mean(),
        "rmse": np.sqrt(np.mean(error**2)),
        "r2": 1 - np.mean(error**2) / target.var(),
        "coverage": np.mean((low <= target) & (target <= high)),
        "mean_width": np.mean(high - low),
        "mae_value_before": np.abs(np.diff(target)).mean(),
    }


@on_a_pty
def test_a_run_over_a_link_learns_the_flow_and_its_intervals_hold(tmp_path):
    X, y = PumpFlow(4).read(N)
    path = tmp_path / "flow.esvm"
    report = edge(
        FrameNode(PumpFlow(4), samples=N), "run", "{port}", "--regress", "--save", str(path)
    )
    told = report.edge
    counts = told["counters"]
    assert counts["learned"] == N
    assert report.predictions == counts["predictions_sent"] > 0.95 * N  # what a slow node drops
    assert told["rmse"] < told["rmse_mean_so_far"] / 5 and told["r2"] > 0.95
    assert told["mae"] < told["mae_value_before"]
    assert abs(told["coverage"] - 0.9) < 0.03 and told["coverage_asked"] == 0.9
    model, said = in_order(X, y)
    assert {name: told[name] for name in figures(y, said)} == pytest.approx(figures(y, said))
    assert bytes(load(path).arena) == bytes(model.arena)  # each target came to the bit
    rel = 1e-6 if report.predictions == N else 0.1
    assert (report.mae, report.r2) == pytest.approx((told["mae"], told["r2"]), rel=rel)
    assert report.coverage == pytest.approx(told["coverage"], rel=rel)


@on_a_pty
def test_late_targets_are_scored_by_what_was_predicted_when_the_sample_came(tmp_path):
    node = FrameNode(PumpFlow(4), samples=N, label_mode="late", label_delay=5)
    report = edge(node, "run", "{port}", "--regress")
    assert report.edge["counters"]["label_matched"] == N == report.edge["counters"]["learned"]
    assert report.mae == pytest.approx(report.edge["mae"], rel=1e-6)
    assert abs(report.coverage - 0.9) < 0.05 and report.r2 > 0.85


@on_a_pty
def test_a_recording_of_targets_replays_to_the_bit(tmp_path, capsys):
    X, y = PumpFlow(6).read(400)
    path = tmp_path / "flow.rec"
    edge(FrameNode(PumpFlow(6), samples=400), "record", "{port}", str(path), "--regress")
    with Recording(path) as recording:
        batch = recording.read(0, 400)
        assert batch.y.tobytes() == y.tobytes() and batch.X.tobytes() == X.tobytes()
    snapshot = tmp_path / "flow.esvm"
    assert main(["eval", str(path), "--regress", "--json", "--save", str(snapshot)]) == 0
    told = json.loads(capsys.readouterr().out)
    model, said = in_order(X, y)
    assert {name: told[name] for name in figures(y, said)} == pytest.approx(figures(y, said))
    assert bytes(load(snapshot).arena) == bytes(model.arena)
    assert main(["eval", str(path)]) == 1
    assert "--regress" in capsys.readouterr().err


@on_a_pty
def test_a_run_goes_on_from_its_checkpoint_and_passes_on_intervals(tmp_path):
    words = ("run", "{port}", "--regress", "--checkpoint", str(tmp_path / "flow.ckpt"))
    words += ("--out", f"jsonl:{tmp_path / 'flow.jsonl'}")
    for seen in (300, 600):
        told = edge(FrameNode(PumpFlow(7), samples=300), *words).edge
        assert told["counters"]["learned"] == 300 and told["n_updates"] == seen
    last = json.loads((tmp_path / "flow.jsonl").read_text().splitlines()[-1])
    assert last["low"] < last["predicted"] < last["high"] and last["label"] > 10


def test_eval_says_what_numpy_says_and_what_becomes_of_it_without_targets(tmp_path, capsys):
    X, y = PumpFlow(5).read(900)
    np.savez(tmp_path / "flow.npz", X=X, y=y)
    words = ["eval", str(tmp_path / "flow.npz"), "--regress", "--season", "24", "--json"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    _, said = in_order(X, y)
    assert {name: told[name] for name in figures(y, said)} == pytest.approx(figures(y, said))
    later, target = y[25:], y[1:]
    assert told["mae_season_before"] == pytest.approx(np.abs(later - y[1:-24]).mean())
    before = np.array([target[:k].mean() for k in range(1, len(target))])
    assert told["mae_mean_so_far"] == pytest.approx(np.abs(target[1:] - before).mean())
    stopped, _ = in_order(X[:630], y[:630])
    error = y[630:] - stopped.predict(X[630:])
    assert told["frozen"]["predicted"] == 270
    assert told["frozen"]["mae"] == pytest.approx(np.abs(error).mean())


def test_missing_values_and_targets_of_a_csv_are_told(tmp_path, capsys):
    X, y = PumpFlow(5).read(200)
    rows = [[*map(str, x), str(target)] for x, target in zip(X.tolist(), y.tolist(), strict=True)]
    rows[10][2], rows[11][0], rows[20][-1] = "", "na", "?"
    path = tmp_path / "flow.csv"
    path.write_text("a,b,c,d,e,flow\n" + "\n".join(map(",".join, rows)) + "\n")
    assert main(["eval", str(path), "--regress"]) == 0
    told = capsys.readouterr().out
    assert "198 rows predicted" in told and "missing: 2 values, taken to be their mean" in told
    assert "(90.0 % asked)" in told and "mean so far" in told


def test_targets_without_regress_are_refused_with_what_to_give(tmp_path, capsys):
    path = tmp_path / "rows.npz"
    np.savez(path, X=np.eye(4), y=np.arange(4) / 2)
    assert main(["eval", str(path)]) == 1
    assert "numbers to predict: --regress" in capsys.readouterr().err
    np.savez(path, X=np.eye(4), y=np.arange(4) % 2)
    assert main(["eval", str(path), "--season", "3"]) == 2
    assert "give --regress" in capsys.readouterr().err


def test_a_picture_of_the_last_targets(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    rows = PumpFlow(seed=1).read(300)
    np.savez(tmp_path / "flow.npz", X=rows.X, y=np.asarray(rows.y, np.float64))
    png = tmp_path / "flow.png"
    assert main(["eval", str(tmp_path / "flow.npz"), "--regress", "--plot", str(png)]) == 0
    assert png.read_bytes().startswith(b"\x89PNG")
