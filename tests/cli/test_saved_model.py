"""The model that `run` loads: claimed before the port is opened, within the budget, and with the
options given.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from each import each
from edge import edge

from edgesvm import (
    RBF,
    Calibrated,
    FourierSVM,
    GaussianNovelty,
    KernelStreamSVM,
    OneVsOne,
    OneVsRest,
    RandSVM,
    Standardized,
    StreamSVM,
    TwinVectorMachine,
)
from edgesvm.cli import learner_settings, main, parameters
from edgesvm.cli.learner_settings import LearnerSettings
from edgesvm.cli.options import add, read
from edgesvm.persist import Checkpoint
from firmware_sim.node import FrameNode, RotatingMachine

needs_pty = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
NO_PORT = "/nonexistent/port"
ROWS = Path(__file__).parents[1] / "link" / "golden" / "samples.rec"
HOLD = """
import sys
from edgesvm.persist.files import Claim
with Claim(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def learned(learner):
    """Learn a few samples like those of `RotatingMachine`."""
    X = np.eye(RotatingMachine(0).n_features, dtype=np.float32)[:2]
    return learner.partial_fit(np.tile(X, (4, 1)), [0, 1] * 4)


def run(*words, samples=10):
    """`edgesvm run` at a simulated node."""
    return edge(FrameNode(RotatingMachine(0), samples=samples), "run", "{port}", *words)


# One process at a time.


@pytest.fixture
def held(tmp_path):
    """Have another process claim a file; its pid."""
    processes = []

    def hold(path):
        command = [sys.executable, "-c", HOLD, str(path)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        processes.append(subprocess.Popen(command, **pipes))
        assert processes[-1].stdout.readline() == "held\n"
        return processes[-1].pid

    yield hold
    for process in processes:
        process.communicate()


@pytest.mark.parametrize(
    "option", ["--checkpoint", "--checkpoint-second", "--save", "--out", "record", "eval"]
)
def test_the_holder_is_named_before_the_port_is_opened(tmp_path, capsys, held, option):
    path = tmp_path / "m.rec"
    words = {
        "--checkpoint-second": ["run", NO_PORT, "--checkpoint", str(tmp_path / "first")],
        "record": ["record", NO_PORT, str(path)],
        "eval": ["eval", str(ROWS), "--save", str(path)],
    }.get(option, ["run", NO_PORT])
    if option.startswith("--"):
        words += [option, f"jsonl:{path}" if option == "--out" else str(path)]
    pid = held(f"{path}.lock" if option in ("--save", "--out", "eval") else path)
    before = sorted(os.listdir(tmp_path))
    assert main(words) == 1
    said = capsys.readouterr().err
    expected = f"edgesvm: {path} is being written by another process (pid {pid})\n"
    assert said == expected and sorted(os.listdir(tmp_path)) == before


def test_a_run_that_finds_no_port_leaves_no_file(tmp_path, capsys):
    files = ["--checkpoint", str(tmp_path / "c"), "--save", str(tmp_path / "s")]
    assert main(["run", NO_PORT, "--wait", "0.1", *files]) == 1
    assert main(["record", NO_PORT, str(tmp_path / "a.rec"), "--wait", "0.1"]) == 1
    assert os.listdir(tmp_path) == [] and NO_PORT in capsys.readouterr().err


def test_a_model_that_learns_without_labels_is_refused(tmp_path):
    path = tmp_path / "m.esvm"
    learned(GaussianNovelty()).save(path)
    result = run("--save", path)
    assert (result.ended, result.exit_code) == ("edge exited", 2)
    assert "learns without labels" in result.edge_errors


@pytest.mark.parametrize("option", ["--checkpoint", "--save", "record"])
def test_a_link_to_no_file_is_an_error_everywhere(tmp_path, capsys, option):
    link = tmp_path / "m.rec"
    link.symlink_to("nowhere")
    words = ["run", NO_PORT, option, str(link)]
    assert main(["record", NO_PORT, str(link)] if option == "record" else words) == 1
    said = capsys.readouterr().err
    assert "symbolic link to nowhere, which does not exist" in said or NO_PORT in said
    assert os.listdir(tmp_path) == ["m.rec"]


# Within the budget.


@needs_pty
@pytest.mark.parametrize("option", ["--save", "--checkpoint"])
def test_a_model_beyond_the_budget_is_refused_with_both_numbers(tmp_path, option):
    path = tmp_path / "m"
    learner = learned(Standardized(learner=StreamSVM(bound="lower", lookahead=500)))
    assert learner.nbytes > 16384
    if option == "--save":
        learner.save(path)
    else:
        checkpoint = Checkpoint(path)
        checkpoint.save(learner)
        checkpoint.close()
    result = run(option, path, "--memory", "16KiB")
    assert (result.ended, result.exit_code) == ("edge exited", 2), result.edge_errors
    assert f"{learner.nbytes:,} B); the limit is 16.0 KiB (16,384 B)" in result.edge_errors
    assert run(option, path, "--memory", learner.nbytes).exit_code == 0


# Options that a model contradicts.


def options(*words):
    parser = argparse.ArgumentParser()
    add(parser, LearnerSettings)
    return read(LearnerSettings, parser.parse_args(list(words)))


STREAM = Standardized(learner=StreamSVM(bound="lower", lookahead=3))
KERNEL = KernelStreamSVM(max_vectors=5, kernel=RBF(0.25))
PRICED = Calibrated(learner=STREAM, cost={1: 2.0})
MANY = Standardized(learner=OneVsOne(learner=StreamSVM(bound="lower"), n_classes=3))
FEATURES = Standardized(
    learner=OneVsRest(learner=FourierSVM(n_directions=7, weigh_widths=False), n_classes=3)
)


@each(
    "learner, words, told",
    [
        (STREAM, ["--set", "C=5"], [("--set C=1.0", "--set C=5")]),
        (STREAM, ["--learner", "twin"], [("--learner stream", "--learner twin")]),
        (STREAM, ["--raw"], [("standardized features", "--raw")]),
        (STREAM, ["--set", "dtype=float64"], [("--set dtype=float32", "--set dtype=float64")]),
        (STREAM, ["--set", "lookahead=4"], [("--set lookahead=3", "--set lookahead=4")]),
        (STREAM, ["--set", "max_twins=4"], [("no max_twins", "--set max_twins=4")]),
        (STREAM, ["--classes", "3"], [("--classes 2", "--classes 3")]),
        (
            STREAM,
            ["--set", "bound=upper", "--multiclass", "one-vs-one"],
            [
                ("--set bound=lower", "--set bound=upper"),
                ("no --multiclass", "--multiclass one-vs-one"),
            ],
        ),
        (KERNEL, ["--set", "kernel=poly"], [("--set kernel=rbf", "--set kernel=poly")]),
        (KERNEL, ["--set", "gamma=0.5"], [("--set gamma=0.25", "--set gamma=0.5")]),
        (MANY, ["--classes", "4"], [("--classes 3", "--classes 4")]),
        (
            FEATURES,
            ["--set", "n_directions=9", "--set", "directions=orthogonal"],
            [
                ("--set directions=auto", "--set directions=orthogonal"),
                ("--set n_directions=7", "--set n_directions=9"),
            ],
        ),
        (STREAM, ["--learner", "FourierSVM"], [("--learner stream", "--learner fourier")]),
        (STREAM, ["--cost", "1=2"], [("no --cost", "--cost 1=2.0")]),
        (STREAM, ["--probabilities"], [("no --probabilities", "--probabilities")]),
        (PRICED, ["--cost", "1=3,0=1"], [("--cost 1=2.0", "--cost 1=3.0,0=1.0")]),
        (RandSVM(), ["--learner", "batch"], [("--learner RandSVM", "--learner batch")]),
    ],
)
def test_options_that_a_model_contradicts(learner, words, told):
    model = learner.like_new().allocate(4)
    assert options(*words).contradicted(model) == told


@each(
    "learner, words",
    [
        (STREAM, []),
        (
            STREAM,
            ["--set", "C=1", "--learner", "Stream", "--set", "bound=lower", "--set", "lookahead=3"],
        ),
        (STREAM, ["--classes", "2", "--set", "dtype=float32", "--memory", "1MiB"]),
        (KERNEL, ["--raw", "--set", "kernel=rbf", "--set", "gamma=0.25", "--set", "max_vectors=5"]),
        (KernelStreamSVM(max_vectors=5), ["--set", "gamma=0.25"]),  # the default, of 4 features
        (PRICED, ["--cost", "1=2", "--set", "C=1", "--classes", "2"]),
        (MANY, ["--classes", "3", "--multiclass", "one-vs-one"]),
        (TwinVectorMachine(max_twins=4), ["--learner", "twin"]),
        (FEATURES, ["--learner", "fourier", "--set", "n_directions=7"]),
        (FEATURES, ["--multiclass", "one-vs-rest", "--classes", "3"]),
    ],
)
def test_options_that_a_model_has(learner, words):
    model = learner.like_new().allocate(4)
    assert options(*words).contradicted(model) == []


@each("kind", learner_settings.KINDS)
def test_a_model_has_the_options_it_was_built_with(kind):
    values = [("C", "3", "4"), ("epsilon", "0.01", "0.5"), ("dtype", "float64", "float32")]
    own = parameters.types_of(learner_settings.class_of(kind))
    if learner_settings.class_of(kind).scales_itself:  # float32 only
        values.pop()
    values = [value for value in values if value[0] in own]
    words = ["--learner", kind]
    for name, has, _ in values:
        words += parameters.spelled(name, has).split()
    model = options(*words).build(4).allocate(4)
    assert options(*words).contradicted(model) == []
    for name, _, other in values:  # of an option that is there twice, the last counts
        changed = options(*words, *parameters.spelled(name, other).split())
        assert len(changed.contradicted(model)) == 1, name
