"""OneVsOne and OneVsRest: multiclass learners made of two-class learners."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.budget import PARTS, SCRATCH, MemoryPlan, Table
from edgesvm.contract.counter import Counter
from edgesvm.contract.engine import of_engine
from edgesvm.contract.inputs import as_labels, as_weights, is_sparse, sparse_rows
from edgesvm.contract.labels import MOST_CLASSES, Labels
from edgesvm.contract.params import size, within
from edgesvm.contract.registry import registered
from edgesvm.contract.sparse import stacked
from edgesvm.data.rows import Rows
from edgesvm.data.sources import Source, is_row_source
from edgesvm.data.survey import Surveyed
from edgesvm.learner import Learner, Place, exclusive, fits
from edgesvm.learners._multiclass import MulticlassCore
from edgesvm.learners.kernel_learner import surveyed
from edgesvm.learners.wrapper import Wrapper

__all__ = ["OneVsOne", "OneVsRest"]

Progress = Callable[[int, int], Any]
Sides = tuple[list[int], list[int]]
Self = TypeVar("Self", bound="Multiclass")


@dataclass(kw_only=True, eq=False, repr=False)
class Multiclass(Wrapper):
    """Base of both: two-class learners of one kind, the parts, in one arena."""

    _pairs: ClassVar[bool]
    _compiled = MulticlassCore
    _expected = "a two-class learner, such as StreamSVM()"

    n_left_out_ = Counter("Times that a part refused a sample that others had learned; see Notes.")

    learner: Learner | None = field(default=None, kw_only=False)
    n_classes: int = size(10, within(2, MOST_CLASSES))

    # -- memory ------------------------------------------------------------------------------------

    def _wraps(self, inner: Learner) -> bool:
        return not isinstance(inner, Multiclass) and inner.n_classes_planned == 2

    @property
    def n_classes_planned(self) -> int:
        return int(self._checked()["n_classes"])

    @property
    def _n_parts(self) -> int:
        raise NotImplementedError

    def _part(self, n_features: int) -> MemoryPlan:
        plan: MemoryPlan = self.inner.like_new().as_part().plan(n_features)
        return plan

    def _arrays(self, n_features: int) -> Table:
        n = self.n_classes_planned
        return [
            ("n_left_out", "i8", ()),
            ("scores", "f8", (n,), SCRATCH),
            ("sums", "f8", (n,), SCRATCH),
            (PARTS, "u1", (self._n_parts, self._part(n_features).total)),
        ]

    def _build(self, engine: str, place: Place) -> Any:
        inner = self.inner
        (block,) = (array for array in place.plan.arrays if array.name == PARTS)
        n_parts, n_bytes = block.shape
        part = place._replace(plan=self._part(place.n_features), labels=Labels([0, 1]))
        rows = (place.arena.part(block.offset + p * n_bytes, n_bytes) for p in range(n_parts))
        return of_engine(self._compiled, engine)(
            *place,
            parts=tuple(inner._build(engine, part._replace(arena=row)) for row in rows),
            **self._core_params(place.n_features),
        )

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return {"pairs": self._pairs, "most": self.inner._most_samples}

    def _inner_readers(self, core: Any) -> dict[str, Any]:
        inner = self.inner
        return {"parts": tuple(inner._reader(part) for part in core.parts)}

    def _used(self, core: Any) -> list[slice]:
        parts = self._place(core, PARTS)
        at = parts.start
        used = [slice(0, at), slice(parts.stop, core.arena.nbytes)]
        for part in core.parts:
            used += [slice(at + some.start, at + some.stop) for some in self.inner._used(part)]
            at += part.arena.nbytes
        return used

    def _check(self, core: Any) -> None:
        super()._check(core)
        for part in core.parts:
            self.inner._check(part)

    @property
    def _caution(self) -> str | None:
        part = self.inner
        while isinstance(part, Wrapper):
            part = part.inner
        least = part._least_in_parts[not self._pairs]
        name = type(part)._capacity
        if not least or getattr(part, name) >= least:
            return None
        other = "OneVsRest, " if self._pairs else ""
        return (
            f"{type(self).__name__} with {name}={getattr(part, name)} in each of its"
            f" {self._n_parts} parts answers little better than chance: take {other}SharedTwinSVM,"
            f" FourierSVM or more memory, for {name}={least}"
        )

    # -- the parts ---------------------------------------------------------------------------------

    @property
    def parts_(self) -> list[Any]:
        """The parts as learners in this memory, on the labels 0 and 1, as they are stored; for
        reading only."""
        return [self._inner_at_work(core) for core in self.core.parts]

    # -- learning ----------------------------------------------------------------------------------

    @fits
    def fit(
        self: Self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        shuffle: bool | None = None,
        random_state: int = 0,
        epochs: int | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Reset, then learn: as `Learner.fit`, or part by part if the learner makes several passes.

        Parameters
        ----------
        X, y, sample_weight, shuffle, random_state, epochs
            As in `Learner.fit`. A part that makes several passes gets its own rows: a copy of
            those of an array or a CSR matrix; else they are selected again in each pass.
        progress : callable, optional
            Called as ``progress(n_done, n_parts)`` after each part is fitted or solved.

        Raises
        ------
        ValueError
            A part has more rows than it can store; nothing is reset. If a part that makes several
            passes fails, the learner is left empty.
        """
        several = self.inner._fits_in_passes
        if not several and not is_row_source(X) and self._most_samples is None:
            super().fit(
                X,
                y,  # type: ignore[arg-type]
                sample_weight,
                shuffle=shuffle,
                random_state=random_state,
                epochs=epochs,
            )
            return self.solve(progress=progress)
        if (shuffle, epochs) != (None, None):
            raise ValueError("shuffle and epochs are for arrays, and parts that learn in one pass")
        source, labels, found = surveyed(self, X, y, sample_weight)
        per_slot = np.array(found.per_class)
        if not several:
            self._refuse_beyond(per_slot)
        self._start_over(source.n_features, labels)
        if several:
            self._fit_parts(X, y, source, per_slot, progress)
            self._note(found)
            return self
        self._learn_chunks(source, found)
        return self.solve(progress=progress)

    def _refuse_beyond(self, per_slot: np.ndarray) -> None:
        """Refuse data with more rows for one part than it can store."""
        most = self._most_samples
        if most is None:
            return
        largest = np.sort(per_slot)[-2:].sum() if self._pairs else per_slot.sum()
        if largest > most:
            raise ValueError(
                f"{type(self).__name__}: one part would have to store {largest:,} rows, more than"
                f" its max_samples={most:,}; give a larger max_samples, or when_full='oldest'"
            )

    def _fit_parts(
        self, X: Any, y: Any, source: Source, per_slot: np.ndarray, progress: Any
    ) -> None:
        """Fit one part after the other, each with its own rows, all in the memory of the last; a
        part with samples of only one of its classes is skipped."""
        core = self.core
        to_fit = self._sides_seen(per_slot)
        bench = core.parts[max(to_fit, default=0)]
        learner = self._inner_at_work(bench)
        in_memory = is_sparse(X) or (isinstance(X, np.ndarray) and not isinstance(X, np.memmap))
        rows_of = ArrayRows(X, y, source.weights, core).of if in_memory else None
        try:
            for p, part in enumerate(core.parts):
                if p in to_fit:
                    sides = to_fit[p]
                    mine = rows_of(sides) if rows_of else (PartOfSource(source, core, sides),)
                    learner.fit(*mine)
                    if learner.arena is not bench.arena:
                        raise RuntimeError(
                            f"internal error: {learner!r} moved out of its part of the arena"
                        )
                    for some in learner._used(learner.core):
                        part.arena.memory[some] = bench.arena.memory[some]
                if progress is not None:
                    self._guard.call(progress, p + 1, len(core.parts))
        except BaseException:
            self.reset()
            raise
        self._adopt(self.plan(core.n_features), core.arena, core.labels, core.n_features)

    def _sides_seen(self, per_slot: np.ndarray) -> dict[int, Sides]:
        """The sides of each part that has samples of both."""
        return {
            p: sides
            for p, sides in enumerate(self._sides())
            if all(any(per_slot[slot] for slot in side) for side in sides)
        }

    def _sides(self) -> Iterator[Sides]:
        """The class indices on the -1 side and on the +1 side of each part."""
        raise NotImplementedError

    def _note(self, found: Surveyed) -> None:
        """Count the rows of the data as the samples seen."""
        views = self.core.views
        views["n_seen"][...], views["n_updates"][...] = found.n_rows, found.n_learned
        views["n_per_class"][:] = found.per_class
        self._note_weights(found)

    @exclusive
    def solve(self: Self, *, progress: Progress | None = None) -> Self:
        """Solve every part that solves on demand, such as `BatchSVM`; `fit` does so too."""
        if hasattr(self.inner, "solve") and self._state is not None:
            parts = self.parts_
            for p, part in enumerate(parts):
                if part.is_fitted:
                    part.solve()
                if progress is not None:
                    self._guard.call(progress, p + 1, len(parts))
        return self


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class OneVsOne(Multiclass):
    """More than two classes: one learner for each pair of classes, and a vote.

    Parameters
    ----------
    learner : Learner, default StreamSVM()
        A two-class learner. Only its parameters are used; the object itself is not changed.
    n_classes : int, default 10
        Largest number of classes, 2 to 127. Memory is allocated for all n_classes (n_classes - 1) /
        2 pairs.

    Notes
    -----
    Labels may first appear at any time, up to ``n_classes``; one more is refused. A sample is
    learned by the n_classes - 1 parts of its class. Bytes: 32 + 24 n_classes, plus those of the
    parts, 8 fewer for each than alone.

    ``decision_function`` is that of scikit-learn's `OneVsOneClassifier`: votes, plus the sum s of
    the decision values towards a class as s / (3 (1 + |s|)), which only decides between equal
    votes. If that is equal too, the class that sorts first is predicted. With two classes it is the
    part's own decision value. Classes without a sample score below all others; a part that has not
    seen both of its classes does not vote.

    A sample is learned by all of its parts or by none. Where only some refuse it, by what they have
    learned, such a part stays unchanged and is counted in ``n_left_out_``.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import OneVsOne, StreamSVM
    >>> X = np.random.default_rng(0).standard_normal((900, 2)).astype(np.float32)
    >>> y = np.arange(900) % 3
    >>> X += 4 * np.stack([np.cos(2 * y), np.sin(2 * y)], axis=1)
    >>> model = OneVsOne.within("2KiB", n_features=2, n_classes=3, learner=StreamSVM(bound="lower"))
    >>> model.partial_fit(X, y).score(X, y) > 0.95
    True
    """

    _pairs = True

    @property
    def _n_parts(self) -> int:
        return self.n_classes_planned * (self.n_classes_planned - 1) // 2

    def _sides(self) -> Iterator[Sides]:
        return (([i], [j]) for j in range(self.n_classes_planned) for i in range(j))


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class OneVsRest(Multiclass):
    """More than two classes: one learner for each class against all others.

    Parameters
    ----------
    n_classes : int, default 10
        Largest number of classes, 2 to 127. Memory is allocated for that many parts.
    learner
        As in `OneVsOne`.

    Notes
    -----
    A sample is learned by all parts. Labels and bytes as in `OneVsOne`.

    ``decision_function`` returns the decision value of each class's part. They are compared as they
    are, although a part with few samples may have another scale; `OneVsOne` compares votes. If two
    are equal, the class that sorts first is predicted. With two classes it is half their
    difference. Classes without a sample do not compete: they score below all others.
    """

    _pairs = False

    @property
    def _n_parts(self) -> int:
        return self.n_classes_planned

    def _sides(self) -> Iterator[Sides]:
        slots = range(self.n_classes_planned)
        return (([j for j in slots if j != k], [k]) for k in slots)


