"""Recordings: what was written can be read again, despite damage elsewhere in the file."""

import errno
import os
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from edgesvm.errors import RecordingError
from edgesvm.link import Batch, LateLabel, Recording, RecordingSchema, RecordingWriter, open_rows
from edgesvm.link.recording import HEADER_BYTES, claim_recording

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import make_golden_recording as golden  # noqa: E402

D = 3
SCHEMA = RecordingSchema(D)
SIZE = SCHEMA.record_bytes


def rows(n, start=0, *, seed=1, labelled=1.0):
    rng = np.random.default_rng(seed + start)
    has_label = rng.random(n) < labelled
    y = np.where(has_label, rng.integers(-3, 4, n), 0).astype(np.int32)
    weight = np.where(has_label, rng.integers(0, 1024, n) / 256, 1).astype(np.float32)
    X = rng.standard_normal((n, D)).astype(np.float32)
    return Batch(X, y, has_label, weight, np.arange(start, start + n, dtype=np.uint32))


def record(path, *batches, number=7, schema=SCHEMA):
    with RecordingWriter(path, schema, number=number) as writer:
        for batch in batches:
            writer.append(batch)
    return path


def read_all(path, chunk=5):
    """All valid samples of the file, and its account."""
    with Recording(path) as recording:
        batches = list(recording.batches(chunk))
        return joined(batches), recording.account()


def joined(batches):
    if not batches:
        return rows(0)
    return Batch(*(np.concatenate(column) for column in zip(*batches, strict=True)))


def same(a, b):
    return all(x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "samples.rec"


def test_rows_are_read_back_bit_for_bit_in_any_chunks(path):
    batches = [rows(7, labelled=0.6), rows(0, 7), rows(1, 7), rows(20, 8, labelled=0.6)]
    record(path, *batches)
    assert path.stat().st_size == HEADER_BYTES + 28 * SIZE
    for chunk in (1, 2, 7, 27, 28, 1000):
        got, account = read_all(path, chunk)
        assert same(got, joined(batches))
        assert (account["records"], account["damaged"], account["torn_bytes"]) == (28, 0, 0)


def test_golden_file_is_written_and_read_exactly(path):
    golden.write_samples(path)
    assert path.read_bytes() == golden.GOLDEN.read_bytes()
    with Recording(golden.GOLDEN) as recording:
        assert recording.schema == golden.SCHEMA
        assert same(joined(list(recording.batches())), golden.rows())


def test_the_example_of_the_format_document():
    text = (HERE.parents[1] / "docs" / "FORMATS.md").read_text()
    data = golden.GOLDEN.read_bytes()
    assert f"    {data[:32].hex(' ')}\n" in text
    assert f"    {data[32:60].hex(' ')}\n" in text
    assert int.from_bytes(data[28:32], "little") == zlib.crc32(data[:28])
    assert int.from_bytes(data[56:60], "little") == zlib.crc32(data[32:56], zlib.crc32(data[:28]))


def test_a_torn_end_leaves_whole_records_and_can_be_appended_to(path, tmp_path):
    whole = record(path, rows(4)).read_bytes()
    for n_bytes in range(len(whole) + 1):
        torn = tmp_path / "torn.rec"
        torn.write_bytes(whole[:n_bytes])
        n_whole, torn_bytes = divmod(max(0, n_bytes - HEADER_BYTES), SIZE)
        if n_bytes < HEADER_BYTES:
            with pytest.raises(RecordingError):
                Recording(torn)
        else:
            got, account = read_all(torn)
            assert same(got, Batch(*(column[:n_whole] for column in rows(4))))
            assert account["torn_bytes"] == torn_bytes
        with RecordingWriter(torn, SCHEMA, number=7) as writer:
            assert writer.n_records == n_whole
            assert writer.cut_bytes == (torn_bytes if n_bytes >= HEADER_BYTES else 0)
            writer.append(rows(2, 100))
        kept = Batch(*(column[:n_whole] for column in rows(4)))
        assert same(read_all(torn)[0], joined([kept, rows(2, 100)]))


def test_every_damaged_byte_loses_only_its_record(path, tmp_path):
    whole = record(path, rows(3, labelled=0.5)).read_bytes()
    for at in range(HEADER_BYTES, len(whole)):
        hurt = bytearray(whole)
        hurt[at] ^= 1 << (at % 8)
        (tmp_path / "hurt.rec").write_bytes(hurt)
        got, account = read_all(tmp_path / "hurt.rec")
        lost = (at - HEADER_BYTES) // SIZE
        assert account["damaged"] == 1
        assert got.sequence.tolist() == [i for i in range(3) if i != lost]


def test_zeros_and_blocks_of_another_recording_are_not_samples(path, tmp_path):
    """What a power cut can leave at the end: a file made longer, with holes or with stale blocks
    in it.
    """
    other = record(tmp_path / "other.rec", rows(5), number=8).read_bytes()[HEADER_BYTES:]
    whole = record(path, rows(3)).read_bytes()
    path.write_bytes(whole + other + bytes(3 * SIZE + 5))
    got, account = read_all(path)
    assert same(got, rows(3))
    assert (account["damaged"], account["torn_bytes"]) == (8, 5)
    with RecordingWriter(path, SCHEMA) as writer:
        assert (writer.n_records, writer.cut_bytes) == (3, 8 * SIZE + 5)
    assert path.read_bytes() == whole


def sealed(record_bytes, header):
    return record_bytes[:-4] + zlib.crc32(record_bytes[:-4], zlib.crc32(header[:-4])).to_bytes(
        4, "little"
    )


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (4, b"\x02\x00"),
        (4, b"\x01\x80"),
        (10, b"\x01\x00"),
        (12, b"\x00\x00\xc0\x7f"),
        (20, b"\x00\x00\x80\xff"),
    ],
    ids=["flag", "high flag", "reserved", "nan", "inf"],
)
def test_a_correct_crc_does_not_make_invalid_values_a_sample(path, at, value):
    whole = record(path, rows(2)).read_bytes()
    header, first, second = whole[:HEADER_BYTES], whole[HEADER_BYTES:-SIZE], whole[-SIZE:]
    assert sealed(first, header) == first
    path.write_bytes(
        header + sealed(first[:at] + value + first[at + len(value) :], header) + second
    )
    got, account = read_all(path)
    assert got.sequence.tolist() == [1]
    assert account["damaged"] == 1


