"""The raw samples of a file, one by one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from edgesvm.cli import arguments
from edgesvm.contract.sparse import SparseRows
from edgesvm.data import CsvRows, NpzRows
from edgesvm.errors import RowsError
from edgesvm.link import Recording, open_rows

CHUNK_ROWS = 4096


def opened(file: str, options: argparse.Namespace) -> CsvRows | NpzRows | Recording:
    """The rows of a file; without a label's column if none is asked for and the last one of a CSV
    holds no labels."""
    column, columns = options.label_column, arguments.columns(options)
    try:
        return open_rows(file, label_column=column, **columns)
    except RowsError:
        if column is not None:
            raise
        return open_rows(file, label_column="none", **columns)


def samples(
    source: CsvRows | NpzRows | Recording,
) -> Iterator[tuple[int, np.ndarray, int | None]]:
    """Number, channels and label of each sample; None where it has no label.

    The number is that of the row, from 0, or in a recording the sequence number.
    """
    if isinstance(source, Recording):
        for batch in source.batches():
            columns = batch.sequence.tolist(), batch.X, batch.y.tolist(), batch.has_label
            for number, x, label, has_label in zip(*columns, strict=True):
                yield number, x, label if has_label else None
        return
    number = 0
    for X, y in source.chunks(CHUNK_ROWS):
        if isinstance(X, SparseRows):
            raise ValueError("raw samples must be dense rows, not a sparse matrix")
        for i, x in enumerate(X):
            yield number & 0xFFFFFFFF, x, None if y is None else int(y[i])  # as a link counts
            number += 1
