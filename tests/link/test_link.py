"""Links with a simulated port and clock: nothing here waits, and every run is the same."""

import zlib

import numpy as np
import pytest
from each import each
from fake_port import Clock, FakePort, Node, connect, rows, sound, text_link

from edgesvm.errors import LinkDown, NoSchema, SchemaChanged, VersionMismatch
from edgesvm.link import FrameDecoder, open_link, wire
from edgesvm.link.first_lines import columns_of


@pytest.fixture
def clock():
    return Clock()


def test_handshake_samples_and_predictions(clock):
    node = Node(n_features=2, n_classes=2, nominal_us=1000)
    link, port = connect(clock, node)
    assert clock.now == 100.0
    assert (link.schema.n_features, link.schema.label, link.schema.n_classes) == (2, "inline", 2)
    assert (link.schema.nominal_us, link.schema.boot_id) == (1000, 5)
    port.inbox += node.sample(0, (1.5, -2.5), label=1) + node.sample(1)
    assert link.poll() == 2
    batch = link.take()
    assert batch.X.tolist() == [[1.5, -2.5], [1.0, 2.0]]
    assert batch.has_label.tolist() == [True, False]
    for sequence in batch.sequence.tolist():
        assert link.send_prediction(sequence, 1, 0.25, wire.TRAINED)
    link.release(2)
    link.flush()
    answers = [wire.Prediction.unpack(frame.body) for frame in node.kinds(wire.PREDICTION)]
    assert answers == [wire.Prediction(n, 1, wire.TRAINED, 0.25) for n in (0, 1)]
    assert [f.sequence for f in node.kinds(wire.PREDICTION)] == [0, 1]
    assert {f.schema_id for f in node.kinds(wire.PREDICTION)} == {node.schema.schema_id}
    assert node.decoder.broken_identities() == []
    assert sound(link)["predictions_sent"] == 2
    link.close()
    assert port.closed


def test_an_unsolicited_schema_is_accepted_and_one_with_another_nonce_is_not(clock):
    node = Node(answers=False)
    port = FakePort(clock, node)
    port.inbox += node.schema_frame(nonce=12345) + node.schema_frame(nonce=0)
    link = open_link("fake", opener=lambda: port, clock=clock)
    assert sound(link)["schema_stale"] == 1
    assert link.schema.n_features == 2


NOTHING, NOISE, FRAMES = (
    b"",
    b"\x80\x55\x12" * 40 + b"\0" + b"\x33" * 20,
    b"\0" + wire.encode_frame(0x7E, b"hi") * 2,
)


@pytest.mark.parametrize(
    ("bytes_in", "message"),
    [(NOTHING, "no byte arrived"), (NOISE, "115200 baud"), (FRAMES, "2 valid frames")],
)
def test_no_schema_reports_what_arrived_instead(clock, bytes_in, message):
    port = FakePort(clock, Node(answers=False))
    port.inbox += bytes_in
    with pytest.raises(NoSchema, match=message):
        open_link("fake", opener=lambda: port, clock=clock)
    assert clock.now == pytest.approx(110.0)
    assert port.closed


class StoppedPort(FakePort):
    """The process is stopped for a minute in its first read; what came by then is lost."""

    minutes = 1

    def read(self, timeout, limit=65536):
        if self.minutes:
            self.minutes -= 1
            self.clock.now += 60.0
            self.inbox.clear()
        return super().read(timeout, limit)


def test_a_host_that_is_stopped_in_the_handshake_still_asks_the_node(clock):
    node = Node()
    port = StoppedPort(clock, node)
    link = open_link("fake", opener=lambda: port, clock=clock)
    assert link.schema.n_features == 2 and len(node.kinds(wire.HELLO)) == 2


class Version2Node(Node):
    def schema_frame(self, nonce=0):
        body = nonce.to_bytes(4, "little") + b"whatever version 2 says"
        raw = bytes([wire.SCHEMA, 0x20, 0, 0, 0, 0, 0, 0]) + body
        crc = zlib.crc32(raw).to_bytes(4, "little")
        return b"\0" + wire.cobs_encode(raw + crc) + b"\0"


