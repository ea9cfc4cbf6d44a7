"""Options of where samples come from: a file with its columns, or a port, what speaks on it and
when to stop."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from edgesvm.cli import arguments, ports
from edgesvm.cli.options import option, section, spoken
from edgesvm.errors import LinkDown, NoSchema
from edgesvm.link.keyed import read_key
from edgesvm.link.link import SILENT_AFTER, Link
from edgesvm.link.opening import open_link

if TYPE_CHECKING:
    from edgesvm.data.csv_rows import CsvRows
    from edgesvm.data.npz import NpzRows
    from edgesvm.link.recording import Recording

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
    bad_lines: float = option(
        0.1,
        "stop where more lines of a CSV are no rows, such as lines cut short",
        unit="SHARE",
        check=arguments.part,
    )

    def told(self, *, regress: bool | None = False) -> dict[str, Any]:
        """What `open_rows` is told."""
        keep = self.missing == "mean" and bool(regress)
        return {
            "drop_columns": self.drop_column,
            "keep_columns": self.keep_column,
            "encode": self.encode,
            "missing": "keep" if keep else self.missing,
            "bad_lines": self.bad_lines,
        }


@dataclass(frozen=True, kw_only=True)
class FileSettings(ColumnSettings):
    """These, and the column of the label."""

    label_column: str | None = option(
        None,
        'label column of a CSV, or "none"; default: label, class, target or y, else the last',
        unit="NAME",
    )

    def open(
        self, path: str, *, regress: bool = False, quiet: bool = False, **more: Any
    ) -> FileRows:
        """The rows of a file; unless `quiet`, what was found out about it is said on stderr."""
        from edgesvm.link.files import open_rows  # and all readers of files, for those who have one

        rows = open_rows(
            path,
            label_column=self.label_column,
            targets=regress,
            **self.told(regress=regress),
            **more,
        )
        if not quiet:
            say_notes(path, getattr(rows, "notes", ()))
        return rows


def say_notes(path: str, notes: Iterable[str]) -> None:
    """Say on stderr what was found out about a file."""
    for note in notes:
        print(f"edgesvm: {path}: {spoken(ColumnSettings, note)}", file=sys.stderr)


PORT = "such as /dev/ttyUSB0 or socket://HOST:PORT, or a file of rows"
LABEL = "the label's column: last, first, none, a name or number from 0"
RANGE = "refuse samples with other values: --range=-1,1"
IF_MORE = "if more"  # the last column, if there is one beyond the features
COLUMNS = ("last", "first", "none", IF_MORE)
RING = "samples between link and learner"


def column(text: str) -> str | int:
    """A column: a number from 0, or as it is."""
    return int(text) if text.isdecimal() else text


@dataclass(frozen=True, kw_only=True)
class LinkSettings:
    """A port, what speaks on it, and when to stop."""

    TITLE: ClassVar[str] = "link"

    text: bool = option(False, "it sends lines; by default that is found out")
    binary: bool = option(False, "it sends frames (docs/FORMATS.md)")
    baud: int = option(115200, "speed of a serial port", unit="B", check=arguments.count)
    label: str | int = option(
        "last",
        "label of all samples, as in --label wave; or where theirs is: last, first, none, a number "
        "from 0",
        unit="WORD",
        check=column,
    )
    label_column: str | int | None = option(None, LABEL, unit="COLUMN", check=column)
    samples: int | None = option(None, "stop after N samples", unit="N", check=arguments.count)
    once: bool = option(False, "stop when the port fails; do not open it again")
    key: str | None = option(None, "refuse frames without a tag of this key", unit="FILE")
    names: tuple[str, ...] | None = option(
        None, "names of the features: x,y,z", unit="NAMES", check=arguments.names, text=",".join
    )
    n_features: int | None = option(
        None,
        "numbers in a sample; default: found on the link",
        unit="D",
        check=arguments.count,
    )
    wait: float = option(10.0, "seconds to wait for the node", unit="S", check=arguments.seconds)
    stale: float | None = option(
        None,
        "no sample for S seconds is an alarm; default 10 periods",
        unit="S",
        check=arguments.seconds,
    )

    range: tuple[float, float] | None = option(
        None,
        RANGE,
        unit="LO,HI",
        check=arguments.value_range,
        text=lambda ends: ",".join(map(str, ends)),
    )

    url: str = ""
    # Of some commands, which make an option of it.
    regress: bool | None = False  # None: either
    ring: int = 256
    late_labels: int | None = 0
    read_rows: int = 256
    quiet: bool = False  # of what was found out
    columns: ColumnSettings = field(default_factory=ColumnSettings)  # of a CSV

    @property
    def word(self) -> str | None:
        """The label of all samples, if it is said."""
        is_word = isinstance(self.label, str) and self.label not in COLUMNS
        return str(self.label) if is_word else None

    @property
    def column_of_label(self) -> str | int:
        """As `open_link` has it."""
        if self.label_column is not None:
            return self.label_column
        return self.label if self.word is None else "none"

    @property
    def mode(self) -> str:
        """What is spoken, as `open_link` has it."""
        return "text" if self.text else "binary" if self.binary or self.key else "auto"

    @property
    def is_file(self) -> bool:
        """Whether the port is a file of rows, which ends."""
        return self.url.lower().endswith(SUFFIXES) and os.path.isfile(self.url)

    def open(self, sleep: Callable[[float], None] = time.sleep) -> Link:
        """Open the link. `sleep` waits between attempts to open it again, later. Raises LinkDown if
        the port cannot be opened, and NoSchema if nothing that is understood came in time."""
        if self.is_file:
            return self._open_file()
        try:
            link = open_link(
                self.url,
                mode=self.mode,
                baud=self.baud,
                n_features=self.n_features,
                ring=self.ring,
                late_labels=self.late_labels,
                silent_after=max(self.stale or 0.0, SILENT_AFTER),
                stale_after=self.stale,
                value_range=self.range,
                label=self.column_of_label,
                keep_columns=self.columns.keep_column,
                targets=self.regress,
                handshake_timeout=self.wait,
                key=None if self.key is None else read_key(self.key),
                sleep=sleep,
            )
        except LinkDown as error:
            is_file = self.url.lower().endswith(SUFFIXES)
            advice = "" if is_file else ports.advice(self.url)
            raise LinkDown(f"{error}{'; ' if advice else ''}{advice}") from error
        except NoSchema as error:
            hint = "" if "could not be read" in str(error) else "; see --baud, --text, --binary"
            raise NoSchema(f"{error}{hint}") from error
        say_notes(self.url, link.notes)
        if self.word in link.column_names:
            raise ValueError(
                f"--label {self.word}: {self.url} has a column of this name: --label-column "
                f"{self.word}, or give another word for all samples"
            )
        return self._named(link)

    def _named(self, link: Any) -> Any:
        """The link, whose features have the names given."""
        if self.names is not None:
            if len(self.names) != link.schema.n_features:
                raise ValueError(
                    f"--names {','.join(self.names)}: {self.url} has {link.schema.n_features} "
                    "features"
                )
            link.feature_names = self.names
        return link

    def _open_file(self) -> Any:
        from edgesvm.link.files import RowsLink

        link = RowsLink(
            self.files().open(self.url, regress=bool(self.regress), quiet=self.quiet),
            self.url,
            labels=self.column_of_label != "none",
            late_labels=256 if self.late_labels is None else self.late_labels,
            value_range=self.range,
            read_rows=self.read_rows,
        )
        return self._named(link)

    def files(self) -> FileSettings:
        """How a file is read in place of a port."""
        label = self.column_of_label
        column: Any = {"last": None, IF_MORE: None, "first": 0}.get(str(label), label)
        if self.url.lower().endswith((".npz", ".rec")):
            column = None
        return FileSettings(label_column=column, **vars(self.columns))


@dataclass(frozen=True, kw_only=True)
class UnlabelledLink(LinkSettings):
    """That of a command without labels: all columns are features."""

    label: str | int = option("none", LABEL, unit="COLUMN", check=column)
    label_column: str | int | None = None
    regress: bool | None = None

    @property
    def word(self) -> str | None:
        return None


@dataclass(frozen=True, kw_only=True)
class LearningLink(LinkSettings):
    """That of a command that learns labels."""

    ring: int = option(256, RING, unit="ROWS", check=arguments.count)
    late_labels: int | None = option(
        None, "samples that wait for a late label; default 256", unit="W", check=arguments.count
    )
    columns: ColumnSettings = section(ColumnSettings, hidden=True)
