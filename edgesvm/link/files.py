"""Rows of files: by their ending, and in the place of a port, where what is there is read at once,
and then it is over."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edgesvm.contract.sparse import SparseRows
from edgesvm.data.csv_rows import CsvRows
from edgesvm.data.rows import NO_LABEL, RowSource
from edgesvm.errors import LinkDown, RowsError
from edgesvm.link._ring import Batch, LateLabel, LateLabels, LateSample
from edgesvm.link.freshness import Freshness
from edgesvm.link.link import SampleSchema
from edgesvm.link.recording import Recording, queue

if TYPE_CHECKING:
    from edgesvm.data.npz import NpzRows

READ_ROWS = 256
REORDERED = 32  # samples that a line may have swapped
NOTHING = (  # happens in a file
    "missing duplicate too_old bytes_rejected ring_dropped disconnects reconnects stale silent"
)


def open_rows(
    path: str | os.PathLike[str],
    *,
    label_column: str | int | None = None,
    drop_columns: tuple[str | int, ...] = (),
    keep_columns: tuple[str | int, ...] = (),
    encode: int | None = None,
    header: bool | None = None,
    missing: str | None = None,
    targets: bool = False,
    late_labels: int = 256,
    bad_lines: float = 0.1,
) -> CsvRows | NpzRows | Recording:
    """The rows of a file: npz if the name ends in ``.npz``, a recording if in ``.rec``, else CSV.

    Parameters
    ----------
    path : path
    label_column, drop_columns, keep_columns, encode, header, missing, bad_lines
        For CSV; see `CsvRows`. Missing cells of rows with targets are kept by default.
    targets : bool
        The labels are numbers, float64, and not classes.
    late_labels : int
        For a recording; see `Recording`.

    Raises
    ------
    RowsError
        A parameter for CSV was given with another kind of file, or a recording holds classes
        and not targets, or the reverse; else as the reader of that kind.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".npz", ".rec"):
        return CsvRows(
            path,
            label_column=label_column,
            drop_columns=drop_columns,
            keep_columns=keep_columns,
            encode=16 if encode is None else encode,
            header=header,
            missing=missing or ("keep" if targets else "skip"),
            targets=targets,
            bad_lines=bad_lines,
        )
    given = (label_column, drop_columns or None, keep_columns or None, encode, header, missing)
    if any(one is not None for one in given):
        raise RowsError(
            "the label column, columns to drop, keep or encode, the header and missing cells can "
            "be given for CSV files only"
        )
    if suffix == ".npz":
        from edgesvm.data.npz import NpzRows  # brings zipfile, which CSV files do not need

        return NpzRows(path, targets=targets)
    recording = Recording(path, late_labels=late_labels)
    if recording.targets != targets:
        recording.close()
        raise RowsError(
            f"{path} holds targets: give targets=True"
            if recording.targets
            else f"{path} holds classes, not targets: leave out targets=True"
        )
    return recording


