"""A learner whose arena has the arrays of `smo_arrays`, compiled: the solver wired to them, samples
refused that it cannot take, and what a snapshot must keep to.

Signs and a linear part are the plan's arrays `sign` and `linear`, where it has them.
"""

cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.core.status cimport BAD_WEIGHT, NOT_FINITE, UNCHANGED, Status
from edgesvm.core.tiles cimport Tiles, get_row

import numpy as np

from edgesvm.contract.kernel_core import CACHE
from edgesvm.errors import CorruptModelError

cdef double LARGEST_KERNEL
from edgesvm.kernels import LARGEST_KERNEL

cnp.import_array()

SCRATCH = (*CACHE, "gradient", "diagonal", "state", "spare", "point")


cdef int map_solver(KernelCore core, Smo *s, str diagonal) except -1:
    """The solver's kernel, and where in the arena it works; the plan's array `diagonal` is K_tt"""
    s.kernel = core.kernel
    core.map_tiles(&s.rows, "rows")
    core.map_cache(&s.cache)
    s.bound = <double *> core.array("bound")
    s.gradient = <double *> core.array("gradient")
    s.diagonal = <float *> core.array(diagonal)
    s.state = <float *> core.array("state")
    s.spare = <float *> core.array("spare")
    s.order = <int32_t *> core.array("order")
    s.point = core.array("point")
    return 0


cdef class SmoCore(KernelCore):
    """The solver, in the arena; parameters as the public class has checked them."""

    def __init__(self, *common, C, kernel, tol, shrinking=True):
        super().__init__(*common, kernel=kernel)
        cdef Smo *s = &self.smo
        self.C = C
        map_solver(self, s, "diagonal")
        s.capacity, s.tol, s.shrinking = self.views["bound"].size, tol, shrinking
        s.linear, s.sign, s.ridge, s.offset = NULL, NULL, NULL, 0.0
        s.beta = <double *> self.array("beta")

    cdef Status refuses(self, const void *x, double weight) noexcept nogil:
        """UNCHANGED: it does not"""
        if not self.self_kernel(x) <= LARGEST_KERNEL:
            return NOT_FINITE
        return UNCHANGED if 0.0 < self.C * weight < INFINITY else BAD_WEIGHT

    # -- checks of a loaded arena ------------------------------------------------------------------

    def check_scratch(self, *others, kept=()):
        """Refuse a workspace, and `others` of the plan's arrays, that are not zero; all but what is
        `kept`."""
        if any(self.views[name].any() for name in (*SCRATCH, *others) if name not in kept):
            raise CorruptModelError("the solver's scratch was left behind")

    def check_held(self, rows, bound, beta, held):
        """Refuse rows, bounds and coefficients of which not just the first `held` are there."""
        if not bound[:held].all() or bound[held:].any() or beta[held:].any():
            raise CorruptModelError("a sample that is held has no bound, or one that is not has")
        if (np.abs(beta[:held]) > np.abs(bound[:held])).any() or (
                beta[:held] * bound[:held] < 0.0).any():
            raise CorruptModelError("a coefficient is beyond its bound")
        self.check_tiles(rows, held)

    def check_tiles(self, cnp.ndarray rows not None, int64_t held):
        """Refuse rows, ndarray of shape (tiles, n_features, lanes), that are not learned."""
        cdef Tiles tiles
        cdef int64_t t
        cdef bint fine = True
        tiles.data, tiles.width = <char *> cnp.PyArray_DATA(rows), self.n_features
        tiles.is_float32 = self.is_float32
        for t in range(held):
            get_row(&tiles, t, self.smo.point)
            fine = fine and self.self_kernel(self.smo.point) <= LARGEST_KERNEL
        memset(self.smo.point, 0, self.views["point"].nbytes)
        if not fine:
            raise CorruptModelError("a sample is larger than any that is learned")
