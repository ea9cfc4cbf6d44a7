"""``edgesvm record`` as users run it, a simulated node on a pseudo-terminal; and `eval` of it."""

import functools
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import simulated_node

from edgesvm import load
from edgesvm.cli import main
from edgesvm.cli.record import _Recorder, _schema
from edgesvm.errors import LinkDown
from edgesvm.link import Recording, RecordingWriter, open_link, wire
from edgesvm.serve.taught import taught
from firmware_sim.node import SIGNALS

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
EDGESVM = [sys.executable, "-m", "edgesvm.cli"]


node = functools.partial(simulated_node.node, "--seed", "3")


def rotating(n):
    return SIGNALS["rotating"](3).read(n)


def held(path):
    with Recording(path) as recording:
        X, y = zip(*recording.chunks(), strict=True)
        return np.concatenate(X), np.concatenate(y), recording.account()


@pytest.mark.parametrize("text", [False, True], ids=["frames", "lines"])
def test_every_sample_of_the_node_is_in_the_file(tmp_path, capsys, text):
    file = tmp_path / "machine.rec"
    X, y = rotating(40_000)
    mode = ["--text"] if text else []
    with node("--rate", "20000", *mode) as port:
        width = ["--n-features", str(X.shape[1])]
        limits = ["--samples", "2000", "--json", "--quiet"]
        assert main(["record", port, str(file), *mode, *width, *limits]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["taken"] == report["records"] == 2000
    assert report["broken_identities"] == []
    got_X, got_y, account = held(file)
    # What found no room on its way, on a busy machine, was never there: an ordered part of the
    # signal remains, and frames, which have numbers, are counted as missing.
    numbers = {row.tobytes(): i for i, row in enumerate(X)}
    order = [numbers[row.tobytes()] for row in got_X]
    assert order == sorted(set(order))
    if not text:
        assert report["counters"]["missing"] == order[-1] - order[0] + 1 - len(order)
    assert got_y.tolist() == y[order].tolist()
    assert account == {"records": 2000, "damaged": 0, "unlabelled": 0, "torn_bytes": 0}


def test_sigterm_ends_it_with_its_report_and_a_second_run_goes_on(tmp_path):
    file = tmp_path / "machine.rec"
    for run in (1, 2):
        with node("--rate", "2000") as port:
            process = subprocess.Popen(
                [*EDGESVM, "record", port, str(file), "--json", "--sync", "0.01"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            before = file.stat().st_size if file.exists() else 0
            while not file.exists() or file.stat().st_size < before + 4096:
                assert process.poll() is None, process.stderr.read()
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate()
        assert process.returncode == 0, err
        report = json.loads(out)
        assert report["broken_identities"] == []
        assert report["bytes"] == file.stat().st_size
        account = held(file)[2]
        assert account["records"] == report["records"]
        assert account["damaged"] == account["torn_bytes"] == 0
        assert (report["records"] == report["taken"]) == (run == 1)
        assert "\x1b" not in err  # no terminal: no live line


def test_a_killed_recorder_loses_nothing_that_was_written(tmp_path):
    file = tmp_path / "machine.rec"
    rng = np.random.default_rng(4)
    n_known = 0
    for _ in range(4):
        with node() as port:
            process = subprocess.Popen([*EDGESVM, "record", port, str(file), "--quiet"])
            before = file.stat().st_size if file.exists() else 0
            enough = before + int(rng.integers(1, 20_000))
            while not file.exists() or file.stat().st_size < enough:
                assert process.poll() is None
            process.kill()
            process.wait()
        X, _, account = held(file)
        assert account["damaged"] == 0
        # Each run adds the beginning of the node's signal.
        assert X[n_known:].tobytes() == rotating(len(X) - n_known).X.tobytes()
        assert len(X) > n_known or enough - before < 64
        n_known = len(X)


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
from edgesvm.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_full_medium_is_one_line_and_code_1_and_the_rest_can_be_read(tmp_path):
    file = tmp_path / "machine.rec"
    with node() as port:
        done = subprocess.run(
            [sys.executable, "-c", LIMITED, "record", port, str(file), "--quiet"],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    X, _, account = held(file)
    said = f"edgesvm: {file}: File too large; the {len(X):,} samples written before are readable\n"
    assert done.stderr == said
    assert file.stat().st_size <= 5000
    assert account["damaged"] == account["torn_bytes"] == 0
    assert X.tobytes() == rotating(len(X)).X.tobytes()


def test_once_ends_with_the_port(tmp_path, capsys):
    file = tmp_path / "machine.rec"
    with node("--rate", "500", "--fault", "disconnect=0.05") as port:
        assert main(["record", port, str(file), "--once", "--json", "--quiet"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["counters"]["disconnects"] == 1
    assert report["records"] == report["taken"]


def record_some(file, n=600):
    with node("--samples", str(n)) as port:
        assert main(["record", port, str(file), "--samples", str(n), "--quiet"]) == 0


def test_eval_of_a_recording_tells_what_was_left_out(tmp_path, capsys):
    file = tmp_path / "machine.rec"
    record_some(file)
    data = bytearray(file.read_bytes())
    data[100] ^= 1
    file.write_bytes(data + b"torn")
    capsys.readouterr()
    assert main(["eval", str(file), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["n_seen"] == 599
    expected = {"records": 600, "damaged": 1, "unlabelled": 0, "torn_bytes": 4}
    assert report["recording"] == expected
    assert main(["eval", str(file)]) == 0
    assert "600 records: 1 damaged" in capsys.readouterr().out


class Pulled:
    """A port that gives these bytes in small pieces, and is then pulled out."""

    def __init__(self, data):
        self.pieces = [data[at : at + 37] for at in range(0, len(data), 37)]

    def read(self, timeout, limit=65536):
        if not self.pieces:
            raise LinkDown("pulled out")
        piece = self.pieces.pop(0)
        if len(piece) > limit:
            self.pieces.insert(0, piece[limit:])
        return piece[:limit]

    def write(self, data):
        return len(data)

    def close(self):
        pass


def late_stream(n=600):
    """A node whose labels come 0 to 40 samples late, some twice, some never, and that restarts."""
    rng = np.random.default_rng(8)
    out = b"\0"
    for boot_id in (5, 6):
        schema = wire.Schema(0, boot_id, 2, label_mode=wire.LABEL_LATE)
        out += wire.encode_frame(wire.SCHEMA, schema.pack())
        due = {}
        for i in range(n):
            y = int(rng.integers(2))
            out += wire.encode_sample(schema.schema_id, i, rng.standard_normal(2) + 2 * y)
            if i % 7:
                due.setdefault(i + int(rng.integers(40)), []).append((i, y))
            for number, label in due.pop(i, ()):
                body = wire.Label(number, label, 1.0 + number % 3).pack()
                frame = wire.encode_frame(wire.LABEL, body, schema_id=schema.schema_id)
                out += frame * (2 if number % 11 == 0 else 1)
    return out


def test_eval_of_late_labels_learns_what_the_live_run_does(tmp_path, capsys):
    def link(late_labels):
        ports = [Pulled(late_stream())]
        return open_link("pulled", opener=ports.pop, late_labels=late_labels)

    window, file, saved = 24, tmp_path / "late.rec", tmp_path / "replayed.esvm"
    with link(1) as recorded, RecordingWriter(file, _schema(recorded)) as writer:
        recorder = _Recorder(recorded, writer, str(file), 1e9)
        with pytest.raises(LinkDown):
            while True:
                recorder.job.step()
    assert recorder.job.taken == 1200
    argv = ["eval", str(file), "--late-labels", str(window), "--json", "--save", str(saved)]
    assert main(argv) == 0
    report = json.loads(capsys.readouterr().out)

    replayed = load(saved)
    live = type(replayed)(**replayed.get_params(deep=False))
    with link(window) as one:
        runner = taught(one, live, answers=False)
        with pytest.raises(LinkDown):
            while True:
                runner.step()
    assert runner.check_identities() == []
    assert min(runner.pupil.learned, runner.pupil.expired, runner.pupil.unlabelled) > 50
    assert bytes(replayed.arena) == bytes(live.arena)
    assert (report["predicted"], report["accuracy"]) == (
        runner.pupil.score.n,
        runner.pupil.score.accuracy,
    )
    for name in ("labels", "label_matched", "label_expired", "label_duplicate", "label_unknown"):
        assert report["recording"][name] == one.counters[name]
    assert main(["eval", str(file)]) == 0
    assert "labels arrived late" in capsys.readouterr().out
