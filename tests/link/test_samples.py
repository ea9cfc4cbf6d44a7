"""Frames to rows of the ring: sequence window, refusals, policies."""

import struct

import numpy as np
from each import each
from hypothesis import given
from hypothesis import strategies as st

from edgesvm.link import FrameDecoder, SampleReceiver, SampleRing, wire
from edgesvm.link._frames import SequenceWindow

ID = 42


def receiver(n_features=2, capacity=16, **options):
    made = SampleReceiver(FrameDecoder(), **options)
    made.expect(ID, SampleRing(capacity, n_features))
    return made


def feed(into, *frames):
    controls = list(into.feed(b"".join(frames)))
    assert into.broken_identities() == []
    return controls


def sample(sequence, x=(1.0, 2.0), **options):
    return wire.encode_sample(ID, sequence, x, **options)


# Numbers in order of arrival, the verdict on each, and (span, unique, missing) after them.
WINDOWS = [
    ([0, 1, 2], "nnn", (3, 3, 0)),
    ([7], "n", (1, 1, 0)),
    ([0, 2, 1], "nnr", (3, 3, 0)),
    ([0, 5, 2, 2], "nnrd", (6, 3, 3)),
    ([5, 2, 3, 2], "nrrd", (4, 3, 1)),
    ([0, 63, 0], "nnd", (64, 2, 62)),
    ([0, 64, 0], "nno", (65, 2, 63)),
    ([0, 63, 1], "nnr", (64, 3, 61)),
    ([0, 64, 1, 1], "nnrd", (65, 3, 62)),
    ([100, 37], "nr", (64, 2, 62)),
    ([100, 36], "no", (1, 1, 0)),
    ([2**32 - 1, 0, 1, 2**32 - 2], "nnnr", (4, 4, 0)),
    ([0, 2**20], "nn", (2**20 + 1, 2, 2**20 - 1)),
]
NAMES = {"n": "new", "r": "reordered", "d": "duplicate", "o": "too_old"}


@each("numbers, verdicts, account", WINDOWS)
def test_sequence_window_by_hand(numbers, verdicts, account):
    window = SequenceWindow()
    assert [window.classify(n) for n in numbers] == [NAMES[v] for v in verdicts]
    assert (window.span, window.unique, window.missing) == account
    assert window.broken_identities() == []
    assert (window.epochs, window.seq_jump) == (1, 0)


FAR = st.integers(2**22, 2**22 + 200)


@given(st.lists(st.one_of(st.integers(0, 200), FAR, st.integers(0, 2**32 - 1)), max_size=200))
def test_sequence_window_equals_plain_bookkeeping(numbers):
    """The same rules with a set and without modular arithmetic, one epoch at a time."""
    window = SequenceWindow()
    seen, top, home = set(), None, None

    def nearest(n, top):
        return top + (n - top + 2**31) % 2**32 - 2**31

    for n in numbers:
        here = n if top is None else nearest(n, top)
        if top is not None and abs(here - top) > 2**20:
            if home and len(seen) < 64 and abs(nearest(n, home[1]) - home[1]) <= 2**20:
                (seen, top), home = home, None
                here = nearest(n, top)
            else:
                home = (seen, top) if home is None or len(seen) >= 64 else home
                seen, top, here = set(), None, n
        if top is None or here > top:
            expected, top = "new", here
        elif top - here >= 64:
            expected = "too_old"
        else:
            expected = "duplicate" if here in seen else "reordered"
        if expected in ("new", "reordered"):
            seen.add(here)
        assert window.classify(n) == expected
        assert window.broken_identities() == []


def test_rows_arrive_as_sent():
    into = receiver(3)
    feed(
        into,
        sample(0, (1.5, -2.0, 3e-8), label=-7, weight=0.5),
        sample(1, (0.0, -0.0, 1e38), time_us=12345),
        sample(2, (4.0, 5.0, 6.0), label=300, weight=2.25, time_us=2**32 - 1),
    )
    batch = into.ring.take()
    expected = np.array([[1.5, -2.0, 3e-8], [0.0, -0.0, 1e38], [4, 5, 6]], np.float32)
    assert batch.X.tobytes() == expected.tobytes()
    assert batch.y[batch.has_label].tolist() == [-7, 300]
    assert batch.has_label.tolist() == [True, False, True]
    assert batch.weight.tolist() == [0.5, 1.0, 2.25]
    assert batch.sequence.tolist() == [0, 1, 2]
    assert (batch.X.dtype, batch.y.dtype, batch.has_label.dtype) == (np.float32, np.int32, np.bool_)


REFUSED = {
    "schema_mismatch": wire.encode_sample(ID + 1, 0, (1.0, 2.0)),
    "bad_dimension": wire.encode_sample(ID, 0, (1.0, 2.0, 3.0)),
    "bad_flags": wire.encode_frame(
        wire.SAMPLE_F32, struct.pack("<2f", 1, 2), schema_id=ID, flags=8
    ),
    "bad_nan": wire.encode_sample(ID, 0, (1.0, float("nan"))),
    "bad_inf": wire.encode_sample(ID, 0, (float("-inf"), 0.0)),
}


@each("name", REFUSED)
def test_each_refusal_is_counted_by_its_name_and_adds_no_row(name):
    into = receiver()
    feed(into, REFUSED[name])
    assert into.counters()[name] == 1
    assert into.samples == 1
    assert len(into.ring) == 0
    assert into.gate.take_refused() == ([0] if name in ("bad_nan", "bad_inf") else [])
    feed(into, sample(0 if "schema" in name else 1))
    assert len(into.ring) == 1


def test_control_frames_are_yielded_in_order():
    into = receiver()
    heartbeat = wire.encode_frame(wire.HEARTBEAT, wire.Heartbeat(1, 2).pack(), sequence=9)
    seen = []
    for frame in into.feed(sample(0) + heartbeat + sample(1) + heartbeat + sample(2)):
        seen.append((frame.kind, len(into.ring)))
    assert seen == [(wire.HEARTBEAT, 1), (wire.HEARTBEAT, 2)]
    assert len(into.ring) == 3


def test_rows_in_use_are_not_overwritten():
    ring = SampleRing(4, 1)
    for i in range(4):
        ring.push_row(np.array([i], np.float32), i)
    batch = ring.take(2)
    assert not ring.push_row(np.array([9], np.float32), 9)
    assert batch.X[:, 0].tolist() == [0, 1]
    ring.release(2)
    assert ring.push_row(np.array([9], np.float32), 9)
    assert ring.take().sequence.tolist() == [2, 3]
    assert ring.broken_identities() == []


@given(st.lists(st.integers(0, 30), max_size=60))
def test_ring_equals_a_deque(steps):
    """Even steps push that many rows, odd steps take and release that many."""
    ring, model, n, gone = SampleRing(7, 1), [], 0, 0
    for turn, amount in enumerate(steps):
        if turn % 2 == 0:
            for _ in range(amount):
                ring.push_row(np.array([n], np.float32), n)
                gone += len(model) == 7
                model = [*model[-6:], n]
                n += 1
        else:
            rows = ring.take(amount)
            assert rows.sequence.tolist() == model[: len(rows.y)]
            assert rows.X[:, 0].tolist() == model[: len(rows.y)]
            ring.release(len(rows.y))
            del model[: len(rows.y)]
        assert (len(ring), ring.pushed, ring.dropped) == (len(model), n, gone)
        assert ring.broken_identities() == []
