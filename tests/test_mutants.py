"""The operators make the mistakes they should, and those written by hand still find their text."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PYTHON = '''\
"""A docstring: 1 < 2, and so on."""
import os


def rate(n: int, names: "list[int] | None") -> float:
    """Another: 3 + 4."""
    if n <= 3 and names is not None:
        raise ValueError("n is 5 + 6" + str(n + 7))
    os.nice(n)
    return n * 0.5 if True else f"{n + 8}"
'''

CYTHON = '''\
"""A docstring: 1 < 2."""
from libc.math cimport sqrt

cdef enum Kind:
    FIRST = 3

cdef class Core:
    cdef double *w    # not 4 + 5

    cdef double step(self, const double[::1] x, int n) except -1 nogil:
        """Another: 6 / 7."""
        cdef double room[8], *p = &x[0]
        if n >= 2 and not p == NULL:
            self.n_seen += n
        return <double> n * 0.5

    def kept(self, rows):
        return [row for row in rows if row]
'''

C = """\
#include <math.h>
#if 1 + 1
/* 2 + 3 */
#define TWICE(x) ((x) * 2)
#endif
static double step(const double *x, int n) {
    double sum[4] = "5 + 6";
    if (n > 7 || x) sum += x[n]; // 8 - 9
    sum = (double)n;
}
"""


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "mutants"]:
        del sys.modules[name]


def mutants(folder, file, text):
    from mutants.sources import mutants_of

    (folder / file).write_text(text)
    return mutants_of(file, folder)


def names(folder, file, text):
    return [mutant.name.removeprefix(f"{file}:") for mutant in mutants(folder, file, text)]


def test_python(tmp_path, tools):
    assert names(tmp_path, "a.py", PYTHON) == [
        "7:8 negated",
        "7:10 <= to <",
        "7:13 3 + 1",
        "7:15 and to or",
        "7:25 is not to is",
        "8:9 dropped",
        "9:5 dropped",
        "10:14 * to /",
        "10:16 2 * 0.5",
        "10:23 True to False",
        "10:23 negated",
    ]


def test_cython(tmp_path, tools):
    pytest.importorskip("Cython", reason="no Cython, which parses the sources")
    assert names(tmp_path, "a.pyx", CYTHON) == [
        "12:38 0 + 1",
        "13:12 negated",
        "13:14 >= to >",
        "13:17 2 + 1",
        "13:19 and to or",
        "13:29 == to !=",
        "14:13 dropped",
        "15:27 * to /",
        "15:29 2 * 0.5",
    ]


def test_c(tmp_path, tools):
    assert names(tmp_path, "a.h", C) == [
        "4:23 * to /",
        "4:25 2 + 1",
        "8:9 negated",
        "8:11 > to >=",
        "8:13 7 + 1",
        "8:15 || to &&",
        "9:5 dropped",
    ]


def test_a_mutant_changes_what_its_name_says(tmp_path, tools):
    texts = [m.applied(PYTHON) for m in mutants(tmp_path, "a.py", PYTHON)]
    lines = [text.splitlines() for text in texts]
    assert lines[0][6] == "    if (not (n <= 3 and names is not None)):"
    assert lines[2][6] == "    if n <= (3 + 1) and names is not None:"
    assert lines[5][7] == "        pass"
    for changed in lines:
        assert sum(a != b for a, b in zip(changed, PYTHON.splitlines(), strict=True)) == 1


def test_sources_of_every_kind_have_mutants(tools):
    pytest.importorskip("Cython", reason="no Cython, which parses the sources")
    from mutants.sources import KINDS, mutants_of, source_files

    files = source_files()
    for kind in KINDS:
        of_kind = [file for file in files if file.endswith(kind)]
        assert any(len(mutants_of(file)) > 10 for file in of_kind[-12:]), kind


def test_areas_have_every_source_and_tests_that_are_there(tools):
    from mutants.areas import AREAS, area_of
    from mutants.sources import source_files

    used = {area_of(file).name for file in source_files()} | {"rig"}
    assert used == {area.name for area in AREAS}  # none is hidden behind another
    paths = [path for area in AREAS for path in (*area.files, *area.tests)]
    paths += [arg for area in AREAS for run in area.runs() for arg in run if arg.endswith(".py")]
    assert [path for path in paths if not (ROOT / path).exists()] == []
    registered = (ROOT / "tests" / "conformance" / "registry.py").read_text()
    assert [name for area in AREAS for name in area.learners if name not in registered] == []


def test_those_by_hand_apply_and_belong_to_an_area(tools):
    from mutants.areas import area_of
    from mutants.by_hand import mutants_by_hand

    found = mutants_by_hand()
    assert len({mutant.name for mutant in found}) == len(found) <= 100
    for mutant in found:
        area_of(mutant.file)


@pytest.mark.parametrize("old, new", [("c", "d"), ("= 1", "= 2"), ("a", "a")])
def test_a_text_that_is_gone_is_named(tmp_path, tools, old, new):
    from mutants import by_hand

    (tmp_path / "a.py").write_text("a = 1\nb = 1\n")
    with pytest.raises(LookupError, match=r"a\.py: it is wrong"):
        by_hand.mutant(tmp_path, "a.py", old, new, "it is wrong")


def test_each_equivalent_is_there(tools):
    from fnmatch import fnmatchcase

    from mutants.equivalent import EQUIVALENT
    from mutants.sources import mutants_of

    for pattern in EQUIVALENT:
        names = [mutant.name for mutant in mutants_of(pattern.split(":")[0])]
        assert any(fnmatchcase(name, pattern) for name in names), pattern
