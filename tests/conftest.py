"""Fixtures that every test folder may use, and the folder of plain helper modules on the path."""

import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parent / "support"
sys.path.insert(0, str(SUPPORT))

from firmware_sim.allocations import build_preload  # noqa: E402


@pytest.fixture(scope="session")
def alloc_preload(tmp_path_factory):
    """The library that counts the C library's allocator calls when preloaded."""
    try:
        return build_preload(tmp_path_factory.mktemp("alloc_preload"))
    except OSError as why:
        pytest.skip(f"the preload counter cannot be built: {why}")
