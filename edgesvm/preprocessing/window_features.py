"""WindowFeatures: raw samples in, a row of features out for each window, in planned bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.budget import MemoryPlan
from edgesvm.contract.params import one_of, positive, whole
from edgesvm.contract.registry import also_loaded
from edgesvm.learner import DTYPES, MAX_FEATURES
from edgesvm.preprocessing._window_features import Feature, WindowFeaturesCore
from edgesvm.preprocessing.bands import N_SECTIONS, as_bands, as_text, butterworth
from edgesvm.preprocessing.patterns import Pattern, patterns
from edgesvm.preprocessing.raw_features import COUNTS, RawFeatures

__all__ = ["WindowFeatures"]

OF_BANDS = ("power", "dominant_band", "centroid")
OF_A_CHANNEL = tuple(code.name.lower() for code in Feature)
ALL = (*OF_A_CHANNEL, "magnitude", "correlation", "patterns")
DEFAULT = ("mean", "std", "min", "max", "skewness", "kurtosis", "crossings", "slope", "power",
           "roughness", "turns")  # fmt: skip
# What is a list in one word; those of bands only if there are bands.
LISTS = {"default": DEFAULT, "all": ALL[:-1], "rocket": (*DEFAULT, "patterns")}
OF_LEVELS = {"roughness": 6, "turns": 4}  # -> levels of the pyramid, the lowest first
MOST_APART = 4  # channels that have roughness and turns each
N_MOMENTS = 9  # numbers in the core's `Moments`
MAX_WINDOW = 1 << 24
MAX_OVERLAP = 1 << 12  # windows that overlap
MAX_RATE = 1e12


@also_loaded
@dataclass(kw_only=True, eq=False)
class WindowFeatures(RawFeatures):
    """Features of windows of raw samples: one row of numbers from `window` samples, every `hop`
    samples, whatever the window's length in the same bytes.

    Push sample after sample; what comes back is None or a row, which any learner can learn. No
    sample is stored: of each window that is open only sums are kept.

    Parameters
    ----------
    window : int, default 256
        Samples in a window, 2 to 2^24.
    hop : int, default 128
        Samples from the start of one window to the start of the next, 1 to 2^24; less than `window`
        if they overlap. At most 4096 windows may overlap.
    rate : float, default 1.0
        Samples per second, > 0.
    bands : sequence of (lo, hi), or str such as "10-50,50-200", default ()
        Bands in Hz, 0 < lo < hi < rate / 2; at most 16.
    features : "default", "all", "rocket", or a sequence of names or str such as "mean,std"
        Any of those below. "default" is mean, std, min, max, skewness, kurtosis, crossings, slope,
        roughness, turns and, if there are bands, power: 18 a channel without bands. "rocket" is
        these and patterns; "all" is all but patterns.
    dtype : {"float32", "float64"}, default "float32"
        Of the samples and of the rows. Sums are float64.

    Attributes
    ----------
    n_pushed_ : int
        Samples taken.
    n_rows_ : int
        Windows completed.
    n_dropped_ : int
        Windows dropped at a gap.

    Notes
    -----
    x_i are the n samples of a channel in the window, t_i their times, i / rate; sums go over i. A
    ratio whose denominator is 0 is 0: a stuck sensor gives finite features.

    ============== ============================================================= ===============
    name           equation                                                      unit
    ============== ============================================================= ===============
    mean           m = sum x_i / n                                               of x
    std            s = sqrt(sum (x_i - m)^2 / n)                                 of x
    rms            sqrt(sum x_i^2 / n)                                           of x
    min, max       min x_i, max x_i                                              of x
    peak_to_peak   max x_i - min x_i                                             of x
    crest          max abs(x_i) / rms                                            1
    skewness       sum (x_i - m)^3 / (n s^3)                                     1
    kurtosis       sum (x_i - m)^4 / (n s^4) - 3, 0 of a normal signal           1
    crossings      rate / n times how often (x_i > m_i) != (x_(i-1) > m_(i-1))   1/s
    slope          sum (t_i - mean t)(x_i - m) / sum (t_i - mean t)^2            of x, per s
    power          of each band: sum y_i^2 / n, y the channel behind its filter  of x, squared
    dominant_band  (lo + hi) / 2 of the band of most power                       Hz
    centroid       mean of the (lo + hi) / 2, weighed by power                   Hz
    magnitude      one more channel, with all these features: sqrt(sum over      of x
                   channels of x^2)
    roughness      of the levels 0 to 5: mean of abs(y_i - y_(i-1)) / s          1
    turns          of the levels 0 to 3: share of the differences y_i - y_(i-1)  1
                   that are > 0 where the one before is not, or the reverse
    correlation    of each pair of channels: sum (x_i - m)(z_i - m_z) / (n s     1
                   s_z)
    patterns       68 to 84 numbers, whatever the channels: share of places      1
                   where 3 (y_a + y_b + y_c) - (y_0 + ... + y_8) > bias
    ============== ============================================================= ===============

    Crossings are of the running mean: m_i is the mean of the window's samples before x_i, since
    that of the whole window is known only at its end.

    y are the values of a level of the channel's pyramid: level 0 has the samples, and each level
    the means of the pairs of the one below, so that a value of level l stands for 2^l samples. The
    pyramid runs on from window to window, and a window has the values whose samples it has all;
    with fewer than three, roughness and turns are 0. Of more than 4 channels they are averaged over
    the channels, the magnitude among them.

    Patterns are those of MiniRocket (Dempster, Schmidt & Webb, "MiniRocket: A Very Fast (Almost)
    Deterministic Transform for Time Series Classification", 2021) at the levels that have 8 places
    for nine values, with floor(84 / levels) a level: pattern j of level l is on the channel (j + l)
    mod c, and its name has the level, then a, b and c. They are counted in integers. A bias is to
    be the quantile of its pattern's values at the i-th multiple of the golden ratio, modulo 1. It
    is learned from the first 16 windows that do not overlap, and then stays: 1.25 d times the
    normal quantile after the first, before which it is 0; after the (i + 1)-th a step of 4 d times
    the error of the share over the root of i. d is the harmonic mean over these windows of the mean
    absolute value, since in a few windows that may be far above the others.

    A band's filter is a Butterworth band-pass of two second-order sections, which lets half the
    power pass at lo and at hi. It runs on from window to window, and starts as if the first sample
    had been there for ever, so a constant has no power.

    Moments follow Pebay, "Formulas for Robust, One-Pass Parallel Computation of Covariances and
    Arbitrary-Order Statistical Moments", 2008. A value beyond 1e15 is refused, as NaN is; then
    every feature is finite.

    Bytes, with c channels (one more with the magnitude), b bands, w = ceil(window / hop) and row
    the length of a row: 8 (4 + c + 5 b c + w c (9 + b) + w pairs) + s row, s = 4 or 8. Roughness
    and turns take 8 (2 L c + 10 w c) more, L = 6 levels, or more if there are patterns at more; F
    patterns at K levels 8 + 16 c + 36 K c + 20 F + 4 w F, c without the magnitude.

    * Cutting the stream into calls of `push` and `push_many` in another way changes no bit.
    * A refused sample changes no bit.
    * Saving, loading and continuing within a window equals never stopping.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import Standardized, WindowFeatures
    >>> t = np.arange(4000) / 1000
    >>> X = np.sin(2 * np.pi * 30 * t)[:, None].astype(np.float32)
    >>> windows = WindowFeatures(rate=1000, bands=[(10, 50), (50, 200)], features="std,power")
    >>> windows.allocate(n_channels=1).nbytes
    312
    >>> learner = Standardized()
    >>> for x in X:
    ...     row = windows.push(x)
    ...     if row is not None:
    ...         changed = learner.learn_one(row, "fine")
    >>> learner.n_seen_, windows.names()
    (30, ['x0_std', 'x0_power_10-50', 'x0_power_50-200'])
    >>> bool(row is None or row[1] > 20 * row[2])
    True
    """

    window: int = 256
    hop: int = 128
    rate: float = 1.0
    bands: Any = ()
    features: Any = "default"
    dtype: str = "float32"

    _compiled: ClassVar[type[Any]] = WindowFeaturesCore

    # -- what a row holds --------------------------------------------------------------------------

    @property
    def _bands(self) -> tuple[tuple[float, float], ...]:
        return as_bands(self.bands, positive("rate", self.rate))

    @property
    def _features(self) -> tuple[str, ...]:
        """The features asked for, in the order of a row."""
        if isinstance(self.features, str) and self.features in LISTS:
            whole_list = LISTS[self.features]
            return tuple(f for f in whole_list if self._bands or f not in OF_BANDS)
        names = self.features.split(",") if isinstance(self.features, str) else self.features
        asked = [str(name).strip() for name in names]
        if unknown := [name for name in asked if name not in ALL]:
            raise ValueError(
                f"features: {unknown[0]!r} is none; give 'default', 'all', 'rocket', or some of"
                f" {', '.join(ALL)}"
            )
        if not self._bands and (missing := [name for name in asked if name in OF_BANDS]):
            raise ValueError(f"features: {missing[0]!r} needs bands")
        if not set(asked) - {"magnitude"}:
            raise ValueError(f"features={self.features!r}: give at least one")
        return tuple(name for name in ALL if name in asked)

    @property
    def _codes(self) -> list[Feature]:
        return [Feature[name.upper()] for name in self._features if name in OF_A_CHANNEL]

    @property
    def _patterns(self) -> list[list[Pattern]]:
        """Of each level; none if they were not asked for."""
        return patterns(int(self.window)) if "patterns" in self._features else []

    def _check_params(self) -> None:
        whole("window", self.window, 2, MAX_WINDOW)
        whole("hop", self.hop, 1, MAX_WINDOW)
        one_of("dtype", self.dtype, *DTYPES)
        if positive("rate", self.rate) > MAX_RATE:
            raise ValueError(f"rate={self.rate!r}: give at most {MAX_RATE:g}")
        if self._n_windows > MAX_OVERLAP:
            raise ValueError(
                f"window={self.window}, hop={self.hop}: {self._n_windows:,} windows overlap, at"
                f" most {MAX_OVERLAP:,} may"
            )

    def names(
        self, n_channels: int | None = None, channels: Sequence[str] | None = None
    ) -> list[str]:
        """Names of the numbers in a row, in order: ``"x0_mean"``, ``"x0_power_10-50"``,
        ``"x0_roughness_3"``, ``"magnitude_std"``, ``"x0_x1_correlation"``, ``"x0_pattern_2_017"``;
        ``"channels_roughness_3"`` where it is averaged.

        Parameters
        ----------
        n_channels : int, optional
            Needed before ``allocate``.
        channels : sequence of n_channels str, optional
            Names of the channels; by default those of `name_features`, else x0, x1 and so on.
        """
        if n_channels is None:
            n_channels = len(channels) if channels is not None else self.core.n_channels
        channels = list(channels or self._columns or (f"x{c}" for c in range(n_channels)))
        bands = [f"{lo:g}-{hi:g}" for lo, hi in self._bands]
        parts = {"power": bands} | {name: range(n) for name, n in OF_LEVELS.items()}
        each: dict[str, list[str]] = {
            name: [f"{name}_{part}" for part in parts[name]] if name in parts else [name]
            for name in (code.name.lower() for code in self._codes)
        }
        shared = [each.pop(name) for name in OF_LEVELS if name in each and n_channels > MOST_APART]
        streams = [*channels, *(["magnitude"] if "magnitude" in self._features else [])]
        named = [f"{stream}_{part}" for stream in streams for of in each.values() for part in of]
        named += [f"channels_{part}" for of in shared for part in of]
        if "correlation" in self._features:
            pairs = zip(*np.triu_indices(n_channels, 1), strict=True)
            named += [f"{channels[c]}_{channels[d]}_correlation" for c, d in pairs]
        for level, of_level in enumerate(self._patterns):
            for j, pattern in enumerate(of_level):
                places = "".join(map(str, pattern.triple))
                named.append(f"{channels[(j + level) % n_channels]}_pattern_{level}_{places}")
        return named

    # -- memory ------------------------------------------------------------------------------------

    def plan(self, n_channels: int) -> MemoryPlan:
        """The arrays needed, and their total in bytes. Nothing is allocated.

        Raises
        ------
        ValueError
            A parameter is out of range.
        """
        self._check_params()
        n_channels = whole("n_channels", n_channels, 1, MAX_FEATURES)
        n_streams = n_channels + ("magnitude" in self._features)
        has_pairs = "correlation" in self._features
        n_pairs = n_channels * (n_channels - 1) // 2 if has_pairs else 0
        n_bands, w = len(self._bands), self._n_windows
        n_of = {"power": n_bands, **OF_LEVELS}
        n_course = sum(OF_LEVELS[name] for name in OF_LEVELS if name in self._features)
        n_each = sum(n_of.get(code.name.lower(), 1) for code in self._codes) - n_course
        n_course *= 1 if n_channels > MOST_APART else n_streams
        of_patterns = (len(found := self._patterns), len(found[0]) if found else 0)
        n_patterns = of_patterns[0] * of_patterns[1]
        n_levels = max([*OF_LEVELS.values(), of_patterns[0]]) if n_course or n_patterns else 0
        n_scaled = n_channels if n_patterns else 0
        return MemoryPlan.of(
            [
                *COUNTS,
                ("sample", "f8", (n_streams,)),
                ("squares", "f8", (n_streams, n_bands)),
                ("delays", "f8", (n_streams, n_bands, N_SECTIONS, 2)),
                ("moments", "f8", (w, n_streams, N_MOMENTS)),
                ("power", "f8", (w, n_streams, n_bands)),
                ("products", "f8", (w, n_pairs)),
                ("levels", "f8", (n_streams, n_levels, 2)),
                ("course", "f8", (w, n_streams, sum(OF_LEVELS.values()) if n_levels else 0)),
                ("n_taught", "i8", (1 if n_patterns else 0,)),
                ("scales", "f8", (n_scaled, 2)),
                ("latest", "i4", (n_scaled, of_patterns[0], 9)),
                ("bias", "i4", of_patterns),
                ("swing", "f8", of_patterns),
                ("inverse", "f8", of_patterns),
                ("above", "i4", (w, *of_patterns)),
                ("row", self.dtype, (n_streams * n_each + n_course + n_pairs + n_patterns,)),
            ]
        )

    @property
    def _written(self) -> dict[str, Any]:
        return {
            "window": int(self.window),
            "hop": int(self.hop),
            "rate": float(self.rate),
            "bands": as_text(self._bands),
            "features": ",".join(self._features),
            "dtype": self.dtype,
        }

    @property
    def _filters(self) -> list[tuple[float, Any]]:
        """Of each band: its center in Hz, and the coefficients of its two sections."""
        return [((lo + hi) / 2, butterworth(lo, hi, float(self.rate))) for lo, hi in self._bands]

    def _core_params(self, n_channels: int) -> dict[str, Any]:
        return {
            "rate": float(self.rate),
            "codes": self._codes,
            "bands": self._filters,
            "magnitude": "magnitude" in self._features,
            "patterns": self._patterns,
            "averages": n_channels > MOST_APART,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self._core is not None:
            self.features = self._params["features"]  # another build has another default
