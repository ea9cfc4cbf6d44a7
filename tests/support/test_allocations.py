"""The counters themselves: an idle loop counts a constant, one block a call counts every block."""

from allocations import SAMPLES, hook_calls, preload_calls

NOTHING = """
import numpy as np
samples = [np.full(16, float(i)) for i in range(50)]
cases = {"one argument": (lambda x: None, (samples,)),
         "two arguments": (lambda x, y: None, (samples, [1, -1]))}
"""

# The second block of a long bytearray is too large for Python's own allocator.
CONTROLS = """
samples = list(range(50))
cases = {"object": (lambda x: object(), (samples,)),
         "bytearray": (lambda x: bytearray(4096), (samples,))}
"""


def test_hooks_count_nothing_in_an_idle_loop():
    for name, calls in hook_calls(NOTHING).items():
        assert calls.excess == (0, 0), name
        assert calls.control < 50, name


def test_hooks_count_every_block():
    calls = hook_calls(CONTROLS)
    assert calls["object"].excess == (SAMPLES, SAMPLES)
    # The long block goes through two domains.
    assert calls["bytearray"].excess == (3 * SAMPLES, 3 * SAMPLES)


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
        (every, "object", SAMPLES),
        (every, "bytearray", 2 * SAMPLES),
        (system, "object", 0),  # Python's own allocator serves it
        (system, "bytearray", SAMPLES),
    ):
        taken, freed = calls[case].excess
        assert abs(taken - expected) <= calls[case].control
        assert abs(freed - expected) <= calls[case].control
