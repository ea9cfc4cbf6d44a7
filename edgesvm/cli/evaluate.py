"""``edgesvm eval``: predict, then learn, each row of a file."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing, nullcontext
from typing import Any

import numpy as np

from edgesvm.cli import (
    arguments,
    decision_options,
    drift_options,
    eval_report,
    learner_options,
    saved_model,
    window_options,
)
from edgesvm.cli.drift_options import DriftSettings
from edgesvm.cli.learner_options import LearnerSettings, season_of_day
from edgesvm.cli.link_options import LinkSettings
from edgesvm.cli.show_options import ShowSettings
from edgesvm.cli.status import StatusLine
from edgesvm.cli.window_options import WindowSettings
from edgesvm.contract.sparse import stacked
from edgesvm.data import CsvRows, NpzRows, Source
from edgesvm.errors import LinkDown, SampleRefused
from edgesvm.learner import Learner, learner_in
from edgesvm.learners.wrapper import innermost
from edgesvm.link import Recording, open_rows
from edgesvm.link.files import READ_ROWS, RowsLink
from edgesvm.preprocessing.chain import Chain
from edgesvm.serve.job import Job
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


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("eval", usage="edgesvm eval FILE [options]", description=HELP)
    command.add_argument("file", metavar="FILE", help="a .csv, an .npz with X and y, or a .rec")
    arguments.add_columns(command)
    command.add_argument(
        "--header",
        choices=("yes", "no"),
        help="whether the first line of a CSV holds column names; default: decided from its cells",
    )
    add_options(command)
    command.set_defaults(act=act)


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options that apply to every kind of file."""
    command.add_argument(
        "--positive",
        metavar="LABEL",
        help="make two classes: this label, a number or a word, and all others",
    )
    command.add_argument(
        "--shuffle",
        type=arguments.seed,
        metavar="SEED",
        help="take the rows in random order (reads the whole file first)",
    )
    command.add_argument(
        "--late-labels",
        type=arguments.count,
        default=256,
        metavar="W",
        help="how many samples of a recording may wait for a late label; default 256",
    )
    command.add_argument(
        "--samples", type=arguments.count, metavar="N", help="stop after N samples"
    )
    command.add_argument(
        "--holdout",
        type=_share,
        default=0.3,
        metavar="SHARE",
        help="share of the rows, the last ones, that a copy predicts without learning them; "
        "default 0.3",
    )
    command.add_argument(
        "--label-delay",
        type=arguments.seed,
        default=0,
        metavar="N",
        help="learn each row only N rows later, as where labels come late; default 0",
    )
    command.add_argument(
        "--last",
        type=arguments.count,
        default=1000,
        metavar="N",
        help="rolling accuracy over the last N rows; default 1000",
    )
    command.add_argument(
        "--save", type=arguments.new_file, metavar="FILE", help="write a snapshot at the end"
    )
    command.add_argument(
        "--plot",
        type=arguments.new_file,
        metavar="PNG",
        help="draw the rolling accuracy, of targets the last ones with their intervals too (needs "
        "matplotlib)",
    )
    command.add_argument(
        "--reliability",
        type=arguments.new_file,
        metavar="PNG",
        help="draw probabilities against the shares that came true, before and after they were "
        "fitted (needs matplotlib); implies --probabilities",
    )
    command.add_argument("--json", action="store_true", help="print one JSON line instead of text")
    drift_options.add_to(command)
    window_options.add_to(command)
    group = learner_options.add_to(command)
    learner_options.add_regress(group)
    group.add_argument(
        "--season",
        type=arguments.count,
        metavar="N",
        help="with --regress: compare with the target N rows before; default a day, if known",
    )


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share < 1:
        raise ValueError(text)
    return share


def act(options: argparse.Namespace) -> int:
    rows = open_rows(
        options.file,
        label_column=options.label_column,
        **arguments.columns(options),
        header=None if options.header is None else options.header == "yes",
        targets=options.regress,
        late_labels=options.late_labels,
    )
    # before hours of learning, not at the end
    with closing(rows), saved_model.claimed(options.save) if options.save else nullcontext():
        arguments.say_notes(options.file, getattr(rows, "notes", ()))
        return _test_then_train(options, rows)


