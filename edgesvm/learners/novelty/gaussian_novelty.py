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
        "diagonal" leaves out which features go together: 20 D + 2 D s bytes instead of some 4 D^2.
    alarm_rate : float, default 1e-3
        Share of normal samples that may raise an alarm; 1e-9 to 0.05.
    learn : {"normal", "all", "until N"}, default "normal"
        "normal": what alarms is not learned, nor is anything until ten samples in a row raise no
        alarm, so a fault does not become normal by lasting. "all": everything is learned. "until
        5000": the first 5000 samples are learned whatever they score, and nothing after them; the
        threshold stands still too. N is from 20 to 2^30.
    warm_up : int, default 100
        Samples at the start that are learned whatever they score; with "until N" it is N.
    dtype : {"float32", "float64"}, default "float32"
        Type of the samples.
    stuck : {"skip", "learn"}, default "skip"
        What becomes of the samples of a sensor that repeats its value; see Notes. With "learn", as
        in snapshots of earlier builds, neither that nor alarms that do not end are noticed.

    Attributes
    ----------
    offset_ : float
    mean_, scale_ : ndarray of shape (n_features,), float64
    n_alarms_, n_stuck_, n_lost_, n_seen_, n_updates_, n_features_in_
    stuck_features_ : list of int
    is_lost_, is_frozen_ : bool
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
    there, both corrected by how many scores were above; seven numbers in all. Where nothing is
    learned after an alarm it does not move, and then the alarms count once.

    A feature that used to change with nearly every sample and then repeats its value 50 times is
    stuck until it changes, as is a sample as a whole. What comes meanwhile is neither learned nor
    an alarm, but counted in ``n_stuck_``. Once half of about the last 700 samples are alarms, the
    learner is lost: what is normal has changed, or a fault lasts. It says so by ``is_lost_``, and
    starts over when that has lasted for more samples than it had learned, or 10,000; once frozen it
    does not.

    Bytes: see ``plan``; 16 + 16 + 24 + 56 + n_features (16 + s), s = 4 or 8, with stuck="skip"
    n_features (4 + s) + 36, and with the full covariance 4 n_features (n_features + 1) + 24
    n_features + 16, and padding. Time: O(n_features) per sample, with the full covariance
    O(n_features^2).

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
    _param_order = ("covariance", "alarm_rate", "learn", "warm_up", "dtype", "stuck")

    covariance: str = "full"

    def _check_params(self) -> None:
        super()._check_params()
        one_of("covariance", self.covariance, "full", "diagonal")

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 0, 0

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        factor = [
            ("factor", "f8", (packed_length(n_features),)),
            ("scratch", "f8", (3 * n_features + 2,)),
        ]
        return [*self._scales(n_features), *(factor if self.covariance == "full" else [])]
