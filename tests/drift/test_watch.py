"""A learner and its detector: what is asked, counted, kept and reset, in both loops."""

import json
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from each import each

from edgesvm import Calibrated, Standardized, StreamSVM, load
from edgesvm.cli import drift_options, eval_report, main
from edgesvm.data import Rows, Source, Stream
from edgesvm.drift.page_hinkley import PageHinkley
from edgesvm.drift.watch import DriftWatch
from edgesvm.evaluation import PredictThenLearn
from edgesvm.persist import Checkpoint
from firmware_sim.harness import simulate
from firmware_sim.line import Line, PtyLink
from firmware_sim.node import FrameNode

N, FLIP = 3000, 1500
rng = np.random.default_rng(3)
X = rng.standard_normal((N, 3)).astype(np.float32)
COUNTS = ("n_added", "n_drifts", "before", "now")
Y = ((X[:, 0] > 0) ^ (np.arange(N) >= FLIP)).astype(int)


def watched(learner, **options):
    return DriftWatch(learner.allocate(3), PageHinkley(), **options)


@each("reset", [False, True])
@each("delay", [0, 200])
def test_a_concept_that_flips_is_found_once_though_labels_come_late(reset, delay):
    """With a delay, what was predicted before the reset must not count against the new start."""
    said = []
    learner = Standardized(learner=StreamSVM())
    watch = watched(learner, reset=reset, report=said.append)
    at = learner.arena.memory.ctypes.data
    loop = PredictThenLearn(learner, label_delay=delay, drift=watch)
    for _ in loop.run(Source(X, Y)):
        pass
    assert watch.detector.n_drifts_ == len(said) == len(watch.last) == 1
    assert FLIP < said[0].sample < FLIP + 150 and said == list(watch.last)
    assert said[0].before < 0.1 and said[0].now > 0.5
    assert eval_report.progress(loop, 1.0).endswith(" B  drifts 1")
    assert watch.n_resets == reset and learner.arena.memory.ctypes.data == at
    assert watch.detector.n_added_ == loop.learned - 1 - reset == N - 1 - reset
    assert learner.classes_.tolist() == [0, 1]
    if reset:
        alone = Standardized(learner=StreamSVM())
        alone.partial_fit(X[said[0].sample + 1 :], Y[said[0].sample + 1 :], classes=[0, 1])
        assert learner.n_seen_ == alone.n_seen_ == N - 1 - said[0].sample
        assert (learner.predict(X) == alone.predict(X)).all()


def test_a_new_start_knows_the_labels_and_nothing_else():
    learner = StreamSVM().allocate(3)

    def look(drift):
        assert learner.classes_.tolist() == [0, 1] and learner.n_seen_ == 0
        own = {k: v for k, v in watch.detector._core.views.items() if k not in COUNTS}
        assert not any(np.any(array) for array in own.values()) and len(own) > 0
        seen.append(drift)

    seen = []
    watch = DriftWatch(learner, PageHinkley(), reset=True, report=look)
    list(PredictThenLearn(learner, drift=watch).run(Source(X, Y)))
    assert len(seen) == watch.n_resets == 1


def test_a_refused_sample_is_no_error():
    learner = StreamSVM()
    watch = watched(learner)
    loop = PredictThenLearn(learner, drift=watch)
    bad = X[:100].copy()
    bad[50] = np.nan
    list(loop.run(Source(bad, Y[:100])))
    assert (loop.learned, loop.refused, watch.detector.n_added_) == (99, 1, 98)


def test_probabilities_begin_anew_too():
    learner = Calibrated(learner=Standardized(learner=StreamSVM()))
    loop = PredictThenLearn(learner, drift=watched(learner, reset=True))
    list(loop.run(Source(X, Y)))
    assert loop.drift.n_resets == 1 and loop.forecasts.n < N


def test_only_the_last_ten_are_kept():
    learner = StreamSVM()
    watch = watched(learner)
    learner.partial_fit(X[:2], [0, 1])
    answer = learner.predict_one(X[0])
    for _ in range(12):
        for label in [answer] * 100 + [1 - answer] * 60:
            watch.ask(X[0])
            watch.score(label)
    assert watch.detector.n_drifts_ == 12 and len(watch.last) == 10
    assert watch.summary()["drifts"] == 12 and watch.summary()["bytes"] == 80
    assert watch.summary()["last"][-1] == watch.last[-1]._asdict()


