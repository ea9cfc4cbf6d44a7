"""``edgesvm eval``: test-then-train over the rows of a file."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from edgesvm.budget import format_bytes
from edgesvm.cli import learner_options
from edgesvm.cli.status import StatusLine, percent
from edgesvm.evaluation import Prequential
from edgesvm.learner import Learner
from edgesvm.rows import RowSource, open_rows

HELP = """\
Test-then-train over the rows of a CSV or npz file, in their order: each row is predicted, then learned.

  edgesvm eval room.csv --label-column Occupancy --drop-column date
  edgesvm eval digits.npz --positive 8 --learner kernel-stream --memory 64KiB --plot accuracy.png
"""
BLOCK = 256
CURVE_POINTS = 400


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "eval",
        help="test-then-train over a file",
        description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("file", metavar="FILE", help=".csv, or .npz with X and y")
    command.add_argument("--label-column", metavar="NAME", help="of a CSV; default: label, class, target, y, or the last")
    command.add_argument("--drop-column", metavar="NAME", action="append", default=[], help="of a CSV: no feature")
    command.add_argument("--positive", type=int, metavar="LABEL", help="this label against all others")
    command.add_argument("--shuffle", type=int, metavar="SEED", help="rows in random order (reads the whole file first)")
    command.add_argument("--samples", type=int, metavar="N", help="end after so many")
    command.add_argument("--window", type=int, default=1000, metavar="N", help="rows of the rolling accuracy")
    command.add_argument("--save", metavar="FILE", help="write a snapshot at the end")
    command.add_argument("--plot", metavar="PNG", help="draw the rolling accuracy (needs matplotlib)")
    command.add_argument("--json", action="store_true", help="one JSON line")
    learner_options.add_to(command)
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    if options.plot:
        from edgesvm.cli import figures  # says at once that matplotlib is missing
    rows = open_rows(options.file, label_column=options.label_column, drop_columns=tuple(options.drop_column))
    learner = learner_options.build(options, rows.n_features).allocate(rows.n_features)
    score = Prequential(options.window)
    status = StatusLine(quiet=options.json)
    curve: list[tuple[int, float]] = []
    started = time.perf_counter()
    try:
        for x, label in _samples(options, rows):
            if score.n or learner.is_fitted:
                score.add(label, learner.predict_one(x))
            learner.learn_one(x, label)
            if options.plot and score.n and score.n % 50 == 0:
                _extend(curve, score.n, score.rolling or 0.0)
            status.show(lambda: _progress(learner, score, time.perf_counter() - started))
    finally:
        status.end()
    summary = _summary(learner, score, time.perf_counter() - started)
    if options.save:
        learner.save(options.save)
    if options.plot:
        figures.accuracy(curve, options.plot, title=f"{options.file}: {learner!r}")
    print(json.dumps(summary) if options.json else _closing_words(summary))
    return 0


def _samples(options: argparse.Namespace, rows: RowSource) -> Iterator[tuple[np.ndarray, int]]:
    n = 0
    for X, y in _blocks(options, rows):
        if y is None:
            raise ValueError(f"{options.file} has no labels: there is nothing to learn")
        labels = y if options.positive is None else (y == options.positive).astype(np.int32)
        for x, label in zip(X, labels.tolist(), strict=True):
            if n == options.samples:
                return
            yield x, label
            n += 1
    if n == 0:
        raise ValueError(f"{options.file} has no rows")


def _blocks(options: argparse.Namespace, rows: RowSource) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    blocks = iter(lambda: rows.next_block(BLOCK), None)
    dtype = np.dtype(options.dtype)
    if options.shuffle is None:
        for X, y in blocks:
            if not len(X):
                return
            yield X.astype(dtype, copy=False), y
        return
    whole = []
    for X, y in blocks:
        if not len(X):
            break
        whole.append((X, y))
    X = np.concatenate([X for X, _ in whole]).astype(dtype)
    order = np.random.default_rng(options.shuffle).permutation(len(X))
    yield X[order], None if whole[0][1] is None else np.concatenate([y for _, y in whole])[order]


def _extend(curve: list[tuple[int, float]], n: int, rolling: float) -> None:
    """One more point; when there are too many every second goes, so that the curve stays small on any stream."""
    curve.append((n, rolling))
    if len(curve) > CURVE_POINTS:
        del curve[::2]


def _progress(learner: Learner, score: Prequential, seconds: float) -> str:
    return (
        f"{score.n:,} rows  {score.n / max(seconds, 1e-9):,.0f}/s  "
        f"accuracy {percent(score.accuracy)}, last {len(score._hits):,} {percent(score.rolling)}  "
        f"{learner.n_updates_:,} updates  {learner.nbytes:,} B"
    )


def _summary(learner: Learner, score: Prequential, seconds: float) -> dict[str, Any]:
    return {
        "learner": repr(learner),
        "bytes": learner.nbytes,
        "n_updates": learner.n_updates_,
        "us_per_sample": 1e6 * seconds / max(learner.n_seen_, 1),
        **score.summary(),
    }


def _closing_words(s: dict[str, Any]) -> str:
    return (
        f"{s['learner']}, {format_bytes(s['bytes'])}\n"
        f"{s['predicted']:,} rows predicted before they were learned: accuracy {percent(s['accuracy'])}, balanced "
        f"{percent(s['balanced_accuracy'])}; first {s['window']:,} {percent(s['first_accuracy'])}, last {s['window']:,} "
        f"{percent(s['rolling_accuracy'])}\n{s['n_updates']:,} moved the model; {s['us_per_sample']:.1f} us a row"
    )
