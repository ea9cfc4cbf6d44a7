"""Successive halving: who goes on, on how many rows, and the command."""

import json
import shlex

import numpy as np
import pytest

from edgesvm import RBF, BatchSVM, OneVsRest, Standardized, StreamSVM, TwinVectorMachine
from edgesvm.cli import main
from edgesvm.cli.learner_options import KINDS, class_of
from edgesvm.cli.parameters import types_of
from edgesvm.cli.tuned_values import TRIED, described, values_of
from edgesvm.data import Source
from edgesvm.evaluation import PredictThenLearn
from edgesvm.fleet.tuning import Candidate, halve, n_vectors, rungs, smallest_of_best, tried

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
    candidates = [Candidate({"gamma": g}, twin(g)) for g in (0.01, 0.1, 1.0, 3.0, 10.0)]
    steps = []
    ranked = halve(candidates, X, y, progress=lambda *step: steps.append(step))
    assert [len(c.scores) for c in ranked] == [2, 2, 1, 1, 1]
    assert steps[-1] == (7, 7)
    first = sorted(candidates, key=lambda c: -c.scores[0])
    assert {id(c) for c in first[:2]} == {id(c) for c in ranked[:2]}
    last = [c.scores[1] for c in ranked[:2]]
    assert smallest_of_best(last, [c.vectors for c in ranked[:2]], 900) == 0
    for c in ranked[:2]:
        outcomes = [tried(c.learner, X[:n], y[:n], None) for n in (300, 900)]
        assert c.scores == [score for score, _ in outcomes] and c.vectors == outcomes[-1][1]


def test_the_smallest_within_one_standard_error_of_the_best_is_taken():
    scores = [0.900, 0.891, 0.890, 0.880]  # of 1,000 rows: 0.900 - 0.0095
    assert smallest_of_best(scores, [9, 8, 1, 1], 1000) == 1
    assert smallest_of_best(scores, [9, 9, 9, 9], 1000) == 0
    assert smallest_of_best(scores, [9, 8, 1, 1], 100_000) == 0


def test_equally_good_models_go_by_their_vectors():
    """Rows that are separable at any C: a large one needs fewer vectors."""
    X = np.r_[rng.normal(-2, 0.5, (300, 2)), rng.normal(2, 0.5, (300, 2))].astype(np.float32)
    y = np.repeat([0, 1], 300)
    order = rng.permutation(600)
    learners = [BatchSVM(max_samples=600, kernel=RBF(0.1), C=C) for C in (0.01, 10.0)]
    candidates = [Candidate({"C": one.C}, one) for one in learners]
    ranked = halve(candidates, X[order], y[order], holdout=0.3)
    assert [c.chosen["C"] for c in ranked] == [10.0, 0.01]
    assert ranked[0].scores == ranked[1].scores and ranked[0].vectors < ranked[1].vectors


def test_vectors_of_parts_and_of_what_is_wrapped():
    three = OneVsRest(learner=Standardized(learner=BatchSVM(max_samples=90)), n_classes=3)
    three.fit(X[:90], np.floor(X[:90, 0]).astype(int) % 3)
    held = [np.count_nonzero(part.learner_.dual_coef_) for part in three.parts_]
    assert n_vectors(three) == sum(held) > 3
    assert n_vectors(StreamSVM().fit(X, y)) == 0


def test_the_accuracy_is_that_of_eval():
    loop = PredictThenLearn(twin(1.0).allocate(2), 100)
    for _ in loop.run(Source(X, y)):
        pass
    assert tried(twin(1.0), X, y, None)[0] == pytest.approx(loop.score.accuracy)
    held = twin(1.0).partial_fit(X[:630], y[:630])
    assert tried(twin(1.0), X, y, 0.3)[0] == held.score(X[630:], y[630:])


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
