"""PageHinkley: equal to its definition, in fixed memory, however the stream is cut."""

import copy
import pickle

import numpy as np
import pytest
from each import each

from edgesvm import CorruptModelError, MemoryBudgetError
from edgesvm.drift.page_hinkley import PageHinkley
from firmware_sim.limits.allocations import hook_calls, preload_calls


class PageHinkleyInPython(PageHinkley):
    _engine = "reference"


def rates(*parts, seed=0):
    """Errors, 0 or 1, of parts (rate, length)."""
    rng = np.random.default_rng(seed)
    return np.concatenate([(rng.random(n) < rate).astype(float) for rate, n in parts])


STEP = rates((0.1, 2000), (0.4, 1000), (0.05, 1000), (0.3, 1000))
SMOOTH = np.clip(0.5 * STEP + 0.25 * np.sin(np.arange(5000) / 300) ** 2, 0, 1)  # any loss


@each("errors", [STEP, SMOOTH], ids=["0 or 1", "any loss"])
@each(
    "params",
    [{}, {"delta": 0.05, "threshold": 20.0}, {"min_samples": 1, "delta": 0.2, "threshold": 9.0}],
)
def test_page_hinkley_is_its_definition(errors, params):
    """m_t and its minimum, from the whole history."""
    detector, found, start = PageHinkley(**params), [], 0
    for t in range(1, len(errors) + 1):
        x = errors[start:t]
        n = np.arange(1, len(x) + 1)
        means = np.cumsum(x) / n
        s = np.sqrt(np.maximum(np.cumsum(x * x) / n - means**2, 0.01))
        m = np.concatenate([[0.0], np.cumsum(x - means - detector.delta * s)])
        is_drift = len(x) >= detector.min_samples and m[-1] - m.min() > detector.threshold * s[-1]
        assert detector.add(errors[t - 1]) == is_drift
        if is_drift:
            low = m.argmin()
            assert detector.before_ == pytest.approx(x[:low].mean())
            assert detector.now_ == pytest.approx(x[low:].mean())
            found.append(t)
            start = t
    assert len(found) == detector.n_drifts_ > 0


def test_no_drift_before_so_many_errors():
    errors = np.repeat([0.0, 1.0], [10, 30])
    early, late = (PageHinkley(threshold=3.0, min_samples=n).add_many(errors) for n in (1, 25))
    assert early.argmax() < 15 and late.argmax() == 24


@each("errors", [STEP, SMOOTH], ids=["0 or 1", "any loss"])
def test_the_twin_finds_the_same(errors):
    for params in ({}, {"threshold": 15.0}, {"threshold": 2.0}):
        ours, theirs = PageHinkley(**params), PageHinkleyInPython(**params)
        np.testing.assert_array_equal(ours.add_many(errors), theirs.add_many(errors))
        assert ours.n_drifts_ == theirs.n_drifts_ > 0
        for name, array in ours._core.views.items():
            other = theirs._core.views[name]
            np.testing.assert_allclose(array, other, rtol=1e-9, atol=1e-9, err_msg=name)
        assert not np.any(theirs.reset()._core.views[name])
        assert not np.any(ours.reset()._core.views[name]) and ours.n_added_ == len(errors)


@each("cuts", [[], [1], [33, 34, 2100], list(range(7, 5000, 331))])
def test_cut_copied_and_continued_anywhere_it_gives_the_same_bits(cuts):
    whole = PageHinkley()
    found = whole.add_many(STEP)
    detector, parts = PageHinkley(), []
    for i, part in enumerate(np.split(STEP, cuts)):
        if i % 2:
            detector = pickle.loads(pickle.dumps(detector))
            parts.append(np.array([detector.add(error) for error in part.tolist()], bool))
        else:
            detector = copy.deepcopy(detector)
            parts.append(detector.add_many(part))
    np.testing.assert_array_equal(np.concatenate(parts), found)
    assert bytes(detector.arena) == bytes(whole.arena) and found.sum() == whole.n_drifts_


