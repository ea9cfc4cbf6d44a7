"""A link to one node: a port, what reads its bytes, a ring of samples, and an outbox.

This is the part both kinds share: polling, writing without waiting, dying and coming back,
counting.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from edgesvm.errors import LinkDown, NoSchema
from edgesvm.ingest._late import LateLabel, LateLabels, LateSample
from edgesvm.ingest._outbox import Outbox
from edgesvm.ingest._ring import Batch, SampleRing
from edgesvm.ingest.ports import READ_BYTES, Port
from edgesvm.ingest.wire import REJECTED

LABELS = ("last", "none")
POLICIES = ("drop_oldest", "drop_newest")
BACK_OFF_FIRST = 0.1  # seconds
BACK_OFF_LAST = 5.0
# A full ring is read past in bites of this many bytes; what they hold is dropped by the policy.
BITE = 4096
# Log lines of the node that are kept for the reader; older ones make way.
LOGS = 16


@dataclass(frozen=True)
class SampleSchema:
    """What a sample of this link looks like.

    n_features : features a sample; label : "inline", "late" or "none"; n_classes : 0 when open;
    nominal_us : microseconds between samples, 0 when irregular or not told; boot_id : None on a
    text link.
    """

    n_features: int
    label: str
    n_classes: int = 0
    nominal_us: int = 0
    boot_id: int | None = None


class Link(ABC):
    """A link to one node. Made by `open_link`, which documents the parameters; a context manager.

    Attributes
    ----------
    schema : SampleSchema or None
        None until the node has told.
    late : LateLabels or None
        The samples that wait for a label, where labels come late and were asked for.
    disconnects : int
        Times an open port died, a handshake under way or not.
    predictions_sent, predictions_dropped : int
        Put into the outbox, and refused because the node did not read or the port was gone.
    """

    def __init__(
        self,
        opener: Callable[[], Port],
        parser: Any,
        *,
        name: str = "link",
        n_features: int | None = None,
        label: str = "last",
        ring: int = 256,
        policy: str = "drop_oldest",
        handshake_timeout: float = 10.0,
        outbox_bytes: int = 4096,
        late_labels: int = 0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if label not in LABELS:
            raise ValueError(f"label={label!r} must be one of {LABELS}")
        if policy not in POLICIES:
            raise ValueError(f"policy={policy!r} must be one of {POLICIES}")
        if n_features is not None and n_features < 1:
            raise ValueError(f"n_features={n_features} must be at least 1")
        if ring < 1:
            raise ValueError(f"ring={ring} must be at least 1 row")
        if late_labels < 0:
            raise ValueError(f"late_labels={late_labels} must be at least 0")
        self.name = name
        self.schema: SampleSchema | None = None
        self.late: LateLabels | None = None
        self.disconnects = 0
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
        self._policy = policy
        self._n_features = n_features
        self._label = label
        self._handshake_timeout = handshake_timeout
        self._outbox = Outbox(outbox_bytes)
        self._late_rows = late_labels if label != "none" else 0
        self._logs: deque[str] = deque(maxlen=LOGS)
        self._clock = clock
        self._sleep = sleep

    # What a kind of link does in its own way.

    @abstractmethod
    def _begin(self) -> None:
        """The port has just been opened: come to terms with the node, or raise."""

    @abstractmethod
    def _take_in(self, chunk: bytes) -> None:
        """Read the next bytes of the stream."""

    @abstractmethod
    def _tick(self, now: float) -> None:
        """Say what is due at this time."""

    @abstractmethod
    def _queue_prediction(self, sequence: int, label: int, score: float, flags: int) -> bool:
        """Put an answer into the outbox; False where it does not fit."""

    @abstractmethod
    def _least_row_bytes(self) -> int:
        """The fewest bytes on the wire that can make a row of the ring."""

    @abstractmethod
    def _least_label_bytes(self) -> int:
        """The fewest bytes on the wire that can make a late label."""

    def command(self, opcode: int, argument: bytes = b"") -> int:
        """Ask something of the node; see `BinaryLink.command`. A text link cannot."""
        raise ValueError(f"{self.name}: a link in lines of text has no commands")

    # Life of the port.

    def open(self) -> None:
        """Open the port and come to terms with the node. Nothing happens when it is open already.

        Raises
        ------
        LinkDown
            The port cannot be opened, or died.
        NoSchema, VersionMismatch, ValueError
            It was closed again: the node did not say what its samples look like, speaks another
            version, or its samples are not those asked for.
        """
        if self._port is not None:
            return
        self.connect_attempts += 1
        self._port = self._opener()
        try:
            self._parser.resync()
            self._outbox.consume(len(self._outbox))
            self._begin()
        except LinkDown:
            self._died()
            raise
        except BaseException:
            self.close()
            raise
        if self._down_since is not None:
            self._downtime += self._clock() - self._down_since
            self._down_since = None

    def close(self) -> None:
        """Let the port go; samples in the ring stay."""
        if self._port is not None:
            self._port.close()
            self._port = None

    def reconnect(self, give_up: float | None = None) -> None:
        """Open the port again, as often as it takes, waiting 0.1 s, 0.2 s, ... 5 s in between.

        The ring, the counters and the sequence window go on: what was sent meanwhile counts as
        missing, what is sent twice is used once. A node that has restarted opens a new epoch.

        Parameters
        ----------
        give_up : float, optional
            Seconds after which the last failure is raised as `LinkDown`; never by default.

        Raises
        ------
        LinkDown, VersionMismatch, ValueError
            Gave up; or what answers is another kind of node.
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

    def _died(self) -> None:
        if self._port is None:
            return  # already entered, by a write inside this poll
        self.close()
        self.disconnects += 1
        if self._down_since is None:  # else it died before it was back
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

    def poll(self, timeout: float = 0.1) -> int:
        """Write what waits, read once, and decode.

        While the ring has room, no more is read than fits, so that a reader who takes all rows
        after each poll loses none. When it is full already, the policy decides.

        Parameters
        ----------
        timeout : float
            Seconds to wait for a byte when there is none.

        Returns
        -------
        int
            Rows waiting in the ring.

        Raises
        ------
        LinkDown
            The port is gone; `reconnect`. Rows in the ring can still be taken.
        """
        port = self._live_port()
        try:
            self._tick(self._clock())
            unwritable = self._write_or_reason(port)
            # A peer that is gone may have left samples behind: only read decides.
            chunk = port.read(timeout if unwritable is None else 0.0, self._room())
            if chunk:
                self._take_in(chunk)
                self._tell_refused()
            elif unwritable is not None:
                raise unwritable
        except LinkDown:
            self._died()
            raise
        return 0 if self._ring is None else len(self._ring)

    def take(self, max_rows: int | None = None) -> Batch:
        """The next rows, as views: (X, y, has_label, weight, sequence). See `SampleRing.take`.

        Where labels come late, the rows up to the next label: call `take_labelled` until it gives
        None, then `take`, by turns.
        """
        ring = self._rows()
        if self.late is not None:
            n = self.late.rows_before(ring.first)
            if n is not None:
                max_rows = n if max_rows is None else min(n, max_rows)
        return ring.take(max_rows)

    def take_labelled(self) -> LateSample | None:
        """The next sample whose label has come since it was given to ``late.wait``.

        None: no more, before the rows that `take` gives. It is the same object each time, valid
        until the next call.
        """
        return None if self.late is None else self.late.take(self._rows().first)

    def take_labels(self) -> Iterator[LateLabel]:
        """The labels that came before the rows that `take` gives, as they came; in place of
        `take_labelled`, for whoever keeps them rather than learns.
        """
        while self.late is not None:
            label = self.late.take_as_it_came(self._rows().first)
            if label is None:
                return
            yield label

    def take_logs(self) -> list[str]:
        """What the node has logged since the last call, printable; the last 16 lines of it."""
        logs = list(self._logs)
        self._logs.clear()
        return logs

    def release(self, n: int) -> None:
        """Give back the `n` oldest rows taken."""
        self._rows().release(n)

    def _rows(self) -> SampleRing:
        if self._ring is None:
            raise LinkDown(f"{self.name} has not been opened: there are no samples")
        return self._ring

    def _live_port(self) -> Port:
        if self._port is None:
            raise LinkDown(f"{self.name} is not open")
        return self._port

    def _room(self) -> int:
        """Bytes that can be read without a row being dropped; a bite when the ring is full."""
        free = self._ring_rows if self._ring is None else self._ring_rows - len(self._ring)
        if free == 0:
            return BITE
        room = free * self._least_row_bytes()
        if self.late is not None:
            if self.late.room == 0:
                return BITE
            room = min(room, self.late.room * self._least_label_bytes())
        return max(1, min(READ_BYTES, room - self._parser.pending))

    def _make_ring(self, n_features: int) -> SampleRing:
        if self._ring is None:
            self._ring = SampleRing(self._ring_rows, n_features, self._policy)
        return self._ring

    def _make_late(self, n_features: int) -> LateLabels | None:
        if self.late is None and self._late_rows:
            self.late = LateLabels(self._late_rows, n_features, self._ring_rows)
        return self.late

    # Answers.

    def send_prediction(
        self, sequence: int, label: int, score: float = 0.0, flags: int = 0
    ) -> bool:
        """Queue the answer to one sample; it is written by `flush` or the next `poll`.

        Parameters
        ----------
        sequence : int
            Number of the sample.
        label : int
            Class index, -32768 to 32767.
        score : float
        flags : int
            Sum of ABSTAIN 1, TRAINED 2, REJECTED 4.

        Returns
        -------
        bool
            False when it was dropped (and counted), because the node does not read or the port is
            gone.

        Raises
        ------
        LinkDown
            Room had to be made in the outbox, and the port died of it.
        ValueError
            The label or the flags do not fit.
        """
        if not -0x8000 <= label <= 0x7FFF or label != int(label):
            raise ValueError(f"label={label} must be an integer, -32768 to 32767")
        if not 0 <= flags <= 7:
            raise ValueError(f"flags={flags} must be 0 to 7")
        queued = self._port is not None and self._queue_prediction(
            sequence, int(label), score, flags
        )
        if not queued and self._port is not None:
            self.flush()
            queued = self._queue_prediction(sequence, int(label), score, flags)
        if queued:
            self.predictions_sent += 1
        else:
            self.predictions_dropped += 1
        return queued

    def flush(self) -> None:
        """Write what the port takes at once; the rest stays queued. Raises LinkDown."""
        port = self._live_port()
        try:
            self._write_out(port)
        except LinkDown:
            self._died()
            raise

    def _write_out(self, port: Port) -> None:
        if len(self._outbox):
            self._outbox.consume(port.write(self._outbox.pending()))

    def _write_or_reason(self, port: Port) -> LinkDown | None:
        try:
            self._write_out(port)
        except LinkDown as reason:
            return reason
        return None

    def _tell_refused(self) -> None:
        for sequence in self._parser.take_refused():
            self.send_prediction(sequence, 0, 0.0, REJECTED)

    # Accounts.

    @property
    def counters(self) -> dict[str, int]:
        """All counts of the link, flat; FORMATS.md says what each means."""
        return {
            **self._parser.counters(),
            "disconnects": self.disconnects,
            "reconnects": self.reconnects,
            "connect_attempts": self.connect_attempts,
            "downtime_ms": round(1000 * self._downtime),
            "predictions_sent": self.predictions_sent,
            "predictions_dropped": self.predictions_dropped,
        }

    def check_identities(self) -> list[str]:
        """The closing identities that do not hold, as text; empty when all do."""
        return self._parser.broken_identities()

    def memory(self) -> list[tuple[str, int]]:
        """What the link holds for good: (name, bytes)."""
        return [*self._parser.memory(), ("outbox", self._outbox.capacity)]

    @property
    def nbytes(self) -> int:
        """Sum of `memory`."""
        return sum(n for _, n in self.memory())
