"""``edgesvm eval``: predict, then learn, each row of a file, and report on it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from edgesvm.cli import arguments, reports
from edgesvm.cli.learner_settings import (
    DriftSettings,
    LearnerOfAll,
    LearnerSettings,
    check_labels,
    season_of_day,
)
from edgesvm.cli.link_settings import RANGE, FileSettings
from edgesvm.cli.options import AS_JSON, argument, option, section
from edgesvm.cli.run import RunLink, RunSession
from edgesvm.cli.run import Settings as RunSettings
from edgesvm.cli.saved_model import SavingSettings
from edgesvm.cli.server import Served
from edgesvm.cli.show_settings import TeachingSettings
from edgesvm.cli.window_settings import WindowSettings
from edgesvm.contract.names import word_of
from edgesvm.contract.sparse import stacked
from edgesvm.data.csv_rows import CsvRows
from edgesvm.data.sources import Source
from edgesvm.errors import SampleRefused
from edgesvm.learner import Learner
from edgesvm.learners.wrapper import innermost
from edgesvm.link.files import READ_ROWS, RowsLink
from edgesvm.link.recording import Recording
from edgesvm.preprocessing.chain import Chain
from edgesvm.serve import remarks
from edgesvm.serve.job import Job
from edgesvm.serve.process import Signals
from edgesvm.serve.taught import HeldOut

if TYPE_CHECKING:
    from edgesvm.persist.checkpoint import Checkpoint

HELP = """\
Read a CSV, npz or recorded file once and predict each row before learning it. The accuracy of these
predictions is reported (prequential evaluation, test-then-train), and beside it that of a copy that
learns no more before the last 30 % of the rows: what to expect once labels stop. With --regress it
comes first.

  edgesvm eval room.csv --label-column Occupancy --drop-column date
  edgesvm eval digits.npz --positive 8 --learner kernel-stream --memory 64KiB --plot accuracy.png
  edgesvm eval digits.npz --multiclass one-vs-one --memory 256KiB
  edgesvm eval pump.csv --window 256 --rate 1000 --bands 10-50,50-200
  edgesvm eval bikes.csv --regress --season 24 --label-column count

