"""Polynomial kernels: core and ball vector machines, for which k(x, x) has to be the same for all
rows, against SVC, which takes any kernel.

k(x, z) = (x.z / n_features + 1)^3, C = 1 and 10, standardised features; many classes pair by pair.
"rows": rows of unit norm, `normalize=True`. "kernel": k(x, z) / sqrt(k(x, x) k(z, z)),
`normalize="kernel"`, which SVC gets too, as the homogeneous kernel of rows (x, sqrt(n_features)) of
unit norm.
"""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import since
from benchmarks.common.data import Split, standardised
from benchmarks.common.progress import say
from benchmarks.common.report import Report, Table, publish
from benchmarks.enclosing.data import QUICK, SETS
from benchmarks.enclosing.fits import CACHE_MIB
from edgesvm import BallVectorMachine, CoreVectorMachine, OneVsOne

NAMES = ["satimage", "optdigits", "pendigits", "letter", "usps, 10 classes", "ijcnn1"]
PENALTIES = (1.0, 10.0)
LEARNERS = {"CVM": CoreVectorMachine, "BVM": BallVectorMachine}


def split_of(name: str) -> Split:
    X, y, X_test, y_test = SETS[name].load()
    return (
        *(rows.astype(np.float32) for rows in standardised(X.astype(float), X_test.astype(float))),
        y,
        y_test,
    )


def on_the_sphere(X: np.ndarray) -> np.ndarray:
    """(x, sqrt(n_features)) of unit norm: its products to the power 3 are the normalised kernel."""
    X = np.hstack([X.astype(np.float64), np.full((len(X), 1), np.sqrt(X.shape[1]))])
    unit: np.ndarray = X / np.linalg.norm(X, axis=1, keepdims=True)
    return unit


def svc(split: Split, C: float, normalised: bool) -> tuple[float, float]:
    from sklearn.svm import SVC

    X, X_test, y, y_test = split
    gamma, coef0 = 1.0 / X.shape[1], 1.0
    if normalised:
        X, X_test, gamma, coef0 = on_the_sphere(X), on_the_sphere(X_test), 1.0, 0.0
    model = SVC(kernel="poly", degree=3, gamma=gamma, coef0=coef0, C=C, cache_size=CACHE_MIB)
    return fitted(model, X, y, X_test, y_test)


def machine(split: Split, C: float, how: str, normalize: Any) -> tuple[float, float]:
    X, X_test, y, y_test = split
    per_class = np.bincount(y)
    n_pairs = len(per_class) * (len(per_class) - 1) // 2
    room = min(16_384, int(np.sort(per_class)[-2:].sum()))
    part = LEARNERS[how](
        kernel="poly",
        degree=3,
        coef0=1.0,
        normalize=normalize,
        C=C,
        max_core=room,
        cache=max((CACHE_MIB << 20) // n_pairs, 128 * room),
    )
    model = part if n_pairs == 1 else OneVsOne(learner=part, n_classes=len(per_class))
    return fitted(model, X, y, X_test, y_test)


def fitted(model: Any, X: np.ndarray, y: Any, X_test: np.ndarray, y_test: Any) -> tuple[float, ...]:
    """Per cent right, and seconds of the processor."""
    begin = process_time()
    model.fit(X, y)
    seconds = since(begin)
    return 100 * float((model.predict(X_test) == y_test).mean()), seconds


def measure(split: Split, C: float) -> dict[str, tuple[float, ...]]:
    found = {"SVC": svc(split, C, False), "SVC, kernel": svc(split, C, True)}
    for how in LEARNERS:
        found[f"{how}, rows"] = machine(split, C, how, True)
        found[f"{how}, kernel"] = machine(split, C, how, "kernel")
    return found


def table(C: float, found: dict[str, dict[str, tuple[float, ...]]]) -> Table:
    header = ["data"]
    for how in next(iter(found.values())):
        header += [f"{how} %", "s"]
    rows = [
        [name, *(text for a, s in of.values() for text in (f"{a:.2f}", f"{s:.2f}"))]
        for name, of in found.items()
    ]
    means = np.mean([list(of.values()) for of in found.values()], axis=0)
    rows.append(["mean", *(text for a, s in means for text in (f"{a:.2f}", f"{s:.2f}"))])
    return Table(f"C = {C:g}", header, rows)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", metavar="NAME", choices=NAMES, default=NAMES)
    args = parsed(parser)
    names = [QUICK] if args.quick else [n for n in args.sets if SETS[n].missing is None]
    found: dict[float, dict[str, Any]] = {C: {} for C in PENALTIES}
    for name in names:
        split = split_of(name)
        for C in PENALTIES:
            found[C][name] = measure(split, C)
            said = ", ".join(f"{how} {a:.2f}" for how, (a, _) in found[C][name].items())
            say(f"{name} {C:g}: {said}")
    about = ["Room for all rows of two classes, at most 16,384; the default tolerance."]
    figures = {f"{C:g} / {name}": of for C, each in found.items() for name, of in each.items()}
    title = "Polynomial kernels, normalised, for core and ball vector machines"
    tables = [table(C, each) for C, each in found.items()]
    skipped = [f"{n}: {SETS[n].missing}" for n in args.sets if SETS[n].missing]
    if args.quick:
        skipped = ["the paper's sets: a quick run uses generated data"]
    publish(Report("enclosing/kernels", title, tables, about, figures, skipped), args.out)


if __name__ == "__main__":
    main()
