"""A running median and a running median distance in front of a learner, compiled.

Of each feature: `center`, an estimate of its median; `n_apart`, the number of samples that lay
apart from it; `distance`, an estimate of the median distance of those. The n-th sample x moves them
by steps that do not depend on how far away it is:

    d = |x - center|,  step = 2 distance / n
    d <= step: center = x,  distance /= 1 + 2 / (n sqrt(n_apart)) if d > 0
    otherwise: center +- step towards x,  n_apart += 1,
               distance = d, if this is the first apart, else
               distance (1 + 2 / n_apart)^+-1 towards d

A sum of steps of 1 / n reaches any distance and settles as 1 / n (Robbins & Monro 1951). A center
near a value that most samples have becomes that value. If the first sample was a spike, the
distance is so long that none is apart; it shrinks all the same, unless many have been apart. Scale,
and what the inner learner gets:

    scale = 1.4826 distance sqrt(n_apart / n),  min(max((x - center) / scale, -clip), clip)

1.4826 is the deviation of a normal feature in units of its median distance. All samples of a
continuous feature are apart. Of one that is 1 with probability p < 1/2, else 0, the share p is; its
deviation is sqrt(p (1 - p)).

Bytes: 24 D + D s in addition to the learner's, s the dtype's size.
"""

cimport cython
from libc.math cimport copysign, fabs, fmax, fmin, sqrt
from libc.stdint cimport int64_t

from edgesvm.core.linalg cimport entry, put
from edgesvm.core.status cimport UNCHANGED, Status
from edgesvm.preprocessing._stage cimport StageCore

cdef double NORMAL = 1.4826, GAIN = 2.0

cdef struct Statistics:     # of one feature
    double center
    double distance
    int64_t n_apart


cdef inline Statistics moved(Statistics old, double x, double n) noexcept nogil:
    """The statistics with x, the n-th sample"""
    cdef double d = fabs(x - old.center), step = GAIN / n * old.distance
    cdef bint apart = d > step and n > 1.0
    cdef double k = old.n_apart + 1 if apart else n * sqrt(fmax(old.n_apart, 1.0))
    cdef double more = k + GAIN if d > 0.0 else k
    cdef double ratio = (more if d > old.distance else k) / (more if d < old.distance else k)
    return Statistics(
        old.center + copysign(step, x - old.center) if apart else x,
        old.distance * ratio if old.n_apart > 0 or not apart else d,
        old.n_apart + apart)


cdef inline double robust(Statistics of, double x, double n, double clip) noexcept nogil:
    """(x - center) / scale within -clip and clip, 0 for a feature that has not varied"""
    cdef double scale = NORMAL * of.distance * sqrt(of.n_apart / n)
    return fmin(fmax((x - of.center) / scale, -clip), clip) if scale > 0.0 else 0.0


@cython.final
cdef class RobustStandardizedCore(StageCore):
    cdef readonly double clip
    cdef double *center         # (n_features,)
    cdef double *distance       # (n_features,)
    cdef int64_t *n_apart       # (n_features,)

    def __init__(self, *common, inner, clip):
        super().__init__(*common, inner=inner, scratch="scaled")
        self.clip = clip
        self.center = <double *> self.array("center")
        self.distance = <double *> self.array("distance")
        self.n_apart = <int64_t *> self.array("n_apart")

    cdef inline Statistics of(self, int64_t j) noexcept nogil:
        return Statistics(self.center[j], self.distance[j], self.n_apart[j])

    cdef Status map_next(self, const void *x, double n) noexcept nogil:
        cdef int64_t j
        cdef double xj
        for j in range(self.n_features):
            xj = entry(self.is_float32, x, j)
            put(self.is_float32, self.mapped, j, robust(moved(self.of(j), xj, n), xj, n, self.clip))
        return UNCHANGED

    cdef void keep(self, const void *x, double n) noexcept nogil:
        cdef int64_t j
        cdef Statistics new
        for j in range(self.n_features):
            new = moved(self.of(j), entry(self.is_float32, x, j), n)
            self.center[j], self.distance[j], self.n_apart[j] = (
                new.center, new.distance, new.n_apart)

    cdef void map(self, const void *x, double n) noexcept nogil:
        cdef int64_t j
        for j in range(self.n_features):
            put(self.is_float32, self.mapped, j,
                robust(self.of(j), entry(self.is_float32, x, j), n, self.clip))

    cdef const char *fault(self) noexcept nogil:
        cdef int64_t j
        for j in range(self.n_features):
            if self.n_apart[j] > max(self.n_learned() - 1, 0):
                return b"the snapshot has more samples apart from a center than were learned"
            if self.distance[j] < 0.0 or (self.distance[j] > 0.0) != (self.n_apart[j] > 0):
                return b"the snapshot has a distance that is not positive, or one of no sample"
        return NULL
