"""The node's states, by hand-worked clocks: no thread, no port."""

import binascii

import numpy as np
import pytest
from each import each

from edgesvm import data
from edgesvm.link import wire
from edgesvm.link._frames import FrameDecoder
from firmware_sim.node import FrameNode, TextNode

SAMPLE_BYTES = (
    8 + 8 + 4 + 4 + 2
)  # header, two features, label and weight, CRC, COBS code and delimiter


class Rows(data.Stream):
    """Rows i, -i with label i % 2, so many of them."""

    n_features, n_classes, period_us = 2, 2, 1000

    def __init__(self, count=1000, labelled=True):
        self.count, self.labelled, self.at = count, labelled, 0

    def read(self, n):
        i = np.arange(self.at, min(self.at + n, self.count))
        self.at += len(i)
        X = np.column_stack([i, -i]).astype(np.float32)
        return data.Rows(X, (i % 2).astype(np.int32) if self.labelled else None)


def hello(nonce=5, **fields):
    return wire.encode_frame(wire.HELLO, wire.Hello(nonce=nonce, **fields).pack())


def frames(data):
    decoder = FrameDecoder(1 << 12)
    found = list(decoder.feed(data))
    assert decoder.frames == decoder.ok and decoder.pending == 0
    return found


def kinds(data):
    return [frame.kind for frame in frames(data)]


def prediction(sequence, label, flags=0):
    body = wire.Prediction(sequence, label, flags, 0.5).pack()
    return wire.encode_frame(wire.PREDICTION, body, sequence=sequence)


def test_nothing_but_heartbeats_before_the_handshake():
    node = FrameNode(Rows())
    assert node.poll(0.0) == b"" and node.poll(0.99) == b""
    assert kinds(node.poll(1.0)) == [wire.HEARTBEAT]
    assert not node.streaming and node.samples_made == 0


def test_handshake_then_samples_in_sequence():
    node = FrameNode(Rows(), boot_id=77)
    out = frames(node.poll(0.0, b"\0" + hello(nonce=9), room=100))
    schema = wire.Schema.unpack(out[0].body)
    assert (schema.nonce, schema.boot_id, schema.n_features) == (9, 77, 2)
    assert (schema.label_mode, schema.n_classes, schema.nominal_us) == (wire.LABEL_INLINE, 2, 1000)
    out += frames(node.poll(0.1, room=5 * SAMPLE_BYTES))
    samples = [f for f in out if f.kind == wire.SAMPLE_F32]
    assert [f.sequence for f in samples] == list(range(len(samples))) and len(samples) > 5
    assert {f.schema_id for f in samples} == {schema.schema_id}
    assert {f.flags for f in samples} == {wire.HAS_LABEL}
    assert np.frombuffer(samples[3].body, "<f4", offset=4).tolist() == [3.0, -3.0]
    assert samples[3].body[:4] == b"\x01\x00\x00\x01"  # label 1, weight 256/256


def test_a_second_hello_is_answered_ahead_of_the_samples_and_costs_none():
    node = FrameNode(Rows(50), rate=100.0)
    node.poll(0.0, hello(), room=1)
    sent = frames(node.poll(0.2, hello(nonce=6), room=4096))
    assert sent[0].kind == wire.SCHEMA and wire.Schema.unpack(sent[0].body).nonce == 6
    assert [f.sequence for f in sent[1:]] == list(range(21))


@pytest.mark.parametrize(
    "fields", [{"version_min": 2, "version_max": 3}, {"max_raw": 12 + 8 + 4 - 1}]
)
def test_a_host_that_cannot_be_served_is_told_what_we_are_and_gets_no_samples(fields):
    node = FrameNode(Rows())
    assert kinds(node.poll(0.0, hello(**fields))) == [wire.SCHEMA]
    assert not node.streaming and node.hellos_refused == 1
    assert wire.SAMPLE_F32 in kinds(node.poll(0.1, hello(max_raw=24)))


def test_a_node_that_cannot_hear_streams_and_repeats_its_schema():
    node = FrameNode(Rows(), hears=False, rate=1.0)
    out = frames(node.poll(0.0))
    assert [f.kind for f in out] == [wire.SCHEMA, wire.SAMPLE_F32]
    assert wire.Schema.unpack(out[0].body).nonce == 0
    later = [kind for t in range(1, 11) for kind in kinds(node.poll(float(t)))]
    assert later.count(wire.SCHEMA) == 2 and later.count(wire.SAMPLE_F32) == 10


@each("elapsed, made", [(0.0, 1), (0.099, 1), (0.1, 2), (1.0, 11)])
def test_samples_are_taken_at_fixed_times(elapsed, made):
    node = FrameNode(Rows(), rate=10.0, tx_bytes=10_000)
    node.poll(5.0, hello(), room=0)
    node.poll(5.0 + elapsed)
    assert node.samples_made == made


