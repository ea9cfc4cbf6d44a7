"""A core set and the ball that encloses it, in plain NumPy, to be read next to Tsang, Kocsor & Kwok
2007."""

from __future__ import annotations

import numpy as np

from edgesvm.core.rng import below_view, seed_view
from edgesvm.core.status import Status
from edgesvm.errors import refusal, too_long
from edgesvm.learners.papers.enclosing.constants import FINEST, LARGEST
from reference.kernel_core import KernelCoreRef
from reference.nonzeros import NonzerosRef


class EnclosingCoreRef(KernelCoreRef):
    """The core set, by name in the arena, and the block: rows examined together."""

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

    def held(self, name):
        return self.views[name][: self.n]

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

    @property
    def least_inside(self):
        """`threshold`; infinite while there is no ball"""
        return self.threshold() if self.n else np.inf

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

    # -- what a machine adds -----------------------------------------------------------------------

    @property
    def level(self):
        """f of a sample on the surface of the ball"""
        raise NotImplementedError

    @property
    def margin(self):
        """What `margin_tol` is a share of"""
        return self.level

    @property
    def square_radius(self):
        raise NotImplementedError

    def unsettle(self):
        """The tolerance was changed."""

    def settle(self):
        """Make a step within the core set; return whether there was one to make."""
        raise NotImplementedError

    def take(self, p, f):
        """Sample p, the last, was added to the core set; f = (K alpha)_p."""
        raise NotImplementedError

    @property
    def in_bulk(self):
        """Whether more than one sample may be added before the next step within the core set"""
        return False

    def make_room(self):
        """Drop some of a full core set; return whether there is room now."""
        raise NotImplementedError

    # -- one sample, many samples ------------------------------------------------------------------

    def step(self, x, y, weight):
        before = self.n_moves
        self.budget, self.streaming, self.is_full = self.max_iter, True, False
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
        self.draws = seed_view(seed)

    def end(self):
        self.clear_block()
        if "w" in self.views:
            self.views["w"][:] = self.held("beta") @ self.rows.astype(np.float64)
        self.near, self.watching, self.has_all = [], False, False

    def draw(self, n, numbers):
        for i in range(len(numbers)):
            numbers[i] = below_view(self.draws, n)

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
