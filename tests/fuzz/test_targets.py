"""The fuzz targets on damaged sound inputs: what `make fuzz` does for hours, in seconds."""

import random
import struct
import sys
from pathlib import Path

import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

from edgesvm.errors import CorruptModelError
from edgesvm.persist.store import restore

sys.path.insert(0, str(Path(__file__).parent))
import targets

SEEDS = targets.seeds()
PLACES = 25
KINDS = ("set", "flip", "insert", "drop", "repeat", "zero")


@st.composite
def damaged(draw, seeds):
    data = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(data)))
        kind = draw(st.sampled_from(KINDS))
        n = draw(st.integers(1, 16))
        if kind == "set":
            data[at : at + n] = draw(st.binary(min_size=n, max_size=n))
        elif kind == "flip" and at < len(data):
            data[at] ^= 1 << (n % 8)
        elif kind == "insert":
            data[at:at] = draw(st.binary(max_size=n))
        elif kind == "drop":
            del data[at : at + n]
        elif kind == "repeat":
            data[at:at] = data[at : at + 4 * n]
        elif kind == "zero":
            data[at : at + n] = bytes(n)
    return bytes(data)


@each("name", targets.TARGETS)
def test_the_seeds_themselves(name):
    for seed in SEEDS[name]:
        targets.TARGETS[name](seed)


@each("name", targets.TARGETS)
def test_damaged_inputs(name):
    @settings(max_examples=250, derandomize=True)
    @given(st.one_of(damaged(SEEDS[name]), st.binary(max_size=300)))
    def holds(data):
        targets.TARGETS[name](data)

    holds()


@each("number", [-1e300, 1e-300])
def test_a_number_that_no_samples_make_in_a_snapshot(number):
    """In place of some of the eight bytes of each arena, among them the first and the last."""
    word, draw = struct.pack("<d", number), random.Random(5)
    for seed in SEEDS["snapshot"]:
        body = seed[:-4]
        if targets.seal(body) != seed:
            continue
        try:
            places = range(len(body) - restore(seed).nbytes, len(body), 8)
        except CorruptModelError:  # of a learner that is gone
            continue
        drawn = draw.sample(places, min(len(places), PLACES))
        for at in {places[0], places[-1], *drawn}:
            targets.snapshot(body[:at] + word + body[at + 8 :])


def test_a_target_that_does_not_hold_is_told():
    with pytest.raises(AssertionError):
        targets.require([], "said")


@given(st.binary(max_size=600) | st.integers(250, 520).map(lambda n: b"a" * n + b"\0" + b"b" * n))
@settings(derandomize=True)
def test_frames_are_put_together_as_the_product_does(raw):
    assert targets.framed(raw) == targets.wire.cobs_encode(raw) + b"\0"
