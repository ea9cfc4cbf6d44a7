"""A board's end of a link learns as `edgesvm run`: equal counters, predictions and arena after every
frame, whatever comes. The same C, compiled for this machine."""

import shutil
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from on_link import NONCE, Beside, Linked, broken_identities, differences, predictions

from edgesvm import KernelStreamSVM, OneVsRest, Standardized, StreamSVM, load
from edgesvm.ingest import SnapshotFetch, SnapshotGift, wire
from edgesvm.persist.format import pack

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")

D, LATE = 3, 16
MAKERS = {
    "scaled stream": lambda: Standardized(learner=StreamSVM()).allocate(D, classes=[0, 1]),
    "three classes": lambda: OneVsRest(
        learner=KernelStreamSVM(max_vectors=5, dtype="float64"), n_classes=3
    ).allocate(D, classes=[-3, 0, 7]),
}


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    choices = f"LATE={LATE} RESTORE=1"
    return {
        name: Linked(make(), tmp_path_factory.mktemp("link"), choices)
        for name, make in MAKERS.items()
    }


def schema_frame(boot_id=5, nonce=NONCE, **fields):
    body = wire.Schema(nonce, boot_id, D, **fields)
    return wire.encode_frame(wire.SCHEMA, body.pack(), schema_id=body.schema_id)


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
    at = where % len(frame) if frame else 0
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
@settings(max_examples=250, deadline=None, phases=[__import__("hypothesis").Phase.generate])
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
