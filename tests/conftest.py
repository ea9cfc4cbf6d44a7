"""Fixtures that every test folder may use, and the folder of plain helper modules on the path."""

import gc
import os
import signal
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
SUPPORT = HERE / "support"
# for processes that tests start
os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *os.environ.get("PYTHONPATH", "").split()])
# Folders and files whose tests may run at the same time as any other. The rest open
# pseudo-terminals, where a reopened /dev/pts/N may be another test's, or time processes: one worker
# has them all. A test that does so in a folder of this list has the mark itself.
APART = {
    "benchmarks",
    "compat",
    "conformance",
    "contract",
    "cli/test_plot.py",
    "core",
    "data",
    "docs",
    "examples/test_read_snapshot.py",
    "export",
    "firmware_sim/line/test_faults.py",
    "firmware_sim/line/test_line.py",
    "firmware_sim/node/test_node.py",
    "firmware_sim/node/test_raw_signals.py",
    "fuzz",
    "learners",
    "link/test_frames.py",
    "link/test_lines.py",
    "link/test_link.py",
    "link/test_samples.py",
    "persist",
    "preprocessing",
    "regression",
    "rig/test_end_to_end.py",
    "serve/test_journal.py",
    "serve/test_score.py",
    "serve/test_taught.py",
    "support",
    "test_budget.py",
    "test_docstrings.py",
    "test_floors.py",
    "test_readme.py",
    "test_wheel.py",
}
# Seconds that a long test may take: minutes of a processor, of which other work may leave a tenth.
LONG_S = 3600
# HERE has `reference` and `rig`. Its parent has `tools`, and is last: an installed wheel is tested,
# not the package in the tree.
sys.path[:0] = [str(HERE), str(SUPPORT)]
sys.path.append(str(HERE.parent))

from allocations import build_preload  # noqa: E402

import reference  # noqa: E402, F401  (the engine of that name)

# An example's time says how busy the machine is, or how slow under a sanitizer or an emulator.
settings.register_profile("any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any speed")


def pytest_addoption(parser):
    parser.addoption("--share", type=float, default=1.0, help="of the long tests, by their names")


def pytest_configure():
    """Under nohup, or in the background of a script, signals arrive ignored; the processes that
    tests start would inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config, items):
    left_out, limit = [], config.getoption("--share") * 2**32
    for item in items:
        if item.get_closest_marker("long"):
            if not item.get_closest_marker("timeout"):
                item.add_marker(pytest.mark.timeout(LONG_S))
            if zlib.crc32(item.nodeid.encode()) >= limit:
                left_out.append(item)
        path = item.path.relative_to(HERE)
        if APART.isdisjoint((path.parts[0], path.as_posix())):
            item.add_marker(pytest.mark.xdist_group("one at a time"))
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]


def pytest_collection_finish():
    """The thousands of items live to the end. Tests that count have the collector run often; it
    need not go through them each time.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def alloc_preload(tmp_path_factory):
    """The library that counts the C library's allocator calls when preloaded."""
    try:
        return build_preload(tmp_path_factory.mktemp("alloc_preload"))
    except OSError as why:
        pytest.skip(f"the preload counter cannot be built: {why}")