def _test_then_train(options: argparse.Namespace, rows: CsvRows | NpzRows | Recording) -> int:
    """Predict and learn every row, with a status line and a report; the exit code."""
    learner_options.check_regress(options)
    if options.season is not None and not options.regress:
        raise ValueError(f"--season {options.season} is for targets: give --regress")
    options.probabilities |= options.reliability is not None
    asked = LearnerSettings.of(options)
    if options.plot or options.reliability:
        from edgesvm.cli import figures  # reports a missing matplotlib right away
    if not rows.labelled:
        return _watched(options, rows)
    model, status = _model(options, asked, rows), StatusLine(quiet=options.json)
    learner, labels = learner_in(model), _Labels(options, rows)
    season = options.season or season_of_day(rows.period_us)
    link = RowsLink(
        _in_order(options, rows),
        options.file,
        targets=options.regress,
        late_labels=options.late_labels,
    )
    job = taught(
        link,
        model,
        answers=False,
        label_of=labels,
        window=options.last,
        delay=options.label_delay,
        drift=DriftSettings.of(options).watch(learner, status.say),
        season=season,
        strict=True,
        with_raw=True,
    )
    held_out = HeldOut(learner, _freeze_after(options, rows, model), options.last, season)
    picture = _Picture(job, regress=options.regress)
    job.pupil.witnesses += [held_out, *([picture] if options.plot else [])]
    started = time.perf_counter()
    try:
        _learn_all(job, options.samples, lambda: time.perf_counter() - started, status)
    except SampleRefused as why:
        raise ValueError(labels.too_many(learner)) from why
    finally:
        status.end()
    labels.check()
    summary = eval_report.summary(job, held_out.score, time.perf_counter() - started)
    summary["log_lost"] = status.lost
    if isinstance(rows, CsvRows) and rows.n_missing and not options.regress:
        summary["missing"] = {"rows": rows.n_missing, "first_line": rows.first_missing}
        summary["missing"]["filled"] = options.missing == "mean"
    if isinstance(rows, Recording):  # what could not be used
        summary["recording"] = rows.account()
    summary |= {"windows": job.stage.counters()} if isinstance(model, Chain) else {}
    if options.save:
        model.save(options.save)
    title = f"{options.file}: {model!r}"
    if options.plot:
        picture.draw(options.plot, title=title)
    if options.reliability and job.pupil.forecasts is not None:
        forecasts, names = job.pupil.forecasts, learner.classes_.tolist()
        both = forecasts.raw.bins, forecasts.bins
        figures.reliability(*both, options.reliability, title=title, labels=names)
    print(json.dumps(summary) if options.json else eval_report.words(summary))
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
        checked = checked or decision_options.check_labels(job.pupil.learner)
        status.show(lambda: eval_report.progress(job, seconds()))
    job.pupil.finish()


def _watched(options: argparse.Namespace, rows: CsvRows | NpzRows | Recording) -> int:
    """Of rows without labels: how often a watch would have raised an alarm."""
    from edgesvm.cli import watch
    from edgesvm.cli.novelty_options import Learning, NoveltySettings

    if (n := rows.n_rows) is None or options.regress or options.save:
        raise ValueError(f"{options.file} has no labels: there is nothing to learn")
    windows = WindowSettings.of(options)
    learned = max(n // 3 // windows.rows_apart, 1)
    told = f"watch {options.file} --learn {learned} --alarm-rate {RATE_OF_WATCH}"
    print(f"{options.file} has no labels: edgesvm {told}", file=sys.stderr)
    columns = arguments.columns(options)
    settings = watch.WatchSettings(
        link=LinkSettings(url=options.file, label="none", regress=None, columns=columns),
        novelty=NoveltySettings(
            memory="64KiB",
            learner=None,
            parameters={},
            learn=Learning(learned, None),
            alarm_rate=RATE_OF_WATCH,
            alarm="3/5",
            then="nothing",
        ),
        windows=windows,
        show=ShowSettings(json=options.json),
    )
    code = watch.watch(settings)
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


def _freeze_after(
    options: argparse.Namespace, rows: CsvRows | NpzRows | Recording, model: Learner | Chain
) -> int | None:
    """How many rows, or windows of them, a copy learns; None for a pipe, whose length is not known,
    or if none are held out."""
    n = rows.n_rows if options.holdout else None
    if n is None:
        return None
    if options.samples is not None:
        n = min(n, options.samples)
    if isinstance(model, Chain):
        n = max((n - model.windows_.window) // model.windows_.hop + 1, 0)
    return round(n * (1 - options.holdout))


def _model(
    options: argparse.Namespace, asked: LearnerSettings, rows: CsvRows | NpzRows | Recording
) -> Learner | Chain:
    if options.positive is not None and (options.multiclass or options.classes):
        raise ValueError("--positive makes two classes: leave out --classes and --multiclass")
    windows = WindowSettings.of(options)
    if rows.targets != asked.regress:
        advice = ("targets: give", "classes: leave out")[asked.regress]
        raise ValueError(f"{options.file} holds {advice} --regress")
    if windows.window is not None and options.shuffle is not None:
        raise ValueError("--shuffle: windows need the samples in their order; leave it out")
    learner, fixed = asked.requested(0 if options.positive else rows.n_classes)
    if asked.regress and options.label_delay and "label_delay" not in asked.parameters:
        inner = innermost(learner)
        inner.set_params(label_delay=options.label_delay)
    model = windows.chain(
        learner, rows.n_features, asked.memory, period_us=rows.period_us, fixed=fixed
    )
    return model.allocate(rows.n_features).name_features(rows.feature_names)


def _in_order(
    options: argparse.Namespace, rows: CsvRows | NpzRows | Recording
) -> CsvRows | NpzRows | Recording | Source:
    """The rows in their own order, or shuffled."""
    if options.shuffle is None:
        return rows
    chunks = list(rows.chunks(READ_ROWS))
    if not chunks:
        raise ValueError(f"{options.file} has no rows")
    X, y = (stacked(column) for column in zip(*chunks, strict=True))
    order = np.random.default_rng(options.shuffle).permutation(len(X))
    return Source(X[order], y[order])


class _Labels:
    """The labels to learn: those of the file or, with ``--positive``, 1 and 0, or a word and "not"
    that word."""

    def __init__(self, options: argparse.Namespace, rows: CsvRows | NpzRows | Recording) -> None:
        self._file, self._positive = options.file, options.positive
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
            return int(self._positive)
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
