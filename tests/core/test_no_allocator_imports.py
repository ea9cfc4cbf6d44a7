"""No compiled module can call an allocator in a step: it imports none, and no source names one.

What this cannot see: calls through NumPy's function table. The counters in tests/conformance see
those.
"""

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

import edgesvm
from firmware_sim.limits import _alloc_hooks

PACKAGE = Path(edgesvm.__file__).parent
SOURCES = Path(__file__).parents[2] / "src" / "edgesvm"

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

# Cython's memoryview class, which comes with any typed memoryview, refers to these
# (`cython.view.array`, a copy of overlapping slices). Each module that has it says here why no step
# goes through it.
MEMORYVIEW = {"malloc", "PyObject_Malloc"}
ALLOWED = {
    **{
        f"edgesvm.core.{name}": (MEMORYVIEW, "test doors only; learners cimport the C functions")
        for name in ("kernels", "linalg", "rng")
    },
    **{
        f"edgesvm.ingest.{name}": (MEMORYVIEW, "one view a chunk read from a port, none a frame")
        for name in (
            *("_crc32", "_decimal", "_frames", "_late"),
            *("_lines", "_outbox", "_ring", "_samples"),
        )
    },
    "edgesvm.ingest._guard": (MEMORYVIEW, "one view per key and control frame, none per sample"),
}


def extensions(folder):
    return sorted(folder.rglob(f"*{sysconfig.get_config_var('EXT_SUFFIX')}"))


def module_name(path):
    return ".".join([*path.relative_to(PACKAGE.parent).parent.parts, path.name.split(".")[0]])


def imported_allocators(library):
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("no nm on the path")
    listing = subprocess.run([nm, "-D", "-u", library], capture_output=True, text=True, check=True)
    symbols = (line.split()[-1].split("@")[0] for line in listing.stdout.splitlines())
    return ALLOCATORS.intersection(symbols)


@pytest.mark.parametrize("library", extensions(PACKAGE), ids=module_name)
def test_module_imports_no_allocator(library):
    allowed, _why = ALLOWED.get(module_name(library), (set(), ""))
    assert imported_allocators(library) - ALLOWED_EVERYWHERE - allowed == set()


def test_the_package_has_compiled_modules():
    assert "edgesvm.core.linalg" in map(module_name, extensions(PACKAGE))


def test_every_exception_is_still_needed():
    found = {module_name(library): imported_allocators(library) for library in extensions(PACKAGE)}
    assert {name for name, symbols in found.items() if symbols - ALLOWED_EVERYWHERE} == set(ALLOWED)


def test_a_module_that_allocates_is_noticed():
    """The control: the counting module takes blocks in C and in every domain."""
    found = imported_allocators(_alloc_hooks.__file__)
    assert {"malloc", "PyMem_RawMalloc", "PyObject_Malloc"} <= found


@pytest.mark.parametrize("pattern", ["*.pyx", "*.pxd", "*.h", "*.c"])
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
