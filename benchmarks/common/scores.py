"""How means and bytes are counted and shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def mean_deviation(values: Sequence[float], n_wanted: int | None = None) -> str:
    """Mean and sample deviation, which one value has not; the number of values in brackets where it
    is not `n_wanted`.
    """
    counted = "" if n_wanted in (None, len(values)) else f" ({len(values)})"
    deviation = f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
    return f"{np.mean(values):.2f}{deviation}{counted}"


def float_bytes(values: Iterable[object]) -> int:
    """Bytes of the floating-point arrays among the values, each buffer counted once."""
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    owners = {id(a if a.base is None else a.base): a for a in arrays}
    return sum(a.nbytes for a in owners.values() if a.dtype.kind == "f")


def yes(holds: bool) -> str:
    """An answer that stands out where it is bad."""
    return "yes" if holds else "NO"
