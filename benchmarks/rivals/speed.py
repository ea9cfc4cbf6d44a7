"""Time and accuracy of edgesvm beside the packages that one would take instead, each figure in one
run on one thread: solvers of a whole problem, one pass over an array, one sample a call.

Solvers: problems of `solvers.py`, tolerance 1e-3, float32 rows for ours and float64 for the
others. Passes: scaled rows, defaults (averaged SGD: hinge); Vowpal Wabbit reads its own
cache file, river a pandas frame. One sample a call:
rows of ijcnn1, river's as dicts and Vowpal Wabbit's as examples, made in advance. Seconds are of
the processor, over all threads, medians of interleaved rounds; accuracy is of rows not learned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import race, timed
from benchmarks.common.data import QUICK, Split, two_classes_of
from benchmarks.common.progress import progress, say
from benchmarks.common.report import Report, Table, publish
from benchmarks.rivals.solvers import CACHE_MIB, Problem, ours, problems, theirs
from edgesvm import AdaGradSVM, BatchSVM, ByteSVM, FourierSVM, Linear, StreamSVM

SETS = ("ijcnn1", "a9a", "mnist_0189")
PACKAGES = {
    "oneDAL (scikit-learn-intelex)": "sklearnex.svm",
    "river": "river.linear_model",
    "Vowpal Wabbit": "vowpalwabbit",
    "ThunderSVM": "thundersvm",
}
ONEDAL, RIVER, VW, THUNDER = PACKAGES
CALLS = 5000
Labels = np.ndarray


def absent() -> dict[str, str]:
    """Packages that do not work here, and why."""
    found = {}
    for name, module in PACKAGES.items():
        try:
            import_module(module)
        except (ImportError, OSError) as error:  # a shared library that is not there: OSError
            found[name] = f"{name}: {error}"
    return found


# -- solvers of a whole problem ----------------------------------------------------------------


def solvers(p: Problem, without: dict[str, str]) -> dict[str, Any]:
    """Unfitted; ours first."""
    found = {"edgesvm BatchSVM": ours(p, 1e-3), "scikit-learn SVC (LIBSVM)": theirs(p, 1e-3)}
    for name in (ONEDAL, THUNDER):
        if name not in without:
            kind = import_module(PACKAGES[name]).SVC
            options = {"cache_size": CACHE_MIB} if name == ONEDAL else {"n_jobs": 1}
            found[name] = kind(C=p.C, gamma=p.gamma, tol=1e-3, **options)
    return found


def of_solvers(p: Problem, rounds: int, without: dict[str, str]) -> Iterator[dict[str, Any]]:
    models = solvers(p, without)
    first = next(iter(models))
    rows = {name: p.X if name == first else p.X.astype(np.float64) for name in models}
    tests = {name: p.X_test.astype(rows[name].dtype) for name in models}
    labels = p.y.astype(int)
    fits = {name: partial(model.fit, rows[name], labels) for name, model in models.items()}
    fit_s = race(rounds, clock=process_time, **fits)
    asks = {name: partial(model.predict, tests[name]) for name, model in models.items()}
    predict_s = race(rounds, clock=process_time, **asks)
    for name, model in models.items():
        yield {
            "set": p.name,
            "rows": f"{len(p.X):,} x {p.X.shape[1]}",
            "system": name,
            "fit_s": fit_s[name],
            "predict_s": predict_s[name],
            "fit_ratio": fit_s[first] / fit_s[name],
            "predict_ratio": predict_s[first] / predict_s[name],
            "accuracy": 100 * float(np.mean(model.predict(tests[name]) == p.y_test)),
        }


# -- the linear kernel -------------------------------------------------------------------------


def of_planes(name: str, split: Split, rounds: int) -> dict[str, Any]:
    """Beside LIBLINEAR with the same C and tolerance, which makes 1,000 passes at most."""
    X, y, X_test, y_test = split
    rows, X_test = X.astype(np.float32), X_test.astype(np.float32)
    pair = {
        "ours": (BatchSVM(kernel=Linear(), max_samples=len(X)), rows, X_test),
        "its": (LinearSVC(loss="hinge", tol=1e-3), X.astype(float), X_test.astype(float)),
    }
    labels = y.astype(int)
    with catch_warnings():
        simplefilter("ignore")
        fit_s = race(
            rounds,
            clock=process_time,
            **{who: partial(model.fit, given, labels) for who, (model, given, _) in pair.items()},
        )
    predict_s = race(
        rounds,
        clock=process_time,
        **{who: partial(model.predict, asked) for who, (model, _, asked) in pair.items()},
    )
    found: dict[str, Any] = {"set": name, "rows": f"{len(X):,} x {X.shape[1]}"}
    for who, (model, _, asked) in pair.items():
        hits = model.predict(asked) == y_test
        found[who] = fit_s[who], predict_s[who], 100 * float(np.mean(hits))
    return found


# -- one pass over an array ---------------------------------------------------------------------


class Wabbit:
    """Vowpal Wabbit with hinge loss, one pass over a cache file."""

    def __init__(self, X: np.ndarray, y: Labels, folder: Path) -> None:
        text = folder / "rows.txt"
        text.write_text("\n".join(map(example, X.tolist(), y.tolist())) + "\n")
        self.options = f"--loss_function hinge --quiet -d {text} --cache_file {folder / 'cache'}"
        self.fit()  # it writes the cache

    def fit(self, X: Any = None, y: Any = None) -> None:
        from vowpalwabbit import Workspace

        self.model = Workspace(self.options)

    def predict(self, X: np.ndarray) -> Labels:
        return np.array([self.model.predict(example(x)) > 0 for x in X.tolist()])


def example(x: list[float], label: bool | None = None) -> str:
    """A line of Vowpal Wabbit's format."""
    head = "" if label is None else "1 " if label else "-1 "
    return head + "| " + " ".join(f"{k}:{value:.6g}" for k, value in enumerate(x) if value)


