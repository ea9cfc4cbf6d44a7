"""``edgesvm record``: record the samples of a sensor in a file."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from edgesvm.budget import format_bytes
from edgesvm.cli import arguments, reports, server
from edgesvm.cli.learner_settings import REGRESS
from edgesvm.cli.link_settings import PORT, LinkSettings
from edgesvm.cli.options import argument, option, section
from edgesvm.cli.show_settings import ReportSettings
from edgesvm.link._ring import Batch, LateLabel
from edgesvm.link.link import Link
from edgesvm.link.recording import SUFFIX, RecordingSchema, RecordingWriter, claim_recording
from edgesvm.persist.files import Claim
from edgesvm.serve.job import Job
from edgesvm.serve.process import Signals

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
    with claim_recording(settings.file) as claim:  # before the port is taken from another process
        return RecordSession(settings, claim).serve()


class RecordSession(server.Session):
    """A port that is recorded."""

    def __init__(self, settings: Settings, claim: Claim) -> None:
        # Labels are recorded as they arrive; the reader matches them to samples.
        late = int(settings.link.late_labels or not settings.link.text)
        links = [replace(settings.link, url=settings.port, late_labels=late)]
        super().__init__(links, settings.show)
        self._file, self._sync_s, self._claim = settings.file, settings.sync, claim

    def ports(
        self, links: list[Link], checkpoints: list[Any], signals: Signals
    ) -> list[server.Served]:
        (link,), say = links, self.status.say
        writer = RecordingWriter(self._claim, _schema(link))
        self._recorder = recorder = _Recorder(link, writer, self._file, self._sync_s)
        if writer.schema.late and writer.n_records:
            # Samples were missed in between: a label must not match a sample of the last recording.
            recorder.guarded(writer.append_labels, [LateLabel(0, 0, 0.0, is_epoch=True)])
        if writer.cut_bytes:
            say(f"{self._file}: removed {writer.cut_bytes:,} incomplete bytes from its end")
        say(
            f"{self._file}: holds {writer.n_records:,} samples of {writer.schema.n_features} "
            f"features; {writer.schema.record_bytes} bytes per sample"
        )
        tell_samples = server.samples_told(link, say)

        def after() -> None:
            tell_samples()
            recorder.sync()

        return [server.Served(recorder.job, self._links[0], self.status, after=after)]

    def save(self) -> None:
        """Close the file."""
        self._recorder.guarded(self._recorder.writer.close)

    def progress(self) -> str:
        job, c = self._recorder.job, self._recorder.job.link.counters
        return (
            f"{job.taken:,} samples  {job.taken / max(self.seconds, 1e-9):,.0f}/s  "
            f"file {format_bytes(self._recorder.writer.n_bytes)}  dropped {c['ring_dropped']:,}  "
            f"missing {c['missing']:,}  rejected {c['bytes_rejected']:,} B"
        )

    def summary(self) -> dict[str, Any]:
        recorder, link = self._recorder, self._recorder.job.link
        return {
            "taken": recorder.job.taken,
            "late_labels": recorder.labels,
            "records": recorder.writer.n_records,
            "bytes": recorder.writer.n_bytes,
            "words": dict(enumerate(link.class_names)),
            "cut_bytes": recorder.writer.cut_bytes,
            "seconds": round(self.seconds, 3),
            "counters": link.counters,
            "broken_identities": link.check_identities(),
        }

    def words(self, summary: dict[str, Any]) -> list[str]:
        s = summary
        labels = f" and {s['late_labels']:,} late labels" if s["late_labels"] else ""
        lines = [
            f"{self._file}: {s['taken']:,} samples{labels} added, {s['records']:,} records in "
            f"total, {format_bytes(s['bytes'])}; {s['counters']['missing']:,} missing"
        ]
        if s["words"]:
            told = ", ".join(f"{n} {word}" for n, word in s["words"].items())
            lines.append(f"labels that are words: {told}")
        return lines + reports.closing(s)


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
        self.writer, self.job, self.labels = writer, Job(link, keep=self._keep), 0
        self._file, self._sync_s = file, sync_s
        self._next_sync = time.monotonic() + sync_s

    def _keep(self, batch: Batch) -> None:
        """Write some samples, and the labels that arrived before them."""
        if labels := list(self.job.link.take_labels()):
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
                f"{self._file}: {error.strerror or error}; "
                f"the {self.writer.n_records:,} samples written before are readable"
            ) from error
