"""The simulated sensor node: a polled state machine with no thread, clock or port inside.

    off --first poll--> booting --boot_s--> waiting --HELLO--> streaming --last sample--> finished
                                            (a node that cannot hear streams at once)

Whoever drives it calls ``poll(now, bytes_in, room)`` as often as it likes; time is what the caller
says it is. Samples are made and encoded a block at a time, so that the node is faster than what it
is to test.
"""

from __future__ import annotations

import struct
import zlib
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgesvm.data import Rows, SampleSource
from edgesvm.ingest import wire
from edgesvm.ingest._frames import FrameDecoder
from firmware_sim._codec import NO_LABEL, PredictionReader, encode_samples
from firmware_sim.ledger import Ledger
from firmware_sim.scoring import Scorer

if TYPE_CHECKING:
    from firmware_sim.mishaps import Mishaps

_ROWS = 1024  # taken from the source at once
_HEARTBEAT_S = 1.0
_UNASKED_SCHEMA_S = 5.0
_IDLE_S = 0.1

LABEL_MODES = {"none": wire.LABEL_NONE, "inline": wire.LABEL_INLINE, "late": wire.LABEL_LATE}
DTYPES = {"float32": wire.DTYPE_F32, "int16": wire.DTYPE_I16}
# Of int16 samples: features are of the order of 1, and this takes them up to 16.
INT16_SCALE = 2.0**-11


class Block(NamedTuple):
    """Samples that follow one another, encoded."""

    first: int  # sequence number
    labels: NDArray[np.int32]
    data: bytes
    ends: NDArray[np.int64]  # of each sample's bytes in `data`

    def split(self) -> list[Block]:
        """One for each sample."""
        edges = pairwise([0, *self.ends.tolist()])
        return [
            Block(self.first + i, self.labels[i : i + 1], self.data[a:b], np.array([b - a]))
            for i, (a, b) in enumerate(edges)
        ]


class Sample(NamedTuple):
    """One that is about to be sent."""

    sequence: int
    x: NDArray[np.float32]
    label: int


