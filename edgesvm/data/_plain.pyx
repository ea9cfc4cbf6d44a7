"""Rows of a CSV file whose cells are numbers or known words."""

from cpython.unicode cimport PyUnicode_AsUTF8AndSize


def plain_rows(rows, Py_ssize_t n, list read_by, number, double[:, ::1] out):
    """Read rows of cells into those of `out`, from the n-th on, up to one that is not plain.
    Returns the number of the row after them, and its cells if there is one.

    read_by : what reads the cells of each column, and raises KeyError or ValueError, or None;
        `number` is called only for a cell that `is_short` does not read
    """
    cdef Py_ssize_t i
    for i in range(n, out.shape[0]):
        cells = next(rows, None)
        if cells is None or not is_plain(cells, read_by, number, &out[i, 0]):
            return i, cells
    return out.shape[0], None


cdef bint is_plain(list cells, list read_by, number, double *out) except -1:
    """Whether all cells can be read, into `out`."""
    cdef Py_ssize_t j, size
    cdef const char *text
    if len(cells) != len(read_by):
        return False
    for j in range(len(read_by)):
        read = read_by[j]
        if read is None:
            continue
        text = PyUnicode_AsUTF8AndSize(cells[j], &size)
        if read is not number or not is_short(text, size, out + j):
            try:
                out[j] = read(cells[j].strip())
            except (KeyError, ValueError):
                return False
            if out[j] != out[j]:    # which may be said of a cell that is missing
                return False
    return True


cdef bint is_short(const char *text, Py_ssize_t n, double *value) noexcept nogil:
    """Read ``[-] digits [. digits]``, up to 15 digits. Returns whether it is that. The digits and
    the power of ten are exact, so that the quotient is rounded once, as Python's is."""
    cdef bint negative = n > 0 and text[0] == c"-", point = False
    cdef Py_ssize_t i
    cdef double digits = 0.0, power = 1.0
    for i in range(negative, n):
        if c"0" <= text[i] <= c"9":
            digits = 10.0 * digits + (text[i] - c"0")
            power *= 10.0 if point else 1.0
        elif text[i] == c"." and not point:
            point = True
        else:
            return False
    value[0] = (-digits if negative else digits) / power
    return 0 < n - negative - point <= 15
