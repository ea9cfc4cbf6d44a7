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
    header: bool | None = None,
    missing: str | None = None,
    late_labels: int = 256,
) -> CsvRows | NpzRows | Recording:
    """The rows of a file: npz if the name ends in ``.npz``, a recording if in ``.rec``, else CSV.

    Parameters
    ----------
    path : path
    label_column, drop_columns, header, missing
        For CSV; see `CsvRows`.
    late_labels : int
        For a recording; see `Recording`.

    Raises
    ------
    RowsError
        A parameter for CSV was given with another kind of file; else as the reader of that kind.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".npz", ".rec"):
        return CsvRows(
            path,
            label_column=label_column,
            drop_columns=drop_columns,
            header=header,
            missing=missing or "skip",
        )
    if label_column is not None or drop_columns or header is not None or missing is not None:
        raise RowsError(
            "the label column, dropped columns, the header and missing cells can be given for CSV "
            "files only"
        )
    return NpzRows(path) if suffix == ".npz" else Recording(path, late_labels=late_labels)
