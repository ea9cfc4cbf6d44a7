"""The C that the build makes of the compiled cores, and the Cython that it is made with."""

import re
import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CYTHON = re.compile(r'"Cython>=([\d.]+),<([\d.]+)"')  # as pyproject.toml requires it
RAISE = "Cython {} is out: raise the pin in pyproject.toml after `make test` with it"


def test_what_is_installed_is_what_the_translator_makes_now(tmp_path):
    pytest.importorskip("Cython", reason="no Cython, which parses the sources")
    made, depfile = tmp_path / "made", tmp_path / "depfile"
    command = [sys.executable, "-m", "pyx_to_c", made, depfile]
    done = subprocess.run(command, cwd=ROOT / "tools", check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    installed = files("edgesvm.export") / "translated"
    for goal in ("learn", "decide"):
        now = {path.name: path.read_text(encoding="utf-8") for path in (made / goal).iterdir()}
        there = (installed / goal).iterdir()
        assert now == {path.name: path.read_text(encoding="utf-8") for path in there}
    read = depfile.read_text(encoding="utf-8").split()
    for name in ("core/rows.pxd", "learners/_multiclass.pyx", "learners/stream/constants.py"):
        assert str(ROOT / "edgesvm" / name) in read


def numbers(release):
    return tuple(map(int, re.findall(r"\d+", release)[:2]))


def pin():
    """The first Cython release that is taken, and the first that is not."""
    return CYTHON.search((ROOT / "pyproject.toml").read_text(encoding="utf-8")).groups()


def test_cython_is_one_that_the_translator_is_known_to_read():
    pytest.importorskip("Cython", reason="no Cython, which parses the sources")
    least, beyond = pin()
    here = version("Cython")
    assert numbers(least) <= numbers(here) < numbers(beyond), RAISE.format(here)


@pytest.mark.long
def test_no_newer_cython_is_out():
    command = [sys.executable, "-m", "pip", "index", "versions", "Cython"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    newest = re.match(r"Cython \(([\d.]+)\)", done.stdout, re.IGNORECASE)
    if newest is None:
        pytest.skip("no package index can be reached")
    assert numbers(newest[1]) < numbers(pin()[1]), RAISE.format(newest[1])


def test_an_unknown_node_names_file_and_line(tmp_path):
    pytest.importorskip("Cython", reason="no Cython, which parses the sources")
    code = (
        "import sys; from pathlib import Path; from pyx_to_c import names\n"
        "names.SOURCES = Path(sys.argv[1])\n"
        "from pyx_to_c.program import Program\n"
        "Program([('edgesvm.odd', 'OddCore')], ['step'], [])"
    )
    folder = tmp_path / "edgesvm" / "contract"
    folder.mkdir(parents=True)
    common = ROOT / "edgesvm" / "contract" / "core.pxd"
    (folder / "core.pxd").write_text(common.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "edgesvm" / "odd.pyx").write_text(
        "from edgesvm.contract.core cimport LearnerCore\n"
        "cdef class OddCore(LearnerCore):\n"
        "    cdef int step(self) noexcept nogil:\n"
        "        cdef int i = 1\n"
        "        return i ** 2\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path],
        cwd=ROOT / "tools",
        check=False,
        capture_output=True,
        text=True,
    )
    assert "odd.pyx:5: expression PowNode has no translation" in done.stderr
