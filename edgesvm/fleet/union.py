"""Kernel learners: the SVM of the union of their vectors, with their weights, in the same memory.

A vector stands for the samples its weight counts. Where the union fits, it is learned as it is.
Otherwise a twin vector machine merges twins, as it does in a stream; of a BatchSVM the exact SVM
of the union is solved, and the vectors with the largest coefficients are learned; a ball is
refused. There is no closed form that merges two kernel machines: what this
costs in accuracy is measured (benchmarks/fleet/parts.py).
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from edgesvm.budget import format_bytes
from edgesvm.contract.sparse import SparseRows, stacked
from edgesvm.errors import ConvergenceWarning
from edgesvm.fleet.pairs import MergeError, Pair
from edgesvm.fleet.scales import Scale
from edgesvm.learner import Learner
from edgesvm.learners.batch.batch import BatchSVM
from edgesvm.learners.papers.enclosing.enclosing import EnclosingMachine
from edgesvm.learners.twin.twins import TwinVectorMachine


class Vectors(NamedTuple):
    """Vectors of two classes: rows, the slot and the weight of each, and which vector of the
    learner it belongs to (a twin has a row for each class)."""

    rows: Any  # ndarray or SparseRows
    slots: np.ndarray
    weights: np.ndarray
    owner: np.ndarray

    def where(self, kept: np.ndarray) -> Vectors:
        return Vectors(*(values[kept] for values in self))


def has_vectors(learner: Learner) -> bool:
    """Whether learners of this class can be merged by their vectors."""
    of_kind = isinstance(learner, BatchSVM | EnclosingMachine | TwinVectorMachine)
    return of_kind and learner.takes_labels


def union(pair: Pair, scales: tuple[Scale, Scale, Scale] | None, inner: Learner) -> Learner:
    """The learner of both unions, unscaled: behind a standardizer its arrays are then copied.

    `inner` has the parameters of the learner that is merged.
    """
    both = []
    for k, learner in enumerate((pair.first, pair.second)):
        found = _vectors(getattr(learner, "learner_", learner))
        rows = found.rows if scales is None else scales[k].points_in(scales[2], found.rows)
        slots = found.slots if k == 0 else pair.slots[found.slots]
        both.append(found._replace(rows=rows.astype(inner.dtype), slots=slots))
    first, second = both
    n_first = int(first.owner.max(initial=-1)) + 1
    second = second._replace(owner=second.owner + n_first)
    vectors = Vectors(*(stacked(arrays) for arrays in zip(first, second, strict=True)))
    room = int(getattr(inner, inner._capacity))
    n = len(np.unique(vectors.owner))
    if n > room and isinstance(inner, EnclosingMachine):
        raise MergeError(
            f"the core sets have {n} vectors together, max_core={room}: a ball around some of them"
            f" decides far worse; give a budget of {_bytes_of(n, inner, vectors)} or more, or merge"
            " TwinVectorMachine instead"
        )
    if n > room:
        vectors = _shuffled(vectors) if _makes_room(inner) else _heaviest(vectors, room, inner)
    learner = inner.like_new().as_part()  # a twin may weigh as much as many samples
    if pair.closed or len(pair.labels) == 2:
        learner.allocate(vectors.rows.shape[1], classes=(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return learner.fit(vectors.rows, vectors.slots, sample_weight=vectors.weights)


def _bytes_of(n: int, inner: Any, vectors: Vectors) -> str:
    """What a learner with room for n vectors takes."""
    return format_bytes(inner.with_capacity(n).plan(vectors.rows.shape[1]).total)


def _vectors(learner: Any) -> Vectors:
    """What a learner stands on."""
    core = learner._fitted
    flip = core.labels.sign
    if isinstance(learner, TwinVectorMachine):
        weights = learner.weights_[:, ::flip]  # by slot
        owner, slots = np.nonzero(weights)
        return Vectors(learner.twins_[owner], slots, weights[owner, slots], owner)
    slots = (flip * learner.dual_coef_[0] > 0).astype(np.intp)
    if isinstance(learner, EnclosingMachine):
        weights = 1.0 / (learner.C * learner._held("own")[learner._supports])
    else:
        weights = np.abs(core.views["bound"][: len(slots)]) / learner.C
    return Vectors(learner.support_vectors_, slots, weights, np.arange(len(slots)))


def _makes_room(inner: Learner) -> bool:
    """Whether it merges vectors itself when it is full."""
    return isinstance(inner, TwinVectorMachine)


def _shuffled(vectors: Vectors) -> Vectors:
    """In another order, always the same: one part after the other, the last would prevail."""
    return vectors.where(np.random.default_rng(0).permutation(len(vectors.rows)))


def _heaviest(vectors: Vectors, room: int, inner: Any) -> Vectors:
    """The vectors with the largest coefficients in the exact SVM of all, in their order."""
    n = len(vectors.rows)
    exact = BatchSVM(
        C=float(inner.C),
        kernel=inner.kernel_for(vectors.rows.shape[1]),
        max_samples=n,
        cache=max(64 * n, 1 << 23),
        dtype=inner.dtype,
        max_nonzeros=len(vectors.rows.data) if isinstance(vectors.rows, SparseRows) else None,
    ).as_part()
    exact.fit(vectors.rows, vectors.slots, sample_weight=vectors.weights)
    alpha = np.bincount(vectors.owner, exact.alpha_)
    best = np.argsort(-alpha, kind="stable")[:room]
    return vectors.where(np.isin(vectors.owner, best))