def test_an_answer_in_another_version_names_both(clock):
    with pytest.raises(VersionMismatch, match=r"version 2, this host uses version 1"):
        connect(clock, Version2Node())
    assert clock.now == 100.0


@pytest.mark.parametrize(
    ("node", "options", "error", "message"),
    [
        (
            {"n_features": 3},
            {"n_features": 2},
            ValueError,
            "3 features per sample, but n_features=2",
        ),
        ({"n_features": 2000}, {}, ValueError, "n_features=2000"),
        ({"n_features": 60}, {"max_raw": 100}, ValueError, "max_raw=256"),
        ({"dtype": wire.DTYPE_I16, "scale_crc": 5}, {}, NoSchema, "scale table of its int16"),
    ],
)
def test_a_schema_that_cannot_be_used(clock, node, options, error, message):
    with pytest.raises(error, match=message):
        connect(clock, Node(**node), **options)


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "guess"},
        {"late_labels": -1},
        {"value_range": (1, 1)},
        {"value_range": (0, float("inf"))},
        {"clip": True},
        {"label": "first"},
        {"ring": 0},
        {"n_features": 0},
        {"max_raw": 3},
        {"outbox_bytes": 1},
    ],
)
def test_parameters_out_of_range(clock, options):
    with pytest.raises(ValueError, match="must be"):
        connect(clock, Node(), **options)


@pytest.mark.parametrize("n", [30, 1000])
def test_a_reader_that_keeps_up_loses_nothing_however_much_waits(clock, n):
    """Nor of the rows right after the schema."""
    node = Node()
    port = FakePort(clock, node)
    port.inbox += node.schema_frame() + b"".join(node.sample(i, label=i % 2) for i in range(n))
    link = open_link("fake", opener=lambda: port, clock=clock, ring=4)
    got = []
    while link.poll(0.0):
        while batch := rows(link):
            got += batch
    assert got == list(range(n))
    assert sound(link)["ring_dropped"] == 0
    assert 0 < link.counters["ring_high_water"] <= 4


def test_a_schema_of_another_width_is_only_counted_beside_samples(clock):
    node, intruder = Node(), Node(n_features=3)
    link, port = connect(clock, node)
    for n in range(60):
        port.inbox += intruder.schema_frame() + node.sample(n)
        assert link.poll(0.0) == n + 1
        clock.now += 1.0
    assert (sound(link)["schema_refused"], rows(link)) == (60, list(range(60)))


def test_another_number_of_features_ends_the_link_in_time_and_earlier_rows_stay(clock):
    node = Node()
    link, port = connect(clock, node)
    port.inbox += node.sample(0)
    link.poll()
    node.schema, since = wire.Schema(0, 6, 3), clock.now
    port.inbox += node.schema_frame() + node.sample(1, (1.0, 2.0, 3.0))
    with pytest.raises(SchemaChanged, match="now sends 3 features per sample instead of 2"):
        while True:
            link.poll(0.1)
    assert 10.0 <= clock.now - since < 11.0
    assert rows(link) == [0] and sound(link)["schema_refused"] > 10


def test_the_link_goes_on_with_another_dtype(clock):
    node = Node()
    link, port = connect(clock, node)
    port.inbox += node.sample(0)
    link.poll()
    crc, pages = wire.scale_table([0.5, 2.0], [1.0, -1.0])
    node.schema = wire.Schema(0, 5, 2, wire.DTYPE_I16, scale_crc=crc)
    told = node.schema.schema_id
    sample = wire.encode_sample(told, 1, [-32768, 32767], label=-3, time_us=7, dtype=wire.DTYPE_I16)
    port.inbox += node.schema_frame() + sample
    port.inbox += wire.encode_frame(wire.SCALES, pages[0], schema_id=told)
    port.inbox += wire.encode_sample(
        told, 2, [-32768, 32767], label=-3, weight=0.5, dtype=wire.DTYPE_I16
    )
    port.inbox += node.sample(3)  # a float32 sample of an int16 schema
    assert link.poll() == 2
    batch = link.take()
    assert batch.X.tolist() == [[1, 2], [-16383, 65533]]
    assert batch.weight.tolist() == [1, 0.5]
    assert batch.y[1] == -3
    assert sound(link)["schema_mismatch"] == 2


