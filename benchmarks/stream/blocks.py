"""What a row of a batch costs beside one NumPy product over the same bytes: StreamSVM, which looks
at four rows together while the ball stands still, learners built on it, and gradient steps.

`--before FILE` puts the figures of an earlier run of this study, its JSON, beside those of this.
The hash of the arena says that both have learned the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import timed
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.stream.speed import DTYPES, separable
from edgesvm import AdaGradSVM, FourierSVM, OneVsOne, OneVsRest, Standardized, StreamSVM
from edgesvm.learner import Learner

WIDTHS = (8, 20, 100, 784)
NUMBERS = 4_000_000  # of an array at most: it should fit a cache of 32 MB
N_CLASSES = 5
WORDS = np.array(["good", "bad"])

Entries = dict[str, Callable[[], object]]


def learners(dtype: str) -> dict[str, Learner]:
    return {
        "StreamSVM": StreamSVM(dtype=dtype),
        "StreamSVM, no mean": StreamSVM(dtype=dtype, average=False),
        "Standardized": Standardized(learner=StreamSVM(dtype=dtype)),
        "AdaGradSVM": AdaGradSVM(dtype=dtype),
        "FourierSVM": FourierSVM(dtype=dtype),
        f"OneVsRest, {N_CLASSES} classes": OneVsRest(
            learner=StreamSVM(dtype=dtype), n_classes=N_CLASSES
        ),
        f"OneVsOne, {N_CLASSES} classes": OneVsOne(
            learner=StreamSVM(dtype=dtype), n_classes=N_CLASSES
        ),
    }


def entries_of(name: str, learner: Learner, X: np.ndarray, y: np.ndarray) -> Entries:
    """What is timed of a learner that has learned the rows twice: from then on few rows move it."""
    settled = learner.partial_fit(X, y).partial_fit(X, y)
    entries: Entries = {
        f"{name}: partial_fit, settled": lambda: settled.partial_fit(X, y),
        f"{name}: decision_function": lambda: settled.decision_function(X),
        f"{name}: predict": lambda: settled.predict(X),
    }
    return entries


def measured(width: int, dtype: str, most: int, rounds: int) -> list[dict[str, Any]]:
    n = min(most, NUMBERS // width)
    X, y = separable(n, width, dtype)
    X_test, y_test = separable(5_000, width, dtype, seed=1)
    normals = np.random.default_rng(2).standard_normal((width, N_CLASSES)).astype(dtype)
    w, out = np.ones(width, dtype), np.empty(n, dtype)
    entries: Entries = {"X @ w": lambda: np.dot(X, w, out=out)}
    first, words = (StreamSVM(dtype=dtype).partial_fit(X, labels) for labels in (y, WORDS[y]))
    entries["StreamSVM: partial_fit from nothing"] = lambda: first.reset().partial_fit(X, y)
    entries["StreamSVM: partial_fit from nothing, text labels"] = lambda: words.reset().partial_fit(
        X, WORDS[y]
    )
    facts: dict[str, dict[str, Any]] = {}
    for name, learner in learners(dtype).items():
        many = "classes" in name
        labels, test = (
            ((X @ normals).argmax(1), (X_test @ normals).argmax(1)) if many else (y, y_test)
        )
        entries |= entries_of(name, learner, X, labels)
        facts[name] = {
            "accuracy": 100 * learner.score(X_test, test),
            "hash": hashlib.sha256(bytes(learner.arena)).hexdigest()[:12],
            "updates": learner.n_updates_,
        }
    progress(f"{n} x {width} {dtype}")
    seconds = fastest(rounds, entries)
    return [
        {
            "rows": n,
            "features": width,
            "dtype": dtype,
            "what": what,
            "ns": 1e9 * time / n,
            "ratio": time / seconds["X @ w"],
        }
        | (facts[what.split(":")[0]] if what.endswith("settled") else {})
        for what, time in seconds.items()
    ]


def fastest(rounds: int, entries: Entries) -> dict[str, float]:
    """Least seconds of each, all run once in every round."""
    times = [{what: timed(run) for what, run in entries.items()} for _ in range(rounds)]
    return {what: min(time[what] for time in times) for what in entries}


def key(f: dict[str, Any]) -> tuple[Any, ...]:
    return f["features"], f["dtype"], f["what"]


def row(f: dict[str, Any], before: dict[tuple[Any, ...], dict[str, Any]]) -> list[str]:
    old = before.get(key(f))
    return [
        f"{f['rows']:,} x {f['features']} {f['dtype']}",
        f["what"],
        "" if old is None else f"{old['ns']:.1f}",
        f"{f['ns']:.1f}",
        "" if old is None else f"{old['ratio']:.2f}",
        f"{f['ratio']:.2f}",
        f"{f['accuracy']:.2f}" if "accuracy" in f else "",
        "" if "hash" not in f else ("same" if old and old["hash"] == f["hash"] else f["hash"]),
    ]


COLUMNS = ["rows x features, dtype", "what", "ns a row before", "ns a row"]
COLUMNS += ["times X @ w before", "times X @ w", "accuracy %", "arena"]


def main() -> None:
    parser = arguments(__doc__, rounds=21)
    parser.add_argument("--rows", type=int, default=40_000, help="of an array at most (40,000)")
    parser.add_argument("--before", type=Path, help="the JSON of an earlier run")
    args = parsed(parser)
    if args.quick:
        args.rounds, args.rows = 2, 2_000
    figures = [
        figure
        for width in WIDTHS
        for dtype in DTYPES
        for figure in measured(width, dtype, args.rows, args.rounds)
    ]
    old = json.loads(args.before.read_text())["figures"]["rows"] if args.before else []
    before = {key(f): f for f in old}
    about = [
        f"The least of {args.rounds} interleaved rounds, since the machine had other work; before "
        "and after are two runs, one after the other. Settled: the "
        "learner has learned the same rows twice, so few move it. The hash is of the arena after "
        "that, before the timed rounds.",
        "Does not show: rows from memory that is slower than a cache, other processors.",
    ]
    table = Table("A row of a batch", COLUMNS, [row(f, before) for f in figures])
    report = Report(
        "stream/blocks", "Rows in blocks", [table], about, {"rows": figures, "before": old}
    )
    publish(report, args.out)


if __name__ == "__main__":
    main()
