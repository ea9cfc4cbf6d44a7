"""Auto: the public class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from edgesvm.budget import MemoryPlan
from edgesvm.contract.core import common_arrays
from edgesvm.contract.engine import of_engine
from edgesvm.contract.labels import Labels
from edgesvm.contract.params import whole
from edgesvm.contract.registry import registered
from edgesvm.core.constants import MEAN_WEIGHT_BYTES
from edgesvm.errors import MemoryBudgetError
from edgesvm.learner import Learner, Place
from edgesvm.learners.auto._auto import CANDIDATES, FOURIER, AutoCore
from edgesvm.learners.fourier.fourier_svm import FourierSVM
from edgesvm.learners.stream.stream import KernelStreamSVM, StreamSVM
from edgesvm.persist.format import Wrapped

__all__ = ["Auto"]

FEWEST_VECTORS = 16  # a smaller store is not worth its bytes
FEWEST_DIRECTIONS = 4
MOST_BYTES = 1 << 40
STAGES = range(4)  # bit c of a stage's number: candidate c, before FourierSVM, has ended


class Spot(NamedTuple):
    """A candidate and its place in the pool."""

    learner: Learner
    plan: MemoryPlan
    offset: int


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class Auto(Learner):
    """Chooses its learner itself, inside one budget.

    `StreamSVM`, `KernelStreamSVM` and `FourierSVM` learn side by side, each judged on every sample
    before it learns it, and whichever was wrong least often lately answers. One that is clearly
    behind ends, and its bytes go to `FourierSVM`. Scale the features first (`Standardized`).

    Parameters
    ----------
    max_bytes : int, default 16384
        Bytes that all of it may take; `within` sets it.
    seed : int, default 0
        Seed of FourierSVM's directions, 0 to 2^32 - 1.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and weights.

    Attributes
    ----------
    answers_ : str, the class name of the candidate that answers
    candidates_ : dict of the candidates at work, learner by class name
    lapses_ : dict of the share of about the last 1,000 samples that each had wrong
    n_left_out_ : int
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Successive halving (Jamieson & Talwalkar 2016) in one arena. Reviews come after 2,000, 4,000,
    8,000, ... samples. A candidate ends if it had e samples wrong in the second half of these, the
    best had b, and e - b > 2 sqrt(e + b): if they differ by more than two standard errors.
    Candidates that are level stay.

    At first a plane takes what it needs, and the other two share the rest; a `KernelStreamSVM`
    that would have room for fewer than 16 vectors is left out. `FourierSVM` grows without losing
    anything: further directions begin with weights of zero. A `KernelStreamSVM` keeps its size.

    A sample is learned by all candidates or by none: if the first refuses it, none learns it. A
    candidate that alone refuses it, because of an overflow, is counted in ``n_left_out_``.

    Bytes: at most ``max_bytes``; what the smallest takes if that is more. Time: that of all
    candidates at work, and a decision of each.

    Examples
    --------
    >>> from edgesvm import Auto, Standardized
    >>> from edgesvm.data import Checkerboard
    >>> model = Standardized.within("8KiB", n_features=2, learner=Auto())
    >>> model.partial_fit(*Checkerboard(seed=1).read(8000)).learner_.answers_
    'FourierSVM'
    """

    _capacity = "max_bytes"
    _compiled = AutoCore

    max_bytes: int = 16384
    seed: int = 0
    dtype: str = "float32"

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 1, MOST_BYTES

    def _check_params(self) -> None:
        whole("max_bytes", self.max_bytes, 1, MOST_BYTES)
        whole("seed", self.seed, 0, (1 << 32) - 1)

    # -- snapshots ---------------------------------------------------------------------------------

    # A snapshot says how many bytes all takes but for its mean weight. Earlier builds, which had
    # none, said the same.

    def _described(self, params: dict[str, Any]) -> Wrapped:
        return super()._described({**params, "max_bytes": params["max_bytes"] - MEAN_WEIGHT_BYTES})

    @classmethod
    def _of_params(cls, claimed: Mapping[str, Any]) -> Any:
        said = claimed.get("max_bytes")
        most = said + MEAN_WEIGHT_BYTES if isinstance(said, int) else said
        return super()._of_params({**claimed, "max_bytes": most})

    # -- memory ------------------------------------------------------------------------------------

    def _own_arrays(self) -> list[tuple[str, str, tuple[int, ...]]]:
        return [
            ("ended", "i8", ()),
            ("n_left_out", "i8", ()),
            ("n_wrong", "i8", (CANDIDATES,)),
            ("candidate_lapses", "f8", (CANDIDATES,)),
        ]

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        *_, n_bytes = self._pool(n_features)
        return [*self._own_arrays(), ("pool", "u1", (n_bytes,))]

    def _pool(self, n_features: int) -> tuple[StreamSVM, KernelStreamSVM | None, FourierSVM, int]:
        """The plane, the store if there is room for one, the smallest FourierSVM, and the bytes of
        the pool."""
        own = MemoryPlan.of([*common_arrays(), *self._own_arrays()]).total + MEAN_WEIGHT_BYTES
        plane = StreamSVM(lookahead=0, dtype=self.dtype).as_part()
        room = (int(self.max_bytes) - own) // 8 * 8 - plane.plan(n_features).total
        store = self._store(room // 2, n_features)
        first = FourierSVM(n_directions=FEWEST_DIRECTIONS, seed=self.seed, dtype=self.dtype)
        first.as_part()
        smallest = [plane, first] if store is None else [plane, store, first]
        least = sum(learner.plan(n_features).total for learner in smallest)
        return plane, store, first, max(least, int(self.max_bytes) // 8 * 8 - own)

    def _spots(self, n_features: int) -> list[tuple[Spot | None, ...]]:
        """The candidates of each stage. The first two stand still; FourierSVM ends where the pool
        ends, and begins where the last of those before it that are left ends."""
        plane, store, first, end = self._pool(n_features)
        plans = [learner.plan(n_features) for learner in (plane, store) if learner is not None]
        stages: list[tuple[Spot | None, ...]] = []
        for stage in STAGES:
            before = self._before(stage, plans)
            grown = first.fitted_into(end - before, n_features)
            plan = grown.plan(n_features)
            stages.append(
                (
                    Spot(plane, plans[0], 0),
                    None if store is None else Spot(store, plans[1], plans[0].total),
                    Spot(grown, plan, end - plan.total),
                )
            )
        return stages

    def _before(self, stage: int, plans: list[MemoryPlan]) -> int:
        """Bytes of the pool that FourierSVM must leave to the others."""
        left = [c for c in range(len(plans)) if not stage >> c & 1]
        return sum(plan.total for plan in plans[: left[-1] + 1]) if left else 0

    def _store(self, room: int, n_features: int) -> KernelStreamSVM | None:
        # it does not forget: where errors become more, another candidate answers
        store = KernelStreamSVM(dtype=self.dtype, forgetting=None).as_part()
        try:
            store = store.fitted_into(max(room, 0), n_features)
        except MemoryBudgetError:
            return None
        return store if store.max_vectors >= FEWEST_VECTORS else None

    def _build(self, engine: str, place: Place) -> Any:
        (pool,) = (array for array in place.plan.arrays if array.name == "pool")
        part = place._replace(labels=Labels([0, 1]))

        def core(spot: Spot | None) -> Any:
            if spot is None:
                return None
            arena = place.arena.part(pool.offset + spot.offset, spot.plan.total)
            return spot.learner._build(engine, part._replace(plan=spot.plan, arena=arena))

        first, *later = self._spots(place.n_features)
        cores = [tuple(core(spot) for spot in first)]
        cores += [(*cores[0][:FOURIER], core(spots[FOURIER])) for spots in later]
        return of_engine(self._compiled, engine)(*place, stages=cores)

    def _inner_readers(self, core: Any) -> dict[str, Any]:
        def reader(spot: Spot | None, part: Any) -> Any:
            return None if spot is None else spot.learner._reader(part)

        stages = zip(self._spots(core.n_features), core.stages, strict=True)
        return {"stages": [tuple(map(reader, *stage)) for stage in stages]}

    # -- what it holds -----------------------------------------------------------------------------

    @property
    def _names(self) -> list[str]:
        return ["StreamSVM", "KernelStreamSVM", "FourierSVM"]

    @property
    def answers_(self) -> str:
        """The class name of the candidate that answers."""
        return self._names[self._fitted.answering]

    @property
    def candidates_(self) -> dict[str, Any]:
        """The candidates at work, by class name, as learners in this memory. For reading only."""
        core = self.core
        spots = self._like_built()._spots(core.n_features)[int(core.views["ended"]) & 3]
        return {
            name: spot.learner._at_work(part, self._engine)
            for name, spot, part in zip(self._names, spots, core.parts, strict=True)
            if spot is not None and part is not None
        }

    def _like_built(self) -> Auto:
        """With the parameters that the memory was planned with."""
        return type(self)(**self._held_state.params)

    @property
    def lapses_(self) -> dict[str, float]:
        """Share of about the last 1,000 samples that each candidate at work had wrong."""
        core = self.core
        shares = core.views["candidate_lapses"].tolist()
        named = zip(self._names, shares, core.parts, strict=True)
        return {name: share for name, share, part in named if part is not None}

    @property
    def n_left_out_(self) -> int:
        """Number of times a candidate refused a sample that another had learned."""
        return int(self.core.views["n_left_out"])
