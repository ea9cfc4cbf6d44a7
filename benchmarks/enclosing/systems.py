"""The systems of the paper's tables, in the order of their columns: another is one more entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from edgesvm import LASVM, BallVectorMachine, CoreVectorMachine, SimpleSVM
from edgesvm.kernels import Kernel
from edgesvm.learners.papers.enclosing.enclosing import EnclosingMachine

EPSILONS = (1e-4, 1e-5, 1e-6)


@dataclass(frozen=True)
class System:
    """`make` gives the two-class learner of an epsilon, C, kernel, number of rows that it can hold,
    bytes of cache and seed.
    """

    make: Callable[..., Any]
    is_ours: bool = True
    epsilons: tuple[float, ...] = (0.0,)
    shuffled: bool = False  # the seed orders the rows, since the learner draws none itself
    tells_passes: bool = False  # to the `progress` of `fit`
    title: str = ""  # of the paper's column
    in_tables: bool = True


def enclosing(
    kind: type[EnclosingMachine],
    *,
    epsilon: float,
    C: float,
    kernel: Kernel,
    room: int,
    **rest: Any,
) -> EnclosingMachine:
    """With the paper's tolerance, or another."""
    params = {"margin_tol": None, **rest}
    return kind(epsilon=epsilon, C=C, kernel=kernel, max_core=room, **params)


def lasvm(*, C: float, kernel: Kernel, room: int, **_: Any) -> LASVM:
    return LASVM(C=C, kernel=kernel, max_vectors=room)


def simple(*, C: float, kernel: Kernel, room: int, **_: Any) -> SimpleSVM:
    """Its memory grows with the square of the room."""
    return SimpleSVM(C=C, kernel=kernel, max_vectors=min(room, 8192))


def svc(*, C: float, kernel: Any, cache: int, **_: Any) -> Any:
    from sklearn.svm import SVC

    return SVC(C=C, gamma=kernel.gamma, cache_size=cache >> 20)


def of_balls(kind: type[EnclosingMachine]) -> System:
    return System(partial(enclosing, kind), epsilons=EPSILONS, tells_passes=True)


SYSTEMS = {
    "BVM": of_balls(BallVectorMachine),
    "CVM": of_balls(CoreVectorMachine),
    "SVC": System(svc, is_ours=False, title="LIBSVM"),
    "LASVM": System(lasvm, shuffled=True),
    "SimpleSVM": System(simple, shuffled=True),
    "BVM margin": System(
        partial(enclosing, BallVectorMachine, margin_tol=0.1), tells_passes=True, in_tables=False
    ),
    "CVM literal": System(
        partial(enclosing, CoreVectorMachine, bulk=False), tells_passes=True, in_tables=False
    ),
}