def test_pages_of_a_long_scale_table_and_one_that_is_lost(clock):
    n = 70
    scales, offsets = np.linspace(-1, 1, n), np.linspace(5, 6, n)
    crc, bodies = wire.scale_table(scales, offsets)

    class Int16Node(Node):
        answers_given = 0

        def schema_frame(self, nonce=0):
            self.answers_given += 1
            told = self.schema.schema_id
            pages = [wire.encode_frame(wire.SCALES, body, schema_id=told) for body in bodies]
            if self.answers_given == 1:
                del pages[1]
            return super().schema_frame(nonce) + b"".join(pages)

    node = Int16Node(n_features=n, dtype=wire.DTYPE_I16, scale_crc=crc)
    link, port = connect(clock, node)
    assert node.answers_given == 2
    raw = np.arange(n, dtype=np.int16) * 400
    port.inbox += wire.encode_sample(node.schema.schema_id, 0, raw, dtype=wire.DTYPE_I16)
    assert link.poll() == 1
    expected = scales.astype(np.float32) * raw.astype(np.float32) + offsets.astype(np.float32)
    np.testing.assert_array_equal(link.take().X[0], expected)
    assert ("scale table", 8 * n) in link.memory()
    assert sound(link)["scale_pages"] == 5


@pytest.mark.parametrize(
    "pages",
    [
        [b"\0\0\1\0" + b"\0" * 16],  # another CRC
        [b"\0\0\1\0" + b"\0" * 24],  # too long
        [b"\0\0\1\0" + b"\0" * 8],  # too short
        [b"\0\0\1\0" + np.float32([np.nan, 0, 1, 0]).tobytes()],
        [b"x"],
    ],
)
def test_an_invalid_scale_table_is_refused(clock, pages):
    nan = np.float32([np.nan, 0, 1, 0]).tobytes()
    node = Node(dtype=wire.DTYPE_I16, scale_crc=zlib.crc32(nan))
    node.answers = False
    port = FakePort(clock, node)
    told = node.schema.schema_id
    port.inbox += node.schema_frame()
    port.inbox += b"".join(wire.encode_frame(wire.SCALES, p, schema_id=told) for p in pages)
    with pytest.raises(NoSchema, match="scale table"):
        open_link("fake", opener=lambda: port, clock=clock)


def test_a_restarted_device_opens_an_epoch(clock):
    node = Node(boot_id=5)
    link, port = connect(clock, node)
    port.inbox += b"".join(node.sample(i) for i in range(10))
    link.poll()
    again = Node(boot_id=6)
    port.node = again
    # Its samples are refused until its SCHEMA arrives; here the heartbeat reveals the restart.
    port.inbox += again.sample(0) + wire.encode_frame(
        wire.HEARTBEAT, wire.Heartbeat(6, 1, 7, 3).pack()
    )
    clock.now += 1
    link.poll()
    link.poll(0.0)
    link.poll(0.0)
    assert link.schema.boot_id == 6
    port.inbox += again.sample(1) + again.sample(2)
    link.poll()
    assert rows(link) == [*range(10), 1, 2]
    c = sound(link)
    assert (c["epochs"], c["missing"], c["schema_mismatch"]) == (2, 0, 1)
    assert (c["node_samples_made"], c["node_samples_dropped"]) == (7, 3)


