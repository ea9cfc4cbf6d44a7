"""The fuzz targets on damaged sound inputs: what `make fuzz` does for hours, in seconds."""

import struct
import subprocess
import sys
from pathlib import Path

import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

from edgesvm.persist.store import restore

sys.path.insert(0, str(Path(__file__).parent))
import targets

SEEDS = targets.seeds()
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
    """In place of every eight bytes of the arenas, in turn."""
    word = struct.pack("<d", number)
    for seed in SEEDS["snapshot"]:
        body = seed[:-4]
        if targets.seal(body) == seed:
            for at in range(len(body) - restore(seed).nbytes, len(body), 8):
                targets.snapshot(body[:at] + word + body[at + 8 :])


def test_the_fuzzer_of_exported_c_finds_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)  # that of the tests
    command = [sys.executable, Path(__file__).with_name("exported_c.py"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr


def test_a_target_that_does_not_hold_is_told():
    with pytest.raises(AssertionError):
        targets.require([], "said")


@given(st.binary(max_size=600) | st.integers(250, 520).map(lambda n: b"a" * n + b"\0" + b"b" * n))
@settings(derandomize=True)
def test_frames_are_put_together_as_the_product_does(raw):
    assert targets.framed(raw) == targets.wire.cobs_encode(raw) + b"\0"
