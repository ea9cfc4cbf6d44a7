"""What can go wrong: one line on stderr, no traceback, 2 for wrong use and 1 for failure."""

import json
import os
import re
import resource
import subprocess
import sys

import numpy as np
import pytest
from command import complaint
from each import each

from edgesvm import StreamSVM
from edgesvm.cli import link_settings, main
from edgesvm.cli import run as run_command
from edgesvm.errors import LinkDown, SchemaChanged
from edgesvm.serve.process import StatusLine

EDGESVM = [sys.executable, "-m", "edgesvm.cli"]
TWIN = ["64KiB", "--features", "3", "--learner", "twin"]


@pytest.fixture
def snapshot(tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32)
    path = tmp_path / "m.esvm"
    StreamSVM().partial_fit(X, X[:, 0] > 0).save(path)
    return path


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.npz"
    X = np.random.default_rng(0).standard_normal((200, 3)).astype(np.float32)
    np.savez(path, X=X, y=(X[:, 0] > 0).astype(int))
    return path


@pytest.mark.parametrize("command", ["eval", "inspect"])
def test_no_such_file_and_a_folder(command, tmp_path, capsys):
    for name in ("nothing.csv", "nothing.rec"):
        assert name in complaint(capsys, 1, command, tmp_path / name)
    assert str(tmp_path) in complaint(capsys, 1, command, tmp_path)


@each(
    "name, content",
    [
        ("empty.csv", b""),
        ("empty.npz", b""),
        ("text.npz", b"1,2,3\n"),
        ("cut.npz", b"PK\x03\x04" + bytes(100)),
        ("no.rec", b"1,2,3\n" * 30),
        ("noise.csv", bytes(range(256)) * 4),
        ("wide.csv", b"1,2," + b"3" * 200_000 + b"\n"),
        ("ragged.csv", b"1,2,0\n" * 9 + b"1,2\n" * 9),
    ],
)
def test_a_damaged_file_of_rows(name, content, tmp_path, capsys):
    (tmp_path / name).write_bytes(content)
    assert name in complaint(capsys, 1, "eval", tmp_path / name)


@pytest.mark.parametrize("labels", ["abc", "123"])
def test_a_third_label_asks_for_positive(labels, tmp_path, capsys):
    path = tmp_path / "three.csv"
    path.write_text("".join(f"{i}.5,{i % 2},{label}\n" for i, label in enumerate(labels * 3)))
    line = complaint(capsys, 2, "eval", path, "--learner", "stream")
    assert "--positive" in line and "--classes" in line and f"{labels[2]}" in line
    assert main(["eval", str(path), "--positive", labels[1], "--learner", "stream"]) == 0
    assert main(["eval", str(path)]) == 0  # the default takes them as they come


def test_a_label_beyond_classes(tmp_path, capsys):
    path = tmp_path / "four.csv"
    path.write_text("".join(f"{i}.5,{i % 2},{label}\n" for i, label in enumerate("abcd" * 3)))
    line = complaint(capsys, 2, "eval", path, "--classes", 3)
    assert "--classes" in line and "'d'" in line
    assert main(["eval", str(path), "--classes", "4"]) == 0


def test_classes_that_are_not_said_or_contradict(rows, tmp_path, capsys):
    path = tmp_path / "two.csv"
    path.write_text("1,2,on\n2,1,off\n")
    assert "--positive" in complaint(capsys, 2, "eval", rows, "--positive", 1, "--classes", 3)
    told = complaint(capsys, 2, "eval", rows, "--classes", 1)
    assert "--classes: 1: give an integer >= 2" in told
    assert "n_classes=128" in complaint(capsys, 2, "eval", rows, "--classes", 128)
    assert main(["eval", str(path), "--multiclass", "one-vs-rest"]) == 0  # they are counted


def test_positive_that_no_row_has(rows, tmp_path, capsys):
    assert "none of the 200 rows" in complaint(capsys, 2, "eval", rows, "--positive", 7)
    assert "integers" in complaint(capsys, 2, "eval", rows, "--positive", "on")


def test_rows_without_labels(tmp_path, capsys):
    np.savez(tmp_path / "bare.npz", X=np.eye(3))
    save = ("--save", tmp_path / "m.esvm")
    assert "no labels" in complaint(capsys, 2, "eval", tmp_path / "bare.npz", *save)


def test_too_small_a_budget_says_how_many_bytes_would_do(rows, capsys):
    line = complaint(capsys, 2, "eval", rows, "--memory", 20)
    needed = int(line.split("at least ")[1].split(" B")[0])
    complaint(capsys, 2, "eval", rows, "--memory", needed - 1)
    assert main(["eval", str(rows), "--memory", str(needed)]) == 0


