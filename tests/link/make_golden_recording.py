"""Writes the golden recordings; run it for a new format version. A file that exists is never
written again.

python tests/link/make_golden_recording.py
"""

from pathlib import Path

import numpy as np

from edgesvm.link import Batch, LateLabel, RecordingSchema, RecordingWriter

GOLDEN = Path(__file__).parent / "golden" / "samples.rec"
LATE = GOLDEN.with_name("late.rec")
LATE_SCHEMA = RecordingSchema(3, labelled=True, late=True)
SCHEMA = RecordingSchema(3, labelled=True, n_classes=2, period_us=20_000)
NUMBER = 0x01020304


def rows() -> Batch:
    """Features in quarters, a gap in the numbers, negative labels, weights, and missing labels."""
    n = 8
    labels = np.arange(n, dtype=np.int32) % 3 - 1
    has_label = np.arange(n) % 4 != 3
    return Batch(
        (np.arange(3 * n, dtype=np.float32).reshape(n, 3) - 11) / 4,
        np.where(has_label, labels, 0).astype(np.int32),
        has_label,
        np.where(has_label & (labels == 1), 2.5, 1.0).astype(np.float32),
        np.array([0, 1, 2, 3, 7, 8, 2**32 - 1, 0], np.uint32),
    )


def late_labels() -> list[LateLabel]:
    """Labels of rows 3 and 7, one of no row, a new epoch, and one of row 3 that is too late."""
    return [
        LateLabel(3, 1, 1.0),
        LateLabel(8, -1, 0.5),
        LateLabel(9, 1, 1.0),
        LateLabel(0, 0, 0.0, is_epoch=True),
        LateLabel(3, -1, 1.0),
    ]


def write_samples(path: Path) -> None:
    with RecordingWriter(path, SCHEMA, number=NUMBER) as writer:
        writer.append(rows())


def write_late(path: Path) -> None:
    some, rest = (Batch(*(column[part] for column in rows())) for part in (slice(6), slice(6, 8)))
    with RecordingWriter(path, LATE_SCHEMA, number=NUMBER) as writer:
        writer.append(some)
        writer.append_labels(late_labels())
        writer.append(rest)


def main() -> None:
    GOLDEN.parent.mkdir(exist_ok=True)
    for path, write in ((GOLDEN, write_samples), (LATE, write_late)):
        if not path.exists():  # a writer would append to it
            write(path)
            print(path)


if __name__ == "__main__":
    main()
