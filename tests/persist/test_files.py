"""Claims and temporary files: one process at a time, whatever happens between two system calls."""

import fcntl
import os

import pytest

from edgesvm.persist import files
from edgesvm.persist.files import Claim, create_temporary


def before_the_lock(monkeypatch, act):
    """Have another process act between the opening of a file and its lock, once."""
    real = fcntl.flock

    def flock(descriptor, operation):
        monkeypatch.setattr(fcntl, "flock", real)
        act()
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.mark.parametrize("exists", [False, True])
def test_a_file_replaced_before_it_was_locked_is_not_claimed(tmp_path, monkeypatch, exists):
    path, new = tmp_path / "file", tmp_path / "new"
    new.write_bytes(b"theirs")
    if exists:
        path.write_bytes(b"old")
    before_the_lock(monkeypatch, lambda: os.replace(new, path))
    with Claim(str(path)) as claim:
        assert os.pread(claim.descriptor, 9, 0) == b"theirs"


def test_a_file_removed_before_it_was_locked_is_created_again(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    before_the_lock(monkeypatch, path.unlink)
    with Claim(str(path)) as claim:
        assert files.is_at(claim.descriptor, path)
    assert not path.exists()  # it was never written


def test_a_file_created_by_another_at_the_same_moment(tmp_path, monkeypatch):
    """It is claimed if the other has let it go, and refused if not."""
    path = tmp_path / "file"
    real = os.open

    def slow(name, flags, *mode, **more):
        if flags & os.O_CREAT and not path.exists():
            path.write_bytes(b"theirs")
        return real(name, flags, *mode, **more)

    monkeypatch.setattr(os, "open", slow)
    with Claim(str(path)) as claim:
        assert os.pread(claim.descriptor, 9, 0) == b"theirs"
        with pytest.raises(BlockingIOError, match=f"pid {os.getpid()}"):
            Claim(str(path))


def test_a_temporary_file_taken_for_abandoned_before_it_was_locked(tmp_path, monkeypatch):
    path = str(tmp_path / "file")
    before_the_lock(monkeypatch, lambda: files._remove_abandoned(path))
    descriptor, name = create_temporary(path)
    assert files.is_at(descriptor, name) and os.listdir(tmp_path) == [os.path.basename(name)]
    os.close(descriptor)


def test_a_system_that_does_not_name_the_holder(tmp_path, monkeypatch):
    path = str(tmp_path / "file")
    monkeypatch.setattr(files, "_holder", lambda descriptor: "")
    with Claim(path), pytest.raises(BlockingIOError, match=r"another process$"):
        Claim(path)


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def flock(descriptor, operation):
        raise OSError(95, "Operation not supported")

    path = str(tmp_path / "file")
    left = tmp_path / "file.0123abcd.tmp"
    left.write_bytes(b"perhaps in use")
    monkeypatch.setattr(fcntl, "flock", flock)
    with Claim(path):
        descriptor, _ = create_temporary(path)
        os.close(descriptor)
    assert left.exists()  # no way to tell that it is abandoned