@each(
    "argv, word",
    [
        (["plan", "lots", "--features", "3"], "lots"),
        (["plan", "1KiB", "--features", "0"], "--features"),
        (
            ["plan", "--set", "lookahead=4"],
            "ByteSVM has no lookahead; taken by stream: --learner stream --set lookahead=4",
        ),
        (
            ["run", "x", "--set", "dtype=float64"],
            "taken by stream, adagrad, fourier, kernel-stream",
        ),
        (["run", "x", "--C", "10"], "--learner stream --set C=10"),
        (["run", "x", "--kernel=rbf"], "--learner kernel-stream --set kernel=rbf"),
        (
            ["run", "x", "--raw"],
            "byte scales its samples itself; taken by stream, adagrad, fourier",
        ),
        (["eval", "x", "--regress", "--set", "forgetting=0.99"], "taken by rls: --learner rls"),
        (["watch", "x", "--gamma", "1"], "taken by kernel: --learner kernel --set gamma=1"),
        (["run", "x", "--learner", "twinn"], "--learner twinn: did you mean twin?"),
        (["run", "x", "--learner", "StreemSVM"], "did you mean stream?"),
        (["run", "x", "--learner", "FourierSVR"], "predicts numbers: give --regress"),
        (["run", "x", "--lerner", "twin"], "did you mean --learner?"),
        (["plan", "--set", "C=-1", "--learner", "stream"], "--set C=-1: give a number > 0"),
        (["plan", "--set", "dtype=float16"], "--set dtype=float16: give 'float32'"),
        (
            ["plan", "64KiB", "--features", "3", "--learner", "stream", "--set", "lookahead=-1"],
            "lookahead",
        ),
        (["plan", *TWIN, "--set", "C=ten"], "--set C=ten: C is a number"),
        (["plan", *TWIN, "--set", "max_twins=many"], "max_twins=many: max_twins is an integer"),
        (["plan", *TWIN, "--set", "max_margin=few"], "max_margin is an integer or none"),
        (["plan", *TWIN, "--set", "control_C=maybe"], "control_C is true or false"),
        (["plan", *TWIN, "--set", "max_twins=0"], "max_twins=0: give an integer from"),
        (
            ["plan", *TWIN, "--set", "twins=4"],
            "TwinVectorMachine has no twins; did you mean max_twins?",
        ),
        (["plan", *TWIN, "--set", "C"], "C: give NAME=VALUE"),
        (["run", "a", "b", "--save", "m.esvm"], "name their files with {port}"),
        (["run", "a", "b", "--checkpoint", "m.ckpt"], "name their files with {port}"),
        (["run", "a", "b", "--one-model", "--save", "{port}"], "there is one file"),
        (["run", "a", "b", "--one-model", "--window", "10"], "a window is of one port"),
        (["run", "/dev/a", "/dev/a"], "one name: a, a"),
        (["run", "a", "--checkpoint", "m", "--every", "0"], "60s"),
        (["run", "a", "--checkpoint", "m", "--every", "1h"], "60s"),
        (["run", "a", "--checkpoint", "/nonexistent/m"], "the folder /nonexistent does not exist"),
        (["run", "a", "--checkpoint", "/"], "not a regular file"),
        (["run", "a", "--checkpoint-second", "m"], "needs --checkpoint"),
        (["watch", "a", "--learn", "5x"], "give a time, such as 5m"),
        (["watch", "a", "--learn", "0"], "give a time, such as 5m"),
        (["watch", "a", "--alarm", "5/3"], "give K/N"),
        (["watch", "a", "--hop", "10"], "give --window"),
        (["watch", "a", "--alarm-rate", "2/year"], "alarm rate"),
        (["watch", "a", "--clock", "--window", "100"], "--clock is of samples"),
        (["watch", "a", "--clock", "moon"], "moon: give host, sample"),
        (["plot", "m.esvm"], "are required: -o/--out"),
        (["record", "/dev/null", "x.csv"], ".rec"),
        (["record", "/dev/null", "/nonexistent/x.rec"], "the folder /nonexistent does not exist"),
        (["record", "/dev/null", "x.rec", "--sync", "0"], "> 0"),
        (["eval", "x", "--cost", "on"], "give LABEL=NUMBER"),
        (["eval", "x", "--cost", "on="], "give LABEL=NUMBER"),
        (["eval", "x", "--cost", "=2"], "give LABEL=NUMBER"),
        (["eval", "x", "--cost", "on=x"], "give LABEL=NUMBER"),
        (["eval", "x", "--cost", "on=2,"], "give LABEL=NUMBER"),
        (["eval", "x", "--cost", "on=nan"], "give LABEL=NUMBER"),
        (
            ["eval", "x", "--regress", "--learner", "twin"],
            "--learner twin tells classes apart: with --regress give --learner fourier, rls",
        ),
        (["eval", "x", "--regress", "--classes", "3"], "--classes does not go with --regress"),
        (["eval", "x", "--regress", "--sets", "0.9"], "--sets does not go with --regress"),
        (["eval", "x", "--regress", "--probabilities"], "--probabilities does not go with"),
        (["eval", "x", "--regress", "--window", "16"], "--window does not go with --regress"),
        (["eval", "x", "--regress", "--drift"], "--drift does not go with --regress"),
        (["eval", "x", "--regress", "--positive", "1"], "--positive does not go with --regress"),
        (["run", "/dev/null", "--baud", "0"], "--baud"),
        (["run", "/dev/null", "--ring", "0"], "--ring"),
        (["run", "/dev/null", "--samples", "-1"], "--samples"),
        (["run", "/dev/null", "--wait", "0"], "--wait"),
        (
            ["run", "/dev/null", "--save", "/nowhere/at/all/m.esvm"],
            "the folder /nowhere/at/all does not exist",
        ),
        (["run", "/dev/null", "--save", "/dev/null"], "not a regular file"),
        (["run", "gopher://x"], "gopher"),
        (["eval", "x.csv", "--last", "0"], "--last"),
        (["eval", "x.csv", "--samples", "0"], "--samples"),
        (
            ["eval", "x.csv", "--plot", "/nowhere/at/all/a.png"],
            "the folder /nowhere/at/all does not exist",
        ),
        (["simulate", "--signal", "smell"], "smell"),
        (["simulate", "--profile", "cray"], "cray"),
        (["simulate", "--faults", "all"], "all"),
        (["simulate", "--fault", "flip=2"], "from 0 to 1"),
        (["simulate", "--baud", "99999999"], "supports at most"),
    ],
)
def test_wrong_use(argv, word, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert word in complaint(capsys, 2, *argv)


@each(
    "words, word",
    [
        (["--out", "file.txt"], "give jsonl:FILE"),
        (["--out", "jsonl:"], "give jsonl:FILE"),
        (["--out", "jsonl:/no/such/f"], "does not exist"),
        (["--out", "exec:tee"], "give jsonl:FILE"),
        (["--out-when", "never"], "give every, change"),
        (["--out-when", "0"], "give every, change"),
        (["--out", "jsonl:-", "--json"], "both write standard output"),
        (["--out", "mqtt://h/t", "--out", "mqtt://h/t"], "twice"),
        (["--checkpoint", "m", "--save", "m"], "--save and --checkpoint are both m: use two"),
        (["--checkpoint", "m", "--checkpoint-second", "m"], "are both m: use two files"),
        (["--out", "jsonl:m", "--checkpoint", "m"], "--out and --checkpoint are both m: use two"),
        (["--out", "jsonl:m", "--out", "jsonl:./m"], "--out and --out are both ./m: use two"),
    ],
)
def test_wrong_use_of_files_and_sinks(words, word, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for command in ("run", "watch"):
        assert word in complaint(capsys, 2, command, "/no/port", *words)


@pytest.mark.parametrize("port", ["/dev/no-such-port", "/dev/null", "socket://127.0.0.1:1"])
def test_a_port_that_is_not_there(port, capsys):
    assert port in complaint(capsys, 1, "run", port)


def test_a_full_disk_leaves_the_old_snapshot(rows, snapshot):
    """A limit on the size of a file stands for the disk; Python ignores SIGXFSZ."""
    before = snapshot.read_bytes()

    def no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    done = subprocess.run(
        [*EDGESVM, "eval", str(rows), "--save", str(snapshot)],
        preexec_fn=no_room,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1 and "File too large" in done.stderr
    assert snapshot.read_bytes() == before
    assert sorted(path.name for path in snapshot.parent.iterdir()) == ["m.esvm", "rows.npz"]


@each("command", ["run", "watch --label last --learn 20 --alarm-rate 0.05 --rate 1"])
@each("files", [["--save"], ["--checkpoint"], ["--checkpoint", "--save"]])
def test_a_save_that_never_worked_is_said_counted_and_the_exit_code(command, files, rows, tmp_path):
    command, *options = command.split()
    options += [word for option in files for word in (option, tmp_path / option)]
    done = subprocess.run(
        [*EDGESVM, command, rows, *options, "--quiet", "--json"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    for option in files:
        assert re.search(f"(?m)^edgesvm: .*too large: '{tmp_path / option}", done.stderr)
    counters = json.loads(done.stdout.splitlines()[-1])["counters"]
    assert counters["unsaved"] == len(files) and counters.get("saves", 0) == 0


@pytest.mark.parametrize(
    ("argv", "code"), [(["plan", "1KiB", "--features", "3"], 1), (["--help"], 0)]
)
def test_nobody_reads_the_output(argv, code):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as gone:
        done = subprocess.run(
            [*EDGESVM, *argv], stdout=gone, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (code, "")


def test_a_learner_larger_than_the_machine(rows):
    def small():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    argv = ["eval", str(rows), "--learner", "kernel-stream", "--memory", "4GiB"]
    argv += ["--set", "when_full=share"]  # the form without a matrix of M^2
    done = subprocess.run(
        [*EDGESVM, *argv, "--set", "max_vectors=16000000", "--set", "dtype=float64"],
        preexec_fn=small,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert "not enough memory" in done.stderr


class Terminal:
    """A stderr that is a terminal so many columns wide."""

    def __init__(self, fd):
        self.fd, self.text = fd, ""

    def isatty(self):
        return True

    def fileno(self):
        return self.fd

    def write(self, text):
        self.text += text

    def flush(self):
        """Nothing is held back."""


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
@pytest.mark.parametrize("columns", [20, 80, 200])
def test_the_live_line_is_cut_to_the_terminal(columns, monkeypatch):
    import fcntl
    import struct
    import termios

    master, slave = os.openpty()
    try:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        monkeypatch.setattr(sys, "stderr", terminal := Terminal(slave))
        StatusLine().show(lambda: "x" * 150)
    finally:
        os.close(master)
        os.close(slave)
    assert terminal.text == "\r\x1b[K" + "x" * min(150, columns - 1)


@pytest.mark.parametrize(
    "command", [["run", "PORT"], ["record", "PORT", "a.rec"]], ids=lambda c: c[0]
)
def test_the_speed_and_the_time_of_a_silence_reach_the_link(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    asked = []

    def open_link(*_, baud, silent_after, stale_after, **__):
        asked.append((baud, silent_after, stale_after))
        raise LinkDown("no port here")

    monkeypatch.setattr(link_settings, "open_link", open_link)
    for given in ([], ["--stale", "30"], ["--stale", "2", "--baud", "9600"]):
        complaint(capsys, 1, *command, *given)
    assert asked == [(115200, 5.0, None), (115200, 30.0, 30.0), (9600, 5.0, 2.0)]
    complaint(capsys, 2, *command, "--stale", "0")
    assert len(asked) == 3


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
def test_a_sketch_that_prints_lines_points_to_the_option(capsys):
    master, slave = os.openpty()
    try:
        os.write(master, b"1.5,2.5,0\n" * 20)
        line = complaint(capsys, 1, "run", os.ttyname(slave), "--wait", "0.05")
        assert "no SCHEMA" in line and "--text" in line
    finally:
        os.close(master)
        os.close(slave)


@each("given", [(), ("--other-width", "restart")])
def test_a_node_with_other_samples_ends_a_run_or_begins_a_new_model(
    given, tmp_path, capsys, monkeypatch
):
    """The files of the old model are kept."""
    saved, checkpoint = tmp_path / "m.esvm", tmp_path / "m.ckpt"
    runs = []

    def served(settings):
        runs.append([path.exists() for path in (saved, checkpoint)])
        if len(runs) == 2:
            return 0
        saved.write_text("of two features")
        checkpoint.write_text("of two, too")
        raise SchemaChanged("the node now sends 3 features per sample instead of 2")

    monkeypatch.setattr(run_command, "run", served)
    words = ["run", "port", "--save", str(saved), "--checkpoint", str(checkpoint), *given]
    assert main(words) == (0 if given else 1)
    assert "now sends 3 features" in capsys.readouterr().err
    assert runs == [[False, False]] * (2 if given else 1)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == (["m.ckpt.old", "m.esvm.old"] if given else ["m.ckpt", "m.esvm"])


def test_starting_over_is_for_one_port(capsys):
    assert main(["run", "a", "b", "--other-width", "restart"]) == 2
    assert "--other-width restart is for one port" in capsys.readouterr().err
