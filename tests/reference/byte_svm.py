"""ByteSVM in plain NumPy, all directions at once; the same bytes as the compiled core.

Numbers are integers of 64 bits here; Qn is a number times 2^n. Where C divides, a quotient is cut
towards zero (`quotient`); where it shifts, it is rounded down.
"""

from __future__ import annotations

from math import gcd, isqrt

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.fourier._fourier import key_of
from reference.core import ReferenceCore

WIDTHS = 4
HEAD = np.dtype(
    {
        "names": [
            "H_amplitudes",
            "H_directions",
            "tilt",
            "amplitude",
            "lapses",
            "n_classes",
            "n_features",
            "n_lasting",
            "far_out",
            "far_value",
            "lasting",
        ],
        "formats": [
            *("<u8", "<u8", ("<i2", 5), ("<u2", 5), ("<u2", 2), "u1", ("u1", 2)),
            *("u1", "<u2", "u1", "u1"),
        ],
        "offsets": [0, 8, 16, 26, 36, 40, 41, 43, 44, 46, 47],
        "itemsize": 48,
    }
)
ROW = np.dtype([("G", "<u4"), ("e", "u1"), ("e_mean", "u1"), ("one", "i1"), ("one_mean", "i1")])
SCALE = np.dtype([("e", "i1"), ("s", "u1"), ("m", "u1", 3)])
FIRST_TILT = np.array([0, -4096, -8192, -12288, 0])  # log2 of an amplitude, Q12
FAINTEST = -27206
LEAST_STEP = 9  # Q16
KEPT_UNIT = 13  # of z, in a kept sample
SEEN, FAR, AWHILE, FOR_GOOD, LASTING = 10, 8, 16, 127, 128
ANGLE = (940, 2102, 4410, 9403)
MOVE = (127223, 56896, 27124, 12722)


# -- numbers ---------------------------------------------------------------------------------------


def mixed(h):
    h = ((h ^ h >> 16) * 0x7FEB352D) & 0xFFFFFFFF
    h = ((h ^ h >> 15) * 0x846CA68B) & 0xFFFFFFFF
    return h ^ h >> 16


def hashed(key, a, b):
    shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    # arrays: NumPy 1 makes floats of single numbers where integers have 32 bits
    a, b = np.atleast_1d(a).astype(np.uint64), np.atleast_1d(b).astype(np.uint64)
    h = mixed((key + a * 0x9E3779B1 + b * 0x85EBCA6B) & 0xFFFFFFFF)
    return h.astype(np.int64).reshape(shape)


def following(s):
    """The next state of a generator that is never 0."""
    s ^= s << 13 & 0xFFFFFFFF
    s ^= s >> 17
    return s ^ s << 5 & 0xFFFFFFFF


def clip(v, most):
    return np.clip(v, -most, most)


def quotient(a, b):
    return a // b if a >= 0 else -(-a // b)


def below(chance, n):
    return chance * n >> 32


def share_after(share, is_so, n, chance):
    """A share over the last n times, Q16, after one more"""
    return (int(share) * (n - 1) + 65535 * bool(is_so) + below(chance, n)) // n


def log(v):
    """ln v, Q10"""
    e = v.bit_length() - 1
    return (e * 1024 + (v >> e - 10 if e > 10 else v << 10 - e) - 1024) * 710 >> 10


def by_chance(v, n, U):
    """v 2^-n, up or down by chance"""
    return v + (U & (1 << n) - 1) >> n


def inverse_root(v):
    """(r, shift): r 2^-shift is 2^31 / sqrt(v)."""
    shift = 0
    while v >> 32:
        v, shift = v >> 2, shift + 1
    while v < 1 << 30:
        v, shift = v << 2, shift - 1
    return 0x7FFFFFFF // isqrt(v), shift


def cosine(i):
    """cos of i / 256 turns, 127 to one"""
    a = ((i + 64) & 255) * 2 + 1
    a = np.where(a >= 256, a - 512, a)
    s = a * (256 - abs(a))
    s = s * (12698 + (abs(s) * 3686 >> 14)) >> 14
    return s * 127 + 8192 >> 14


def exp2(t):
    """2^t, Q14 of Q12, t <= 0"""
    rest = t & 4095
    m = 4096 + (rest * (2687 + (rest * 1409 >> 12)) >> 12)
    return 0 if t < -4096 * 15 else m * 4 >> -(t >> 12)


def sigma(logit):
    """Q15 of Q10"""
    odds = exp2(-(min(abs(logit), 10240) * 5909 >> 10))
    low = (odds << 15) // (16384 + odds)
    return 32768 - low if logit > 0 else low


def moved(w, step, f, U):
    """Weights w + step f (Q16), and whether one met its limit."""
    after = w + by_chance(step * f, 16, U)
    return clip(after, 127), bool(np.any(abs(after) > 127))


