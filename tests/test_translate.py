"""Several modules as C in one process: which are made, and which are left as they are."""

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("Cython")
sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

import translate


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A call that translates a.pyx, which cimports b.pxd, and c.pyx; which of them were made."""
    monkeypatch.chdir(tmp_path)
    Path("build").mkdir()
    Path("a.pyx").write_text("from b cimport two\ndef f():\n    return two()\n")
    Path("b.pxd").write_text("cdef inline int two() noexcept:\n    return 2\n")
    Path("c.pyx").write_text("def g():\n    return 1\n")
    for file in ("a.pyx", "b.pxd", "c.pyx"):
        os.utime(file, (100, 100))

    def call(*options, code=0):
        for c in Path("build").glob("*.c"):
            os.utime(c, (200, 200))
        done = translate.main("build/d", "build", "a.pyx", "c.pyx", "--", "-3", "-I", ".", *options)
        assert done == code
        return sorted(c.stem for c in Path("build").glob("*.c") if c.stat().st_mtime > 200)

    return call


def test_only_what_depends_on_an_edit_is_made_again(made):
    assert made() == ["a", "c"] and made() == []
    for file, of in (("a.pyx", ["a"]), ("b.pxd", ["a"]), ("c.pyx", ["c"])):
        os.utime(file, (300, 300))
        assert made() == of, file
        os.utime(file, (100, 100))
    assert made("-X", "binding=False") == ["a", "c"]
    target, listed = Path("build/d").read_text().split(": ")
    assert target == str(Path("build/a.c")) and {"a.pyx", "b.pxd", "c.pyx"} <= {*listed.split()}


def test_what_has_an_error_is_made_again_once_it_is_right(made, capfd):
    made()
    Path("c.pyx").write_text("def g(:\n")
    assert made(code=1) == [] and "c.pyx:1" in capfd.readouterr().err
    Path("c.pyx").write_text("def g(): pass\n")
    os.utime("c.pyx", (100, 100))
    assert made() == ["c"]
