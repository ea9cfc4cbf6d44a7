"""The simulated sensor node: a polled state machine with no thread, clock or port inside.

    off --first poll--> booting --boot_s--> waiting --HELLO--> streaming --last sample--> finished
                                            (a node that cannot hear streams at once)

Whoever drives it calls ``poll(now, bytes_in, room)`` as often as it likes; time is what the caller
says it is. Samples are made and encoded a block at a time, so that the node is faster than what it
is to test.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgesvm.data import Rows, SampleSource
from edgesvm.ingest import wire
from firmware_sim.line import Ledger
from firmware_sim.node._codec import NO_LABEL
from firmware_sim.node.scoring import Scorer

_ROWS = 1024  # taken from the source at once

LABEL_MODES = {"none": wire.LABEL_NONE, "inline": wire.LABEL_INLINE, "late": wire.LABEL_LATE}


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
        Where samples that are never sent are entered, and mishaps of the device; the line's, once
        there is one.
    hears : bool
        Whether it takes in what the host says.
    boot_rows : list of int
        How many samples had been made at each power-on.
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
        if self.samples is not None:
            n = min(n, self.samples - self.samples_made)
        return self._make_block(now, n) if n else None

    def _make_block(self, now: float, n: int) -> Block | None:
        """Up to n of the samples at hand; None for one that is never sent."""
        first, X, y = self._take_rows(n)
        data, ends = self.encode(now, first, X, self.told(y))
        self.tell_later(first, y)
        self.frames_out += n
        return Block(first, y, data, ends)

    def _take_rows(self, n: int) -> tuple[int, NDArray[np.float32], NDArray[np.int32]]:
        """The next n rows at hand, and the sequence number of the first."""
        first = self.sequence
        X, self._X = self._X[:n], self._X[n:]
        y, self._y = self._y[:n], self._y[n:]
        self.sequence += n
        self.samples_made += n
        return first, X, y

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
