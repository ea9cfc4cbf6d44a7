"""BallVectorMachine in plain NumPy: Tsang, Kocsor & Kwok 2007, Algorithms 2 and 4."""

from __future__ import annotations

import numpy as np

from reference.enclosing import EnclosingCoreRef


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
        v["square"][...] = keep * keep * v["square"] + gain * (2.0 * keep * f + gain * k_pp)
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
