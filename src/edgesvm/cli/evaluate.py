"""``edgesvm eval``: test-then-train over the rows of a file."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import closing, nullcontext
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from edgesvm.budget import format_bytes
from edgesvm.cli import arguments, learner_options
from edgesvm.cli.status import StatusLine, percent
from edgesvm.core.status import Status
from edgesvm.data.rows import CsvRows, NpzRows, open_rows
from edgesvm.errors import SampleRefused
from edgesvm.evaluation import Prequential
from edgesvm.learner import Learner
from edgesvm.learners.incremental.retrained_svm import RetrainedSVM
from edgesvm.preprocessing.standardized import Standardized

if TYPE_CHECKING:
    from edgesvm.ingest.recording import Recording

HELP = """\
Test-then-train over the rows of a CSV, npz or recorded file: each is predicted, then learned.

  edgesvm eval room.csv --label-column Occupancy --drop-column date
  edgesvm eval digits.npz --positive 8 --learner kernel-stream --memory 64KiB --plot accuracy.png
  edgesvm eval digits.npz --multiclass one-vs-one --memory 256KiB
"""
BLOCK = 256
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
        late_labels=options.late_labels,
    )
    with closing(rows) if hasattr(rows, "close") else nullcontext():
        return test_then_train(options, rows)


def test_then_train(options: argparse.Namespace, rows: CsvRows | NpzRows | Recording) -> int:
    """Predict and learn every row, with a status line and a report; the exit code."""
    if options.plot:
        from edgesvm.cli import figures  # says at once that matplotlib is missing
    learner = _learner(options, rows)
    score = Prequential(options.window)
    status = StatusLine(quiet=options.json)
    curve: list[tuple[int, float]] = []
    trials = _Trials(options, rows, learner)
    started = time.perf_counter()
    try:
        for x, label, weight, predicted in trials:
            try:
                if weight == 1.0:
                    learner.learn_one(x, label)
                else:
                    learner.partial_fit(x[None, :], [label], sample_weight=[weight])
            except SampleRefused as why:
                if why.status == Status.UNKNOWN_LABEL:
                    raise ValueError(_third_label(options, rows, learner, label)) from why
                trials.refused += 1
                continue
            if predicted is not None:
                score.add(label, predicted)
            if options.plot and score.n and score.n % 50 == 0:
                _extend(curve, score.n, score.rolling or 0.0)
            status.show(lambda: _progress(learner, score, time.perf_counter() - started))
    finally:
        status.end()
    summary = _summary(learner, score, trials.refused, time.perf_counter() - started)
    if account := getattr(rows, "account", None):  # of a recording: what of it could not be used
        summary["recording"] = account()
    if options.save:
        learner.save(options.save)
    if options.plot:
        figures.accuracy(curve, options.plot, title=f"{options.file}: {learner!r}")
    print(json.dumps(summary) if options.json else _closing_words(summary))
    return 0


def _learner(options: argparse.Namespace, rows: CsvRows | NpzRows | Recording) -> Learner:
    if options.positive is not None and (options.multiclass or options.classes):
        raise ValueError("--positive sets one label against all others: leave out --classes")
    learner = learner_options.build(options, rows.n_features, rows.n_classes)
    return learner.allocate(rows.n_features)


def _third_label(
    options: argparse.Namespace, rows: CsvRows | NpzRows | Recording, learner: Learner, label: int
) -> str:
    names = rows.class_names
    *known, new = (names[y] if names else y for y in (*learner.classes_.tolist(), label))
    if len(known) > 2:
        return (
            f"{options.file} has more labels than the {len(known)} of --classes: {new!r} beside"
            f" {known}"
        )
    return (
        f"{options.file} has a third label, {new!r} after {known[0]!r} and {known[1]!r}: "
        f"--positive LABEL learns one against all others, --classes K all of them"
    )


Trial = tuple[np.ndarray, int, float, int | None]


class _Trials:
    """Samples in the order in which they are to be learned: x, of the learner's dtype, label,
    weight, and what was predicted where the sample came.

    Labels are 1 and 0 where one is set against all others. `refused` counts samples, those that
    could not be predicted among them.
    """

    def __init__(
        self, options: argparse.Namespace, rows: CsvRows | NpzRows | Recording, learner: Learner
    ) -> None:
        self.options, self.rows, self.learner = options, rows, learner
        self.refused = 0

    def __iter__(self) -> Iterator[Trial]:
        options = self.options
        n = n_positive = 0
        in_order = options.shuffle is None and hasattr(self.rows, "trials")
        samples = self._recorded() if in_order else self._read()
        for x, label, weight, predicted in islice(samples, options.samples):
            n += 1
            n_positive += label == 1
            yield x, label, weight, predicted
        if n == 0:
            raise ValueError(f"{options.file} has no rows")
        if options.positive is not None and n_positive == 0:
            raise ValueError(
                f"--positive {options.positive}: none of the {n:,} rows read has this label"
            )

    def _read(self) -> Iterator[Trial]:
        for X, y in _blocks(self.options, self.rows):
            if y is None:
                raise ValueError(f"{self.options.file} has no labels: there is nothing to learn")
            for x, label in zip(X, y.tolist(), strict=True):
                try:
                    predicted = self._predict(x)
                except SampleRefused:
                    continue
                yield x, self._class(label), 1.0, predicted

    def _recorded(self) -> Iterator[Trial]:
        rows = cast("Recording", self.rows)
        if not rows.schema.labelled:
            raise ValueError(f"{self.options.file} has no labels: there is nothing to learn")
        dtype = np.dtype(self.options.dtype)
        for sample in rows.trials(lambda x: self._predict(x.astype(dtype, copy=False))):
            x = sample.x.astype(dtype, copy=False)
            yield x, self._class(sample.label), sample.weight, sample.predicted

    def _predict(self, x: np.ndarray) -> int | None:
        try:
            return self.learner.predict_one(x) if self.learner.is_fitted else None
        except SampleRefused:
            self.refused += 1
            raise

    def _class(self, label: int) -> int:
        if self.options.positive is None:
            return label
        return int(label == _class_of(self.options, self.rows))


def _class_of(options: argparse.Namespace, rows: CsvRows | NpzRows | Recording) -> int:
    """The class that --positive names; -1, no class of words, while none of that name has come."""
    if rows.class_names:
        return (
            rows.class_names.index(options.positive) if options.positive in rows.class_names else -1
        )
    try:
        return int(options.positive)
    except ValueError:
        raise ValueError(
            f"--positive {options.positive}: the labels of {options.file} are whole numbers"
        ) from None


def _blocks(
    options: argparse.Namespace, rows: CsvRows | NpzRows | Recording
) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    blocks = takewhile(lambda block: len(block[0]), iter(lambda: rows.next_block(BLOCK), None))
    dtype = np.dtype(options.dtype)
    if options.shuffle is None:
        for X, y in blocks:
            yield X.astype(dtype, copy=False), y
        return
    whole = list(blocks)
    X = np.concatenate([X for X, _ in whole]).astype(dtype, copy=False)
    order = np.random.default_rng(options.shuffle).permutation(len(X))
    labels = [y for _, y in whole if y is not None]
    yield X[order], np.concatenate(labels)[order] if labels else None


def _extend(curve: list[tuple[int, float]], n: int, rolling: float) -> None:
    """One more point; of too many every second goes: the curve stays small on any stream."""
    curve.append((n, rolling))
    if len(curve) > CURVE_POINTS:
        del curve[::2]


def _progress(learner: Learner, score: Prequential, seconds: float) -> str:
    return (
        f"{score.n:,} rows  {score.n / max(seconds, 1e-9):,.0f}/s  "
        f"accuracy {percent(score.accuracy)}, "
        f"last {min(score.n, score.window):,} {percent(score.rolling)}  "
        f"{learner.n_updates_:,} updates  {learner.nbytes:,} B"
    )


def _summary(learner: Learner, score: Prequential, refused: int, seconds: float) -> dict[str, Any]:
    return {
        "learner": repr(learner),
        "bytes": learner.nbytes,
        "n_seen": learner.n_seen_,
        "n_updates": learner.n_updates_,
        "refused": refused,
        "us_per_sample": 1e6 * seconds / max(learner.n_seen_, 1),
        **_given_up(learner),
        **score.summary(),
    }


def _given_up(learner: Learner) -> dict[str, int]:
    """Of the learners that count it: support vectors for which there was no room."""
    inner = learner.learner_ if isinstance(learner, Standardized) else learner
    return {"n_given_up": inner.n_given_up_} if isinstance(inner, RetrainedSVM) else {}


def _closing_words(s: dict[str, Any]) -> str:
    n = min(s["window"], s["predicted"])
    words = (
        f"{s['learner']}, {format_bytes(s['bytes'])}\n"
        f"{s['predicted']:,} rows predicted before they were learned: accuracy "
        f"{percent(s['accuracy'])} (saying the "
        f"larger class: {percent(s['majority'])}), balanced {percent(s['balanced_accuracy'])}; "
        f"first {n:,} {percent(s['first_accuracy'])}, last {n:,} "
        f"{percent(s['rolling_accuracy'])}\n{s['n_updates']:,} moved the model; "
        f"{s['us_per_sample']:.1f} us a row"
    )
    if given_up := s.get("n_given_up"):
        words += f"\n{given_up:,} support vectors given up for want of room"
    if s["refused"]:
        words += f"\n{s['refused']:,} rows refused: a value not finite, or too large"
    if held := s.get("recording"):
        words += (
            f"\n{held['records']:,} records: {held['damaged']:,} damaged, {held['unlabelled']:,} "
            f"without a label, {held['torn_bytes']} bytes torn off the end"
        )
        if held.get("labels"):
            words += (
                f"\n{held['labels']:,} labels came late: {held['label_matched']:,} in time, "
                f"{held['label_expired']:,} too late, {held['label_duplicate']:,} twice, "
                f"{held['label_unknown']:,} for samples that are not there"
            )
    return words
