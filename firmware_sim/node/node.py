"""The simulated sensor node: a polled state machine with no thread, clock or port inside.

    off --first poll--> booting --boot_s--> waiting --HELLO--> streaming --last sample--> finished
                                            (a node that cannot hear streams at once)

The caller calls ``poll(now, bytes_in, room)`` at any time and supplies the clock. Samples are made
and encoded a block at a time, so that the node is faster than the host it tests.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgesvm.data.rows import Rows, SampleSource
from edgesvm.link import wire
from firmware_sim.line import Ledger
from firmware_sim.node._codec import NO_LABEL
from firmware_sim.node.scoring import Scorer

_ROWS = 1024  # read from the source at once

LABEL_MODES = {"none": wire.LABEL_NONE, "inline": wire.LABEL_INLINE, "late": wire.LABEL_LATE}


class Block(NamedTuple):
    """Consecutive samples, encoded."""

    first: int  # sequence number
    labels: NDArray
    data: bytes
    ends: NDArray[np.int64]  # of each sample's bytes in `data`

    def split(self) -> list[Block]:
        """One block for each sample."""
        edges = pairwise([0, *self.ends.tolist()])
        return [
            Block(self.first + i, self.labels[i : i + 1], self.data[a:b], np.array([b - a]))
            for i, (a, b) in enumerate(edges)
        ]


class Node(ABC):
    """What all nodes do, in frames or text: take samples, buffer them, send them.

    Parameters
    ----------
    source : SampleSource
        Where the samples come from. With an attribute ``targets`` that is true, its labels are
        numbers, float64; NaN is none.
    rate : float or None
        Samples per second, taken at fixed times whether or not there is room: if the transmit
        buffer is full, the sample is dropped before sending and counted. None: take a sample
        whenever the link has room, and drop none.
    samples : int or None
        How many to take; None: until `source` ends.
    label_mode : {"inline", "late", "none"}
        Whether and when the label is sent to the host. The node always knows it (`scorer`).
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
    boot_dropped : int
        Samples dropped since the last boot, as a heartbeat reports.
    frames_out : int
        Sample frames sent or in the buffer: the ordinal of the next one.
    ledger : Ledger
        Records device faults; shared with the line once there is one.
    hears : bool
        Whether it reads what the host sends.
    """

    hears: bool

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
    ) -> None:
        if rate is not None and not 0 < rate < 1e7:
            raise ValueError(f"rate must be above 0 and below 1e7 samples per second, got {rate}")
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
        self.targets: bool = getattr(source, "targets", False)
        self.label_dtype = np.dtype(np.float64 if self.targets else np.int32)
        self.no_label: float = np.nan if self.targets else NO_LABEL
        self.scorer = Scorer(window, targets=self.targets)
        self.ledger = Ledger()
        self.boots = 0
        self.samples_made = self.samples_sent = self.samples_dropped = self.lost_at_reboot = 0
        self.frames_out = 0
        self._chunks = source.chunks(_ROWS)
        self._X = np.empty((0, source.n_features), np.float32)
        self._y = np.empty(0, self.label_dtype)
        self._exhausted = False
        self._power_on()

    def _power_on(self) -> None:
        self.boots += 1
        self.sequence = 0  # of the next sample; also the samples made since this boot
        self.boot_dropped = 0
        self._booted_at: float | None = None
        self._started_at: float | None = None
        self._queue: deque[Block] = deque()
        self._queued_bytes = 0
        self._late: deque[tuple[int, int, float]] = deque()  # due when, sequence, label
        # Sent before any sample; only the newest of each kind: a dead link piles nothing up.
        self._urgent: dict[str, bytes] = {}
        self._last_out = float("-inf")

    def reboot(self) -> None:
        """Like the reset button: clears the buffers, the counters since boot and the handshake."""
        for _ in self._queue:
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
        """Whether the last sample has been sent."""
        return self._taken_all and not (self._queue or self._late or self._urgent)

    @property
    def _taken_all(self) -> bool:
        return self._exhausted or self.samples_made == self.samples

    def counters(self) -> dict[str, int]:
        """All counters of the node, by name."""
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
            What arrived since the last call.
        room : int or None
            Bytes that the UART has room for; None: the size of the transmit buffer.

        Returns
        -------
        bytes
            Whole frames, all that begin within `room` bytes.
        """
        if self._booted_at is None:
            self._booted_at = now
        if now - self._booted_at < self.boot_s:
            return b""
        self._receive(now, bytes_in)
        if self.streaming and self.rate is not None:
            self._take_due_samples(now)
        self._queue_due(now)
        return self._send(now, self.tx_bytes if room is None else room)

    @abstractmethod
    def _receive(self, now: float, bytes_in: bytes) -> None:
        """Process what the host sent."""

    @abstractmethod
    def _queue_due(self, now: float) -> None:
        """Queue whatever is due by the clock."""

    @abstractmethod
    def encode(
        self, now: float, first: int, X: NDArray[np.float32], labels: NDArray
    ) -> tuple[bytes, NDArray[np.int64]]:
        """The bytes of the samples, and where each ends; `no_label` sends no label."""

    @property
    @abstractmethod
    def _sample_bytes(self) -> int:
        """Approximate number of bytes of one sample on the line."""

    def _start(self, now: float) -> None:
        if self._started_at is None:
            self._started_at = now

    def _refill(self) -> int:
        """Read rows if none are left; returns how many there are, 0 at the end."""
        if len(self._X) == 0 and not self._taken_all:
            X, y = next(self._chunks, Rows(self._X))
            self._X = np.ascontiguousarray(X, np.float32)
            y = np.full(len(X), self.no_label) if y is None else y
            self._y = y.astype(self.label_dtype)
            self._exhausted = len(X) == 0
        return 0 if self._taken_all else len(self._X)

    def _make(self, now: float, n: int) -> Block | None:
        """Up to n samples; None if there are none left, or for one that is never sent."""
        n = min(n, self._refill())
        if self.samples is not None:
            n = min(n, self.samples - self.samples_made)
        return self._make_block(now, n) if n else None

    def _make_block(self, now: float, n: int) -> Block | None:
        """Up to n of the samples read; None for one that is never sent."""
        first, X, y = self._take_rows(n)
        data, ends = self.encode(now, first, X, self.sent_labels(y))
        self.queue_labels(first, y)
        self.frames_out += n
        return Block(first, y, data, ends)

    def _take_rows(self, n: int) -> tuple[int, NDArray[np.float32], NDArray]:
        """The next n rows, and the sequence number of the first."""
        first = self.sequence
        X, self._X = self._X[:n], self._X[n:]
        y, self._y = self._y[:n], self._y[n:]
        self.sequence += n
        self.samples_made += n
        return first, X, y

    def sent_labels(self, labels: NDArray) -> NDArray:
        """The labels that samples carry: all `no_label` unless labels are inline."""
        return labels if self.label_mode == "inline" else np.full_like(labels, self.no_label)

    def is_known(self, label: float) -> bool:
        """Whether it is a label, and not `no_label`."""
        return label != NO_LABEL and not math.isnan(label)

    @abstractmethod
    def queue_labels(self, first: int, labels: NDArray) -> None:
        """Queue the labels of these samples, if labels are sent separately."""

    def drop(self) -> None:
        """Drop a sample before it is sent."""
        self.samples_dropped += 1
        self.boot_dropped += 1

    def _take_due_samples(self, now: float) -> None:
        assert self.rate is not None and self._started_at is not None
        # Counted from the start, not from the last sample, so that the times do not drift.
        due = int((now - self._started_at) * self.rate + 1e-9) + 1
        while self.sequence < due and not self._taken_all:
            samples = self._make(now, due - self.sequence)
            for sample in samples.split() if samples is not None else ():
                if self._queued_bytes + len(sample.data) > self.tx_bytes:
                    self.frames_out -= 1
                    self.drop()
                else:
                    self._queue.append(sample)
                    self._queued_bytes += len(sample.data)

    def _next_samples(self, now: float, room: int) -> Block | None:
        """The samples that begin within `room` bytes."""
        if self._queue:
            block = self._queue.popleft()
            self._queued_bytes -= len(block.data)
            return block
        if self.rate is not None or not self.streaming:
            return None
        n = -(-room // self._sample_bytes)
        while not self._taken_all:
            if (made := self._make(now, n)) is not None:
                return made
        return None

    def _late_label(self) -> bytes | None:
        """The next separate label that is due."""
        return None

    def _send(self, now: float, room: int) -> bytes:
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
