"""Values a sample may have: finite, and within a range if one was declared."""

cimport cython
from libc.math cimport INFINITY, isfinite, isnan


@cython.final
cdef class ValueGate:
    """Judges the features of a sample.

    Parameters
    ----------
    value_range : (float, float), optional
        Lowest and highest value of a feature. Not given: any finite one.
    clip : bool
        Bring values beyond the range, infinite ones too, to its end instead of refusing the
        sample.

    Attributes
    ----------
    bad_nan, bad_inf, bad_range : int
        Samples refused, by the first feature that was wrong.
    clipped : int
        Samples admitted with a feature brought into the range.

    Raises
    ------
    ValueError
        The range is empty or not finite, or there is none to clip to.
    """

    def __cinit__(self, value_range=None, clip=False):
        self.low, self.high = -INFINITY, INFINITY
        self.clip = clip
        if value_range is not None:
            self.low, self.high = value_range
            if not (isfinite(self.low) and isfinite(self.high) and self.low < self.high):
                raise ValueError(f"value_range={value_range!r} must be two finite numbers, "
                                 "the lower first")
        elif clip:
            raise ValueError("clip=True: a value_range to clip to must be given")

    def counters(self):
        """All counts, by name."""
        return {"bad_nan": self.bad_nan, "bad_inf": self.bad_inf, "bad_range": self.bad_range,
                "clipped": self.clipped}

    cdef bint admit(self, float *x, Py_ssize_t n) noexcept nogil:
        """Are all `n` features as they may be? Counts the first that is not."""
        cdef Py_ssize_t i
        cdef bint clipped = False
        for i in range(n):
            if self.low <= x[i] <= self.high and x[i] - x[i] == 0:
                continue
            if isnan(x[i]):
                self.bad_nan += 1
                return False
            if not self.clip:
                if isfinite(x[i]):
                    self.bad_range += 1
                else:
                    self.bad_inf += 1
                return False
            x[i] = self.low if x[i] < self.low else self.high
            clipped = True
        self.clipped += clipped
        return True