class Node(ABC):
    """What a node does in either language: take samples, keep them in its transmit buffer, hand
    them over.

    Parameters
    ----------
    source : SampleSource
        Where the samples come from.
    rate : float or None
        Samples a second, taken at fixed times whether or not there is room: one that finds the
        transmit buffer full is dropped whole, before sending, and counted. None takes a sample
        whenever the link has room, and drops none.
    samples : int or None
        How many to take; None goes on until `source` ends.
    label_mode : {"inline", "late", "none"}
        Whether and when the host is told the label. The node itself always knows it (`scorer`).
    tx_bytes : int
        Size of the transmit buffer, at least one sample.
    boot_s : float
        Silence after power-on, seconds.
    window : int
        See `Scorer`.
    mishaps : Mishaps or None
        What goes wrong in the device itself.

    Attributes
    ----------
    samples_made, samples_sent, samples_dropped : int
        Since power-on, over all boots: ``made = sent + dropped + lost_at_reboot`` + those still in
        the buffer.
    boot_dropped : int
        Of the samples dropped, those since the last boot: what a heartbeat says.
    frames_out : int
        Sample frames handed over or in the buffer: the ordinal of the next.
    ledger : Ledger
        Where samples that are never sent are entered, and what `mishaps` do; the line's, once there
        is one.
    boot_rows : list of int
        How many samples had been made at each power-on.
    """

    def __init__(
        self,
        source: SampleSource,
        *,
        rate: float | None = None,
        samples: int | None = None,
        label_mode: str = "inline",
        tx_bytes: int = 1024,
        boot_s: float = 0.0,
        window: int = 1000,
        mishaps: Mishaps | None = None,
    ) -> None:
        if rate is not None and not 0 < rate < 1e7:
            raise ValueError(f"rate must be above 0 and below 1e7 samples a second, got {rate}")
        if samples is not None and samples < 0:
            raise ValueError(f"samples must not be negative, got {samples}")
        if label_mode not in LABEL_MODES:
            raise ValueError(
                f"label_mode must be one of {', '.join(LABEL_MODES)}, got {label_mode!r}"
            )
        self.source = source
        self.rate = rate
        self.samples = samples
        self.label_mode = label_mode
        self.tx_bytes = tx_bytes
        self.boot_s = boot_s
        self.scorer = Scorer(window)
        self.ledger = Ledger()
        self.mishaps = mishaps
        self.boots = 0
        self.samples_made = self.samples_sent = self.samples_dropped = self.lost_at_reboot = 0
        self.frames_out = 0
        self.boot_rows: list[int] = []
        self._chunks = source.chunks(_ROWS)
        self._X = np.empty((0, source.n_features), np.float32)
        self._y = np.empty(0, np.int32)
        self._exhausted = False
        self._power_on()

    def _power_on(self) -> None:
        self.boots += 1
        self.boot_rows.append(self.samples_made)
        self.sequence = 0  # of the next sample; also the samples made since this boot
        self.boot_dropped = 0
        self._booted_at: float | None = None
        self._started_at: float | None = None
        self._stopped = False
        self._queue: deque[Block] = deque()
        self._queued_bytes = 0
        self._late: deque[tuple[int, int, int]] = deque()  # due when, sequence, label
        # Goes out before any sample; one of a kind, the newest, so that a dead link piles nothing
        # up.
        self._urgent: dict[str, bytes] = {}
        self._last_out = float("-inf")

    def reboot(self) -> None:
        """As the reset button: buffers, counters since boot and the handshake are gone."""
        for block in self._queue:
            self.ledger.never_sent.append(self.boot_rows[-1] + block.first)
            self.frames_out -= 1
            self.ledger.unsend(self.frames_out)
        self.lost_at_reboot += len(self._queue)
        self.scorer.forget()
        self._power_on()

    @property
    def streaming(self) -> bool:
        """Whether samples are being taken, or all have been."""
        return self._started_at is not None

    @property
    def finished(self) -> bool:
        """Whether the last sample has been handed over."""
        return self._taken_all and not (self._queue or self._late or self._urgent)

    @property
    def _taken_all(self) -> bool:
        return self._exhausted or self.samples_made == self.samples

    def counters(self) -> dict[str, int]:
        """All counts of the node, by name."""
        return {
            "samples_made": self.samples_made,
            "samples_sent": self.samples_sent,
            "samples_dropped": self.samples_dropped,
            "lost_at_reboot": self.lost_at_reboot,
            "boots": self.boots,
        }

    def poll(self, now: float, bytes_in: bytes = b"", room: int | None = None) -> bytes:
        """One turn of the main loop.

        Parameters
        ----------
        now : float
            Seconds on any clock that does not go back.
        bytes_in : bytes
            What came in since the last call.
        room : int or None
            Bytes the UART can take now; None: as many as the transmit buffer holds.

        Returns
        -------
        bytes
            Whole frames, as many as begin within `room` bytes.
        """
        if self._booted_at is None:
            self._booted_at = now
        if now - self._booted_at < self.boot_s:
            return b""
        self._hear(now, bytes_in)
        if self.streaming and self.rate is not None and not self._stopped:
            self._take_due_samples(now)
        self._keep_house(now)
        return self._hand_over(now, self.tx_bytes if room is None else room)

    @abstractmethod
    def _hear(self, now: float, bytes_in: bytes) -> None:
        """Take in what the host said."""

    @abstractmethod
    def _keep_house(self, now: float) -> None:
        """Queue whatever is due by the clock."""

    @abstractmethod
    def encode(
        self, now: float, first: int, X: NDArray[np.float32], labels: NDArray[np.int32]
    ) -> tuple[bytes, NDArray[np.int64]]:
        """Samples as they go on the wire, and where each ends; NO_LABEL sends none."""

    @property
    @abstractmethod
    def _sample_bytes(self) -> int:
        """About what one sample takes on the wire."""

    def _start(self, now: float) -> None:
        if self._started_at is None:
            self._started_at = now

    def _refill(self) -> int:
        """Rows at hand; 0 when there are no more."""
        if len(self._X) == 0 and not self._taken_all:
            X, y = next(self._chunks, Rows(self._X))
            self._X = np.ascontiguousarray(X, np.float32)
            self._y = np.full(len(X), NO_LABEL, np.int32) if y is None else y.astype(np.int32)
            self._exhausted = len(X) == 0
        return 0 if self._taken_all else len(self._X)

    def _make(self, now: float, n: int) -> Block | None:
        """Up to n samples; None when there are none left, or for one that is never sent."""
        n = min(n, self._refill())
        if n == 0:
            return None
        if self.samples is not None:
            n = min(n, self.samples - self.samples_made)
        struck = self.mishaps is not None and (n := self.mishaps.ordinary(self, n)) == 0
        n = max(n, 1)
        X, self._X = self._X[:n], self._X[n:]
        y, self._y = self._y[:n], self._y[n:]
        first = self.sequence
        self.sequence += n
        self.samples_made += n
        if struck:
            assert self.mishaps is not None
            data = self.mishaps.strike(self, now, Sample(first, X[0], int(y[0])))
            if data is None:
                return None
            ends = np.array([len(data)])
        else:
            data, ends = self.encode(now, first, X, self.told(y))
            self.tell_later(first, y)
        self.frames_out += n
        return Block(first, y, data, ends)

    def told(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """What a sample says of its label."""
        return labels if self.label_mode == "inline" else np.full_like(labels, NO_LABEL)

    @abstractmethod
    def tell_later(self, first: int, labels: NDArray[np.int32]) -> None:
        """Queue the labels of these samples, where they come in frames of their own."""

    def drop(self, sequence: int) -> None:
        """A sample that was made is given up before sending."""
        self.samples_dropped += 1
        self.boot_dropped += 1
        self.ledger.never_sent.append(self.boot_rows[-1] + sequence)

    def _take_due_samples(self, now: float) -> None:
        assert self.rate is not None and self._started_at is not None
        # Counted from the start, never from the last sample: the times do not drift.
        due = int((now - self._started_at) * self.rate + 1e-9) + 1
        while self.sequence < due and not self._taken_all:
            samples = self._make(now, due - self.sequence)
            for sample in samples.split() if samples is not None else ():
                if self._queued_bytes + len(sample.data) > self.tx_bytes:
                    self.frames_out -= 1
                    self.drop(sample.first)
                else:
                    self._queue.append(sample)
                    self._queued_bytes += len(sample.data)

    def _next_samples(self, now: float, room: int) -> Block | None:
        """As many as begin within `room` bytes."""
        if self._queue:
            block = self._queue.popleft()
            self._queued_bytes -= len(block.data)
            return block
        if self.rate is not None or not self.streaming or self._stopped:
            return None
        n = -(-room // self._sample_bytes)
        while not self._taken_all:
            if (made := self._make(now, n)) is not None:
                return made
        return None

    def _late_label(self) -> bytes | None:
        """The next label that is due in a frame of its own."""
        return None

    def _hand_over(self, now: float, room: int) -> bytes:
        out: list[bytes] = []
        length = 0
        while length < room:
            if self._urgent:
                data = self._urgent.pop(next(iter(self._urgent)))
            elif (late := self._late_label()) is not None:
                data = late
            elif (block := self._next_samples(now, room - length)) is not None:
                self.samples_sent += len(block.labels)
                self.scorer.sent(block.first, block.labels, now)
                data = block.data
            else:
                break
            out.append(data)
            length += len(data)
        if out:
            self._last_out = now
        return b"".join(out)


class FrameNode(Node):
    """A node that speaks the binary protocol, version 1.

    Parameters
    ----------
    source, **settings
        See `Node`.
    boot_id : int
        The first boot's; each reboot makes another of it.
    hears : bool
        False for a node whose receive line is not connected: it sends SCHEMA unasked, at boot and
        every 5 s, and streams from the start.
    timestamps : bool
        Send the device's clock (microseconds since boot, modulo 2**32) with each sample.
    dtype : {"float32", "int16"}
        Of the features on the wire. int16: steps of 2**-11 from -16 to 16, as the scale table says
        that follows the SCHEMA.
    label_delay : int
        Late labels come so many samples behind theirs.
    version : int
        Protocol version it speaks; another than 1 is what a host must refuse.

    Attributes
    ----------
    schema : Schema
        As of this boot, with nonce 0.
    hellos, hellos_refused : int
        Refused: no common version, or a sample is longer than the host takes. Such a HELLO is
        answered by a SCHEMA, which says why, but starts nothing.
    unknown_frames : int
        Sound frames of a type this node has no use for.
    answered : ndarray of bool or None
        Which samples have had a prediction, where their number was given.
    answers_astray : int
        Predictions for samples not made.
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
        version: int = wire.PROTOCOL_VERSION,
        **settings,
    ) -> None:
        if dtype not in DTYPES:
            raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")
        if label_delay < 0:
            raise ValueError(f"label_delay must not be negative, got {label_delay}")
        self._first_boot_id = boot_id
        self.hears = hears
        self.timestamps = timestamps
        self.dtype = dtype
        self.label_delay = label_delay
        self.version = version
        self.schema_changes = self.commands = self.answers_astray = 0
        limit = settings.get("samples")
        self.answered = None if limit is None or limit < 0 else np.zeros(limit, bool)
        self.clock_offset_us = 0
        self._last_command: tuple[int, wire.Ack] | None = None
        self.hellos = self.hellos_refused = self.heartbeats_in = self.unknown_frames = 0
        super().__init__(source, **settings)
        self.sample_raw = wire.sample_raw_length(
            source.n_features,
            has_label=self.label_mode == "inline",
            has_time=timestamps,
            dtype=DTYPES[dtype],
        )
        self._describe()
        if self.tx_bytes < (least := wire.max_encoded_length(self.sample_raw) + 1):
            raise ValueError(f"tx_bytes={self.tx_bytes} must hold one sample of {least} bytes")

    def _power_on(self) -> None:
        super()._power_on()
        self._decoder = FrameDecoder(wire.MAX_RAW)
        self._reader = PredictionReader(self._decoder)
        self._control_sequence = 0
        # Whether the schema that samples are sent under has been told.
        self.schema_told = False
        self._next_beat: float | None = None
        self._next_schema = float("-inf")
        self._said_last = False
        if self.boots > 1:
            self._describe()

    def _describe(self) -> None:
        # An odd multiplier permutes the 32-bit numbers: every boot has its own id.
        boot_id = (self._first_boot_id + (self.boots - 1) * 0x9E3779B1) & 0xFFFFFFFF
        period = self.source.period_us if self.rate is None else round(1e6 / self.rate)
        scale_crc = 0
        self._pages: list[bytes] = []
        if self.dtype == "int16":
            d = self.source.n_features
            scale_crc, self._pages = wire.scale_table([INT16_SCALE] * d, [0.0] * d)
        self.schema = wire.Schema(
            nonce=0,
            boot_id=boot_id,
            n_features=self.source.n_features,
            label_mode=LABEL_MODES[self.label_mode],
            n_classes=self.source.n_classes,
            max_raw=max(wire.MAX_RAW, self.sample_raw),
            dtype=DTYPES[self.dtype],
            # Another number makes another schema of the same samples.
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
            "unknown_frames": self.unknown_frames + self._reader.malformed,
            "commands": self.commands,
            "predictions": self.scorer.received,
            "predictions_unknown": self.scorer.unknown,
        }

    @property
    def finished(self) -> bool:
        return super().finished and self._said_last

    @property
    def schema_id(self) -> int:
        """That samples carry now."""
        return self._schema_id

    @property
    def _frames_bad(self) -> int:
        return self._decoder.frames - self._decoder.ok

    def _hear(self, now: float, bytes_in: bytes) -> None:
        if not self.hears:
            self._announce(now)
            return
        for frame in self._reader.feed(bytes_in):
            try:
                self._take(now, frame)
            except ValueError:  # a sound frame with a body that is not allowed
                self.unknown_frames += 1
        sequence, label, flags = self._reader.take()
        self.scorer.answered(sequence, label, flags, now)
        if self.answered is not None and len(sequence):
            rows = sequence.astype(np.int64) + self.boot_rows[-1]
            self.answers_astray += int(np.count_nonzero(rows >= self.samples_made))
            self.answered[rows[rows < self.samples_made]] = True

    def _announce(self, now: float) -> None:
        if now >= self._next_schema:
            self._urgent["schema"] = b"\0" + self._schema_frame(0)
            self._next_schema = now + _UNASKED_SCHEMA_S
            self._start(now)

    def _take(self, now: float, frame: wire.Frame) -> None:
        if frame.kind == wire.HELLO:
            self._answer(now, wire.Hello.unpack(frame.body))
        elif frame.version != wire.PROTOCOL_VERSION:
            self.unknown_frames += 1
        elif frame.kind == wire.COMMAND:
            self._obey(now, wire.Command.unpack(frame.body))
        elif frame.kind == wire.HEARTBEAT:
            wire.Heartbeat.unpack(frame.body)
            self.heartbeats_in += 1
        else:
            self.unknown_frames += 1

    def _answer(self, now: float, hello: wire.Hello) -> None:
        self.hellos += 1
        # A delimiter first, as the host may have joined in the middle of a frame.
        self._urgent["schema"] = b"\0" + self._schema_frame(hello.nonce)
        speaks = hello.version_min <= self.version <= hello.version_max
        if speaks and self.sample_raw <= hello.max_raw:
            if self.boots > 1 and not self.streaming:
                self.log(f"restarted, boot {self.boots}")
            self._start(now)
        else:
            self.hellos_refused += 1

    def _obey(self, now: float, command: wire.Command) -> None:
        """Carry a command out, once however often it comes, and answer it each time."""
        if self._last_command is None or self._last_command[0] != command.command_id:
            self.commands += 1
            status, answer = self._carry_out(now, command)
            ack = wire.Ack(command.command_id, command.opcode, status, answer)
            self._last_command = command.command_id, ack
        self._urgent["ack"] = self.control(wire.ACK, self._last_command[1].pack())

    def _carry_out(self, now: float, command: wire.Command) -> tuple[int, bytes]:
        if command.opcode == wire.PING:
            return wire.DONE, command.argument
        if self.streaming and self.rate is not None and not self._stopped:
            self._take_due_samples(now)  # up to here as it was
        if command.opcode == wire.SET_RATE:
            if len(command.argument) != 4 or not any(command.argument):
                return wire.BAD_ARGUMENT, b""
            self.rate = 1e6 / int.from_bytes(command.argument, "little")
            self._go_on(now)
        elif command.opcode in (wire.START, wire.STOP):
            self._stopped = command.opcode == wire.STOP
            self._go_on(now)
        elif command.opcode == wire.RESET_COUNTERS:
            self.boot_dropped = self.hellos = self.heartbeats_in = self.unknown_frames = 0
        else:
            return wire.UNKNOWN_OPCODE, b""
        return wire.DONE, b""

    def _go_on(self, now: float) -> None:
        """The next sample is taken one period from now."""
        if self.streaming and self.rate is not None:
            self._started_at = now - (self.sequence - 1) / self.rate

    def log(self, text: str) -> None:
        """Say something to whoever reads the host's log: ASCII, up to what a frame holds."""
        body = text.encode("ascii", "replace")[: wire.MAX_RAW - wire.MIN_RAW]
        self._urgent["log"] = self.control(wire.LOG, body)

    def change_schema(self) -> None:
        """Samples from here on belong to another schema, of which the host is not told until it
        asks."""
        self.schema_changes += 1
        self.schema_told = False
        self._describe()

    def _schema_frame(self, nonce: int) -> bytes:
        schema = replace(self.schema, nonce=nonce)
        self.schema_told = True
        return b"".join(
            [
                self.control(wire.SCHEMA, schema.pack()),
                *(self.control(wire.SCALES, page) for page in self._pages),
            ]
        )

    def control(self, kind: int, body: bytes) -> bytes:
        """A frame that is no sample."""
        sequence = self._control_sequence
        self._control_sequence = sequence + 1 & 0xFFFFFFFF
        if self.version == wire.PROTOCOL_VERSION:
            return wire.encode_frame(kind, body, schema_id=self._schema_id, sequence=sequence)
        raw = struct.pack("<BBHI", kind, self.version << 4, self._schema_id, sequence) + body
        return wire.cobs_encode(raw + zlib.crc32(raw).to_bytes(4, "little")) + b"\0"

    def _keep_house(self, now: float) -> None:
        # While waiting too: after a reboot it is the heartbeat's new schema id that makes the host
        # say HELLO again.
        if self._next_beat is None:
            self._next_beat = now + _HEARTBEAT_S
        # The last one tells the final counts without waiting for its second.
        last = self.streaming and self._taken_all and not self._queue and not self._said_last
        if now >= self._next_beat or last:
            self._said_last |= last
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
        self, now: float, first: int, X: NDArray[np.float32], labels: NDArray[np.int32]
    ) -> tuple[bytes, NDArray[np.int64]]:
        kind = wire.SAMPLE_F32
        if self.dtype == "int16":
            kind = wire.SAMPLE_I16
            X = np.clip(np.rint(X / INT16_SCALE), -32768, 32767).astype("<i2")
        rows = np.ascontiguousarray(X).view(np.uint8).reshape(len(X), -1)
        time_us = self.device_us(now) if self.timestamps else -1
        return encode_samples(kind, self._schema_id, first & 0xFFFFFFFF, rows, labels, time_us)

    def tell_later(self, first: int, labels: NDArray[np.int32]) -> None:
        if self.label_mode == "late":
            for sequence, label in enumerate(labels.tolist(), first):
                if label != NO_LABEL:
                    self.tell_late(sequence, label, self.label_delay)

    def tell_late(self, sequence: int, label: int, delay: int) -> None:
        """The label of a sample goes out once so many more samples have."""
        entry = sequence + delay, sequence, label
        at = len(self._late)
        while at and self._late[at - 1][0] > entry[0]:
            at -= 1
        self._late.insert(at, entry)

    def _late_label(self) -> bytes | None:
        if not self._late:
            return None
        due, sequence, label = self._late[0]
        out = self._queue[0].first if self._queue else self.sequence  # samples handed over
        if due >= out and not (self._taken_all and not self._queue):
            return None
        self._late.popleft()
        return self.control(wire.LABEL, wire.Label(sequence & 0xFFFFFFFF, label).pack())

    def _make(self, now: float, n: int) -> Block | None:
        # A label can be told no earlier than behind the block of its sample.
        return super()._make(now, min(n, self.label_delay + 1) if self.label_mode == "late" else n)
