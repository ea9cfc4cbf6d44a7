"""A learner whose arena has the arrays of `smo_arrays`, compiled: maps the solver to them, refuses
samples it cannot learn, and checks snapshots.

Signs and a linear part are the plan's arrays `sign` and `linear`, if it has them.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.core.status cimport BAD_WEIGHT, NOT_FINITE, UNCHANGED, Status
from edgesvm.core.tiles cimport (
    Tiles, get_row, kernel_noise, weighted_kernel, weighted_kernel_f64)

import numpy as np

from edgesvm.contract.kernel_core import CACHE
from edgesvm.errors import CorruptModelError

cdef double HIDEABLE, LARGEST_KERNEL
from edgesvm.kernels import LARGEST_KERNEL
from edgesvm.learners.batch.constants import HIDEABLE

cnp.import_array()

SCRATCH = (*CACHE, "gradient", "diagonal", "state", "spare", "point")


cdef int map_solver(KernelCore core, Smo *s, str diagonal) except -1:
    """Set the solver's kernel and its arrays in the arena; `diagonal` names the plan's array for
    K_tt."""
    s.kernel = core.kernel
    s.nonzeros, s.w = &core.nonzeros if core.is_sparse else NULL, NULL
    s.rows.width, s.rows.is_float32, s.rows.present = core.n_features, core.is_float32, NULL
    if "rows" in core.views:
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
    """The solver, in the arena. The public class has checked the parameters."""

    def __init__(self, *common, C, kernel, tol, shrinking=True):
        super().__init__(*common, kernel=kernel)
        cdef Smo *s = &self.smo
        self.C = C
        map_solver(self, s, "diagonal")
        s.capacity, s.tol, s.shrinking = self.views["bound"].size, tol, shrinking
        s.linear, s.sign, s.ridge, s.offset = NULL, NULL, NULL, 0.0
        s.bends, s.epsilon = False, 0.0
        s.refines = True
        if "w" in self.views:
            s.w, s.refines = <double *> self.array("w"), False
        s.beta = <double *> self.array("beta")

    cdef Status refuses(self, const void *x, double weight) noexcept nogil:
        """UNCHANGED if the sample can be learned, otherwise the reason why not."""
        return self.refuses_kernel(self.self_kernel(x), weight)

    cdef Status refuses_kernel(self, double k, double weight) noexcept nogil:
        """`refuses` of a sample with k(x, x) = k"""
        if not k <= LARGEST_KERNEL:
            return NOT_FINITE
        return UNCHANGED if 0.0 < self.C * weight < INFINITY else BAD_WEIGHT

    # -- decisions ---------------------------------------------------------------------------------

    cdef double noise_of(self, const Tiles *rows, int64_t n, const double *beta) noexcept nogil:
        """`kernel_noise`, which `weighted` needs; 0 in float64."""
        cdef double noise = 0.0
        if self.is_float32:
            noise = kernel_noise(rows, &self.kernel, n, beta, self.smo.point)
            memset(self.smo.point, 0, self.row_bytes)
        return noise

    cdef double weighted(
        self, const Tiles *rows, int64_t n, const double *beta, double noise, const void *x
    ) noexcept nogil:
        """sum beta_t k(x, rows[t]), in float64 if float32 may hide a part of `tol`"""
        if noise * sqrt(self.self_kernel(x)) > HIDEABLE * self.smo.tol:
            return weighted_kernel_f64(rows, &self.kernel, x, n, beta)
        return weighted_kernel(rows, &self.kernel, x, n, beta)

    # -- checks of a loaded arena ------------------------------------------------------------------

    def check_scratch(self, *others, kept=()):
        """Refuse a solver's scratch, or any of the arrays `others`, that is not zero; skip those in
        `kept`."""
        if any(self.views[name].any() for name in (*SCRATCH, *others) if name not in kept):
            raise CorruptModelError("the solver's scratch is not zero")

    def check_held(self, rows, bound, beta, held):
        """Refuse rows, bounds and coefficients unless exactly the first `held` are set."""
        if not bound[:held].all() or bound[held:].any() or beta[held:].any():
            raise CorruptModelError("a stored sample has no bound, or an unused row has one")
        wrong = bound[:held] if self.smo.bends else beta[:held] * bound[:held]
        if (np.abs(beta[:held]) > np.abs(bound[:held])).any() or (wrong < 0.0).any():
            raise CorruptModelError("a coefficient is beyond its bound")
        if rows is not None:
            self.check_rows(rows, held)

    def check_rows(self, cnp.ndarray rows not None, int64_t held):
        """Refuse rows, ndarray of shape (tiles, n_features, lanes) or (n, n_features), that could
        not have been learned."""
        cdef Tiles tiles
        cdef const char *data = <const char *> cnp.PyArray_DATA(rows)
        cdef bint fine = True, tiled = rows.ndim == 3
        cdef int64_t t
        tiles.data, tiles.width = <char *> data, self.n_features
        tiles.is_float32, tiles.present = self.is_float32, NULL
        with nogil:
            for t in range(held):
                if tiled:
                    get_row(&tiles, t, self.smo.point)
                else:
                    memcpy(self.smo.point, data + t * self.row_bytes, self.row_bytes)
                fine = fine and self.self_kernel(self.smo.point) <= LARGEST_KERNEL
        memset(self.smo.point, 0, self.views["point"].nbytes)
        if not fine:
            raise CorruptModelError("a sample is larger than any that can be learned")