def test_a_header_of_a_later_version_or_with_unknown_values_is_refused(path):
    header = bytearray(SCHEMA.pack(1))
    for at, value, said in (
        (8, 2, "version 2"),
        (10, 33, "undefined values"),
        (22, 3, "undefined values"),
    ):
        other = bytearray(header)
        other[at] = value
        path.write_bytes(bytes(other[:-4]) + zlib.crc32(other[:-4]).to_bytes(4, "little"))
        with pytest.raises(RecordingError, match=said):
            Recording(path)
    for at, value in ((12, bytes(4)), (12, b"\0\0\1\0"), (20, b"\0\x80")):
        other = bytearray(header)
        other[at : at + len(value)] = value
        path.write_bytes(bytes(other[:-4]) + zlib.crc32(other[:-4]).to_bytes(4, "little"))
        with pytest.raises(RecordingError, match=r"n_features|n_classes"):
            Recording(path)


@pytest.mark.parametrize("content", [b"", b"ESVM", b"ESVMSNAP" + bytes(60), b"1,2,3\n" * 20])
def test_other_files_are_not_recordings_and_are_not_changed(path, content):
    path.write_bytes(content)
    with pytest.raises(RecordingError):
        Recording(path)
    if len(content) > 8:
        with pytest.raises(RecordingError, match="not a recording"):
            RecordingWriter(path, SCHEMA)
        assert path.read_bytes() == content


def test_samples_of_another_kind_are_not_appended(path):
    before = record(path, rows(2)).read_bytes()
    for schema in (RecordingSchema(D + 1), RecordingSchema(D, labelled=False)):
        with pytest.raises(RecordingError, match="cannot append samples of"):
            RecordingWriter(path, schema)
    assert path.read_bytes() == before


