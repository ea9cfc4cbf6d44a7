"""Options of the commands that read a port: what speaks on it, and when to stop."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from edgesvm.cli import arguments, ports
from edgesvm.errors import LinkDown, NoSchema
from edgesvm.link import Link, open_link
from edgesvm.link.keyed import read_key
from edgesvm.link.link import SILENT_AFTER

SUFFIXES = (".csv", ".npz", ".rec")


def add_port(command: argparse.ArgumentParser, *, several: bool = False) -> None:
    port = command.add_argument(
        "port", metavar="PORT", help="such as /dev/ttyUSB0 or socket://HOST:PORT, or a file of rows"
    )
    port.nargs = "+" if several else None


def add_to(
    command: argparse.ArgumentParser, *, auto: bool = False, labels: bool = True
) -> argparse._ArgumentGroup:
    """Add the options of what speaks on the port, and when to stop. Returns their group."""
    group = command.add_argument_group("link")
    kind = group.add_mutually_exclusive_group()
    kind.add_argument("--text", action="store_true", help="text lines, not binary frames")
    if auto:
        kind.add_argument(
            "--auto", action="store_true", help="text or frames: the first byte decides"
        )
    group.add_argument(
        "--baud",
        type=arguments.count,
        default=115200,
        metavar="B",
        help="speed of a serial port; default 115200",
    )
    group.add_argument(
        "--label",
        type=_label,
        default="last" if labels else "none",
        metavar="COLUMN",
        help="the label's: last, first, none, a name or number from 0; default "
        + ("last" if labels else "none"),
    )
    group.add_argument("--samples", type=arguments.count, metavar="N", help="stop after N samples")
    group.add_argument(
        "--once", action="store_true", help="stop when the port fails; do not open it again"
    )
    group.add_argument("--key", metavar="FILE", help="refuse frames without a tag of this key")
    group.add_argument(
        "--n-features",
        type=arguments.count,
        metavar="D",
        help="numbers in a sample; default: found on the link",
    )
    group.add_argument(
        "--wait",
        type=arguments.seconds,
        default=10.0,
        metavar="S",
        help="seconds to wait for the node; default 10",
    )
    group.add_argument(
        "--stale",
        type=arguments.seconds,
        metavar="S",
        help="no sample for S seconds is an alarm; default 10 periods",
    )
    return group


def add_ring(group: argparse._ActionsContainer) -> None:
    """Add the option of the ring, for commands that may fall behind the link."""
    group.add_argument(
        "--ring",
        type=arguments.count,
        default=256,
        metavar="ROWS",
        help="samples between link and learner; default 256",
    )


def add_columns(group: argparse._ActionsContainer) -> None:
    """Add the options of the columns of a file, which docs/command-line.md explains."""
    group.add_argument("--drop-column", action="append", default=[], help=argparse.SUPPRESS)
    arguments.add_more_columns(group, hidden=True)


def add_report(group: argparse._ActionsContainer) -> None:
    """Add the options of status and report."""
    group.add_argument(
        "--json", action="store_true", help="print one JSON line to stdout at the end"
    )
    group.add_argument("--quiet", action="store_true", help="no status line")


def _label(text: str) -> str | int:
    """A column: a number from 0, or as it is."""
    return int(text) if text.isdecimal() else text


# What `open_link` is told by the same name.
AS_THEY_ARE = (
    *("baud", "mode", "n_features", "ring", "late_labels", "clip"),
    "allow_commands",
)


@dataclass(frozen=True, kw_only=True)
class LinkSettings:
    """A port, what speaks on it, and when to stop."""

    url: str
    mode: str = "binary"  # or "text", "auto"
    baud: int = 115200
    key: str | None = None  # a file
    n_features: int | None = None
    label: str | int = "last"
    regress: bool | None = False  # None: either
    wait: float = 10.0
    stale: float | None = None
    samples: int | None = None
    once: bool = False
    ring: int = 256
    full: str = "drop_oldest"
    late_labels: int | None = 0
    range: tuple[float, float] | None = None
    clip: bool = False
    allow_commands: bool = False
    set_rate: float | None = None
    columns: dict[str, Any] | None = None  # of a CSV, for `open_rows`

    @property
    def is_file(self) -> bool:
        """Whether the port is a file of rows, which ends."""
        return self.url.lower().endswith(SUFFIXES) and os.path.isfile(self.url)

    @classmethod
    def of(cls, options: argparse.Namespace, **more: Any) -> LinkSettings:
        """What the options say; `more` is not in them, such as the URL."""
        if hasattr(options, "keep_column"):
            more["columns"] = arguments.columns(options)
        mode = "text" if options.text else "auto" if getattr(options, "auto", False) else "binary"
        return arguments.read(cls, options, **{"mode": mode, **more})

    def open(self, sleep: Callable[[float], None] = time.sleep) -> Link:
        """Open the link. `sleep` waits between attempts to open it again, later.

        Raises
        ------
        LinkDown
            The port cannot be opened; the message says what may help.
        NoSchema
            Nothing that is understood came in time.
        """
        if self.is_file:
            from edgesvm.link.files import open_file

            link = open_file(
                self.url,
                label=self.label,
                targets=self.regress,
                columns=self.columns,
                late_labels=self.late_labels,
            )
            arguments.say_notes(self.url, getattr(link.rows, "notes", ()))
            return link
        try:
            return open_link(
                self.url,
                **{name: getattr(self, name) for name in AS_THEY_ARE},
                policy=self.full,
                silent_after=max(self.stale or 0.0, SILENT_AFTER),
                stale_after=self.stale,
                value_range=self.range,
                label=self.label,
                targets=self.regress,
                handshake_timeout=self.wait,
                key=None if self.key is None else read_key(self.key),
                sleep=sleep,
            )
        except LinkDown as error:
            advice = ports.advice(self.url)
            raise LinkDown(f"{error}{'; ' if advice else ''}{advice}") from error
        except NoSchema as error:
            hint = "" if "could not be read" in str(error) else "; see --baud and --text"
            raise NoSchema(f"{error}{hint}") from error
