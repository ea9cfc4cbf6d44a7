"""The counters themselves: one block a call counts every block. That an
idle loop counts nothing is what each test that uses them finds.
"""

from allocations import SAMPLES, hook_calls, preload_calls

# The second block of a long bytearray is too large for Python's own allocator.
CONTROLS = """
samples = list(range(50))
cases = {"object": (lambda x: object(), (samples,)),
         "bytearray": (lambda x: bytearray(4096), (samples,))}
"""


def test_hooks_count_every_block():
    calls = hook_calls(CONTROLS)
    assert calls["object"].excess == (SAMPLES, SAMPLES)
    # The long block goes through two domains.
    assert calls["bytearray"].excess == (3 * SAMPLES, 3 * SAMPLES)


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
