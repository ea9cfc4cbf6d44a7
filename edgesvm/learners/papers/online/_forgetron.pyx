"""Forgetron, compiled: the self-tuned form of Dekel, Shalev-Shwartz & Singer 2008.

The vectors lie in a ring; the newest takes the slot of the oldest.
"""

cimport cython
from libc.math cimport fmax, sqrt
from libc.stdint cimport int64_t

from edgesvm.core.status cimport CHANGED, UNCHANGED, Status
from edgesvm.learners.papers.online._expansion cimport ExpansionCore

from edgesvm.learners.papers.online.constants import FORGETRON_SHARE

cdef double SHARE = FORGETRON_SHARE


cdef inline double psi(double sigma, double mu) noexcept nogil:
    """The paper's deviation: what removing a vector with coefficient sigma and margin mu costs"""
    return sigma * sigma + 2.0 * sigma * (1.0 - mu)


cdef inline double largest_phi(double sigma, double mu, double room) noexcept nogil:
    """The largest phi <= 1 with psi(phi sigma, phi mu) <= room, room > 0"""
    cdef double a
    if psi(sigma, mu) <= room:
        return 1.0
    # a phi^2 + 2 sigma phi - room is negative at 0 and positive at 1: one root lies between
    a = sigma * sigma - 2.0 * sigma * mu
    return room / (sigma + sqrt(fmax(sigma * sigma + a * room, 0.0)))


@cython.final
cdef class ForgetronCore(ExpansionCore):
    """State and step. The public class has checked the parameters."""
    cdef double *Q          # sum of the deviations
    cdef int64_t *oldest    # its slot, once there is no room

    def __init__(self, *common, kernel):
        super().__init__(*common, kernel=kernel)
        self.Q = <double *> self.array("Q")
        self.oldest = <int64_t *> self.array("oldest")

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef Status status = self.refuses(x, weight)
        if status > CHANGED:
            return status
        if y * self.project(x) > 0.0:
            return UNCHANGED
        if self.n_held[0] < self.capacity:
            self.put(self.n_held[0], x, y * weight)
            self.n_held[0] += 1
        else:
            self.replace_oldest(x, y * weight)
        return CHANGED

    cdef void replace_oldest(self, const void *x, double coef) noexcept nogil:
        cdef int64_t i, r = self.oldest[0]
        cdef char *x_r = self.vector(r)
        cdef double k_rx, f_r, sigma, y_r, phi
        self.k_rows(x, x_r, 1, &k_rx)
        f_r = self.project(x_r) + coef * k_rx
        y_r = 1.0 if self.coef[r] > 0.0 else -1.0
        sigma = y_r * self.coef[r]
        phi = largest_phi(sigma, y_r * f_r, SHARE * (self.common.n_updates + 1) - self.Q[0])
        self.Q[0] += psi(phi * sigma, phi * y_r * f_r)
        for i in range(self.capacity):
            self.coef[i] *= phi
        self.put(r, x, phi * coef)
        self.oldest[0] = (r + 1) % self.capacity

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = ExpansionCore.fault(self)
        if found != NULL:
            return found
        if self.oldest[0] >= self.capacity:
            return b"the slot of the oldest vector is out of range"
        if not self.Q[0] < SHARE * (self.common.n_updates + 1):
            return b"the sum of the deviations is too large"
        return NULL
