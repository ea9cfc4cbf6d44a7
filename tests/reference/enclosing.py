"""CoreVectorMachine and BallVectorMachine in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.errors import refusal, too_long
from edgesvm.learners.papers.enclosing.constants import (
    FAR,
    FINEST,
    IDLE,
    ITERATIONS,
    LARGEST,
    LOOSE,
    OF_A_SAMPLE,
    SHARE,
)
from reference.kernel_core import KernelCoreRef
from reference.nonzeros import NonzerosRef
from reference.rng import below, seeded
from reference.smo import SMORef


class EnclosingCoreRef(KernelCoreRef):
    """The core set, by name in the arena, and the block: rows examined together.

    A machine adds `level`, f of a sample on the surface of the ball, `square_radius`, `settle`, a
    step within the core set and whether there was one to make, `take`, of the sample p that was
    added last, f = (K alpha)_p, and `make_room`, which drops some of a full core set.
    """

    others: tuple[str, ...]  # the machine's own arrays, one number per core vector

    def __init__(
        self,
        *common,
        C,
        kernel,
        normalize,
        width,
        constant,
        epsilon,
        margin_tol,
        max_core,
        max_iter,
        kappa,
    ):
        super().__init__(*common, kernel=kernel)
        self.C, self.normalize = C, normalize
        self.width, self.constant = width, constant
        self.epsilon, self.margin_tol = epsilon, margin_tol
        self.max_core, self.max_iter = max_core, max_iter
        self.kappa, self.n_probes = kappa, len(self.views["block_f"])
        self.block, self.is_full, self.n_taken = [], False, 0
        self.near, self.watching, self.has_all = [], False, False
        self.nonzeros = NonzerosRef(self.views, width) if "columns" in self.views else None

    @property
    def n(self):
        return int(self.views["n_core"])

    @property
    def rows(self):
        """The core set, a copy, ndarray of shape (n_core, n_features)."""
        if self.nonzeros is not None:
            return self.nonzeros.first(self.n)
        return self.get(self.views["rows"], self.n)

    def put(self, p, x):
        self.put_row(self.views["rows"], p, x)

    def k_row(self, X, Z):
        """k, rounded like the compiled core's cached rows."""
        return self.k(X, Z).astype(np.float32).astype(np.float64)

    def point(self, x):
        """x and maybe a constant, scaled to unit norm if `normalize`; None if it cannot be
        learned."""
        xx = x @ x
        if not np.isfinite(xx):
            return None
        if self.width > len(x):
            x = np.append(x, x.dtype.type(self.constant))
            xx = np.float64(xx) + self.constant**2
        if self.normalize and xx > 0:
            x = (x * (1.0 / np.sqrt(np.float64(xx)))).astype(x.dtype)
        return x

    def output(self, x):
        if self.n == 0:
            return 0.0
        return float(self.k(x, self.rows)[0] @ self.held("beta") + self.views["intercept"])

    def length(self, p):
        """K_pp, eq. 3"""
        x = self.rows[p]
        return self.k(x, x)[0, 0] + 1.0 + self.views["own"][p]

    # -- the block ---------------------------------------------------------------------------------

    def load(self, x, y, weight, number):
        if self.in_bulk and number in self.held("number"):
            return Status.CHANGED
        x = self.point(x)
        if x is None:
            return Status.NOT_FINITE
        with np.errstate(divide="ignore"):
            own = 1.0 / (np.float64(self.C) * weight)
        if not 0.0 < own <= LARGEST:
            return Status.BAD_WEIGHT
        at, self.count = self.max_core + len(self.block), np.count_nonzero(x)
        if self.nonzeros is not None:
            if self.is_long or self.nonzeros.lacking(at, x) > 0:
                return Status.FULL
            self.nonzeros[at] = x
        row = {"at": at, "x": x, "y": y, "own": own, "number": number, "f": y * self.output(x)}
        self.block.append(row)
        return Status.CHANGED

    def load_alone(self, x, y, weight, number):
        """The first row of a block; UNCHANGED: it is inside, or there is no room, `is_full`"""
        status = self.load(x, y, weight, number)
        if status != Status.FULL or self.is_long:
            return status
        self.is_full = self.has_all
        if not self.is_full:
            self.improve_all()
        while not self.is_full:
            status = self.load(x, y, weight, number)
            if status != Status.FULL:
                return status
            f = y * self.output(self.point(x))
            if number in self.held("number") or f >= self.threshold():
                return Status.UNCHANGED
            self.is_full = not self.make_room()
        return Status.UNCHANGED

    @property
    def max_nonzeros(self):
        return len(self.views["columns"]) - self.max_core - self.n_probes

    @property
    def is_long(self):
        return 2 * self.count > self.max_nonzeros

    def clear_block(self):
        for row in reversed(self.block):
            if self.nonzeros is not None:
                self.nonzeros.drop(row["at"])
        self.block.clear()

    def recompute_block(self):
        for row in self.block:
            if row["f"] < np.inf:
                row["f"] = row["y"] * self.output(row["x"])

    def farthest(self):
        least = self.limit if self.n else np.inf
        for row in self.block:
            if row["number"] in self.held("number"):
                row["f"] = np.inf
        row = min(self.block, key=lambda row: row["f"], default=None)
        return row if row is not None and row["f"] < least else None

    # -- the core set ------------------------------------------------------------------------------

    def improve(self):
        if self.budget <= 0:
            return False
        if self.settle():
            return True
        row = self.farthest()
        if row is None:
            return False
        if self.n < self.max_core:
            self.append_outside(row)
            return True
        self.is_full = not self.make_room()
        return not self.is_full

    def append_outside(self, row):
        """Add a row of the block to the core set; in bulk, all that are outside a ball."""
        self.append(row)
        while self.in_bulk and 1 < self.n < self.max_core:
            row = self.farthest()
            if row is None:
                return
            self.append(row)

    def append(self, row):
        v, p, f = self.views, self.n, row["f"]
        if self.nonzeros is not None:
            self.nonzeros.swap(p, row["at"])
        else:
            self.put(p, row["x"])
        v["sign"][p], v["own"][p], v["number"][p] = row["y"], row["own"], row["number"]
        v["beta"][p] = 0.0
        v["n_core"][...] = p + 1
        self.n_taken += 1
        row["f"] = np.inf
        self.take(p, f)

    def append_all(self):
        """Add the whole block to the core set, for which there is room."""
        for row in self.block:
            self.append(row)

    def remove(self, q):
        """Move the last core vector to the place of q."""
        last = self.n - 1
        if self.nonzeros is not None:
            self.nonzeros.swap(q, last)
            self.nonzeros.drop(last)
        else:
            self.put(q, self.rows[last])
            self.put(last, 0)
        for name in ("sign", "own", "number", "beta", *self.others):
            self.views[name][q] = self.views[name][last]
            self.views[name][last] = 0
        self.views["n_core"][...] = last

    def lightest(self):
        return int(np.abs(self.held("beta")).argmin())

    # -- the tolerance -----------------------------------------------------------------------------

    def threshold(self):
        """Least f of a sample inside"""
        return self.level - self.allowance

    @property
    def limit(self):
        """Least f of a sample that is not added now"""
        return self.threshold()

    def allow(self, epsilon, margin_tol):
        """Set the tolerances; return what they allow, in units of f."""
        self.epsilon, self.margin_tol = epsilon, margin_tol
        self.unsettle()
        return self.allowance

    @property
    def allowance(self):
        """By how much f may be below the level"""
        slack = 0.5 * (2.0 + self.epsilon) * self.epsilon * self.square_radius
        if self.margin_tol == np.inf:
            return slack
        return min(slack, max(self.margin_tol * self.margin, FINEST * self.square_radius))

    @property
    def square_distance(self):
        return float(self.kappa + self.views["square"] - 2.0 * self.threshold())

    @property
    def is_resolved(self):
        if self.margin_tol == np.inf:
            return self.allowance < self.margin
        return self.allowance <= self.margin_tol * self.margin

    @property
    def margin(self):
        """What `margin_tol` is a share of"""
        return self.level

    def unsettle(self):
        """The tolerance was changed."""

    @property
    def in_bulk(self):
        """Whether more than one sample may be added before the next step within the core set"""
        return False

    # -- one sample, many samples ------------------------------------------------------------------

    def step(self, x, y, weight):
        before = self.n_moves
        self.budget = min(self.max_iter, OF_A_SAMPLE * self.max_core)
        self.streaming, self.is_full = True, False
        status = self.load_alone(x, y, weight, int(self.views["n_seen"]))
        if status == Status.CHANGED:
            self.improve_all()
        self.end()
        if status > Status.CHANGED:
            return status
        if self.n_moves > before or self.is_full:
            self.views["converged"][...] = 0
        return Status.CHANGED if self.n_moves > before else Status.UNCHANGED

    def decide(self, x):
        x = self.point(x)
        return np.nan if x is None else self.output(x)

    def watch(self):
        """Start recording the rows that are inside but nearest to the surface."""
        self.watching = True

    def take_near(self):
        """Return their numbers, ascending, and stop recording."""
        most = len(self.views["near_number"])
        numbers = np.sort([number for _, number in sorted(self.near)[:most]]).astype(np.int64)
        self.near, self.watching = [], False
        return numbers

    def note_near(self):
        if self.watching:
            least = self.threshold()
            self.near += [(b["f"] - least, b["number"]) for b in self.block if b["f"] < np.inf]

    def begin(self, seed):
        self.budget, self.streaming, self.is_full = self.max_iter, False, False
        self.draws = seeded(seed)

    def end(self):
        self.clear_block()
        if "w" in self.views:
            self.views["w"][:] = self.held("beta") @ self.rows.astype(np.float64)
        self.near, self.watching, self.has_all = [], False, False

    def draw(self, n, numbers):
        for i in range(len(numbers)):
            numbers[i] = below(self.draws, n)

    @property
    def n_moves(self):
        return int(self.views["n_iter"]) + self.n_taken

    @property
    def is_spent(self):
        return self.is_full or self.budget <= 0

    def improve_all(self, fully=True):
        """Unless `fully`, steps within the core set may wait until more has been added."""
        self.waits = not fully
        while self.improve():
            pass

    def offer(self, X, slots, weights, numbers, until_quiet=False, *, unseen=False):
        self.has_all = unseen
        learned = [i for i in range(len(X)) if weights is None or weights[i]]
        while learned and not self.is_spent:
            n_read = 0
            while n_read < min(self.n_probes, len(learned)) and not self.is_full:
                i = learned[n_read]
                weight = 1.0 if weights is None else float(weights[i])
                row = X[i], 1.0 if slots[i] else -1.0, weight, int(numbers[i])
                status = self.load(*row) if self.block else self.load_alone(*row)
                if status == Status.FULL and self.block:
                    break
                if status > Status.CHANGED:
                    sample = f"{self.owner}: row {numbers[i]}"
                    error = refusal(status, sample, self.dtype, self.labels.in_slots)
                    raise self.explained(error)
                n_read += 1
            learned = learned[n_read:]
            before = self.n_taken
            if unseen:
                self.append_all()
            else:
                self.improve_all(fully=False)
            self.note_near()
            self.clear_block()
            if until_quiet and self.n_taken == before:
                return True
        return False

    def explained(self, error):
        if error.status != Status.FULL:
            return error
        sample = str(error).partition(" does not fit")[0]
        return too_long(sample, self.count, self.max_nonzeros)


