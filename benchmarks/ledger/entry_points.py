"""What the ledger counts: learning and predicting one sample of 100 features, by one learner of
each kind, and reading a frame and a line.

Rows are of two overlapping clouds (or of more, for learners of many classes), so that learners go
on learning; each has been taught TAUGHT of them before, and its store is full. Learners that solve
a problem as a whole have a row of `fit` in place of `learn_one`.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.link.node import D, stream
from benchmarks.link.whole import Memory
from edgesvm import (
    LASVM,
    AdaGradSVM,
    BallVectorMachine,
    BatchSVM,
    ByteSVM,
    Calibrated,
    FourierRLS,
    FourierSVM,
    FourierSVR,
    GaussianNovelty,
    IncrementalDecrementalSVM,
    KernelNovelty,
    KernelPerceptron,
    KernelStreamSVM,
    OneVsRest,
    PassiveAggressive,
    SharedTwinSVM,
    Standardized,
    StreamSVM,
    TwinVectorMachine,
)
from edgesvm.learner import Learner
from edgesvm.link import open_link

WIDTH, TAUGHT, FITTED = 100, 1024, 128
STORE = {"max_vectors": 32}

Call = Callable[[], object]


@dataclass(frozen=True)
class EntryPoint:
    """One line of the ledger: `calls(k)` makes a run over k samples."""

    name: str
    calls: Callable[[int], Call]
    n: int = 256  # samples counted


@dataclass(frozen=True)
class Counted:
    """A learner whose entry points are counted."""

    learner: Learner
    n_classes: int = 2
    whole: bool = False  # it solves a problem as a whole
    labelled: bool = True
    n: int = 256  # samples counted

    def entry_points(self, subject: str) -> Iterator[EntryPoint]:
        X, y = self.rows(TAUGHT + 512)
        taught, data = (TAUGHT, (X, y)) if self.labelled else (TAUGHT, (X,))
        model: Any = self.learner.like_new()
        if self.whole:
            taught = FITTED
            model.fit(X[:taught], y[:taught])
        else:
            model.partial_fit(*(column[:taught] for column in data))
        kept = pickle.dumps(model)

        def learned(n: int) -> Call:
            rows, *labels = (column[taught : taught + n] for column in data)
            return over(pickle.loads(kept).learn_one, list(rows), *(y.tolist() for y in labels))

        def fitted(n: int) -> Call:
            again = self.learner.like_new
            return over(lambda _: again().fit(X[:taught], y[:taught]), range(n // taught))

        def predicted(n: int) -> Call:
            return over(pickle.loads(kept).predict_one, list(X[taught : taught + n]))

        if self.whole:
            yield EntryPoint(f"{subject}, a row of fit", fitted, taught)
        else:
            yield EntryPoint(f"{subject}, learn_one", learned, self.n)
        yield EntryPoint(f"{subject}, predict_one", predicted)

    def rows(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        X, y = clouds(n, self.n_classes)
        return (X, X[:, 0] + y) if self.learner.regresses else (X, y)


def over(call: Callable[..., object], *columns: Iterable[Any]) -> Call:
    """A run that calls it with each row of the columns."""
    return lambda: deque(map(call, *columns), maxlen=0)


def clouds(n: int, n_classes: int, width: int = WIDTH) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, width) of deviation 1 and labels 0, 1, ...; means are 3 apart or nearly."""
    rng = np.random.default_rng([width, n_classes])
    means = rng.standard_normal((n_classes, width))
    means *= 3 / np.sqrt(2) / np.linalg.norm(means, axis=1, keepdims=True)
    y = rng.integers(0, n_classes, n)
    return (rng.standard_normal((n, width)) + means[y]).astype(np.float32), y


LEARNERS: dict[str, Counted] = {
    "StreamSVM": Counted(StreamSVM()),
    "AdaGradSVM": Counted(AdaGradSVM()),
    "PassiveAggressive": Counted(PassiveAggressive()),
    "ByteSVM": Counted(ByteSVM()),
    "ByteSVM, 4 classes": Counted(ByteSVM(n_classes=4), n_classes=4),
    "FourierSVM": Counted(FourierSVM()),
    "FourierSVR": Counted(FourierSVR()),
    "FourierRLS": Counted(FourierRLS()),
    "Standardized(StreamSVM)": Counted(Standardized(learner=StreamSVM())),
    "Calibrated(StreamSVM)": Counted(Calibrated(learner=StreamSVM())),
    "OneVsRest(StreamSVM)": Counted(OneVsRest(learner=StreamSVM(), n_classes=4), n_classes=4),
    "KernelStreamSVM": Counted(KernelStreamSVM(**STORE)),
    "KernelPerceptron": Counted(KernelPerceptron(when_full="oldest", **STORE)),
    "LASVM": Counted(LASVM(max_vectors=128)),
    "TwinVectorMachine": Counted(TwinVectorMachine(max_twins=32), n=64),
    "SharedTwinSVM": Counted(
        SharedTwinSVM(max_twins=32, n_classes=3, settle_after=512), n_classes=3, n=64
    ),
    "IncrementalDecrementalSVM": Counted(IncrementalDecrementalSVM(**STORE), n=64),
    "BatchSVM": Counted(BatchSVM(max_samples=FITTED, cache="128KiB"), whole=True),
    "BallVectorMachine": Counted(BallVectorMachine(max_core=FITTED), whole=True),
    "GaussianNovelty": Counted(GaussianNovelty(), labelled=False),
    "KernelNovelty": Counted(KernelNovelty(**STORE), labelled=False),
}


def read(kind: str) -> EntryPoint:
    """Samples of 8 features and a label, from the bytes of a port to rows."""

    def calls(n: int) -> Call:
        data = stream(kind, n)
        options: Any = {"mode": "text", "n_features": D} if kind == "text" else {}

        def run() -> None:
            port = Memory(data, 4096)
            with open_link("memory", opener=lambda: port, ring=256, **options) as link:
                while port.left:
                    link.poll(0.0)
                    link.release(len(link.take().y))

        return run

    return EntryPoint(f"link, {kind}, a sample", calls, 512)


def entry_points() -> Iterator[EntryPoint]:
    """Every line of the ledger."""
    for subject, counted in LEARNERS.items():
        yield from counted.entry_points(subject)
    yield from map(read, ("binary", "text"))


def chosen(some: Iterable[EntryPoint], words: list[str]) -> Iterator[EntryPoint]:
    """Those whose name has one of the words; all of them where there is no word."""
    return (
        entry_point
        for entry_point in some
        if not words or any(word in entry_point.name for word in words)
    )
