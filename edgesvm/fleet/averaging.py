"""Learners by gradient steps: the mean of their weights by samples learned, as in federated
averaging (McMahan, Moore, Ramage, Hampson & Agüera y Arcas 2017, Algorithm 1).

A decision value is linear in the weights, so that of the merged learner is the mean of theirs: for
the last weights and for their mean alike, up to the rounding of a weight. `FourierSVM` of one seed
has the same directions everywhere, but learns amplitudes of their widths, so it is the product of
weight and amplitude that is averaged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from edgesvm.fleet.pairs import Pair
from edgesvm.fleet.scales import Scale
from edgesvm.learners.fourier._directions import BLOCK, WIDTHS
from edgesvm.learners.fourier.constants import FADED, FIRST_TILT

Scales = tuple[Scale, Scale, Scale]  # of the first, the second and the merged


def averaged(pair: Pair, scales: Scales | None = None) -> dict[str, Any]:
    """The arrays of the merged learner, by name."""
    (mine, theirs), (n_1, n_2) = pair.views(), pair.learned
    share = n_2 / (n_1 + n_2)

    def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a + share * (b - a)

    arrays = {
        "G": mine["G"] + _in_slots(pair, theirs["G"]),
        "error_rates": between(mine["error_rates"], theirs["error_rates"]),
    }
    if "tilt" in mine:
        tilt = between(mine["tilt"], theirs["tilt"])
        tilt -= (FIRST_TILT + tilt).max()
        arrays["tilt"] = np.maximum(tilt, -FADED - np.array(FIRST_TILT))
        arrays["tilt_squares"] = mine["tilt_squares"] + theirs["tilt_squares"]
    for name in ("w", "w_mean"):
        a, b = effective(mine, name), effective(theirs, name)
        if len(b) == 1:
            b *= pair.sign
        if scales is not None:
            a, b = scales[0].plane_in(scales[2], a), scales[1].plane_in(scales[2], b)
        arrays[name] = of_effective(between(a, _in_slots(pair, b)), {**mine, **arrays})
    return arrays


def effective(views: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """Weights times the amplitudes of their features, float64: what a decision is linear in."""
    return views[name].astype(np.float64) * _factors(views)


def of_effective(weights: np.ndarray, views: Mapping[str, np.ndarray]) -> np.ndarray:
    """The weights of which these are the products with the amplitudes of `views`."""
    return weights / _factors(views)


def _factors(views: Mapping[str, np.ndarray]) -> Any:
    if "tilt" not in views:
        return 1.0
    return _amplitudes(views["tilt"])[_group(len(views["angle"]), views["w"].shape[1])]


def _in_slots(pair: Pair, rows: np.ndarray) -> np.ndarray:
    """A row for each of the merged learner's classes; with two classes there is one row in all."""
    if len(rows) == 1:
        return rows
    placed = np.zeros(rows.shape)
    placed[pair.slots] = rows[: len(pair.slots)]
    return placed


def _amplitudes(tilt: np.ndarray) -> np.ndarray:
    a = np.exp(FIRST_TILT + tilt)
    amplitudes: np.ndarray = a / np.sqrt((a * a).mean())
    return amplitudes


def _group(n: int, width: int) -> np.ndarray:
    """Which amplitude each weight's feature has: those of n directions lie in blocks, the cosines
    of a block first; x and the constant have the last."""
    group = np.full(width, WIDTHS)
    blocks = [np.arange(at, min(at + BLOCK, n)) % WIDTHS for at in range(0, n, BLOCK)]
    group[: 2 * n] = np.concatenate([np.tile(block, 2) for block in blocks])
    return group
