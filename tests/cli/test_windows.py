"""``--window`` on the command line: a chain on a file, and what contradicts one that was saved."""

import json

import numpy as np
import pytest

from edgesvm import Chain, Standardized, StreamSVM, WindowFeatures, load
from edgesvm.cli import main
from edgesvm.cli.options import parsed
from edgesvm.cli.run import Settings
from edgesvm.link import Batch, RecordingSchema, RecordingWriter
from edgesvm.serve.score import Prequential

CUT = {"window": 40, "hop": 15, "rate": 500.0, "bands": "10-50,50-200"}
ARGV = [word for name, value in CUT.items() for word in (f"--{name}", str(value))]
STREAM = ["--learner", "stream", "--set", "lookahead=4"]
N = 2000
MISSING, NOT_FINITE = range(700, 720), 1100


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The working folder; raw samples in it, in files of every kind."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(0, 2, N // 50), 50).astype(np.int32)
    hertz = np.array([30, 120])[y]
    X = np.sin(2 * np.pi * hertz * np.arange(N) / 500)[:, None] + rng.standard_normal((N, 2))
    X = X.astype(np.float32)
    X[NOT_FINITE, 1] = np.nan
    np.savez("raw.npz", X=X, y=y)
    np.savez("words.npz", X=X, y=np.array(["fine", "worn"])[y])
    np.savez("three.npz", X=X, y=np.where(np.arange(N) > 900, 7, y))
    kept = np.setdiff1d(np.arange(N), [*MISSING, NOT_FINITE])  # a recording holds no NaN
    ones = np.ones(len(kept), np.float32)
    batch = Batch(X[kept], y[kept], ones > 0, ones, kept.astype(np.uint32))
    with RecordingWriter("raw.rec", RecordingSchema(2, period_us=2000)) as writer:
        writer.append(batch)
    return X, y


def built(**params):
    learner = Standardized(learner=StreamSVM(lookahead=4))
    return Chain(windows=WindowFeatures(**CUT), learner=learner, **params).allocate(2)


def by_hand(X, y, label="majority", missing=()):
    """The chain after the samples, and the score of its answers."""
    chain, score = built(label=label), Prequential(1000)
    for n, (x, one) in enumerate(zip(X, y, strict=True)):
        if n in missing or n == NOT_FINITE:
            chain.gap()
            continue
        window = chain.window(x, one)
        if window is not None:
            row, truth = window
            if chain.learner_.is_fitted:
                score.add(truth, chain.learner_.predict_one(row))
            chain.learner_.learn_one(row, truth)
    return chain, score


def test_eval_equals_the_chain(here, capsys):
    X, y = here
    for argv, missing, label, labels in (
        (["eval", "raw.npz", *ARGV], (), "majority", y.tolist()),
        (["eval", "words.npz", *ARGV, "--positive", "worn"], (), "majority", y.tolist()),
        (["eval", "raw.rec", *ARGV], MISSING, "majority", y.tolist()),
    ):
        assert main([*argv, *STREAM, "--json", "--save", "m.esvm"]) == 0
        told = json.loads(capsys.readouterr().out)
        expected, score = by_hand(X, labels, label, missing)
        assert bytes(load("m.esvm").arena) == bytes(expected.arena), argv
        assert told["accuracy"] == score.accuracy and told["predicted"] == score.n
        assert told["majority"] == score.majority and told["label_before"] == score.label_before
        assert told["bytes_allocated"] == expected.nbytes and told["frozen"]["predicted"] > 10
        counts = told["counters"]
        assert counts["refused_samples"] == (not missing) and counts["gaps"] == 2 + bool(missing)
        assert counts["windows_dropped"] == expected.windows_.n_dropped_ > 0
        assert counts["windows"] == expected.windows_.n_rows_ == score.n + 1


def test_the_memory_is_for_windows_and_learner_together(here, capsys):
    assert main(["eval", "raw.npz", *ARGV, "--memory", "4KiB", "--json"]) == 0
    assert 3900 < json.loads(capsys.readouterr().out)["bytes_allocated"] <= 4096
    assert main(["eval", "raw.npz", *ARGV, "--memory", "600"]) == 2
    assert "of it for its windows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["eval", "raw.npz", "--hop", "20"], "--hop 20 is for windows"),
        (["run", "nowhere", "--features", "4"], "--features 4 is for windows"),
        (["eval", "raw.npz", "--window", "40", "--shuffle", "1"], "--shuffle"),
        (["eval", "raw.npz", "--window", "40", "--features", "power"], "needs bands"),
        (["eval", "three.npz", *ARGV, *STREAM], "more labels than there is room for: 7 after"),
    ],
)
def test_what_windows_cannot_do_is_said_in_one_line(here, argv, message, capsys):
    assert main(argv) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1


def test_labels_that_came_late_are_refused(here, capsys):
    schema = RecordingSchema(2, late=True)
    with RecordingWriter("late.rec", schema):
        pass
    assert main(["eval", "late.rec", "--window", "40"]) == 2
    assert "come after their samples" in capsys.readouterr().err


def test_a_saved_chain_must_have_the_windows_asked_for(here):
    X, y = here
    chain = built().partial_fit(X[:500], y[:500])

    def settings(*words):
        return parsed(Settings, " ".join(["port", *words]))

    def loaded(*words):
        """Model and file, as `run` finds them."""
        asked = settings(*words)
        return asked.ports[0].saving.loaded(
            None, asked.learner.memory, 2, lambda model, learner: asked.windows.contradicted(model)
        )

    def contradicted(*words, model=chain):
        return settings(*words).windows.contradicted(model)

    assert contradicted() == contradicted(*ARGV) == []
    default = "mean,std,min,max,skewness,kurtosis,crossings,slope,power,roughness,turns"
    assert contradicted(*ARGV, "--features", "default") == []
    assert contradicted("--window", "40", "--features", default) == []
    for words, has in (
        (("--window", "50"), "--window 40"),
        (("--window", "40", "--rate", "900.5"), "--rate 500.0"),
        (("--window", "40", "--bands", "10-50"), "--bands 10-50,50-200"),
        (("--window", "40", "--features", "mean"), f"--features {default}"),
    ):
        held = load_saved(chain)
        assert contradicted(*words, model=held)[0] == (has, " ".join(words[-2:]))
    assert contradicted("--window", "40", model=chain.learner_) == [("no --window", "--window 40")]

    chain.save("m.esvm")
    model, source = loaded("--save", "m.esvm")
    assert bytes(model.arena) == bytes(chain.arena) and source == "m.esvm"
    both = "learned with --window 40, --rate 500.0, not --window 64, --rate 900.5; use --fresh"
    with pytest.raises(ValueError, match=both):
        loaded("--save", "m.esvm", "--window", "64", "--rate", "900.5")


def load_saved(chain):
    chain.save("again.esvm")
    return load("again.esvm")