With --window, the rows are raw samples: windows of them are predicted and learned, as in `run`.
"""
CURVE_POINTS = 400
DRAWN = 300  # last targets


@dataclass(frozen=True, kw_only=True)
class Settings:
    file: str = argument("a .csv, an .npz with X and y, or a .rec", unit="FILE")
    columns: FileSettings = section(FileSettings)
    range: tuple[float, float] | None = option(
        None, RANGE, unit="LO,HI", check=arguments.value_range
    )
    positive: str | None = option(
        None, "make two classes: this label, a number or a word, and all others", unit="LABEL"
    )
    shuffle: int | None = option(
        None,
        "take the rows in random order (reads the whole file first)",
        unit="SEED",
        check=arguments.seed,
    )
    late_labels: int = option(
        256,
        "how many samples of a recording may wait for a late label",
        unit="W",
        check=arguments.count,
    )
    samples: int | None = option(None, "stop after N samples", unit="N", check=arguments.count)
    holdout: float = option(
        0.3,
        "share of the rows, the last ones, that a copy predicts without learning them",
        unit="SHARE",
        check=arguments.part,
    )
    last: int = option(
        1000, "rolling accuracy over the last N rows", unit="N", check=arguments.count
    )
    save: str | None = option(
        None, "write a snapshot at the end", unit="FILE", check=arguments.new_file
    )
    plot: str | None = option(
        None,
        "draw the rolling accuracy, of targets the last ones with their intervals too (needs "
        "matplotlib)",
        unit="PNG",
        check=arguments.new_file,
    )
    season: int | None = option(
        None,
        "with --regress: compare with the target N rows before; default a day, if known",
        unit="N",
        check=arguments.count,
    )
    json: bool = option(False, AS_JSON)
    drift: DriftSettings = section(DriftSettings)
    windows: WindowSettings = section(WindowSettings)
    learner: LearnerSettings = section(LearnerOfAll)

    def __post_init__(self) -> None:
        self.learner.check_alone(
            window=self.windows.window,
            drift=self.drift.drift,
            positive=self.positive,
        )
        if self.season is not None and not self.learner.regress:
            raise ValueError(f"--season {self.season} is for targets: give --regress")
        if self.positive is not None and (self.learner.multiclass or self.learner.classes):
            raise ValueError("--positive makes two classes: leave out --classes and --multiclass")
        if self.windows.window is not None and self.shuffle is not None:
            raise ValueError("--shuffle: windows need the samples in their order; leave it out")


@dataclass(frozen=True, kw_only=True)
class FileLink(RunLink):
    """The rows of a file, as they are asked for."""

    asked: Any = None

    def open(self, sleep: Callable[[float], None] | None = None) -> Any:
        """The link of its rows, in their order or shuffled; its `file` is what reads them. Raises
        ValueError for a file without labels."""
        asked = self.asked
        rows = asked.columns.open(self.url, regress=self.regress, late_labels=asked.late_labels)
        try:
            self._check(rows)
            ordered = rows if asked.shuffle is None else _shuffled(rows, asked.shuffle)
        except ValueError:
            rows.close()
            raise
        link: Any = RowsLink(
            ordered,
            self.url,
            targets=bool(self.regress),
            late_labels=asked.late_labels,
            value_range=self.range,
        )
        link.file = rows
        link.class_names, link.feature_names = rows.class_names, rows.feature_names
        n_classes = 0 if asked.positive else rows.n_classes
        link.schema = replace(link.schema, n_classes=n_classes, nominal_us=rows.period_us)
        return link

    def _check(self, rows: Any) -> None:
        """Raise ValueError if the rows have no labels, or labels of another kind."""
        if not rows.labelled:
            learned = max((rows.n_rows or 0) // 3 // self.asked.windows.rows_apart, 1)
            raise ValueError(
                f"{self.url} has no labels, so nothing can be learned; to find what is strange: "
                f"edgesvm watch {self.url} --learn {learned} --alarm-rate 0.0001"
            )
        if rows.targets != self.regress:
            advice = ("targets: give", "classes: leave out")[bool(self.regress)]
            raise ValueError(f"{self.url} holds {advice} --regress")


def _shuffled(rows: Any, seed: int) -> Source:
    chunks = list(rows.chunks(READ_ROWS))
    if not chunks:
        raise ValueError("the file has no rows")
    X, y = (stacked(column) for column in zip(*chunks, strict=True))
    order = np.random.default_rng(seed).permutation(len(X))
    return Source(X[order], y[order])


def act(settings: Settings) -> int:
    if settings.plot:
        from edgesvm.cli import figures  # noqa: F401  (reports a missing matplotlib right away)
    session = EvalSession(settings)
    try:
        return session.serve()
    except SampleRefused as why:
        raise ValueError(session.labels.too_many(session.port.job.pupil.learner)) from why


class EvalSession(RunSession):
    """A run of a file, that is scored with what a copy says which learns no more."""

    reports_to_stdout = True

    def __init__(self, settings: Settings) -> None:
        self.asked = settings
        super().__init__(
            RunSettings(
                port=(settings.file,),
                saving=SavingSettings(save=settings.save, fresh=True),
                learner=settings.learner,
                link=FileLink(samples=settings.samples, asked=settings, range=settings.range),
                show=TeachingSettings(json=settings.json, quiet=settings.json),
                windows=settings.windows,
                drift=settings.drift,
            )
        )

    def ports(
        self, links: list[Any], checkpoints: list[Checkpoint | None], signals: Signals
    ) -> list[Served]:
        self._file, self.labels = links[0].file, _Labels(self.asked, links[0].file)
        ports = super().ports(links, checkpoints, signals)
        job, asked = ports[0].job, self.asked
        season = self.options(links[0])["season"]
        after = _freeze_after(asked, self._file, job.model)
        self._held_out = HeldOut(job.pupil.learner, after, asked.last, season)
        job.pupil.listeners.append(self._held_out)
        if asked.plot:
            self._picture = _Picture(job, regress=asked.learner.regress)
            job.pupil.listeners.append(self._picture)
        return ports

    def options(self, link: Any) -> dict[str, Any]:
        return {
            "label_of": self.labels,
            "window": self.asked.last,
            "season": self.asked.season or season_of_day(link.file.period_us),
            "strict": True,
            "with_raw": True,
        }

    def introduce(self, introductions: Sequence[str], ports: Sequence[Served]) -> None:
        """All is said at the end."""

    def news(self, job: Job) -> Callable[[], None]:
        checked = False

        def after() -> None:
            nonlocal checked
            checked = checked or (job.pupil.learned > 0 and check_labels(job.pupil.learner))

        return after

    def save(self) -> None:
        """Save; nothing if a row was refused."""
        port = self.port
        if port.error is None:
            try:
                self.labels.check(port.job.taken)
            except ValueError as error:
                port.error = error
        if port.error is None:
            super().save()

    def summary(self) -> dict[str, Any]:
        told, score, file = super().summary(), self._held_out.score, self._file
        lines = remarks.lines(score=score, labels_stop=True)
        told["frozen"] = score.summary() | {"remarks": lines} if score.n else None
        if isinstance(file, CsvRows) and file.n_missing and not self.asked.learner.regress:
            told["missing"] = {"rows": file.n_missing, "first_line": file.first_missing}
            told["missing"]["filled"] = self.asked.columns.missing == "mean"
        if isinstance(file, Recording):  # what could not be used
            told["recording"] = file.account()
        return told

    def report(self, summary: dict[str, Any]) -> None:
        if self.port.error is not None:
            return
        if self.asked.plot:
            self._picture.draw(self.asked.plot, title=f"{self.asked.file}: {summary['learner']}")
        super().report(summary)

    def words(self, summary: dict[str, Any]) -> list[str]:
        s, lines = summary, reports.words(summary)
        if frozen := s["frozen"]:
            at = 1 if self.asked.learner.regress else len(lines)  # what a virtual sensor gives
            lines[at:at] = [
                f"a copy that learned no more, on the last {frozen['predicted']:,} rows: "
                f"{reports.scored(frozen)}",
                *reports.remarks(frozen),
            ]
        if missing := s.get("missing"):
            became = (
                "with the mean where a cell is missing"
                if missing["filled"]
                else "passed over: a cell is missing (--missing mean fills it)"
            )
            first = missing["first_line"]
            lines.append(f"{missing['rows']:,} rows {became}, first in line {first:,}")
        if held := s.get("recording"):
            lines.append(
                f"{held['records']:,} records: {held['damaged']:,} damaged, "
                f"{held['unlabelled']:,} without a label, {held['torn_bytes']} incomplete bytes at "
                "the end"
            )
            if held.get("labels"):
                lines.append(
                    f"{held['labels']:,} labels arrived late: {held['label_matched']:,} in time, "
                    f"{held['label_expired']:,} too late, {held['label_duplicate']:,} repeated, "
                    f"{held['label_unknown']:,} for unknown samples"
                )
        return lines + reports.closing(s)


class _Picture:
    """What ``--plot`` draws of a job: its rolling score beside those of two answers that need no
    learner; of targets also the last ones, each with its prediction and interval."""

    def __init__(self, job: Job, *, regress: bool) -> None:
        self._pupil, self._regress = job.pupil, regress
        self._curve: list[tuple[float | None, ...]] = []
        self._last: deque[tuple[float, ...]] = deque(maxlen=DRAWN)

    def __call__(self, x: np.ndarray, label: Any, predicted: Any) -> None:
        """A row was learned and scored. A curve that is too long loses every second point."""
        s = self._pupil.score
        if s.n and s.n % 50 == 0:
            self._curve.append((s.n, s.rolling, *s.rolling_baselines))
            if len(self._curve) > CURVE_POINTS:
                del self._curve[::2]
        if self._regress and predicted is not None:
            self._last.append((label, *predicted))

    def draw(self, path: str, *, title: str) -> None:
        from edgesvm.cli import figures

        if self._regress:
            figures.targets(self._last, self._curve, path, title=title)
        else:
            figures.accuracy(self._curve, path, title=title)


def _freeze_after(settings: Settings, rows: Any, model: Learner | Chain) -> int | None:
    """How many rows, or windows of them, a copy learns; None for a pipe, whose length is not known,
    or if none are held out."""
    n = rows.n_rows if settings.holdout else None
    if n is None:
        return None
    if settings.samples is not None:
        n = min(n, settings.samples)
    if isinstance(model, Chain):
        n = max((n - model.windows_.window) // model.windows_.hop + 1, 0)
    return round(n * (1 - settings.holdout))


class _Labels:
    """The labels to learn: those of the file or, with ``--positive``, 1 and 0, or a word and "not"
    that word."""

    def __init__(self, settings: Settings, rows: Any) -> None:
        self._file, self._positive, self._names = settings.file, settings.positive, rows.class_names
        self._n_positive = self._last = 0

    def __call__(self, label: int) -> int | str:
        self._last = label
        if self._positive is None:
            return word_of(self._names, label)
        is_positive = label == self._class_of_positive()
        self._n_positive += is_positive
        if self._names:
            return self._positive if is_positive else f"not {self._positive}"
        return int(is_positive)

    def _class_of_positive(self) -> int:
        """The class that ``--positive`` names; -1 as long as no row has had that word."""
        if self._names:
            return self._names.index(self._positive) if self._positive in self._names else -1
        try:
            return int(str(self._positive))
        except ValueError:
            raise ValueError(
                f"--positive {self._positive}: the labels of {self._file} are integers, this is not"
            ) from None

    def too_many(self, learner: Learner) -> str:
        """The message for a label beyond the learner's number of classes."""
        known, new = learner.classes_.tolist(), word_of(self._names, self._last)
        told = f"{self._file} has more labels than there is room for: {new!r} after {known}"
        if getattr(innermost(learner), "n_classes", 0) is None:  # it adds them while there is room
            from edgesvm.learners.byte.byte_svm import BYTES_OF_A_LABEL

            n_bytes = f"{learner.nbytes + BYTES_OF_A_LABEL} or more, {BYTES_OF_A_LABEL} for a label"
            return f"{told}; give --memory {n_bytes}"
        return (
            f"{told}; give --positive LABEL to learn one against all others, or --classes K to "
            "learn all"
        )

    def check(self, n: int) -> None:
        """Raise ValueError, after n rows, for a file without rows or without a positive one."""
        if n == 0:
            raise ValueError(f"{self._file} has no rows")
        if self._positive is not None and self._n_positive == 0:
            raise ValueError(
                f"--positive {self._positive}: none of the {n:,} rows read has this label"
            )
