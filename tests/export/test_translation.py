"""The committed C is what the translator makes of the compiled cores."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRANSLATED = ROOT / "edgesvm" / "export" / "translated"


def translate(*arguments):
    pytest.importorskip("Cython", reason="no Cython, which parses the sources")
    return subprocess.run(
        [sys.executable, "-m", "pyx_to_c", *map(str, arguments)],
        cwd=ROOT / "tools",
        check=False,
        capture_output=True,
        text=True,
    )


def test_the_committed_c_is_up_to_date(tmp_path):
    done = translate(tmp_path)
    assert done.returncode == 0, done.stderr
    made = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    there = {path.name: path.read_text(encoding="utf-8") for path in TRANSLATED.iterdir()}
    assert made == there, "run make translate"


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