def test_more_errors_are_a_drift_and_fewer_are_not():
    now = []
    for seed in range(9):
        worse = PageHinkley()
        worse.add_many(rates((0.1, 2000), (0.4, 1000), seed=seed))
        assert worse.n_drifts_ == 1
        assert worse.before_ == pytest.approx(0.1, abs=0.05)
        now.append(worse.now_)
    assert np.mean(now) == pytest.approx(0.4, abs=0.1)
    assert not PageHinkley().add_many(rates((0.5, 300), (0.2, 3000), (0.02, 3000))).any()


@each("rate", [0.005, 0.1, 0.5])
def test_false_alarms_are_rare_at_any_rate(rate):
    found = PageHinkley().add_many(rates((rate, 300_000), seed=5))
    assert found.sum() <= 6


def test_what_is_no_error_is_refused_and_leaves_no_trace():
    detector = PageHinkley()
    detector.add_many(STEP[:100])
    before = bytes(detector.arena)
    for wrong in (np.nan, -0.001, 1.001, np.inf):
        with pytest.raises(ValueError, match=r"give a number from 0, right, to 1, wrong"):
            detector.add(wrong)
        with pytest.raises(ValueError, match="in row 2: give"):
            detector.add_many([0.0, 1.0, wrong])
    with pytest.raises(TypeError):
        detector.add("wrong")
    with pytest.raises(ValueError, match="one number a sample"):
        detector.add_many([[0.0, 1.0]])
    assert bytes(detector.arena) == before
    assert not detector.add(True) and not detector.add(np.bool_(False))
    assert detector.n_added_ == 102


@each(
    "params, message",
    [
        ({"delta": -0.1}, "delta=-0.1: give"),
        ({"threshold": 0}, "threshold=0: give"),
        ({"min_samples": 0}, "min_samples=0: give"),
    ],
)
def test_parameters_out_of_range(params, message):
    with pytest.raises(ValueError, match=message):
        PageHinkley(**params)


def test_bytes_are_the_plan_and_those_of_the_docstring():
    detector = PageHinkley()
    assert detector.nbytes == detector.plan().total == 80 == len(bytes(detector.arena))
    room = np.full(11, 7, np.int64)
    detector.allocate(room).add_many(STEP)
    assert bytes(detector.arena) == room.tobytes()[:80] and room[-1] == 7
    with pytest.raises(MemoryBudgetError) as refused:
        detector.allocate(room[:5])
    assert refused.value.required == 80


def test_no_allocator_call_a_sample(alloc_preload):
    setup = """
import numpy as np
from edgesvm.drift.page_hinkley import PageHinkley
errors = [float(x) for x in np.random.default_rng(0).random(997) < 0.3]
cases = {
    "floats": (PageHinkley().add, [errors]),
    "bools": (PageHinkley().add, [[bool(x) for x in errors]]),
}
"""
    measured = hook_calls(setup, 20_000)
    assert len(measured) == 2
    assert {case: calls.excess for case, calls in measured.items() if any(calls.excess)} == {}
    beneath = preload_calls(setup, alloc_preload, 20_000, through_malloc=True)
    assert {c: calls for c, calls in beneath.items() if max(calls.excess) > calls.control} == {}


def test_bytes_that_no_stream_can_have_left_are_not_taken_up():
    for name, at, value in (
        ("n_drifts", (), 5001),
        ("before", (), 1.5),
        ("state", 1, 2.0),
        ("state", 3, np.nan),
        ("state", 2, -1.0),
        ("state", 5, 1.1),
        ("now", (), np.inf),
    ):
        detector = PageHinkley()
        detector.add_many(STEP)
        detector._core.views[name][at] = value
        with pytest.raises(CorruptModelError):
            pickle.loads(pickle.dumps(detector))
