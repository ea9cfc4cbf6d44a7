"""A board's end of a link learns as `edgesvm run`: equal counters, predictions and arena after
every frame, whatever comes. The same C, compiled for this machine."""

import shutil
import subprocess
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from on_link import NONCE, Beside, Linked, broken_identities, differences, predictions

from edgesvm import GaussianNovelty, KernelStreamSVM, OneVsRest, Standardized, StreamSVM
from edgesvm.export.folder import export
from edgesvm.link import SnapshotFetch, SnapshotGift, wire
from edgesvm.persist.format import pack

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")

D, LATE = 3, 16


def larger_first():
    """Nothing learned yet, but the larger label came first."""
    learner = StreamSVM().allocate(D)
    for slot, label in enumerate((1, 0)):
        learner.core.labels.take(slot, label)
    return learner


MAKERS = {
    "scaled stream": lambda: Standardized(learner=StreamSVM()).allocate(D, classes=[0, 1]),
    "three classes": lambda: OneVsRest(
        learner=KernelStreamSVM(max_vectors=5, dtype="float64"), n_classes=3
    ).allocate(D, classes=[-3, 0, 7]),
    "larger label first": larger_first,
}


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    choices = f"LATE={LATE} RESTORE=1"
    return {
        name: Linked(make(), tmp_path_factory.mktemp("link"), choices)
        for name, make in MAKERS.items()
    }


