"""Raw samples in, rows of features out, in planned bytes: the base of what does that, and
WindowFeatures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.budget import NOT_NEGATIVE, MemoryPlan
from edgesvm.contract.engine import of_engine
from edgesvm.contract.guard import Guard
from edgesvm.contract.inputs import as_floats
from edgesvm.contract.params import (
    SMALLEST,
    among,
    between,
    checked,
    param,
    positive,
    whole,
    within,
)
from edgesvm.contract.registry import also_loaded, registered_name
from edgesvm.core.arena import Arena
from edgesvm.errors import CorruptModelError
from edgesvm.learner import DTYPES, MAX_FEATURES
from edgesvm.persist.format import Snapshot, Wrapped
from edgesvm.persist.saved import Composed
from edgesvm.preprocessing._windows import N_TEACH, Feature, WindowFeaturesCore

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

MAX_BANDS = 16
N_SECTIONS = 2  # of the filter of a band
PI = 3.141592653589793
TRIPLES = tuple(combinations(range(9), 3))  # 84
LEAST_PLACES = 8  # of a pattern in a window, at the highest level
GOLDEN = 1.618034
COUNTS = [(name, "i8", ()) for name in ("n_pushed", "n_rows", "n_dropped", "n_run")]


class RawFeatures(Composed):
    """Base of dataclasses that take raw samples and give rows of features.

    A subclass has `dtype`, `names`, `plan`, whose arrays begin with `COUNTS` and end with the row,
    `_written`, and `_core_params` if its core has more of them.
    """

    dtype: str
    _compiled: ClassVar[type[Any]]
    _engine: ClassVar[str] = "compiled"  # or "reference", in NumPy, for tests and readers

    # Samples of a row, and from row to row
    window: int = 1
    hop: int = 1

    def __post_init__(self) -> None:
        self._guard = Guard(type(self).__name__)
        self._core: Any = None
        self._params: dict[str, Any] = {}  # those that the core was built with

    @property
    def _n_windows(self) -> int:
        """Rows under way at a time."""
        return -(-self.window // self.hop)

    @property
    def _written(self) -> dict[str, Any]:
        """The parameters as a snapshot has them."""
        raise NotImplementedError

    def _core_params(self, n_channels: int) -> dict[str, Any]:
        return {}

    def like_new(self) -> Any:
        """Of the same parameters, without memory."""
        return replace(self)  # type: ignore[type-var]

    def apart(self) -> Any:
        """Others in memory of their own, for a stretch of samples apart from the stream."""
        return self.like_new().allocate(self.core.n_channels)

    def names(
        self, n_channels: int | None = None, channels: Sequence[str] | None = None
    ) -> list[str]:
        """Names of the numbers in a row, in order."""
        raise NotImplementedError

    # -- memory ------------------------------------------------------------------------------------

    def plan(self, n_channels: int) -> MemoryPlan:
        """The arrays needed, and their total in bytes. Nothing is allocated."""
        raise NotImplementedError

    def allocate(self, n_channels: int, buffer: Any = None) -> Any:
        """Allocate the planned bytes, and forget what was pushed; `buffer` as for
        `Learner.allocate`. Nothing is allocated later."""
        plan = self.plan(n_channels)
        plan.check_buffer(buffer, f"{self!r} with {n_channels} channels")
        self._adopt(plan, Arena(plan.total, buffer), int(n_channels))
        return self

    def _adopt(self, plan: MemoryPlan, arena: Any, n_channels: int) -> None:
        with self._guard:
            self._core = self._build(plan, arena, n_channels)
            self._params = self._written

    def _build(self, plan: MemoryPlan, arena: Arena, n_channels: int) -> Any:
        return of_engine(self._compiled, self._engine)(
            plan,
            arena,
            n_channels=n_channels,
            window=int(self.window),
            hop=int(self.hop),
            dtype=self.dtype,
            owner=type(self).__name__,
            guard=self._guard,
            **self._core_params(n_channels),
        )

    @property
    def core(self) -> Any:
        if self._core is None:
            raise AttributeError(f"this {type(self).__name__} has no memory yet: call allocate")
        return self._core

    @property
    def _arena(self) -> Arena | None:  # type: ignore[override]
        return None if self._core is None else self._core.arena

    def reset(self) -> Any:
        """Forget what was pushed, and keep the memory."""
        with self._guard:
            if self._core is not None:
                self._core.arena.memory[:] = 0
        return self

    # -- samples -----------------------------------------------------------------------------------

    def push(self, x: ArrayLike) -> np.ndarray | None:
        """Take in one raw sample. Returns the features of the window that it completes, or None:
        ndarray of shape (n_features_out,), read-only, in the arena, which the next window
        overwrites. With the dtype of the parameters no allocator call is made.

        Raises
        ------
        SampleRefused
            A value is NaN, infinite or beyond 1e15; nothing has changed. If the sample is lost for
            good, call `gap`.
        """
        core = self._core
        if core is None:
            first = as_floats(x, np.dtype(self.dtype), 1, None, type(self).__name__)
            core = self.allocate(len(first))._core
        return core.push(x)

    def push_many(self, X: ArrayLike) -> np.ndarray:
        """Take in rows in order: the same as `push`, one by one. Returns new memory, a row for each
        window that was completed. SampleRefused names the row; none of the rows was taken in."""
        n_channels = None if self._core is None else self._core.n_channels
        rows = as_floats(X, np.dtype(self.dtype), 2, n_channels, type(self).__name__)
        core = self.allocate(rows.shape[1])._core if self._core is None else self._core
        with self._guard:
            at = int(core.views["n_run"])
            n_windows = self._n_complete(core, at + len(rows)) - self._n_complete(core, at)
            out = np.empty((n_windows, len(core.row)), core.dtype)
            return core.push_many(rows, out)

    @staticmethod
    def _n_complete(core: Any, n: int) -> int:
        """Windows that are complete after n samples."""
        return 0 if n < core.window else (n - core.window) // core.hop + 1

    def gap(self) -> None:
        """Samples are missing here: drop the windows that are open, and count them."""
        self.core.break_off()

    @property
    def n_features_in_(self) -> int:
        """Channels."""
        return int(self.core.n_channels)

    @property
    def n_pushed_(self) -> int:
        return int(self.core.views["n_pushed"])

    @property
    def n_rows_(self) -> int:
        return int(self.core.views["n_rows"])

    @property
    def n_dropped_(self) -> int:
        return int(self.core.views["n_dropped"])

    # -- save and load -----------------------------------------------------------------------------

    @property
    def n_classes_allocated(self) -> int:
        return 0

    def snapshot(self) -> Snapshot:
        core = self.core
        memory = core.arena.memory.data
        named, names = self._described(), self._columns or ()
        return Snapshot(named.learner, named.params, core.n_channels, (), False, memory, names)

    def _described(self) -> Wrapped:
        """Class name and parameters."""
        return Wrapped(registered_name(type(self)), self._params)

    def _load(
        self, plan: MemoryPlan, arena: Any, n_features: int, labels: tuple[Any, ...], closed: bool
    ) -> None:
        if labels or closed:
            raise CorruptModelError("the snapshot has labels, but windows have none")
        self._adopt(plan, arena, n_features)
        self._core.check()


# -- bands and patterns ----------------------------------------------------------------------------


class Section(NamedTuple):
    """y[i] = b (x[i] - x[i-2]) - a1 y[i-1] - a2 y[i-2]"""

    b: float
    a1: float
    a2: float


def as_bands(bands: Any, rate: float) -> tuple[tuple[float, float], ...]:
    """The (lo, hi) of each band in Hz, 0 < lo < hi < rate / 2, at most 16; from pairs or from
    "10-50,50-200"."""
    try:
        pairs = [part.split("-") for part in bands.split(",")] if isinstance(bands, str) else bands
        found = tuple((float(lo), float(hi)) for lo, hi in pairs) if bands else ()
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"bands={bands!r}: give pairs (lo, hi) in Hz, or '10-50,50-200'"
        ) from error
    for lo, hi in found:
        if not 0.0 < lo < hi < rate / 2:
            raise ValueError(
                f"bands={bands!r}: give 0 < lo < hi < {rate / 2:g}, half the rate, in Hz"
            )
        if hi - lo < 1e-6 * rate:
            raise ValueError(
                f"bands={bands!r}: {lo:g}-{hi:g} is narrower than a millionth of the rate"
            )
    if len(found) > MAX_BANDS:
        raise ValueError(f"bands={bands!r}: give at most {MAX_BANDS}")
    return found


def butterworth(lo: float, hi: float, rate: float) -> list[Section]:
    """The two sections of a Butterworth band-pass, whose power is halved at `lo` and `hi`:
    ``scipy.signal.butter(2, [lo, hi], "bandpass", fs=rate)``.

    They are computed without the C library's sine, whose last bit differs between machines: the
    poles exp(+-3 pi i / 4) of the low-pass, moved by s -> (s^2 + lo hi) / (s (hi - lo)) in warped
    frequencies, then by the bilinear transform. Of a pole p, scaled to half the width, come p +-
    sqrt(p^2 - lo hi).
    """
    low, high = tangent(lo / rate), tangent(hi / rate)
    width, middle = high - low, low * high
    r = width / 2.0 / math.sqrt(2.0)
    # sqrt(p^2 - middle), where p^2 = -2 i r^2
    size = math.sqrt(middle * middle + 4.0 * r * r * r * r)
    v = math.sqrt((size + middle) / 2.0)  # its imaginary part, downwards
    u = r * r / v
    sections = []
    for sigma, omega in ((-r + u, r - v), (-r - u, r + v)):
        square = sigma * sigma + omega * omega
        a0 = 1.0 - 2.0 * sigma + square
        sections.append(
            Section(width / a0, 2.0 * (square - 1.0) / a0, (1.0 + 2.0 * sigma + square) / a0)
        )
    return sections


def tangent(turns: float) -> float:
    """tan(pi turns), 0 < turns < 1/2, by the series of the sine."""
    return sine(PI * turns) / sine(PI * (0.5 - turns))


def sine(angle: float) -> float:
    """sin(angle), 0 <= angle <= pi / 2."""
    term = total = angle
    for k in range(2, 40, 2):
        term *= -angle * angle / (k * (k + 1))
        total += term
    return total


class Pattern(NamedTuple):
    """Of nine values y_0 to y_8: 3 (y_a + y_b + y_c) - sum of all."""

    triple: tuple[int, int, int]  # a, b, c
    normal: float  # quantile of the normal distribution that its bias begins at
    wanted: float  # share of values that should be above the bias


def patterns(window: int) -> list[list[Pattern]]:
    """The patterns of each level of a window: 84 in all, or as many below that as make all levels
    have the same number, spread over the triples, and their quantiles by the golden ratio. The
    normal quantile is rounded, since the C library's logarithm differs in its last bit."""
    n_levels = 1
    while (window >> n_levels) - 8 >= LEAST_PLACES:
        n_levels += 1
    each = len(TRIPLES) // n_levels
    found = []
    for level in range(n_levels):
        of_level = []
        for j in range(each):
            triple = TRIPLES[(len(TRIPLES) * j // each + level) % len(TRIPLES)]
            rank = (level * each + j + 1) * GOLDEN % 1.0
            of_level.append(Pattern(triple, round(NormalDist().inv_cdf(rank), 6), 1.0 - rank))
        found.append(of_level)
    return found


@also_loaded
@dataclass(kw_only=True, eq=False)
class WindowFeatures(RawFeatures):
    """Features of windows of raw samples: one row of numbers from `window` samples, every `hop`
    samples, whatever the window's length in the same bytes.

    What `push` gives is None or a row, which any learner can learn. Of each open window only sums
    are kept.

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

    Crossings are of the running mean: m_i is the mean of the window's samples before x_i.

    y are the values of a level of the channel's pyramid: level 0 has the samples, and each level
    the means of the pairs of the one below. It runs on from window to window, and a window has the
    values whose samples it has all; with fewer than three, roughness and turns are 0. Of more than
    4 channels they are averaged over the channels.

    Patterns are those of MiniRocket (Dempster, Schmidt & Webb 2021) at the levels that have 8
    places for nine values, with floor(84 / levels) a level: pattern j of level l is on the channel
    (j + l) mod c, and its name has the level, then a, b and c. A bias is to be the quantile of its
    pattern's values at the i-th multiple of the golden ratio, modulo 1. It is learned from the
    first 16 windows that do not overlap, and then stays: 1.25 d times the normal quantile after the
    first; after the (i + 1)-th a step of 4 d times the error of the share over the root of i. d is
    the harmonic mean over these windows of the mean absolute value.

    A band's filter is a Butterworth band-pass of two second-order sections. It runs on from window
    to window, and starts as if the first sample had been there for ever.

    Moments follow Pebay, "Formulas for Robust, One-Pass Parallel Computation of Covariances and
    Arbitrary-Order Statistical Moments", 2008. A value beyond 1e15 is refused, as NaN is.

    Bytes, with c channels (one more with the magnitude), b bands, w = ceil(window / hop) and row
    the length of a row: 8 (4 + c + 5 b c + w c (9 + b) + w pairs) + s row, s = 4 or 8. Roughness
    and turns take 8 (2 L c + 10 w c) more, L = 6 levels, or more if there are patterns at more; F
    patterns at K levels 8 + 16 c + 36 K c + 20 F + 4 w F, c without the magnitude.

    Cutting the stream into calls of `push` and `push_many` in another way changes no bit, a refused
    sample neither; saving, loading and continuing within a window equals never stopping.

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

    window: int = param(256, within(2, MAX_WINDOW))
    hop: int = param(128, within(1, MAX_WINDOW))
    rate: float = param(1.0, between(SMALLEST, MAX_RATE))
    bands: Any = ()
    features: Any = "default"
    dtype: str = param("float32", among(*DTYPES))

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
        checked(self)
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
        ``"channels_roughness_3"`` where it is averaged. `channels` replace x0, x1 and so on;
        `n_channels` is needed before ``allocate``."""
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
        """The arrays needed, and their total in bytes. Nothing is allocated."""
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
        n_sums = sum(OF_LEVELS.values()) if n_levels else 0
        n_scaled = n_channels if n_patterns else 0
        return MemoryPlan.of(
            [
                *COUNTS,
                ("sample", "f8", (n_streams,)),
                ("squares", "f8", (n_streams, n_bands), NOT_NEGATIVE),
                ("delays", "f8", (n_streams, n_bands, N_SECTIONS, 2)),
                ("moments", "f8", (w, n_streams, N_MOMENTS)),
                ("power", "f8", (w, n_streams, n_bands), NOT_NEGATIVE),
                ("products", "f8", (w, n_pairs)),
                ("levels", "f8", (n_streams, n_levels, 2)),
                ("course", "f8", (w, n_streams, n_sums), NOT_NEGATIVE),
                ("n_taught", "i8", (1 if n_patterns else 0,), (0, N_TEACH)),
                ("scales", "f8", (n_scaled, 2)),
                ("latest", "i4", (n_scaled, of_patterns[0], 9)),
                ("bias", "i4", of_patterns),
                ("swing", "f8", of_patterns, NOT_NEGATIVE),
                ("inverse", "f8", of_patterns, NOT_NEGATIVE),
                ("above", "i4", (w, *of_patterns)),
                ("row", self.dtype, (n_streams * n_each + n_course + n_pairs + n_patterns,)),
            ]
        )

    @property
    def _written(self) -> dict[str, Any]:
        window, hop, rate, dtype = checked(self).values()
        return {
            "window": window,
            "hop": hop,
            "rate": rate,
            "bands": ",".join(f"{lo!r}-{hi!r}" for lo, hi in self._bands),
            "features": ",".join(self._features),
            "dtype": dtype,
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