class River:
    """river's passive-aggressive or logistic learner over a frame of pandas."""

    def __init__(self, X: np.ndarray, y: Labels) -> None:
        import pandas as pd

        self.frame, self.labels = pd.DataFrame(X), pd.Series(y)
        self.frame_of = pd.DataFrame

    def fit(self, X: Any = None, y: Any = None) -> None:
        from river.linear_model import LogisticRegression

        self.model = LogisticRegression()
        for begin in range(0, len(self.frame), 100):
            rows = slice(begin, begin + 100)
            self.model.learn_many(self.frame.iloc[rows], self.labels.iloc[rows])

    def predict(self, X: np.ndarray) -> Labels:
        return self.model.predict_many(self.frame_of(X)).to_numpy()


class OnePass:
    """A learner whose `partial_fit` sees every row once."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def fit(self, X: np.ndarray, y: Labels) -> None:
        self.model = self.make().partial_fit(X, y, classes=[False, True])

    def predict(self, X: np.ndarray) -> Labels:
        return self.model.predict(X)


def sgd() -> SGDClassifier:
    return SGDClassifier(average=True, shuffle=False, random_state=0)


def passes(X: np.ndarray, y: Labels, folder: Path, without: dict[str, str]) -> dict[str, Any]:
    """By name, unfitted; those of other packages after ours."""
    found: dict[str, Any] = {
        "edgesvm StreamSVM": OnePass(StreamSVM),
        "edgesvm AdaGradSVM": OnePass(AdaGradSVM),
        "edgesvm ByteSVM, 4 KiB": OnePass(ByteSVM),
        "edgesvm FourierSVM": OnePass(FourierSVM),
        "scikit-learn averaged SGD": OnePass(sgd),
    }
    if VW not in without:
        found[VW] = Wabbit(X, y, folder)
    if RIVER not in without:
        found["river LogisticRegression, 100 rows at once"] = River(X, y)
    return found


def of_passes(
    name: str, split: Split, rounds: int, without: dict[str, str]
) -> Iterator[dict[str, Any]]:
    X, y, X_test, y_test = split
    X, X_test = X.astype(np.float32), X_test.astype(np.float32)
    w, out = np.ones(X.shape[1], np.float32), np.empty(len(X), np.float32)
    with TemporaryDirectory() as folder:
        models = passes(X, y, Path(folder), without)
        runs: dict[str, Callable[[], object]] = {"X @ w": partial(np.dot, X, w, out=out)}
        runs |= {who: partial(model.fit, X, y) for who, model in models.items()}
        seconds = race(rounds, clock=process_time, **runs)
        for who, second in seconds.items():
            hits = models[who].predict(X_test) == y_test if who in models else None
            yield {
                "set": name,
                "rows": f"{len(X):,} x {X.shape[1]}",
                "system": who,
                "ns_a_row": 1e9 * second / len(X),
                "ratio": second / seconds["edgesvm StreamSVM"],
                "accuracy": None if hits is None else 100 * float(np.mean(hits)),
            }


# -- one sample a call ---------------------------------------------------------------------------


def callers(X: np.ndarray, y: Labels, without: dict[str, str]) -> dict[str, tuple[Any, ...]]:
    """By name: rows in the system's own form, what learns one, what predicts one."""
    labels = y.tolist()
    found: dict[str, tuple[Any, ...]] = {}
    for learner in (StreamSVM(), AdaGradSVM(), ByteSVM(), FourierSVM()):
        learner.allocate(X.shape[1], classes=[False, True])
        name = f"edgesvm {type(learner).__name__}"
        found[name] = list(X), labels, learner.learn_one, learner.predict_one
    w = np.ones(X.shape[1], X.dtype)
    found["w.dot(x), NumPy"] = list(X), labels, lambda x, _: w.dot(x), w.dot
    model = sgd().partial_fit(X[:2], [False, True], classes=[False, True])
    rows = [x[None] for x in X]
    found["scikit-learn averaged SGD"] = (
        rows,
        labels,
        lambda x, label: model.partial_fit(x, [label]),
        model.predict,
    )
    if RIVER not in without:
        from river import linear_model

        dicts = [dict(enumerate(x)) for x in X.tolist()]
        for kind in (linear_model.LogisticRegression, linear_model.PAClassifier):
            one = kind()
            found[f"river {kind.__name__}"] = dicts, labels, one.learn_one, one.predict_one
    if VW not in without:
        from vowpalwabbit import Workspace

        vw = Workspace("--loss_function hinge --quiet")
        made = [vw.parse(example(x, label)) for x, label in zip(X.tolist(), labels, strict=True)]
        found[VW] = made, labels, lambda x, _: vw.learn(x), vw.predict
    return found


