"""Where raw samples are taken, one by one: memory, cuts, refusals, and sensors that fail.

Snapshots and plans are tested with those of the learners; this is what `push` adds.
"""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from allocations import hook_calls, preload_calls
from each import each, each_of
from registry import RAW

import edgesvm
from edgesvm.contract.registry import LEARNERS, OTHERS  # of which the first imports all classes
from edgesvm.errors import SampleRefused

pytestmark = pytest.mark.raw("only")
HERE = Path(__file__).parent
LARGEST = 1e15

SETUP = """
import numpy as np
from registry import RAW

cases = {}
for entry in RAW:
    for dtype in ("float32", "float64"):
        X, y = entry.stream(600, dtype)
        rows, labels = list(X), y.tolist()

        def warm():
            return entry.taught(entry.make(dtype).allocate(3), X, y)

        cases[f"{entry.name} {dtype} without labels"] = warm().push, (rows,)
        if entry.learner is not None:
            cases[f"{entry.name} {dtype} with labels"] = warm().push, (rows, labels)
            words = ["cold" if label else "hot" for label in labels]
            text = entry.taught(entry.make(dtype).allocate(3), X, words)
            cases[f"{entry.name} {dtype} with words"] = text.push, (rows, words)

        model = warm()

        def broken(x, is_lost, push=model.push, gap=model.gap):
            push(x)
            if is_lost:
                gap()

        lost = [i % 50 == 49 for i in range(600)]
        cases[f"{entry.name} {dtype} with gaps"] = broken, (rows, lost)
"""


def windows_of(model):
    return getattr(model, "windows_", model)


def state(model):
    return bytes(model.arena)


def all_finite(model, n_channels):
    """Whether every floating-point number of the arena, and of the arenas in it, is finite."""
    return all(
        np.isfinite(model.arena.memory[a.offset : a.offset + a.nbytes].view(a.dtype)).all()
        for a in model.plan(n_channels).leaves()
        if a.dtype.kind == "f"
    )


def test_no_allocator_call_per_sample(alloc_preload):
    n_cases = sum(4 if entry.learner is None else 8 for entry in RAW)
    measured = hook_calls(SETUP, 1_000)
    assert len(measured) == n_cases
    assert {case: calls.excess for case, calls in measured.items() if any(calls.excess)} == {}
    beneath = preload_calls(SETUP, alloc_preload, 1_000, through_malloc=True, path=[HERE])
    assert len(beneath) == n_cases
    assert {c: calls for c, calls in beneath.items() if max(calls.excess) > calls.control} == {}


@each_of("subject")
@each("cuts", [[1], [61, 150, 151], list(range(5, 400, 37))])
def test_cut_saved_and_continued_anywhere_it_gives_the_same_bits(subject, cuts, tmp_path):
    X, y = subject.stream(400)
    whole = subject.make().allocate(3)
    expected = subject.entry.pushed(whole, X, y)
    model, found = subject.make().allocate(3), []
    for i, part in enumerate(np.split(np.arange(400), cuts)):
        found += subject.entry.pushed(model, X[part], y[part])
        if i % 3 == 0:
            model.save(tmp_path / "model.esvm")
            model = edgesvm.load(tmp_path / "model.esvm")
        elif i % 3 == 1:
            model = pickle.loads(pickle.dumps(model))
        else:
            model = copy.deepcopy(model)
    assert found == expected and len(found) > 20
    assert state(model) == state(whole)


@each_of("subject")
def test_only_the_callers_buffer_is_written(subject):
    X, y = subject.stream(200)
    total = subject.make().plan(3).total
    every_byte = np.full(total + 128, 0xA5, np.uint8)
    model = subject.make().allocate(3, buffer=memoryview(every_byte)[64 : 64 + total])
    address = model.arena.memory.ctypes.data
    subject.entry.taught(model, X, y)
    model.gap()
    own = subject.learned(200)
    own.gap()
    assert every_byte[64 : 64 + total].tobytes() == state(model) == state(own)
    assert (every_byte[:64] == 0xA5).all() and (every_byte[-64:] == 0xA5).all()
    assert model.arena.memory.ctypes.data == address


