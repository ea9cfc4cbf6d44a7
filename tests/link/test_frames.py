"""Bytes to frames: worked examples, then properties for any input divided in any way."""

import binascii
from pathlib import Path

import pytest
from cobs import cobs
from each import each
from hypothesis import given
from hypothesis import strategies as st

from edgesvm.link import FrameDecoder, wire
from edgesvm.link._frames import cobs_decode_view, cobs_encode_view, crc32_view
from edgesvm.link._ring import encode_prediction

HAND_WORKED = [
    (b"", b"\x01"),
    (b"\x00", b"\x01\x01"),
    (b"\x00\x00", b"\x01\x01\x01"),
    (b"\x0b\x16\x00\x21", b"\x03\x0b\x16\x02\x21"),
    (b"\x11\x22\x33\x44", b"\x05\x11\x22\x33\x44"),
    (b"\x11\x00\x00\x00", b"\x02\x11\x01\x01\x01"),
    (b"\x01" * 253, b"\xfe" + b"\x01" * 253),
    (b"\x01" * 254, b"\xff" + b"\x01" * 254),
    (b"\x01" * 255, b"\xff" + b"\x01" * 254 + b"\x02\x01"),
    (b"\x01" * 254 + b"\x00", b"\xff" + b"\x01" * 254 + b"\x01\x01"),
    (b"\x00" + b"\x01" * 254, b"\x01\xff" + b"\x01" * 254),
    (b"\x01" * 508, (b"\xff" + b"\x01" * 254) * 2),
]


def test_the_other_ending_of_a_full_block_is_accepted():
    """Some encoders put a code byte after a final block of 254 bytes."""
    assert cobs_decode_view(b"\xff" + b"\x01" * 254 + b"\x01") == b"\x01" * 254


@each("raw, run", HAND_WORKED, ids=lambda value: f"{len(value)}B")
@each("encode", [wire.cobs_encode, cobs_encode_view, cobs.encode])
def test_cobs_by_hand(encode, raw, run):
    assert encode(raw) == run
    assert cobs_decode_view(run) == raw
    assert len(run) <= wire.max_encoded_length(len(raw))


@given(st.binary(max_size=1200))
def test_cobs_equals_the_cobs_package(raw):
    run = cobs.encode(raw)
    assert wire.cobs_encode(raw) == cobs_encode_view(raw) == run
    assert cobs_decode_view(run) == raw


@given(st.binary(min_size=1, max_size=600).map(lambda b: b.replace(b"\0", b"\1")))
def test_cobs_refuses_what_the_cobs_package_refuses(run):
    try:
        expected = cobs.decode(run)
    except cobs.DecodeError:
        expected = None
    assert cobs_decode_view(run) == expected


@given(st.binary(max_size=300))
def test_crc32_equals_binascii(data):
    assert crc32_view(data) == binascii.crc32(data)


def test_frame_by_hand():
    """HELLO is the first frame every node must parse, so its bytes are written out here."""
    body = bytes.fromhex("0403020101 01fe00 10270000")
    assert wire.Hello(0x01020304, host_ms=10000).pack() == body
    raw = bytes.fromhex("01 10 0000 05000000") + body
    raw += binascii.crc32(raw).to_bytes(4, "little")
    frame = wire.encode_frame(wire.HELLO, body, sequence=5)
    assert frame == cobs.encode(raw) + b"\0"
    assert FrameDecoder().feed(frame) == [(wire.HELLO, 0, 0, 5, body, 1)]


def test_the_example_of_the_format_document():
    text = (Path(__file__).parents[2] / "docs" / "FORMATS.md").read_text()
    frame = wire.encode_frame(wire.HELLO, wire.Hello(0x01020304, host_ms=10000).pack(), sequence=5)
    assert f"    {frame.hex(' ')}\n" in text


def test_values_out_of_range_cannot_be_packed():
    with pytest.raises(ValueError, match="Heartbeat"):
        wire.Heartbeat(1 << 32, 0).pack()
    with pytest.raises(ValueError, match="int16"):
        wire.encode_sample(1, 2, [32768], dtype=wire.DTYPE_I16)
    with pytest.raises(ValueError, match="Label"):
        wire.Label(1, 2, 256.0).pack()