# -- the command line ------------------------------------------------------------------------------


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [",".join(map(str, [*x.tolist(), label])) for x, label in zip(X, Y, strict=True)]
    path.write_text("a,b,c,label\n" + "\n".join(lines) + "\n")
    return str(path)


def evaluated(capsys, rows, *words):
    assert main(["eval", rows, "--learner", "stream", *words]) == 0
    return capsys.readouterr()


def test_eval_says_where_and_resets_only_if_told(rows, tmp_path, capsys):
    plain = json.loads(evaluated(capsys, rows, "--json").out)
    assert "drift" not in plain
    noted = json.loads(evaluated(capsys, rows, "--json", "--drift", "page-hinkley").out)
    drift = noted.pop("drift")
    assert (drift["drifts"], drift["resets"], len(drift["last"])) == (1, 0, 1)
    assert noted["accuracy"] == plain["accuracy"]
    saved = str(tmp_path / "m.esvm")
    words = ["--drift", "page-hinkley", "--on-drift", "reset", "--save", saved]
    said = evaluated(capsys, rows, *words)
    at = drift["last"][0]["sample"]
    line = f"drift at sample {at:,}: error {100 * drift['last'][0]['before']:.0f} % before, "
    assert f"drifts: 1, the learner started over 1 times\n{line}" in said.out
    assert any(
        text.startswith(line) and text.endswith("; the learner starts over")
        for text in said.err.splitlines()
    )
    assert load(saved).n_seen_ == N - 1 - at


def test_on_drift_alone_means_nothing(rows, capsys):
    assert main(["eval", rows, "--on-drift", "reset"]) == 2
    assert "--on-drift needs --drift" in capsys.readouterr().err


@each("on_drift, n_told", [("reset", 1), ("note", 0), (None, 0)])
def test_the_checkpoint_is_told_of_a_new_start(on_drift, n_told):
    told, said = [], []
    saver = SimpleNamespace(forget=lambda: told.append(learner.n_seen_))
    learner = StreamSVM().allocate(3)
    settings = drift_options.DriftSettings("page-hinkley", reset=on_drift == "reset")
    watch = settings.watch(learner, said.append, saver)
    list(PredictThenLearn(learner, drift=watch).run(Source(X, Y)))
    assert told == [0] * n_told and len(said) == 1
    assert said[0].endswith("; the learner starts over") == bool(n_told)


class Flipping(Stream):
    """X and Y, from a sensor."""

    n_features, n_classes = 3, 2

    def __init__(self):
        self.read_so_far = 0

    def read(self, n):
        begin = self.read_so_far
        self.read_so_far += n
        return Rows(X[begin : begin + n], Y[begin : begin + n].astype(np.int32))


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
@each("label_mode", ["inline", "late"])
def test_run_on_a_pseudo_terminal_saves_the_learner_that_started_over(label_mode, tmp_path):
    path, saved = tmp_path / "m.ckpt", tmp_path / "m.esvm"
    argv = [sys.executable, "-m", "edgesvm.cli", "run", "{port}", "--json", "--learner", "stream"]
    argv += ["--drift", "page-hinkley", "--on-drift", "reset", "--save", str(saved)]
    argv += ["--checkpoint", str(path), "--every", "400"]
    link = PtyLink()
    try:
        node = FrameNode(Flipping(), samples=N, label_mode=label_mode)
        result = simulate(argv, node, Line(link), timeout_s=120)
    finally:
        link.close()
    assert (result.ended, result.exit_code) == ("drained", 0), result.edge_errors
    edge = result.edge
    drift = edge["drift"]
    assert (drift["drifts"], drift["resets"]) == (1, 1) and edge["broken_identities"] == []
    at = drift["last"][0]["sample"]
    assert FLIP < at < FLIP + 150 and edge["counters"]["learned"] >= N - 10
    assert f"drift at sample {at:,}: error" in result.edge_errors
    learner, kept = load(saved), Checkpoint(path).load()
    assert bytes(learner.arena) == bytes(kept.arena)
    assert learner.n_seen_ == edge["counters"]["learned"] - 1 - at
    assert learner.classes_.tolist() == [0, 1]
    assert (learner.predict(X[FLIP:]) == Y[FLIP:]).mean() > 0.9
    # One is left out while the disk still writes the last: a slow disk has the first and the end.
    assert edge["counters"]["saves"] >= 2