def test_heartbeats_go_out_every_second(clock):
    node = Node()
    link, _ = connect(clock, node)
    for _ in range(55):
        link.poll(0.1)
    beats = [wire.Heartbeat.unpack(frame.body) for frame in node.kinds(wire.HEARTBEAT)]
    assert len(beats) == 5
    assert [b.up_ms // 1000 for b in beats] == [1, 2, 3, 4, 5]
    assert beats[-1].frames_ok == 1
    assert len({b.boot_id for b in beats}) == 1


def test_frames_the_host_does_not_read_are_counted(clock):
    node = Node()
    link, port = connect(clock, node)
    for kind in (
        wire.SAMPLE_I16,
        wire.LABEL,
        wire.HELLO,
        wire.PREDICTION,
        0x99,
    ):
        port.inbox += wire.encode_frame(kind, b"\1\2\3\4", schema_id=node.schema.schema_id)
    port.inbox += wire.encode_frame(wire.LOG, b"hot\x1b[31m\xff")
    port.inbox += wire.encode_frame(wire.HEARTBEAT, b"short") + wire.encode_frame(wire.SCHEMA, b"")
    assert link.poll() == 0
    c = sound(link)
    assert (c["ignored"], c["logs"], c["bad_control"], c["schema_mismatch"]) == (4, 1, 2, 1)
    assert link.last_log == "hot?[31m?"
    assert link.take_logs() == ["hot?[31m?"]
    assert link.take_logs() == []


def test_a_partial_write_is_finished_before_anything_else(clock):
    node = Node()
    link, port = connect(clock, node)
    port.bite = 7
    link.send_prediction(3, 1, 0.5)
    for _ in range(8):
        link.flush()
        clock.now += 0.2  # longer than the silence after which a delimiter is sent first
    assert len(node.kinds(wire.PREDICTION)) == 1
    assert node.decoder.frames == node.decoder.ok


def test_a_node_that_does_not_read_costs_whole_predictions_and_nothing_else(clock):
    node = Node()
    link, port = connect(clock, node, outbox_bytes=64)
    port.deaf = True
    assert [link.send_prediction(n, 1) for n in range(4)] == [True, True, False, False]
    port.deaf = False
    link.flush()
    told = [wire.Prediction.unpack(frame.body).sequence for frame in node.kinds(wire.PREDICTION)]
    assert told == [0, 1] and node.decoder.frames == node.decoder.ok
    assert sound(link)["predictions_dropped"] == 2


def test_the_rest_of_a_frame_does_not_go_to_the_next_port(clock):
    again = Node()
    link, port = connect(clock, Node(), [FakePort(clock, again)])
    port.bite = 7
    link.send_prediction(3, 1, 0.5)
    link.flush()
    port.dead = True
    with pytest.raises(LinkDown):
        link.poll()
    link.reconnect()
    assert not again.kinds(wire.PREDICTION)
    assert again.decoder.frames == again.decoder.ok


def test_a_delimiter_is_sent_first_after_silence(clock):
    node = Node()
    link, _ = connect(clock, node)
    node.decoder.feed(b"\x42\x42")  # noise on the line
    clock.now += 0.2
    link.send_prediction(3, 1, 0.5)
    link.flush()
    assert len(node.kinds(wire.PREDICTION)) == 1


@pytest.mark.parametrize("arguments", [(0, 40000), (0, 0.5), (0, 0, 0.0, 16), (0, 0, 0.0, -1)])
def test_send_prediction_refuses_values_out_of_range(clock, arguments):
    link, _ = connect(clock, Node())
    with pytest.raises(ValueError, match="must be"):
        link.send_prediction(*arguments)


def test_a_port_that_fails_is_link_down_and_rows_stay(clock):
    node = Node()
    link, port = connect(clock, node)
    port.inbox += node.sample(0)
    assert link.poll() == 1
    port.dead = True
    with pytest.raises(LinkDown):
        link.poll()
    with pytest.raises(LinkDown, match="not open"):
        link.poll()
    assert port.closed
    assert rows(link) == [0]
    assert not link.send_prediction(0, 1)
    assert sound(link)["disconnects"] == 1


def test_samples_that_have_come_are_read_when_answers_cannot_be_written_any_more(clock):
    node = Node()
    link, port = connect(clock, node, ring=8, outbox_bytes=64)
    port.inbox += b"".join(node.sample(n) for n in range(50))
    got = []
    with pytest.raises(LinkDown):
        while link.poll():
            port.dead = True
            new = rows(link)
            for sequence in new:
                link.send_prediction(sequence, 1)
            link.flush()
            got += new
    assert got == list(range(50))
    assert sound(link)["disconnects"] == 1 and link.counters["predictions_dropped"] > 0


def test_what_piled_up_while_the_port_was_gone_is_not_dropped_in_the_handshake(clock):
    node = Node()
    second = FakePort(clock, node)
    link, port = connect(clock, node, [second], ring=16)
    port.dead = True
    with pytest.raises(LinkDown):
        link.poll()
    second.inbox += b"\0" + b"".join(node.sample(n) for n in range(50))
    link.reconnect()
    assert link.state == "doubting"
    got = []
    while second.inbox or link.waiting:
        link.poll(0.0)
        got += rows(link)
    assert got == list(range(50)) and link.state == "listening"
    assert sound(link)["ring_dropped"] == 0


def test_reconnect_backs_off_and_the_same_boot_continues(clock):
    node = Node()
    second = FakePort(clock, node)
    link, port = connect(clock, node, ports=[None] * 8 + [second])
    port.inbox += node.sample(0) + node.sample(1)[:20]
    link.poll()
    port.dead = True
    with pytest.raises(LinkDown):
        link.poll()
    link.reconnect()
    assert clock.slept == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    second.inbox += node.sample(1)[20:] + node.sample(0) + node.sample(4)
    link.poll()
    assert rows(link) == [0, 4]
    c = sound(link)
    assert (c["epochs"], c["missing"], c["duplicate"]) == (1, 3, 1)
    assert (c["disconnects"], c["reconnects"], c["connect_attempts"]) == (1, 1, 10)
    assert c["downtime_ms"] == 16300 == round(1000 * sum(clock.slept))


def test_a_port_that_fails_in_the_handshake_is_a_disconnect_too(clock):
    node = Node()
    dying, whole = FakePort(clock), FakePort(clock, node)
    dying.inbox += b"\0" + node.sample(0)[:7]  # and then nothing
    dying.dead = True
    link, port = connect(clock, node, [dying, whole])
    port.dead = True
    with pytest.raises(LinkDown):
        link.poll()
    link.reconnect()
    c = link.counters
    assert dying.closed
    assert (c["disconnects"], c["connect_attempts"], c["reconnects"]) == (2, 3, 1)
    assert c["downtime_ms"] == 100  # from the first failure on
    sound(link)


def test_reconnect_gives_up_after_the_time_given(clock):
    link, port = connect(clock, Node())
    port.dead = True
    with pytest.raises(LinkDown):
        link.poll()
    with pytest.raises(LinkDown, match="gave up after 3"):
        link.reconnect(give_up=3.0)
    assert sum(clock.slept) <= 3.0


def test_memory_is_reported_in_bytes_and_stays(clock):
    node = Node()
    link, port = connect(clock, node, ring=16, n_features=2, outbox_bytes=128)
    assert dict(link.memory()) == {
        "frame buffer": 255, "sample": 8, "ring": 16 * (4 * 2 + 13), "outbox": 128,
    }  # fmt: skip
    before = link.nbytes
    port.inbox += b"\x55" * 100_000 + b"\0" + b"".join(node.sample(i) for i in range(1000))
    while port.inbox:
        link.poll(0.0)
    assert link.nbytes == before
    assert sound(link)["oversize"] == 1


# Text.


def test_text_with_known_features_is_open_at_once(clock):
    link, port = text_link(clock, b"rtial\n1,2,1\r\n3,4,?\r\n", n_features=2)
    assert clock.now == 100.0
    assert link.poll() == 2
    batch = link.take()
    assert batch.X.tolist() == [[1, 2], [3, 4]]
    assert batch.has_label.tolist() == [True, False]
    link.send_prediction(0, 1, 0.5, wire.TRAINED)
    link.poll(0.0)
    assert port.written == b"!0 1 2 0.5\n"
    assert sound(link)["discarded_bytes"] == 5 and link.counters["bytes_rejected"] == 0
    assert link.counters["unprotected"] == 1


def test_text_columns_come_from_a_schema_line_or_two_lines(clock):
    link, _ = text_link(clock, b"\n#esvm 1 d=3 label=none\n1,2,3\n")
    link.poll()
    assert (link.schema.n_features, link.schema.label) == (3, "none")
    assert len(link.take().y) == 1
    link, _ = text_link(clock, b"\n1,2,0\n1,2,1\n3,4,0\n")
    link.poll()
    assert link.schema.n_features == 2
    assert link.take().X.tolist() == [[3, 4]]


@pytest.mark.parametrize(
    "line",
    [
        b"#esvm 2 d=2",
        b"#esvm 1 d=9",
        b"#esvm 1 d=0",
        b"#esvm 1",
        b"#esvm 1 d=99999",
        b"#esvm 1 d=2 x",
    ],
)
def test_text_schema_lines_that_change_nothing(clock, line):
    link, _ = text_link(clock, b"\n" + line + b"\n1,2,1\n", n_features=2)
    assert link.poll() == 1
    assert sound(link)["schema_refused"] == 1


# Late labels.


def late_link(clock, node=None, **options):
    node = Node(label_mode=wire.LABEL_LATE) if node is None else node
    link, port = connect(clock, node, late_labels=4, **options)
    return link, port, node


def label_frame(node, sequence, label=1, **options):
    body = wire.Label(sequence, label, **options).pack()
    return wire.encode_frame(wire.LABEL, body, schema_id=node.schema.schema_id)


def wire_order(link):
    """What a reader gets, in order: ("sample", number) and ("label", number, label)."""
    order = []
    while True:
        while (late := link.take_labelled()) is not None:
            order.append(("label", late.sequence, late.label))
        batch = link.take()
        if not len(batch.y):
            return order
        for x, sequence in zip(batch.X, batch.sequence.tolist(), strict=True):
            link.late.wait(x, sequence)
            order.append(("sample", sequence))
        link.release(len(batch.y))


def test_the_reader_gets_each_label_between_the_rows_around_it(clock):
    link, port, node = late_link(clock)
    assert link.schema.label == "late"
    port.inbox += node.sample(0) + node.sample(1) + label_frame(node, 0) + label_frame(node, 9)
    port.inbox += node.sample(2) + label_frame(node, 2, -7) + label_frame(node, 2)
    assert link.poll() == 3
    assert wire_order(link) == [
        ("sample", 0), ("sample", 1), ("label", 0, 1), ("sample", 2), ("label", 2, -7),
    ]  # fmt: skip
    c = sound(link)
    assert (c["labels"], c["label_matched"], c["label_unknown"], c["label_duplicate"]) == (
        4, 2, 1, 1,
    )  # fmt: skip


def test_an_invalid_label_is_counted(clock):
    link, port, node = late_link(clock)
    told = node.schema.schema_id
    port.inbox += node.sample(0) + wire.encode_frame(wire.LABEL, b"short", schema_id=told)
    port.inbox += wire.encode_frame(wire.LABEL, wire.Label(0, 1).pack(), schema_id=told ^ 1)
    port.inbox += wire.encode_frame(wire.LABEL, wire.Label(0, 1).pack(), schema_id=told, flags=1)
    link.poll()
    assert wire_order(link) == [("sample", 0)]
    assert (sound(link)["bad_label"], link.counters["label_mismatch"]) == (2, 1)


def test_a_label_of_the_previous_boot_matches_nothing(clock):
    link, port, node = late_link(clock)
    port.inbox += node.sample(0) + node.sample(1)
    again = Node(label_mode=wire.LABEL_LATE, boot_id=6)
    port.inbox += again.schema_frame() + label_frame(node, 0) + label_frame(again, 1)
    port.inbox += again.sample(0) + label_frame(again, 0)
    link.poll()
    assert wire_order(link) == [("sample", 0), ("sample", 1), ("sample", 0), ("label", 0, 1)]
    c = sound(link)
    assert (c["label_mismatch"], c["label_unknown"], c["late_unlabelled"]) == (1, 1, 2)


def test_a_jump_of_the_numbers_drops_waiting_samples(clock):
    link, port, node = late_link(clock)
    port.inbox += node.sample(3) + node.sample(3 + 2**21) + node.sample(4) + label_frame(node, 4)
    link.poll()
    assert wire_order(link)[-2:] == [("sample", 4), ("label", 4, 1)]
    assert (sound(link)["seq_jump"], link.counters["late_unlabelled"]) == (2, 2)


def test_a_slow_reader_loses_labels_too_and_nothing_is_mixed_up(clock):
    link, port, node = late_link(clock, ring=4)
    for n in range(50):
        port.inbox += node.sample(n) + label_frame(node, n, n % 3)
    while port.inbox:
        link.poll(0.0)
    order = wire_order(link)
    assert all(step[2] == step[1] % 3 for step in order if step[0] == "label")
    assert len([step for step in order if step[0] == "sample"]) == 4
    c = sound(link)
    assert c["label_dropped"] == 46
    assert c["labels"] == 50 == c["label_dropped"] + c["label_matched"] + c["label_unknown"]


def test_late_labels_in_lines(clock):
    lines = b"\n#esvm 1 d=2 label=late\n@0 1,2\n@1 3,4\n=0 7\n=0 1\n=9 1\n"
    lines += b"=1 x\n=x 1\n=1\n=1 ?\n5,6\n=2 -1\n"
    link, _ = text_link(clock, lines, late_labels=8)
    link.poll()
    assert link.schema.label == "late"
    assert wire_order(link) == [
        ("sample", 0), ("sample", 1), ("label", 0, 7), ("sample", 2), ("label", 2, -1),
    ]  # fmt: skip
    c = sound(link)
    assert (c["labels"], c["label_matched"], c["label_duplicate"], c["label_unknown"]) == (
        4, 2, 1, 1,
    )  # fmt: skip
    assert (c["bad_label"], c["bad_sequence"], c["ignored"]) == (2, 2, 0)


def test_a_restarted_sketch_drops_waiting_samples(clock):
    lines = b"\n" + b"".join(b"@%d 1,2\n" % n for n in range(70)) + b"@0 1,2\n=69 1\n=0 1\n"
    link, port = text_link(clock, lines, n_features=2, late_labels=100)
    while port.inbox:
        link.poll()
    assert wire_order(link)[-1] == ("label", 0, 1)
    c = sound(link)
    assert (c["label_unknown"], c["late_unlabelled"], c["epochs"]) == (1, 70, 2)


# Values and the device's clock.


def test_values_outside_the_range_are_refused_or_clipped(clock):
    values = [0.5, 2.0, np.inf, -np.inf, np.nan, -1.0]
    for clip, kept in ((False, [0.5, -1.0]), (True, [0.5, 1.0, 1.0, -1.0, -1.0])):
        node = Node()
        link, port = connect(clock, node, value_range=(-1, 1), clip=clip)
        port.inbox += b"".join(node.sample(n, (v, 0.0)) for n, v in enumerate(values))
        link.poll()
        assert link.take().X[:, 0].tolist() == kept
        c = sound(link)
        refused = (c["bad_nan"], c["bad_inf"], c["bad_range"], c["clipped"])
        assert refused == ((1, 0, 0, 3) if clip else (1, 2, 1, 0))
        assert c["bad_value"] == sum(refused[:3])
        link.flush()
        answers = [wire.Prediction.unpack(frame.body) for frame in node.kinds(wire.PREDICTION)]
        assert [answer.flags for answer in answers] == [wire.REJECTED] * c["bad_value"]


@pytest.mark.parametrize(
    ("times", "jumps"),
    [
        ([0, 1000, 2000, 3000], 0),
        ([2**32 - 1500, 2**32 - 500, 500, 1500], 0),  # the clock wraps
        ([5000, 6000, 1000, 2000], 1),
        ([0, 1000, 900_000_000, 900_001_000], 1),
        ([0, 1000, 1_002_000, 1_002_001], 0),  # a second late
        ([0, 1000, 1_002_001, 0], 2),
    ],
)
def test_the_device_clock_orders_nothing_and_its_jumps_are_counted(clock, times, jumps):
    node = Node(nominal_us=1000)
    link, port = connect(clock, node)
    for n, time in enumerate(times):
        port.inbox += node.sample(n, time_us=time)
    link.poll()
    assert rows(link) == [0, 1, 2, 3]
    assert sound(link)["clock_jumps"] == jumps


# Frames or lines.


def test_auto_detects_frames(clock):
    node = Node()
    link, port = connect(clock, node, mode="auto", late_labels=None)
    port.inbox += node.sample(0)
    assert link.poll() == 1
    assert sound(link)["samples"] == 1


def test_auto_detects_lines(clock):
    port = FakePort(clock)
    port.inbox += b"4\n1,2,1\n3,4,0\n"
    link = open_link("fake", mode="auto", n_features=2, opener=lambda: port, clock=clock)
    for _ in range(4):
        link.poll(0.0)
    assert rows(link) == [0, 1]
    assert (sound(link)["discarded_bytes"], link.counters["bytes_in"]) == (1, 14)


@each(
    "before, line",
    [
        (b"", b"1.5,2\n"),
        (b"", b"x:1 y:-2.5\r\n"),
        (b"", b"5\n"),
        (b"ets Jun  8 2016\nready\n", b"1 2\n"),
        (bytes(range(256)), b"1.5,2\n"),
        ("Temp\u00e9rature\n".encode(), b"20,5;3,1\n"),
    ],
)
def test_auto_loses_no_line_and_writes_nothing_to_a_sketch(before, line, clock):
    port = FakePort(clock)
    port.inbox += before + line * 9
    link = open_link("fake", mode="auto", label="none", opener=lambda: port, clock=clock)
    for _ in range(9):
        link.poll(0.0)
    counters = sound(link)
    assert counters["samples"] + counters["discovery"] >= 8
    assert not port.written or b"\0" in before  # what comes may be frames


def test_auto_gives_up_if_no_byte_arrives(clock):
    port = FakePort(clock)
    with pytest.raises(NoSchema, match="within 3 s: no byte arrived"):
        open_link("fake", mode="auto", opener=lambda: port, clock=clock, handshake_timeout=3.0)
    assert port.closed
    hellos = [frame for frame in FrameDecoder().feed(bytes(port.written))]
    assert [frame.kind for frame in hellos] == [wire.HELLO] * 6


def test_rows_of_an_earlier_boot_make_no_late_label_expire(clock):
    """The ring holds a row of the boot before when late labels begin, at sample 0."""
    link, port = connect(clock, Node(), late_labels=4)
    late = Node(boot_id=6, label_mode=wire.LABEL_LATE)
    port.inbox += Node().sample(600, label=1) + late.schema_frame() + late.sample(0)
    body = wire.Label(0, 1).pack()
    port.inbox += wire.encode_frame(wire.LABEL, body, schema_id=late.schema.schema_id)
    assert link.poll() == 2
    found = []
    for _ in range(3):
        batch = link.take()
        for x, labelled, n in zip(batch.X, batch.has_label, batch.sequence.tolist(), strict=True):
            link.late.labelled(n) if labelled else link.late.wait(x, n)
        link.release(len(batch.y))
        while (sample := link.take_labelled()) is not None:
            found.append(sample.sequence)
    assert found == [0]
    assert sound(link)["label_expired"] == 0


def test_what_the_first_lines_say_of_the_columns():
    for width, lines, names, out in (
        (3, ["x,y,label", "1.5,2,0", "1.7,3,1"], "x y label", {2: "a label"}),
        (3, ["ready, steady go", "t:5 a:1 still", "t:6 a:1 moves"], "t a label", {2: "words"}),
        (2, ["2026-01-01T00:00:01;1", "2026-01-01T00:00:02;1"], "", {0: "times"}),
        (2, ["I (12) accel: 0.9, 0.1"] * 3, "", {}),
        (2, ["nan,1", "err,2"], "", {}),
        (0, ["", "hello"], "", {}),
    ):
        assert columns_of(lines) == (width, (*names.split(),), out), lines
