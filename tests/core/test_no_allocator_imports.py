"""No compiled module can call an allocator in a step: it imports none, and no source names one.

What this cannot see: calls through NumPy's function table. The counters in tests/conformance see
those.
"""

import importlib.util
import pkgutil
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from each import each

import edgesvm

SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
SOURCES = Path(__file__).parents[2] / "edgesvm"

ALLOCATORS = {
    *("malloc", "calloc", "realloc", "reallocarray", "strdup", "strndup", "mmap", "brk", "sbrk"),
    *("memalign", "posix_memalign", "aligned_alloc", "valloc", "pvalloc"),
    *("PyMem_Malloc", "PyMem_Calloc", "PyMem_Realloc"),
    *("PyMem_RawMalloc", "PyMem_RawCalloc", "PyMem_RawRealloc"),
    *("PyObject_Malloc", "PyObject_Calloc", "PyObject_Realloc"),
}

# Cython's own helpers refer to these three in every module: the cache of code objects for
# tracebacks, keyword arguments passed to a foreign callable, merged vtables at import. No learned
# step raises, passes keywords or imports.
ALLOWED_EVERYWHERE = {"PyMem_Malloc", "PyMem_Realloc"}

# Of Cython's memoryview class, which is there once for all modules: `cython.view.array`, and a copy
# of overlapping slices. No step makes either; functions for tests make a view, and
# a port does once a chunk read.
MEMORYVIEW = {
    ("__pyx_array_allocate_buffer", "malloc"),
    ("__pyx_memoryview_copy_data_to_temp", "malloc"),
    ("__pyx_tp_new_vectorcall_array", "PyObject_Malloc"),
}
FUNCTION = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
CALL = re.compile(r"<(\w+)@plt>$")


def compiled():
    """The files of all compiled modules."""
    found = [
        importlib.util.find_spec(m.name)
        for m in pkgutil.walk_packages(edgesvm.__path__, "edgesvm.")
    ]
    return [spec.origin for spec in found if spec.origin.endswith(SUFFIX)]


def listing(tool, *arguments):
    program = shutil.which(tool)
    if program is None:
        pytest.skip(f"no {tool} on the path")
    return subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, check=True
    ).stdout.splitlines()


def imported_allocators(library):
    symbols = (line.split()[-1].split("@")[0] for line in listing("nm", "-D", "-u", library))
    return ALLOCATORS.intersection(symbols)


def callers(library):
    """(function, allocator) of each call in the machine code."""
    found, function = set(), ""
    for line in listing("objdump", "-d", "--no-show-raw-insn", library):
        if header := FUNCTION.match(line):
            function = header[1].split(".")[0]
        elif (call := CALL.search(line)) and call[1] in ALLOCATORS:
            found.add((function, call[1]))
    return found


def test_the_compiled_modules_import_no_other_allocator():
    called = {name for _, name in MEMORYVIEW}
    imported = set().union(*map(imported_allocators, compiled()))
    assert imported == ALLOWED_EVERYWHERE | called


def unstripped(library):
    """The library, if its functions have names."""
    if not listing("nm", library):
        pytest.skip("this build is stripped: functions have no names")
    return library


def test_only_a_memoryview_of_cython_calls_them():
    found = set().union(*(callers(unstripped(path)) for path in compiled()))
    assert {pair for pair in found if pair[1] not in ALLOWED_EVERYWHERE} == MEMORYVIEW
    assert any(name in ALLOWED_EVERYWHERE for _, name in found)  # calls are seen


def test_a_module_that_allocates_is_noticed():
    """The control: NumPy takes blocks in C and in every domain."""
    (numpys,) = Path(np.__file__).parent.glob(f"*core/_multiarray_umath{SUFFIX}")
    found = imported_allocators(numpys)
    assert {"malloc", "PyMem_RawMalloc", "PyObject_Malloc"} <= found


@each("pattern", ["*.pyx", "*.pxd", "*.h", "*.c"])
def test_no_source_names_an_allocator(pattern):
    named = re.compile(
        r"\b(malloc|calloc|realloc|memalign|aligned_alloc|alloca)\b|Py(Mem|Object|DataMem)_\w*([aA]lloc|NEW)"
    )
    offenders = [
        f"{path.relative_to(SOURCES)}:{number}: {line.strip()}"
        for path in sorted(SOURCES.rglob(pattern))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if named.search(line)
    ]
    assert offenders == []
