"""Fixtures that every test folder may use, and the folder of plain helper modules on the path."""

import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parent / "support"
sys.path.insert(0, str(SUPPORT))

import native  # noqa: E402


@pytest.fixture(scope="session")
def alloc_preload(tmp_path_factory):
    """The library that counts the C library's allocator calls when preloaded."""
    if not sys.platform.startswith("linux"):
        pytest.skip("LD_PRELOAD counting needs Linux")
    source = SUPPORT / "alloc_preload.c"
    library = tmp_path_factory.mktemp("alloc_preload") / "alloc_preload.so"
    try:
        return native.compile_c(source, library, "-shared", "-fPIC", "-fno-builtin")
    except native.Unavailable as why:
        pytest.skip(f"the preload counter cannot be built: {why}")