class Sensor:
    """Turns numbers into frames, some of them odd."""

    def __init__(self, label_mode):
        self.schema = wire.Schema(NONCE, 5, D, label_mode=label_mode)
        self.n = 0
        self.pages = []
        self.last = b""

    def announce(self):
        return wire.encode_frame(wire.SCHEMA, self.schema.pack())

    def frame(self, kind, a, b):
        self.last = KINDS[kind](self, a, b) or self.last
        return self.last

    def sample(self, a, b):
        """The next one, or another near it or far away."""
        step = (1, 1, 1, 1, 2, 9, -1, -2, -40, -70, 100, 1 << 21, -(1 << 21))[a % 13]
        sequence = self.n + step
        if step > 0:
            self.n = sequence
        rng = np.random.default_rng(b)
        label = (None, -3, 0, 0, 1, 1, 7)[a // 13 % 7]
        options = {"label": label, "weight": (1.0, 1.0, 0.5, 0.0)[b % 4]}
        if b % 3 == 0:
            options["time_us"] = 1000 * sequence + (b % 7 == 0) * 3_000_000
        if self.schema.dtype == wire.DTYPE_I16:
            x = rng.integers(-32768, 32768, D)
            return wire.encode_sample_i16(self.schema.schema_id, sequence, x, **options)
        x = rng.standard_normal(D).astype(np.float32)
        if b % 23 == 0:
            x[b % D] = (np.nan, np.inf, 3e38, 1e-42)[b // 23 % 4]
        return wire.encode_sample(self.schema.schema_id, sequence, x, **options)

    def late(self, a, b):
        body = wire.Label((self.n - a % 40) & 0xFFFFFFFF, (0, 1, -3, 7)[b % 4], (b % 5) / 4)
        return wire.encode_frame(wire.LABEL, body.pack(), schema_id=self.schema.schema_id)

    def restarted(self, a, b):
        """Another boot, other labels, or 16-bit samples with a table or without."""
        dtype = wire.DTYPE_I16 if a % 2 else wire.DTYPE_F32
        crc, self.pages = wire.scale_table([0.5 + b, 1e-3, 2.0], [0.0, b, -1.0], max_raw=24)
        crc *= dtype == wire.DTYPE_I16 and a % 3 > 0
        mode = (wire.LABEL_INLINE, wire.LABEL_LATE)[a // 2 % 2]
        self.schema = wire.Schema(NONCE, 5 + a % 3, D, dtype, mode, scale_crc=crc)
        nonce = (NONCE, 0, NONCE, 99)[b % 4]
        body = nonce.to_bytes(4, "little") + self.schema.pack()[4:]
        frames = [wire.encode_frame(wire.SCHEMA, body, schema_id=self.schema.schema_id)]
        if b % 5:
            frames += [self.page(k, 0) for k in range(len(self.pages))]
        return b"".join(frames)

    def page(self, a, b):
        if not self.pages:
            return b""
        body = bytearray(self.pages[a % len(self.pages)])
        if b % 4 == 3:
            body[-1] ^= 0x7F  # not a number, or not the table's
        return wire.encode_frame(wire.SCALES, bytes(body), schema_id=self.schema.schema_id)

    def heartbeat(self, a, b):
        body = wire.Heartbeat(5 + a % 3, b).pack()
        return wire.encode_frame(wire.HEARTBEAT, body[: 32 - (b % 9 == 0)])

    def other(self, a, b):
        kind = (wire.LOG, wire.ACK, wire.COMMAND, wire.HELLO, wire.PREDICTION, 0x66, wire.SCALES)
        return wire.encode_frame(kind[a % 7], bytes(b % 40), flags=a % 16)

    def odd_sample(self, a, b):
        """Of a wrong length, with flags that samples have not, of another schema or type."""
        kind, schema_id = (wire.SAMPLE_F32, wire.SAMPLE_I16)[a % 2], self.schema.schema_id
        return wire.encode_frame(
            kind, bytes(b % 24), schema_id=schema_id + a % 3 & 0xFFFF, flags=b % 16
        )

    def another_version(self, a, b):
        raw = bytearray(wire.pack_header(wire.SAMPLE_F32, 0, self.schema.schema_id, a))
        raw[1] = 0x20
        raw += bytes(b % 9)
        return wire.cobs_encode(bytes(raw) + zlib.crc32(raw).to_bytes(4, "little")) + b"\0"

    def noise(self, a, b):
        return np.random.default_rng(a).integers(0, 256, b % 600, np.uint8).tobytes()

    def ask(self, a, b):
        body = wire.SnapshotAsk(a + 1, b, a).pack()
        return wire.encode_frame(wire.SNAPSHOT_ASK, body)

    def again(self, a, b):
        return b""


KINDS = (
    *(Sensor.sample,) * 12,
    *(Sensor.late,) * 4,
    Sensor.restarted,
    Sensor.page,
    Sensor.heartbeat,
    Sensor.other,
    Sensor.odd_sample,
    Sensor.another_version,
    Sensor.noise,
    Sensor.ask,
    Sensor.again,
)


def damaged(frame, how, where):
    """A frame as it may arrive."""
    if not frame:
        return b""
    at = where % len(frame)
    if how == 1:  # one bit flipped
        return frame[:at] + bytes([frame[at] ^ 1 << where % 8]) + frame[at + 1 :]
    if how == 2:  # a byte lost
        return frame[:at] + frame[at + 1 :]
    if how == 3:  # cut short, with no end
        return frame[:at]
    if how == 4:
        return b"\0" * (where % 5) + frame + frame
    return frame


EVENTS = st.lists(
    st.tuples(
        st.integers(0, len(KINDS) - 1),
        st.integers(0, 999),
        st.integers(0, 999),
        st.integers(0, 20),
        st.integers(0, 9999),
    ),
    max_size=60,
)


@pytest.mark.parametrize("name", MAKERS)
@given(EVENTS, st.sampled_from([wire.LABEL_INLINE, wire.LABEL_LATE]), st.binary(max_size=9))
@settings(max_examples=100)
def test_learns_as_a_host_from_whatever_comes(boards, name, events, label_mode, stale):
    board, sensor, learner = boards[name], Sensor(label_mode), MAKERS[name]()
    board.begin()
    first = stale + b"\0" + sensor.announce()
    board.feed(first)
    beside = Beside(learner, first, late=LATE)
    assert differences(board, beside) == []
    for kind, a, b, how, where in events:
        data = damaged(sensor.frame(kind, a, b), how, where)
        there, here = board.feed(data), beside.feed(data)
        assert differences(board, beside) == []
        assert predictions(there) == predictions(here)


def taught(board, n=40):
    """Let it learn n samples; what it sends, and the host's learner of the same."""
    sensor, learner = Sensor(wire.LABEL_INLINE), MAKERS["scaled stream"]()
    board.begin()
    sent = board.feed(b"\0" + sensor.announce())
    for i in range(n):
        x = np.random.default_rng(i).standard_normal(D).astype(np.float32)
        sent += board.feed(wire.encode_sample(sensor.schema.schema_id, i, x, label=i % 2))
        learner.learn_one(x, i % 2)
    return sent, learner


def snapshots(frames, fetch):
    found = [fetch.take(wire.SnapshotPage.unpack(f.body)) for f in frames if f.kind == 0x51]
    return [whole for whole in found if whole is not None]


def test_a_snapshot_is_fetched_and_given(boards):
    board = boards["scaled stream"]
    _, learner = taught(board)
    there, fetch = pack(learner.snapshot()), SnapshotFetch()
    asked = board.feed(wire.encode_frame(wire.SNAPSHOT_ASK, fetch.ask()))
    assert [f.sequence - asked[0].sequence for f in asked] == list(range(len(asked)))
    assert all(len(f.body) <= wire.MAX_RAW - wire.MIN_RAW for f in asked)
    assert snapshots(asked[:1] + asked[2:], fetch) == []  # one page is lost
    assert snapshots(board.feed(wire.encode_frame(wire.SNAPSHOT_ASK, fetch.ask())), fetch) == [
        there
    ]
    # another model's, one byte of its own wrong, and then its own of an earlier time
    _, earlier = taught(board, 10)
    empty = MAKERS["scaled stream"]()
    bad = bytearray(pack(earlier.snapshot()))
    bad[-9] ^= 1
    for request, data, outcome in (
        (1, pack(StreamSVM().allocate(D, classes=[0, 1]).snapshot()), wire.NO_SNAPSHOT),
        (2, bytes(bad), wire.NO_SNAPSHOT),
        (3, pack(empty.snapshot()), wire.RESTORED),
        (3, pack(earlier.snapshot()), wire.RESTORED),  # an old id: answered, not done
        (4, there, wire.RESTORED),
    ):
        gift, before = SnapshotGift(data, request), board.arena
        while gift.outcome is None:
            for lost in (True, False):
                page = wire.encode_frame(wire.SNAPSHOT_PAGE, gift.page())
                page = page[:5] + b"\1" + page[6:] if lost else page
                for frame in board.feed(page):
                    gift.take(wire.SnapshotStatus.unpack(frame.body))
        assert gift.outcome == outcome
        if outcome == wire.NO_SNAPSHOT:
            assert board.arena == before
    assert board.arena == bytes(learner.arena)
    counts = board.counts
    assert (counts["restored"], counts["restore_refused"]) == (2, 2)
    assert broken_identities(counts) == []


def test_choices_of_a_link(tmp_path):
    """Snapshots pushed, the shortest frames, no 16-bit samples, and no snapshot taken."""
    board = Linked(MAKERS["scaled stream"](), tmp_path, "PUSH=15 RAW=44 INT16=0")
    sent, _ = taught(board)
    states = [taught(board, n)[1] for n in (15, 30)]
    _, learner = taught(board)
    assert snapshots(sent, SnapshotFetch()) == [pack(state.snapshot()) for state in states]
    assert all(len(f.body) <= 32 for f in sent)
    gift = SnapshotGift(pack(learner.snapshot()), 5, max_raw=44)
    for frame in board.feed(wire.encode_frame(wire.SNAPSHOT_PAGE, gift.page())):
        gift.take(wire.SnapshotStatus.unpack(frame.body))
    assert gift.outcome == wire.TAKES_NONE
    board.feed(wire.encode_frame(wire.SCHEMA, wire.Schema(NONCE, 5, D, wire.DTYPE_I16).pack()))
    board.feed(wire.encode_frame(wire.SCHEMA, wire.Schema(NONCE, 5, D + 1).pack()))
    board.feed(wire.encode_frame(wire.SCHEMA, wire.Schema(NONCE, 5, D, label_mode=5).pack()))
    assert board.counts["schema_refused"] == 3 and board.counts["bad_control"] == 0


def test_a_board_asks_and_shows_that_it_lives(boards):
    board = boards["scaled stream"]
    board.begin()
    kinds = [f.kind for now in range(0, 1600, 100) for f in board.tick(now)]
    assert kinds == [wire.HELLO] * 4
    board.feed(b"\0" + Sensor(wire.LABEL_INLINE).announce())
    beats = [(f.kind, now) for now in range(1600, 9000, 100) for f in board.tick(now)]
    assert [now for kind, now in beats if kind == wire.HEARTBEAT] == list(range(2500, 9000, 1000))
    assert [now for kind, now in beats if kind == wire.HELLO] == list(range(6500, 9000, 500))
    board.feed(Sensor(wire.LABEL_INLINE).announce())
    assert wire.HELLO not in [f.kind for f in board.tick(9100)]


def test_a_sketch_in_cpp_may_use_it(tmp_path):
    if shutil.which("g++") is None:
        pytest.skip("no g++ on the path")
    export(MAKERS["scaled stream"](), tmp_path, "pump")
    (tmp_path / "sketch.cpp").write_text(
        "#define PUMP_LINK_LATE 300\n#define PUMP_LINK_RESTORE 1\n"
        '#include "pump_link.h"\npump_link one;\n'
        "void setup(pump_t *model) { pump_link_begin(&one, model, 0, 0, 1); }\n"
    )
    flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", f"-I{tmp_path}"]
    subprocess.run(["g++", *flags, tmp_path / "sketch.cpp"], check=True)


def test_there_is_no_link_without_labels(tmp_path):
    export(GaussianNovelty().allocate(D), tmp_path, "pump")
    assert not list(tmp_path.rglob("*link*"))


def test_a_late_label_of_a_scaled_sample_is_learned_once(boards):
    board, sensor = boards["scaled stream"], Sensor(wire.LABEL_INLINE)
    board.begin()
    first = b"\0" + sensor.announce()
    board.feed(first)
    beside = Beside(MAKERS["scaled stream"](), first, late=LATE)
    frames = [
        wire.encode_sample(sensor.schema.schema_id, i, [i, 1.0, 3e38 * (i > 1)], label=label)
        for i, label in enumerate((0, 1, None))  # the third is too large to square
    ]
    frames += [sensor.restarted(7, 4)]  # 16-bit samples with a table, and late labels
    frames += [
        wire.encode_sample_i16(sensor.schema.schema_id, i, [100 * i, -7, 3000 - i])
        for i in range(4)
    ]
    frames += [
        wire.encode_frame(
            wire.LABEL, wire.Label(i, i % 2).pack(), schema_id=sensor.schema.schema_id
        )
        for i in (0, 0, 1, 9, 1)
    ]
    for frame in frames:
        assert predictions(board.feed(frame)) == predictions(beside.feed(frame))
        assert differences(board, beside) == []
    counts = board.counts
    assert (counts["learned"], counts["refused_value"]) == (4, 1)
    assert (counts["label_duplicate"], counts["label_unknown"]) == (2, 1)


def test_pages_of_two_snapshots_are_not_put_together(boards):
    board = boards["scaled stream"]
    one, other = (pack(taught(board, n)[1].snapshot()) for n in (10, 20))
    before, said = board.arena, []
    for snapshot, begin in ((one, 0), (other, 200)):
        crc = int.from_bytes(snapshot[-4:], "little")
        page = wire.SnapshotPage(30, crc, len(one), begin, snapshot[begin:][:200])
        said += board.feed(wire.encode_frame(wire.SNAPSHOT_PAGE, page.pack()))
    statuses = [wire.SnapshotStatus.unpack(frame.body) for frame in said]
    assert statuses == [wire.SnapshotStatus(30, wire.GO_ON, 200)] * 2
    assert board.arena == before
