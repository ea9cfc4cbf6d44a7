"""The values a sample may have: finite, and within the range if one is given."""

cimport cython
from libc.math cimport INFINITY, isfinite, isnan


@cython.final
cdef class ValueGate:
    """Checks the features of samples.

    Parameters
    ----------
    value_range : (float, float), optional
        Lowest and highest value of a feature. By default any finite value is allowed.
    clip : bool
        Clip values outside the range, infinite ones included, instead of refusing the sample.
    missing : bool
        Allow NaN, a value that is missing.

    Attributes
    ----------
    bad_nan, bad_inf, bad_range : int
        Samples refused, by the first bad feature.
    clipped : int
        Samples admitted with at least one clipped feature.

    Raises
    ------
    ValueError
        The range is empty or not finite, or `clip` is set without a range.
    """

    def __cinit__(self, value_range=None, clip=False, missing=False):
        self.low, self.high = -INFINITY, INFINITY
        self.clip, self.missing = clip, missing
        if value_range is not None:
            self.low, self.high = value_range
            if not (isfinite(self.low) and isfinite(self.high) and self.low < self.high):
                raise ValueError(f"value_range={value_range!r} must be two finite numbers, "
                                 "the lower first")
        elif clip:
            raise ValueError("value_range must be given with clip=True")

    def counters(self):
        """All counts, by name."""
        return {"bad_nan": self.bad_nan, "bad_inf": self.bad_inf, "bad_range": self.bad_range,
                "clipped": self.clipped}

    cdef bint admit(self, float *x, Py_ssize_t n) noexcept nogil:
        """Are all `n` features allowed? Counts the first that is not."""
        cdef Py_ssize_t i
        cdef bint clipped = False
        cdef float low = self.low, high = self.high
        for i in range(n):
            if low <= x[i] <= high and x[i] - x[i] == 0:
                continue
            if isnan(x[i]):
                if self.missing:
                    continue
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
