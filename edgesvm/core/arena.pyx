"""The one block of memory of a learner, and pointers into it, checked once when they are created.
"""

cimport numpy as cnp

import numpy as np

cnp.import_array()

cdef extern from "small_pages.h" nogil:
    void in_small_pages(char *p, size_t n) noexcept


cdef class Arena:
    """A zeroed block of exactly ``nbytes`` bytes, or the first ``nbytes`` of a caller's ``buffer``.

    Parameters
    ----------
    nbytes : int
    buffer : None or writable, contiguous buffer of at least ``nbytes`` bytes, aligned to 8
        Used in place. The arena holds a reference to it.
    keep : bool
        Do not zero the buffer.

    Raises
    ------
    ValueError
        The buffer is read-only, not contiguous, or not aligned. (The caller checks its size.)
    """

    def __init__(self, nbytes, buffer=None, bint keep=False):
        if buffer is None:
            self.block = np.zeros(nbytes, np.uint8)
            in_small_pages(<char *> cnp.PyArray_DATA(self.block), nbytes)
        else:
            view = memoryview(buffer)
            if view.readonly or not view.c_contiguous:
                raise ValueError("buffer must be writable and contiguous")
            self.block = np.frombuffer(view.cast("B"), np.uint8, nbytes)
            if <size_t> cnp.PyArray_DATA(self.block) % 8:
                raise ValueError("buffer must start at an address that is a multiple of 8")
            if not keep:
                self.block[:] = 0
        self.base = <char *> cnp.PyArray_DATA(self.block)
        self.nbytes = nbytes

    def part(self, int64_t offset, int64_t nbytes):
        """An arena on `nbytes` bytes of this one, from `offset` on; the bytes are not changed."""
        cdef Arena part = Arena.__new__(Arena)
        part.base = self.at(offset, nbytes)
        part.block = self.block[offset:offset + nbytes]
        part.nbytes = nbytes
        return part

    @property
    def memory(self):
        """The block, an ndarray of shape (nbytes,), uint8, not a copy."""
        return self.block

    def __bytes__(self):
        return self.block.tobytes()

    cdef char *at(self, int64_t offset, int64_t length) except NULL:
        if offset < 0 or length < 0 or offset > self.nbytes - length:
            raise IndexError(f"bytes {offset}..{offset + length} of an arena of {self.nbytes}")
        return self.base + offset
