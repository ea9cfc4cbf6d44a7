"""Open a file of rows by its ending: CSV, npz, or a recording."""

from __future__ import annotations

import os
from pathlib import Path

from edgesvm.data.files import CsvRows, NpzRows
from edgesvm.errors import RowsError
from edgesvm.link.recording import Recording


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
) -> CsvRows | NpzRows | Recording:
    """The rows of a file: npz if the name ends in ``.npz``, a recording if in ``.rec``, else CSV.

    Parameters
    ----------
    path : path
    label_column, drop_columns, keep_columns, encode, header, missing
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
        )
    given = (label_column, drop_columns or None, keep_columns or None, encode, header, missing)
    if any(one is not None for one in given):
        raise RowsError(
            "the label column, columns to drop, keep or encode, the header and missing cells can "
            "be given for CSV files only"
        )
    if suffix == ".npz":
        return NpzRows(path, targets=targets)
    recording = Recording(path, late_labels=late_labels)
    if recording.targets != targets:
        recording.close()
        raise RowsError(
            f"{path} holds targets: give targets=True (--regress)"
            if recording.targets
            else f"{path} holds classes, not targets: leave out targets=True (--regress)"
        )
    return recording
