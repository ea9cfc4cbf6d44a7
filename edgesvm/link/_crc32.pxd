# CRC-32/ISO-HDLC (as in zlib and Ethernet) for callers that do not hold the GIL.

from libc.stdint cimport uint8_t, uint32_t

cdef uint32_t crc32(const uint8_t *data, Py_ssize_t n) noexcept nogil
