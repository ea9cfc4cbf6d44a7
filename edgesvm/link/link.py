"""A link to one node: a port, a parser of its bytes, a ring of samples, and an outbox.

This is what both kinds of links share: polling, writing without waiting, disconnecting and
reconnecting, counting.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar

from edgesvm.errors import LinkDown, NoSchema, SchemaChanged
from edgesvm.link._ring import Batch, LateLabel, LateLabels, LateSample, SampleRing
from edgesvm.link.freshness import Freshness
from edgesvm.link.ports import READ_BYTES, Port
from edgesvm.link.wire import REJECTED

BACK_OFF_FIRST = 0.1  # seconds
BACK_OFF_LAST = 5.0
HEARTBEAT_EVERY = 1.0
# How long a node may say nothing valid before it counts as silent: three heartbeats, at least 5 s.
SILENT_AFTER = max(3 * HEARTBEAT_EVERY, 5.0)
# Of the time between two reads, beyond the wait of the second, so much counts, in seconds. Who does
# not read cannot know what has arrived: a stopped or busy host must not blame the node.
AWAY = 1.0
# Bytes read at a time while the ring is full, and samples are dropped.
FULL_RING_BYTES = 4096
LEAST_OUTBOX = 64  # bytes: one prediction
# Log lines of the node kept for the reader; the oldest are dropped.
LOGS = 16


@dataclass(frozen=True)
class SampleSchema:
    """Describes the samples of a link.

    n_features : features per sample; label : "inline", "late" or "none"; n_classes : 0 if open;
    nominal_us : microseconds between samples, 0 if irregular or unknown; boot_id : None on a text
    link; targets : whether labels are numbers, float64, and not class indices.
    """

    n_features: int
    label: str
    n_classes: int = 0
    nominal_us: int = 0
    boot_id: int | None = None
    targets: bool = False


class Link(ABC):
    """A link to one node; a context manager. Create it with `open_link`, which has the parameters.

    Attributes
    ----------
    binary : bool
        Whether it uses frames.
    schema : SampleSchema or None
        None until the schema is known.
    late : LateLabels or None
        The samples that wait for a label, if late labels are in use.
    feature_names : tuple of str
        Of the samples, if they are known; else empty.
    class_names : list of str
        Words of the labels, by number; empty if labels are numbers.
    column_names : tuple of str
        Of all columns of lines, if they are known; else empty.
    notes : list of str
        What was found out about the columns, for a reader.
    freshness : Freshness
        Whether samples come. `poll` looks; while the port is gone, call `look_for_samples`.
    """

    binary: ClassVar[bool] = False

    def __init__(
        self,
        opener: Callable[[], Port],
        parser: Any,
        *,
        name: str = "link",
        n_features: int | None = None,
        label: str = "last",
        targets: bool | None = False,
        ring: int = 256,
        handshake_timeout: float = 10.0,
        outbox_bytes: int = 4096,
        late_labels: int = 0,
        silent_after: float = SILENT_AFTER,
        stale_after: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if n_features is not None and n_features < 1:
            raise ValueError(f"n_features={n_features} must be at least 1")
        if ring < 1:
            raise ValueError(f"ring={ring} must be at least 1 sample")
        if not silent_after >= SILENT_AFTER:
            raise ValueError(f"silent_after={silent_after} must be at least {SILENT_AFTER} s")
        if outbox_bytes < LEAST_OUTBOX:
            raise ValueError(f"outbox_bytes={outbox_bytes} must be at least {LEAST_OUTBOX}")
        if late_labels < 0:
            raise ValueError(f"late_labels={late_labels} must be at least 0")
        self.name = name
        self.schema: SampleSchema | None = None
        self.late: LateLabels | None = None
        self.class_names: list[str] = []
        self.disconnects = self.silent = 0
        self.freshness = Freshness(stale_after, first=handshake_timeout, now=clock())
        self.reconnects = 0
        self.connect_attempts = 0
        self.predictions_sent = 0
        self.predictions_dropped = 0
        self._downtime = 0.0
        self._down_since: float | None = None
        self._opener = opener
        self._port: Port | None = None
        self._parser = parser
        self._ring: SampleRing | None = None
        self._ring_rows = ring
        self._n_features = n_features
        # Who takes either reads labels as numbers: classes are some too.
        self._label, self._targets = label, targets is not False
        self._takes_either = targets is None
        self._handshake_timeout = handshake_timeout
        # Bytes for a port that may not accept them yet. A frame that does not fit is dropped whole,
        # so a node that does not read costs predictions and nothing else.
        self._outbox, self._outbox_bytes = bytearray(), outbox_bytes
        self._late_rows = late_labels if label != "none" else 0
        self._logs: deque[str] = deque(maxlen=LOGS)
        self._silent_after = silent_after
        self._is_silent = False
        self._listened = 0.0  # seconds in which the port was read
        self._valid_at = 0.0  # of these, when the last valid frame or line had come
        self._read_at = clock()
        self._other_since: float | None = None  # nothing but samples of another width is announced
        self._clock = clock
        self._sleep = sleep
        self.feature_names: tuple[str, ...] = ()
        self.column_names: tuple[str, ...] = ()
        self.notes: list[str] = []

    # What each kind of link implements.

    @abstractmethod
    def _handshake(self) -> None:
        """Learn from the node what its samples look like, or raise; the port has just opened."""

    @abstractmethod
    def _feed(self, chunk: bytes) -> None:
        """Parse the next bytes of the stream."""

    @abstractmethod
    def _tick(self, now: float) -> None:
        """Queue what is due to be sent at this time."""

    @abstractmethod
    def _queue_prediction(self, sequence: int, label: int, score: float, flags: int) -> bool:
        """Put a prediction into the outbox; False if it does not fit."""

    @abstractmethod
    def _queue_estimate(
        self, sequence: int, flags: int, value: float, low: float, high: float
    ) -> bool:
        """Put a predicted target into the outbox; False if it does not fit."""

    @abstractmethod
    def _end_silence(self, seconds: float) -> None:
        """Raise LinkDown if it is time to open the port again."""

    @abstractmethod
    def _least_row_bytes(self) -> int:
        """The fewest bytes on the wire that can produce a row of the ring."""

    @abstractmethod
    def _least_label_bytes(self) -> int:
        """The fewest bytes on the wire that can produce a late label."""

    def name_classes(self, labels: Sequence[int | str]) -> None:
        """Expect the labels of a model that goes on: integers, or words, which a binary link has as
        numbers, their places, as exported C does.

        Raises
        ------
        ValueError
            The link has other labels.
        """
        if labels and all(isinstance(label, str) for label in labels):
            self.class_names[:] = map(str, labels)
        elif not all(type(label) is int and abs(label) <= 0x7FFF for label in labels):
            raise ValueError(f"the model has the labels {labels}, but the link has integers")

    # Opening and closing the port.

    def open(self) -> None:
        """Open the port and complete the handshake. Does nothing if the port is open.

        Raises
        ------
        LinkDown
            The port cannot be opened, or failed.
        NoSchema, VersionMismatch, ValueError
            The node did not describe its samples, uses another protocol version, or its samples do
            not match the parameters. The port has been closed again.
        """
        if self._port is not None:
            return
        self.connect_attempts += 1
        self._port = self._opener()
        try:
            self._parser.resync()
            self._outbox.clear()
            self._handshake()
        except LinkDown:
            self._port_lost()
            raise
        except BaseException:
            self.close()
            raise
        self._start_listening()
        if self._down_since is not None:
            self._downtime += self._clock() - self._down_since
            self._down_since = None

    def _start_listening(self) -> None:
        if self.schema is not None:
            self.freshness.announced = self.schema.nominal_us / 1e6
        self._read_at = self._clock()
        self._valid_at = self._listened

    def doubt(self) -> str | None:
        """Why the labels so far look wrong, with a line as it came; None if they do not."""
        return None

    def close(self) -> None:
        """Close the port; samples in the ring stay."""
        if self._port is not None:
            self._port.close()
            self._port = None

    def reconnect(self, give_up: float | None = None) -> None:
        """Reopen the port, retrying after 0.1 s, 0.2 s, ... up to 5 s.

        The ring, the counters and the sequence window carry on: samples sent in the meantime count
        as missing, and samples sent twice are used once. A node that has restarted opens a new
        epoch.

        Parameters
        ----------
        give_up : float, optional
            Seconds after which the last failure is raised as `LinkDown`; by default never.

        Raises
        ------
        LinkDown
            `give_up` seconds have passed.
        VersionMismatch, SchemaChanged
            The node now uses another protocol version or sends other samples.
        """
        self.close()
        started = self._clock()
        delay = BACK_OFF_FIRST
        while True:
            try:
                self.open()
            except (LinkDown, NoSchema) as error:
                if give_up is not None and self._clock() - started + delay > give_up:
                    raise LinkDown(f"{self.name}: gave up after {give_up} s: {error}") from error
            else:
                self.reconnects += 1
                return
            self._sleep(delay)
            delay = min(2 * delay, BACK_OFF_LAST)

    def _port_lost(self) -> None:
        if self._port is None:
            return  # already counted, by a write inside this poll
        self.close()
        self.disconnects += 1
        if self._down_since is None:  # else the port failed again while reconnecting
            self._down_since = self._clock()

    def __enter__(self) -> Link:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Samples.

    @property
    def epochs(self) -> int:
        """How often the node has begun to number its samples."""
        epochs: int = self._parser.sequence.epochs
        return epochs

    @property
    def waiting(self) -> int:
        """Rows waiting in the ring."""
        return 0 if self._ring is None else len(self._ring)

    def poll(self, timeout: float = 0.1) -> int:
        """Write queued bytes, read once, and decode.

        While the ring has room, no more is read than fits, so a reader that takes all rows after
        each poll loses none. If the ring is full, the oldest rows are dropped.

        Parameters
        ----------
        timeout : float
            Seconds to wait for a byte if none has arrived.

        Returns
        -------
        int
            Rows waiting in the ring.

        Raises
        ------
        LinkDown
            The port failed, or a node that sends frames has said nothing for 2 `silent_after`; call
            `reconnect`. Rows in the ring can still be taken.
        NoSchema
            On a text link, the first 64 KiB are not lines of samples.
        SchemaChanged
            For twice `silent_after` the node has announced another number of features, and sent
            nothing of the known one.
        """
        port = self._live_port()
        try:
            self._tick(self._clock())
            write_error = self._write_if_it_can(port)
            chunk = port.read(timeout if write_error is None else 0.0, self._room())
            now = self._clock()
            self._listened += min(now - self._read_at, timeout + AWAY)
            self._read_at = now
            if chunk:
                self._feed(chunk)
                self._answer_refused()
            elif write_error is not None:
                raise write_error
            self.look_for_samples()
            self._mind_silence(self._listened - self._valid_at)
        except LinkDown:
            self._port_lost()
            raise
        return self.waiting

    def look_for_samples(self) -> None:
        """Note whether samples have come since the last look."""
        if self._ring is not None:
            self.freshness.look(self._ring.pushed, self._clock())

    def _mind_silence(self, seconds: float) -> None:
        """Nothing valid has come for so long: count it once it is too long, and end it."""
        is_silent = seconds >= self._silent_after
        self.silent += is_silent and not self._is_silent
        self._is_silent = is_silent
        if is_silent:
            self._end_silence(seconds)

    def _other_width(self, n_features: int, known: int) -> None:
        """Samples of another number of features are announced. One frame or a burst may be noise,
        or an intruder's, and are counted only; raise SchemaChanged if that goes on.
        """
        now = self._clock()
        if self._other_since is None:
            self._other_since = now
        elif now - self._other_since >= 2 * self._silent_after:
            raise SchemaChanged(
                f"{self.name}: the node now sends {n_features} features per sample "
                f"instead of {known}"
            )

    def take(self, max_rows: int | None = None) -> Batch:
        """The next rows, as views: (X, y, has_label, weight, sequence). See `SampleRing.take`.

        With late labels, these are the rows before the next label: call `take_labelled` until it
        returns None, then `take`, and so on.
        """
        ring = self._rows()
        if self.late is not None:
            n = self.late.rows_before(ring.first)
            if n is not None:
                max_rows = n if max_rows is None else min(n, max_rows)
        return ring.take(max_rows)

    def take_labelled(self) -> LateSample | None:
        """The next sample passed to ``late.wait`` whose label has arrived since.

        None if no more labels precede the rows that `take` returns. The same object is returned
        each time, valid until the next call.
        """
        return None if self.late is None else self.late.take(self._rows().first)

    def take_labels(self) -> Iterator[LateLabel]:
        """The labels that precede the rows that `take` returns, unmatched. Use it instead of
        `take_labelled` to store labels.
        """
        while self.late is not None:
            label = self.late.take_label(self._rows().first)
            if label is None:
                return
            yield label

    def take_logs(self) -> list[str]:
        """Lines the node has logged since the last call, printable; at most the last 16."""
        logs = list(self._logs)
        self._logs.clear()
        return logs

    def release(self, n: int) -> None:
        """Release the `n` oldest rows taken."""
        self._rows().release(n)

    def _rows(self) -> SampleRing:
        if self._ring is None:
            raise LinkDown(f"{self.name} has not been opened; call open() first")
        return self._ring

    def _live_port(self) -> Port:
        if self._port is None:
            raise LinkDown(f"{self.name} is not open; call open() or reconnect()")
        return self._port

    def _room(self) -> int:
        """Bytes that can be read without dropping a row; FULL_RING_BYTES if the ring is full."""
        free = self._ring_rows if self._ring is None else self._ring_rows - len(self._ring)
        if free == 0:
            return FULL_RING_BYTES
        room = free * self._least_row_bytes()
        if self.late is not None:
            if self.late.room == 0:
                return FULL_RING_BYTES
            room = min(room, self.late.room * self._least_label_bytes())
        return max(1, min(READ_BYTES, room - self._parser.pending))

    def _make_ring(self, n_features: int) -> SampleRing:
        if self._ring is None:
            self._ring = SampleRing(self._ring_rows, n_features, self._targets)
        return self._ring

    def _make_late(self, n_features: int) -> LateLabels | None:
        if self.late is None and self._late_rows:
            self.late = LateLabels(self._late_rows, n_features, self._ring_rows, self._targets)
        return self.late

    # Predictions.

    def send_prediction(
        self, sequence: int, label: int, score: float = 0.0, flags: int = 0
    ) -> bool:
        """Queue the prediction for one sample; `flush` or the next `poll` writes it.

        Parameters
        ----------
        sequence : int
            Number of the sample.
        label : int
            Class index, -32768 to 32767.
        score : float
        flags : int
            Sum of ABSTAIN 1, TRAINED 2, REJECTED 4, ALARM 8.

        Returns
        -------
        bool
            False if it was dropped (and counted), because the node does not read or the port is
            closed.

        Raises
        ------
        ValueError
            The label or the flags are out of range.
        """
        if not -0x8000 <= label <= 0x7FFF or label != int(label):
            raise ValueError(f"label={label} must be an integer, -32768 to 32767")
        if not 0 <= flags <= 15:
            raise ValueError(f"flags={flags} must be 0 to 15")
        return self._send(self._queue_prediction, sequence, int(label), score, flags)

    def send_estimate(
        self,
        sequence: int,
        value: float = 0.0,
        low: float = 0.0,
        high: float = 0.0,
        flags: int = 0,
    ) -> bool:
        """Queue the predicted target of one sample and the ends of its interval, as
        `send_prediction` does a label.
        """
        if not 0 <= flags <= 15:
            raise ValueError(f"flags={flags} must be 0 to 15")
        return self._send(self._queue_estimate, sequence, flags, value, low, high)

    def _send(self, put: Callable[..., bool], *fields: Any) -> bool:
        """Put a prediction into the outbox, after writing it out if it is full; count it."""
        queued = self._port is not None and put(*fields)
        if not queued and self._port is not None:
            self.flush()
            queued = put(*fields)
        self.predictions_sent += queued
        self.predictions_dropped += not queued
        return queued

    def _put(self, data: bytes) -> bool:
        fits = len(self._outbox) + len(data) <= self._outbox_bytes
        if fits:
            self._outbox += data
        return fits

    def flush(self) -> None:
        """Write what the port accepts at once; the rest stays queued. Raises LinkDown if the link
        is not open.
        """
        self._write_if_it_can(self._live_port())

    def _write_if_it_can(self, port: Port) -> LinkDown | None:
        """Why the port cannot be written. A peer that has gone may have left samples to read: the
        port is lost once `poll` finds none.
        """
        try:
            self._write_out(port)
        except LinkDown as error:
            return error
        return None

    def _write_out(self, port: Port) -> None:
        if self._outbox:
            del self._outbox[: port.write(bytes(self._outbox))]

    def _answer_refused(self) -> None:
        for sequence in self._parser.gate.take_refused():
            if self.schema is not None and self.schema.targets:
                self.send_estimate(sequence, flags=REJECTED)
            else:
                self.send_prediction(sequence, 0, 0.0, REJECTED)

    # Counters.

    @property
    def counters(self) -> dict[str, int]:
        """All counts of the link in one flat dict, named as FORMATS.md's fields are."""
        return {
            **self._parser.counters(),
            "disconnects": self.disconnects,
            "silent": self.silent,
            "stale": self.freshness.times,
            "reconnects": self.reconnects,
            "connect_attempts": self.connect_attempts,
            "downtime_ms": round(1000 * self._downtime),
            "predictions_sent": self.predictions_sent,
            "predictions_dropped": self.predictions_dropped,
        }

    def check_identities(self) -> list[str]:
        """The counter identities that do not hold, as text; empty if all hold."""
        return self._parser.broken_identities()

    def memory(self) -> list[tuple[str, int]]:
        """The buffers of the link: a list of (name, bytes)."""
        return [*self._parser.memory(), ("outbox", self._outbox_bytes)]

    @property
    def nbytes(self) -> int:
        """Sum of `memory`."""
        return sum(n for _, n in self.memory())
