"""Rows of a file in the place of a port: what is there is read at once, and then it is over."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from edgesvm.data.files import CsvRows, NpzRows
from edgesvm.errors import LinkDown
from edgesvm.link._late import LateLabel
from edgesvm.link._ring import Batch
from edgesvm.link._sequence import SequenceWindow
from edgesvm.link.files import open_rows
from edgesvm.link.link import Link, SampleSchema
from edgesvm.link.recording import Recording

READ_ROWS = 256
REORDERED = 32  # samples that a line may have swapped
NOTHING = ("missing", "duplicate", "too_old", "bytes_rejected")  # happens in a file
Item = tuple[np.ndarray, Any, float, int]  # features, label or None, weight, number


class _NoBytes:
    """In the place of a parser: there are no bytes, only the numbers of the samples."""

    pending = 0

    def __init__(self) -> None:
        self.sequence = SequenceWindow()
        self.ring: Any = None

    def counters(self) -> dict[str, int]:
        return {**dict.fromkeys(NOTHING, 0), **self.ring.counters()}

    def broken_identities(self) -> list[str]:
        return list(self.ring.broken_identities())

    def memory(self) -> list[tuple[str, int]]:
        return [("ring", self.ring.nbytes)]

    def resync(self) -> None:
        """Nothing to do."""

    def take_refused(self) -> list[int]:
        return []


class FileLink(Link):
    """The rows of a file as the samples of a link that ends.

    `poll` fills the ring, and raises LinkDown once it is empty and the file is at its end. Answers
    go nowhere. The number of a sample is that of its row, from 0; in a recording, its own.

    Parameters
    ----------
    path : str
        A .csv, .npz or .rec.
    label : str or int
        "none": labels are not used. "last": where the file has them. Else the column of a CSV.
    targets : bool or None
        As for `open_link`.
    columns : dict
        What else `open_rows` is told.
    """

    def __init__(
        self,
        path: str,
        *,
        label: str | int = "last",
        targets: bool | None = False,
        columns: dict[str, Any] | None = None,
        ring: int = 256,
        late_labels: int | None = None,
    ) -> None:
        self._parser: Any = _NoBytes()
        super().__init__(
            _no_port,
            self._parser,
            name=path,
            label="none" if label == "none" or targets is None else "last",
            targets=targets,
            ring=ring,
            late_labels=256 if late_labels is None else late_labels,
        )
        self._rows_of_file: CsvRows | NpzRows | Recording
        self._columns, self._column = columns or {}, label
        self._left: Iterator[Item | LateLabel] = iter(())
        self._times = np.full(ring, math.nan)
        self.notes: list[str] = []
        self.seconds_apart = 0.0  # between two samples; 0 if unknown

    def open(self) -> None:
        """Open the file; raises as `open_rows` does."""
        told = {name: value for name, value in self._columns.items() if value or value == 0}
        if not self.name.lower().endswith((".npz", ".rec")):
            first = {"last": None, "first": 0}
            told["label_column"] = first.get(str(self._column), self._column)
        rows = open_rows(self.name, targets=self._targets and not self._takes_either, **told)
        self._rows_of_file, d = rows, rows.n_features
        self.class_names, self.notes = rows.class_names, getattr(rows, "notes", [])
        self.feature_names = getattr(rows, "feature_names", ())
        used = rows.labelled and self._label != "none"
        if not (used and isinstance(rows, Recording) and rows.schema.late):
            self._late_rows = 0
        self._parser.ring = self._make_ring(d)
        self._make_late(d)
        self.schema = SampleSchema(
            d,
            "none" if not used else "inline" if self.late is None else "late",
            rows.n_classes,
            rows.period_us,
            targets=rows.targets,
        )
        self.seconds_apart = rows.period_us / 1e6 or getattr(rows, "seconds_apart", 0.0)
        self._left = self._items(used)
        self._fill()  # the first has a time

    def close(self) -> None:
        """Close the file."""
        if self.schema is not None:
            self._rows_of_file.close()

    def name_classes(self, labels: Sequence[int | str]) -> None:
        """Nothing to expect: the labels of a file are known when they come."""

    def poll(self, timeout: float = 0.1) -> int:
        """Read rows as long as there is room. Raises LinkDown at the end of the file."""
        self._fill()
        if not self.waiting and not (self.late is not None and self.late.queued):
            raise LinkDown(f"{self.name}: the end of the file")
        return self.waiting

    def _fill(self) -> None:
        ring = self._rows()
        while len(ring) < ring.capacity and (self.late is None or self.late.room):
            if (item := next(self._left, None)) is None:
                return
            if isinstance(item, LateLabel) and self.late is not None:
                if item.is_epoch:
                    self.late.add_epoch(ring.entered)
                else:
                    self.late.add_label(ring.entered, item.sequence, item.label, item.weight)
            elif not isinstance(item, LateLabel):
                x, label, weight, sequence = item
                ring.push_row(x, sequence, label, weight)

    def _items(self, used: bool) -> Iterator[Item | LateLabel]:
        rows = self._rows_of_file
        if isinstance(rows, Recording):
            yield from self._of_recording(rows, used)
            return
        n = 0
        for X, y in rows.chunks(READ_ROWS):
            dense = X if isinstance(X, np.ndarray) else X.toarray()
            times = getattr(rows, "times", ())
            for i, x in enumerate(dense):
                at = times[i] if len(times) else n * self.seconds_apart
                self._times[n % len(self._times)] = at
                yield x, y[i].item() if used else None, 1.0, n & 0xFFFFFFFF
                n += 1

    def _of_recording(self, rows: Recording, used: bool) -> Iterator[Item | LateLabel]:
        n, began, last = 0, 0, -1
        for part in rows.arrivals(READ_ROWS):
            if not isinstance(part, Batch):
                yield part
                continue
            columns = (part.y.tolist(), part.has_label.tolist(), part.weight.tolist())
            for x, y, has, weight, number in zip(
                part.X, *columns, part.sequence.tolist(), strict=True
            ):
                # The node or the recording began again; late labels have epochs for that.
                if number + REORDERED < last and not rows.schema.late:
                    began += last + 1
                last = number
                self._times[n % len(self._times)] = (began + number) * self.seconds_apart
                yield x, y if used and has else None, weight, began + number & 0xFFFFFFFF
                n += 1

    def seconds(self, n: int) -> float:
        """When the n-th sample was taken, from 0, one of those in the ring: seconds since 1970
        where a CSV has time stamps, else since the first."""
        return float(self._times[n % len(self._times)])

    def when(self, n: int) -> str:
        """The same for a reader."""
        seconds = self.seconds(n)
        if not self.seconds_apart and seconds == 0:
            return f"row {n:,}"
        if seconds > 1e8:
            return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
        return f"+{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{seconds % 60:04.1f}"

    def flush(self) -> None:
        """Nobody is there to be answered."""

    def reconnect(self, give_up: float | None = None) -> None:
        """Raises LinkDown: the file has been read."""
        raise LinkDown(f"{self.name}: the end of the file")

    # What a port would need.

    def _handshake(self) -> None: ...
    def _feed(self, chunk: bytes) -> None: ...
    def _tick(self, now: float) -> None: ...
    def _end_silence(self, seconds: float) -> None: ...
    def _queue_prediction(self, *_: Any) -> bool:
        return True

    def _queue_estimate(self, *_: Any) -> bool:
        return True

    def _least_row_bytes(self) -> int:
        return 1

    def _least_label_bytes(self) -> int:
        return 1


def _no_port() -> Any:
    raise LinkDown("a file has no port")