BODIES = [
    wire.Hello(7, host_ms=9),
    wire.Schema(1, 2, 3, wire.DTYPE_I16, wire.LABEL_LATE, 4, 200, 5, 6),
    wire.Prediction(1, -2, wire.TRAINED, 0.5),
    wire.Heartbeat(1, 2, 3, 4, 5, 6, 7, 8),
    wire.Label(1, -2, 0.5),
]


@each("body", BODIES, ids=lambda body: type(body).__name__)
def test_bodies_survive_the_wire_and_refuse_other_lengths(body):
    packed = body.pack()
    assert type(body).unpack(packed) == body
    for wrong in (packed[:-1], packed + b"\0", b""):
        with pytest.raises(ValueError, match="bytes"):
            type(body).unpack(wrong)


@each(
    "at, value",
    [(8, b"\0\0"), (10, b"\3"), (11, b"\3"), (12, b"\xff\xff"), (14, b"\x0b\0"), (16, b"\1\0")],
)
def test_schema_refuses_undefined_values(at, value):
    body = bytearray(wire.Schema(1, 2, 3).pack())
    body[at : at + len(value)] = value
    with pytest.raises(ValueError, match="Schema"):
        wire.Schema.unpack(bytes(body))


def test_schema_id_depends_on_the_boot_and_not_on_the_handshake():
    assert wire.Schema(1, 9, 8).schema_id == wire.Schema(2, 9, 8).schema_id
    assert wire.Schema(1, 9, 8).schema_id != wire.Schema(1, 10, 8).schema_id
    assert wire.Schema(1, 9, 8).schema_id != wire.Schema(1, 9, 9).schema_id
    assert all(wire.Schema(0, boot, 1).schema_id for boot in range(3000))


def frame_of_raw(n_raw):
    return wire.encode_frame(0x7E, b"\xaa" * (n_raw - wire.MIN_RAW))


def test_longest_frame_is_accepted_and_one_byte_more_is_not():
    decoder = FrameDecoder(254)
    assert len(decoder.feed(frame_of_raw(254))) == 1
    assert decoder.feed(frame_of_raw(255)) == []
    assert (decoder.ok, decoder.oversize, decoder.frames) == (1, 1, 2)
    assert len(decoder.feed(frame_of_raw(12))) == 1


def test_run_that_is_too_long_is_counted_once_and_takes_no_memory():
    decoder = FrameDecoder()
    held = decoder.nbytes
    for _ in range(1000):
        decoder.feed(b"\x55" * 1000)
        assert decoder.pending <= held
    assert (decoder.oversize, decoder.bytes_rejected, decoder.nbytes) == (1, 1_000_000, held)
    assert decoder.feed(b"\0" + frame_of_raw(20))[0].body == b"\xaa" * 8
    assert decoder.broken_identities() == []


def test_resync_discards_to_the_first_delimiter():
    decoder = FrameDecoder()
    decoder.feed(b"half a fr")
    decoder.resync()
    frame = frame_of_raw(30)
    assert decoder.feed(b"stale" + frame[3:]) == []
    assert decoder.feed(frame)[0].kind == 0x7E
    assert decoder.discarded_bytes == 9 + 5 + len(frame) - 3 - 1
    assert decoder.frames == decoder.ok == 1
    assert decoder.broken_identities() == []


@each("label", [None, 1])
def test_no_single_bit_flip_is_accepted(label):
    frame = wire.encode_sample(77, 1234, [0.5, -1.25, 0.0, 3e7], label=label)
    for bit in range(8 * (len(frame) - 1)):
        hurt = bytearray(frame)
        hurt[bit >> 3] ^= 1 << (bit & 7)
        decoder = FrameDecoder()
        assert decoder.feed(hurt) == [], f"bit {bit}"
        assert 1 <= decoder.bad_cobs + decoder.bad_crc + decoder.bad_len <= 2
        assert decoder.broken_identities() == []
    # Without the delimiter, two frames merge and are lost; the third is accepted.
    for bit in range(8):
        decoder = FrameDecoder()
        hurt = frame[:-1] + bytes([1 << bit])
        assert len(decoder.feed(hurt + frame + frame)) == 1


def test_compiled_prediction_equals_the_plain_one():
    frame = encode_prediction(513, 6, 70000, -3, wire.TRAINED | wire.REJECTED, 0.75)
    body = wire.Prediction(70000, -3, wire.TRAINED | wire.REJECTED, 0.75).pack()
    assert frame == wire.encode_frame(wire.PREDICTION, body, schema_id=513, sequence=6)
