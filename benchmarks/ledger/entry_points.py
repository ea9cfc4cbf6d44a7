"""What the ledger counts: each learner's entry points at several widths, and what is around it.

Rows are of two overlapping clouds (or of more, for learners of many classes), so that learners go
on learning; each has been taught TAUGHT of them before, and its store is full. Learners that solve
a problem as a whole have a row of `fit` in place of `learn_one` and `partial_fit`.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.link.decoder import cut, encoded_samples, new_receiver, pump
from edgesvm import (
    LASVM,
    AdaGradSVM,
    AdaGradSVR,
    Auto,
    BallVectorMachine,
    BatchSVM,
    BatchSVR,
    ByteSVM,
    Calibrated,
    CoreVectorMachine,
    Forgetron,
    FourierFeatures,
    FourierRLS,
    FourierSVM,
    FourierSVR,
    GaussianNovelty,
    IncrementalDecrementalSVM,
    IncrementalDecrementalSVR,
    IncrementalSVM,
    KernelNovelty,
    KernelPerceptron,
    KernelStreamSVM,
    OneClassBallVectorMachine,
    OneClassCoreVectorMachine,
    OneVsOne,
    OneVsRest,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    RandSVM,
    ReservoirSVM,
    RobustStandardized,
    SharedTwinSVM,
    SimpleSVM,
    Standardized,
    StreamSVM,
    TwinDictionarySVM,
    TwinVectorMachine,
    WindowedSVM,
    WindowFeatures,
    load,
)
from edgesvm.learner import Learner
from edgesvm.link._lines import LineParser
from edgesvm.link._ring import SampleRing

WIDTHS = (8, 100, 784)
NARROW = WIDTHS[:2]
TAUGHT, FITTED = 1024, 128
VECTORS = 32  # of a store
CHUNK = 4096  # bytes of a read

Call = Callable[[], object]


@dataclass(frozen=True)
class EntryPoint:
    """One line of the ledger: `calls(k)` makes a run over k samples."""

    subject: str
    n_features: int
    method: str
    calls: Callable[[int], Call]
    n: int = 256  # samples counted

    @property
    def name(self) -> str:
        return f"{self.subject}, D = {self.n_features}, {self.method}"


@dataclass(frozen=True, eq=False)
class Counted:
    """A learner whose entry points are counted."""

    learner: Learner
    widths: tuple[int, ...] = WIDTHS
    n_classes: int = 2
    words: bool = False  # labels are strings
    whole: bool = False  # it solves a problem as a whole
    labelled: bool = True
    n: int = 256  # samples counted
    taught: int = TAUGHT  # rows before

    def entry_points(self, subject: str) -> Iterator[EntryPoint]:
        for width in self.widths:
            yield from self._entry_points_at(subject, width)

    def _entry_points_at(self, subject: str, width: int) -> Iterator[EntryPoint]:
        def taught() -> Any:
            """A copy of the learner that has been taught."""
            return pickle.loads(self._taught(width))

        def given(n: int) -> tuple[Any, ...]:
            X, y = self._stream(width)
            return (X[:n], y[:n]) if self.labelled else (X[:n],)

        def each_learned(n: int) -> Call:
            one, columns = taught().learn_one, [column.tolist() for column in given(n)[1:]]
            return over(one, list(given(n)[0]), *columns)

        def learned(n: int) -> Call:
            return partial(taught().partial_fit, *given(n))

        def each_predicted(n: int) -> Call:
            return over(taught().predict_one, list(given(n)[0]))

        decide = "predict" if self.learner.regresses else "decision_function"

        def decided(n: int) -> Call:
            return partial(getattr(taught(), decide), given(n)[0])

        def fitted(n: int) -> Call:
            X, y = self._rows(width, self.taught)
            return over(lambda _: self.learner.like_new().fit(X, y), range(n // self.taught))

        if self.whole:
            yield EntryPoint(subject, width, f"fit, a row of {self.taught}", fitted, self.taught)
        else:
            yield EntryPoint(subject, width, "learn_one", each_learned, self.n)
            yield EntryPoint(subject, width, "partial_fit", learned, self.n)
        yield EntryPoint(subject, width, "predict_one", each_predicted)
        yield EntryPoint(subject, width, decide, decided)

    @cache  # noqa: B019, as many as there are learners
    def _taught(self, width: int) -> bytes:
        X, y = self._rows(width, self.taught)
        model: Any = self.learner.like_new()
        if self.whole:
            model.fit(X, y)
        else:
            model.partial_fit(*((X, y) if self.labelled else (X,)))
        return pickle.dumps(model)

    @cache  # noqa: B019
    def _stream(self, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows after those that were taught."""
        X, y = self._rows(width, self.taught + 512)
        return X[self.taught :], y[self.taught :]

    def _rows(self, width: int, n: int) -> tuple[np.ndarray, np.ndarray]:
        X, y = clouds(n, width, self.n_classes)
        X = X.astype(getattr(self.learner, "dtype", "float32"))
        if self.learner.regresses:
            return X, X[:, 0] + y
        return X, np.array(["fine", "worn"])[y] if self.words else y


