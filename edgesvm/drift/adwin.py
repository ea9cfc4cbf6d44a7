"""Adwin: a window of errors that shrinks where they change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from edgesvm.contract.params import positive, whole
from edgesvm.drift._adwin import AdwinCore
from edgesvm.drift.detector import Detector

LEAST = 5  # errors on either side of a cut


@dataclass(kw_only=True, eq=False)
class Adwin(Detector):
    """Finds where a learner's errors become more, by a window that shrinks where they change.

    Add the error of each sample; `add` says whether errors are found to be more than before. The
    window then begins after the change.

    Parameters
    ----------
    delta : float, default 0.02
        Confidence: the bound on the probability of a false cut, 0 < delta < 1.
    every : int, default 32
        Errors from one look at the window to the next, 1 to 2^20.
    n_rows : int, default 14
        Sizes of buckets, 2 to 40: 1, 2, 4 and so on.
    per_row : int, default 5
        Buckets of one size, M, 2 to 100.

    Notes
    -----
    The window is an exponential histogram: up to M buckets that hold the sum of 1 error, M of 2, M
    of 4. A bucket more, and the two oldest of its size become one of the next size. Where the last
    row is full, its oldest bucket is forgotten: the window then has the last M (2^n_rows - 1)
    errors at most, 81,915 by default, and what is older counts no more.

    The window W of n errors is cut in two, W0 the older, wherever two buckets meet. That is a cut
    where

        abs(mean of W0 - mean of W1) > sqrt(2/m v ln(2/d)) + 2/(3m) ln(2/d)
        m = 1 / (1/n0 + 1/n1),   d = delta / ln n,   v = mean of W (1 - mean of W)

    (Bifet & Gavalda 2007, with the variance of W for v. Ours is that of errors that are 0 or 1, and
    more than that of others: then a drift is found later.) Either side has at least 5 errors. The
    W0 that is farthest beyond its bound is dropped, and so on until there is no cut. (The paper
    drops the oldest bucket only; then a change is found again at several of the next looks.) If
    what was dropped had a smaller mean than what is left, that is a drift; these means are
    `before_` and `now_`. Errors that become fewer shorten the window, and are no drift.

    Bytes: 40 + 8 n_rows (M + 2), 824 by default. Time: some 70 ns a sample, 25 in
    `add_many`. The defaults keep false alarms below one in 10^5 samples at any rate of error from
    0.5 to 50 % (`benchmarks/results/drift_detectors.md`).

    References
    ----------
    .. [1] A. Bifet & R. Gavalda, "Learning from Time-Changing Data with Adaptive Windowing", SIAM
       International Conference on Data Mining, 2007.

    Examples
    --------
    >>> from edgesvm import Adwin
    >>> detector = Adwin()
    >>> right, wrong = [0.0] * 9 + [1.0], [0.0, 1.0]  # one in ten wrong, then every second
    >>> found = detector.add_many(100 * right + 200 * wrong)
    >>> found.nonzero()[0].tolist(), detector.n_drifts_, detector.nbytes
    ([1055], 1, 824)
    >>> f"{detector.before_:.2f} before, {detector.now_:.2f} now"
    '0.10 before, 0.50 now'
    """

    delta: float = 0.02
    every: int = 32
    n_rows: int = 14
    per_row: int = 5

    _compiled: ClassVar[type[Any]] = AdwinCore

    def _check_params(self) -> None:
        if positive("delta", self.delta) >= 1.0:
            raise ValueError(f"delta={self.delta!r}: give a number below 1")
        whole("every", self.every, 1, 1 << 20)
        whole("n_rows", self.n_rows, 2, 40)
        whole("per_row", self.per_row, 2, 100)

    def _arrays(self) -> list[tuple[str, str, tuple[int, ...]]]:
        return [
            ("n_window", "i8", ()),
            ("n_in_row", "i8", (self.n_rows,)),
            ("sums", "f8", (self.n_rows, self.per_row + 1)),
        ]

    def _core_params(self) -> dict[str, Any]:
        return {"delta": float(self.delta), "every": int(self.every), "least": LEAST}