class ArrayRows:
    """The rows of an array or a CSR matrix that each part learns."""

    def __init__(self, X: Any, y: Any, sample_weight: Any, core: Any) -> None:
        if is_sparse(X):
            X = core.guard.call(sparse_rows, X, core.n_features, core.owner)
        self._X = X
        y = core.guard.call(as_labels, y, len(X), core.owner)
        self._slots, _ = core.guard.call(core.labels.encode, y)
        self._n_slots = core.labels.room
        order = np.argsort(self._slots, kind="stable")
        counts = np.bincount(self._slots.astype(np.intp), minlength=self._n_slots)
        self._of_slot = np.split(order, np.cumsum(counts)[:-1])  # rows of each class, ascending
        self._weights = core.guard.call(as_weights, sample_weight, len(X))

    def of(self, sides: Sides) -> tuple[Any, ...]:
        """X, y and weights of a part."""
        mine = [self._of_slot[slot] for side in sides for slot in side]
        rows: Any = np.sort(np.concatenate(mine), kind="stable")
        if len(rows) == len(self._X):
            rows = slice(None)
        weights = None if self._weights is None else self._weights[rows]
        return self._X[rows], side_of(sides, self._slots[rows], self._n_slots), weights


def side_of(sides: Sides, slots: np.ndarray, n_slots: int) -> np.ndarray:
    """0 or 1 for each row, or -1 if it is on neither side; ndarray of shape (n,), int8."""
    table = np.full(n_slots, -1, np.int8)
    table[sides[0]], table[sides[1]] = 0, 1
    return table[slots]