class BallVectorMachineCoreRef(EnclosingCoreRef):
    """The centre moves, by the smallest steps that enclose a sample each, until the ball encloses
    all."""

    others = ("f",)
    not_shrunk = 0.0

    def __init__(self, *common, shrink, max_rounds, **params):
        super().__init__(*common, **params)
        self.lifted, self.max_rounds = shrink, max_rounds

    @property
    def square_radius(self):
        return self.kappa - float(self.views["shrunk"])

    @property
    def level(self):
        v = self.views
        return 0.5 * float(v["square"] + v["lift"] + v["shrunk"])

    def settle(self):
        if self.n == 0:
            return False
        p = int(self.held("f").argmin())
        if not self.views["f"][p] < self.threshold():
            return False
        self.move_to(p)
        return True

    def take(self, p, f):
        self.views["f"][p] = f
        if p == 0:
            lift = self.length(0) - float(self.views["shrunk"])
            self.views["lift"][...] = lift if self.lifted else 0.0
            self.move(0, 0.0)
        else:
            self.move_to(p)

    def move_to(self, p):
        """Move until p is on the surface; in a stream, with the radius that no round reduced."""
        v, k_pp = self.views, self.length(p)
        if self.streaming:
            v["lift"][...] += v["shrunk"] - self.not_shrunk
            v["shrunk"][...] = self.not_shrunk
        square = v["square"] + v["lift"] - 2.0 * v["f"][p] + k_pp
        keep = np.sqrt(max(k_pp - float(v["shrunk"]), 0.0) / square)
        v["lift"][...] *= keep * keep
        self.move(p, keep)

    def move(self, p, keep):
        """Eq. 6"""
        v = self.views
        f, y, k_pp, gain = float(v["f"][p]), v["sign"][p], self.length(p), 1.0 - keep
        v["square"][...] = max(keep * keep * v["square"] + gain * (2.0 * keep * f + gain * k_pp), 0)
        v["intercept"][...] = keep * v["intercept"] + gain * y
        row = self.k_row(self.rows[p], self.rows)[0] + 1.0
        self.held("f")[:] = keep * self.held("f") + gain * y * self.held("sign") * row
        v["f"][p] = keep * f + gain * k_pp
        v["beta"][:] *= keep
        v["beta"][p] += gain * y
        for other in self.block:
            if other["f"] < np.inf:
                k = self.k_row(self.rows[p], other["x"])[0, 0] + 1.0
                other["f"] = keep * other["f"] + gain * y * other["y"] * k
        v["n_iter"][...] += 1
        self.budget -= 1

    def make_room(self):
        if not self.streaming:
            return False
        v, q = self.views, self.lightest()
        a = abs(float(v["beta"][q]))
        square = v["square"] - 2.0 * a * v["f"][q] + a * a * self.length(q)
        v["square"][...] = max(float(square), 0.0) / (1.0 - a) ** 2
        v["intercept"][...] = (v["intercept"] - v["beta"][q]) / (1.0 - a)
        row = self.k_row(self.rows[q], self.rows)[0] + 1.0
        self.held("f")[:] -= v["beta"][q] * self.held("sign") * row
        self.held("f")[:] /= 1.0 - a
        v["beta"][:] /= 1.0 - a
        self.remove(q)
        self.views["n_given_up"][...] += 1
        self.recompute_block()
        return True

    def shrink(self):
        v, slack = self.views, 2.0 * self.allowance
        if not v["lift"] > slack:
            return False
        v["shrunk"][...] += float(v["lift"]) - slack
        v["lift"][...] = self.square_radius
        return True


