"""Key files: what is written, what is read, and what is refused."""

import os

import pytest
from each import each

from edgesvm.link.keyed import read_key, write_new_key

posix = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")


def test_a_new_key_is_random_its_owner_s_and_never_replaced(tmp_path):
    key = write_new_key(tmp_path / "a")
    assert len(key) == 16 and read_key(tmp_path / "a") == key
    assert write_new_key(tmp_path / "b") != key
    if os.name == "posix":
        assert os.stat(tmp_path / "a").st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        write_new_key(tmp_path / "a")
    assert read_key(tmp_path / "a") == key


@posix
def test_a_key_is_not_written_through_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(FileExistsError):
        write_new_key(tmp_path / "link")
    assert not (tmp_path / "target").exists()


def test_sixteen_bytes_as_head_writes_them(tmp_path):
    path = tmp_path / "k"
    path.write_bytes(bytes(range(16)))
    path.chmod(0o600)
    assert read_key(path) == bytes(range(16))


@posix
@each("mode", [0o640, 0o604, 0o620, 0o610, 0o666])
def test_a_key_that_others_can_reach_is_refused(tmp_path, mode):
    path = tmp_path / "k"
    write_new_key(path)
    path.chmod(mode)
    with pytest.raises(PermissionError, match=f"mode {mode:03o}.*chmod 600"):
        read_key(path)


@each("content", [b"", bytes(15), bytes(17), b"0" * 31, b"zz" * 16, b"0" * 34])
def test_what_is_no_key_is_refused(tmp_path, content):
    path = tmp_path / "k"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(ValueError, match="is not a key"):
        read_key(path)
