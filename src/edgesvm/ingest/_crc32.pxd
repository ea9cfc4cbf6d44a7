# CRC-32/ISO-HDLC (that of zlib and Ethernet) for callers without the GIL.

from libc.stdint cimport uint8_t, uint32_t

cdef uint32_t crc32(const uint8_t *data, Py_ssize_t n) noexcept nogil
