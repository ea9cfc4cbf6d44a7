"""A sensor that drops out: % right 1,000 clean rows later, beside the model that never saw those
rows. The feature is the one that tells most of the label."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import all_rows, left_out, two_classes
from benchmarks.common.report import Report, Table, publish
from edgesvm import ByteSVM, FourierSVM, Standardized, StreamSVM
from edgesvm.data import Checkerboard

VALUES = (-127.0, 85.0, 0.0, -1.0, 32767.0, 65535.0, 1e18, "mean")
RUNS, SHARES = (1, 60, 600), (0.001, 0.01, 0.03)
SETS, N, AFTER = ("banana", "occupancy", "pendigits", "elec2"), 5000, 1000
LEARNERS: dict[str, Any] = {"ByteSVM": ByteSVM}
LEARNERS |= {k.__name__: partial(Standardized, learner=k()) for k in (FourierSVM, StreamSVM)}


def rows_of(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    drawn = name == "checkerboard"
    X, y = Checkerboard(seed=seed).read(12_000) if drawn else all_rows(name)
    X = X * 1.7 + 20 if drawn else X
    order = np.random.default_rng(seed).permutation(len(X))[:12_000]
    return X[order].astype(np.float32), two_classes(y[order])


def right(make: Any, X: np.ndarray, y: np.ndarray, value: Any, extent: float) -> float:
    """% right after `extent` rows with the value, or that share of the rows; 0: none"""
    n, held = min(N, len(X) // 2), 600
    j = int(np.argmax([abs(np.corrcoef(x, y[:n])[0, 1]) if x.std() else 0.0 for x in X[:n].T]))
    F, after = X.copy(), slice(n + held, n + held + AFTER)
    drawn = np.random.default_rng(0).random(n) < (extent if extent < 1 else 0.0)
    drawn[:100] = False  # before there is a scale nothing says which value is far out
    bad = np.r_[drawn, np.full(len(X) - n, extent >= 1)]
    F[bad, j] = X[:n, j].mean() if value == "mean" else value
    learner = make().partial_fit(F[:n], y[:n])
    if extent >= 1:
        learner.partial_fit(F[n : n + int(extent)], y[n : n + int(extent)])
    learner.partial_fit(X[after], y[after])
    return 100 * float((learner.predict(X[after.stop :]) == y[after.stop :]).mean())


def main() -> None:
    args = parsed(arguments(__doc__, orders=4))
    found, rows, skipped = {}, [], left_out(SETS, args.quick)
    faults = [(v, e) for v in VALUES for e in (*RUNS, *SHARES) if v != "mean" or e >= 1]
    for name in ("checkerboard", *(s for s in SETS if not any(s in line for line in skipped))):
        for kind, make in LEARNERS.items():
            of: dict[str, float] = dict.fromkeys(["clean", *(f"{v} {e}" for v, e in faults)], 0.0)
            for X, y in (rows_of(name, seed) for seed in range(args.orders)):
                for fault, (value, extent) in zip(of, [(0.0, 0), *faults], strict=True):
                    of[fault] += right(make, X, y, value, extent) / args.orders
            found[f"{name}, {kind}"] = dict(of)
            clean, worst = of.pop("clean"), min(of, key=of.__getitem__)
            change = f"{np.mean(list(of.values())) - clean:+.2f}"
            rows.append([name, kind, f"{clean:.1f}", change, f"{of[worst] - clean:+.1f}", worst])
    title = "% right without the rows, and the change with them: mean and worst"
    table = Table(title, ["set", "learner", "clean", "mean", "worst", "of"], rows)
    about = [f"{N:,} rows; runs of {RUNS} rows, shares {SHARES} of those after the first 100."]
    publish(Report("drift/dropout", "Dropouts", [table], about, found, skipped), args.out)


if __name__ == "__main__":
    main()
