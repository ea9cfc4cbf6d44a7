"""The raw samples of a file, one by one, and the windows of them as rows to learn."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from edgesvm.cli import arguments
from edgesvm.contract.sparse import SparseRows
from edgesvm.core.status import Status
from edgesvm.data import CsvRows, NpzRows
from edgesvm.data.rows import Predict, Trial
from edgesvm.errors import RowsError, SampleRefused
from edgesvm.link import Recording, open_rows
from edgesvm.preprocessing.chain import Chain
from edgesvm.preprocessing.in_order import InOrder

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


class WindowRows:
    """The windows of a file's raw samples: a `TrialSource` for `PredictThenLearn`.

    Parameters
    ----------
    source : CsvRows, NpzRows or Recording
    chain : Chain
        Allocated. Its windows are used; who reads the rows predicts and learns them.
    label_of : callable
        Maps the file's label of a sample to the label to learn.
    at_most : int, optional
        Raw samples to read.

    Raises
    ------
    ValueError
        The labels of a recording came after their samples.
    """

    def __init__(
        self,
        source: CsvRows | NpzRows | Recording,
        chain: Chain,
        label_of: Callable[[Any], Any],
        at_most: int | None = None,
    ) -> None:
        if isinstance(source, Recording) and source.schema.late:
            raise ValueError(
                f"{source.path}: labels came after their samples, but a window needs them with its"
                " samples"
            )
        self._source, self._chain = source, chain
        self._label_of, self._at_most = label_of, at_most
        self._samples = InOrder(chain.window, chain.gap)

    def trials(self, predict: Predict) -> Iterator[Trial]:
        """A pass; the number of a trial is that of its window's last sample.

        Raises
        ------
        SampleRefused
            A label is new and the learner has no room for another class.
        """
        for number, x, label in islice(samples(self._source), self._at_most):
            named = None if label is None else self._label_of(label)
            try:
                window = self._samples.push(number, x.astype(self._dtype, copy=False), named)
            except SampleRefused as refused:
                if refused.status == Status.UNKNOWN_LABEL:
                    raise
                continue  # counted; the windows it was in are dropped
            if window is None:
                continue
            row, of_window = window
            yield Trial(row, of_window, 1.0, predict(row), number)

    @property
    def _dtype(self) -> str:
        return self._chain.windows_.dtype

    def account(self) -> dict[str, int]:
        """What became of the samples and windows so far, by name."""
        seen, windows = self._samples, self._chain.windows_
        return {
            "pushed": seen.pushed,
            "late_samples": seen.late,
            "refused_samples": seen.refused,
            "gaps": seen.gaps,
            "windows": windows.n_rows_,
            "windows_dropped": windows.n_dropped_,
        }
