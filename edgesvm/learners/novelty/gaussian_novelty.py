"""GaussianNovelty: the public class."""

from __future__ import annotations

from dataclasses import dataclass

from edgesvm.contract.params import one_of
from edgesvm.contract.registry import registered
from edgesvm.core.packed_factor import packed_length
from edgesvm.learners.novelty._gaussian_novelty import GaussianNoveltyCore
from edgesvm.learners.novelty.novelty_learner import NoveltyLearner

__all__ = ["GaussianNovelty"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class GaussianNovelty(NoveltyLearner):
    """What is normal as one Gaussian: running mean and covariance, Mahalanobis distance. No labels.

    Show it samples of a machine that runs well. Each sample is scored before it is learned, and the
    scores set the threshold. It scales its features itself.

    Parameters
    ----------
    covariance : {"full", "diagonal"}, default "full"
        "diagonal" leaves out which features go together: 36 D + 2 D s bytes instead of some 8 D^2.
    alarm_rate : float, default 1e-3
        Alarms a sample, in the long run; 1e-9 to 0.05. The threshold follows the alarms, so the
        rate holds on whatever comes, faults included.
    learn : {"normal", "all", "until N"}, default "normal"
        "normal": nothing is learned during an alarm, so a fault does not become normal at once.
        "all": everything is learned. "until 5000": the first 5000 samples are learned whatever they
        score, and nothing after them; the threshold still follows. N is from 20 to 2^30.
    warm_up : int, default 100
        Samples at the start that are learned whatever they score; with "until N" it is N.
    dtype : {"float32", "float64"}, default "float32"
        Type of the samples.
    stuck : {"skip", "learn"}, default "skip"
        What becomes of the samples of a sensor that repeats its value; see Notes.
    alarm : "K/N", default "1/1"
        An alarm begins where K of the last N scores are above the threshold; N at most 64.

    Attributes
    ----------
    offset_ : float
    mean_, scale_ : ndarray of shape (n_features,), float64
    n_alarms_, n_strange_, n_stuck_, n_lost_, n_seen_, n_updates_, n_features_in_
    stuck_features_ : list of int
    alarm_on_, is_lost_, is_frozen_, has_former_ : bool
    alarm_share_ : float

    Notes
    -----
    ``score_one`` is d / sqrt(n_features), d the Mahalanobis distance of a sample whose features
    are scaled by their running mean and deviation: some 1 for normal samples. What is z > 8
    deviations away counts as 8 + log(z / 8), so that one wild feature does not outweigh all
    others. The covariance is that of the scaled samples, cut at 8, and one more with the identity.

    ``shares_one``: feature j counts by (A^-1 z)_j^2 / (A^-1)_jj, A the covariance and z the scaled
    sample; d^2 is less by that where z_j is what the others lead one to expect. One feature that is
    off has the largest share (reconstruction-based contributions: Alcala & Qin 2009). With a
    diagonal that is z_j^2. Time: O(n_features^3), or O(n_features) with a diagonal.

    The threshold is a level that a tenth of the scores is above, and an exponential tail from
    there. Each alarm lifts it and each sample without lowers it, as much as keeps the rate
    (adaptive conformal inference: Gibbs & Candes 2021): T samples have at most ``alarm_rate`` T
    alarms and a number that does not grow with T, whatever they are. ``predict_one`` holds a single
    score against the threshold; an alarm, ``alarm_on_``, lasts from the first such sample (or K of
    N) until max(0.05 / alarm_rate, 5), at most 60, samples in a row are well below it. One that
    lasts counts again after 1 / alarm_rate samples.

    A feature that used to change with nearly every sample and then repeats its value 50 times is
    stuck until it changes, as is a sample as a whole. What comes meanwhile is neither learned nor
    an alarm, but counted in ``n_stuck_``.

    Once half of about the last 350 samples are in an alarm, the learner is lost: what is normal has
    changed, or a fault lasts. It says so by ``is_lost_``, learns anew from 250 samples, and keeps
    its model beside; where that explains 50 samples in a row and the new one does not, it comes
    back. With "until N" only the threshold is learned anew.

    Bytes: see ``plan``; 112 + D s, D = n_features, s = 4 or 8, with stuck="skip" D (s + 4) + 4; two
    models of 64 + 8 N + 16 D and with the full covariance 4 D (D + 1); its scratch, 24 D + 16; and
    padding. Time: O(D) per sample, with the full covariance O(D^2).

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import GaussianNovelty
    >>> X = np.random.default_rng(0).standard_normal((2000, 3)).astype(np.float32)
    >>> X[:, 2] = X[:, 0] + X[:, 1]
    >>> model = GaussianNovelty().partial_fit(X)
    >>> fine, odd = np.float32([1.0, 1.0, 2.0]), np.float32([1.0, 1.0, -2.0])
    >>> model.predict_one(fine), model.predict_one(odd)
    (1, -1)
    """

    _compiled = GaussianNoveltyCore
    _param_order = ("covariance", "alarm_rate", "learn", "warm_up", "dtype", "stuck", "alarm")

    covariance: str = "full"

    def _check_params(self) -> None:
        super()._check_params()
        one_of("covariance", self.covariance, "full", "diagonal")

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 0, 0

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        if self.covariance == "diagonal":
            return self._scales(n_features)
        own = [("factor", "f8", (packed_length(n_features),))]
        return self._scales(n_features, own, [("scratch", "f8", (3 * n_features + 2,))])
