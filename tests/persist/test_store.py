"""Saving, where the disk fails: the old file stays as it was and nothing is left behind."""

import errno
import os
import socket
import stat
import subprocess
import sys
import textwrap
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from each import each

from edgesvm import CorruptModelError, MemoryBudgetError, StreamSVM, load
from edgesvm.link import Recording
from edgesvm.persist import inspect, is_checkpoint


def learned(seed, n_features=50):
    rng = np.random.default_rng(seed)
    return StreamSVM(bound="lower").partial_fit(
        rng.standard_normal((20, n_features)), rng.choice(["a", "b"], 20)
    )


@pytest.fixture
def old(tmp_path):
    """A saved model, and the bytes of its file."""
    path = tmp_path / "model.esvm"
    learned(1).save(path)
    return path, path.read_bytes()


def check_old_stands(path, data):
    assert path.read_bytes() == data
    assert os.listdir(path.parent) == [path.name]


class Fails:
    """Stands for a function of os; fails at its n-th call, then works again, or never does."""

    def __init__(self, real, nth, error, for_ever=False):
        self.real, self.nth, self.error, self.for_ever, self.calls = real, nth, error, for_ever, 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        if self.calls == self.nth or (self.for_ever and self.calls > self.nth):
            raise OSError(self.error, os.strerror(self.error))
        return self.real(*args, **kwargs)


@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for ever"])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT])
@pytest.mark.parametrize("function", ["open", "fsync", "replace"])
def test_each_call_that_can_fail_before_the_new_file_is_in_place(
    function, error, for_ever, old, monkeypatch
):
    monkeypatch.setattr(os, function, Fails(getattr(os, function), 1, error, for_ever))
    with pytest.raises(OSError) as caught:
        learned(2).save(old[0])
    monkeypatch.undo()
    assert caught.value.errno == error
    assert function != "fsync" or caught.value.filename == str(old[0])
    check_old_stands(*old)
    learned(2).save(old[0])  # and the next save works
    assert load(old[0]).nbytes == learned(2).nbytes


def test_folder_cannot_be_synced(old, monkeypatch):
    """The rename is done and cannot be taken back: the caller hears of it, the new file is
    whole.
    """
    failing = Fails(os.fsync, 2, errno.EIO)
    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(OSError) as caught:
        learned(2).save(old[0])
    assert str(caught.value) == f"[Errno 5] Input/output error: '{old[0].parent}'"
    assert failing.calls == 2
    assert bytes(load(old[0]).arena) == bytes(learned(2).arena)
    assert os.listdir(old[0].parent) == [old[0].name]


def test_order_of_calls(old, monkeypatch):
    """Synced before it is renamed, the folder after: else a power cut could leave an empty file by
    that name.
    """
    calls = []
    real = {name: getattr(os, name) for name in ("fsync", "replace")}

    def recording(name):
        def call(*args):
            kind = name
            if name == "fsync":
                kind += " folder" if stat.S_ISDIR(os.fstat(args[0]).st_mode) else " file"
            calls.append(kind)
            return real[name](*args)

        return call

    for name in real:
        monkeypatch.setattr(os, name, recording(name))
    learned(2).save(old[0])
    assert calls == ["fsync file", "replace", "fsync folder"]


def test_killed_while_writing(old):
    """The old file is left, whole; the next save removes what this one left."""
    script = textwrap.dedent("""
        import os, signal, sys
        from edgesvm import load
        setattr(os, sys.argv[2], lambda *args: os.kill(os.getpid(), signal.SIGKILL))
        model = load(sys.argv[1])
        model.learn_one([2.0] * 50, "a")
        model.save(sys.argv[1])
    """)
    path, data = old
    for function in ("fsync", "replace"):
        command = [sys.executable, "-c", script, str(path), function]
        assert subprocess.run(command, check=False).returncode == -9
        assert path.read_bytes() == data and len(os.listdir(path.parent)) == 2
    learned(2).save(path)
    assert os.listdir(path.parent) == [path.name]


def test_model_that_could_not_be_loaded(old):
    model = learned(2)
    model.core.views["w"][0] = np.inf
    with pytest.raises(CorruptModelError, match=r"could not be loaded again.*'w'"):
        model.save(old[0])
    check_old_stands(*old)


def test_inspect_tells_without_learning_state(old):
    snapshot, learner, plan = inspect(old[0])
    assert (snapshot.learner, snapshot.n_features, snapshot.labels) == (
        "StreamSVM",
        50,
        learned(1).core.labels.in_slots,
    )
    assert plan.total == len(snapshot.arena) == learned(1).nbytes
    assert learner.nbytes == 0
    assert repr(learner) == "StreamSVM()"
    assert repr(StreamSVM(C=1 / 7)) == "StreamSVM(C=0.142857)"


def test_permissions_are_those_of_the_old_file_or_of_any_new_one(tmp_path):
    learner = StreamSVM().partial_fit([[0.0], [1.0]], [0, 1])
    plain, path = tmp_path / "plain", tmp_path / "model.esvm"
    plain.write_bytes(b"")
    learner.save(path)
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o640)
    learner.save(path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_device_or_a_pipe_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileExistsError, match="not a regular file"):
        StreamSVM().partial_fit([[0.0], [1.0]], [0, 1]).save(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@each("kind", ["pipe", "socket", "device", "folder"])
def test_what_is_not_a_file_is_one_error_at_once(tmp_path, kind):
    """Opening a pipe waits for its other end; a device may give bytes without end."""
    path = tmp_path / "model"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(path))
    elif kind == "device":
        path = Path("/dev/zero")
    else:
        path.mkdir()
    for read in (load, is_checkpoint, Recording):
        with pytest.raises(OSError):
            read(path)


@pytest.mark.parametrize("start", [b"", b"ESVMSNAP", "whole"])
def test_of_a_sparse_file_only_the_header_is_read(old, start):
    path, data = old
    path.write_bytes(data if start == "whole" else start)
    os.truncate(path, 1 << 30)
    tracemalloc.start()
    try:
        with pytest.raises(CorruptModelError):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_learner_beyond_the_limit_is_refused_by_its_header(old):
    path, data = old
    n_bytes = learned(1).nbytes
    assert load(path, max_bytes=n_bytes).nbytes == n_bytes
    path.write_bytes(data[:-1] + b"?")  # its CRC is not looked at
    with pytest.raises(MemoryBudgetError, match=f"the limit is .*{n_bytes - 1:,} B") as e:
        load(path, max_bytes=n_bytes - 1)
    assert (e.value.required, e.value.available) == (n_bytes, n_bytes - 1)


def test_a_temporary_file_of_a_living_process_is_left_alone(old, monkeypatch):
    path, _ = old
    real = os.replace

    def another_save_meanwhile(*names):
        monkeypatch.setattr(os, "replace", real)
        learned(3).save(path)
        real(*names)

    monkeypatch.setattr(os, "replace", another_save_meanwhile)
    learned(2).save(path)
    assert bytes(load(path).arena) == bytes(learned(2).arena)
    assert os.listdir(path.parent) == [path.name]