class OneClassBallVectorMachineCoreRef(BallVectorMachineCoreRef):
    """All samples are of sign 1, 1 away from the origin along an axis of its own."""

    one_class = True
    not_shrunk = 1.0

    @property
    def margin(self):
        return self.level - 1.0

    def take(self, p, f):
        if p == 0:
            self.views["shrunk"][...] = 1.0
        super().take(p, f)

    def decide(self, x):
        return super().decide(x) - (self.level + float(self.views["cut"]))

    @property
    def offset(self):
        return self.level + float(self.views["cut"]) - 1.0


class CoreVectorMachineCoreRef(EnclosingCoreRef):
    """The minimum enclosing ball of the core set, by SMO from the last coefficients."""

    others = ("alpha",)
    worst = 0.0
    largest = 1.0  # coefficient

    def __init__(self, *common, bulk, **params):
        super().__init__(*common, **params)
        self.bulk, self.smo = bulk, None
        self.settled_at(0.0)

    @property
    def square_radius(self):
        return max(self.kappa - float(self.views["square"]), 0.0)

    @property
    def level(self):
        return float(self.views["square"])

    def find_surface(self):
        """Compute the level, where it is not |c|^2."""

    def take(self, p, f):
        self.was = self.threshold() if p else np.inf
        self.smo, self.reached = None, np.inf
        self.n_new += 1
        self.worst = max(self.worst, self.level - f)
        if p == 0:
            self.stand_on_first()

    def stand_on_first(self):
        """The centre is the first core vector."""
        self.views["alpha"][0] = 1.0
        self.views["beta"][0] = self.views["intercept"][...] = self.views["sign"][0]
        self.views["square"][...] = self.length(0)
        self.find_surface()

    @property
    def in_bulk(self):
        return self.bulk and not self.streaming

    @property
    def limit(self):
        """In bulk, samples not nearly as far outside as the worst wait until the ball has moved."""
        if not self.in_bulk:
            return self.threshold()
        return min(self.threshold(), self.level - FAR * self.worst)

    def unsettle(self):
        self.settled_at(np.inf if self.n else 0.0)

    def settled_at(self, tol):
        """alpha is the solution to this tolerance."""
        self.reached = tol
        self.n_new, self.worst = 0, 0.0

    def settle(self):
        loosely = self.in_bulk and self.waits
        share = 1.0 if self.has_all else 0.5  # so that others have some room
        tol = max(share * self.allowance, FINEST * self.square_radius)
        if loosely:
            tol = max(tol, LOOSE * self.worst)
        if self.reached <= tol or (loosely and (self.reached < np.inf or self.may_wait)):
            return False
        alpha, n = self.held("alpha"), self.n
        if self.smo is None:
            sign = self.held("sign")
            K = np.outer(sign, sign) * (self.k_row(self.rows, self.rows) + 1.0)
            K[np.diag_indices(n)] += self.held("own")
            self.smo = SMORef(K, np.full(n, self.largest), beta=alpha, shrinking=False)
        smo, before = self.smo, self.smo.n_iter
        smo.tol = tol
        if smo.run(before + min(ITERATIONS, self.budget)) is not None:
            self.settled_at(tol)
        self.budget -= smo.n_iter - before
        self.views["n_iter"][...] += smo.n_iter - before
        alpha[:] = smo.beta
        self.held("beta")[:] = self.held("sign") * alpha
        self.views["square"][...] = max(float(alpha @ (1.0 - smo.g)), 0.0)
        self.views["intercept"][...] = self.held("beta").sum()
        self.find_surface()
        if self.reached < np.inf:
            self.look_at_those_outside()
            if self.in_bulk and not self.has_all:
                self.thin()
        return True

    @property
    def may_wait(self):
        """Whether new core vectors are few, and there is room for more"""
        return self.waits and 0 < SHARE * self.n_new < self.n < self.max_core

    def look_at_those_outside(self):
        for row in self.block:
            if row["f"] < self.was:
                row["f"] = row["y"] * self.output(row["x"])
            else:
                row["f"] = max(row["f"], self.threshold())

    def make_room(self):
        before = self.n
        if self.streaming:
            self.settled_at(0.0)
        self.drop_idle()
        if self.streaming:
            self.views["n_given_up"][...] += before - self.n
        return self.n < before

    def drop_idle(self):
        """Drop core vectors without a coefficient, which leaves the ball as it is."""
        self.smo = None
        for p in range(self.n - 1, -1, -1):
            if self.views["alpha"][p] == 0.0:
                self.remove(p)

    def thin(self):
        """Drop what the ball does not need, if it is much."""
        if IDLE * (self.held("alpha") == 0.0).sum() > self.n:
            self.drop_idle()

    def keep_supports(self):
        """Drop all core vectors without a coefficient."""
        self.drop_idle()

    def end(self):
        super().end()
        self.smo = None
        self.settled_at(0.0)


class OneClassCoreVectorMachineCoreRef(CoreVectorMachineCoreRef):
    """All samples are of sign 1. With `most`, no coefficient is larger."""

    one_class = True

    @property
    def level(self):
        return float(self.views["surface"])

    @property
    def margin(self):
        return self.level - 1.0

    @property
    def square_radius(self):
        return max(self.kappa + float(self.views["square"]) - 2.0 * self.level, 0.0)

    @property
    def largest(self):
        return float(self.views["most"]) or 1.0

    def find_surface(self):
        self.views["surface"][...] = self.views["square"]
        if self.smo is not None and self.largest < 1.0:
            self.views["surface"][...] = 1.0 - self.smo.intercept

    def decide(self, x):
        return super().decide(x) - self.level

    @property
    def offset(self):
        return self.level - 1.0

    def spread(self, most):
        """No coefficient is to be larger than `most`; that of each core vector is the same now."""
        self.views["most"][...] = most
        self.held("alpha")[:] = self.held("beta")[:] = 1.0 / self.n
        self.views["intercept"][...] = 1.0
