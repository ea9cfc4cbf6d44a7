"""How means and bytes are counted and shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def mean_deviation(values: Sequence[float], n_wanted: int | None = None) -> str:
    """Mean and sample deviation; the number of values in brackets where it is not `n_wanted`."""
    deviation = np.std(values, ddof=1) if len(values) > 1 else 0.0
    counted = "" if n_wanted in (None, len(values)) else f" ({len(values)})"
    return f"{np.mean(values):.2f} ± {deviation:.2f}{counted}"


def float_bytes(values: Iterable[object]) -> int:
    """Bytes of the floating-point arrays among the values, each buffer counted once."""
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    owners = {id(a if a.base is None else a.base): a for a in arrays}
    return sum(a.nbytes for a in owners.values() if a.dtype.kind == "f")


def yes(holds: bool) -> str:
    """An answer that stands out where it is bad."""
    return "yes" if holds else "NO"