class PartOfSource:
    """The rows of some classes, labelled 0 and 1, as a `RowSource`."""

    def __init__(self, source: Source, core: Any, sides: Sides) -> None:
        self.n_features = source.n_features
        self._source, self._core, self._sides = source, core, sides

    def chunks(self, rows: int) -> Iterator[Rows]:
        """One pass. Rows are collected into chunks of up to `rows`."""
        waiting: list[Rows] = []
        n_waiting = 0
        for chunk in self._source.chunks(rows, self._core.dtype):
            part = self._of(chunk)
            if n_waiting + len(part.X) > rows:
                yield joined(waiting)
                waiting, n_waiting = [], 0
            if len(part.X):
                waiting.append(part)
                n_waiting += len(part.X)
        if waiting:
            yield joined(waiting)

    def _of(self, chunk: Rows) -> Rows:
        core = self._core
        slots, n_known = core.guard.call(core.labels.encode, chunk.y)
        if n_known < len(slots):
            raise ValueError(f"{core.owner}: the source changed between two passes")
        side = side_of(self._sides, slots, core.labels.room)
        mine = side >= 0
        return Rows(chunk.X[mine], side[mine], None if chunk.weight is None else chunk.weight[mine])


def joined(parts: list[Rows]) -> Rows:
    weight = None
    if parts[0].weight is not None:
        weight = np.concatenate([part.weight for part in parts])
    X, y = (stacked(column) for column in zip(*parts, strict=True))
    return Rows(X, y, weight)
