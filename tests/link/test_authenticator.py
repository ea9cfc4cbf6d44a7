"""Keyed tags: SipHash against its reference vectors, then what a guard admits and refuses."""

import os
import re
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from cobs import cobs
from each import each

from edgesvm.link import FrameDecoder, SampleReceiver, SampleRing, wire
from edgesvm.link._keyed import Authenticator, siphash_view
from edgesvm.link.keyed import read_key, write_new_key

KEY = bytes(range(16))
# Of the reference implementation: the key 00 ... 0f, the message 00 ... n - 1.
VECTORS = {
    0: "310e0edd47db6f72",
    1: "fd67dc93c539f874",
    2: "5a4fa9d909806c0d",
    3: "2d7efbd796666785",
    4: "b7877127e09427cf",
    5: "8da699cd64557618",
    6: "cee3fe586e46c9cb",
    7: "37d1018bf50002ab",
    15: "e545be4961ca29a1",
}
MASK = (1 << 64) - 1


def siphash(key, message):
    """SipHash-2-4 as its paper has it, as a number."""
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D]
    v += [k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def turned(x, by):
        return (x << by | x >> (64 - by)) & MASK

    def rounds(n):
        for _ in range(n):
            v[0] = v[0] + v[1] & MASK
            v[1] = turned(v[1], 13) ^ v[0]
            v[0] = turned(v[0], 32)
            v[2] = v[2] + v[3] & MASK
            v[3] = turned(v[3], 16) ^ v[2]
            v[0] = v[0] + v[3] & MASK
            v[3] = turned(v[3], 21) ^ v[0]
            v[2] = v[2] + v[1] & MASK
            v[1] = turned(v[1], 17) ^ v[2]
            v[2] = turned(v[2], 32)

    n = len(message)
    padded = message + bytes(7 - n % 8) + bytes([n & 255])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def test_siphash_and_its_twin_give_the_reference_vectors():
    for n, digest in VECTORS.items():
        for made in (siphash_view, siphash):
            assert made(KEY, bytes(range(n))).to_bytes(8, "little").hex() == digest
    rng = np.random.default_rng(3)
    for n in [*range(70), 255, 256, 257, 1000]:
        key, message = rng.bytes(16), rng.bytes(n)
        assert siphash_view(key, message) == siphash(key, message)


# An end of a link as docs/keyed-link.md describes it, in plain Python.


def derived(purpose, nonce=0, boot_id=0, session=0, key=KEY):
    context = struct.pack("<QII", nonce, boot_id, session)
    halves = [siphash(key, bytes([purpose + half]) + context) for half in (0, 1)]
    return struct.pack("<QQ", *halves)


def tagged(key, kind, body, *, sequence=0, high=0, flags=0, schema_id=0):
    raw = struct.pack("<BBHI", kind, 0x18 | flags, schema_id, sequence) + body
    raw += siphash(key, raw + high.to_bytes(4, "little")).to_bytes(8, "little")
    return cobs.encode(raw + zlib.crc32(raw).to_bytes(4, "little")) + b"\0"


NONCE, BOOT, SESSION = 0x1122334455667788, 77, 1
SCHEMA = wire.Schema(NONCE & 0xFFFFFFFF, BOOT, 2, n_classes=2)
FROM_NODE = derived(2, NONCE, BOOT, SESSION)
FROM_HOST = derived(4, NONCE, BOOT, SESSION)
SCHEMA_FRAME = tagged(FROM_NODE, wire.SCHEMA, SCHEMA.pack() + SESSION.to_bytes(4, "little"))
HELLO = wire.Hello(NONCE & 0xFFFFFFFF)
HELLO_FRAME = tagged(derived(0), wire.HELLO, HELLO.pack() + (NONCE >> 32).to_bytes(4, "little"))


def beat(sequence, key=FROM_NODE, high=0):
    return tagged(
        key, wire.HEARTBEAT, wire.Heartbeat(BOOT, sequence).pack(), sequence=sequence, high=high
    )


class Reader:
    """A receiver with a guard; the frames that come through."""

    def __init__(self, guard):
        self.guard = guard
        self.receiver = SampleReceiver(FrameDecoder(), guard=guard)
        self.receiver.expect(SCHEMA.schema_id, SampleRing(1 << 16, 2))

    def feed(self, data):
        return list(self.receiver.feed(data))

    @property
    def counts(self):
        assert self.receiver.decoder.ok == sum(
            (self.guard.admitted, self.guard.bad_tag, self.guard.replayed)
        )
        return self.guard.admitted, self.guard.bad_tag, self.guard.replayed


@pytest.fixture
def host():
    """In session; two frames admitted, the second of number 1."""
    guard = Authenticator(KEY)
    guard.ask(NONCE)
    reader = Reader(guard)
    (frame,) = reader.feed(SCHEMA_FRAME)
    assert wire.Schema.unpack(frame.body) == SCHEMA
    assert len(reader.feed(beat(1))) == 1
    assert guard.in_session
    return reader


def test_hello_and_schema_open_a_session_at_both_ends():
    host, node = Authenticator(KEY), Authenticator(KEY, boot_id=BOOT)
    host.ask(NONCE)
    assert host.encode_frame(wire.HELLO, HELLO.pack()) == HELLO_FRAME
    (frame,) = Reader(node).feed(HELLO_FRAME)
    assert wire.Hello.unpack(frame.body) == HELLO and frame.flags == 0
    assert node.encode_frame(wire.SCHEMA, SCHEMA.pack()) == SCHEMA_FRAME
    (frame,) = Reader(host).feed(SCHEMA_FRAME)
    assert wire.Schema.unpack(frame.body) == SCHEMA and frame.flags == 0
    assert host.in_session and node.in_session and not host.asked
    answer = wire.Prediction(5, 1, 0, 0.5).pack()
    frame = host.encode_frame(wire.PREDICTION, answer, sequence=3)
    assert frame == tagged(FROM_HOST, wire.PREDICTION, answer, sequence=3)
    reader = Reader(node)
    assert reader.feed(frame)[0].body == answer
    assert reader.feed(frame) == [] and (node.bad_tag, node.replayed) == (0, 1)


def test_every_bit_of_a_forgery_matters(host):
    """Each single bit of a tagged frame changed, its CRC made right again."""
    raw = cobs.decode(beat(2)[:-1])[:-4]
    n = 0
    for bit in range(8 * len(raw)):
        changed = bytearray(raw)
        changed[bit >> 3] ^= 1 << (bit & 7)
        if changed[1] >> 4 == 1:
            assert host.feed(framed(changed)) == []
            n += 1
    assert host.counts == (2, n, 0)
    assert len(host.feed(beat(2))) == 1


def framed(raw):
    return cobs.encode(bytes(raw) + zlib.crc32(raw).to_bytes(4, "little")) + b"\0"


def test_untagged_cut_and_reflected_frames_are_refused(host):
    body = wire.Heartbeat(BOOT, 2).pack()
    assert host.feed(wire.encode_frame(wire.HEARTBEAT, body, sequence=2)) == []
    assert host.feed(framed(struct.pack("<BBHI", wire.HEARTBEAT, 0x18, 0, 2))) == []
    assert host.feed(beat(2, FROM_HOST)) == []  # what the host itself sent
    assert host.feed(HELLO_FRAME) == []
    assert host.counts == (2, 4, 0)


def test_what_was_sent_before_is_replayed(host):
    for sequence in (5, 3, 4, 2, 70):
        assert len(host.feed(beat(sequence))) == 1
    for sequence in (1, 5, 3, 70, 6, 0):  # 6: never sent, but behind the window
        assert host.feed(beat(sequence)) == []
    assert host.counts == (7, 0, 6)
    assert len(host.feed(beat(7))) == 1  # 63 behind


def sample(sequence, high=0):
    return tagged(
        FROM_NODE,
        wire.SAMPLE_F32,
        struct.pack("<hHff", 1, 256, 1.0, 2.0),
        sequence=sequence & 0xFFFFFFFF,
        high=high,
        flags=wire.HAS_LABEL,
        schema_id=SCHEMA.schema_id,
    )


def test_a_frame_far_ahead_does_not_reopen_the_window(host):
    """2**22 ahead: the samples before it stay used up."""
    seen = b"".join(sample(i) for i in range(100))
    host.feed(seen + sample(1 << 22) + seen)
    assert host.counts == (103, 0, 100)
    assert host.receiver.ring.pushed == 101


def test_the_high_half_of_the_number_counts_on_past_the_wrap(host):
    for number in (0x7FFFFFF0, 0xFFFFFFF0, 0x100000003, 0xFFFFFFFF, 0x17FFFFFF0):
        before = host.guard.admitted
        host.feed(sample(number & 0xFFFFFFFF, number >> 32))
        assert host.guard.admitted == before + 1, hex(number)
    host.feed(sample(0x7FFFFFF0))  # the first of them, 2**32 ago
    host.feed(sample(0x7FFFFFF0, high=1))
    assert host.counts == (7, 1, 1)


def test_a_sender_extends_its_numbers_the_same_way(host):
    node = Authenticator(KEY, boot_id=BOOT)
    reader = Reader(node)
    reader.feed(HELLO_FRAME)
    for number in (0, 0x7FFFFFFF, 0xFFFFFFFE, 0x100000001):
        body = wire.Heartbeat(BOOT, 1).pack()
        frame = node.encode_frame(wire.HEARTBEAT, body, sequence=number)
        assert frame == tagged(
            FROM_NODE, wire.HEARTBEAT, body, sequence=number & 0xFFFFFFFF, high=number >> 32
        )


def test_no_frame_of_an_earlier_session_or_boot_comes_back(host):
    """The same schema and numbers: only the nonce, the boot id or the session differs."""
    host.guard.ask(NONCE + 1)
    assert host.feed(SCHEMA_FRAME) == []  # replayed: it is of the session still in force
    for boot_id, session in ((BOOT, 1), (BOOT, 2), (BOOT + 1, 1)):
        other = wire.Schema(SCHEMA.nonce, boot_id, 2, n_classes=2)
        key = derived(2, NONCE, boot_id, session)
        assert host.feed(tagged(key, wire.SCHEMA, other.pack() + struct.pack("<I", session))) == []
    key = derived(2, NONCE + 1, BOOT, 2)
    schema = wire.Schema(SCHEMA.nonce + 1, BOOT, 2, n_classes=2)
    frame = tagged(key, wire.SCHEMA, schema.pack() + struct.pack("<I", 2))
    assert len(host.feed(frame)) == 1
    assert host.feed(frame) == []
    assert host.feed(beat(1) + beat(2) + SCHEMA_FRAME) == []
    assert len(host.feed(beat(1, key))) == 1


def test_a_nonce_opens_one_session(host):
    """The node restarts; a SCHEMA of it under a nonce that is used up is refused."""
    key = derived(2, NONCE, BOOT + 1, 1)
    schema = wire.Schema(SCHEMA.nonce, BOOT + 1, 2, n_classes=2)
    assert host.feed(tagged(key, wire.SCHEMA, schema.pack() + struct.pack("<I", 1))) == []
    assert host.counts == (2, 1, 0)


def test_the_node_gives_each_nonce_a_session_and_a_repetition_none():
    node = Authenticator(KEY, boot_id=BOOT)
    reader = Reader(node)
    sessions = []
    other = tagged(derived(0), wire.HELLO, HELLO.pack() + b"\x01\0\0\0")
    for hello in (HELLO_FRAME, HELLO_FRAME, other, HELLO_FRAME):
        assert len(reader.feed(hello)) == 1
        raw = cobs.decode(node.encode_frame(wire.SCHEMA, SCHEMA.pack())[:-1])
        sessions.append(int.from_bytes(raw[34:38], "little"))
    assert sessions == [1, 1, 2, 3]  # an old HELLO starts a session of its own, with new keys
    answer = wire.Prediction(5, 1, 0, 0.5).pack()
    assert reader.feed(tagged(FROM_HOST, wire.PREDICTION, answer)) == []
    assert reader.feed(wire.encode_frame(wire.HELLO, HELLO.pack())) == []
    assert reader.counts == (4, 2, 0)


def test_the_vectors_of_the_format_are_these_frames():
    text = (Path(__file__).parents[2] / "docs" / "keyed-link.md").read_text(encoding="utf-8")
    keys = re.findall(r"(?m)^    (?:HELLO|node|host) key +([0-9a-f]{32})$", text)
    assert [bytes.fromhex(key) for key in keys] == [derived(0), FROM_NODE, FROM_HOST]
    shown = re.findall(r"(?m)^    ([0-9a-f]{16})\n      (.*)\n      (.*)$", text)
    answer = wire.Prediction(5, 1, 0, 0.5).pack()
    frames = (HELLO_FRAME, SCHEMA_FRAME, tagged(FROM_HOST, wire.PREDICTION, answer, sequence=3))
    assert len(shown) == len(frames)
    for parts, frame in zip(shown, frames, strict=True):
        assert bytes.fromhex("".join(parts).replace("|", "")) == cobs.decode(frame[:-1])


posix = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")


def test_a_new_key_is_random_its_owner_s_and_never_replaced(tmp_path):
    key = write_new_key(tmp_path / "a")
    assert len(key) == 16 and read_key(tmp_path / "a") == key
    assert write_new_key(tmp_path / "b") != key
    if os.name == "posix":
        assert os.stat(tmp_path / "a").st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        write_new_key(tmp_path / "a")
    assert read_key(tmp_path / "a") == key
    (tmp_path / "a").write_bytes(KEY)  # sixteen bytes as head writes them
    assert read_key(tmp_path / "a") == KEY
    if os.name == "posix":  # nor is it written through a link
        (tmp_path / "link").symlink_to(tmp_path / "target")
        with pytest.raises(FileExistsError):
            write_new_key(tmp_path / "link")
        assert not (tmp_path / "target").exists()


@posix
@each("mode", [0o640, 0o604, 0o620, 0o610, 0o666])
def test_a_key_that_others_can_reach_is_refused(tmp_path, mode):
    path = tmp_path / "k"
    write_new_key(path)
    path.chmod(mode)
    with pytest.raises(PermissionError, match=f"mode {mode:03o}.*chmod 600"):
        read_key(path)


@each("content", [b"", bytes(15), bytes(17), b"0" * 31, b"zz" * 16, b"0" * 34])
def test_what_is_no_key_is_refused(tmp_path, content):
    path = tmp_path / "k"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(ValueError, match="is not a key"):
        read_key(path)
