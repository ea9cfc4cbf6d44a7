"""Perceptron, compiled (Rosenblatt 1958): w = w + y x for each sample with y w.x <= 0."""

cimport cython

from edgesvm.core.status cimport CHANGED, UNCHANGED, Status
from edgesvm.learners.papers.online._linear cimport LinearCore


@cython.final
cdef class PerceptronCore(LinearCore):
    """The step. The public class has checked the parameters."""

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double wx, xx
        cdef Status status = self.measure(x, &wx, &xx)
        if status > CHANGED:
            return status
        if y * wx > 0.0:
            return UNCHANGED
        return self.move(weight * y, x, xx, weight)
