"""The binary link: handshake, samples, heartbeats and predictions in CRC-checked frames."""

from __future__ import annotations

from collections.abc import Callable
from random import SystemRandom  # `secrets` would load OpenSSL: 3.5 MiB
from typing import Any

from edgesvm.errors import LinkDown, NoSchema, VersionMismatch
from edgesvm.link import wire
from edgesvm.link._frames import FrameDecoder, ValueGate
from edgesvm.link._keyed import Authenticator
from edgesvm.link._ring import encode_estimate, encode_prediction
from edgesvm.link._samples import SampleReceiver
from edgesvm.link.control import ScaleTable
from edgesvm.link.link import AWAY, HEARTBEAT_EVERY, Link, SampleSchema
from edgesvm.link.ports import Port

HELLO_EVERY = 0.5  # seconds
# After a silence this long, send a 0x00 first, so that noise cannot corrupt the next frame.
IDLE = 0.1
# Read little at a time until the schema is known: the rows right after it must fit in the ring.
HANDSHAKE_BYTES = 64
# Longest raw frame accepted while n_features is unknown: 1,020 float32 features.
OPEN_MAX_RAW = 4100

LABEL_MODES = {wire.LABEL_NONE: "none", wire.LABEL_INLINE: "inline", wire.LABEL_LATE: "late"}


