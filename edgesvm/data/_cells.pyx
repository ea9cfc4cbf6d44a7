"""Cells of lines that are numbers or known words."""

from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8
from libc.stdint cimport uint8_t
from libc.string cimport memchr

from edgesvm.core.text cimport read_number


def number(str cell, bint comma):
    """The number in a cell, which may have a decimal `comma`; NaN for a missing one. Raises
    ValueError."""
    cdef double value = 0.0
    cdef Py_ssize_t n
    cdef const char *text = PyUnicode_AsUTF8AndSize(cell, &n)
    if read_number(<const uint8_t *> text, n, comma, &value):
        return value
    raise ValueError(f"{cell!r} is not a number")


def plain_rows(str text, Py_ssize_t at, str separator, list read_by, number,
               Py_ssize_t n, double[:, ::1] out):
    """Read rows into those of `out`, from the n-th on, up to a line that is not plain: it has a
    cell that is missing, or cannot be read, or more or fewer of them. Blank lines are none.
    Returns the number of the row after them, where in `text` it went on, how many lines that
    were, and the line that is not plain if there is one.

    text : whole lines, from its byte `at` on; separator : a blank stands for any number of them
    read_by : what reads the cells of each column, and raises KeyError or ValueError, or None;
        `number` is never called
    """
    cdef Py_ssize_t size, lines = 0
    cdef const char *begin = PyUnicode_AsUTF8AndSize(text, &size)
    cdef const char *line = begin + at
    cdef const char *end
    while n < out.shape[0] and line < begin + size:
        end = <const char *> memchr(line, c"\n", begin + size - line)
        at, lines = end + 1 - begin, lines + 1
        while line < end and line[0] == c" ":
            line += 1
        if line < end:
            if not is_plain(line, end, ord(separator), read_by, number, &out[n, 0]):
                return n, at, lines, PyUnicode_DecodeUTF8(line, end - line, NULL)
            n += 1
        line = begin + at
    return n, line - begin, lines, None


cdef bint is_plain(const char *cell, const char *end, uint8_t separator, list read_by, number,
                   double *out) except -1:
    """Whether all cells of a line can be read, into `out`."""
    cdef Py_ssize_t j
    cdef const char *stop
    while separator == c" " and (end - 1)[0] == separator:
        end -= 1
    for j in range(len(read_by)):
        if cell > end:
            return False
        stop = <const char *> memchr(cell, separator, end - cell)
        if stop == NULL:
            stop = end
        if not read_cell(cell, stop, separator != c",", read_by[j], number, out + j):
            return False
        cell = stop + 1
        while separator == c" " and cell < end and cell[0] == separator:
            cell += 1
    return cell == end + 1


cdef bint read_cell(const char *cell, const char *end, bint comma, read, number,
                    double *value) except -1:
    if cell < end and cell[0] == c'"':
        cell, end = cell + 1, end - 1
        if end < cell or end[0] != c'"' or memchr(cell, c'"', end - cell) != NULL:
            return False
    if read is None:
        return True
    if read is number:
        return (read_number(<const uint8_t *> cell, end - cell, comma, value)
                and value[0] == value[0])
    try:
        value[0] = read(PyUnicode_DecodeUTF8(cell, end - cell, NULL).strip())
    except (KeyError, ValueError):
        return False
    return value[0] == value[0]    # NaN may be said of a cell that is missing
