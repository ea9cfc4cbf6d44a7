"""Recordings: samples as they came from a link, in a file that survives a torn end and is read many
times.

Fixed-size records, each with its own CRC-32, behind one header; every byte is in FORMATS.md. The
CRC runs on from the header's, which holds a random number, so that no block of zeros and no stale
block of another recording passes.

Labels that came late stand in records of their own, where they came; whoever reads matches them
with their samples as a link does.
"""

from __future__ import annotations

import os
import secrets
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgesvm.data.rows import Predict, Rows, Trial
from edgesvm.errors import RecordingError, SampleRefused
from edgesvm.ingest._late import LateLabel, LateLabels
from edgesvm.ingest._ring import Batch
from edgesvm.persist.folders import sync_folder

try:
    import fcntl
except ImportError:  # no POSIX: nothing keeps two writers apart
    fcntl = None  # type: ignore[assignment]

MAGIC = b"ESVMRECS"
FORMAT_VERSION = 1
SUFFIX = ".rec"
MAX_FEATURES = 65535  # what a SCHEMA can say
# Flags of a record; without the last two it is a sample.
HAS_LABEL = 1
LATE_LABEL = 2
NEW_EPOCH = 4

_HEADER = struct.Struct("<8sHHIIhBBI")
HEADER_BYTES = _HEADER.size + 4
CHUNK_BYTES = 1 << 16
READ_ROWS = 256
LATE_LABELS = 256


@dataclass(frozen=True)
class RecordingSchema:
    """What the samples of a recording look like.

    n_features : features a sample, 1 to 65535; labelled : samples may have a label; n_classes : 0
    when open; period_us : nominal microseconds between samples, 0 when irregular; late : labels may
    come after their samples.
    """

    n_features: int
    labelled: bool = True
    n_classes: int = 0
    period_us: int = 0
    late: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.n_features <= MAX_FEATURES:
            raise ValueError(f"n_features={self.n_features} must be 1 to {MAX_FEATURES}")
        if not 0 <= self.n_classes <= 0x7FFF or not 0 <= self.period_us <= 0xFFFFFFFF:
            raise ValueError(
                f"n_classes={self.n_classes} or period_us={self.period_us} is out of range"
            )
        if self.late and not self.labelled:
            raise ValueError("late=True, and no sample has a label")

    @property
    def record_bytes(self) -> int:
        """Bytes of one sample in the file: 16 + 4 d."""
        return 16 + 4 * self.n_features

    def pack(self, number: int) -> bytes:
        """The file's header; `number` tells this recording from any other."""
        header = _HEADER.pack(
            MAGIC,
            FORMAT_VERSION,
            HEADER_BYTES,
            self.n_features,
            self.period_us,
            self.n_classes,
            self.labelled + self.late,
            0,
            number,
        )
        return header + zlib.crc32(header).to_bytes(4, "little")

    @classmethod
    def unpack(cls, header: bytes, name: object) -> RecordingSchema:
        """The schema in a file's first bytes; `RecordingError` when they are no sound header."""
        if header[:8] != MAGIC[: len(header)] or not header:
            raise RecordingError(f"{name} is no recording")
        if len(header) < HEADER_BYTES:
            raise RecordingError(f"{name} ends within its header: nothing was recorded yet")
        (_, version, n_bytes, d, period, classes, labelled, reserved, _) = _HEADER.unpack_from(
            header
        )
        if zlib.crc32(header[:-4]) != int.from_bytes(header[-4:], "little"):
            raise RecordingError(f"{name} has a damaged header: its records cannot be told apart")
        if version != FORMAT_VERSION:
            raise RecordingError(
                f"{name} is a recording of version {version}, this release reads {FORMAT_VERSION}"
            )
        if n_bytes != HEADER_BYTES or labelled > 2 or reserved:
            raise RecordingError(f"{name} has a header with values that mean nothing")
        try:
            return cls(d, labelled > 0, classes, period, labelled == 2)
        except ValueError as error:
            raise RecordingError(f"{name}: {error}") from error

    def record_dtype(self) -> np.dtype[Any]:
        """One record, as NumPy reads a block of them."""
        return np.dtype(
            [
                ("sequence", "<u4"),
                ("flags", "<u2"),
                ("label", "<i2"),
                ("weight", "<u2"),
                ("reserved", "<u2"),
                ("x", "<f4", (self.n_features,)),
                ("crc", "<u4"),
            ]
        )