class BinaryLink(Link):
    """A link that uses frames of protocol version 1."""

    binary = True
    _awaited = "SCHEMA"
    # Counters of what a valid frame was.
    _kinds: tuple[str, ...] = (
        *("samples", "schemas", "heartbeats", "scale_pages", "logs", "bad_label"),
        *("label_mismatch", "ignored", "bad_version", "bad_control"),
    )

    def __init__(
        self,
        opener: Callable[[], Port],
        *,
        n_features: int | None = None,
        label: str = "last",
        targets: bool | None = False,
        max_raw: int | None = None,
        baud: int | None = None,
        gate: ValueGate | None = None,
        key: bytes | None = None,
        nonce: Callable[[], int] = lambda: SystemRandom().randint(1, 0xFFFFFFFF),
        **options: Any,
    ) -> None:
        if max_raw is None:
            longest = wire.sample_raw_length(
                n_features or 1, has_label=True, has_time=True, targets=targets is not False
            )
            max_raw = OPEN_MAX_RAW if n_features is None else max(wire.MAX_RAW, longest)
            max_raw += 0 if key is None else wire.TAG_BYTES
        guard = None if key is None else Authenticator(key)
        receiver = SampleReceiver(
            FrameDecoder(max_raw), use_labels=label != "none", gate=gate, guard=guard
        )
        super().__init__(
            opener, receiver, n_features=n_features, label=label, targets=targets, **options
        )
        self._receiver = receiver
        self.guard = guard
        self._tag_bytes = 0 if guard is None else wire.TAG_BYTES
        self._genuine = self._strange = 0  # frames that the guard admitted, and refused
        self._genuine_at = 0.0
        self._baud = baud
        self._new_nonce = nonce
        self._nonce = 0
        self._wire_schema: wire.Schema | None = None
        self._schema_id = 0
        self._handshake_done = False
        self._doubting = False
        self._mismatches_seen = 0
        self._next_hello = 0.0
        self._next_heartbeat = 0.0
        self._last_write = 0.0
        self._at_frame_end = True  # no frame is half written
        self._host_id = nonce()
        self._born = self._clock()
        self._control_sequence = 0
        self._prediction_sequence = 0
        names = "schemas schema_refused schema_stale heartbeats logs scale_pages ignored"
        self._counts = dict.fromkeys([*names.split(), "bad_version", "bad_control"], 0)
        self._table: ScaleTable | None = None
        self._frames_read = self._samples_read = 0  # valid ones; those of the schema
        self._sample_at = 0.0  # as _valid_at, of the last sample of the schema, or SCHEMA
        self.last_heartbeat: wire.Heartbeat | None = None
        self.last_log = ""

    @property
    def state(self) -> str:
        """ "closed", "asking", "listening" or "doubting": the host's state in FORMATS.md."""
        if self._port is None:
            return "closed"
        if not self._handshake_done:
            return "asking"
        return "doubting" if self._doubting else "listening"

    # Handshake.

    def _handshake(self) -> None:
        self._handshake_done = self._doubting = False
        self._draw_nonce()
        now = self._clock()
        deadline = now + self._handshake_timeout
        self._next_hello = now
        self._last_write = now - IDLE
        self._at_frame_end = True
        decoder = self._receiver.decoder
        bytes_before, ok_before = decoder.bytes_in, decoder.ok
        bad_version_before = self._counts["bad_version"]
        port = self._live_port()
        while not self._handshake_done:
            now = self._clock()
            if now >= deadline:
                if self._counts["bad_version"] > bad_version_before:
                    raise self._version_mismatch("another version")
                raise self._no_schema(decoder.bytes_in - bytes_before, decoder.ok - ok_before)
            if now >= self._next_hello:
                self._send_hello(now)
            self._write_out(port)
            wait = max(0.0, min(deadline, self._next_hello) - now)
            chunk = port.read(wait, HANDSHAKE_BYTES)
            # Of the time that this process was stopped or not scheduled, only so much counts.
            deadline += max(0.0, self._clock() - now - wait - AWAY)
            if chunk:
                self._feed(chunk)
            # Of a node that goes on, what had piled up must not be dropped while it is asked.
            if 2 * self.waiting >= self._ring_rows and not self._handshake_done:
                self._handshake_done = self._doubting = True
        self._next_heartbeat = self._clock() + HEARTBEAT_EVERY

    def _draw_nonce(self) -> None:
        self._nonce = self._new_nonce()
        if self.guard is not None:
            self.guard.ask(self._new_nonce() << 32 | self._nonce)

    def _send_hello(self, now: float) -> None:
        if self.guard is not None and not self.guard.asked:
            self._draw_nonce()  # a nonce opens one session, or an old SCHEMA could come back
        hello = wire.Hello(
            self._nonce,
            max_raw=min(self._receiver.decoder.max_raw, 0xFFFF),
            host_ms=self._uptime_ms(now),
        )
        self._queue_control(wire.HELLO, hello.pack())
        self._next_hello = now + HELLO_EVERY

    def _ask_again(self, now: float) -> None:
        if self._doubting and self._handshake_done and now >= self._next_hello:
            self._send_hello(now)

    def _no_schema(self, n_bytes: int, n_frames: int) -> NoSchema:
        waited = f"{self.name}: no {self._awaited} within {self._handshake_timeout:g} s"
        if n_bytes == 0:
            return NoSchema(
                f"{waited}: no byte arrived; "
                "check that the node is powered and connected to this port"
            )
        if n_frames == 0:
            rate = "the baud rate"
            if self._baud is not None:
                rate = f"that the node uses {self._baud} baud"
            return NoSchema(
                f"{waited}: {n_bytes} bytes arrived but no valid frame; check {rate}, "
                "or give mode='text' if it sends text lines"
            )
        if self._other_since is not None:
            return NoSchema(f"{waited}, but one of another number of features")
        if self._table is not None and self._table.rows is None:
            return NoSchema(
                f"{waited}: a SCHEMA arrived, but not the scale table of its int16 samples"
            )
        if self.guard is not None:
            return NoSchema(
                f"{waited}: {n_frames} frames arrived, {self.guard.bad_tag} of them without a "
                "valid tag; check that the node has the same key"
            )
        logged = f"; the node logged: {self.last_log}" if self.last_log else ""
        return NoSchema(f"{waited}, though {n_frames} valid frames arrived{logged}")

    def _version_mismatch(self, theirs: str) -> VersionMismatch:
        return VersionMismatch(
            f"{self.name}: the node uses protocol {theirs}, "
            f"this host uses version {wire.PROTOCOL_VERSION}"
        )

    # Frames in.

    def _feed(self, chunk: bytes) -> None:
        receiver = self._receiver
        for frame in receiver.feed(chunk):
            self._on_control(frame)
        # Of a link with a key, forged frames are no sign of life.
        n_frames = receiver.decoder.ok if receiver.guard is None else receiver.guard.admitted
        if n_frames != self._frames_read:
            self._frames_read = n_frames
            self._valid_at = self._listened
        self._note_samples()
        # Samples of an unknown schema: ask again.
        self._doubting |= receiver.schema_mismatch > self._mismatches_seen
        self._mismatches_seen = receiver.schema_mismatch
        now = self._clock()
        self._doubting |= self._is_another_session(now)
        self._ask_again(now)

    def _note_samples(self) -> None:
        """Note whether samples of the schema have come."""
        n_samples = self._receiver.samples - self._receiver.schema_mismatch
        if n_samples != self._samples_read:
            self._samples_read = n_samples
            self._sample_at, self._other_since = self._listened, None

    def _start_listening(self) -> None:
        super()._start_listening()
        self._sample_at = self._listened

    def _end_silence(self, seconds: float) -> None:
        if seconds >= 2 * self._silent_after:
            raise LinkDown(f"{self.name}: no valid frame for {2 * self._silent_after:g} s")

    def _is_another_session(self, now: float) -> bool:
        """Have frames come for a second without a valid tag among them? Beside valid ones, forged
        ones are only counted: they must not make the host open session after session.
        """
        guard = self.guard
        if guard is None:
            return False
        strange, self._strange = guard.bad_tag > self._strange, guard.bad_tag
        if guard.admitted > self._genuine:
            self._genuine, self._genuine_at = guard.admitted, now
        return strange and now - self._genuine_at >= HEARTBEAT_EVERY

    def _on_control(self, frame: wire.Frame) -> None:
        if frame.version != wire.PROTOCOL_VERSION:
            self._counts["bad_version"] += 1
            # The nonce is the SCHEMA's first field in every version: this answers our HELLO, and
            # there is no version in common.
            answers = frame.body[:4] == self._nonce.to_bytes(4, "little")
            if frame.kind == wire.SCHEMA and answers and not self._handshake_done:
                raise self._version_mismatch(f"version {frame.version}")
            return
        try:
            if frame.kind == wire.SCHEMA:
                self._on_schema(wire.Schema.unpack(frame.body))
                return
            if frame.kind == wire.HEARTBEAT:
                self._on_heartbeat(wire.Heartbeat.unpack(frame.body))
                return
            if frame.kind == wire.SCALES:
                self._on_scales(frame.schema_id, frame.body)
                return
        except wire.BadBody:
            self._counts["bad_control"] += 1
            return
        if frame.kind == wire.LOG:
            self._counts["logs"] += 1
            self.last_log = "".join(chr(b) if 32 <= b < 127 else "?" for b in frame.body)
            self._logs.append(self.last_log)
        else:
            self._counts["ignored"] += 1

    def _on_schema(self, schema: wire.Schema) -> None:
        self._counts["schemas"] += 1
        if schema.nonce not in (0, self._nonce):
            self._counts["schema_stale"] += 1
            return
        if self._ring is not None and schema.n_features != self._ring.n_features:
            self._counts["schema_refused"] += 1
            self._note_samples()
            self._other_width(schema.n_features, self._ring.n_features)
            self._doubting = self._handshake_done  # ask, and the node itself says which it is
            return
        mismatch = self._mismatch(schema)
        if mismatch is not None:
            # After the handshake, keep going: the old schema may come back.
            self._counts["schema_refused"] += 1
            if not self._handshake_done:
                raise mismatch
            return
        if schema.dtype == wire.DTYPE_F32:
            self._table = None
        elif self._table is None or self._table.schema.schema_id != schema.schema_id:
            self._table = ScaleTable(schema)
        if self._table is None or self._table.rows is not None:
            self._adopt(schema)

    def _on_scales(self, schema_id: int, page: bytes) -> None:
        table = self._table
        if table is not None and table.schema.schema_id == schema_id and table.take(page):
            self._adopt(table.schema)
        self._counts["scale_pages"] += 1

    def _adopt(self, schema: wire.Schema) -> None:
        """Expect samples of this schema from here on."""
        known = self._wire_schema
        if known is not None and known.boot_id != schema.boot_id:
            self._receiver.new_epoch()
        self._wire_schema = schema
        self._doubting = False
        self._mismatches_seen = self._receiver.schema_mismatch
        self._sample_at, self._other_since = self._listened, None
        self._handshake_done = True
        self._schema_id = schema.schema_id
        self._next_hello = self._clock()  # so that the next change is asked about at once
        ring = self._make_ring(schema.n_features)
        if schema.labels == wire.LABEL_LATE and self.late is None:
            late = self._make_late(schema.n_features)
            if late is not None and len(ring):  # of other numbers: those of another boot
                late.add_epoch(ring.entered)
        self._receiver.expect(
            self._schema_id,
            ring,
            late=self.late,
            scales=None if self._table is None else self._table.rows,
            nominal_us=schema.nominal_us,
            targets=schema.targets,
        )
        self.schema = SampleSchema(
            schema.n_features,
            LABEL_MODES[schema.labels],
            schema.n_classes,
            schema.nominal_us,
            schema.boot_id,
            schema.targets,
        )

    def _mismatch(self, schema: wire.Schema) -> ValueError | None:
        """The exception to raise if samples of this schema cannot be accepted, else None."""
        wanted = self._n_features
        max_raw = self._receiver.decoder.max_raw
        needed = wire.sample_raw_length(
            schema.n_features,
            has_label=schema.labels == wire.LABEL_INLINE,
            dtype=schema.dtype,
            targets=schema.targets,
        )
        needed += self._tag_bytes
        if wanted is not None and schema.n_features != wanted:
            return ValueError(
                f"{self.name}: the node sends {schema.n_features} features per sample, "
                f"but n_features={wanted} was given"
            )
        if schema.targets != self._targets and not self._takes_either and self._label != "none":
            sends = "targets; give" if schema.targets else "classes; leave out"
            return ValueError(f"{self.name}: the node sends {sends} targets=True")
        if needed > max_raw:
            return ValueError(
                f"{self.name}: {schema.n_features} features need frames of {needed} bytes, more "
                f"than max_raw={max_raw}; give n_features={schema.n_features} or max_raw={needed}"
            )
        return None

    def _on_heartbeat(self, heartbeat: wire.Heartbeat) -> None:
        self._counts["heartbeats"] += 1
        self.last_heartbeat = heartbeat
        known = self._wire_schema
        self._doubting |= known is not None and heartbeat.boot_id != known.boot_id

    # Frames out.

    def _tick(self, now: float) -> None:
        if now >= self._next_heartbeat:
            # Keep to a fixed schedule, but do not send a burst after a long pause.
            self._next_heartbeat = (
                max(self._next_heartbeat, now - HEARTBEAT_EVERY) + HEARTBEAT_EVERY
            )
            self._queue_control(wire.HEARTBEAT, self._own_heartbeat(now).pack())
        # A node that a watchdog has reset may wait for HELLO and say nothing.
        self._doubting |= self._listened - self._sample_at >= self._silent_after
        self._ask_again(now)

    def _own_heartbeat(self, now: float) -> wire.Heartbeat:
        decoder = self._receiver.decoder
        counts = (
            self.predictions_sent,
            self.predictions_dropped,
            decoder.ok,
            decoder.frames - decoder.ok,
        )
        return wire.Heartbeat(
            self._host_id, self._uptime_ms(now), *(n & 0xFFFFFFFF for n in counts)
        )

    def _queue_control(self, kind: int, body: bytes) -> None:
        # A frame that does not fit may be lost: all of these are sent again.
        encode = wire.encode_frame if self.guard is None else self.guard.encode_frame
        frame = encode(kind, body, sequence=self._control_sequence)
        if self._put(frame):
            self._control_sequence += 1

    def _queue_prediction(self, sequence: int, label: int, score: float, flags: int) -> bool:
        if self._wire_schema is not None and self._wire_schema.targets:  # of a watch
            return self._queue_estimate(sequence, flags, label, 0.0, 0.0)
        number = self._prediction_sequence & 0xFFFFFFFF
        queued = self._put(
            encode_prediction(self._schema_id, number, sequence, label, flags, score, self.guard)
        )
        self._prediction_sequence += queued
        return queued

    def _queue_estimate(
        self, sequence: int, flags: int, value: float, low: float, high: float
    ) -> bool:
        number = self._prediction_sequence & 0xFFFFFFFF
        queued = self._put(
            encode_estimate(self._schema_id, number, sequence, flags, value, low, high, self.guard)
        )
        self._prediction_sequence += queued
        return queued

    def _write_out(self, port: Port) -> None:
        if not self._outbox:
            return
        now = self._clock()
        if self._at_frame_end and now - self._last_write >= IDLE and port.write(b"\0") == 0:
            return
        self._last_write = now
        super()._write_out(port)
        # A delimiter must not split a frame that a full port accepted only in part.
        self._at_frame_end = not self._outbox

    def _uptime_ms(self, now: float) -> int:
        return int(1000 * (now - self._born)) & 0xFFFFFFFF

    def _least_row_bytes(self) -> int:
        d = self._n_features or 1 if self._ring is None else self._ring.n_features
        dtype = wire.DTYPE_I16 if self._wire_schema is None else self._wire_schema.dtype
        raw = wire.sample_raw_length(d, has_label=False, dtype=dtype) + self._tag_bytes
        return raw + 2  # COBS, delimiter

    def _least_label_bytes(self) -> int:
        return 22 + self._tag_bytes

    # Counters.

    @property
    def counters(self) -> dict[str, int]:
        node = self.last_heartbeat
        return {
            **super().counters,
            **self._counts,
            "node_samples_made": 0 if node is None else node.samples_made,
            "node_samples_dropped": 0 if node is None else node.samples_dropped,
        }

    def check_identities(self) -> list[str]:
        broken = super().check_identities()
        c = self.counters
        kinds = self._kinds
        if self.guard is not None:
            kinds += "bad_tag", "replayed"
        if c["ok"] != sum(c[kind] for kind in kinds) + c.get("labels", 0):
            broken.append(f"ok = {' + '.join(kinds)} + labels: {c}")
        return broken
