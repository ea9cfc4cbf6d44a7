"""ByteSVM: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from edgesvm.budget import SCRATCH, Table
from edgesvm.contract.inputs import Matrix
from edgesvm.contract.labels import MOST_CLASSES
from edgesvm.contract.params import among, flag, optional, param, whole, within
from edgesvm.contract.registry import registered
from edgesvm.learner import Place, fits
from edgesvm.learners.byte._byte_svm import ByteSVMCore
from edgesvm.learners.kinds import Probable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["ByteSVM"]

Self = TypeVar("Self", bound="ByteSVM")

FEWEST_DIRECTIONS = 4
MOST_BYTES = 1 << 20
KEPT = 8  # features of a direction
HEAD, ROW, SCALE = 48, 8, 5  # bytes of `byte_head`, `byte_row` and `byte_scale`
SHARES, SHARE = 6, 2  # of `byte_shares`, and of a vector's in it
PER_CLASS = ROW + SHARE + 8  # and a count
BYTES_OF_A_LABEL = PER_CLASS + 2 * FEWEST_DIRECTIONS  # what one more takes at least

CHUNK = 1024  # rows that are copied at a time
HELD_OUT = 10  # one row in so many
FEWEST = 200  # rows of which some are held out
PATIENCE = 4  # passes without a better one


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class ByteSVM(Probable):
    """Logistic regression on random features that learn, in weights of one byte; the default.

    It scales its samples itself, takes any number of classes as they come, and computes in integers
    only.

    Parameters
    ----------
    n_bytes : int, default 4096
        Bytes of the model: scale, directions and weights; at most 1 MiB. `within` makes it as large
        as fits.
    n_classes : int, optional
        Largest number of classes, 2 to 127, for which room is kept from the first sample on.
        None: classes are added as they come (`rare_labels_` says when), each for some of the
        directions, as long as there are 4; within a wrapper, those that `fit` or ``classes=``
        names, else 2.
    scale : {"auto", "each", "common"}, default "auto"
        "each": by mean and deviation of each feature, 5 bytes each. "common": by the mean square of
        all, for pixels. "auto": "each" if it takes at most 60 % of `n_bytes`.
    learn_directions : bool, default True
        Whether directions follow the gradient. Fixed ones learn in about half the time, and are
        less accurate.
    max_iter : int, default 1
        Most passes of `fit` over the rows, at least 1. With 1, `fit` chooses their number, as
        `Learner.fit` has it. With more, of 200 rows and more one in ten is held out, and the passes
        end where the errors on these become no fewer.
    seed : int, default 0
        Seed of the directions, of the roundings and of the orders, 0 to 2^32 - 1.
    class_weight : {None, "balanced"}, default None
        "balanced": all classes count alike, however rare they are; sample weights do less for a
        class of 1 in 100, since they are capped.
    replay : bool, default True
        Whether some samples of each class are kept and learned again when it is rare lately, so
        that classes may come one after the other. False: as models of 0.1 are.
    dtype : {"float32"}
        Type of samples.

    Notes
    -----
    A sample x is scaled to bytes z, 32 to a deviation. Direction p has K = min(8, n_features)
    entries u, of a width by p mod 4, and looks at K features. Its features are c and s, cosine and
    sine of u.z (Rahimi & Recht 2007), 127 to one. With P directions and amplitudes A the logit of
    class v is 3 2^e / (sqrt(2 P) 127^2) sum_p A_p (w_c c + w_s s). A sample of class y moves::

        g_v  = [y = v] - sigma(logit_v), 0 if |g_v| < .05
        G_v += g_v^2 mean f^2        w_v += 1.5 / sqrt(2 P) g_v f / sqrt(G_v)
        e_p  = sum_v g_v (w_s c - w_c s)
        H   += mean e^2 |z|^2 / D    u_p += .7 / sqrt(D) e_p z / sqrt(H)

    (AdaGrad; Duchi, Hazan & Singer 2011). A sum is rounded to a byte by chance (Gupta et al. 2015).
    A step below 1/64 of a weight's unit is none. Where a weight passes 127, the weights of its
    class are halved, and e grows by one. Amplitudes follow the slope of the loss by their
    logarithms. The mean of the weights, in which sample t weighs t, is kept where 40 directions
    remain beside it, with more than two classes 300. Its logits count twice and those of the last
    weights once, unless that was wrong 3/2 times as often as the last weights in about the last
    1,000 samples.

    Mean and deviation follow a value as in `Standardized` with its default `clip`.

    With `replay`, an eighth of the bytes, from 8 KiB on a third, keep a sample of the samples of
    each class, half a byte a feature, or a byte from 8 KiB and 512 bytes a feature on; at most 512
    in all. After each of the first 150 samples, and of the first 64 of a class, two of them are
    learned again; later one of a class that was less than half as frequent in about the last 256
    steps as in all, and counts twice. While a sample is learned, ln(q_v / p_v) is added to
    logit v, where q_v is the share of class v lately and p_v its share of all samples; with
    ``class_weight="balanced"`` 1 / K (logit adjustment; Menon et al. 2021). After 5,000 samples
    directions move by 5000 / n, and more where errors say that the stream has changed.

    A sample of weight w, beside the mean, makes min(ceil(w), 8) steps of weight w by their number.
    Where a vector's e is above 0, a step of slope g takes a sixteenth of its weights by a chance of
    |g| / 512, so that labels at random are forgotten.

    Bytes: n_bytes + n_features + 40, 48 more without `n_classes`, and padding; of n_bytes,
    48 + 8 V + 5 n_features, where V is 1 for two classes, 8 for each of more than two classes, and
    K + 2 V or K + 4 V a direction. With `replay`, 6 + 2 V more, and the samples kept with
    5 n_features.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import ByteSVM
    >>> X = np.random.default_rng(0).standard_normal((2000, 2)).astype(np.float32)
    >>> inside = (X**2).sum(axis=1) < 1.4
    >>> model = ByteSVM.within("2KiB", n_features=2).partial_fit(X, inside)
    >>> model.score(X, inside) > 0.95
    True
    """

    _capacity = "n_bytes"
    _compiled = ByteSVMCore
    _absent: ClassVar[dict[str, Any]] = {"replay": False}
    scales_itself: ClassVar[bool] = True
    most_epochs: ClassVar[int] = 5

    n_bytes: int = param(4096, within(1, MOST_BYTES))
    n_classes: int | None = param(None, optional(within(2, MOST_CLASSES)))
    scale: str = param("auto", among("auto", "each", "common"))
    learn_directions: bool = param(True, flag)
    max_iter: int = param(1, within(1, 1 << 30))
    seed: int = param(0, within(0, (1 << 32) - 1))
    class_weight: str | None = None
    replay: bool = param(True, flag)
    dtype: str = param("float32", among("float32"))

    def _check_params(self) -> None:
        super()._check_params()
        whole("n_bytes", self.n_bytes, self._least_bytes(1), MOST_BYTES)

    @fits
    def fit(
        self: Self,
        X: Matrix,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        shuffle: bool | None = None,
        random_state: int = 0,
        epochs: int | None = None,
    ) -> Self:
        """Forget what was learned, then learn the rows: with ``max_iter=1`` as `Learner.fit`, else
        in up to `max_iter` passes, whose orders `seed` draws. ValueError for sparse rows or
        `shuffle` or `epochs` beside `max_iter`."""
        if self.max_iter == 1:
            super().fit(
                X, y, sample_weight, shuffle=shuffle, random_state=random_state, epochs=epochs
            )
            self.n_iter_ = self.n_seen_ // len(np.asarray(y))
            return self
        if (shuffle, epochs) != (None, None):
            raise ValueError(f"max_iter={self.max_iter}: leave shuffle and epochs to it")
        rows, labels, weights = self._guard.call(self._rows_to_fit, X, y, sample_weight)
        if not isinstance(rows, np.ndarray):
            raise ValueError(f"max_iter={self.max_iter}: sparse rows are learned in one pass only")
        self._forget(rows.shape[1])
        with self._all_given(rows.shape[1]):
            self.n_iter_ = learn_in_passes(self, rows, labels, weights, int(self.max_iter))
        return self

    # -- classes -----------------------------------------------------------------------------------

    @property
    def n_classes_planned(self) -> int:
        """Largest number of classes; of one that is not said, what the bytes can hold."""
        if self.n_classes is not None:
            return whole("n_classes", self.n_classes, 2, MOST_CLASSES)
        return self._most_classes(1)

    @property
    def _fits_in_passes(self) -> bool:  # type: ignore[override]
        return self.max_iter > 1

    def _most_classes(self, n_features: int) -> int:
        """Classes that leave 4 directions."""
        if self.n_classes is not None:
            return self.n_classes_planned
        kept = min(KEPT, n_features)
        left = int(self.n_bytes) - HEAD - self._scale_bytes(n_features) - FEWEST_DIRECTIONS * kept
        left -= SHARES if self.replay else 0
        return min(max(left // BYTES_OF_A_LABEL, 2), MOST_CLASSES)

    @property
    def _n_counted(self) -> int:
        return 2 if self.n_classes is None else self.n_classes_planned

    def wrapped(self: Self, n_classes: int = 2) -> Self:
        if self.n_classes is not None:
            return self
        self._check_params()
        more = 16 * n_classes - 16 if n_classes > 2 else 0  # of the plan: scores and counts
        sized = {"n_classes": n_classes, "n_bytes": self.n_bytes - more}
        known = type(self)(**self.get_params(deep=False) | sized)
        if more and known.n_bytes < (least := known._least_bytes(1)):
            raise ValueError(
                f"n_bytes={self.n_bytes}: {n_classes} classes need at least {least + more}"
            )
        return known

    # -- memory ------------------------------------------------------------------------------------

    def _is_common(self, n_features: int) -> bool:
        if self.scale == "auto":
            bytes_of_each = SCALE * n_features
            needed = self._bytes_beside_scale(n_features) + bytes_of_each
            return bytes_of_each > 0.6 * self.n_bytes or needed > self.n_bytes
        return self.scale == "common"

    def _scale_bytes(self, n_features: int) -> int:
        return SCALE * (1 if self._is_common(n_features) else n_features)

    def _bytes_beside_scale(self, n_features: int) -> int:
        """Least bytes of all but the scale."""
        n_classes = self.n_classes or 2
        n_vectors = n_classes if n_classes > 2 else 1
        kept = min(KEPT, n_features)
        shares = SHARES + SHARE * n_vectors if self.replay else 0
        return HEAD + ROW * n_vectors + shares + FEWEST_DIRECTIONS * (kept + 2 * n_vectors)

    def _least_bytes(self, n_features: int) -> int:
        scales = n_features if self.scale == "each" else 1
        return self._bytes_beside_scale(n_features) + SCALE * scales

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return self._least_bytes(n_features), MOST_BYTES

    def _arrays(self, n_features: int) -> Table:
        if self.n_bytes < self._least_bytes(n_features):
            raise ValueError(
                f"n_bytes={self.n_bytes}: {n_features} features need at least"
                f" {self._least_bytes(n_features)}"
            )
        n_scores = 0 if self.n_classes in {None, 2} else self.n_classes_planned
        return [
            ("model", "u1", (int(self.n_bytes),)),
            ("coded", "i1", (n_features,), SCRATCH),
            *([("scores", "f8", (n_scores,), SCRATCH)] if n_scores else []),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return {
            "n_classes": self.n_classes or 0,
            "most_classes": self._most_classes(n_features),
            "is_common": self._is_common(n_features),
            "learns_directions": self.learn_directions,
            "replays": self.replay,
            "is_balanced": self.class_weight == "balanced",
            "seed": int(self.seed),
        }

    def _build(self, engine: str, place: Place) -> Any:
        core = super()._build(engine, place)
        core.balanced &= not self.replay  # which needs no weights for it
        return core

    # -- what was learned --------------------------------------------------------------------------

    @property
    def n_directions_(self) -> int:
        """Directions, with the classes so far."""
        return int(self.core.layout["n_directions"])

    @property
    def answers_(self) -> str:
        """Whether the weights' mean answers: "both", or "last"."""
        answers: str = self.core.answers
        return answers

    @property
    def amplitudes_(self) -> np.ndarray:
        """Amplitudes of the features of the four widths, widest first, and of 1, in the mean square
        1."""
        amplitudes: np.ndarray = self.core.amplitudes
        return amplitudes

    @property
    def weights_(self) -> tuple[np.ndarray, np.ndarray]:
        """What answers, as real numbers: of the cosine and the sine of each direction, ndarray of
        shape (n_vectors, n_directions, 2), and of 1, (n_vectors,); float64. One vector for two
        labels, else a row for each of ``classes_``."""
        core = self.core
        shape, model = core.layout, core.views["model"].view(np.int8)
        P, V = shape["n_directions"], shape["n_vectors"]
        rows = model[HEAD : HEAD + ROW * V].reshape(V, ROW)
        amplitudes = np.array(core.amplitudes)

        def real(at: int, e: np.ndarray, one: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            unit = np.ldexp(3 / (np.sqrt(2 * P) * 127), e)
            w = model[at : at + 2 * P * V].reshape(P, V, 2).transpose(1, 0, 2)
            waves = w * np.resize(amplitudes[:-1], P)[:, None] * unit[:, None, None]
            return waves, one * amplitudes[-1] * unit

        waves, ones = real(shape["at_w"], rows[:, 4], rows[:, 6])
        if shape["has_mean"] and core.answers == "both":
            mean = real(shape["at_mean"], rows[:, 5], rows[:, 7])
            waves, ones = (waves + 2 * mean[0]) / 3, (ones + 2 * mean[1]) / 3
        slots = list(core.labels.sorted_slots)
        if V == 1:
            return core.labels.sign * waves, core.labels.sign * ones
        return waves[slots], ones[slots]

    @property
    def far_out_(self) -> int:
        """Samples learned after the first 10 with a value far out."""
        return int(self.core.far_out)

    @property
    def scales_(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Exponent e, mean m and deviation s of each feature, in units of 2^e; three int32 ndarrays
        of shape (n_features,). A value is rounded to its unit before it is scaled."""
        core = self.core
        n = 1 if core.layout["is_common"] else core.n_features
        kind = np.dtype([("e", "i1"), ("s", "u1"), ("m", "u1", 3)])
        at = core.layout["at_scale"]
        of = np.resize(core.views["model"][at : at + SCALE * n].view(kind), core.n_features)
        low, middle, high = of["m"].astype(np.int32).T
        return (
            of["e"].astype(np.int32),
            low | middle << 8 | (high ^ 128) - 128 << 16,
            of["s"].astype(np.int32),
        )

    @property
    def mean_(self) -> np.ndarray:
        """Mean of each feature, ndarray of shape (n_features,), float64."""
        e, m, _ = self.scales_
        mean: np.ndarray = np.ldexp(m.astype(float), e)
        return mean

    @property
    def scale_(self) -> np.ndarray:
        """Standard deviation of each feature, ndarray of shape (n_features,), float64."""
        e, _, s = self.scales_
        deviation: np.ndarray = np.ldexp(s.astype(float), e)
        return deviation


def learn_in_passes(
    learner: ByteSVM, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, max_iter: int
) -> int:
    """Learn the rows up to `max_iter` times, in orders drawn by ``learner.seed``, and return the
    passes of the model kept. Of 200 rows and more one in ten is held out: the passes end where the
    errors on these have not become fewer four times, and the best model is kept, and learns them.
    """
    rng = np.random.default_rng(int(learner.seed))
    order = rng.permutation(len(X))
    n_held = len(X) // HELD_OUT if len(X) >= FEWEST else 0
    held, rest = order[:n_held], order[n_held:]
    fewest, best, kept = len(X) + 1, 0, b""
    for n in range(1, max_iter + 1):
        learn(learner, X, y, weights, rng.permutation(rest))
        if not n_held:
            best = n
            continue
        wrong = sum(int((learner.predict(X[part]) != y[part]).sum()) for part in parts(held))
        if wrong < fewest:
            fewest, best, kept = wrong, n, bytes(learner.arena)
        elif n - best >= PATIENCE:
            break
    if n_held:
        learner.arena.memory[:] = np.frombuffer(kept, np.uint8)
        learn(learner, X, y, weights, held)
    return best


def parts(order: np.ndarray) -> list[np.ndarray]:
    return [order[at : at + CHUNK] for at in range(0, len(order), CHUNK)]


def learn(
    learner: ByteSVM, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, order: np.ndarray
) -> None:
    """Learn the rows of these numbers, in this order."""
    for part in parts(order):
        learner.partial_fit(X[part], y[part], None if weights is None else weights[part])