@each_of("subject")
@each("bad", [np.nan, np.inf, -np.inf, 1.1 * LARGEST, -1.1 * LARGEST])
def test_a_refused_sample_leaves_no_trace(subject, bad):
    X, y = subject.stream(130)
    for channel in range(3):
        model, other = subject.learned(100), subject.learned(100)
        wrong = X[0].copy()
        wrong[channel] = bad
        before = state(model)
        for label in (None, y[0], -99):
            with pytest.raises(SampleRefused):
                model.push(*((wrong,) if model is windows_of(model) else (wrong, label)))
        assert state(model) == before
        found = subject.entry.pushed(model, X[100:], y[100:])
        assert found == subject.entry.pushed(other, X[100:], y[100:])


@each_of("subject")
def test_samples_of_another_shape_leave_no_trace(subject):
    model = subject.learned(100)
    before = state(model)
    for x in (np.zeros(2), np.zeros(4), np.zeros((1, 3)), ["a", "b", "c"], None):
        with pytest.raises((ValueError, TypeError)):
            model.push(x)
    assert state(model) == before


def live_through(subject, X, y):
    """Push all; every sample is taken in, and all that comes back is finite. Where features are too
    large to be squared, the learner behind refuses the window by name, and goes on."""
    model, X = subject.make().allocate(3), subject.entry.timed(X)
    found, refused = [], 0
    for at in range(len(X)):
        try:
            found += subject.entry.pushed(model, X[at : at + 1], y[at : at + 1])
        except SampleRefused as error:
            assert "too large to be squared" in str(error)
            refused += 1
    windows = windows_of(model)
    assert windows.n_pushed_ == len(X) and windows.n_rows_ == len(found) + refused >= 25
    assert refused == 0 or (abs(X).max() > 1e9 and model is not windows)
    assert all_finite(model, 3) and not any(b"nan" in of or b"inf" in of for of in found)
    if model is windows:
        assert np.isfinite(np.frombuffer(b"".join(found), subject.dtype)).all()
    else:
        assert found and model.learner_.n_seen_ > 0


@each_of("subject")
@each("value", [0.0, -3.5, LARGEST])
@each("stuck", [[1], [0, 1, 2]])
def test_a_stuck_sensor_is_lived_through(subject, value, stuck):
    X, y = subject.stream(400)
    X[100:250, stuck] = value
    live_through(subject, X, y)


@each_of("subject")
@each("limit", [0.5, 1e-3, LARGEST])
def test_a_clipped_sensor_is_lived_through(subject, limit):
    """The signal is beyond the limits most of the time: long runs of equal values, then a flank."""
    X, y = subject.stream(400)
    X[100:] = np.clip((X[100:] - 1) * 1e3 * limit, -limit, limit)
    live_through(subject, X, y)


@each_of("subject")
def test_after_a_gap_windows_are_those_of_a_stream_that_begins_there(subject):
    """As many windows are dropped as were begun and not complete; none spans the gap."""
    if subject.entry.kind is edgesvm.ClockFeatures:
        return  # what is usual at an hour goes on behind a gap
    X, y = subject.stream(300)
    window, hop = (subject.entry.windows[name] for name in ("window", "hop"))
    for at in (1, 55, 150):
        model, alone = subject.learned(0), edgesvm.WindowFeatures(**rows_of(subject))
        model.allocate(3)
        subject.entry.pushed(model, X[:at], y[:at])
        model.gap()
        begun, complete = -(-at // hop), max(0, (at - window) // hop + 1)
        counted = windows_of(model)
        assert (counted.n_rows_, counted.n_dropped_) == (complete, begun - complete)
        expected = alone.push_many(X[at:])
        rows = []
        for x, label in zip(X[at:], y[at:], strict=True):
            if subject.entry.learner is None:
                row = model.push(x)
            else:
                row = None if model.push(x, label) is None else counted._core.row
            if row is not None:
                rows.append(row.copy())
        assert len(rows) == len(expected)
        apart = ["_pattern_" not in name for name in alone.names()]  # biases outlast the gap
        np.testing.assert_allclose(
            np.array(rows)[:, apart], expected[:, apart], rtol=1e-4, atol=1e-5
        )
        assert counted.n_pushed_ == 300 and counted.n_dropped_ == begun - complete


def rows_of(subject):
    return {"dtype": subject.dtype, **subject.entry.windows}


def test_every_kind_is_in_the_list():
    """And each name says of which kind its entry is."""
    kinds = {type(entry.make()).__name__ for entry in RAW}
    assert kinds | {"VirtualSensor"} == OTHERS.keys() - LEARNERS.keys()
    assert all(re.match(type(entry.make()).__name__, entry.name) for entry in RAW)
