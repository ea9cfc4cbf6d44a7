"""Exact sums as Python has them: integers, in units of 2**-1074, the least double above zero."""

cimport numpy as cnp

cnp.import_array()

UNITS = 1 << 1074  # that make one


cdef object exact_units(const exact_sum *s):
    """The sum in units, int."""
    cdef int64_t k
    return sum([<object> s.limbs[k] << (32 * k) for k in range(LIMBS)])


def units_of(cnp.ndarray values not None):
    """The exact sum of `values`, float64 >= 0, ndarray of shape (n,), contiguous; an int of
    units. Such sums can be added in any order."""
    cdef exact_sum s
    cdef int64_t i, n = len(values)
    cdef const double *x = <const double *> cnp.PyArray_DATA(values)
    if cnp.PyArray_TYPE(values) != cnp.NPY_FLOAT64 or not cnp.PyArray_IS_C_CONTIGUOUS(values):
        raise TypeError("values must be float64 and contiguous")
    exact_start(&s)
    with nogil:
        for i in range(n):
            exact_add(&s, x[i])
    return exact_units(&s)


def rounded(units):
    """The float nearest to a sum; inf if none is that large."""
    try:
        return units / UNITS  # of two ints: correctly rounded
    except OverflowError:
        return float("inf")