class _Records:
    """Blocks of records: from rows to bytes, and from bytes to the rows that are sound."""

    def __init__(self, schema: RecordingSchema, header: bytes) -> None:
        self.schema = schema
        self.n_bytes = schema.record_bytes
        self._dtype = schema.record_dtype()
        # Not the CRC of the whole header: that of any bytes with their own CRC behind them is one
        # constant.
        self._seed = zlib.crc32(header[:-4])

    def _crcs(self, block: memoryview) -> list[int]:
        size, checked, seed = self.n_bytes, self.n_bytes - 4, self._seed
        return [zlib.crc32(block[at : at + checked], seed) for at in range(0, len(block), size)]

    def pack(self, batch: Batch) -> bytes:
        n = len(batch.y)
        rows = np.zeros(n, self._dtype)
        rows["sequence"] = batch.sequence
        rows["flags"] = batch.has_label
        rows["label"] = np.where(batch.has_label, batch.y, 0)
        rows["weight"] = np.where(batch.has_label, _weights(batch.weight), 0)
        rows["x"] = batch.X
        return self._sealed(rows)

    def pack_labels(self, labels: Sequence[LateLabel]) -> bytes:
        rows = np.zeros(len(labels), self._dtype)
        for row, label in zip(rows, labels, strict=True):
            row["flags"] = NEW_EPOCH if label.is_epoch else LATE_LABEL
            if not label.is_epoch:
                row["sequence"], row["label"] = label.sequence, label.label
                row["weight"] = _weights(np.float64(label.weight))
        return self._sealed(rows)

    def _sealed(self, rows: NDArray[Any]) -> bytes:
        rows["crc"] = self._crcs(memoryview(rows.tobytes()))
        return rows.tobytes()

    def sound(self, block: bytes) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The records of a block of whole ones, and which of them are what was written."""
        rows = np.frombuffer(block, self._dtype)
        sound = rows["crc"] == np.array(self._crcs(memoryview(block)), np.uint32)
        # What follows is never written by us: a sound CRC alone does not make it a sample.
        flags = rows["flags"]
        sound &= (flags <= int(self.schema.labelled)) | self._is_label(rows)
        sound &= rows["reserved"] == 0
        with np.errstate(invalid="ignore"):
            sound &= np.isfinite(rows["x"]).all(axis=1)
        return rows, sound

    def _is_label(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """A late label, or an epoch's mark; all else in it is zero."""
        epoch = rows["flags"] == NEW_EPOCH
        for name in ("sequence", "label", "weight"):
            epoch &= rows[name] == 0
        found = (rows["flags"] == LATE_LABEL) | epoch
        return found & (rows["x"].view("<u4") == 0).all(axis=1) & self.schema.late

    def parts(self, rows: NDArray[Any]) -> Iterator[Batch | LateLabel]:
        """Sound records in their order: samples together up to the next that is none."""
        begin = 0
        for at in [*np.flatnonzero(rows["flags"] > HAS_LABEL).tolist(), len(rows)]:
            if at > begin:
                yield self.batch(rows[begin:at])
            if at < len(rows):
                row = rows[at]
                weight = float(row["weight"]) / 256
                is_epoch = bool(row["flags"] == NEW_EPOCH)
                yield LateLabel(int(row["sequence"]), int(row["label"]), weight, is_epoch)
            begin = at + 1

    def batch(self, rows: NDArray[Any]) -> Batch:
        has_label = rows["flags"] == HAS_LABEL
        weight = np.where(has_label, rows["weight"] / np.float32(256), np.float32(1))
        return Batch(
            np.ascontiguousarray(rows["x"], np.float32),
            rows["label"].astype(np.int32),
            has_label,
            weight.astype(np.float32),
            rows["sequence"].astype(np.uint32),
        )


def _weights(weight: Any) -> Any:
    """In 1/256"""
    return np.minimum(np.round(256 * weight), 0xFFFF)