def over(call: Callable[..., object], *columns: Iterable[Any]) -> Call:
    """A run that calls it with each row of the columns."""
    return lambda: deque(map(call, *columns), maxlen=0)


def clouds(n: int, width: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, width) of deviation 1 and labels 0, 1, ...; means are 3 apart or nearly."""
    rng = np.random.default_rng([width, n_classes])
    means = rng.standard_normal((n_classes, width))
    means *= 3 / np.sqrt(2) / np.linalg.norm(means, axis=1, keepdims=True)
    y = rng.integers(0, n_classes, n)
    return rng.standard_normal((n, width)) + means[y], y


STREAM, STORE = StreamSVM(), {"max_vectors": VECTORS}
SOLVER = {"cache": "128KiB"}
LEARNERS: dict[str, Counted] = {
    "StreamSVM": Counted(StreamSVM()),
    "StreamSVM, float64": Counted(StreamSVM(dtype="float64")),
    "StreamSVM, string labels": Counted(StreamSVM(), NARROW, words=True),
    "StreamSVM, no average": Counted(StreamSVM(average=False), NARROW),
    "StreamSVM, of the paper": Counted(StreamSVM.of_paper(), NARROW),
    "StreamSVM, balanced": Counted(StreamSVM(class_weight="balanced"), NARROW),
    "StreamSVM, lookahead 8": Counted(StreamSVM(lookahead=8), NARROW),
    "StreamSVM, 4 balls": Counted(StreamSVM(n_balls=4), NARROW),
    "AdaGradSVM": Counted(AdaGradSVM()),
    "AdaGradSVM, 4 classes": Counted(AdaGradSVM(n_classes=4), n_classes=4),
    "Perceptron": Counted(Perceptron(), NARROW),
    "PassiveAggressive": Counted(PassiveAggressive()),
    "Pegasos": Counted(Pegasos(), NARROW),
    "ByteSVM": Counted(ByteSVM()),
    "ByteSVM, 4 classes": Counted(ByteSVM(n_classes=4), NARROW, n_classes=4),
    "FourierSVM": Counted(FourierSVM()),
    "FourierSVM, 4 classes": Counted(FourierSVM(n_classes=4), NARROW, n_classes=4),
    "FourierSVR": Counted(FourierSVR()),
    "FourierRLS": Counted(FourierRLS(), NARROW),
    "AdaGradSVR": Counted(AdaGradSVR(), NARROW),
    "FourierFeatures(StreamSVM)": Counted(FourierFeatures(learner=STREAM, n_directions=128)),
    "Standardized(StreamSVM)": Counted(Standardized(learner=STREAM)),
    "Standardized()": Counted(Standardized(learner=FourierSVM())),
    "RobustStandardized(StreamSVM)": Counted(RobustStandardized(learner=STREAM), NARROW),
    "Calibrated(StreamSVM)": Counted(Calibrated(learner=STREAM), NARROW),
    "OneVsOne(StreamSVM), 4 classes": Counted(OneVsOne(learner=STREAM, n_classes=4), n_classes=4),
    "OneVsRest(StreamSVM), 4 classes": Counted(
        OneVsRest(learner=STREAM, n_classes=4), NARROW, n_classes=4
    ),
    "OneVsOne(KernelStreamSVM), 4 classes": Counted(
        OneVsOne(learner=KernelStreamSVM(**STORE), n_classes=4), NARROW, n_classes=4
    ),
    "Auto": Counted(Auto(), NARROW),
    "KernelStreamSVM": Counted(KernelStreamSVM(**STORE)),
    "KernelStreamSVM, share": Counted(KernelStreamSVM(when_full="share", **STORE), NARROW),
    "KernelPerceptron": Counted(KernelPerceptron(when_full="oldest", **STORE)),
    "Forgetron": Counted(Forgetron(**STORE), NARROW),
    "LASVM": Counted(LASVM(max_vectors=128), NARROW),
    "TwinVectorMachine": Counted(TwinVectorMachine(max_twins=VECTORS), NARROW, n=64),
    "TwinDictionarySVM": Counted(TwinDictionarySVM(max_twins=VECTORS), NARROW, n=64),
    "SharedTwinSVM": Counted(
        SharedTwinSVM(max_twins=VECTORS, n_classes=3, settle_after=512), NARROW, n=64
    ),
    "IncrementalDecrementalSVM": Counted(IncrementalDecrementalSVM(**STORE), NARROW, n=64),
    "IncrementalDecrementalSVR": Counted(IncrementalDecrementalSVR(**STORE), NARROW, n=64),
    "IncrementalSVM": Counted(IncrementalSVM(max_vectors=256, batch_size=32), NARROW, n=64),
    "WindowedSVM": Counted(WindowedSVM(max_vectors=64, batch_size=32), NARROW, n=64),
    "ReservoirSVM": Counted(ReservoirSVM(max_samples=64, **SOLVER), NARROW),
    "BatchSVM": Counted(BatchSVM(max_samples=FITTED, **SOLVER), whole=True, taught=FITTED),
    "BatchSVR": Counted(BatchSVR(max_samples=64, **SOLVER), NARROW, whole=True, taught=64),
    "RandSVM(BatchSVM)": Counted(
        RandSVM(solver=BatchSVM(max_samples=64, **SOLVER), max_passes=3),
        NARROW,
        whole=True,
        taught=FITTED,
    ),
    "SimpleSVM": Counted(SimpleSVM(max_vectors=FITTED), NARROW, whole=True, taught=FITTED),
    "BallVectorMachine": Counted(
        BallVectorMachine(max_core=FITTED), NARROW, whole=True, taught=FITTED
    ),
    "CoreVectorMachine": Counted(
        CoreVectorMachine(max_core=FITTED), NARROW, whole=True, taught=FITTED
    ),
    **{
        type(learner).__name__: Counted(learner, NARROW, whole=True, labelled=False, taught=FITTED)
        for learner in (
            OneClassCoreVectorMachine(max_core=FITTED),
            OneClassBallVectorMachine(max_core=FITTED),
        )
    },
    "GaussianNovelty": Counted(GaussianNovelty(), NARROW, labelled=False),
    "GaussianNovelty, diagonal": Counted(GaussianNovelty(covariance="diagonal"), labelled=False),
    "KernelNovelty": Counted(KernelNovelty(**STORE), labelled=False),
}


# -- what is around a learner ------------------------------------------------------------------


def decoder(width: int) -> EntryPoint:
    def calls(n: int) -> Call:
        frames = encoded_samples(n, width, np.random.default_rng(7))
        receiver = new_receiver(width, CHUNK // len(frames[0]) + 2)
        return partial(pump, receiver, cut(b"".join(frames), CHUNK))

    return EntryPoint("frame decoder", width, "frame", calls, 512)


def line_reader(width: int) -> EntryPoint:
    def calls(n: int) -> Call:
        X, y = clouds(1024, width, 2)
        lines = [
            ",".join([*(f"{v:.5g}" for v in row), str(label)]) + "\n"
            for row, label in zip(X[:n].tolist(), y[:n].tolist(), strict=True)
        ]
        parser, ring = LineParser(width), SampleRing(CHUNK // (2 * width) + 2, width)
        parser.expect(ring)
        return partial(read_lines, parser, ring, cut("".join(lines).encode(), CHUNK), n)

    return EntryPoint("text line reader", width, "line", calls, 512)


def read_lines(parser: LineParser, ring: SampleRing, chunks: list[bytes], n: int) -> None:
    rows = 0
    for chunk in chunks:
        for event in parser.feed(chunk):
            raise AssertionError(f"{event} in a stream of rows")
        while len(ring):
            got = len(ring.take().y)
            ring.release(got)
            rows += got
    if rows != n:
        raise AssertionError(f"{rows} rows of {n}")


def windows(width: int) -> EntryPoint:
    def calls(n: int) -> Call:
        samples = list(clouds(1280, width, 2)[0].astype(np.float32))
        push = WindowFeatures(window=256, hop=128, rate=1000.0, bands="10-50,50-200").push
        over(push, samples[-256:])()
        return over(push, samples[:n])

    return EntryPoint("WindowFeatures, 2 bands", width, "push", calls, 512)


def snapshots(subject: str, folder: Path) -> Iterator[EntryPoint]:
    path = folder / f"{subject}.esvm"

    def saved(n: int) -> Call:
        return over(pickle.loads(LEARNERS[subject]._taught(8)).save, repeat(path, n))

    def loaded(n: int) -> Call:
        saved(1)()
        return over(load, repeat(path, n))

    yield EntryPoint(f"snapshot of {subject}", 8, "save", saved, 64)
    yield EntryPoint(f"snapshot of {subject}", 8, "load", loaded, 64)


def entry_points() -> Iterator[EntryPoint]:
    """Every line of the ledger."""
    for subject, counted in LEARNERS.items():
        yield from counted.entry_points(subject)
    for width in NARROW:
        yield decoder(width)
    for width in (8, 32):  # a line has at most 512 bytes
        yield line_reader(width)
    yield windows(3)
    with TemporaryDirectory() as folder:
        for subject in ("StreamSVM", "KernelStreamSVM", "FourierSVM"):
            yield from snapshots(subject, Path(folder))


def chosen(some: Iterable[EntryPoint], words: list[str]) -> Iterator[EntryPoint]:
    """Those whose name has one of the words; all of them where there is no word."""
    return (
        entry_point
        for entry_point in some
        if not words or any(word in entry_point.name for word in words)
    )
