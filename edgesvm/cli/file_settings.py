"""Options of the columns of a file of rows, and the file that they open."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from edgesvm.cli import arguments
from edgesvm.cli.options import option
from edgesvm.errors import RowsError

if TYPE_CHECKING:
    from edgesvm.data import CsvRows, NpzRows
    from edgesvm.link import Recording

FileRows: TypeAlias = "CsvRows | NpzRows | Recording"
SUFFIXES = (".csv", ".npz", ".rec")


@dataclass(frozen=True, kw_only=True)
class ColumnSettings:
    """What becomes of columns and cells of a CSV."""

    drop_column: tuple[str, ...] = option(
        (), "a CSV column that is not a feature; may be repeated", unit="NAME", repeat=True
    )
    keep_column: tuple[str, ...] = option(
        (),
        "a CSV column that is a feature, though it is constant or rises with every row",
        unit="NAME",
        repeat=True,
    )
    encode: int | None = option(
        None,
        "a CSV column of words is a feature a value, if it has N values at most; default 16",
        unit="N",
        check=arguments.count,
    )
    missing: str | None = option(
        None,
        "a row of a CSV with a missing cell (empty, na, null, ?): put the mean of its column there "
        "(default with --regress), pass over the row and count it (default), or stop",
        choices=("mean", "skip", "error"),
    )

    def told(self, *, regress: bool | None = False) -> dict[str, Any]:
        """What `open_rows` is told."""
        keep = self.missing == "mean" and bool(regress)
        return {
            "drop_columns": self.drop_column,
            "keep_columns": self.keep_column,
            "encode": self.encode,
            "missing": "keep" if keep else self.missing,
        }


@dataclass(frozen=True, kw_only=True)
class FileSettings(ColumnSettings):
    """These, and the column of the label."""

    label_column: str | None = option(
        None,
        'label column of a CSV, or "none"; default: label, class, target or y, else the last',
        unit="NAME",
    )

    def open(self, path: str, *, regress: bool = False, **more: Any) -> FileRows:
        """The rows of a file, with what was found out about it said on stderr."""
        from edgesvm.link import open_rows  # and all readers of files, for those who have one

        rows = open_rows(
            path,
            label_column=self.label_column,
            targets=regress,
            **self.told(regress=regress),
            **more,
        )
        say_notes(path, getattr(rows, "notes", ()))
        return rows

    def open_unlabelled(self, path: str) -> FileRows:
        """The same; without a label's column if none is asked for and the last one of a CSV holds
        no labels."""
        try:
            return self.open(path)
        except RowsError:
            if self.label_column is not None:
                raise
            return replace(self, label_column="none").open(path)


def say_notes(path: str, notes: Iterable[str]) -> None:
    """Say on stderr what was found out about a file."""
    for note in notes:
        print(f"edgesvm: {path}: {note}", file=sys.stderr)
