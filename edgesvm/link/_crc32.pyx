"""CRC-32/ISO-HDLC: reflected, polynomial 0x04C11DB7, initial value and final XOR all ones.

The check value, the CRC of "123456789", is 0xCBF43926.

Processes eight bytes a step with eight tables of 256 (Kounavis & Berry 2008, "slicing-by-8").
zlib's function is as fast, but calling it through Python creates an object for each result.
"""

from libc.stdint cimport uint8_t, uint32_t

cdef uint32_t POLYNOMIAL = 0xEDB88320  # 0x04C11DB7, bits reversed
cdef uint32_t[8][256] TABLE  # TABLE[k][b]: the CRC of byte b followed by k zero bytes


cdef void fill_tables() noexcept:
    cdef uint32_t crc
    cdef int b, k, _bit
    for b in range(256):
        crc = b
        for _bit in range(8):
            crc = (crc >> 1) ^ (POLYNOMIAL if crc & 1 else 0)
        TABLE[0][b] = crc
    for k in range(1, 8):
        for b in range(256):
            crc = TABLE[k - 1][b]
            TABLE[k][b] = (crc >> 8) ^ TABLE[0][crc & 0xFF]


fill_tables()


cdef inline uint32_t load_u32(const uint8_t *p) noexcept nogil:
    return p[0] | <uint32_t> p[1] << 8 | <uint32_t> p[2] << 16 | <uint32_t> p[3] << 24


cdef uint32_t crc32(const uint8_t *data, Py_ssize_t n) noexcept nogil:
    cdef uint32_t crc = 0xFFFFFFFF
    cdef uint32_t next_four
    while n >= 8:
        crc ^= load_u32(data)
        next_four = load_u32(data + 4)
        crc = (TABLE[7][crc & 0xFF] ^ TABLE[6][crc >> 8 & 0xFF]
               ^ TABLE[5][crc >> 16 & 0xFF] ^ TABLE[4][crc >> 24]
               ^ TABLE[3][next_four & 0xFF] ^ TABLE[2][next_four >> 8 & 0xFF]
               ^ TABLE[1][next_four >> 16 & 0xFF] ^ TABLE[0][next_four >> 24])
        data += 8
        n -= 8
    while n > 0:
        crc = (crc >> 8) ^ TABLE[0][(crc ^ data[0]) & 0xFF]
        data += 1
        n -= 1
    return ~crc


def crc32_view(const uint8_t[::1] data):
    """The same as binascii.crc32(data)."""
    if data.shape[0] == 0:
        return 0
    return crc32(&data[0], data.shape[0])
