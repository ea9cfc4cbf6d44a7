"""Successive halving: who goes on, on how many rows, and the command."""

import json
import shlex

import numpy as np
import pytest

from edgesvm import RBF, Standardized, TwinVectorMachine
from edgesvm.cli import main
from edgesvm.cli.learner_options import KINDS, class_of
from edgesvm.cli.parameters import types_of
from edgesvm.cli.tuned_values import TRIED, described, values_of
from edgesvm.data import Source
from edgesvm.evaluation import PredictThenLearn
from edgesvm.fleet.tuning import Candidate, accuracy, halve, rungs

rng = np.random.default_rng(2)
X = rng.uniform(0, 4, (900, 2)).astype(np.float32)
y = (np.floor(X).sum(axis=1) % 2).astype(np.int64)


def twin(gamma):
    return Standardized(learner=TwinVectorMachine(max_twins=30, kernel=RBF(gamma)))


def test_a_third_goes_on_to_three_times_the_rows():
    assert rungs(900, 25) == [(100, 25), (300, 9), (900, 3)]
    assert rungs(899, 25) == [(299, 25), (899, 9)]
    assert rungs(10, 25) == [(10, 25)] and rungs(10**6, 2) == [(10**6, 2)]


def test_the_best_of_each_round_go_on_and_come_first():
    tried = [Candidate({"gamma": g}, twin(g)) for g in (0.01, 0.1, 1.0, 3.0, 10.0)]
    steps = []
    ranked = halve(tried, X, y, progress=lambda *step: steps.append(step))
    assert [len(c.scores) for c in ranked] == [2, 2, 1, 1, 1]
    assert steps[-1] == (7, 7)
    first = sorted(tried, key=lambda c: -c.scores[0])
    assert {id(c) for c in first[:2]} == {id(c) for c in ranked[:2]}
    assert ranked[0].scores[1] >= ranked[1].scores[1]
    for c in ranked[:2]:
        assert c.scores == [accuracy(c.learner, X[:n], y[:n], None) for n in (300, 900)]


def test_the_accuracy_is_that_of_eval():
    loop = PredictThenLearn(twin(1.0).allocate(2), 100)
    for _ in loop.run(Source(X, y)):
        pass
    assert accuracy(twin(1.0), X, y, None) == pytest.approx(loop.score.accuracy)
    held = twin(1.0).partial_fit(X[:630], y[:630])
    assert accuracy(twin(1.0), X, y, 0.3) == held.score(X[630:], y[630:])


def test_what_is_varied_and_what_is_not():
    assert TRIED.keys() <= KINDS.keys()
    for kind, values in TRIED.items():
        assert values.keys() <= types_of(class_of(kind)).keys(), kind
        assert all(len(set(of)) == len(of) > 0 for of in values.values()), kind
    assert values_of("twin", set(), 4, is_rbf=True)["gamma"][0] == TRIED["twin"]["gamma"][0] / 4
    assert values_of("twin", {"C"}, 4, is_rbf=False) == {}
    assert values_of("fourier", set(), 4, is_rbf=True)["gamma"][0] is None
    assert values_of("auto", set(), 4, is_rbf=True) == {}
    assert all(kind in described() for kind in TRIED)


def test_a_learner_with_nothing_to_vary_says_so(tmp_path, capsys):
    path = tmp_path / "board.npz"
    np.savez(path, X=X[:300], y=y[:300])
    assert main(["tune", str(path)]) == 2
    assert "nothing left to vary" in capsys.readouterr().err


def test_the_command_that_tune_tells(tmp_path, capsys):
    path = tmp_path / "board.npz"
    np.savez(path, X=X[:300], y=y[:300])
    assert main(["tune", str(path), "--learner", "fourier", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    best = told["tried"][0]
    assert best["gamma"] == TRIED["fourier"]["gamma"][-1] / 2  # a narrow kernel for small squares
    command = shlex.split(told["command"])
    assert main([*command[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == pytest.approx(best["accuracy"][-1])


def test_the_command(tmp_path, capsys):
    path = tmp_path / "board.npz"
    np.savez(path, X=X, y=y)
    argv = ["tune", str(path), "--learner", "twin", "--memory", "16KiB", "--raw", "--json"]
    assert main(argv) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rows"] == [300, 900] and len(told["tried"]) == 6
    best = told["tried"][0]
    command = shlex.split(told["command"])
    assert command[:3] == ["edgesvm", "eval", str(path)]
    assert command[-2:] == ["--gamma", f"{best['gamma']:g}"] and "--raw" in command
    assert main([*command[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == pytest.approx(best["accuracy"][-1])
    picture = tmp_path / "tuned.png"
    pytest.importorskip("matplotlib")
    assert main([*argv[:-1], "--plot", str(picture)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == told["command"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    for wrong, message in (
        (["--gamma", "1", "--C", "1"], "nothing left to vary"),
        (["--positive", "7"], "one class only"),
    ):
        assert main([*argv, *wrong]) == 2
        assert message in capsys.readouterr().err
