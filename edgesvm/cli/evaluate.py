"""``edgesvm eval``: predict, then learn, each row of a file."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from edgesvm.budget import format_bytes
from edgesvm.cli import arguments, saved_model, score_words
from edgesvm.cli.learner_settings import (
    DriftSettings,
    LearnerOfAll,
    LearnerSettings,
    check_labels,
    season_of_day,
)
from edgesvm.cli.link_settings import ColumnSettings, FileRows, FileSettings
from edgesvm.cli.options import AS_JSON, argument, option, section, words
from edgesvm.cli.process import StatusLine, lost_lines
from edgesvm.cli.show_settings import TeachingSettings
from edgesvm.cli.window_settings import WindowSettings
from edgesvm.contract.sparse import stacked
from edgesvm.data import CsvRows, Source
from edgesvm.errors import LinkDown, SampleRefused
from edgesvm.learner import Learner, learner_in
from edgesvm.learners.wrapper import innermost
from edgesvm.link import Recording
from edgesvm.link.files import READ_ROWS, RowsLink
from edgesvm.preprocessing.chain import Chain
from edgesvm.serve import remarks
from edgesvm.serve.job import Job
from edgesvm.serve.score import RegressionScore, far_out, percent
from edgesvm.serve.taught import HeldOut, taught

HELP = """\
Read a CSV, npz or recorded file once and predict each row before learning it. The accuracy of these
predictions is reported (prequential evaluation, test-then-train), and beside it that of a copy that
learns no more before the last 30 % of the rows: what to expect once labels stop.

  edgesvm eval room.csv --label-column Occupancy --drop-column date
  edgesvm eval digits.npz --positive 8 --learner kernel-stream --memory 64KiB --plot accuracy.png
  edgesvm eval digits.npz --multiclass one-vs-one --memory 256KiB
  edgesvm eval pump.csv --window 256 --rate 1000 --bands 10-50,50-200
  edgesvm eval bikes.csv --regress --season 24 --label-column count

