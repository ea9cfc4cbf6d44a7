"""FourierSVR: the public class."""

from __future__ import annotations

from dataclasses import dataclass

from edgesvm.contract.registry import registered
from edgesvm.learners.fourier.directed_learner import WeighedLearner
from edgesvm.learners.regression._fourier_svr import FourierSVRCore
from edgesvm.learners.regression.stream_regressor import GradientRegressor

__all__ = ["FourierSVR"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class FourierSVR(WeighedLearner, GradientRegressor):
    """Kernel regression of a stream on random Fourier features, with an interval that holds.

    The features are those of `FourierSVM`: cosines and sines along random directions, drawn anew
    for each sample, so that neither samples nor directions are stored. Scale the features first
    (`Standardized`); the target is scaled here.

    `predict` answers for any sample. In a stream where the target of the sample just before is
    known, `forecast_one` is better, often by much.

    Parameters
    ----------
    n_directions : int, default 128
        Number of random directions. Each gives a cosine and a sine.
    gamma : float, optional
        Width of the kernel exp(-gamma |x - z|^2); > 0. Default: a mixture of four widths, 0.1, 0.5,
        2.2 and 10 times 1 / n_features, whose amplitudes are learned.
    loss : {"huber", "epsilon", "squared", "pinball"}, default "huber"
        Loss of an error, in standard deviations of the target: Huber's, quadratic up to 1; that of
        support vector regression, linear beyond `epsilon`; its square; or that of a quantile.
    epsilon : float, default 0.1
        Error that costs nothing with loss="epsilon", in standard deviations of the target; > 0.
    quantile : float, default 0.5
        Share of the targets to lie below the prediction with loss="pinball"; between 0 and 1.
    learning_rate : float, default 0.3
        Factor of all steps; > 0, at most 1e6.
    coverage : float, default 0.9
        Share of the targets that is to lie within the interval; between 0 and 1.
    label_delay : int, default 0
        How many samples later a target is known. Beyond 0 `forecast_one`
        answers as `predict_one`; give what it said to `learn_late_one`.
    seed : int, default 0
        Seed of the directions, 0 to 2^32 - 1.
    directions : {"auto", "independent", "orthogonal"}, default "auto"
        As in `FourierSVM`.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and weights. Targets are float64.

    Attributes
    ----------
    coverage_ : float, share of the targets that lay within their interval so far
    n_scored_ : int, samples that this is of
    far_targets_ : int, samples whose target was far outside what had been seen
    amplitudes_ : ndarray of shape (5,), of the four widths and of x
    n_seen_, n_updates_, n_features_in_

    Notes
    -----
    The prediction is m + s w.f, m and s being the running mean and standard deviation of the
    targets, within the range of the targets. The loss of e = r - rho r' moves each weight by
    rate g f / sqrt(G), rate = learning_rate / sqrt(W), where r = (y - m) / s - w.f is the error and
    r' the one before, rho their correlation (Cochrane & Orcutt 1949), g the slope of the loss and G
    the weight's own sum of squared slopes (AdaGrad; Duchi, Hazan & Singer 2011).

    The forecast is m + s c.(w.f, (y' - m) / s, w'.f'), with the target and the prediction of the
    sample before. The coefficients c are found by recursive least squares that forget a sample in
    1,000.

    The interval reaches q u to either side, u being the mean absolute error of about the last 50
    samples. After each target q += 0.05 (missed - (1 - coverage) / 2): the share of targets beyond
    a side tends to (1 - coverage) / 2 whatever they do (Gibbs & Candes 2021). With `label_delay` d
    it is 50 + 10 d samples and 0.05 / (1 + d / 50).

    A target counts as at most 8 to 32 deviations away from the mean, as `Standardized` says of
    features; beyond 1e100 it is refused.

    Bytes: see ``plan``; 272 + 2 W s + 2 n_directions + 48, W = 2 n_directions + n_features + 1,
    s = 4 or 8, and padding. Time: n_directions n_features steps of a hash per sample, and 6 W
    multiplications and W square roots.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import FourierSVR, Standardized
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, (4000, 2)).astype(np.float32)
    >>> y = 50 + 10 * np.sin(2 * X[:, 0]) * X[:, 1] + rng.standard_normal(4000)
    >>> model = Standardized.within("8KiB", n_features=2, learner=FourierSVR()).partial_fit(X, y)
    >>> model.score(X, y) > 0.9, round(model.coverage_, 1)
    (True, 0.9)
    """

    _compiled = FourierSVRCore
