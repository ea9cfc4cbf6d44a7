"""``edgesvm record``: the samples of a sensor on a port, kept in a file."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

from edgesvm.budget import format_bytes
from edgesvm.cli import arguments, link_options
from edgesvm.cli.status import StatusLine
from edgesvm.cli.stopping import Signals, Stop, stop_signals
from edgesvm.errors import LinkDown
from edgesvm.ingest import LateLabel, Link, RecordingSchema, RecordingWriter
from edgesvm.ingest.recording import SUFFIX

HELP = """\
Keep the samples that come in on PORT in FILE, behind those that are there. Nothing is learned and
nothing answered.

  edgesvm record /dev/ttyUSB0 room.rec             a node that speaks frames (FORMATS.md)
  edgesvm record /dev/ttyACM0 room.rec --text      any sketch that prints numbers, the label last
  edgesvm replay room.rec                          test-then-train over what was kept
  python -m firmware_sim serve --replay room.rec   play it back onto a link

Samples are written as they come and forced onto the medium every --sync seconds and at the end, so
a power cut costs at most that much; a killed process costs nothing that was written. Each sample
has its own CRC: a torn end or a damaged spot costs the samples it covers and no others. Ctrl-C and
SIGTERM end it. When the medium is full it ends with exit code 1, and what was written stays
readable. When the port dies it is opened again, waiting 0.1 to 5 s; --once ends.
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "record", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    link_options.add_port(command)
    command.add_argument(
        "file", type=_recording_name, metavar="FILE", help=f"its name ends in {SUFFIX}"
    )
    link_options.add_to(command)
    command.add_argument(
        "--late-labels",
        action="store_true",
        help="in text, labels come in lines of their own; a node that speaks frames tells",
    )
    command.add_argument(
        "--sync",
        type=arguments.seconds,
        default=10.0,
        metavar="S",
        help="force onto the medium every S seconds, default 10",
    )
    command.set_defaults(act=act)


def _recording_name(text: str) -> str:
    if not text.lower().endswith(SUFFIX):
        raise argparse.ArgumentTypeError(
            f"{text}: give it the ending {SUFFIX}, by which it is read"
        )
    return arguments.new_file(text)


def act(options: argparse.Namespace) -> int:
    status = StatusLine(quiet=options.quiet)
    # Labels are kept as they come, and matched by whoever reads them.
    late = int(options.late_labels or not options.text)
    with (
        stop_signals() as signals,
        link_options.open_port(options, signals, late_labels=late) as link,
    ):
        writer = RecordingWriter(options.file, _schema(link))
        recorder = _Recorder(link, writer, options)
        if writer.schema.late and writer.n_records:
            # What was sent meanwhile was not kept: a label must not find a sample of the last time.
            recorder.guarded(writer.append_labels, [LateLabel(0, 0, 0.0, is_epoch=True)])
        if writer.cut_bytes:
            status.say(
                f"{options.file}: {writer.cut_bytes:,} bytes that no reader could use were cut "
                "from its end"
            )
        status.say(
            f"{options.file}: {writer.n_records:,} samples of {writer.schema.n_features} features "
            f"are there; {writer.schema.record_bytes} bytes a sample"
        )
        try:
            recorder.run(signals, status)
        finally:
            status.end()
            recorder.guarded(writer.close)
            summary = recorder.summary()
            if options.json:
                print(json.dumps(summary), flush=True)
            else:
                status.say(_closing_words(options.file, summary))
    return 0


def _schema(link: Link) -> RecordingSchema:
    known = link.schema
    assert known is not None  # an open link has one
    late = link.late is not None
    labelled = late or known.label != "none"
    return RecordingSchema(known.n_features, labelled, known.n_classes, known.nominal_us, late)


class _Recorder:
    """From the link's ring to the file."""

    def __init__(self, link: Link, writer: RecordingWriter, options: argparse.Namespace) -> None:
        self.link = link
        self.writer = writer
        self.options = options
        self.taken = self.labels = 0
        self.started = time.monotonic()
        self._next_sync = self.started + options.sync

    def run(self, signals: Signals, status: StatusLine) -> None:
        """Until the samples asked for are kept, a signal comes, or, with --once, the port dies."""
        while not signals.stopping and self.left != 0:
            try:
                self.step()
            except LinkDown as down:
                if self.options.once:
                    return
                status.say(f"{down}; opening it again")
                try:
                    with signals.interruptible():
                        self.link.reconnect()
                except Stop:
                    return
            status.show(self.text)

    @property
    def left(self) -> int | None:
        """Samples still to be kept; None where no number was given."""
        return None if self.options.samples is None else self.options.samples - self.taken

    def step(self) -> None:
        try:
            self.link.poll(0.1)
        finally:
            self.keep()
        if time.monotonic() >= self._next_sync:
            self._next_sync = time.monotonic() + self.options.sync
            self.guarded(self.writer.sync)

    def keep(self) -> None:
        """Write what waits in the ring, and the labels that came between its rows."""
        self.keep_labels()
        while n := len((batch := self.link.take(self.left)).y):
            self.guarded(self.writer.append, batch)
            self.link.release(n)
            self.taken += n
            self.keep_labels()

    def keep_labels(self) -> None:
        """Write the labels that have come since the last row that was taken."""
        if labels := list(self.link.take_labels()):
            self.guarded(self.writer.append_labels, labels)
            self.labels += sum(not label.is_epoch for label in labels)

    def guarded(self, write: Callable[..., None], *arguments: object) -> None:
        """The medium's errors, told apart from the port's."""
        try:
            write(*arguments)
        except OSError as error:
            raise RuntimeError(
                f"{self.options.file}: {error.strerror or error}; "
                f"the {self.writer.n_records:,} samples written before can be read"
            ) from error

    def text(self) -> str:
        c = self.link.counters
        seconds = max(time.monotonic() - self.started, 1e-9)
        return (
            f"{self.taken:,} samples  {self.taken / seconds:,.0f}/s  "
            f"file {format_bytes(self.writer.n_bytes)}  dropped {c['ring_dropped']:,}  "
            f"missing {c['missing']:,}  rejected {c['bytes_rejected']:,} B"
        )

    def summary(self) -> dict[str, Any]:
        return {
            "taken": self.taken,
            "late_labels": self.labels,
            "records": self.writer.n_records,
            "bytes": self.writer.n_bytes,
            "cut_bytes": self.writer.cut_bytes,
            "seconds": round(time.monotonic() - self.started, 3),
            "counters": self.link.counters,
            "broken_identities": self.link.check_identities(),
        }


def _closing_words(file: str, s: dict[str, Any]) -> str:
    labels = f" and {s['late_labels']:,} late labels" if s["late_labels"] else ""
    return (
        f"{file}: {s['taken']:,} samples{labels} more, {s['records']:,} records in all, "
        f"{format_bytes(s['bytes'])}; {s['counters']['missing']:,} missing"
    )
