"""``edgesvm eval --regress --ahead N``: forecast the target of N rows later, row by row."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import deque
from typing import Any

from edgesvm.budget import format_bytes
from edgesvm.cli import score_words
from edgesvm.cli.learner_options import LearnerSettings, check_regress, season_of_day
from edgesvm.cli.status import StatusLine
from edgesvm.data.rows import RowSource
from edgesvm.evaluation import CHUNK_ROWS
from edgesvm.regression import score_of
from edgesvm.series.forecaster import UNKNOWN, Forecaster

OTHERS = ("shuffle", "plot", "label_delay", "window")  # options that have no meaning here


def evaluate(options: argparse.Namespace, rows: Any) -> int:
    """Forecast and learn every row; a status line and a report. Returns the exit code."""
    if not options.regress:
        raise ValueError(f"--ahead {options.ahead} is for targets: give --regress")
    check_regress(options)
    for name in OTHERS:
        if getattr(options, name):
            raise ValueError(f"--{name.replace('_', '-')} does not go with --ahead: leave it out")
    model = _model(options, rows, LearnerSettings.of(options))
    season = options.season or season_of_day(rows.period_us)
    score = score_of(model.learner_, options.last, season, ahead=options.ahead)
    status, started = StatusLine(quiet=options.json), time.perf_counter()
    waiting = deque([UNKNOWN] * options.ahead)
    try:
        for x, y in _pairs(rows, options.samples):
            said = waiting.popleft()
            if not math.isnan(y) and not math.isnan(said[0]):
                score.add(y, said)
            waiting.append(model.push(x, y))
            status.show(lambda: f"{model.n_seen_:,} rows  {score_words.brief(score)}")
    finally:
        status.end()
    seconds = time.perf_counter() - started
    if options.save:
        model.save(options.save)
    summary = {
        "learner": repr(model),
        "bytes": model.nbytes,
        "n_seen": model.n_seen_,
        "us_per_sample": 1e6 * seconds / max(model.n_seen_, 1),
        **score.summary(),
    }
    print(json.dumps(summary) if options.json else words(summary))
    return 0


def _model(options: argparse.Namespace, rows: Any, asked: LearnerSettings) -> Forecaster:
    if not rows.targets:
        raise ValueError(f"{options.file} holds classes: there is nothing to forecast")
    learner, _ = asked.requested(rows.n_classes)
    season = options.season or 0
    whole = Forecaster(learner=learner, ahead=options.ahead, season=season)
    return whole.fitted_into(asked.memory, rows.n_features).allocate(rows.n_features)


def _pairs(rows: RowSource, most: int | None) -> Any:
    """Each row with its target, NaN if it has none."""
    n = 0
    for chunk in rows.chunks(CHUNK_ROWS):
        targets = [math.nan] * len(chunk.X) if chunk.y is None else chunk.y.tolist()
        for x, y in zip(chunk.X, targets, strict=True):
            if n == most:
                return
            yield x, math.nan if y is None else float(y)
            n += 1


def words(s: dict[str, Any]) -> str:
    """`summary` as text."""
    n = min(s["window"], s["predicted"])
    return (
        f"{s['learner']}, {format_bytes(s['bytes'])}\n"
        f"{s['predicted']:,} targets forecast {s['ahead']:,} rows ahead: {score_words.scored(s)}; "
        f"last {n:,} {score_words.rolling(s)}\n"
        f"{s['us_per_sample']:.1f} us per row"
    )
