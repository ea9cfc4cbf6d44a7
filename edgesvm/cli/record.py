"""``edgesvm record``: record the samples of a sensor in a file."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from edgesvm.budget import format_bytes
from edgesvm.cli import arguments, server
from edgesvm.cli.learner_settings import REGRESS
from edgesvm.cli.link_settings import PORT, LinkSettings
from edgesvm.cli.options import argument, option, section
from edgesvm.cli.process import lost_lines, stop_signals
from edgesvm.cli.show_settings import ReportSettings
from edgesvm.link import Batch, LateLabel, Link, RecordingSchema, RecordingWriter
from edgesvm.link.recording import SUFFIX, claim_recording
from edgesvm.serve.job import Job

HELP = """\
Append the samples that arrive on PORT to FILE. Nothing is learned and no prediction is sent.

  edgesvm record /dev/ttyUSB0 room.rec             a node that sends frames (FORMATS.md)
  edgesvm record /dev/ttyACM0 room.rec --text      a sketch that prints numbers, the label last
  edgesvm eval room.rec                            predict and learn the recorded samples
  python -m firmware_sim serve --replay room.rec   play it back onto a link

Samples are written as they arrive; the file is synced every --sync seconds and at the end. A power
cut loses at most the samples since the last sync; a killed process loses nothing it has written.
Each sample has its own CRC, so damage loses only the samples it covers.

Ctrl-C and SIGTERM end the recording. If the medium is full, record ends with exit code 1, and the
samples already written stay readable. If the port fails, it is opened again after 0.1 to 5 s; with
--once, record ends instead.
"""


def recording_name(text: str) -> str:
    if not text.lower().endswith(SUFFIX):
        raise ValueError(f"{text}: the name must end in {SUFFIX}")
    return arguments.new_file(text)


@dataclass(frozen=True, kw_only=True)
class RecordedLink(LinkSettings):
    regress: bool | None = option(False, REGRESS)
    late_labels: int | None = option(
        False,
        "text links: labels arrive in separate lines (a binary node says so itself)",
    )


@dataclass(frozen=True, kw_only=True)
class Settings:
    port: str = argument(PORT, unit="PORT")
    file: str = argument(
        f"output file, with a name that ends in {SUFFIX}", unit="FILE", check=recording_name
    )
    link: RecordedLink = section(RecordedLink)
    show: ReportSettings = section(ReportSettings)
    sync: float = option(10.0, "sync the file every S seconds", unit="S", check=arguments.seconds)


def act(settings: Settings) -> int:
    """Record until all samples are in, a signal arrives or, with --once, the port fails."""
    # Labels are recorded as they arrive; the reader matches them to samples.
    late = int(settings.link.late_labels or not settings.link.text)
    link_of = replace(settings.link, url=settings.port, late_labels=late)
    file, show = settings.file, settings.show
    status = show.status_line()
    with (
        claim_recording(file) as claim,  # before the port is taken from another process
        stop_signals() as signals,
        server.opened([link_of], signals) as (link,),
    ):
        writer = RecordingWriter(claim, _schema(link))
        recorder = _Recorder(link, writer, file, settings.sync)
        if writer.schema.late and writer.n_records:
            # Samples were missed in between: a label must not match a sample of the last recording.
            recorder.guarded(writer.append_labels, [LateLabel(0, 0, 0.0, is_epoch=True)])
        if writer.cut_bytes:
            status.say(f"{file}: removed {writer.cut_bytes:,} incomplete bytes from its end")
        status.say(
            f"{file}: holds {writer.n_records:,} samples of {writer.schema.n_features} "
            f"features; {writer.schema.record_bytes} bytes per sample"
        )
        tell_samples = server.samples_told(link, status.say)

        def after() -> None:
            tell_samples()
            recorder.sync()

        port = server.Served(recorder.job, link_of, status, after=after)
        try:
            server.serve([port], recorder.text, signals=signals, status=status)
        finally:
            status.end()
            recorder.guarded(writer.close)
            summary = recorder.summary()
            summary["counters"]["log_lost"] = status.lost
            show.report(summary, [_closing_text(file, summary)], status)
    if port.error is not None:
        raise port.error
    return 0


def _schema(link: Link) -> RecordingSchema:
    known = link.schema
    assert known is not None  # an open link has one
    late = link.late is not None
    labelled = late or known.label != "none"
    return RecordingSchema(
        known.n_features, labelled, known.n_classes, known.nominal_us, late, known.targets
    )


class _Recorder:
    """Keeps the batches of a job in a file."""

    def __init__(self, link: Link, writer: RecordingWriter, file: str, sync_s: float) -> None:
        self.link, self.writer, self.file = link, writer, file
        self.job = Job(link, keep=self._keep)
        self.labels = 0
        self.started = time.monotonic()
        self._sync_s = sync_s
        self._next_sync = self.started + sync_s

    def _keep(self, batch: Batch) -> None:
        """Write some samples, and the labels that arrived before them."""
        if labels := list(self.link.take_labels()):
            self.guarded(self.writer.append_labels, labels)
            self.labels += sum(not label.is_epoch for label in labels)
        if len(batch.y):
            self.guarded(self.writer.append, batch)

    def sync(self) -> None:
        """Sync the file if it is time."""
        if time.monotonic() >= self._next_sync:
            self._next_sync = time.monotonic() + self._sync_s
            self.guarded(self.writer.sync)

    def guarded(self, write: Callable[..., None], *arguments: object) -> None:
        """Call `write`; report an error of the medium as such, not as one of the port."""
        try:
            write(*arguments)
        except OSError as error:
            raise RuntimeError(
                f"{self.file}: {error.strerror or error}; "
                f"the {self.writer.n_records:,} samples written before are readable"
            ) from error

    def text(self) -> str:
        c = self.link.counters
        seconds = max(time.monotonic() - self.started, 1e-9)
        return (
            f"{self.job.taken:,} samples  {self.job.taken / seconds:,.0f}/s  "
            f"file {format_bytes(self.writer.n_bytes)}  dropped {c['ring_dropped']:,}  "
            f"missing {c['missing']:,}  rejected {c['bytes_rejected']:,} B"
        )

    def summary(self) -> dict[str, Any]:
        return {
            "taken": self.job.taken,
            "late_labels": self.labels,
            "records": self.writer.n_records,
            "bytes": self.writer.n_bytes,
            "words": {n: word for n, word in enumerate(self.link.class_names)},
            "cut_bytes": self.writer.cut_bytes,
            "seconds": round(time.monotonic() - self.started, 3),
            "counters": self.link.counters,
            "broken_identities": self.link.check_identities(),
        }


def _closing_text(file: str, s: dict[str, Any]) -> str:
    labels = f" and {s['late_labels']:,} late labels" if s["late_labels"] else ""
    text = (
        f"{file}: {s['taken']:,} samples{labels} added, {s['records']:,} records in total, "
        f"{format_bytes(s['bytes'])}; {s['counters']['missing']:,} missing"
    )
    if s["words"]:
        text += "\nlabels that are words: " + ", ".join(f"{n} {w}" for n, w in s["words"].items())
    n_lost = s["counters"]["log_lost"]
    return f"{text}\n{lost_lines(n_lost)}" if n_lost else text