def test_overrun_drops_whole_samples_before_sending_and_the_heartbeat_says_how_many():
    node = FrameNode(Rows(), rate=100.0, tx_bytes=4 * SAMPLE_BYTES + 3)
    node.poll(0.0, hello(), room=0)
    node.poll(0.095, room=0)  # ten samples, room for four
    assert (node.samples_made, node.samples_dropped) == (10, 6)
    out = frames(node.poll(1.0, room=4096))
    assert [f.sequence for f in out if f.kind == wire.SAMPLE_F32] == [0, 1, 2, 3]
    beat = next(wire.Heartbeat.unpack(f.body) for f in out if f.kind == wire.HEARTBEAT)
    assert (beat.samples_made, beat.samples_dropped) == (101, 97)
    assert beat.free_bytes == 3
    after = frames(node.poll(1.01, room=4096))
    assert [f.sequence for f in after] == [101]


def test_the_last_word_is_a_heartbeat_with_the_final_counts():
    node = FrameNode(Rows(), samples=3)
    out = frames(node.poll(0.0, hello(), room=4096) + node.poll(0.001))
    assert [f.kind for f in out] == [wire.SCHEMA] + [wire.SAMPLE_F32] * 3 + [wire.HEARTBEAT]
    assert wire.Heartbeat.unpack(out[-1].body).samples_made == 3
    assert node.finished and node.poll(0.5) == b""


def test_a_reboot_is_a_new_epoch_that_waits_for_a_new_handshake():
    node = FrameNode(Rows(), rate=10.0, boot_id=1)
    before = wire.Schema.unpack(frames(node.poll(0.0, hello(), room=50))[0].body)
    node.poll(0.5, room=1)
    lost = node.samples_made - node.samples_sent
    node.reboot()
    assert node.lost_at_reboot == lost > 0
    assert node.poll(1.0) == b"" and node.samples_made == 6
    beat = frames(node.poll(2.0))
    assert [f.kind for f in beat] == [wire.HEARTBEAT]
    assert beat[0].schema_id not in (0, before.schema_id)  # what makes the host say HELLO again
    assert wire.Heartbeat.unpack(beat[0].body).samples_made == 0
    out = frames(node.poll(2.1, hello()))
    after = wire.Schema.unpack(out[0].body)
    assert after.boot_id != before.boot_id and node.boots == 2
    assert [(f.kind, f.sequence) for f in out[1:]] == [(wire.LOG, 2), (wire.SAMPLE_F32, 0)]


def test_predictions_are_scored_once_and_only_for_what_was_sent():
    node = FrameNode(Rows(), window=2)
    node.poll(0.0, hello(), room=0)
    node.poll(0.0, room=10 * SAMPLE_BYTES)
    node.poll(0.5, prediction(0, 0) + prediction(1, 0) + prediction(2, 0) + prediction(3, 1))
    node.poll(0.5, prediction(0, 1) + prediction(500, 1))
    node.poll(0.5, prediction(4, 0, wire.ABSTAIN) + prediction(5, 0, wire.REJECTED))
    score = node.scorer
    assert (score.received, score.score.n, score.unknown) == (8, 4, 2)
    assert (score.abstained, score.rejected) == (1, 1)
    results = score.results()
    assert [results[f"accuracy{of}"] for of in ("", "_first", "_last")] == [0.75, 0.5, 1.0]
    assert score.latency_us() == pytest.approx({"p50": 5e5, "p99": 5e5, "max": 5e5})


def test_hostile_bytes_change_nothing_but_counters():
    node = FrameNode(Rows(), rate=10.0)
    first = node.poll(0.0, hello())
    rng = np.random.default_rng(0)
    rubbish = rng.integers(0, 256, 5000).astype(np.uint8).tobytes()
    short = wire.encode_frame(wire.PREDICTION, b"short")
    odd = wire.encode_frame(0x55, b"")
    node.poll(0.05, rubbish + b"\0" + short + odd + wire.encode_frame(wire.HELLO, b"\0" * 12))
    counts = node.counters()
    assert counts["unknown_frames"] == 3 and counts["frames_bad"] > 0
    assert node.scorer.received == 0 and node.streaming
    out = frames(first + node.poll(0.1))
    assert [f.sequence for f in out if f.kind == wire.SAMPLE_F32] == [0, 1]


def test_wide_samples_say_so_in_the_schema():
    class Wide(Rows):
        n_features = 784

        def read(self, n):
            return data.Rows(np.ones((n, 784), np.float32), np.zeros(n, np.int32))

    with pytest.raises(ValueError, match="must hold one sample of 3166 bytes"):
        FrameNode(Wide())
    node = FrameNode(Wide(), tx_bytes=4096)
    refused = frames(node.poll(0.0, hello()))
    assert wire.Schema.unpack(refused[0].body).max_raw == 12 + 4 + 4 * 784
    assert len(frames(node.poll(0.1, hello(max_raw=4000)))) > 1


def test_text_lines_with_number_and_checksum():
    lines = {}
    for checksum in ("xor", "crc16"):
        node = TextNode(Rows(3), numbered=True, checksum=checksum, label_mode="none")
        lines[checksum] = node.poll(0.0, room=4096).split(b"\n")[3]
    xor = 0
    for byte in b"@1 1,-1":
        xor ^= byte
    assert lines["xor"] == b"@1 1,-1*%02X" % xor
    assert lines["crc16"] == b"@1 1,-1*%04X" % binascii.crc_hqx(b"@1 1,-1", 0xFFFF)
