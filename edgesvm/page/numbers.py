"""Numbers as JSON has them."""

from __future__ import annotations

import math


def plain(value: float | None) -> float | None:
    """Six digits of a number; None for what JSON has no number for."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.6g}")
