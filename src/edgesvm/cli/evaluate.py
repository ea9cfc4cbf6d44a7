"""``edgesvm eval``: test-then-train over the rows of a file."""

from __future__ import annotations

import argparse
import json
import time
from contextlib import closing
from itertools import islice

import numpy as np

from edgesvm.cli import arguments, eval_report, learner_options
from edgesvm.cli.status import StatusLine
from edgesvm.data import CsvRows, NpzRows, Source
from edgesvm.errors import SampleRefused
from edgesvm.evaluation import CHUNK_ROWS, PredictThenLearn
from edgesvm.ingest import Recording, open_rows
from edgesvm.learner import Learner

HELP = """\
Test-then-train over the rows of a CSV, npz or recorded file: each is predicted, then learned.

  edgesvm eval room.csv --label-column Occupancy --drop-column date
  edgesvm eval digits.npz --positive 8 --learner kernel-stream --memory 64KiB --plot accuracy.png
  edgesvm eval digits.npz --multiclass one-vs-one --memory 256KiB
"""
CURVE_POINTS = 400


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "eval",
        description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("file", metavar="FILE", help=".csv, .npz with X and y, or .rec")
    command.add_argument(
        "--label-column",
        metavar="NAME",
        help="of a CSV; default: label, class, target, y, or the last",
    )
    command.add_argument(
        "--drop-column", metavar="NAME", action="append", default=[], help="of a CSV: no feature"
    )
    command.add_argument(
        "--header",
        choices=("yes", "no"),
        help="of a CSV: whether the first line holds names; default: judged by its cells",
    )
    add_options(command)
    command.set_defaults(act=act)


def add_options(command: argparse.ArgumentParser) -> None:
    """Those that do not depend on the kind of file."""
    command.add_argument(
        "--positive", metavar="LABEL", help="this label, a number or a word, against all others"
    )
    command.add_argument(
        "--shuffle",
        type=arguments.seed,
        metavar="SEED",
        help="rows in random order (reads the whole file first)",
    )
    command.add_argument(
        "--late-labels",
        type=arguments.count,
        default=256,
        metavar="W",
        help="of a recording: samples that wait for a label sent on its own, default 256",
    )
    command.add_argument("--samples", type=arguments.count, metavar="N", help="end after so many")
    command.add_argument(
        "--window",
        type=arguments.count,
        default=1000,
        metavar="N",
        help="rows of the rolling accuracy",
    )
    command.add_argument(
        "--save", type=arguments.new_file, metavar="FILE", help="write a snapshot at the end"
    )
    command.add_argument(
        "--plot",
        type=arguments.new_file,
        metavar="PNG",
        help="draw the rolling accuracy (needs matplotlib)",
    )
    command.add_argument("--json", action="store_true", help="one JSON line")
    learner_options.add_to(command)


def act(options: argparse.Namespace) -> int:
    rows = open_rows(
        options.file,
        label_column=options.label_column,
        drop_columns=tuple(options.drop_column),
        header=None if options.header is None else options.header == "yes",
        late_labels=options.late_labels,
    )
    with closing(rows):
        return test_then_train(options, rows)


def test_then_train(options: argparse.Namespace, rows: CsvRows | NpzRows | Recording) -> int:
    """Predict and learn every row, with a status line and a report; the exit code."""
    if options.plot:
        from edgesvm.cli import figures  # says at once that matplotlib is missing
    if not rows.labelled:
        raise ValueError(f"{options.file} has no labels: there is nothing to learn")
    learner = _learner(options, rows)
    loop = PredictThenLearn(learner, options.window)
    labels = _Labels(options, rows)
    status = StatusLine(quiet=options.json)
    curve: list[tuple[int, float]] = []
    started = time.perf_counter()
    try:
        for _ in islice(loop.run(_in_order(options, rows), labels), options.samples):
            if options.plot and loop.score.n and loop.score.n % 50 == 0:
                _extend(curve, loop.score.n, loop.score.rolling or 0.0)
            status.show(lambda: eval_report.progress(loop, time.perf_counter() - started))
    except SampleRefused as why:
        raise ValueError(labels.too_many(learner)) from why
    finally:
        status.end()
    labels.check()
    summary = eval_report.summary(loop, time.perf_counter() - started)
    if account := getattr(rows, "account", None):  # of a recording: what of it could not be used
        summary["recording"] = account()
    if options.save:
        learner.save(options.save)
    if options.plot:
        figures.accuracy(curve, options.plot, title=f"{options.file}: {learner!r}")
    print(json.dumps(summary) if options.json else eval_report.words(summary))
    return 0


def _learner(options: argparse.Namespace, rows: CsvRows | NpzRows | Recording) -> Learner:
    if options.positive is not None and (options.multiclass or options.classes):
        raise ValueError("--positive sets one label against all others: leave out --classes")
    learner = learner_options.build(options, rows.n_features, rows.n_classes)
    return learner.allocate(rows.n_features)


def _in_order(
    options: argparse.Namespace, rows: CsvRows | NpzRows | Recording
) -> CsvRows | NpzRows | Recording | Source:
    """The rows as they come, or all of them in random order."""
    if options.shuffle is None:
        return rows
    chunks = list(rows.chunks(CHUNK_ROWS))
    if not chunks:
        raise ValueError(f"{options.file} has no rows")
    X, y = (np.concatenate(column) for column in zip(*chunks, strict=True))
    order = np.random.default_rng(options.shuffle).permutation(len(X))
    return Source(X[order], y[order])


class _Labels:
    """The labels to learn: those of the file, or 1 and 0 where one is set against all others."""

    def __init__(self, options: argparse.Namespace, rows: CsvRows | NpzRows | Recording) -> None:
        self._file, self._positive = options.file, options.positive
        self._names = rows.class_names
        self._n = self._n_positive = 0
        self._last = 0

    def __call__(self, label: int) -> int:
        self._n += 1
        self._last = label
        if self._positive is None:
            return label
        is_positive = label == self._class_of_positive()
        self._n_positive += is_positive
        return int(is_positive)

    def _class_of_positive(self) -> int:
        """The class that --positive names; -1, no class of words, while none of that name has
        come."""
        if self._names:
            return self._names.index(self._positive) if self._positive in self._names else -1
        try:
            return int(self._positive)
        except ValueError:
            raise ValueError(
                f"--positive {self._positive}: the labels of {self._file} are whole numbers"
            ) from None

    def too_many(self, learner: Learner) -> str:
        """What to say when the last label was one more than the learner has room for."""
        names = self._names
        *known, new = (names[y] if names else y for y in (*learner.classes_.tolist(), self._last))
        if len(known) > 2:
            return (
                f"{self._file} has more labels than the {len(known)} of --classes: {new!r} beside"
                f" {known}"
            )
        return (
            f"{self._file} has a third label, {new!r} after {known[0]!r} and {known[1]!r}: "
            f"--positive LABEL learns one against all others, --classes K all of them"
        )

    def check(self) -> None:
        """Refuse, at the end, a file without rows, or without one that is positive."""
        if self._n == 0:
            raise ValueError(f"{self._file} has no rows")
        if self._positive is not None and self._n_positive == 0:
            raise ValueError(
                f"--positive {self._positive}: none of the {self._n:,} rows read has this label"
            )


def _extend(curve: list[tuple[int, float]], n: int, rolling: float) -> None:
    """One more point; of too many every second goes: the curve stays small on any stream."""
    curve.append((n, rolling))
    if len(curve) > CURVE_POINTS:
        del curve[::2]
