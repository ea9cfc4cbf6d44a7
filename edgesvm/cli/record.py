"""``edgesvm record``: record the samples of a sensor in a file."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from edgesvm.budget import format_bytes
from edgesvm.cli import arguments, reports, server
from edgesvm.cli.learner_settings import REGRESS
from edgesvm.cli.link_settings import PORT, ColumnSettings, LinkSettings
from edgesvm.cli.options import argument, option, section
from edgesvm.cli.show_settings import ReportSettings
from edgesvm.link._ring import Batch, LateLabel
from edgesvm.link.link import Link
from edgesvm.link.recording import SUFFIX, RecordingSchema, RecordingWriter, claim_recording
from edgesvm.persist.files import Claim
from edgesvm.serve.job import Job
from edgesvm.serve.process import Signals

T = TypeVar("T")

HELP = """\
Append the samples that arrive on PORT to FILE. Nothing is learned and no prediction is sent.

  edgesvm record /dev/ttyACM0 wave.rec --label wave   all that comes is "wave", until Ctrl-C
  edgesvm train wave.rec rest.rec --save m.esvm       learn what was recorded by class
  edgesvm record /dev/ttyUSB0 room.rec             a node that sends its labels
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
    columns: ColumnSettings = section(ColumnSettings, hidden=True)


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
        late = 1 if settings.link.late_labels else None
        link = replace(settings.link, url=settings.port, late_labels=late)
        if link.word is not None:
            link = replace(link, late_labels=0)
        super().__init__([link], settings.show)
        self._file, self._sync_s, self._claim = settings.file, settings.sync, claim
        self._label = link.word

    def ports(
        self, links: list[Link], checkpoints: list[Any], signals: Signals
    ) -> list[server.Served]:
        (link,), say = links, self.status.say
        writer = RecordingWriter(self._claim, _schema(link, labelled=self._label is not None))
        self._recorder = recorder = _Recorder(link, writer, self._file, self._sync_s, self._label)
        if writer.schema.late and writer.n_records:
            # Samples were missed in between: a label must not match a sample of the last recording.
            recorder.guarded(writer.append_labels, [LateLabel(0, 0, 0.0, is_epoch=True)])
        if writer.cut_bytes:
            say(f"{self._file}: removed {writer.cut_bytes:,} incomplete bytes from its end")
        say(
            f"{self._file}: holds {writer.n_records:,} records of {writer.schema.n_features} "
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
            "labels": recorder.writer.names.labels,
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
        if s["labels"]:
            lines.append(f"labels: {', '.join(s['labels'])}")
        return lines + reports.closing(s)


def _schema(link: Link, *, labelled: bool = False) -> RecordingSchema:
    known = link.schema
    assert known is not None  # an open link has one
    late = link.late is not None
    labelled |= late or known.label != "none"
    return RecordingSchema(
        known.n_features, labelled, known.n_classes, known.nominal_us, late, known.targets
    )


class _Recorder:
    """Keeps the batches of a job in a file."""

    def __init__(
        self,
        link: Link,
        writer: RecordingWriter,
        file: str,
        sync_s: float,
        label: str | None = None,
    ) -> None:
        self.writer, self.job, self.labels = writer, Job(link, keep=self._keep), 0
        self._label = label
        self._file, self._sync_s = file, sync_s
        self._next_sync = time.monotonic() + sync_s

    def _keep(self, batch: Batch) -> None:
        """Write some samples, and the labels that arrived before them."""
        link, words = self.job.link, [self._label] if self._label else self.job.link.class_names
        numbers = self.guarded(self.writer.name, words, link.feature_names)
        if labels := list(link.take_labels()):
            if words:
                labels = [x if x.is_epoch else x._replace(label=numbers[x.label]) for x in labels]
            self.guarded(self.writer.append_labels, labels)
            self.labels += sum(not label.is_epoch for label in labels)
        if not len(batch.y):
            return
        if self._label:
            batch = batch._replace(y=np.zeros(len(batch.y), int), has_label=batch.has_label | True)
        if words:
            batch = batch._replace(y=np.where(batch.has_label, numbers[batch.y], 0))
        self.guarded(self.writer.append, batch)

    def sync(self) -> None:
        """Sync the file if it is time."""
        if time.monotonic() >= self._next_sync:
            self._next_sync = time.monotonic() + self._sync_s
            self.guarded(self.writer.sync)

    def guarded(self, write: Callable[..., T], *arguments: object) -> T:
        """Call `write`; report an error of the medium as such, not as one of the port."""
        try:
            return write(*arguments)
        except OSError as error:
            raise RuntimeError(
                f"{self._file}: {error.strerror or error}; "
                f"the {self.writer.n_records:,} samples written before are readable"
            ) from error
