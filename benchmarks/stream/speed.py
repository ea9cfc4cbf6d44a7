"""Speed of StreamSVM beside one NumPy product over the same bytes, and the accuracy that the speed
buys.

Every ratio is of medians over interleaved rounds in one run on one thread. The rows are labelled by
a random hyperplane and pushed away from it, so a linear learner can be right on all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import race
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import StreamSVM

DTYPES = ("float64", "float32")
WIDTHS = (20, 100, 784)
MARGIN = 1.0  # of the hyperplane's unit normal; a feature's deviation is 1
CALLS = 20_000  # samples a timed round of the one-at-a-time figures
SETTINGS: dict[str, dict[str, Any]] = {
    "averaged, one ball": {},
    "lower, one ball": {"average": False},
    "upper, one ball": {"bound": "upper", "average": False},
    "averaged, lookahead 32": {"lookahead": 32},
    "upper, lookahead 32": {"bound": "upper", "average": False, "lookahead": 32},
    "upper, 8 balls": {"bound": "upper", "average": False, "n_balls": 8},
    "averaged, one ball, rows as they are": {"normalize": False, "fit_intercept": False},
}


def separable(n: int, width: int, dtype: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, width) and labels 0/1, every row at least MARGIN from the hyperplane."""
    rng = np.random.default_rng(seed)
    normal = np.random.default_rng(width).standard_normal(width)
    normal /= np.linalg.norm(normal)
    X = rng.standard_normal((n, width))
    side = np.where(X @ normal > 0, 1.0, -1.0)
    X += np.outer(MARGIN * side, normal)
    return X.astype(dtype), (side > 0).astype(np.int64)


def fresh(width: int, dtype: str, params: dict[str, Any]) -> StreamSVM:
    return StreamSVM(dtype=dtype, **params).allocate(width, classes=[0, 1])


def whole_arrays(n_rows: int, rounds: int) -> list[dict[str, Any]]:
    """partial_fit from nothing, and decision_function, beside X @ w."""
    figures = []
    for width in WIDTHS:
        for dtype in DTYPES:
            n = min(n_rows, 100_000 * 200 // width)
            X, y = separable(n, width, dtype)
            X_test, y_test = separable(10_000, width, dtype, seed=1)
            w = np.ones(width, dtype)
            out, decisions = np.empty(n, dtype), np.empty(n)
            models = {name: fresh(width, dtype, params) for name, params in SETTINGS.items()}
            entries: dict[str, Callable[[], object]] = {
                "X @ w": lambda X=X, w=w, out=out: np.dot(X, w, out=out)
            }
            for name, model in models.items():
                entries[name] = lambda model=model, X=X, y=y: model.reset().partial_fit(X, y)
            for name in ("averaged, one ball", "lower, one ball"):
                one = fresh(width, dtype, SETTINGS[name]).partial_fit(X, y)
                entries[f"decision_function: {name}"] = lambda one=one, X=X, out=decisions: (
                    one.decision_function(X, out=out)
                )
            progress(f"{n} x {width} {dtype}")
            seconds = race(rounds, **entries)
            for name, time in seconds.items():
                model = models.get(name)
                figures.append(
                    {
                        "rows": n,
                        "features": width,
                        "dtype": dtype,
                        "what": f"partial_fit: {name}" if model else name,
                        "ms": 1e3 * time,
                        "ns_a_sample": 1e9 * time / n,
                        "ratio": time / seconds["X @ w"],
                        "updates": model.n_updates_ if model else None,
                        "accuracy": 100 * model.score(X_test, y_test) if model else None,
                        "bytes": model.nbytes if model else None,
                    }
                )
    return figures


def one_at_a_time(rounds: int, n_calls: int, width: int = 100) -> list[dict[str, Any]]:
    """learn_one and predict_one on a learner that has seen the stream, beside w.dot(x); one Python
    call each.
    """
    figures = []
    for dtype in DTYPES:
        X, y = separable(100_000, width, dtype)
        rows, labels = [row.copy() for row in X[:n_calls]], y[:n_calls].tolist()
        w = np.ones(width, dtype)
        models = {
            name: fresh(width, dtype, params).partial_fit(X, y) for name, params in SETTINGS.items()
        }
        predictor = models["averaged, one ball"]

        def dots(w=w, rows=rows) -> None:
            dot = w.dot
            for x in rows:
                dot(x)

        def predictions(model=predictor, rows=rows) -> None:
            predict_one = model.predict_one
            for x in rows:
                predict_one(x)

        def lessons(model, rows=rows, labels=labels) -> None:
            learn_one = model.learn_one
            for x, label in zip(rows, labels, strict=True):
                learn_one(x, label)

        entries: dict[str, Callable[[], object]] = {"w.dot(x)": dots, "predict_one": predictions}
        for name, model in models.items():
            entries[f"learn_one: {name}"] = lambda model=model, lessons=lessons: lessons(model)
        seconds = race(rounds, **entries)
        for name, time in seconds.items():
            figures.append(
                {
                    "dtype": dtype,
                    "what": name,
                    "ns": 1e9 * time / n_calls,
                    "ratio": time / seconds["w.dot(x)"],
                }
            )
    return figures


ARRAYS = ["rows x features, dtype", "what", "ms", "ns a sample", "times X @ w", "updates"]
ARRAYS += ["accuracy %", "bytes"]
CALLS_COLUMNS = ["what", "dtype", "ns a call", "times w.dot(x)"]


def array_row(f: dict[str, Any]) -> list[str]:
    return [
        f"{f['rows']:,} x {f['features']} {f['dtype']}",
        f["what"],
        f"{f['ms']:.2f}",
        f"{f['ns_a_sample']:.1f}",
        f"{f['ratio']:.2f}",
        "" if f["updates"] is None else f"{f['updates']:,}",
        "" if f["accuracy"] is None else f"{f['accuracy']:.2f}",
        "" if f["bytes"] is None else f"{f['bytes']:,}",
    ]


def call_row(f: dict[str, Any]) -> list[str]:
    return [f["what"], f["dtype"], f"{f['ns']:.0f}", f"{f['ratio']:.2f}"]


def main() -> None:
    parser = arguments(__doc__, rounds=15)
    parser.add_argument("--rows", type=int, default=100_000, help="of the arrays (100,000)")
    args = parsed(parser)
    if args.quick:
        args.rounds, args.rows = 2, 2_000
    arrays = whole_arrays(args.rows, args.rounds)
    calls = one_at_a_time(args.rounds, min(CALLS, args.rows))
    about = [
        f"Medians of {args.rounds} interleaved rounds. Accuracy is of 10,000 other rows, all at "
        f"least {MARGIN:g} from the hyperplane (features of deviation 1); C = 1 and the defaults: "
        "constant feature, unit norm.",
        "Does not show: samples outside the ball one at a time, cold caches, other processors.",
    ]
    tables = [
        Table("Whole arrays, each learned from nothing", ARRAYS, [array_row(f) for f in arrays]),
        Table(
            "One sample a call, 100 features, after 100,000 samples",
            CALLS_COLUMNS,
            [call_row(f) for f in calls],
        ),
    ]
    figures = {"arrays": arrays, "calls": calls}
    publish(Report("stream/speed", "Speed of StreamSVM", tables, about, figures), args.out)


if __name__ == "__main__":
    main()