class Recording:
    """Samples of a recording, a `RowSource` that is read as often as wanted.

    What was whole when the file was opened is read; records that were damaged are passed over and
    counted. At most a chunk of rows is in memory, and the samples that wait for a late label. Use
    it in a ``with`` block, or `close` it.

    Parameters
    ----------
    path : path
    late_labels : int
        Samples that wait for a label which comes on its own, as on a link.

    Attributes
    ----------
    schema : RecordingSchema
    n_records : int
        Whole records in the file, damaged ones and late labels among them.
    torn_bytes : int
        Bytes behind the last whole record: the beginning of one whose writing was cut short.
    damaged : int
        Records read so far, each counted once, whose bytes are not what was written.
    late : LateLabels or None
        Where labels come late: what became of them, and of the samples, in the last pass begun.
    class_names : list of str
        Empty: labels of a link are numbers.

    Raises
    ------
    RecordingError
        No recording, or a damaged header.
    OSError
        It cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], *, late_labels: int = LATE_LABELS) -> None:
        self.path = Path(path)
        self._late_labels = late_labels
        self._file = self.path.open("rb", buffering=0)
        try:
            header = self._file.read(HEADER_BYTES) or b""
            self.schema = RecordingSchema.unpack(header, self.path)
            held = os.fstat(self._file.fileno()).st_size - HEADER_BYTES
        except BaseException:
            self._file.close()
            raise
        self._records = _Records(self.schema, header)
        self.n_records, self.torn_bytes = divmod(held, self.schema.record_bytes)
        self.class_names: list[str] = []
        self.damaged = 0
        self.late: LateLabels | None = None
        self._unlabelled = 0
        self._judged = 0  # records before this one are in the counts already

    @property
    def n_features(self) -> int:
        return self.schema.n_features

    @property
    def n_classes(self) -> int:
        return self.schema.n_classes

    @property
    def period_us(self) -> int:
        return self.schema.period_us

    @property
    def labelled(self) -> bool:
        """Whether samples may have labels."""
        return self.schema.labelled

    @property
    def unlabelled(self) -> int:
        """Samples read so far, each counted once, that were left out for want of a label; where
        labels come late, those of the last pass.
        """
        if self.late is None:
            return self._unlabelled
        return self.late.unlabelled + self.late.expired + self.late.waiting

    def read(self, at: int, n: int) -> Batch:
        """The sound samples among records `at` to `at + n`, fewer at the end of the file.

        Returns
        -------
        Batch
            Copies. Weight is 1 where there is no label.
        """
        rows = self._sound(at, n)
        return self._records.batch(rows[rows["flags"] <= HAS_LABEL])

    def _sound(self, at: int, n: int) -> NDArray[Any]:
        n = max(0, min(n, self.n_records - at))
        self._file.seek(HEADER_BYTES + at * self.schema.record_bytes)
        block = self._read_exactly(n * self.schema.record_bytes)
        rows, sound = self._records.sound(block)
        new = slice(max(0, self._judged - at), None)
        self._judged = max(self._judged, at + n)
        self.damaged += int((~sound[new]).sum())
        if self.schema.labelled:
            self._unlabelled += int((sound[new] & (rows["flags"][new] == 0)).sum())
        return rows[sound]

    def _read_exactly(self, n_bytes: int) -> bytes:
        parts = []
        while n_bytes:
            part = self._file.read(min(n_bytes, CHUNK_BYTES))
            if not part:
                raise RecordingError(f"{self.path} became shorter while it was read")
            parts.append(part)
            n_bytes -= len(part)
        return b"".join(parts)

    def batches(self, rows: int = READ_ROWS) -> Iterator[Batch]:
        """One pass over all samples, labelled or not, at most `rows` a batch; each call begins at
        the first record anew.
        """
        if rows < 1:
            raise ValueError(f"rows={rows} must be at least 1")
        for at in range(0, self.n_records, rows):
            batch = self.read(at, rows)
            if len(batch.y):
                yield batch

    def chunks(self, rows: int = READ_ROWS) -> Iterator[Rows]:
        """A pass, at most `rows` a chunk: X float32, y int32, or None where no sample has a label.

        Samples that have none where others do are left out, and counted. Where labels come late, a
        sample stands where its label came.
        """
        if not self.labelled:
            yield from (Rows(batch.X) for batch in self.batches(rows))
            return
        samples = ((trial.x.copy(), trial.label) for trial in self.trials(lambda x: None))
        while some := list(islice(samples, rows)):
            X, y = zip(*some, strict=True)
            yield Rows(np.array(X), np.array(y, np.int32))

    def arrivals(self, rows: int = READ_ROWS) -> Iterator[Batch | LateLabel]:
        """One pass over all that came, in its order: samples, at most `rows` a batch, and late
        labels.
        """
        for at in range(0, self.n_records, rows):
            yield from self._records.parts(self._sound(at, rows))

    def trials(self, predict: Predict) -> Iterator[Trial]:
        """One pass in the order of test-then-train: `predict` is asked when a sample comes; the
        trial is given when its label does, at once or late.

        Parameters
        ----------
        predict : callable
            Given x, a (d,) float32 view; a sample for which it raises `SampleRefused` is passed
            over.

        Yields
        ------
        Trial
            Its x is a view, valid until the next is drawn.
        """
        self.late = None
        if self.schema.late:
            self.late = LateLabels(self._late_labels, self.n_features)
        for part in self.arrivals():
            yield from self._shown(part, predict) if isinstance(part, Batch) else self._told(part)

    def _shown(self, batch: Batch, predict: Predict) -> Iterator[Trial]:
        columns = batch.y, batch.has_label, batch.weight, batch.sequence
        for x, row in zip(batch.X, zip(*(c.tolist() for c in columns), strict=True), strict=True):
            label, has_label, weight, sequence = row
            try:
                predicted = predict(x)
            except SampleRefused:
                continue
            if has_label:
                if self.late is not None:
                    self.late.labelled(sequence)
                yield Trial(x, label, weight, predicted, sequence)
            elif self.late is not None:
                self.late.wait(x, sequence, predicted)

    def _told(self, label: LateLabel) -> Iterator[Trial]:
        late = self.late
        assert late is not None  # no other recording holds late labels
        if label.is_epoch:
            late.tell_epoch(0)
        else:
            late.tell_label(0, label.sequence, label.label, label.weight)
        if (sample := late.take(0)) is not None:
            yield Trial(sample.x, sample.label, sample.weight, sample.predicted, sample.sequence)

    def account(self) -> dict[str, int]:
        """What the file holds and what of it could not be used so far, by name."""
        return {
            "records": self.n_records,
            "damaged": self.damaged,
            "unlabelled": self.unlabelled,
            "torn_bytes": self.torn_bytes,
            **({} if self.late is None else self.late.counters()),
        }

    def close(self) -> None:
        """Close the file; may be called again."""
        self._file.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RecordingWriter:
    """Appends samples to a recording, a new one or one that is there.

    What is written is always whole records: a write that fails, on a full disk say, is taken back
    to the last of them and raised, and may be tried again. What a crash tore off is cut away when
    the file is next opened here.

    Parameters
    ----------
    path : path
        Its folder must exist.
    schema : RecordingSchema
        Of the samples; one that is there must be of the same features, and labelled alike.
    number : int, optional
        Tells a new recording from any other; random by default.

    Attributes
    ----------
    n_records : int
        In the file, those found there among them.
    cut_bytes : int
        Cut away behind the last sound record when it was opened.

    Raises
    ------
    RecordingError
        What is there is no recording, is of other samples, or is being written by someone else.
    OSError
        It cannot be written.
    """

    def __init__(
        self, path: str | os.PathLike[str], schema: RecordingSchema, *, number: int | None = None
    ) -> None:
        self.path = Path(path)
        self.cut_bytes = 0
        self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            self._lock()
            if self._is_new():
                header = schema.pack(secrets.randbits(32) if number is None else number)
                self.schema, self.n_records = schema, 0
                self._records = _Records(schema, header)
                self._begin(header)
            else:
                self._continue(schema)
        except BaseException:
            os.close(self._fd)
            raise

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RecordingError(f"{self.path} is being written by another process") from None

    def _is_new(self) -> bool:
        """Empty, or cut off within the header of a recording that holds nothing yet."""
        size = os.fstat(self._fd).st_size
        return size < HEADER_BYTES and MAGIC.startswith(os.pread(self._fd, 8, 0))

    def _begin(self, header: bytes) -> None:
        try:
            os.ftruncate(self._fd, 0)
            self._write(header, 0)
            self.sync()
            sync_folder(self.path.parent)
        except OSError:
            os.ftruncate(self._fd, 0)
            raise

    def _continue(self, schema: RecordingSchema) -> None:
        header = os.pread(self._fd, HEADER_BYTES, 0)
        self.schema = RecordingSchema.unpack(header, self.path)
        if _described(self.schema) != _described(schema):
            raise RecordingError(
                f"{self.path} holds {_described(self.schema)}, these are {_described(schema)}"
            )
        self._records = _Records(self.schema, header)
        size = os.fstat(self._fd).st_size
        self.n_records = self._last_sound((size - HEADER_BYTES) // self.schema.record_bytes)
        self.cut_bytes = size - self._end
        if self.cut_bytes:
            os.ftruncate(self._fd, self._end)

    def _last_sound(self, n: int) -> int:
        """Records up to the last sound one: behind it is what a power cut left, and no reader could
        use.
        """
        rows = max(1, CHUNK_BYTES // self.schema.record_bytes)
        while n:
            first = max(0, n - rows)
            at = HEADER_BYTES + first * self.schema.record_bytes
            block = os.pread(self._fd, (n - first) * self.schema.record_bytes, at)
            _, sound = self._records.sound(block)
            if sound.any():
                return first + int(np.flatnonzero(sound)[-1]) + 1
            n = first
        return 0

    @property
    def _end(self) -> int:
        return HEADER_BYTES + self.n_records * self.schema.record_bytes

    @property
    def n_bytes(self) -> int:
        """Of the file."""
        return self._end

    def append(self, batch: Batch) -> None:
        """Write samples behind those that are there, whole or not at all.

        Parameters
        ----------
        batch : Batch
            (X, y, has_label, weight, sequence), as `Link.take` gives it.

        Raises
        ------
        OSError
            Nothing of `batch` was kept; what was written before is.
        ValueError
            Features that are not finite or of another number; a label where none may be.
        """
        if batch.X.shape != (len(batch.y), self.schema.n_features):
            raise ValueError(
                f"X has shape {batch.X.shape}, the recording {self.schema.n_features} features"
            )
        if not np.isfinite(batch.X).all():
            raise ValueError(
                "a feature is NaN or infinite: a recording holds samples that were taken"
            )
        if batch.has_label.any() and not self.schema.labelled:
            raise ValueError("a sample has a label, and the recording is of samples without")
        _check_labels(batch.y[batch.has_label], batch.weight[batch.has_label])
        self._append(self._records.pack(batch))

    def append_labels(self, labels: Sequence[LateLabel]) -> None:
        """Write labels that came late, or marks of a new epoch, behind what is there, whole or not
        at all.

        Raises
        ------
        OSError
            As `append`.
        ValueError
            Labels of samples here do not come late; or one does not fit.
        """
        if not self.schema.late:
            raise ValueError("the recording is of samples whose labels do not come late")
        _check_labels(np.array([x.label for x in labels]), np.array([x.weight for x in labels]))
        self._append(self._records.pack_labels(labels))

    def _append(self, block: bytes) -> None:
        try:
            self._write(block, self._end)
        except OSError:
            os.ftruncate(self._fd, self._end)
            raise
        self.n_records += len(block) // self.schema.record_bytes

    def _write(self, data: bytes, at: int) -> None:
        left = memoryview(data)
        while left:
            n = os.pwrite(self._fd, left, at)
            left, at = left[n:], at + n

    def sync(self) -> None:
        """Wait until the medium has what was written: a power cut then takes nothing of it. Raises
        OSError.
        """
        getattr(os, "fdatasync", os.fsync)(self._fd)

    def close(self) -> None:
        """Sync and close; may be called again. Closed even where it raises OSError."""
        if self._fd >= 0:
            fd, sync = self._fd, self.sync
            try:
                sync()
            finally:
                self._fd = -1
                os.close(fd)

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_labels(labels: NDArray[Any], weights: NDArray[Any]) -> None:
    if not ((weights >= 0) & (weights < 256)).all():
        raise ValueError("a weight is not within 0 to 255.996")
    if not ((labels >= -0x8000) & (labels <= 0x7FFF)).all():
        raise ValueError("a label does not fit 16 bits")


def _described(schema: RecordingSchema) -> str:
    labels = "with late" if schema.late else "with" if schema.labelled else "without"
    return f"samples of {schema.n_features} features {labels} labels"
