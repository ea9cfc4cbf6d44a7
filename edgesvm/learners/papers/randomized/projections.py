"""How many support vectors keep the margin: Theorems 1 to 3 and equation 4 of Krishnan,
Bhattacharyya & Hariharan (NIPS 2007), and the projections that their proofs use."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.contract.params import positive, whole

__all__ = ["estimated_support", "orthogonal_extension", "random_projection", "support_for_margin"]

MOST = 1 << 62  # a count in an arena


def estimated_support(
    n_samples: int, epsilon: float = 0.2, delta: float = 0.9, *, separable: bool = False
) -> int:
    """k of equation 4: so many support vectors keep the margin with a probability of at least 1 -
    delta, if the rows are of unit norm.

    At the default delta, the paper's, the promise is a probability of 0.1, hardly one. The
    rows must be of unit norm in the space of the kernel, k(x, x) = 1: an RBF kernel makes them so,
    for a linear one they are to be scaled. For other rows see `support_for_margin`.

    ceil(32 / epsilon^2 log(4 n / delta)), or with 16 if the classes are linearly separable, as in
    section 3 of the paper. It grows only with log n, but with 1 / epsilon^2: at the defaults 10,404
    for n = 10^5 and 12,246 for 10^6, at epsilon = 0.05 166,459.

    Parameters
    ----------
    n_samples : int, >= 1
    epsilon : float, default 0.2
        The allowed distortion of norms, 0 < epsilon < 1.
    delta : float, default 0.9
        The largest probability that it fails, 0 < delta < 1.
    separable : bool, default False
    """
    factor = 16.0 if separable else 32.0
    return _count(factor * math.log(4.0 * n_samples / delta) / max(epsilon * epsilon, 1e-300))


def support_for_margin(
    n_samples: int,
    margin: float,
    radius: float = 1.0,
    *,
    loss: float = 0.2,
    delta: float = 0.9,
    n_removed: int = 0,
) -> int:
    """k of Theorems 1 to 3, for data whose margin is known: ``RandSVM(k=support_for_margin(...))``.

    ceil(8 / loss^2 (1 + (1 + radius^2) / (2 margin))^2 log(4 n / delta) + n_removed)

    Theorem 1: a random projection to k dimensions keeps the margin (1 - loss) l* with probability
    at least 1 - delta. Theorem 2: at most k training points then define a hyperplane of that margin
    in the original space. Theorem 3: for data that are separable without `n_removed` points (the
    paper's kappa n, its bounded support vectors) these are added.

    Parameters
    ----------
    n_samples : int, >= 1
    margin : float, > 0
        l*, the distance of the nearest points to the hyperplane, 1 / |w|.
    radius : float, > 0, default 1.0
        L, the largest norm of a point, in the space of the kernel.
    loss : float, default 0.2
        The paper's gamma, the share of the margin that may be lost, between 0 and 1.
    delta : float, default 0.9
        Between 0 and 1.
    n_removed : int, default 0

    Raises
    ------
    ValueError
        A parameter is out of range.

    Examples
    --------
    >>> from edgesvm.learners.papers.randomized.projections import support_for_margin
    >>> support_for_margin(100_000, margin=0.5)
    23409
    """
    whole("n_samples", n_samples, 1, MOST)
    whole("n_removed", n_removed, 0, MOST)
    for name, value in (("loss", loss), ("delta", delta)):
        if not positive(name, value) < 1.0:
            raise ValueError(f"{name}={value!r}: give a number between 0 and 1")
    # equation 1: what the norms may lose for the margin to lose `loss`
    factor = 1.0 + (1.0 + positive("radius", radius) ** 2) / (2.0 * positive("margin", margin))
    epsilon = loss / factor
    return _count(8.0 * math.log(4.0 * n_samples / delta) / max(epsilon**2, 1e-300) + n_removed)


def _count(k: float) -> int:
    return math.ceil(min(k, float(MOST)))


def random_projection(n_features: int, k: int, seed: int = 0) -> np.ndarray:
    """R of Lemma 2: independent N(0, 1), ndarray of shape (n_features, k), float64.

    ``X @ R / sqrt(k)`` are the projected rows; their squared norms are those of X on average.
    """
    whole("n_features", n_features, 1, MOST)
    whole("k", k, 1, MOST)
    return np.random.default_rng(seed).standard_normal((n_features, k))


def orthogonal_extension(w: ArrayLike, projection: ArrayLike) -> np.ndarray:
    """The hyperplane of the original space that decides as `w` does on projected rows.

    With R the first k columns of a basis, the paper fills w up with zeros in the other coordinates.
    In those of the data that is R w / sqrt(k), so that x . R w / sqrt(k) = w . (R' x / sqrt(k)) for
    every row: the functional margin y (w . x' + b) is kept exactly. The distance to the hyperplane
    is that margin divided by |R w| / sqrt(k), about sqrt(n_features / k) |w| for a Gaussian R and
    |w| for one with columns of norm sqrt(k), orthogonal to each other.

    Parameters
    ----------
    w : ndarray of shape (k,)
    projection : ndarray of shape (n_features, k), such as `random_projection`

    Returns
    -------
    ndarray of shape (n_features,), float64
    """
    R = np.asarray(projection, np.float64)
    return R @ np.asarray(w, np.float64) / math.sqrt(R.shape[1])
