"""What every learner costs beside a floor: what NumPy, or LIBSVM, takes for the same rows in the
same rounds.

`--before FILE` puts the figures of an earlier build beside those of this one: the JSON of a run of
this study where that build is installed, with `--build` and its commit.

Floors. Planes: `X @ w`, or `X @ W` with a column a class. Learners that store vectors: the RBF
kernel of the rows with as many vectors, by `X @ V.T`, `exp` and a product with the coefficients,
where 4 MB of the kernel are made at a time. FourierSVM: `cos(X @ V.T + b) @ w`. Solvers of a whole
problem: scikit-learn's SVC with the same C, kernel and tolerance, its `fit` and its `predict`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.batch.libsvm import CACHE_MIB, PROBLEMS, Problem, ours, theirs
from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import race
from benchmarks.common.data import QUICK, Split, missing, read, standardised
from benchmarks.common.every import load
from benchmarks.common.report import Report, Table, publish
from edgesvm import (
    LASVM,
    RBF,
    AdaGradSVM,
    BallVectorMachine,
    CoreVectorMachine,
    Forgetron,
    FourierSVM,
    IncrementalDecrementalSVM,
    KernelPerceptron,
    KernelStreamSVM,
    OneVsRest,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    Standardized,
    StreamSVM,
    TwinDictionarySVM,
    TwinVectorMachine,
)

PLANES = ("ijcnn1", "a9a", "mnist_0189")
STORES, CLASSES, SOLVED = "ijcnn1", "pendigits", ("ijcnn1", "a9a")
N_VECTORS, N_DIRECTIONS = 100, 128
AT_ONCE = 1_000_000  # kernel values of the floor made at a time

Runs = dict[str, Callable[[], object]]


def planes() -> dict[str, Any]:
    return {
        "StreamSVM": StreamSVM(),
        "StreamSVM, no mean": StreamSVM(average=False),
        "Standardized(StreamSVM)": Standardized(learner=StreamSVM()),
        "AdaGradSVM": AdaGradSVM(),
        "PassiveAggressive": PassiveAggressive(),
        "Pegasos": Pegasos(),
        "Perceptron": Perceptron(),
    }


def stores(n_features: int) -> dict[str, Any]:
    """With room for `N_VECTORS` vectors each."""
    kernel, m = RBF(1 / n_features), N_VECTORS
    return {
        "KernelStreamSVM": KernelStreamSVM(kernel=kernel, max_vectors=m),
        "KernelPerceptron": KernelPerceptron(kernel=kernel, max_vectors=m),
        "Forgetron": Forgetron(kernel=kernel, max_vectors=m),
        "LASVM": LASVM(kernel=kernel, max_vectors=m),
        "IncrementalDecrementalSVM": IncrementalDecrementalSVM(kernel=kernel, max_vectors=m),
        "TwinVectorMachine": TwinVectorMachine(kernel=kernel, max_twins=m),
        "TwinDictionarySVM": TwinDictionarySVM(kernel=kernel, max_twins=m),
    }


def solvers(p: Problem) -> dict[str, Any]:
    room = {"max_core": len(p.X), "cache": f"{CACHE_MIB}MiB"}
    return {
        "BatchSVM": ours(p, 1e-3),
        "BallVectorMachine": BallVectorMachine(C=p.C, kernel=RBF(p.gamma), **room),
        "CoreVectorMachine": CoreVectorMachine(C=p.C, kernel=RBF(p.gamma), **room),
    }


# -- floors --------------------------------------------------------------------------------------


def product(X: np.ndarray, n_columns: int) -> Callable[[], object]:
    w = np.ones((X.shape[1], n_columns) if n_columns > 1 else X.shape[1], X.dtype)
    return partial(np.dot, X, w, out=np.empty((len(X), *w.shape[1:]), X.dtype))


def blocks(X: np.ndarray, width: int) -> Iterator[np.ndarray]:
    step = max(AT_ONCE // width, 1)
    return (X[at : at + step] for at in range(0, len(X), step))


def kernel_rows(X: np.ndarray) -> Callable[[], object]:
    V, a, gamma = X[:N_VECTORS], np.ones(N_VECTORS, X.dtype), X.dtype.type(1 / X.shape[1])
    squares = np.einsum("ij,ij->i", V, V)

    def run() -> None:
        for part in blocks(X, N_VECTORS):
            near = part @ V.T
            near *= 2
            near -= squares
            near -= np.einsum("ij,ij->i", part, part)[:, None]
            near *= gamma
            np.exp(near, out=near)
            near @ a

    return run


def cosines(X: np.ndarray) -> Callable[[], object]:
    rng = np.random.default_rng(0)
    V = rng.standard_normal((X.shape[1], N_DIRECTIONS)).astype(X.dtype)
    b, w = V[0].copy(), np.ones(N_DIRECTIONS, X.dtype)

    def run() -> None:
        for part in blocks(X, N_DIRECTIONS):
            waves = part @ V
            waves += b
            np.cos(waves, out=waves)
            waves @ w

    return run


# -- one pass ------------------------------------------------------------------------------------


def passed(
    name: str, split: Split, kinds: dict[str, Any], floor: Runs, n: int
) -> Iterator[dict[str, Any]]:
    """Learning from nothing, and deciding, of each kind, beside the one floor of both."""
    X, y, X_test, y_test = split
    labels, runs, (least,) = np.unique(y), dict(floor), floor
    for who, model in kinds.items():
        model.allocate(X.shape[1], classes=labels.tolist())
        runs[f"{who}: learn"] = partial(learn, model, X, y)
        runs[f"{who}: decide"] = partial(model.decision_function, X)
    seconds = race(n, clock=process_time, **runs)
    larger = 100 * float(np.unique(y_test, return_counts=True)[1].max()) / len(y_test)
    for what, second in seconds.items():
        model = kinds.get(what.split(":")[0])
        yield {
            "data": f"{name}, {len(X):,} x {X.shape[1]}",
            "what": what,
            "us": 1e6 * second / len(X),
            "ratio": second / seconds[least],
            "accuracy": 100 * float(model.score(X_test, y_test)) if model else None,
            "larger": larger,
        }


def learn(model: Any, X: np.ndarray, y: np.ndarray) -> None:
    model.reset().partial_fit(X, y)


def float32(split: Split) -> Split:
    X, y, X_test, y_test = split
    return X.astype(np.float32), y, X_test.astype(np.float32), y_test


def digits() -> Split:
    file = read(CLASSES)
    X, X_test = (file[k].astype(np.float64) for k in ("X_train", "X_test"))
    X, X_test = standardised(X, X_test)
    return X, file["y_train"], X_test, file["y_test"]


def of_passes(quick: bool, n: int) -> Iterator[dict[str, Any]]:
    def rows(name: str) -> Split:
        return float32(QUICK.split(0) if quick else load(name, np.random.default_rng(0)))

    for name in [QUICK.name] if quick else [name for name in PLANES if not missing(name)]:
        split = rows(name)
        yield from passed(name, split, planes(), {"X @ w": product(split[0], 1)}, n)
        fourier = {"FourierSVM": FourierSVM(n_directions=N_DIRECTIONS)}
        yield from passed(name, split, fourier, {"cosines": cosines(split[0])}, n)
    if quick or not missing(STORES):
        name, split = QUICK.name if quick else STORES, rows(STORES)
        kinds = stores(split[0].shape[1])
        yield from passed(name, split, kinds, {"kernel rows": kernel_rows(split[0])}, n)
    if not quick and not missing(CLASSES):
        split = digits()
        k = len(np.unique(split[1]))
        kinds = {"OneVsRest(StreamSVM)": OneVsRest(learner=StreamSVM(), n_classes=k)}
        yield from passed(CLASSES, split, kinds, {"X @ W": product(split[0], k)}, n)


# -- whole problems ------------------------------------------------------------------------------


def solved(p: Problem, n: int) -> Iterator[dict[str, Any]]:
    kinds, svc = solvers(p), theirs(p, 1e-3)
    models = {"SVC": svc, **kinds}
    rows = {who: p.X.astype(np.float64) if who == "SVC" else p.X for who in models}
    tests = {who: p.X_test.astype(rows[who].dtype) for who in models}
    labels = p.y.astype(int)
    fits: Runs = {who: partial(m.fit, rows[who], labels) for who, m in models.items()}
    fit_s = race(n, clock=process_time, **fits)
    asks: Runs = {who: partial(m.predict, tests[who]) for who, m in models.items()}
    asked_s = race(n, clock=process_time, **asks)
    larger = 100 * max(np.mean(p.y_test), 1 - np.mean(p.y_test))
    for entry_point, seconds, of in (("fit", fit_s, p.X), ("predict", asked_s, p.X_test)):
        for who, model in models.items():
            right = model.predict(tests[who]) == p.y_test
            yield {
                "data": f"{p.name}, {p.X.shape[1]} features",
                "what": f"{who}: {entry_point}",
                "us": 1e6 * seconds[who] / len(of),
                "ratio": seconds[who] / seconds["SVC"],
                "accuracy": 100 * float(np.mean(right)),
                "larger": float(larger),
            }


def of_problems(quick: bool, n: int) -> Iterator[dict[str, Any]]:
    if quick:
        yield from solved(Problem(QUICK.name, *QUICK.split(0), C=1.0, gamma=1 / 21), n)
        return
    for name in SOLVED:
        if not missing(name):
            yield from solved(PROBLEMS[name](), n)


# -- the report ----------------------------------------------------------------------------------


def key(figure: dict[str, Any]) -> tuple[str, str]:
    return figure["data"], figure["what"]


def row(now: dict[str, Any], before: dict[str, Any] | None) -> list[str]:
    def told(value: float | None, form: str) -> str:
        return "" if value is None else format(value, form)

    old = before or dict.fromkeys(now)
    cells = [
        told(figure[name], form)
        for name, form in (("us", ",.3f"), ("ratio", ",.2f"), ("accuracy", ".2f"))
        for figure in (old, now)
    ]
    return [now["data"], now["what"], *cells, told(now["larger"], ".1f")]


HEAD = ["data", "what", "us a row before", "us a row", "times the floor before"]
HEAD += ["times the floor", "accuracy % before", "accuracy %", "larger class %"]


def main() -> None:
    parser = arguments(__doc__, rounds=7)
    parser.add_argument("--before", type=Path, help="the JSON of a run with an earlier build")
    parser.add_argument("--build", help="commit of edgesvm as installed (that of this folder)")
    args = parsed(parser)
    n = 2 if args.quick else args.rounds
    figures = {
        "One pass": list(of_passes(args.quick, n)),
        "A whole problem": list(of_problems(args.quick, n)),
    }
    earlier = json.loads(args.before.read_text()) if args.before else None
    old = {key(f): f for part in earlier["figures"].values() for f in part} if earlier else {}
    tables = [
        Table(title, HEAD, [row(f, old.get(key(f))) for f in part])
        for title, part in figures.items()
    ]
    about = [(__doc__ or "").strip()]
    about.append(f"Seconds of the processor, medians of {n} interleaved rounds; one run a build.")
    if args.build:
        about.append(f"Installed: edgesvm at {args.build}.")
    if earlier:
        about += [f"Before. {text}" for text in earlier["about"] if text.startswith("Installed")]
    needed = () if args.quick else {*PLANES, STORES, CLASSES, *SOLVED}
    skipped = [why for name in sorted(needed) if (why := missing(name))]
    title = "Every learner beside a floor"
    publish(Report("ledger/ratios", title, tables, about, figures, skipped), args.out)


if __name__ == "__main__":
    main()
