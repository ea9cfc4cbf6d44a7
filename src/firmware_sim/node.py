"""The simulated sensor node: a polled state machine with no thread, clock or port inside.

    off --first poll--> booting --boot_s--> waiting --HELLO--> streaming --last sample--> finished
                                            (a node that cannot hear streams at once)

Whoever drives it calls ``poll(now, bytes_in, room)`` as often as it likes; time is what the caller
says it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import replace

from edgesvm.ingest import wire
from edgesvm.ingest._frames import FrameDecoder
from edgesvm.rows import RowSource
from firmware_sim.scoring import Scorer

_BLOCK = 256
_HEARTBEAT_S = 1.0
_UNASKED_SCHEMA_S = 5.0
_IDLE_S = 0.1

LABEL_MODES = {"none": wire.LABEL_NONE, "inline": wire.LABEL_INLINE}


class Node(ABC):
    """What a node does in either language: take samples, keep them in its transmit buffer, hand
    them over.

    Parameters
    ----------
    source : RowSource
        Where the samples come from.
    rate : float or None
        Samples a second, taken at fixed times whether or not there is room: one that finds the
        transmit buffer full is dropped whole, before sending, and counted. None takes a sample
        whenever the link has room, and drops none.
    samples : int or None
        How many to take; None goes on until `source` ends.
    label_mode : {"inline", "none"}
        Whether the host is told the label. The node itself always knows it (`scorer`).
    tx_bytes : int
        Size of the transmit buffer, at least one sample.
    boot_s : float
        Silence after power-on, seconds.
    window : int
        See `Scorer`.

    Attributes
    ----------
    samples_made, samples_sent, samples_dropped : int
        Since power-on, over all boots: ``made = sent + dropped + lost_at_reboot`` + those still in
        the buffer.
    """

    def __init__(
        self,
        source: RowSource,
        *,
        rate: float | None = None,
        samples: int | None = None,
        label_mode: str = "inline",
        tx_bytes: int = 1024,
        boot_s: float = 0.0,
        window: int = 1000,
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
        self.boots = 0
        self.samples_made = self.samples_sent = self.samples_dropped = self.lost_at_reboot = 0
        self._rows: list[list[float]] = []
        self._labels: list[int | None] = []
        self._row = 0
        self._exhausted = False
        self._power_on()

    def _power_on(self) -> None:
        self.boots += 1
        self.sequence = 0  # of the next sample; also the samples made since this boot
        self._boot_dropped = 0
        self._booted_at: float | None = None
        self._started_at: float | None = None
        self._queue: deque[tuple[int, int | None, bytes]] = deque()
        self._queued_bytes = 0
        # Goes out before any sample; one of a kind, the newest, so that a dead link piles nothing
        # up.
        self._urgent: dict[str, bytes] = {}
        self._last_out = float("-inf")

    def reboot(self) -> None:
        """As the reset button: buffers, counters since boot and the handshake are gone."""
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
        return self._taken_all and not self._queue and not self._urgent

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
        if self.streaming and self.rate is not None:
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
    def _encode(self, now: float, sequence: int, x: list[float], label: int | None) -> bytes:
        """One sample as it goes on the wire."""

    def _start(self, now: float) -> None:
        if self._started_at is None:
            self._started_at = now

    def _next_row(self) -> tuple[list[float], int | None] | None:
        if self._row == len(self._rows):
            X, y = self.source.next_block(_BLOCK)
            self._rows = X.tolist()
            self._labels = [None] * len(X) if y is None else y.tolist()
            self._row = 0
            if not self._rows:
                self._exhausted = True
                return None
        row = self._row
        self._row += 1
        return self._rows[row], self._labels[row]

    def _make_sample(self, now: float) -> tuple[int, int | None, bytes] | None:
        """Sequence number, true label and frame of the next sample; None when there is none."""
        if self._taken_all or (row := self._next_row()) is None:
            return None
        x, label = row
        sequence = self.sequence
        told = label if self.label_mode == "inline" else None
        frame = self._encode(now, sequence, x, told)
        self.sequence += 1
        self.samples_made += 1
        return sequence, label, frame

    def _take_due_samples(self, now: float) -> None:
        assert self.rate is not None and self._started_at is not None
        # Counted from the start, never from the last sample: the times do not drift.
        due = int((now - self._started_at) * self.rate + 1e-9) + 1
        while self.sequence < due and (sample := self._make_sample(now)) is not None:
            if self._queued_bytes + len(sample[2]) > self.tx_bytes:
                self.samples_dropped += 1
                self._boot_dropped += 1
            else:
                self._queue.append(sample)
                self._queued_bytes += len(sample[2])

    def _next_sample(self, now: float) -> tuple[int, int | None, bytes] | None:
        if self._queue:
            sample = self._queue.popleft()
            self._queued_bytes -= len(sample[2])
            return sample
        if self.rate is None and self.streaming:
            return self._make_sample(now)
        return None

    def _hand_over(self, now: float, room: int) -> bytes:
        out: list[bytes] = []
        length = 0
        while length < room:
            if self._urgent:
                frame = self._urgent.pop(next(iter(self._urgent)))
            elif (sample := self._next_sample(now)) is not None:
                sequence, label, frame = sample
                self.samples_sent += 1
                self.scorer.sent(sequence, label, now)
            else:
                break
            out.append(frame)
            length += len(frame)
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

    Attributes
    ----------
    schema : Schema
        As of this boot, with nonce 0.
    hellos, hellos_refused : int
        Refused: no common version, or a sample is longer than the host takes. Such a HELLO is
        answered by a SCHEMA, which says why, but starts nothing.
    unknown_frames : int
        Sound frames of a type this node has no use for.
    """

    def __init__(
        self,
        source: RowSource,
        *,
        boot_id: int = 1,
        hears: bool = True,
        timestamps: bool = False,
        **settings,
    ) -> None:
        self._first_boot_id = boot_id
        self.hears = hears
        self.timestamps = timestamps
        self.hellos = self.hellos_refused = self.heartbeats_in = self.unknown_frames = 0
        super().__init__(source, **settings)
        self.sample_raw = wire.sample_raw_length(
            source.n_features, has_label=self.label_mode == "inline", has_time=timestamps
        )
        self._describe()
        if self.tx_bytes < (least := wire.max_encoded_length(self.sample_raw) + 1):
            raise ValueError(f"tx_bytes={self.tx_bytes} must hold one sample of {least} bytes")

    def _power_on(self) -> None:
        super()._power_on()
        self._decoder = FrameDecoder(wire.MAX_RAW)
        self._next_beat: float | None = None
        self._next_schema = float("-inf")
        self._said_last = False
        if self.boots > 1:
            self._describe()

    def _describe(self) -> None:
        # An odd multiplier permutes the 32-bit numbers: every boot has its own id.
        boot_id = (self._first_boot_id + (self.boots - 1) * 0x9E3779B1) & 0xFFFFFFFF
        period = self.source.period_us if self.rate is None else round(1e6 / self.rate)
        self.schema = wire.Schema(
            nonce=0,
            boot_id=boot_id,
            n_features=self.source.n_features,
            label_mode=LABEL_MODES[self.label_mode],
            n_classes=self.source.n_classes,
            max_raw=max(wire.MAX_RAW, self.sample_raw),
            nominal_us=min(period, 0xFFFFFFFF),
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
        }

    @property
    def finished(self) -> bool:
        return super().finished and self._said_last

    @property
    def _frames_bad(self) -> int:
        return self._decoder.frames - self._decoder.ok

    def _hear(self, now: float, bytes_in: bytes) -> None:
        if not self.hears:
            self._announce(now)
            return
        for frame in self._decoder.feed(bytes_in):
            try:
                self._take(now, frame)
            except ValueError:  # a sound frame with a body that is not allowed
                self.unknown_frames += 1

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
        elif frame.kind == wire.PREDICTION:
            self.scorer.answered(wire.Prediction.unpack(frame.body), now)
        elif frame.kind == wire.HEARTBEAT:
            wire.Heartbeat.unpack(frame.body)
            self.heartbeats_in += 1
        else:
            self.unknown_frames += 1

    def _answer(self, now: float, hello: wire.Hello) -> None:
        self.hellos += 1
        # A delimiter first, as the host may have joined in the middle of a frame.
        self._urgent["schema"] = b"\0" + self._schema_frame(hello.nonce)
        speaks = hello.version_min <= wire.PROTOCOL_VERSION <= hello.version_max
        if speaks and self.sample_raw <= hello.max_raw:
            self._start(now)
        else:
            self.hellos_refused += 1

    def _schema_frame(self, nonce: int) -> bytes:
        schema = replace(self.schema, nonce=nonce)
        return wire.encode_frame(wire.SCHEMA, schema.pack(), schema_id=self._schema_id)

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
            samples_dropped=self._boot_dropped & 0xFFFFFFFF,
            frames_ok=self._decoder.ok,
            frames_bad=self._frames_bad,
            free_bytes=self.tx_bytes - self._queued_bytes,
        )
        frame = wire.encode_frame(wire.HEARTBEAT, beat.pack(), schema_id=self._schema_id)
        return frame if now - self._last_out < _IDLE_S else b"\0" + frame

    def _encode(self, now: float, sequence: int, x: list[float], label: int | None) -> bytes:
        assert self._booted_at is not None
        time_us = int((now - self._booted_at) * 1e6) if self.timestamps else None
        return wire.encode_sample(self._schema_id, sequence, x, label=label, time_us=time_us)
