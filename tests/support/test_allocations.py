"""The counters themselves: an idle loop counts a constant, one block a call counts every block."""

import pytest
from allocations import SAMPLES, hook_calls, preload_calls

from firmware_sim.limits import _alloc_hooks

NOTHING = """
import numpy as np
samples = [np.full(16, float(i)) for i in range(50)]
cases = {"one argument": (lambda x: None, (samples,)),
         "two arguments": (lambda x, y: None, (samples, [1, -1]))}
"""

CONTROLS = """
from firmware_sim.limits import _alloc_hooks as alloc_hooks
import numpy as np
samples = [np.full(16, float(i)) for i in range(50)]
cases = {name: (getattr(alloc_hooks, name), (samples,)) for name in
         ("take_in_c", "take_in_domains", "take_by_view")}
"""


def test_hooks_count_nothing_in_an_idle_loop():
    for name, calls in hook_calls(NOTHING).items():
        assert calls.excess == (0, 0), name
        assert calls.control < 50, name


def test_hooks_count_every_python_block_and_no_c_block():
    calls = hook_calls(CONTROLS)
    assert calls["take_in_domains"].excess == (3 * SAMPLES, 3 * SAMPLES)
    assert calls["take_in_c"].excess == (0, 0)
    assert calls["take_by_view"].excess[0] >= SAMPLES


def test_preload_counts_nothing_in_an_idle_loop(alloc_preload):
    for through_malloc in (True, False):
        for name, calls in preload_calls(
            NOTHING, alloc_preload, through_malloc=through_malloc
        ).items():
            assert calls.control < 100, name
            assert max(map(abs, calls.excess)) <= calls.control, name


def test_preload_counts_every_c_block(alloc_preload):
    every = preload_calls(CONTROLS, alloc_preload, through_malloc=True)
    system = preload_calls(CONTROLS, alloc_preload, through_malloc=False)
    for calls, case, expected in (
        (every, "take_in_c", SAMPLES),
        (system, "take_in_c", SAMPLES),
        (every, "take_in_domains", 3 * SAMPLES),
        (system, "take_in_domains", SAMPLES),  # pymalloc serves the other two domains itself
    ):
        taken, freed = calls[case].excess
        assert abs(taken - expected) <= calls[case].control
        assert abs(freed - expected) <= calls[case].control
    assert every["take_by_view"].excess[0] >= SAMPLES


def test_hooks_refuse_to_nest():
    _alloc_hooks.start()
    try:
        with pytest.raises(RuntimeError, match="already"):
            _alloc_hooks.start()
    finally:
        _alloc_hooks.stop()
    with pytest.raises(RuntimeError, match="not counting"):
        _alloc_hooks.stop()
