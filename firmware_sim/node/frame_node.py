"""A node that speaks the binary protocol: handshake, samples, labels, heartbeats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from edgesvm.data.rows import SampleSource
from edgesvm.link import wire
from edgesvm.link._frames import FrameDecoder
from edgesvm.link._keyed import Authenticator
from edgesvm.link._samples import SampleReceiver
from firmware_sim.node._codec import encode_samples
from firmware_sim.node.node import LABEL_MODES, Block, Node

_HEARTBEAT_S = 1.0
_UNASKED_SCHEMA_S = 5.0
_IDLE_S = 0.1

# Bodies of predictions, of classes and of targets; as in control.py.
CLASSES = np.dtype([("sequence", "<u4"), ("answer", "<i2"), ("flags", "<u2"), ("score", "<f4")])
TARGETS = np.dtype(
    [("sequence", "<u4"), ("flags", "<u2"), ("reserved", "<u2"), ("answer", "<f8", 3)]
)
PREDICTION_FLAGS = 15

DTYPES = {"float32": wire.DTYPE_F32, "int16": wire.DTYPE_I16}
# Of int16 samples: features are of the order of 1; this scale covers -16 to 16.
INT16_SCALE = 2.0**-11


class FrameNode(Node):
    """A node that speaks the binary protocol, version 1.

    Parameters
    ----------
    source, **settings
        See `Node`.
    boot_id : int
        Id of the first boot; each reboot derives another one.
    hears : bool
        False for a node whose receive line is not connected: it sends SCHEMA unasked, at boot and
        every 5 s, and streams from the start.
    timestamps : bool
        Send the device's clock (microseconds since boot, modulo 2**32) with each sample.
    dtype : {"float32", "int16"}
        Type of the features on the line. int16: steps of 2**-11 from -16 to 16, as given by the
        scale table after the SCHEMA.
    label_delay : int
        A late label is sent this many samples after its sample.
    key : bytes or None
        16 bytes that the host holds too: frames carry keyed tags, and frames without a valid one
        are not read.

    Attributes
    ----------
    schema : Schema
        As of this boot, with nonce 0.
    hellos, hellos_refused : int
        Refused: no common version, or a sample is longer than the host accepts. Such a HELLO is
        answered by a SCHEMA, which shows why, but samples are not started.
    unknown_frames : int
        Valid frames of a type that this node does not handle.
    guard : Authenticator or None
        Of this boot; None without a key.
    """

    def __init__(
        self,
        source: SampleSource,
        *,
        boot_id: int = 1,
        hears: bool = True,
        timestamps: bool = False,
        dtype: str = "float32",
        label_delay: int = 8,
        key: bytes | None = None,
        **settings,
    ) -> None:
        if key is not None and not hears:
            raise ValueError("a node that does not hear cannot use a key: it gets no nonce")
        if dtype not in DTYPES:
            raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")
        if label_delay < 0:
            raise ValueError(f"label_delay must not be negative, got {label_delay}")
        self._first_boot_id = boot_id
        self._key = key
        self.hears = hears
        self.timestamps = timestamps
        self.dtype = dtype
        self.label_delay = label_delay
        self.schema_changes = 0
        self.clock_offset_us = 0
        self.hellos = self.hellos_refused = self.heartbeats_in = self.unknown_frames = 0
        super().__init__(source, **settings)
        self.sample_raw = wire.sample_raw_length(
            source.n_features,
            has_label=self.label_mode == "inline",
            has_time=timestamps,
            dtype=DTYPES[dtype],
            targets=self.targets,
        ) + (0 if key is None else wire.TAG_BYTES)
        self._describe()
        if self.tx_bytes < (needed := wire.max_encoded_length(self.sample_raw) + 1):
            raise ValueError(f"tx_bytes={self.tx_bytes} must hold one sample of {needed} bytes")

    def _power_on(self) -> None:
        super()._power_on()
        self._decoder = FrameDecoder(wire.MAX_RAW)
        self.guard = None if self._key is None else Authenticator(self._key, boot_id=self._boot_id)
        self._receiver = SampleReceiver(self._decoder, guard=self.guard)
        self._control_sequence = 0
        # Whether the current schema has been sent.
        self.schema_sent = False
        self._next_beat: float | None = None
        self._next_schema = float("-inf")
        self._sent_last_beat = False
        if self.boots > 1:
            self._describe()

    @property
    def _boot_id(self) -> int:
        # An odd multiplier permutes the 32-bit numbers: every boot has its own id.
        return (self._first_boot_id + (self.boots - 1) * 0x9E3779B1) & 0xFFFFFFFF

    def _describe(self) -> None:
        period = self.source.period_us if self.rate is None else round(1e6 / self.rate)
        scale_crc = 0
        self._pages: list[bytes] = []
        if self.dtype == "int16":
            d = self.source.n_features
            scale_crc, self._pages = wire.scale_table([INT16_SCALE] * d, [0.0] * d)
        self.schema = wire.Schema(
            nonce=0,
            boot_id=self._boot_id,
            n_features=self.source.n_features,
            label_mode=LABEL_MODES[self.label_mode] | (wire.TARGETS if self.targets else 0),
            n_classes=self.source.n_classes,
            max_raw=max(wire.MAX_RAW, self.sample_raw),
            dtype=DTYPES[self.dtype],
            # A different period makes a different schema of the same samples.
            nominal_us=min(period + self.schema_changes, 0xFFFFFFFF),
            scale_crc=scale_crc,
        )
        self._schema_id = self.schema.schema_id

    def counters(self) -> dict[str, int]:
        return {
            **super().counters(),
            "hellos": self.hellos,
            "hellos_refused": self.hellos_refused,
            "heartbeats_in": self.heartbeats_in,
            "frames_ok": self._decoder.ok,
            "frames_bad": self._frames_bad,
            "unknown_frames": self.unknown_frames,
            "predictions": self.scorer.received,
            "predictions_unknown": self.scorer.unknown,
            **(self.guard.counters() if self.guard is not None else {}),
        }

    @property
    def finished(self) -> bool:
        return super().finished and self._sent_last_beat

    @property
    def schema_id(self) -> int:
        """The id that samples carry now."""
        return self._schema_id

    @property
    def _frames_bad(self) -> int:
        return self._decoder.frames - self._decoder.ok

    def _receive(self, now: float, bytes_in: bytes) -> None:
        if not self.hears:
            self._announce(now)
            return
        untagged = 0 if self.guard is None else self.guard.bad_tag
        predictions: list[bytes] = []
        for frame in self._receiver.feed(bytes_in):
            try:
                if frame.kind == wire.PREDICTION and frame.version == wire.PROTOCOL_VERSION:
                    predictions.append(frame.body)
                else:
                    self._take(now, frame)
            except ValueError:  # a valid frame with an invalid body
                self.unknown_frames += 1
        if self.guard is not None and not self.guard.in_session and self.guard.bad_tag > untagged:
            self.log("this node has a key: give it to the host (--key FILE)")
        if predictions:
            self._take_predictions(now, predictions)

    def _take_predictions(self, now: float, bodies: list[bytes]) -> None:
        layout = TARGETS if self.targets else CLASSES
        whole = [body for body in bodies if len(body) == layout.itemsize]
        given = np.frombuffer(b"".join(whole), layout)
        given = given[given["flags"] <= PREDICTION_FLAGS]
        self.unknown_frames += len(bodies) - len(given)
        self.scorer.answered(given["sequence"], given["answer"], given["flags"], now)

    def _announce(self, now: float) -> None:
        if now >= self._next_schema:
            self._urgent["schema"] = b"\0" + self._schema_frame(0)
            self._next_schema = now + _UNASKED_SCHEMA_S
            self._start(now)

    def _take(self, now: float, frame: wire.Frame) -> None:
        if frame.kind == wire.HELLO:
            self._answer_hello(now, wire.Hello.unpack(frame.body))
        elif frame.version != wire.PROTOCOL_VERSION:
            self.unknown_frames += 1
        elif frame.kind == wire.HEARTBEAT:
            wire.Heartbeat.unpack(frame.body)
            self.heartbeats_in += 1
        else:
            self.unknown_frames += 1

    def _answer_hello(self, now: float, hello: wire.Hello) -> None:
        self.hellos += 1
        # A delimiter first: the host may have joined in the middle of a frame.
        self._urgent["schema"] = b"\0" + self._schema_frame(hello.nonce)
        speaks = hello.version_min <= wire.PROTOCOL_VERSION <= hello.version_max
        if speaks and self.sample_raw <= hello.max_raw:
            if self.boots > 1 and not self.streaming:
                self.log(f"restarted, boot {self.boots}")
            self._start(now)
        else:
            self.hellos_refused += 1

    def log(self, text: str) -> None:
        """Send a line for the host's log: ASCII, truncated to one frame."""
        body = text.encode("ascii", "replace")[: wire.MAX_RAW - wire.MIN_RAW]
        self._urgent["log"] = self.control(wire.LOG, body)

    def change_schema(self) -> None:
        """Switch to another schema, which is not announced until the host asks."""
        self.schema_changes += 1
        self.schema_sent = False
        self._describe()

    def _schema_frame(self, nonce: int) -> bytes:
        schema = replace(self.schema, nonce=nonce)
        self.schema_sent = True
        return b"".join(
            [
                self.control(wire.SCHEMA, schema.pack()),
                *(self.control(wire.SCALES, page) for page in self._pages),
            ]
        )

    def control(self, kind: int, body: bytes) -> bytes:
        """A frame that is not a sample."""
        sequence = self._control_sequence
        self._control_sequence = sequence + 1 & 0xFFFFFFFF
        if self.guard is not None and self.guard.in_session:
            return self.guard.encode_frame(kind, body, schema_id=self._schema_id, sequence=sequence)
        return wire.encode_frame(kind, body, schema_id=self._schema_id, sequence=sequence)

    def _queue_due(self, now: float) -> None:
        # While waiting too: after a reboot the heartbeat's new schema id makes the host send HELLO.
        if self._next_beat is None:
            self._next_beat = now + _HEARTBEAT_S
        # The last heartbeat reports the final counts without waiting for its second.
        last = self.streaming and self._taken_all and not self._queue and not self._sent_last_beat
        if now >= self._next_beat or last:
            self._sent_last_beat |= last
            self._next_beat = max(now, self._next_beat + _HEARTBEAT_S)
            self._urgent["heartbeat"] = self._heartbeat(now)

    def _heartbeat(self, now: float) -> bytes:
        assert self._booted_at is not None
        beat = wire.Heartbeat(
            boot_id=self.schema.boot_id,
            up_ms=int((now - self._booted_at) * 1e3) & 0xFFFFFFFF,
            samples_made=self.sequence & 0xFFFFFFFF,
            samples_dropped=self.boot_dropped & 0xFFFFFFFF,
            frames_ok=self._decoder.ok,
            frames_bad=self._frames_bad,
            free_bytes=self.tx_bytes - self._queued_bytes,
        )
        frame = self.control(wire.HEARTBEAT, beat.pack())
        return frame if now - self._last_out < _IDLE_S else b"\0" + frame

    @property
    def _sample_bytes(self) -> int:
        return wire.max_encoded_length(self.sample_raw) + 1

    def device_us(self, now: float) -> int:
        """The device's clock, modulo 2**32."""
        assert self._booted_at is not None
        return int((now - self._booted_at) * 1e6) + self.clock_offset_us & 0xFFFFFFFF

    def encode(
        self, now: float, first: int, X: NDArray[np.float32], labels: NDArray
    ) -> tuple[bytes, NDArray[np.int64]]:
        kind = wire.SAMPLE_F32
        if self.dtype == "int16":
            kind = wire.SAMPLE_I16
            X = np.clip(np.rint(X / INT16_SCALE), -32768, 32767).astype("<i2")
        rows = np.ascontiguousarray(X).view(np.uint8).reshape(len(X), -1)
        time_us = self.device_us(now) if self.timestamps else -1
        return encode_samples(
            kind, self._schema_id, first & 0xFFFFFFFF, rows, labels, time_us, self.guard
        )

    def queue_labels(self, first: int, labels: NDArray) -> None:
        if self.label_mode == "late":
            for sequence, label in enumerate(labels.tolist(), first):
                if self.is_known(label):
                    self.send_label_late(sequence, label, self.label_delay)

    def send_label_late(self, sequence: int, label: float, delay: int) -> None:
        """Queue a sample's label to be sent `delay` samples later."""
        entry = sequence + delay, sequence, label
        at = len(self._late)
        while at and self._late[at - 1][0] > entry[0]:
            at -= 1
        self._late.insert(at, entry)

    def _late_label(self) -> bytes | None:
        if not self._late:
            return None
        due, sequence, label = self._late[0]
        out = self._queue[0].first if self._queue else self.sequence  # samples sent
        if due >= out and not (self._taken_all and not self._queue):
            return None
        self._late.popleft()
        return self.label_frame(sequence, label)

    def label_frame(self, sequence: int, label: float) -> bytes:
        """A frame with the label of an earlier sample."""
        number = sequence & 0xFFFFFFFF
        body = wire.Target(number, label) if self.targets else wire.Label(number, int(label))
        return self.control(wire.LABEL, body.pack())

    def _make(self, now: float, n: int) -> Block | None:
        # A label can be sent no earlier than after the block of its sample.
        return super()._make(now, min(n, self.label_delay + 1) if self.label_mode == "late" else n)
