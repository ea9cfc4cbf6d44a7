"""Memory of the learners that solve by SMO: rows in tiles, the solver's arrays, its cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.budget import parse_bytes
from edgesvm.contract.params import positive, whole
from edgesvm.contract.sparse import SparseRows
from edgesvm.learner import MAX_CAPACITY
from edgesvm.learners.kernel_learner import KernelLearner

LANES = {"float32": 16, "float64": 8}  # rows of a tile: 64 bytes of each feature
MOST_NONZEROS = (1 << 31) - 1 - 2 * MAX_CAPACITY  # entries are counted in 32 bits
ROW_MULTIPLE = 16  # numbers of a cached kernel row: whole tiles, in either dtype

Arrays = list[tuple[str, str, tuple[int, ...]]]


@dataclass(kw_only=True, eq=False, repr=False)
class SmoLearner(KernelLearner):
    """Base of the learners whose arena ends in `smo_arrays`."""

    shuffles: ClassVar[bool] = False  # their solution has no order, or the last samples are kept

    tol: float = 1e-3
    max_iter: int | None = None

    def _check_params(self) -> None:
        positive("C", self.C)
        positive("tol", self.tol)
        if self.max_iter is not None:
            whole("max_iter", self.max_iter, 1, 1 << 62)
        self.kernel_for(1)

    def _used(self, core: Any) -> list[slice]:
        # The cache is zero between solutions: writing it would touch all its pages.
        cache = self._place(core, "cache")
        return [slice(0, cache.start), slice(cache.stop, core.arena.nbytes)]


def smo_arrays(
    n: int, n_features: int, dtype: str, cache: int | str, nonzeros: int | None = None
) -> Arrays:
    """The arrays of a solver of at most `n` rows, or of so many with as many `nonzeros`; the cache
    of `cache` bytes comes last.

    The whole matrix is enough: a larger cache is limited to it.
    """
    wide, lanes = padded(n), LANES[dtype]
    rows: Arrays = [("rows", dtype, (wide // lanes, n_features, lanes))]
    return [
        *(rows if nonzeros is None else nonzero_arrays(n, dtype, nonzeros)),
        ("bound", "f8", (n,)),
        ("beta", "f8", (wide,)),
        ("order", "i4", (n,)),
        ("gradient", "f8", (n,)),
        *((name, "f4", (wide,)) for name in ("diagonal", "state", "spare")),
        *((name, "i4", (n,)) for name in ("slot", "owner", "filled")),
        ("used", "i8", (n,)),
        ("point", dtype, (n_features,)),
        ("cache", "f4", (min(parse_bytes(cache) // 8 * 2, max(n, 2) * wide),)),
    ]


def nonzero_arrays(n: int, dtype: str, nonzeros: int, prefix: str = "") -> Arrays:
    """The arrays of at most `n` rows with as many `nonzeros`, see core/nonzeros.pyx."""
    shapes: list[tuple[str, str, tuple[int, ...]]] = [
        ("starts", "i8", (n,)),
        ("lengths", "i4", (n,)),
        ("columns", "i4", (nonzeros + n,)),
        ("values", dtype, (nonzeros + n,)),
        ("taken", "i8", (2,)),
    ]
    return [(prefix + name, kind, shape) for name, kind, shape in shapes]


def stored_rows(
    views: Mapping[str, np.ndarray], which: slice | np.ndarray, n_features: int, prefix: str = ""
) -> SparseRows:
    """Some rows of `nonzero_arrays`, a copy."""
    starts, lengths = (views[prefix + name][which] for name in ("starts", "lengths"))
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    entries = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths.astype(np.intp))
    values, columns = views[f"{prefix}values"][entries], views[f"{prefix}columns"][entries]
    return SparseRows(values, columns - 1, ends, (len(starts), n_features)).astype(values.dtype)


def padded(n: int) -> int:
    """The next multiple of 16."""
    return -(-int(n) // ROW_MULTIPLE) * ROW_MULTIPLE


def most_rows(cache: int | str) -> int:
    """The length of the longest kernel row such that two fit into the cache."""
    return parse_bytes(cache) // (8 * ROW_MULTIPLE) * ROW_MULTIPLE


def check_cache(cache: int | str, n: int, rows: str) -> None:
    """Refuse a cache without room for two kernel rows of `n` numbers; `rows` describes `n`."""
    least = 8 * padded(n)
    if parse_bytes(cache) < least:
        raise ValueError(
            f"cache={cache!r} is too small: two kernel rows of {rows} numbers take {least:,} bytes"
        )
