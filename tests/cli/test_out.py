"""`--out` as a user gives it: the real processes, real pipes, a real broker; nothing is held up."""

import itertools
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from simulated_node import node

from edgesvm import load

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
SAMPLES = 2000
FIELDS = [
    "time",
    "port",
    "sequence",
    "predicted",
    "score",
    "abstained",
    "trained",
    "rejected",
    "alarm",
    "label",
    "remarks",
]


def edgesvm(command, port, *options):
    argv = [sys.executable, "-m", "edgesvm.cli", command, port, *map(str, options)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def done(process, code=0):
    out, errors = process.communicate(timeout=120)
    assert process.returncode == code, errors
    return out, errors


def sums_hold(summary):
    return all(
        one["sent"] + one["skipped"] + one["lost"] == summary["counters"]["taken"]
        for one in summary["outputs"]
    )


def lost(summary):
    return sum(one["lost"] for one in summary["outputs"])


def in_time(run, has_lost, *files):
    """What `run` gives, once it had its second at the end to pass on what waits: a busy machine
    may keep it from that.
    """
    for _ in range(5):
        for file in files:
            file.unlink(missing_ok=True)
        told = run()
        if not has_lost(told):
            break
    return told


def test_the_same_lines_in_two_files_and_the_report_tells(tmp_path):
    file, copy, model, plain = (tmp_path / name for name in ("a", "b", "m.esvm", "plain.esvm"))
    outs = ("--out", f"jsonl:{file}", "--out", f"jsonl:{copy}")
    outs += ("--out-queue", SAMPLES, "--json", "--samples", SAMPLES, "--save", model)

    def run():
        with node("--samples", str(SAMPLES), "--seed", "3") as port:
            out, errors = done(edgesvm("run", port, *outs))
        return port, json.loads(out), errors

    port, summary, errors = in_time(run, lambda told: lost(told[1]), file, copy, model)
    assert sums_hold(summary) and "predictions for --out" in errors
    assert [one["sent"] for one in summary["outputs"]] == [SAMPLES, SAMPLES]
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert file.read_text() == copy.read_text() and list(lines[0]) == FIELDS
    assert [one["sequence"] for one in lines] == list(range(SAMPLES))
    assert lines[0]["abstained"] and all(one["port"] == port for one in lines)
    hits = [one["predicted"] == one["label"] for one in lines[1:]]
    assert np.mean(hits) == pytest.approx(summary["accuracy"])
    with node("--samples", str(SAMPLES), "--seed", "3") as port:
        done(edgesvm("run", port, "--samples", SAMPLES, "--save", plain))
    assert model.read_bytes() == plain.read_bytes()  # and nothing else was learned
    assert load(model).n_seen_ == SAMPLES


def test_sinks_that_are_full_or_away_hold_nothing_up_and_are_told(tmp_path):
    pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is not installed")
    model = tmp_path / "m.esvm"
    sinks = ("mqtt://127.0.0.1:9/pump",)
    sinks += ("jsonl:/dev/full",) if os.path.exists("/dev/full") else ()
    with node("--samples", str(SAMPLES)) as port:
        options = [word for sink in sinks for word in ("--out", sink)]
        options += ["--out-queue", 50, "--samples", SAMPLES, "--save", model]
        _, errors = done(edgesvm("run", port, *options))
    assert load(model).n_seen_ == SAMPLES and "Traceback" not in errors
    for sink in sinks:
        (told,) = [line for line in errors.splitlines() if line.startswith(f"out {sink}: ")]
        assert " 0 lost" not in told
        assert errors.count(f"--out {sink}: ") == 1


def test_standard_output_is_for_lines_alone():
    with node("--samples", str(SAMPLES)) as port:
        options = ("--out", "jsonl:-", "--out-when", "change", "--samples", SAMPLES)
        options += ("--out-queue", SAMPLES)
        out, errors = done(edgesvm("run", port, *options))
    lines = [json.loads(line) for line in out.splitlines()]
    told = [(one["predicted"], one["remarks"]) for one in lines]
    assert lines and all(a != b for a, b in itertools.pairwise(told))
    assert f"out jsonl:-: {len(lines):,} sent, 0 lost, 0 failures" in errors


def test_a_signal_ends_all_of_it_with_what_was_answered_passed_on(tmp_path):
    file = tmp_path / "p.jsonl"

    def run():
        with node("--rate", "500") as port:
            options = ("--out", f"jsonl:{file}", "--json", "--quiet")
            process = edgesvm("run", port, *options)
            try:
                while not file.exists() or file.read_text().count("\n") < 300:
                    assert process.poll() is None
                process.send_signal(signal.SIGTERM)
                out, _ = done(process)
            finally:
                process.kill()
        return json.loads(out)

    summary = in_time(run, lambda told: told["outputs"][0]["lost"], file)
    assert sums_hold(summary)
    assert file.read_text().count("\n") == summary["counters"]["taken"]


def test_without_paho_mqtt_the_package_is_named(tmp_path):
    (tmp_path / "paho.py").write_text("raise ImportError('not here')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    with node() as port:
        argv = [sys.executable, "-m", "edgesvm.cli", "run", port, "--out", "mqtt://127.0.0.1/p"]
        run = subprocess.run(
            argv, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
    assert run.returncode == 2
    assert run.stderr.splitlines()[-1].endswith("needs paho-mqtt: pip install 'edgesvm[mqtt]'")