class RowsLink:
    """Rows as the samples of a link that ends: `poll` raises LinkDown then. Answers go nowhere.

    The number of a sample is that of its row, from 0; in a recording, its own.

    Parameters
    ----------
    rows : RowSource
        Its rows are handed on as they are, sparse ones too.
    name : str
    labels : bool
        Whether labels are used.
    targets : bool
        Whether they are numbers of a source that does not say so.
    late_labels : int
        Samples of a recording that may wait for a late label.
    value_range
        As of `open_link`.
    read_rows : int
        Rows of a CSV or npz read at a time.
    """

    binary = False
    epochs = 0

    def __init__(
        self,
        rows: RowSource,
        name: str = "rows",
        *,
        labels: bool = True,
        targets: bool = False,
        late_labels: int = 256,
        value_range: tuple[float, float] | None = None,
        read_rows: int = READ_ROWS,
    ) -> None:
        self._read_rows = read_rows
        self._range, self._bad_range = value_range, 0
        self.rows: Any = rows
        self.file: Any = rows  # what tells of itself
        self.name = name
        self.class_names: list[str] = getattr(rows, "class_names", [])
        self.feature_names = getattr(rows, "feature_names", ())
        self.late: LateLabels | None = None
        period_us, targets = getattr(rows, "period_us", 0), getattr(rows, "targets", targets)
        self.seconds_apart = period_us / 1e6 or getattr(rows, "seconds_apart", 0.0)
        used = labels and getattr(rows, "labelled", True)
        if isinstance(rows, Recording) and rows.schema.late and used and late_labels:
            self.late = rows.late = LateLabels(late_labels, rows.n_features, 256, targets)
        self.schema = SampleSchema(
            rows.n_features,
            "none" if not used else "inline" if self.late is None else "late",
            getattr(rows, "n_classes", 0),
            period_us,
            targets=targets,
        )
        self.freshness = Freshness(now=0.0)  # nobody waits for a file
        self._used = used
        self._parts = self._arrivals() if isinstance(rows, Recording) else self._chunks()
        self._batch: Batch | None = None
        self._at = self._before = 0  # of the batch; rows before it
        self._times: Sequence[float] = ()
        self._last_time = 0.0
        self._samples = 0
        self._read()  # the first has a time

    @property
    def waiting(self) -> int:
        """Rows that have been read."""
        return 0 if self._batch is None else len(self._batch.has_label) - self._at

    def poll(self, timeout: float = 0.1) -> int:
        """Read rows if none waits. Raises LinkDown at the end of the file."""
        labels = 0 if self.late is None else self.late.queued
        if not self.waiting and not labels and not self._read():
            raise LinkDown(f"{self.name}: the end of the file")
        return self.waiting

    def _read(self) -> bool:
        """Read what comes next: some rows or a late label; False at the end."""
        part = next(self._parts, None)
        if isinstance(part, LateLabel) and self.late is not None:
            queue(self.late, part)
        elif isinstance(part, Batch):
            if self._batch is not None:
                self._last_time = self.seconds(self._samples - 1)
            times = getattr(self.rows, "times", ())
            if self._range is not None:
                part, times = self._in_range(part, times, *self._range)
            self._batch, self._at, self._before, self._times = part, 0, self._samples, times
            self._samples += len(part.has_label)
        return part is not None

    def _in_range(self, part: Batch, times: Any, low: float, high: float) -> tuple[Batch, Any]:
        """The samples, and their times, whose values may be."""
        if isinstance(part.X, SparseRows):
            raise ValueError(f"{self.name}: a range is of dense rows, not of a sparse matrix")
        fits: Any = ~((low > part.X) | (high < part.X)).any(axis=1)
        self._bad_range += int((~fits).sum())
        left = list(itertools.compress(times, fits.tolist()))
        return Batch._make(one[fits] for one in part), left

    def _chunks(self) -> Iterator[Batch | LateLabel]:
        first = 0
        for chunk in self.rows.chunks(self._read_rows):
            n, y = chunk.X.shape[0], chunk.y
            used = self._used and y is not None
            has_label = np.full(n, used)
            if used and self.schema.targets:
                has_label = ~np.isnan(y)
            elif used and isinstance(self.rows, CsvRows):
                has_label = np.not_equal(y, NO_LABEL)
            yield Batch(
                chunk.X,
                y if used else np.zeros(n, np.int32),
                has_label,
                np.ones(n) if chunk.weight is None else chunk.weight,
                (np.arange(first, first + n) & 0xFFFFFFFF).astype(np.uint32),
            )
            first += n

    def _arrivals(self) -> Iterator[Batch | LateLabel]:
        began, last = 0, -1
        for part in self.rows.arrivals(READ_ROWS):
            if not isinstance(part, Batch):
                if self._used:
                    yield part
                continue
            numbers = part.sequence.astype(np.int64)
            for i, number in enumerate(numbers.tolist()):
                # The node or the recording began again; late labels have epochs for that.
                if number + REORDERED < last and not self.rows.schema.late:
                    began += last + 1
                last = number
                numbers[i] = began + number
            sequence = (numbers & 0xFFFFFFFF).astype(np.uint32)
            yield part._replace(has_label=part.has_label & self._used, sequence=sequence)

    def take(self, max_rows: int | None = None) -> Batch:
        """The next rows, as views; at most so many."""
        if self._batch is None:
            self._read()
        held = self._batch
        assert held is not None  # `poll` has said that there are rows
        at = slice(self._at, None if max_rows is None else self._at + max_rows)
        return Batch(held.X[at], held.y[at], held.has_label[at], held.weight[at], held.sequence[at])

    def release(self, n: int) -> None:
        """Release the `n` oldest rows taken."""
        self._at += n

    def take_labelled(self) -> LateSample | None:
        """The next sample passed to ``late.wait`` whose label has come since; None without."""
        return None if self.late is None else self.late.take(0)

    def take_labels(self) -> Iterator[LateLabel]:
        """The labels that have come, unmatched."""
        while self.late is not None and (label := self.late.take_label(0)) is not None:
            yield label

    def seconds(self, n: int) -> float:
        """When the n-th sample was taken, from 0, one of those read last: seconds since 1970 where
        a CSV has time stamps, else since the first."""
        at = n - self._before
        if at < 0 or self._batch is None:
            return self._last_time
        if len(self._times):
            return self._times[at]
        return int(self._batch.sequence[at]) * self.seconds_apart

    def when(self, n: int) -> str:
        """The same for a reader."""
        seconds = self.seconds(n)
        if not self.seconds_apart and seconds == 0:
            return f"row {n:,}"
        if seconds > 1e8:
            return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
        return f"+{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{seconds % 60:04.1f}"

    @property
    def counters(self) -> dict[str, int]:
        late = {} if self.late is None else self.late.counters()
        counts = {"samples": self._samples, "bad_range": self._bad_range}
        return {**dict.fromkeys(NOTHING.split(), 0), **counts, **late}

    @property
    def told(self) -> list[str]:
        """What was odd in the file, for a reader."""
        refused = [f"{self._bad_range:,} samples refused: a value is out of the range"]
        return [*getattr(self.file, "told", []), *refused * bool(self._bad_range)]

    def check_identities(self) -> list[str]:
        """No counter is in doubt."""
        return []

    def memory(self) -> list[tuple[str, int]]:
        """The buffers: a list of (name, bytes)."""
        held = [] if self._batch is None else [getattr(c, "nbytes", 0) for c in self._batch]
        return [("rows", sum(held)), *([] if self.late is None else self.late.memory())]

    @property
    def nbytes(self) -> int:
        """Sum of `memory`."""
        return sum(n for _, n in self.memory())

    def close(self) -> None:
        """Close the file."""
        if hasattr(self.rows, "close"):
            self.rows.close()

    def __enter__(self) -> RowsLink:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What only a port has.

    def name_classes(self, labels: Sequence[int | str]) -> None:
        """The labels of a file are known when they come."""

    def look_for_samples(self) -> None: ...

    def flush(self) -> None: ...

    def send_prediction(self, *_: Any) -> None: ...

    def send_estimate(self, *_: Any) -> None: ...

    def doubt(self) -> str | None:
        return None

    def take_logs(self) -> list[str]:
        return []