# -- the layout ------------------------------------------------------------------------------------


class Layout:
    """Where everything is in `model`, and what follows from the number of directions."""

    def __init__(self, core, n_classes):
        D, n_bytes = core.n_features, len(core.views["model"])
        self.n_classes, self.is_common = n_classes, bool(core.is_common)
        self.V = V = n_classes if n_classes > 2 else 1
        self.K = K = min(8, D)
        self.counts = bool(core.grows and n_classes > 2)
        self.at_counts = HEAD.itemsize + ROW.itemsize * V
        of_scales = SCALE.itemsize * (1 if self.is_common else D)
        self.at_shares = self.at_counts + (8 * n_classes if self.counts else 0)
        self.at_scale = self.at_shares + (6 + 2 * V if core.replays else 0)
        self.at_u = self.at_scale + of_scales
        left = n_bytes - self.at_u
        self.slot_bytes = D if n_bytes >= max(8192, 512 * D) else (D + 1) // 2
        self.Q = self.slots_in(left - of_scales) if core.replays else 0
        if self.Q:
            left -= of_scales + self.Q * n_classes * self.slot_bytes
        self.P = left // (K + 4 * V)
        self.has_mean = (40 if V == 1 else 300) <= self.P
        if not self.has_mean:
            self.P = left // (K + 2 * V)
        self.at_w = self.at_u + self.P * K
        self.at_mean = self.at_w + self.P * 2 * V
        self.at_code = self.at_mean + (self.P * 2 * V if self.has_mean else 0)
        self.at_slots = self.at_code + (of_scales if self.Q else 0)
        self.set_units(D)
        self.width = np.arange(self.P) % WIDTHS
        self.places = self.places_of(core.key, D)

    def slots_in(self, left):
        """Samples of a class that are kept"""
        n = max(left, 0) // (8 if left < 8192 else 3) // (self.slot_bytes * self.n_classes)
        n = min(n, 512 // self.n_classes)
        return n if n > 1 else 0

    def set_units(self, D):
        K, P = self.K, self.P
        self.angle_shift = 2 if K > 4 else 1 if K > 2 else 0
        root = isqrt(K << 16)
        angles = [((a << self.angle_shift) + root // 2) // root for a in ANGLE]
        self.angle = np.array(angles, np.int64)
        root = isqrt((K << 24) // D)
        self.move = [m * root >> 12 for m in MOVE]
        root, self.unit, self.unit_shift = isqrt(2 * P << 10), 0, 0
        while self.unit < 1 << 15:
            self.unit_shift += 1
            self.unit = (24 << self.unit_shift) // (16129 * root)

    def places_of(self, key, D):
        """The features that each direction looks at, (P, K)."""
        strides = [1]
        for k in range(1, 8):
            stride = 1 + (int(hashed(key, 0, k)) * D >> 32)
            while gcd(stride, D) != 1:
                stride += 1
            strides.append(stride % D)
        p = np.arange(self.P)
        start = hashed(key, p, 7) * D >> 32 if D > 8 else 0 * p
        stride = np.array(strides)[p // 8 % 8]
        return (start[:, None] + np.arange(self.K) * stride[:, None]) % D

    @property
    def square_shares(self):
        """How many of 2 P + 1 features have the square of each amplitude's mean"""
        return np.append(np.bincount(self.width, minlength=WIDTHS), 1)


# -- the scale of one feature ----------------------------------------------------------------------


def parts(x):
    """x is m 2^e."""
    bits = int(np.float32(x).view(np.uint32))
    exponent, m = bits >> 23 & 255, bits & 0x7FFFFF
    m |= 0x800000 if exponent else 0
    return (-m if bits >> 31 else m), max(exponent, 1) - 150


def units(x, e):
    """x / 2^e, rounded"""
    m, by = parts(x)
    by -= e
    if by > 5:
        return (m > 0) - (m < 0) << 29
    if by >= 0:
        return m << by
    return 0 if by < -25 else m + (1 << -by - 1) >> -by


def unit_for(x):
    """Of a feature whose first value is x: 2 of its 24 bits are cut."""
    return int(clip(parts(x)[1] + 2, 120))


class FarOut:
    """The values far out of a sample, which is stuck if the first is that of the last such one."""

    def __init__(self, head):
        self.head, self.features, self.is_stuck = head, 0, False

    def note(self, x, d):
        """Whether the value counts for the scale"""
        if not self.features:
            value = int(hashed(int(np.float32(x).view(np.uint32)), d, 4)) >> 24
            self.is_stuck = value == self.head["far_value"]
            self.head["far_value"] = value
        self.features |= 1 << d % 8
        lasts = int(self.head["lasting"]) >> d % 8 & 1
        n = self.head["n_lasting"]
        return n == FOR_GOOD or not (self.is_stuck or (AWHILE <= n < LASTING and lasts))


class Scale:
    """Mean m 2^e and deviation s 2^e of a feature; `f` is its entry in the model."""

    def __init__(self, f):
        self.f = f
        low, middle, high = (int(byte) for byte in f["m"])
        self.e, self.s = int(f["e"]), int(f["s"])
        self.m = ((low | middle << 8 | high << 16) ^ 1 << 23) - (1 << 23)

    def set(self, e, m, s):
        most = (1 << 23) - 1
        while s > 255 or abs(m) > most:
            e, m, s = e + 1, m + 1 >> 1, s + 1 >> 1
        while 0 < s < 128 and abs(m) <= most // 2 and e > -120:
            e, m, s = e - 1, 2 * m, 2 * s
        self.f["e"], self.f["s"] = e, s
        self.f["m"] = [m & 255, m >> 8 & 255, m >> 16 & 255]

    def begin(self, x):
        e = unit_for(x)
        self.set(e, units(x, e), 0)

    def coded(self, x):
        """32 to a deviation"""
        return self.code(units(x, self.e))

    def of_kept(self, kept, by):
        """`coded` of what was kept by another scale"""
        m, shift = by.m * 32 + kept * by.s, by.e - 5 - self.e
        m = m << shift if shift >= 0 else m + (1 << -shift - 1) >> -shift
        return self.code(min(max(m, -(1 << 29)), 1 << 29))

    def code(self, v):
        if not self.s:
            return 0
        v = int(clip(v - self.m, 4 * self.s))
        return int(clip(quotient(64 * v + (self.s if v > 0 else -self.s), 2 * self.s), 127))

    def learn(self, x, d, n, chance, far):
        """Welford's recurrence, of feature d"""
        off = units(x, self.e) - self.m
        if n == 1:
            self.begin(x)
        elif not self.s:
            self.learn_first_other(x, n)
        elif n == 3 and abs(abs(off) - self.s) <= self.s // 64:
            self.begin(x)
        elif abs(off) <= FAR * self.s or n <= 3 or far.note(x, d):
            self.follow(int(clip(off, FAR * self.s)), n, chance)

    def learn_first_other(self, x, n):
        """The first value that is not as all n - 1 before"""
        e, m = unit_for(x), self.m
        if e > self.e and units(x, self.e) != m:
            m = 0 if e - self.e > 30 else m >> e - self.e
        else:
            e = self.e
        d = units(x, e) - m
        if d:
            s = (abs(d) * isqrt(min(n - 1, 65535) << 16) >> 8) // n
            self.set(e, m + quotient(d, n), max(s, 1))

    def follow(self, d, n, chance):
        s, m = self.s, self.m + by_chance(quotient(d * 65536, n), 16, chance)
        more = (d * d // s) * (n - 1) // n - s
        s += by_chance(quotient(more * 4096, n), 13, chance >> 16)
        self.set(self.e, m, max(s, 1))

    def learn_square(self, x, n, chance, far):
        """The mean square of all features, of which x is a sample."""
        largest = max((parts(v)[1] for v in x if v), default=-150)
        if n == 1 or (n == 2 and -150 < largest < self.e - 22):  # the first was far out
            self.s = 0
        if not self.s:
            self.f["e"] = self.e = int(clip(largest + 16, 120))
            square = self.mean_square(x, 1 << 16, 1, far)
            if square:
                self.set(self.e, 0, isqrt(square) or 1)
            return
        more = self.mean_square(x, FAR * self.s, n, far) // self.s - self.s
        s = self.s + by_chance(quotient(more * 4096, n), 13, chance)
        self.set(self.e, 0, max(s, 1))

    def mean_square(self, x, most, n, far):
        squares = []
        for d, value in enumerate(x):
            v = units(value, self.e)
            if abs(v) > most:
                v = most if n <= 3 or far.note(value, d) else 0
            squares.append(v * v)
        return min(sum(squares) // len(x), 0x7FFFFFFF)


# -- the core --------------------------------------------------------------------------------------


class ByteSVMCoreRef(ReferenceCore):
    """The arena's arrays by name: model (head, rows, counts, scales, u, w, mean) and coded, which
    is not used."""

    def __init__(
        self,
        *common,
        n_classes,
        most_classes,
        is_common,
        learns_directions,
        replays,
        is_balanced,
        seed,
    ):
        super().__init__(*common)
        self.grows, self.most_classes = n_classes == 0, most_classes
        self.is_common, self.learns_directions = is_common, learns_directions
        self.replays, self.is_balanced = replays, is_balanced
        self.key = key_of(seed)
        self.head = self.of_model(0, HEAD, 1)[0]
        laid_out = int(self.head["n_classes"])
        planned = n_classes or (len(self.labels.in_slots) if self.labels.closed else 2)
        if laid_out != planned and self.views["n_seen"] == 0:  # the classes are new
            self.views["model"][:] = laid_out = 0
        self.lay_out(laid_out if self.grows and laid_out else planned)
        if not laid_out:
            self.u[:] = self.drawn(np.arange(self.u.size)).reshape(self.u.shape)
            self.head["n_classes"] = self.layout_.n_classes
            self.head["n_features"] = [self.n_features >> by & 255 for by in (0, 8)]
            self.find_amplitudes()

    def of_model(self, at, dtype, n):
        dtype = np.dtype(dtype)
        return self.views["model"][at : at + n * dtype.itemsize].view(dtype)

    def lay_out(self, n_classes):
        self.layout_ = s = Layout(self, n_classes)
        self.rows = self.of_model(HEAD.itemsize, ROW, s.V)
        self.scales = self.of_model(s.at_scale, SCALE, 1 if s.is_common else self.n_features)
        self.u = self.of_model(s.at_u, "i1", s.P * s.K).reshape(s.P, s.K)
        self.w = self.of_model(s.at_w, "i1", 2 * s.P * s.V).reshape(s.P, s.V, 2)
        self.mean = None
        if s.has_mean:
            self.mean = self.of_model(s.at_mean, "i1", self.w.size).reshape(self.w.shape)
        self.slots = self.of_model(s.at_slots, "u1", s.Q * n_classes * s.slot_bytes)
        self.slots = self.slots.reshape(s.Q, n_classes, s.slot_bytes)
        self.code = self.of_model(s.at_code, SCALE, len(self.scales) if s.Q else 0)
        self.lapses = self.of_model(s.at_shares, "<u2", 3 if self.replays else 0)
        self.lately = self.of_model(s.at_shares + 6, "<u2", s.V if self.replays else 0)
        if s.counts:
            self.views["n_per_class"] = self.of_model(s.at_counts, "<i8", n_classes)

    def drawn(self, i):
        """Entry i of all directions: the sum of four random bytes, 127 to 3.2 deviations."""
        h = hashed(self.key, i, 3)
        total = (h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24) - 510
        return clip(total * 275 + 512 >> 10, 127)

    @property
    def layout(self):
        s = self.layout_
        return {"n_directions": s.P, "is_common": s.is_common, "at_scale": s.at_scale}

    is_multiclass = property(lambda self: self.grows or super().is_multiclass)
    n_scores = property(lambda self: max(self.layout_.n_classes, len(self.labels.in_slots)))
    far_out = property(lambda self: int(self.head["far_out"]))
    amplitudes = property(lambda self: self.head["amplitude"] / 4096)
    answers = property(lambda self: "last" if self.is_last_better else "both")

    @property
    def is_last_better(self):
        last, both = self.head["lapses"].tolist()
        return both > last + (last >> 1)

    # -- features and logits -----------------------------------------------------------------------

    def each(self, scales):
        scales = [Scale(f) for f in scales]
        return scales * self.n_features if self.layout_.is_common else scales

    def coded(self, x, scales=None):
        scales = self.each(self.scales if scales is None else scales)
        return np.array([scale.coded(v) for scale, v in zip(scales, x, strict=True)], np.int64)

    def features(self, z):
        """Cosines and sines (P, 2)."""
        s = self.layout_
        uz = (self.u * z[s.places]).sum(axis=1)
        turns = (uz >> s.angle_shift) * s.angle[s.width] >> 8
        return np.stack([cosine(turns), cosine(turns - 64)], axis=1)

    def sums(self, w, one, f):
        """What each width, and 1, has in each vector's sum, (V, 5)."""
        R = np.zeros((self.layout_.V, WIDTHS + 1), np.int64)
        for k in range(WIDTHS):
            R[:, k] = np.einsum("pvi,pi->v", w[k::WIDTHS].astype(np.int64), f[k::WIDTHS])
        R[:, WIDTHS] = 127 * one.astype(np.int64)
        return R * self.head["amplitude"].astype(np.int64)

    def as_logits(self, AR, e):
        """Sums of a unit 2^e, Q10."""
        return AR * self.layout_.unit >> self.layout_.unit_shift - e.astype(np.int64)

    def logits(self, f):
        """By the weights, and by these and twice their mean."""
        rows = self.rows
        last = clip(self.as_logits(self.sums(self.w, rows["one"], f).sum(1), rows["e"]), 20480)
        if self.mean is None:
            return last, last
        sums = self.sums(self.mean, rows["one_mean"], f).sum(1)
        return last, last + 2 * clip(self.as_logits(sums, rows["e_mean"]), 20480)

    def decide(self, x):
        if not np.isfinite(x).all():
            return np.nan
        last, both = self.logits(self.features(self.coded(x)))
        if self.mean is not None and not self.is_last_better:
            last = np.array([quotient(int(v), 3) for v in both])
        if not self.is_multiclass:
            return last[0] / 1024
        scores = np.full(self.n_scores, -1e9)
        n = self.layout_.n_classes
        scores[:n] = last / 1024 if n > 2 else last * [-1, 1] / 2048
        self.unseen_last(scores[:n])
        return scores

    # -- learning ----------------------------------------------------------------------------------

    def step(self, x, y, weight):
        slot = int(y) if self.is_multiclass else int(y > 0)
        if not np.isfinite(x).all():
            return Status.NOT_FINITE
        if slot >= self.most_classes:
            return Status.UNKNOWN_LABEL
        if slot >= self.layout_.n_classes:
            self.grow(slot + 1)
        n = int(self.views["n_per_class"].sum()) + 1
        far = FarOut(self.head)
        self.learn_scale(x, n, far)
        if self.is_dropout(far, n, self.views["n_per_class"][slot]):
            return Status.CHANGED
        z = self.coded(x)
        last, both = self.logits(self.features(z))
        self.note_lapses(self.best(last) != slot, self.best(both) != slot, n)
        rate, weight = self.rate(n), self.relative(weight)
        times = min(weight + 255 >> 8, 8)
        weight = min(weight // times, 256)
        for t in range(times):
            chance = n + t * 0x2545F491 & 0xFFFFFFFF
            self.step_by(z, slot, weight, rate, chance=chance, n=n)
        self.note_class(slot, n, n)
        if self.layout_.Q:
            self.keep(x, slot, n)
            self.replay(slot, rate, n)
        if self.mean is not None and (n < 64 or n % 8 == 0):
            self.learn_mean(n)
        return Status.CHANGED

    def step_by(self, z, slot, weight, rate, *, chance, n):
        f = self.features(z)
        last, _ = self.logits(f)
        if self.replays:
            last = last + self.excess(n)
        g = self.slopes(last, slot, weight)
        if g.any():
            self.move(z, f, g, rate, chance)

    def note_class(self, slot, chance, n):
        U = int(hashed(self.key, chance, 12))
        for v in range(len(self.lately)):
            is_its = slot if len(self.lately) == 1 else slot == v
            self.lately[v] = share_after(self.lately[v], is_its, min(n, 256), U)

    def note_lapses(self, last, both, n):
        chance = int(hashed(self.key, n, 11))
        for shares, i, is_wrong, most in (
            (self.head["lapses"], 0, last, 1000),
            (self.head["lapses"], 1, both, 1000),
            (self.lapses, 0, last, 4096),
            (self.lapses, 1, both, 4096),
            (self.lapses, 2, last, 16384),
        )[: 5 if self.replays else 2]:
            shares[i] = share_after(shares[i], is_wrong, min(n, most), chance)

    def rate(self, n):
        """Of the directions, Q8"""
        if not self.learns_directions or not self.replays or n <= 5000:
            return 256 if self.learns_directions else 0
        last, both, longest = self.lapses.tolist()
        ahead = 5120 * both // (last + 1) - 5376
        now = 2560 * int(self.head["lapses"][0]) // (longest + 1) - 2816
        rate = min(max(5000 * 256 // n, ahead, now), 256)
        return rate if rate >= 5 else 0

    # -- the shares of classes, and kept samples ---------------------------------------------------

    def share_lately(self, c):
        if len(self.lately) > 1:
            return int(self.lately[c])
        return int(self.lately[0]) if c else 65535 - int(self.lately[0])

    def lead(self, c, n, count):
        """ln of how much more frequent a class was lately than in all, Q10"""
        return log(self.share_lately(c) | 63) - 11357 + log(n) - log(count or 1)

    def excess(self, n):
        """What is added to the logits in training"""
        seen = self.views["n_per_class"].tolist()
        n_classes = sum(count > 0 for count in seen)
        found = np.zeros(self.layout_.n_classes, np.int64)
        for c in range(len(found)) if n_classes else ():
            more = self.lead(c, n, seen[c])
            if self.is_balanced:
                more = log(self.share_lately(c) | 63) - 11357 + log(n_classes)
            more = int(clip(more, 4096))
            if self.is_balanced or abs(more) > 512:
                found[c] = more
        if self.layout_.V == 1:
            return found[1:2] - found[:1]
        return np.where(np.array(seen) > 0, found, 0)

    def put(self, slot, z):
        if len(slot) == len(z):
            slot[:] = z.astype(np.int8).view(np.uint8)
            return
        for d, v in enumerate(z.tolist()):
            by, nibble = d % 2 * 4, quotient(v + (-6 if v < 0 else 6), KEPT_UNIT)
            slot[d // 2] = slot[d // 2] & 240 >> by | int(clip(nibble, 7)) + 8 << by

    def recalled(self, slot):
        nibbles = np.stack([slot & 15, slot >> 4], axis=1).ravel()[: self.n_features]
        kept = (nibbles.astype(int) - 8) * KEPT_UNIT
        if len(slot) == self.n_features:
            kept = slot.view(np.int8)
        scales = zip(self.each(self.scales), self.each(self.code), kept.tolist(), strict=True)
        return np.array([to.of_kept(value, by) for to, by, value in scales], np.int64)

    def keep(self, x, slot, n):
        """The n-th sample by chance, so that the slots are a fair sample of its class"""
        s, m = self.layout_, int(self.views["n_per_class"][slot]) + 1
        i = m - 1 if m <= s.Q else below(int(hashed(self.key, n, 23)), m)
        if n & n - 1 == 0:
            for place in self.slots.reshape(-1, s.slot_bytes):
                self.put(place, self.recalled(place))
            self.code[:] = self.scales
        if i < s.Q:
            self.put(self.slots[i, slot], self.coded(x, self.code))

    def replay(self, slot, rate, n):
        counts = self.views["n_per_class"].tolist()
        first = n <= 150 or counts[slot] < 64
        counts[slot] += 1
        for r in range(2 if first else 1):
            chance = n + (r + 1) * 0x51ED2701 & 0xFFFFFFFF
            U = int(hashed(self.key, chance, 21))
            c = self.class_to_recall(slot, n, U, counts, is_first=first)
            if c >= 0:
                i = below(int(hashed(self.key, chance, 22)), min(counts[c], self.layout_.Q))
                z = self.recalled(self.slots[i, c])
                self.step_by(z, c, 256 if first else 512, rate, chance=chance, n=n)
                self.note_class(c, chance, n)

    def class_to_recall(self, slot, n, chance, counts, *, is_first):
        K = self.layout_.n_classes
        if is_first:
            return int(np.searchsorted(np.cumsum(counts[:K]), below(chance, n), side="right"))
        first = below(chance, K)
        for c in ((first + k) % K for k in range(K)):
            if c != slot and counts[c]:
                return c if self.lead(c, n, counts[c]) < -710 else -1
        return -1

    def relative(self, weight):
        """Beside the mean weight so far, Q8"""
        if "mean_weight" in self.views and self.bounded:
            mean = float(self.views["mean_weight"])
            weight = weight / mean if mean else 1.0
        return int(min(max(np.rint(256 * weight), 1), 65536))

    def learn_scale(self, x, n, far):
        anew = int(self.head["n_lasting"]) - LASTING + 1
        starting = int(self.head["lasting"]) if anew > 0 else 0
        if self.layout_.is_common:
            n = anew if starting else n
            Scale(self.scales[0]).learn_square(x, n, int(hashed(self.key, n, 1)), far)
            return
        for d, (f, v) in enumerate(zip(self.scales, x, strict=True)):
            own = anew if starting >> d % 8 & 1 else n
            Scale(f).learn(v, d, own, int(hashed(self.key, own, d)), far)

    def is_dropout(self, far, n, n_of_class):
        """Whether the weights do not learn the sample"""
        head, n_lasting, lasting = self.head, int(self.head["n_lasting"]), int(self.head["lasting"])
        head["far_out"] = min(int(head["far_out"]) + (far.features > 0 and n > SEEN), 65535)
        if n_lasting >= LASTING:
            head["n_lasting"] = (n_lasting + 1) % 256
            head["lasting"] = lasting if n_lasting < 255 else 0
            return True
        head["lasting"] = lasting & far.features or far.features
        if not lasting & far.features:
            n_lasting = 0
        elif far.is_stuck:
            n_lasting = min(n_lasting + (n % 5 == 0), FOR_GOOD)
        else:
            n_lasting = {FOR_GOOD: AWHILE, FOR_GOOD - 1: LASTING}.get(n_lasting, n_lasting + 1)
        head["n_lasting"] = n_lasting
        return far.is_stuck and n_lasting != FOR_GOOD and n_of_class > 2 * int(head["far_out"])

    def best(self, logits):
        if len(logits) == 1:
            return int(logits[0] > 0)
        seen = self.views["n_per_class"] > 0
        return int(np.where(seen, logits, -(1 << 40)).argmax())

    def slopes(self, logits, slot, weight):
        """g of each vector, Q15; those below .05, or .009, are none."""
        V = self.layout_.V
        is_its = [slot] if V == 1 else [slot == v for v in range(V)]
        g = [(own << 15) - sigma(int(logit)) for own, logit in zip(is_its, logits, strict=True)]
        dead = 300 if self.replays and self.is_balanced and V == 1 else 1638
        return np.array([v * weight >> 8 if abs(v) >= dead else 0 for v in g], np.int64)

    def move(self, z, f, g, rate, n):
        """One step of weights, directions and amplitudes."""
        steps = self.learn_rates(g, n)
        parts = self.as_logits(self.sums(self.w, self.rows["one"], f).T, self.rows["e"])
        parts = (clip(parts, 1 << 30) * g >> 15).sum(axis=1)
        largest = int(self.rows["e"][g != 0].max())
        chance = hashed(self.key, n, 1000 + np.arange(self.layout_.P)) | 1
        chance, pull, over = self.move_weights(f, g, steps, largest, chance)
        squares = self.move_directions(z, pull, largest, rate, chance) if rate else 0
        self.note_squares(squares, z)
        self.move_ones(g, steps, over, n)
        self.learn_amplitudes(parts)

    def learn_rates(self, g, n):
        """G grows; (V, 5), how far a weight moves by f, Q16."""
        A, steps = self.head["amplitude"].astype(np.int64), np.zeros((len(g), WIDTHS + 1), np.int64)
        square = int(A**2 @ self.layout_.square_shares) // (2 * self.layout_.P + 1)
        for v in np.flatnonzero(g).tolist():
            more = (int(g[v]) ** 2 >> 14) * (square >> 8)
            more = more + (int(hashed(self.key, n, 100 + v)) & 0x3FFFFF) >> 22
            self.rows["G"][v] = G = min(int(self.rows["G"][v]) + more, 0xFFFFFFFF)
            inverse, shift = inverse_root(max(G, 1))
            steps[v] = g[v] * A * inverse >> 38 + shift + int(self.rows["e"][v])
        waves = steps[:, :WIDTHS]
        waves[abs(waves) < LEAST_STEP] = 0
        return clip(steps, 1 << 22)

    def move_weights(self, f, g, steps, largest, chance):
        """The generators' states, the slope by each angle, and which vectors met their limit."""
        pull, over, (c, s) = np.zeros(len(f), np.int64), set(), f.T
        for v in np.flatnonzero(g).tolist():
            turn = clip(g[v] >> 7, 511) >> largest - int(self.rows["e"][v])
            w_c, w_s = self.w[:, v].astype(np.int64).T
            pull += turn * (w_s * c - w_c * s)
            chance = following(chance)
            step = steps[v][self.layout_.width]
            self.w[:, v, 0], over_c = moved(w_c, step, c, chance)
            self.w[:, v, 1], over_s = moved(w_s, step, s, chance >> 16)
            over |= {v} if over_c or over_s else set()
        return chance, pull, over

    def move_directions(self, z, pull, largest, rate, chance):
        """The sum of the slopes' squares"""
        s, by = self.layout_, np.zeros(WIDTHS, np.int64)
        if H := int(self.head["H_directions"]):
            inverse, shift = inverse_root(H)
            by[:] = [min(move * inverse >> 19 + shift, 1 << 24) * rate >> 8 for move in s.move]
        slope = pull * self.head["amplitude"].astype(np.int64)[s.width] >> 20
        slope = clip(slope << largest, 1 << 22)
        by = clip(slope * by[s.width] >> 12, 1 << 20)
        for j in range(s.K):
            chance = following(chance)
            self.u[:, j] = moved(self.u[:, j], by, z[s.places[:, j]], chance >> 8)[0]
        return int((slope**2).sum())

    def note_squares(self, squares, z):
        squares = min(squares // self.layout_.P, (1 << 41) - 1)
        squares = 1 << 40 if squares >> 40 else squares
        H = int(self.head["H_directions"]) + (squares * (int(z @ z) // len(z)) >> 10)
        if H >> 62 == 0:
            self.head["H_directions"] = H

    def move_ones(self, g, steps, over, n):
        """Weights of 1; and vectors that met their limit are halved."""
        one, e = self.rows["one"], self.rows["e"]
        for v in np.flatnonzero(g).tolist():
            chance = int(hashed(self.key, n, 300 + v))
            one[v], is_over = moved(int(one[v]), int(steps[v, WIDTHS]), 127, chance)
            if is_over or v in over:
                self.halve(self.w, one, e, v, int(hashed(self.key, n, 500 + v)))
            others = self.key ^ 0xFFFFFFFF
            if e[v] and int(hashed(others, n, v)) >> 8 < abs(int(g[v])):
                self.decay(v, int(hashed(others, n, 256 + v)))

    @staticmethod
    def multiply(w, one, v, factor, chance):
        m, by = factor
        for both in w[:, v]:
            chance = following(chance | 1)
            for i in range(2):
                both[i] = clip(by_chance(m * int(both[i]), by, chance >> 8 * (i + 1)), 127)
        one[v] = clip(by_chance(m * int(one[v]), by, chance >> 10), 127)

    def halve(self, w, one, e, v, chance):
        """Where more than 1/64 of a vector's weights are at their limit"""
        if (abs(w[:, v].astype(int)) == 127).sum() * 64 > 2 * self.layout_.P:
            self.multiply(w, one, v, (1, 1), chance)
            e[v] = min(int(e[v]) + 1, 24)

    def decay(self, v, chance):
        one, e = self.rows["one"], self.rows["e"]
        self.multiply(self.w, one.copy(), v, (15, 4), chance)
        n_large = (abs(self.w[:, v].astype(int)) >= 64).sum()
        if abs(int(one[v])) < 64 and n_large * 1024 <= 2 * self.layout_.P:
            self.multiply(self.w, one, v, (2, 0), chance)
            e[v] -= 1

    def learn_mean(self, n):
        share = (2 << 16 if n < 64 else 16 << 16) // (min(n, 32767) + 1)
        one, e = self.rows["one_mean"], self.rows["e_mean"]
        for v, row in enumerate(self.rows):
            by, chances = int(row["e"]) - int(e[v]), []
            chance = int(hashed(self.key, n, 700 + v)) | 1
            for _ in range(self.layout_.P + 1):
                chance = following(chance)
                chances.append(chance)
            U = np.array(chances, np.int64)[:, None] >> [0, 16]
            w = np.append(self.w[:, v].astype(np.int64), int(row["one"])) << min(max(by, 0), 8)
            mean = np.append(self.mean[:, v].astype(np.int64), int(one[v]))
            step = clip((w >> max(-by, 0)) - mean, 4096) * share
            mean, is_over = moved(mean, step, 1, U.ravel()[:-1])
            self.mean[:, v], one[v] = mean[:-1].reshape(-1, 2), mean[-1]
            if is_over:
                self.halve(self.mean, one, e, v, chance)

    # -- amplitudes --------------------------------------------------------------------------------

    def find_amplitudes(self):
        a = [exp2(int(t)) for t in FIRST_TILT + self.head["tilt"]]
        root = isqrt(sum(v * v for v in a))
        self.head["amplitude"] = [v * 9159 // root for v in a]

    def learn_amplitudes(self, parts):
        parts = [int(part) for part in clip(parts, 1 << 20)]
        H = min(int(self.head["H_amplitudes"]) + sum(part**2 for part in parts), 1 << 62)
        self.head["H_amplitudes"] = H
        inverse, shift = inverse_root(H + (1 << 20))
        moves = [part * 2954 * inverse >> 31 + shift for part in parts]
        log2 = FIRST_TILT + self.head["tilt"] + moves
        log2[WIDTHS] = min(log2[WIDTHS], log2[:WIDTHS].max() + 8192)
        log2 = np.maximum(log2 - log2.max(), FAINTEST)
        self.head["tilt"] = log2 - FIRST_TILT
        self.find_amplitudes()

    # -- more classes ------------------------------------------------------------------------------

    def grow(self, n_classes):
        """Lay out anew; directions that there were not are drawn, other weights are zero."""
        names = ("rows", "scales", "u", "w", "slots", "code", "lapses", "lately")
        names += () if self.mean is None else ("mean",)
        old = {name: getattr(self, name).copy() for name in names}
        counts = self.views["n_per_class"].copy()
        if len(old["rows"]) == 1:
            old |= self.of_both_classes(old)
        self.views["model"][HEAD.itemsize :] = 0
        self.lay_out(n_classes)
        self.u[:] = self.drawn(np.arange(self.u.size)).reshape(self.u.shape)
        for name, part in old.items():
            new = getattr(self, name)
            if new is not None:
                kept = tuple(slice(min(a, b)) for a, b in zip(new.shape, part.shape, strict=True))
                new[kept] = part[kept]
        self.views["n_per_class"][: len(counts)] = counts
        self.head["n_classes"] = n_classes

    @staticmethod
    def of_both_classes(old):
        """The one vector was the second class's; the first has its opposite."""
        rows = np.repeat(old["rows"], 2)
        rows["one"][0], rows["one_mean"][0] = -rows["one"][0], -rows["one_mean"][0]
        both = {name: old[name] for name in ("w", "mean") if name in old}
        lately = [part for share in old["lately"] for part in (65535 - share, share)]
        return {"rows": rows, "lately": np.array(lately, "<u2")} | {
            name: np.concatenate([-part, part], axis=1) for name, part in both.items()
        }