With --window, the rows are raw samples: windows of them are predicted and learned, as in `run`.
"""
CURVE_POINTS = 400
DRAWN = 300  # last targets
RATE_OF_WATCH = "0.0001"  # of rows without labels


def share(text: str) -> float:
    if not 0 <= (value := arguments.number(text)) < 1:
        raise ValueError(f"{text}: give a share of the rows, from 0 to less than 1")
    return value


@dataclass(frozen=True, kw_only=True)
class Settings:
    file: str = argument("a .csv, an .npz with X and y, or a .rec", unit="FILE")
    columns: FileSettings = section(FileSettings)
    positive: str | None = option(
        None,
        "make two classes: this label, a number or a word, and all others",
        unit="LABEL",
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
        check=share,
    )
    label_delay: int = option(
        0,
        "learn each row only N rows later, as where labels come late",
        unit="N",
        check=arguments.seed,
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


def act(settings: Settings) -> int:
    rows = settings.columns.open(
        settings.file,
        regress=settings.learner.regress,
        late_labels=settings.late_labels,
    )
    # before hours of learning, not at the end
    with closing(rows), saved_model.claimed(settings.save) if settings.save else nullcontext():
        return _test_then_train(settings, rows)


def _test_then_train(settings: Settings, rows: FileRows) -> int:
    """Predict and learn every row, with a status line and a report; the exit code."""
    asked = settings.learner
    if settings.plot:
        from edgesvm.cli import figures  # noqa: F401  (reports a missing matplotlib right away)
    if not rows.labelled:
        return _watched(settings, rows)
    model, status = _model(settings, asked, rows), StatusLine(quiet=settings.json)
    learner, labels = learner_in(model), _Labels(settings, rows)
    season = settings.season or season_of_day(rows.period_us)
    link = RowsLink(
        _in_order(settings, rows),
        settings.file,
        targets=asked.regress,
        late_labels=settings.late_labels,
    )
    job = taught(
        link,
        model,
        answers=False,
        label_of=labels,
        window=settings.last,
        delay=settings.label_delay,
        drift=settings.drift.watch(learner, status.say),
        season=season,
        strict=True,
        with_raw=True,
    )
    held_out = HeldOut(learner, _freeze_after(settings, rows, model), settings.last, season)
    picture = _Picture(job, regress=asked.regress)
    job.pupil.listeners += [held_out, *([picture] if settings.plot else [])]
    started = time.perf_counter()
    try:
        _learn_all(job, settings.samples, lambda: time.perf_counter() - started, status)
    except SampleRefused as why:
        raise ValueError(labels.too_many(learner)) from why
    finally:
        status.end()
    labels.check()
    summary = _summary(job, held_out.score, time.perf_counter() - started)
    summary["log_lost"] = status.lost
    if isinstance(rows, CsvRows) and rows.n_missing and not asked.regress:
        summary["missing"] = {"rows": rows.n_missing, "first_line": rows.first_missing}
        summary["missing"]["filled"] = settings.columns.missing == "mean"
    if isinstance(rows, Recording):  # what could not be used
        summary["recording"] = rows.account()
    summary |= {"windows": job.stage.counters()} if isinstance(model, Chain) else {}
    if settings.save:
        model.save(settings.save)
    if settings.plot:
        picture.draw(settings.plot, title=f"{settings.file}: {model!r}")
    print(json.dumps(summary) if settings.json else _words(summary))
    return 0


def _learn_all(
    job: Job, most: int | None, seconds: Callable[[], float], status: StatusLine
) -> None:
    """Hand the rows of a file to its job, at most so many."""
    checked = False
    while job.taken != most:
        try:
            job.step(0.0, None if most is None else most - job.taken)
        except LinkDown:  # the end of the file
            break
        checked = checked or check_labels(job.pupil.learner)
        status.show(lambda: _progress(job, seconds()))
    job.pupil.finish()


def _watched(settings: Settings, rows: FileRows) -> int:
    """Of rows without labels: how often a watch would have raised an alarm."""
    from edgesvm.cli import watch
    from edgesvm.cli.novelty_settings import Learning, NoveltySettings
    from edgesvm.cli.window_settings import UnlabelledWindows

    if (n := rows.n_rows) is None or settings.learner.regress or settings.save:
        raise ValueError(f"{settings.file} has no labels: there is nothing to learn")
    windows = UnlabelledWindows(**vars(settings.windows))
    learned = max(n // 3 // windows.rows_apart, 1)
    columns = {one.name: getattr(settings.columns, one.name) for one in fields(ColumnSettings)}
    asked = watch.Settings(
        port=settings.file,
        novelty=NoveltySettings(learn=Learning(learned, None), alarm_rate=RATE_OF_WATCH),
        link=watch.WatchLink(columns=ColumnSettings(**columns)),
        windows=windows,
        show=TeachingSettings(json=settings.json),
    )
    told = shlex.join(["edgesvm", "watch", *words(asked)])
    print(f"{settings.file} has no labels: {told}", file=sys.stderr)
    code = watch.act(asked)
    return 0 if code == watch.ALARMED else code


class _Picture:
    """What ``--plot`` draws of a job: its rolling score; of targets also the last ones, each with
    its prediction and interval."""

    def __init__(self, job: Job, *, regress: bool) -> None:
        self._pupil, self._regress = job.pupil, regress
        self._curve: list[tuple[float | None, ...]] = []
        self._last: deque[tuple[float, ...]] = deque(maxlen=DRAWN)

    def __call__(self, x: np.ndarray, label: Any, predicted: Any) -> None:
        """A row was learned and scored."""
        score = self._pupil.score
        if score.n and score.n % 50 == 0:
            _extend(self._curve, (score.n, score.rolling, *self._without_learner()))
        if self._regress and predicted is not None:
            self._last.append((label, *predicted))

    def _without_learner(self) -> tuple[float | None, ...]:
        """The scores of two answers that need no learner."""
        score = self._pupil.score
        if self._regress:
            return score.mean_so_far.mae, score.value_before.mae
        return score.majority, score.label_before

    def draw(self, path: str, *, title: str) -> None:
        from edgesvm.cli import figures

        if self._regress:
            figures.targets(self._last, self._curve, path, title=title)
        else:
            figures.accuracy(self._curve, path, title=title)


def _freeze_after(settings: Settings, rows: FileRows, model: Learner | Chain) -> int | None:
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


def _model(settings: Settings, asked: LearnerSettings, rows: FileRows) -> Learner | Chain:
    if rows.targets != asked.regress:
        advice = ("targets: give", "classes: leave out")[asked.regress]
        raise ValueError(f"{settings.file} holds {advice} --regress")
    learner, fixed = asked.requested(0 if settings.positive else rows.n_classes)
    if asked.regress and settings.label_delay and "label_delay" not in asked.parameters:
        inner = innermost(learner)
        inner.set_params(label_delay=settings.label_delay)
    model = settings.windows.chain(
        learner, rows.n_features, asked.memory, period_us=rows.period_us, fixed=fixed
    )
    return model.allocate(rows.n_features).name_features(rows.feature_names)


def _in_order(settings: Settings, rows: FileRows) -> FileRows | Source:
    """The rows in their own order, or shuffled."""
    if settings.shuffle is None:
        return rows
    chunks = list(rows.chunks(READ_ROWS))
    if not chunks:
        raise ValueError(f"{settings.file} has no rows")
    X, y = (stacked(column) for column in zip(*chunks, strict=True))
    order = np.random.default_rng(settings.shuffle).permutation(len(X))
    return Source(X[order], y[order])


class _Labels:
    """The labels to learn: those of the file or, with ``--positive``, 1 and 0, or a word and "not"
    that word."""

    def __init__(self, settings: Settings, rows: FileRows) -> None:
        self._file, self._positive = settings.file, settings.positive
        self._names = rows.class_names
        self._n = self._n_positive = 0
        self._last = 0

    def __call__(self, label: int) -> int | str:
        self._n += 1
        self._last = label
        if self._positive is None:
            return self._names[label] if self._names else label
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
        names = self._names
        labels = *learner.classes_.tolist(), self._last
        *known, new = (names[y] if names and isinstance(y, int) else y for y in labels)
        if getattr(innermost(learner), "n_classes", 0) is None:  # it adds them while there is room
            from edgesvm.learners.byte.byte_svm import BYTES_OF_A_LABEL

            return (
                f"{self._file} has more labels than the {len(known)} that {learner.nbytes:,} bytes"
                f" have room for: {new!r} after {known}; give --memory"
                f" {learner.nbytes + BYTES_OF_A_LABEL} or more, {BYTES_OF_A_LABEL} for each label"
            )
        if len(known) > 2:
            return (
                f"{self._file} has more than the {len(known)} labels of --classes: {new!r} after"
                f" {known}"
            )
        return (
            f"{self._file} has a third label, {new!r} after {known[0]!r} and {known[1]!r}: "
            "give --positive LABEL to learn one against all others, or --classes K to learn all"
        )

    def check(self) -> None:
        """Raise ValueError, at the end, for a file without rows or without a positive one."""
        if self._n == 0:
            raise ValueError(f"{self._file} has no rows")
        if self._positive is not None and self._n_positive == 0:
            raise ValueError(
                f"--positive {self._positive}: none of the {self._n:,} rows read has this label"
            )


def _extend(curve: list[tuple[float | None, ...]], point: tuple[float | None, ...]) -> None:
    """Append a point. A curve that is too long loses every second one, so it stays small."""
    curve.append(point)
    if len(curve) > CURVE_POINTS:
        del curve[::2]


# The report.


def _progress(job: Job, seconds: float) -> str:
    """The status line."""
    learner, score = job.pupil.learner, job.pupil.score
    return (
        f"{score.n:,} rows  {score.n / max(seconds, 1e-9):,.0f}/s  "
        f"{_whole(score)}, last {min(score.n, score.window):,} {score_words.brief(score)}  "
        f"{learner.n_updates_:,} updates  {learner.nbytes:,} B{score_words.drifts(job.pupil.drift)}"
    )


def _whole(score: Any) -> str:
    """The figure of all samples."""
    if isinstance(score, RegressionScore):
        return f"MAE {score_words.number(score.mae)}"
    return score_words.ONE_LABEL if score.majority == 1 else f"accuracy {percent(score.accuracy)}"


def _summary(job: Job, held_out: Any, seconds: float) -> dict[str, Any]:
    """All results, for a JSON line; `held_out` is the score of the copy that learned no more."""
    pupil, learner = job.pupil, job.pupil.learner
    rows = pupil.learned if isinstance(job.model, Learner) else job.model.n_seen_
    return {
        "learner": repr(job.model),
        "bytes": job.model.nbytes,
        "n_seen": learner.n_seen_,
        "n_updates": learner.n_updates_,
        "refused": pupil.refused_value,
        **far_out(learner),
        "us_per_sample": 1e6 * seconds / max(rows, 1),
        **score_words.results(pupil),
        "remarks": [*_by_class(pupil.score), *remarks.lines(learner=learner, score=pupil.score)],
        "frozen": _frozen(held_out) if held_out.n else None,
    }


def _by_class(score: Any) -> list[str]:
    """That every class comes in one piece."""
    n_classes = 0 if isinstance(score, RegressionScore) else len(score.confusion)
    if n_classes < 2 or score.n < 10 * n_classes:
        return []
    if round((score.n - 1) * (1.0 - score.label_before)) != n_classes - 1:
        return []
    return [
        "the rows come class by class, so most of these answers repeat the last label; add"
        " --shuffle 1"
    ]


def _frozen(score: Any) -> dict[str, Any]:
    return score.summary() | {"remarks": remarks.lines(score=score, labels_stop=True)}


def _words(s: dict[str, Any]) -> str:
    """`summary` as text."""
    n = min(s["window"], s["predicted"])
    rows, sample = ("windows", "raw sample") if "windows" in s else ("rows", "row")
    lines = [
        f"{s['learner']}, {format_bytes(s['bytes'])}",
        f"{s['predicted']:,} {rows} predicted before they were learned: {score_words.scored(s)}; "
        f"first {n:,} {score_words.first(s)}, last {n:,} {score_words.rolling(s)}",
        *score_words.details(s, s),
    ]
    if frozen := s["frozen"]:
        lines += [
            f"a copy that learned no more, on the last {frozen['predicted']:,} {rows}: "
            f"{score_words.scored(frozen)}",
            *score_words.remarks(frozen),
        ]
    new = f"{s['n_updates']:,} {rows} changed the model"
    lines.append(f"{new}; {s['us_per_sample']:.1f} us per {sample}")
    if c := s.get("windows"):
        lines.append(
            f"{c['pushed']:,} raw samples, {c['windows']:,} windows, {score_words.left_out(c)}"
        )
    words = "\n".join(lines)
    missing = s.get("missing")
    passed_over = missing["rows"] if missing and not missing["filled"] else 0
    if (refused := s["refused"] - passed_over) > 0:
        words += f"\n{refused:,} rows refused: a value is not finite or too large"
    if missing:
        became = (
            "with the mean where a cell is missing"
            if missing["filled"]
            else "passed over: a cell is missing (--missing mean fills it)"
        )
        words += f"\n{missing['rows']:,} rows {became}, first in line {missing['first_line']:,}"
    if s["log_lost"]:
        words += f"\n{lost_lines(s['log_lost'])}"
    if held := s.get("recording"):
        words += (
            f"\n{held['records']:,} records: {held['damaged']:,} damaged, {held['unlabelled']:,} "
            f"without a label, {held['torn_bytes']} incomplete bytes at the end"
        )
        if held.get("labels"):
            words += (
                f"\n{held['labels']:,} labels arrived late: {held['label_matched']:,} in time, "
                f"{held['label_expired']:,} too late, {held['label_duplicate']:,} repeated, "
                f"{held['label_unknown']:,} for unknown samples"
            )
    return words