def of_calls(X: np.ndarray, y: Labels, rounds: int, without: dict[str, str]) -> list[Any]:
    parts = callers(X.astype(np.float32), y, without)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in parts}
    for k in range(rounds):
        progress(f"one sample a call: round {k + 1}/{rounds}")
        for name, (rows, labels, learn, predict) in parts.items():
            learned = timed(lambda f=learn, r=rows, s=labels: all_of(map(f, r, s)), process_time)
            asked = timed(lambda f=predict, r=rows: all_of(map(f, r)), process_time)
            times[name].append((learned, asked))
    medians = {name: tuple(map(median, zip(*t, strict=True))) for name, t in times.items()}
    floor = medians["w.dot(x), NumPy"]
    return [
        {
            "system": name,
            "learn_ns": 1e9 * learned / len(X),
            "predict_ns": 1e9 * asked / len(X),
            "learn_ratio": learned / floor[0],
            "predict_ratio": asked / floor[1],
        }
        for name, (learned, asked) in medians.items()
    ]


def all_of(items: Iterator[object]) -> None:
    for _ in items:
        pass


# -- the report ----------------------------------------------------------------------------------


def tables(figures: dict[str, list[dict[str, Any]]]) -> list[Table]:
    def accuracy(value: float | None) -> str:
        return "" if value is None else f"{value:.2f}"

    solved = [
        [
            f["set"],
            f["rows"],
            f["system"],
            f"{f['fit_s']:.3f}",
            f"{f['fit_ratio']:.2f}",
            f"{f['predict_s']:.3f}",
            f"{f['predict_ratio']:.2f}",
            accuracy(f["accuracy"]),
        ]
        for f in figures["solvers"]
    ]
    passed = [
        [
            f["set"],
            f["rows"],
            f["system"],
            f"{f['ns_a_row']:,.0f}",
            f"{f['ratio']:.2f}",
            accuracy(f["accuracy"]),
        ]
        for f in figures["passes"]
    ]
    called = [
        [
            f["system"],
            f"{f['learn_ns']:,.0f}",
            f"{f['learn_ratio']:.2f}",
            f"{f['predict_ns']:,.0f}",
            f"{f['predict_ratio']:.2f}",
        ]
        for f in figures["calls"]
    ]
    planes = [
        [
            f["set"],
            f["rows"],
            *(f"{f['ours'][k]:.3f}" for k in (0, 1)),
            *(f"{f['ours'][k] / f['its'][k]:.2f}" for k in (0, 1)),
            *(f"{f[who][2]:.2f}" for who in ("ours", "its")),
        ]
        for f in figures["planes"]
    ]
    plane_head = ["data", "rows", "fit, s", "predict, s", "fit / its", "predict / its"]
    head = ["data", "rows", "system"]
    solver_head = ["fit, s", "ours / it", "predict, s", "ours / it", "accuracy %"]
    call_head = ["system", "learn, ns", "times w.dot(x)", "predict, ns", "times w.dot(x)"]
    return [
        Table("A whole problem, RBF kernel", [*head, *solver_head], solved),
        Table("Linear, of LIBLINEAR's time", [*plane_head, "accuracy %", "its"], planes),
        Table("One pass", [*head, "ns a row", "times StreamSVM", "accuracy %"], passed),
        Table("One sample a call", call_head, called),
    ]


def main() -> None:
    args = parsed(arguments(__doc__, rounds=5))
    rounds = 2 if args.quick else args.rounds
    without = absent()
    with suppress(ImportError):
        import_module("daal4py").daalinit(1)
    skipped = list(without.values())
    splits: dict[str, Split] = {}
    for name in [QUICK.name] if args.quick else SETS:
        try:
            split = QUICK.split(0) if args.quick else two_classes_of(name, np.random.default_rng(0))
            splits[name] = split
        except FileNotFoundError as error:
            skipped.append(str(error))
    figures: dict[str, list[Any]] = {"solvers": [], "planes": [], "passes": [], "calls": []}
    for p in problems(args.quick):
        say(f"solvers: {p.name}")
        figures["solvers"] += of_solvers(p, rounds, without)
    for name, split in splits.items():
        say(f"passes: {name}")
        figures["planes"].append(of_planes(name, split, rounds))
        figures["passes"] += of_passes(name, split, rounds, without)
    for X, y, *_ in list(splits.values())[:1]:
        figures["calls"] += of_calls(X[:CALLS], y[:CALLS], rounds, without)
    title = "Speed beside other packages"
    about = [(__doc__ or "").strip()]
    publish(Report("rivals/speed", title, tables(figures), about, figures, skipped), args.out)


if __name__ == "__main__":
    main()
