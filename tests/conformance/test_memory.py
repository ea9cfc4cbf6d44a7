"""A learner is its arena: planned to the byte, taken once, and nothing outside it is written."""

import tracemalloc

import numpy as np
import pytest
from each import each, each_of
from registry import OWN_METHODS
from test_stream import settle

from edgesvm import MemoryBudgetError

own_methods = pytest.mark.entries(*OWN_METHODS)
also_raw = pytest.mark.raw

GUARD = 64
FILL = 0xA5


def aligned(n_bytes):
    """An ndarray of n_bytes, uint8, at an address that is a multiple of 8."""
    return np.zeros(n_bytes // 8 + 1, np.int64).view(np.uint8)[:n_bytes]


@also_raw
@each_of("subject")
def test_plan_is_a_layout(subject):
    plan = subject.make().plan(subject.n_features)
    end = 0
    for array in plan.arrays:
        assert array.offset >= end and array.offset % 8 == 0, array
        assert array.dtype.str[0] in "<|" and array.dtype.kind in "iuf", array
        assert array.nbytes == np.prod(array.shape, dtype=int) * array.dtype.itemsize
        end = array.offset + array.nbytes
    assert end <= plan.total < end + 8
    assert len({array.name for array in plan.arrays}) == len(plan.arrays)
    assert f"{plan.total:,}" in str(plan)


@own_methods
@each_of("subject")
def test_plan_takes_no_memory_for_what_it_plans(subject):
    learner = subject.make()
    learner.plan(1 << 20)
    tracemalloc.start()
    try:
        total = learner.plan(1 << 20).total
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total > 1 << 20 and peak < 1 << 16


@own_methods
@each_of("subject")
@each("n_features", [0, -1, 1 << 40])
def test_a_width_that_cannot_be_is_refused(subject, n_features):
    with pytest.raises(ValueError, match="n_features"):
        subject.make().plan(n_features)


@also_raw
@own_methods
@each_of("subject")
def test_own_block_is_exactly_the_plan(subject):
    """Taken from NumPy's allocator, whose blocks tracemalloc tells apart from Python's objects."""
    n_features = 5000
    total = subject.make().plan(n_features).total
    learner = subject.make().allocate(n_features)
    assert learner.nbytes == total == len(bytes(learner.arena))
    tracemalloc.start()
    try:
        learner = subject.make().allocate(n_features)
        arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
        taken = tracemalloc.take_snapshot().filter_traces([arrays]).traces
    finally:
        tracemalloc.stop()
    assert sum(trace.size for trace in taken) == total


@also_raw
@each_of("subject")
def test_constructs_in_exactly_its_bytes_and_not_in_one_less(subject):
    learner = subject.make()
    total = learner.plan(subject.n_features).total
    with pytest.raises(MemoryBudgetError) as caught:
        learner.allocate(subject.n_features, buffer=aligned(total - 1))
    assert (caught.value.required, caught.value.available) == (total, total - 1)
    assert learner.nbytes == 0
    learner.allocate(subject.n_features, buffer=aligned(total))
    assert learner.nbytes == total


@also_raw
@own_methods
@each_of("subject")
def test_a_refused_buffer_leaves_what_was_learned(subject):
    learner = subject.learned()
    before = bytes(learner.arena)
    for buffer in (
        aligned(learner.nbytes - 1),
        bytes(learner.nbytes),
        aligned(2 * learner.nbytes)[::2],
    ):
        with pytest.raises((ValueError, BufferError)):
            learner.allocate(subject.n_features, buffer=buffer)
        assert bytes(learner.arena) == before


@each_of("subject")
@each("kind", [bytearray, lambda n: memoryview(bytearray(n)), aligned])
def test_only_the_callers_buffer_is_written(subject, kind):
    X, y = subject.stream(200)
    total = subject.make().plan(subject.n_features).total
    whole = kind(GUARD + total + GUARD)
    every_byte = np.frombuffer(whole, np.uint8)
    every_byte[:] = FILL
    buffer = memoryview(whole)[GUARD : GUARD + total]
    learner = subject.make().allocate(subject.n_features, buffer=buffer)
    learner.partial_fit(X, y)
    for row, label in zip(X[:50], y, strict=False):
        learner.learn_one(row, label)
        learner.predict_one(row)
    learner.predict(X)
    own = subject.make().partial_fit(X, y).partial_fit(X[:50], y[:50])
    settle(own)
    assert bytes(buffer) == bytes(learner.arena) == bytes(own.arena)
    learner.reset()
    assert bytes(buffer) == bytes(learner.arena)
    assert (every_byte[:GUARD] == FILL).all() and (every_byte[-GUARD:] == FILL).all()


@each_of("subject")
def test_within_its_own_total_and_not_in_one_byte_less(subject):
    entry = subject.entry
    total = subject.make().plan(subject.n_features).total
    fixed = {entry.capacity: entry.capacity_of(subject.make())} if entry.capacity else {}
    learner = entry.within(total, subject.dtype, **fixed)
    assert learner.allocate(subject.n_features).nbytes == total
    with pytest.raises(MemoryBudgetError) as caught:
        entry.within(total - 1, subject.dtype, **fixed)
    assert caught.value.required == total
    assert caught.value.available == total - 1
    assert f"{total:,}" in str(caught.value)


@each_of("subject")
@each("budget", [3000, "4KiB", "64KiB", "1MiB"])
def test_within_is_maximal(subject, budget):
    entry = subject.entry
    n_bytes = {"4KiB": 4096, "64KiB": 65536, "1MiB": 1048576}.get(budget, budget)
    with pytest.raises(MemoryBudgetError) as too_small:
        entry.within(10, subject.dtype)
    if too_small.value.required > n_bytes:
        budget = n_bytes = too_small.value.required
    learner = entry.within(budget, subject.dtype)
    assert learner.plan(subject.n_features).total <= n_bytes
    larger = entry.capacity_of(learner) + 1
    if larger > learner._capacity_range(subject.n_features)[1]:
        return  # all that is worth having fits
    assert subject.make(**{entry.capacity: larger}).plan(subject.n_features).total > n_bytes


@each_of("subject")
def test_learning_keeps_the_block(subject):
    learner = subject.make().allocate(subject.n_features)
    X, y = subject.stream(300)
    address = learner.arena.memory.ctypes.data
    for begin in range(0, 300, 60):
        learner.partial_fit(X[begin : begin + 60], y[begin : begin + 60])
    learner.reset()
    learner.fit(X, y)
    assert learner.arena.memory.ctypes.data == address
