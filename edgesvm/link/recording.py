"""Recordings: samples as received from a link, in a file that tolerates a torn end.

One header, then records of fixed size, each with its own CRC-32; FORMATS.md describes every byte.
Each record's CRC continues from the header's, and the header holds a random number, so neither a
block of zeros nor an old block of another recording passes as a record.

A late label has a record of its own, in the order received; the reader matches labels with their
samples as a link does. Names of labels and features have records too, before their samples.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgesvm.data.rows import Rows
from edgesvm.errors import RecordingError
from edgesvm.link._ring import Batch, LateLabel, LateLabels
from edgesvm.persist.files import Claim, followed, is_at, open_regular, sync_folder, write_all

MAGIC = b"ESVMRECS"
FORMAT_VERSION = 1
SUFFIX = ".rec"
MAX_FEATURES = 65535  # the largest in a SCHEMA
# Flags of a record; a sample has none of the last three.
HAS_LABEL = 1
LATE_LABEL = 2
NEW_EPOCH = 4
NAMES = 8

_HEADER = struct.Struct("<8sHHIIhBBI")
HEADER_BYTES = _HEADER.size + 4
CHUNK_BYTES = 1 << 16
READ_ROWS = 256
LATE_LABELS = 256
TARGETS = 4  # as in wire.py


@dataclass(frozen=True)
class RecordingSchema:
    """Describes the samples of a recording.

    n_features : features per sample, 1 to 65535; labelled : samples may have a label; n_classes : 0
    if open; period_us : nominal microseconds between samples, 0 if irregular; late : labels may
    arrive after their samples; targets : labels are numbers, float64, and a feature may be NaN.
    """

    n_features: int
    labelled: bool = True
    n_classes: int = 0
    period_us: int = 0
    late: bool = False
    targets: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.n_features <= MAX_FEATURES:
            raise ValueError(f"n_features={self.n_features} must be 1 to {MAX_FEATURES}")
        if not 0 <= self.n_classes <= 0x7FFF or not 0 <= self.period_us <= 0xFFFFFFFF:
            raise ValueError(
                f"n_classes={self.n_classes} must be 0 to {0x7FFF}, "
                f"period_us={self.period_us} 0 to {0xFFFFFFFF}"
            )
        if self.late and not self.labelled:
            raise ValueError("late=True needs labelled=True")

    @property
    def record_bytes(self) -> int:
        """Size of one record in bytes: 16 + 4 d, with targets 24 + 4 d."""
        return 16 + 8 * self.targets + 4 * self.n_features

    def pack(self, number: int) -> bytes:
        """The file's header; `number` identifies this recording."""
        header = _HEADER.pack(
            MAGIC,
            FORMAT_VERSION,
            HEADER_BYTES,
            self.n_features,
            self.period_us,
            self.n_classes,
            self.labelled + self.late + TARGETS * self.targets,
            0,
            number,
        )
        return header + zlib.crc32(header).to_bytes(4, "little")

    @classmethod
    def unpack(cls, header: bytes, name: object) -> RecordingSchema:
        """The schema in a file's first bytes; RecordingError if they are not a valid header."""
        if header[:8] != MAGIC[: len(header)] or not header:
            raise RecordingError(f"{name} is not a recording")
        if len(header) < HEADER_BYTES:
            raise RecordingError(f"{name} ends within its header; it holds no samples")
        (_, version, n_bytes, d, period, classes, labels, reserved, _) = _HEADER.unpack_from(header)
        targets, labels = bool(labels & TARGETS), labels & ~TARGETS
        known = version <= FORMAT_VERSION  # of a newer version only the number is known
        if known and zlib.crc32(header[:-4]) != int.from_bytes(header[-4:], "little"):
            raise RecordingError(f"{name} has a damaged header; its records cannot be read")
        if version != FORMAT_VERSION:
            raise RecordingError(
                f"{name} is a recording of version {version}; "
                f"this release reads version {FORMAT_VERSION}"
            )
        if n_bytes != HEADER_BYTES or labels > 2 or reserved:
            raise RecordingError(f"{name} has a header with undefined values")
        try:
            return cls(d, labels > 0, classes, period, labels == 2, targets)
        except ValueError as error:
            raise RecordingError(f"{name}: {error}") from error

    @property
    def label_dtype(self) -> type[np.float64] | type[np.int32]:
        """Of the labels that are read."""
        return np.float64 if self.targets else np.int32

    def bad_values(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Which features a recording does not hold."""
        found: NDArray[np.bool_] = np.isinf(X) if self.targets else ~np.isfinite(X)
        return found

    def record_dtype(self) -> np.dtype[Any]:
        """NumPy's dtype of one record."""
        target = [("label", "<f8")] if self.targets else []
        return np.dtype(
            [
                ("sequence", "<u4"),
                ("flags", "<u2"),
                ("unused" if self.targets else "label", "<i2"),
                ("weight", "<u2"),
                ("reserved", "<u2"),
                *target,
                ("x", "<f4", (self.n_features,)),
                ("crc", "<u4"),
            ]
        )


class Names(NamedTuple):
    """Of labels, by number, and of features; empty where there are none."""

    labels: list[str]
    features: list[str]


class _Records:
    """Blocks of records: rows to bytes, and bytes to valid rows."""

    def __init__(self, schema: RecordingSchema, header: bytes) -> None:
        self.schema = schema
        self.n_bytes = schema.record_bytes
        self._dtype = schema.record_dtype()
        # Not the CRC of the whole header: bytes followed by their own CRC always have the same CRC.
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
        return self._with_crcs(rows)

    def pack_labels(self, labels: Sequence[LateLabel]) -> bytes:
        rows = np.zeros(len(labels), self._dtype)
        for row, label in zip(rows, labels, strict=True):
            row["flags"] = NEW_EPOCH if label.is_epoch else LATE_LABEL
            if not label.is_epoch:
                row["sequence"], row["label"] = label.sequence, label.label
                row["weight"] = _weights(np.float64(label.weight))
        return self._with_crcs(rows)

    def pack_names(self, names: Names) -> bytes:
        """One text over as many records as it takes: their features are its bytes."""
        text = json.dumps(names._asdict(), ensure_ascii=False).encode()
        size = 4 * self.schema.n_features
        rows = np.zeros(-(-len(text) // size), self._dtype)
        rows["flags"], rows["sequence"] = NAMES, np.arange(len(rows))
        text = text.ljust(size * len(rows))
        rows["x"] = np.frombuffer(text, "<f4").reshape(len(rows), -1)
        return self._with_crcs(rows)

    def names(self, rows: NDArray[Any]) -> Names | None:
        """The last names in these valid records that are whole; None without."""
        parts = rows[rows["flags"] == NAMES]
        for at in np.flatnonzero(parts["sequence"] == 0)[::-1]:
            try:
                held, _ = json.JSONDecoder().raw_decode(parts["x"][at:].tobytes().decode())
                return Names([str(one) for one in held["labels"]], list(map(str, held["features"])))
            except (ValueError, KeyError, TypeError):
                continue  # a part is lost
        return None

    def _with_crcs(self, rows: NDArray[Any]) -> bytes:
        rows["crc"] = self._crcs(memoryview(rows.tobytes()))
        return rows.tobytes()

    def unpack(self, block: bytes) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The records of a block of whole records, and which of them are valid."""
        rows = np.frombuffer(block, self._dtype)
        valid = rows["crc"] == np.array(self._crcs(memoryview(block)), np.uint32)
        # A correct CRC is not enough: a record must also hold values that a writer writes.
        flags = rows["flags"]
        named = flags == NAMES
        valid &= (flags <= int(self.schema.labelled)) | self._is_label(rows) | named
        valid &= rows["reserved"] == 0
        with np.errstate(invalid="ignore"):
            valid &= ~self.schema.bad_values(rows["x"]).any(axis=1) | named
            if self.schema.targets:
                valid &= np.isfinite(rows["label"]) & (rows["unused"] == 0)
        return rows, valid

    def _is_label(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Late labels and starts of epochs; their other fields must be zero."""
        epoch = rows["flags"] == NEW_EPOCH
        for name in ("sequence", "label", "weight"):
            epoch &= rows[name] == 0
        found = (rows["flags"] == LATE_LABEL) | epoch
        return found & (rows["x"].view("<u4") == 0).all(axis=1) & self.schema.late

    def parts(self, rows: NDArray[Any]) -> Iterator[Batch | LateLabel]:
        """Valid records in order; consecutive samples come as one batch."""
        begin = 0
        for at in [*np.flatnonzero(rows["flags"] > HAS_LABEL).tolist(), len(rows)]:
            if at > begin:
                yield self.batch(rows[begin:at])
            if at < len(rows) and rows["flags"][at] != NAMES:
                row = rows[at]
                weight = float(row["weight"]) / 256
                is_epoch = bool(row["flags"] == NEW_EPOCH)
                yield LateLabel(int(row["sequence"]), row["label"].item(), weight, is_epoch)
            begin = at + 1

    def batch(self, rows: NDArray[Any]) -> Batch:
        has_label = rows["flags"] == HAS_LABEL
        weight = np.where(has_label, rows["weight"] / np.float32(256), np.float32(1))
        return Batch(
            np.ascontiguousarray(rows["x"], np.float32),
            rows["label"].astype(self.schema.label_dtype),
            has_label,
            weight.astype(np.float32),
            rows["sequence"].astype(np.uint32),
        )


def queue(late: LateLabels, label: LateLabel) -> None:
    """Queue what was read, for the next sample that is taken."""
    if label.is_epoch:
        late.add_epoch(0)
    else:
        late.add_label(0, label.sequence, label.label, label.weight)


def _weights(weight: Any) -> Any:
    """Weights in units of 1/256."""
    return np.minimum(np.round(256 * weight), 0xFFFF)


class Recording:
    """Samples of a recording, as a `RowSource` that can be read any number of times.

    Reads the records that were whole when the file was opened; damaged ones are skipped and
    counted. Memory holds at most one chunk of rows, and the samples that wait for a late label. Use
    it in a ``with`` block, or `close` it.

    Parameters
    ----------
    path : path
    late_labels : int
        Late-label window: the number of samples that wait for labels sent after them, as on a link.

    Attributes
    ----------
    schema : RecordingSchema
        Its fields are attributes too.
    n_records : int
        Whole records in the file, including damaged ones, late labels and names.
    class_names : list of str
        What labels stand for, by number, as far as was read; empty where they are numbers.
    feature_names : tuple of str
    torn_bytes : int
        Bytes after the last whole record: the start of one whose writing was interrupted.
    damaged : int
        Damaged records among those read so far, each counted once.
    late : LateLabels or None
        With late labels, the counts of labels and samples in the latest pass.

    Raises
    ------
    RecordingError
        The file is not a recording, or its header is damaged.
    OSError
        The file cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], *, late_labels: int = LATE_LABELS) -> None:
        self.path = Path(path)
        self._late_labels = late_labels
        self._file = open(open_regular(self.path), "rb", buffering=0)  # noqa: SIM115 (see close)
        try:
            header = self._file.read(HEADER_BYTES) or b""
            self.schema = RecordingSchema.unpack(header, self.path)
            held = os.fstat(self._file.fileno()).st_size - HEADER_BYTES
        except BaseException:
            self._file.close()
            raise
        self.n_features, self.n_classes = self.schema.n_features, self.schema.n_classes
        self.period_us = self.schema.period_us
        self.labelled, self.targets = self.schema.labelled, self.schema.targets
        self._records = _Records(self.schema, header)
        self.n_records, self.torn_bytes = divmod(held, self.schema.record_bytes)
        self.n_rows = self.n_records
        self.class_names: list[str] = []
        self.feature_names: tuple[str, ...] = ()
        self.damaged = 0
        self.late: LateLabels | None = None
        self._unlabelled = 0
        self._checked = 0  # records before this one have been counted
        self._valid(0, READ_ROWS)  # names are before the samples

    @property
    def unlabelled(self) -> int:
        """Samples without a label among those read so far, each counted once; with late labels,
        those of the latest pass.
        """
        if self.late is None:
            return self._unlabelled
        return self.late.unlabelled + self.late.expired + self.late.waiting

    def read(self, at: int, n: int) -> Batch:
        """The valid samples among records `at` to `at + n`, fewer at the end of the file.

        Returns
        -------
        Batch
            Copies. The weight of a sample without a label is 1.
        """
        rows = self._valid(at, n)
        return self._records.batch(rows[rows["flags"] <= HAS_LABEL])

    def _valid(self, at: int, n: int) -> NDArray[Any]:
        n = max(0, min(n, self.n_records - at))
        self._file.seek(HEADER_BYTES + at * self.schema.record_bytes)
        block = self._read_exactly(n * self.schema.record_bytes)
        rows, valid = self._records.unpack(block)
        new = slice(max(0, self._checked - at), None)
        self._checked = max(self._checked, at + n)
        self.damaged += int((~valid[new]).sum())
        if self.schema.labelled:
            self._unlabelled += int((valid[new] & (rows["flags"][new] == 0)).sum())
        rows = rows[valid]
        if (names := self._records.names(rows)) is not None:
            self.class_names[:], self.feature_names = names.labels, tuple(names.features)
        return rows

    def _read_exactly(self, n_bytes: int) -> bytes:
        parts = []
        while n_bytes:
            part = self._file.read(min(n_bytes, CHUNK_BYTES))
            if not part:
                raise RecordingError(f"{self.path} became shorter while it was being read")
            parts.append(part)
            n_bytes -= len(part)
        return b"".join(parts)

    def batches(self, rows: int = READ_ROWS) -> Iterator[Batch]:
        """One pass over all samples, labelled or not, from the first; `rows` per batch at most."""
        if rows < 1:
            raise ValueError(f"rows={rows} must be at least 1")
        for at in range(0, self.n_records, rows):
            batch = self.read(at, rows)
            if len(batch.y):
                yield batch

    def chunks(self, rows: int = READ_ROWS) -> Iterator[Rows]:
        """One pass, at most `rows` per chunk: X float32, y int32, or float64 targets (None in an
        unlabelled recording).

        In a labelled recording, samples without a label are skipped and counted. With late labels,
        a sample comes where its label arrived.
        """
        if not self.labelled:
            yield from (Rows(batch.X) for batch in self.batches(rows))
            return
        samples = self._labelled()
        while some := list(islice(samples, rows)):
            X, y = zip(*some, strict=True)
            yield Rows(np.array(X), np.array(y, self.schema.label_dtype))

    def arrivals(self, rows: int = READ_ROWS) -> Iterator[Batch | LateLabel]:
        """One pass over everything in the order received: samples, at most `rows` per batch, and
        late labels.
        """
        for at in range(0, self.n_records, rows):
            yield from self._records.parts(self._valid(at, rows))

    def _labelled(self) -> Iterator[tuple[NDArray[np.float32], Any]]:
        """One pass over the samples that have a label, each where its label arrived."""
        late = self.late = None
        if self.schema.late:
            late = self.late = LateLabels(self._late_labels, self.n_features, targets=self.targets)
        for part in self.arrivals():
            if isinstance(part, Batch):
                columns = part.y.tolist(), part.has_label.tolist(), part.sequence.tolist()
                for x, label, has_label, sequence in zip(part.X, *columns, strict=True):
                    if has_label:
                        yield x, label
                    if late is not None:
                        late.labelled(sequence) if has_label else late.wait(x, sequence)
            elif late is not None:
                queue(late, part)
                if (sample := late.take(0)) is not None:
                    yield sample.x.copy(), sample.label

    def account(self) -> dict[str, int]:
        """What the file holds, and what could not be used so far, by name."""
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


def is_recording(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a recording does."""
    try:
        with open(open_regular(Path(path)), "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def claim_recording(path: str | os.PathLike[str]) -> Claim:
    """Keep other processes from writing a recording, before its schema is known.

    The claim is for `RecordingWriter`, or to be released. A symbolic link is followed.

    Raises
    ------
    RecordingError
        Another process is writing it.
    OSError
        The file cannot be created or written.
    """
    try:
        return Claim(followed(path), os.fspath(path))
    except BlockingIOError as error:
        raise RecordingError(str(error)) from None


class RecordingWriter:
    """Appends samples to a new or an existing recording.

    The file always holds whole records: when a write fails, on a full disk for instance, what it
    wrote is removed, the error is raised, and the write can be repeated. A record torn by a crash
    is removed when the file is next opened for writing.

    Parameters
    ----------
    path : path or Claim
        Its folder must exist. A claim, from `claim_recording`, is released by `close`.
    schema : RecordingSchema
        Of the samples; an existing recording must have the same features and kind of labels.
    number : int, optional
        Identifies a new recording; random by default.

    Attributes
    ----------
    n_records : int
        Records in the file, including those it held when opened.
    names : Names
        Of labels and features, as appended last.
    cut_bytes : int
        Bytes removed after the last valid record when the file was opened.

    Raises
    ------
    RecordingError
        The file is not a recording, holds other samples, or is being written by another process.
    OSError
        The file cannot be written, or is a symbolic link to no file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | Claim,
        schema: RecordingSchema,
        *,
        number: int | None = None,
    ) -> None:
        self._claim = path if isinstance(path, Claim) else claim_recording(path)
        self.path = Path(self._claim.path)
        self.cut_bytes = 0
        self.names, self._numbered = Names([], []), False
        try:
            if self._is_new():
                header = schema.pack(
                    int.from_bytes(os.urandom(4), "little") if number is None else number
                )
                self.schema, self.n_records = schema, 0
                self._records = _Records(schema, header)
                self._begin(header)
            else:
                self._continue(schema)
        except BaseException:
            self._claim.release()
            raise

    @property
    def _fd(self) -> int:
        return self._claim.descriptor

    def _is_new(self) -> bool:
        """Is the file empty, or truncated within its header?"""
        size = os.fstat(self._fd).st_size
        return size < HEADER_BYTES and MAGIC.startswith(os.pread(self._fd, 8, 0))

    def _begin(self, header: bytes) -> None:
        try:
            os.ftruncate(self._fd, 0)
            write_all(os.pwrite, self._fd, header, 0)
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
                f"{self.path} holds {_described(self.schema)}; cannot append {_described(schema)}"
            )
        self._records = _Records(self.schema, header)
        size = os.fstat(self._fd).st_size
        self.n_records = self._valid_end((size - HEADER_BYTES) // self.schema.record_bytes)
        self.cut_bytes = size - self.n_bytes
        if self.cut_bytes:
            os.ftruncate(self._fd, self.n_bytes)
        if self.n_records:
            self._find_names()

    def _find_names(self) -> None:
        size, dtype = self.n_records, self.schema.record_dtype()
        held = np.memmap(self.path, dtype, mode="r", offset=HEADER_BYTES, shape=size)
        rows, valid = self._records.unpack(held[held["flags"] == NAMES].tobytes())
        self.names = self._records.names(rows[valid]) or self.names
        self._numbered = bool((held["flags"] == HAS_LABEL).any()) and not self.names.labels

    def _valid_end(self, n: int) -> int:
        """Number of records up to the last valid one; a power cut left what follows it."""
        rows = max(1, CHUNK_BYTES // self.schema.record_bytes)
        while n:
            first = max(0, n - rows)
            at = HEADER_BYTES + first * self.schema.record_bytes
            block = os.pread(self._fd, (n - first) * self.schema.record_bytes, at)
            _, valid = self._records.unpack(block)
            if valid.any():
                return first + int(np.flatnonzero(valid)[-1]) + 1
            n = first
        return 0

    @property
    def n_bytes(self) -> int:
        """Size of the file in bytes."""
        return HEADER_BYTES + self.n_records * self.schema.record_bytes

    def append(self, batch: Batch) -> None:
        """Append samples, all of them or none.

        Parameters
        ----------
        batch : Batch
            (X, y, has_label, weight, sequence), as returned by `Link.take`.

        Raises
        ------
        OSError
            The write failed; the file is as before.
        ValueError
            A feature is not finite, the number of features differs, or a sample has a label that
            does not fit the recording.
        """
        if batch.X.shape != (len(batch.y), self.schema.n_features):
            raise ValueError(
                f"X has shape {batch.X.shape}; "
                f"it must be ({len(batch.y)}, {self.schema.n_features})"
            )
        if self.schema.bad_values(batch.X).any():
            raise ValueError("a feature is NaN or infinite; a recording holds finite features only")
        if batch.has_label.any() and not self.schema.labelled:
            raise ValueError("a sample has a label, but the recording has labelled=False")
        self._check_labels(batch.y[batch.has_label], batch.weight[batch.has_label])
        self._numbered |= not self.names.labels and bool(batch.has_label.any())
        self._append(self._records.pack(batch))

    def name(self, labels: Sequence[str], features: Sequence[str]) -> NDArray[np.int32]:
        """The numbers of labels that are words, in this file. New words, and the names of features,
        are appended first.

        Raises
        ------
        OSError
            The write failed; the file is as before.
        RecordingError
            The file holds labels that are numbers.
        """
        known = [*self.names.labels, *(word for word in labels if word not in self.names.labels)]
        names = Names(known, list(features) or self.names.features)
        if names != self.names:
            if known and not self.names.labels and self._numbered:
                raise RecordingError(f"{self.path} holds labels that are numbers, not {known[0]!r}")
            self._append(self._records.pack_names(names))
            self.names = names
        return np.array([known.index(word) for word in labels], np.int32)

    def append_labels(self, labels: Sequence[LateLabel]) -> None:
        """Append late labels and starts of epochs, all of them or none.

        Raises
        ------
        OSError
            The write failed; the file is as before.
        ValueError
            The recording has no late labels, or a label or weight does not fit.
        """
        if not self.schema.late:
            raise ValueError("the recording cannot hold late labels: its schema has late=False")
        values = np.array([x.label for x in labels])
        self._check_labels(values, np.array([x.weight for x in labels]))
        self._append(self._records.pack_labels(labels))

    def _check_labels(self, labels: NDArray[Any], weights: NDArray[Any]) -> None:
        if not ((weights >= 0) & (weights < 256)).all():
            raise ValueError("a weight is out of range; weights must be 0 to 255.996")
        if self.schema.targets and not np.isfinite(labels).all():
            raise ValueError("a target is NaN or infinite; targets must be finite")
        if not self.schema.targets and not ((labels >= -0x8000) & (labels <= 0x7FFF)).all():
            raise ValueError("a label is out of range; labels must be -32768 to 32767")

    def _append(self, block: bytes) -> None:
        if os.fstat(self._fd).st_size != self.n_bytes or not is_at(self._fd, self.path):
            raise FileNotFoundError(f"{self.path} was removed, replaced or changed by another")
        try:
            write_all(os.pwrite, self._fd, block, self.n_bytes)
        except OSError:
            os.ftruncate(self._fd, self.n_bytes)
            raise
        self.n_records += len(block) // self.schema.record_bytes

    def sync(self) -> None:
        """Wait until everything written is on the medium, safe from a power cut; raises OSError."""
        getattr(os, "fdatasync", os.fsync)(self._fd)

    def close(self) -> None:
        """Sync and close; may be called again. The file is closed even if OSError is raised."""
        if self._fd >= 0:
            try:
                self.sync()
            finally:
                self._claim.release()

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _described(schema: RecordingSchema) -> str:
    labels = "with late" if schema.late else "with" if schema.labelled else "without"
    kind = "targets" if schema.targets else "labels"
    return f"samples of {schema.n_features} features {labels} {kind}"