def test_bad_rows_are_refused_with_their_whole_batch(path):
    good = rows(3)
    nan = good.X.copy()
    nan[2, 1] = np.nan
    bad = [
        good._replace(X=nan),
        good._replace(X=good.X[:, :2]),
        good._replace(weight=np.full(3, 256, np.float32)),
        good._replace(weight=np.full(3, np.nan, np.float32)),
        good._replace(y=np.full(3, 40000, np.int32)),
    ]
    with RecordingWriter(path, SCHEMA) as writer:
        for batch in bad:
            with pytest.raises(ValueError):
                writer.append(batch)
        writer.append(good)
    assert same(read_all(path)[0], good)
    plain = path.with_name("plain.rec")
    unlabelled = RecordingSchema(D, labelled=False)
    with RecordingWriter(plain, unlabelled) as writer, pytest.raises(ValueError, match="label"):
        writer.append(good)


class Medium:
    """`os.pwrite` on a medium with `room` bytes left: what fits is written, the rest fails."""

    def __init__(self, monkeypatch, room):
        self.room = room
        self._pwrite = os.pwrite
        monkeypatch.setattr(os, "pwrite", self.pwrite)

    def pwrite(self, fd, data, at):
        n = min(len(data), self.room)
        if not n:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.room -= n
        return self._pwrite(fd, data[:n], at)


def test_a_medium_full_at_any_byte_keeps_what_was_written_before(path, monkeypatch):
    first, second = rows(2), rows(3, 2)
    for room in range(HEADER_BYTES + 2 * SIZE, HEADER_BYTES + 5 * SIZE):
        path.unlink(missing_ok=True)
        with monkeypatch.context() as patch:
            medium = Medium(patch, room)
            with RecordingWriter(path, SCHEMA) as writer:
                writer.append(first)
                with pytest.raises(OSError, match="No space"):
                    writer.append(second)
                assert path.stat().st_size == writer.n_bytes == HEADER_BYTES + 2 * SIZE
                medium.room = 1 << 20  # with room again, writing can continue
                writer.append(second)
        assert same(read_all(path)[0], joined([first, second]))


def test_a_failing_sync_raises_and_the_file_is_closed(path, monkeypatch):
    def fails(fd):
        raise OSError(errno.EIO, "Input/output error")

    writer = RecordingWriter(path, SCHEMA)
    writer.append(rows(2))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fails)
        with pytest.raises(OSError, match="Input/output"):
            writer.sync()
        with pytest.raises(OSError, match="Input/output"):
            writer.close()
    writer.close()
    record(path, rows(1, 2))
    assert same(read_all(path)[0], joined([rows(2), rows(1, 2)]))


def test_it_is_a_row_source_that_can_be_read_again(path):
    batch = rows(50, labelled=0.5)
    record(path, batch)
    labelled = batch.has_label
    with open_rows(path) as source:
        assert (source.n_features, source.n_classes, source.period_us) == (D, 0, 0)
        for _ in range(3):
            X, y = (np.concatenate(part) for part in zip(*source.chunks(4), strict=True))
            assert X.tobytes() == batch.X[labelled].tobytes()
            assert y.tolist() == batch.y[labelled].tolist()
        # However often the file is read, each skipped sample is counted once.
        assert source.account()["unlabelled"] == int((~labelled).sum()) > 0
        again = [np.concatenate(part) for part in zip(*source.chunks(9), strict=True)]
        assert again[0].tobytes() == X.tobytes()


def test_a_recording_without_labels_has_none(path):
    schema = RecordingSchema(D, labelled=False)
    record(path, rows(3, labelled=0.0), schema=schema)
    with Recording(path) as source:
        (chunk,) = source.chunks(10)
        assert chunk.y is None and len(chunk.X) == 3 and not source.labelled
        assert source.account()["unlabelled"] == 0


def test_a_file_that_shrinks_while_it_is_read_raises(path):
    record(path, rows(9))
    with Recording(path) as recording:
        batches = recording.batches(2)
        next(batches)
        os.truncate(path, HEADER_BYTES + 3 * SIZE)
        with pytest.raises(RecordingError, match="shorter"):
            list(batches)


# Late labels.

LATE = RecordingSchema(D, late=True)


def record_late(path, *parts):
    with RecordingWriter(path, LATE, number=7) as writer:
        for part in parts:
            (writer.append if isinstance(part, Batch) else writer.append_labels)(part)
    return path


def bare(*numbers):
    """Samples without a label; all features of number n are n."""
    n = len(numbers)
    return Batch(
        np.repeat(np.float32(numbers), D).reshape(n, D),
        np.zeros(n, np.int32),
        np.zeros(n, np.bool_),
        np.ones(n, np.float32),
        np.array(numbers, np.uint32),
    )


def label(*numbers, weight=1.0):
    return [LateLabel(n, n % 3 - 1, weight) for n in numbers]


def test_golden_file_of_late_labels(path):
    golden.write_late(path)
    assert path.read_bytes() == golden.LATE.read_bytes()
    with Recording(golden.LATE) as recording:
        assert recording.schema == golden.LATE_SCHEMA
        parts = list(recording.arrivals(5))
        assert [p for p in parts if isinstance(p, LateLabel)] == golden.late_labels()
        assert same(joined([p for p in parts if isinstance(p, Batch)]), golden.rows())
        assert learned(recording) == [-1, 0, 1, 0, 1, 1, -1]


def learned(recording):
    """The labels in the order of their arrival, of samples that they match."""
    return [label for chunk in recording.chunks(3) for label in chunk.y.tolist()]


def test_a_sample_is_read_where_its_label_arrives(path):
    record_late(path, bare(0, 1, 2), label(1, weight=0.5), bare(3), label(0, 1, 9, 3))
    with Recording(path) as recording:
        (chunk,) = recording.chunks(9)
        assert (chunk.X[:, 0].tolist(), chunk.y.tolist()) == ([1, 0, 3], [0, -1, -1])
        account = recording.account()
    kinds = ("matched", "duplicate", "unknown", "expired")
    assert [account[f"label_{kind}"] for kind in kinds] == [3, 1, 1, 0]
    assert (account["records"], account["labels"], account["unlabelled"]) == (9, 5, 1)


def test_late_labels_need_a_schema_with_late_labels(path):
    with RecordingWriter(path, SCHEMA, number=7) as writer:
        writer.append(rows(1))
        with pytest.raises(ValueError, match="cannot hold late labels"):
            writer.append_labels(label(0))
    with pytest.raises(RecordingError, match="with late labels"):
        RecordingWriter(path, LATE)
    late = record_late(path.with_name("late.rec"), bare(0), label(0)).read_bytes()
    header = SCHEMA.pack(7)
    records = [late[at : at + SIZE] for at in (HEADER_BYTES, HEADER_BYTES + SIZE)]
    path.write_bytes(header + b"".join(sealed(record, header) for record in records))
    assert read_all(path)[1]["damaged"] == 1
    with pytest.raises(ValueError, match="needs labelled=True"):
        RecordingSchema(D, labelled=False, late=True)


@pytest.mark.parametrize("what", ["removed", "replaced", "emptied", "cut"])
def test_a_recording_that_changes_under_its_writer_gets_no_more_samples(path, what):
    writer = RecordingWriter(path, SCHEMA)
    writer.append(rows(3))
    if what in ("removed", "replaced"):
        path.unlink()
    if what == "replaced":
        record(path, rows(1))
    if what in ("emptied", "cut"):
        os.truncate(path, 0 if what == "emptied" else HEADER_BYTES + 5)
    with pytest.raises(FileNotFoundError, match="removed, replaced or changed"):
        writer.append(rows(2))
    writer.close()
    if what == "replaced":
        assert read_all(path)[1]["records"] == 1


def test_a_claimed_recording_is_written_by_its_owner_alone(path):
    with claim_recording(path) as claim:
        with pytest.raises(RecordingError, match="another process"):
            RecordingWriter(path, SCHEMA)
        with RecordingWriter(claim, SCHEMA) as writer:
            writer.append(rows(2))
    assert read_all(path)[1]["records"] == 2
