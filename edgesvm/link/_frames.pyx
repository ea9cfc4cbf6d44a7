"""Frames from bytes, fed in pieces of any size: split at 0x00, undo COBS, check the CRC-32. And the
numbers and values of samples, which frames and lines of text share.

Every byte fed is accounted for, whatever its value and however the stream is divided:

    bytes_in = bytes_ok + bytes_rejected + discarded_bytes + delimiters + pending
    frames   = ok + bad_cobs + bad_crc + bad_len + oversize

One buffer of ``max_encoded_length(max_raw)`` bytes, allocated by the constructor, holds the
unfinished run, which is decoded in place. A run that lies whole in a chunk is decoded from there.

Sample numbers have 32 bits and wrap; of two numbers, the one up to 2**31 ahead is the later. The
window of 64 behind the highest is that of anti-replay windows (RFC 6479). An epoch runs from one
boot of the node to the next; in each, from its first to its highest number,

    span = unique + missing
"""

cimport cython
from libc.math cimport INFINITY, isfinite, isinf, isnan
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy, memmove

import numpy as np

from edgesvm.link.wire import MAX_RAW, Frame

# No sample is longer than this: d is a uint16 in SCHEMA.
LARGEST_RAW = 1 << 18

FRAME_COUNTERS = ("bytes_in", "bytes_ok", "bytes_rejected", "delimiters", "pending",
                  "discarded_bytes", "frames", "ok", "bad_cobs", "bad_crc", "bad_len", "oversize",
                  "empty")
SEQUENCE_COUNTERS = ("epochs", "span", "unique", "missing", "reordered", "duplicate", "too_old",
                     "seq_jump")
GATE_COUNTERS = ("bad_value", "bad_nan", "bad_inf", "bad_range", "clipped")

cdef int64_t WINDOW = 64
cdef int64_t JUMP = 1 << 20  # longer than any outage: the counter was restarted
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


cdef uint32_t crc32(const uint8_t *data, Py_ssize_t n) noexcept nogil:
    """CRC-32/ISO-HDLC, as in zlib and Ethernet; of "123456789" it is 0xCBF43926.

    Eight bytes a step, with eight tables of 256 (Kounavis & Berry 2008, "slicing-by-8"). zlib's
    function is as fast, but calling it through Python creates an object for each result.
    """
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


cdef Py_ssize_t max_encoded_length(Py_ssize_t n) noexcept nogil:
    """n + ceil(n / 254), at least n + 1"""
    return n + (1 if n == 0 else (n + 253) // 254)


cdef Py_ssize_t cobs_decode(const uint8_t *run, Py_ssize_t n, uint8_t *raw) noexcept nogil:
    """Undo COBS (Cheshire & Baker 1999): the n bytes of `run`, which holds no 0x00, into `raw`.

    Returns the decoded length (less than n), or -1 if the run is cut short. `raw` may be `run`
    itself: writing never overtakes reading.
    """
    cdef Py_ssize_t i = 0, out = 0
    cdef int code
    while i < n:
        code = run[i]
        if i + code > n:
            return -1
        memmove(raw + out, run + i + 1, code - 1)
        out += code - 1
        i += code
        if code < 255 and i < n:
            raw[out] = 0
            out += 1
    return out


cdef Py_ssize_t cobs_encode(const uint8_t *raw, Py_ssize_t n, uint8_t *run) noexcept nogil:
    """Encode the n bytes of `raw` into `run`, of max_encoded_length(n) bytes; return the length."""
    cdef Py_ssize_t code_at = 0, out = 1, i
    cdef int code = 1
    for i in range(n):
        if raw[i]:
            run[out] = raw[i]
            out += 1
            code += 1
        # A block that fills up exactly where the data end is not followed by another.
        if raw[i] == 0 or (code == 255 and i + 1 < n):
            run[code_at] = code
            code_at = out
            out += 1
            code = 1
    run[code_at] = code
    return out


cdef class Splitter:
    """Runs of bytes between delimiters; one that does not fit the buffer is dropped.

    Its counters are those of the identities above; `serve/page/words.py` has others in words.
    """

    @property
    def pending(self):
        return self._held

    def resync(self):
        """Restart in the middle of a stream: bytes before the next delimiter are discarded."""
        self.discarded_bytes += self._held
        self._held = 0
        self._skipping = self._discarding = True

    def broken_identities(self):
        """The counter identities that do not hold, as text; empty if all hold."""
        taken = self.bytes_ok + self.bytes_rejected + self.discarded_bytes
        if self.bytes_in != taken + self.delimiters + self._held:
            return [f"bytes_in = bytes_ok + bytes_rejected + discarded_bytes + delimiters + "
                    f"pending: {self.counters()}"]
        return []

    cdef Cut cut(self, const uint8_t *chunk, Py_ssize_t n, Py_ssize_t *at) noexcept nogil:
        """Read on from chunk[at] to the next run, which `run` then points to."""
        cdef const uint8_t *start
        cdef const uint8_t *end
        cdef bint is_new
        while at[0] < n:
            start = chunk + at[0]
            end = <const uint8_t *> memchr(start, self._delimiter, n - at[0])
            self.run_length = n - at[0] if end == NULL else end - start
            at[0] += self.run_length + (end != NULL)
            self.bytes_in += self.run_length + (end != NULL)
            self.delimiters += end != NULL
            if end == NULL or self._held or self._skipping or \
                    self.run_length > self._buffer.shape[0]:
                is_new = self._keep(start, self.run_length)
                if end != NULL and self._skipping:
                    self._skipping = self._discarding = False
                    end = NULL
                if is_new:
                    return TOO_LONG
                if end == NULL:
                    continue
                self.run, self.run_length = &self._buffer[0], self._held
                self._held = 0
                return WHOLE
            self.run = start
            return WHOLE
        return CHUNK_END

    cdef bint _keep(self, const uint8_t *part, Py_ssize_t n) noexcept nogil:
        """Keep part of an unfinished run; True once it is too long, and it is dropped."""
        cdef bint is_new = not self._skipping
        if is_new and self._held + n <= self._buffer.shape[0]:
            if n:
                memcpy(&self._buffer[0] + self._held, part, n)
            self._held += n
            return False
        self._skipping = True
        if self._discarding:
            self.discarded_bytes += n
        else:
            self.bytes_rejected += self._held + n
        self._held = 0
        return is_new


@cython.final
cdef class FrameDecoder(Splitter):
    """Valid frames out of a byte stream.

    Parameters
    ----------
    max_raw : int
        Longest frame accepted, in bytes before COBS, 12 to 262144. A longer run is dropped and
        counted once.

    Raises
    ------
    ValueError
        `max_raw` is out of range.
    """

    def __cinit__(self, Py_ssize_t max_raw=MAX_RAW):
        if not MIN_RAW <= max_raw <= LARGEST_RAW:
            raise ValueError(f"max_raw={max_raw} must be {MIN_RAW} to {LARGEST_RAW} bytes")
        self.max_raw = max_raw
        self._buffer = np.zeros(max_encoded_length(max_raw), np.uint8)
        self.raw = &self._buffer[0]

    @property
    def nbytes(self):
        return self._buffer.shape[0]

    def feed(self, const uint8_t[::1] chunk):
        """The valid frames that `chunk`, the next bytes of the stream, completes: a list of
        `Frame`. Frames of other protocol versions are included, though their meaning is unknown.
        """
        cdef Py_ssize_t at = 0
        frames = []
        if chunk.shape[0]:
            while self.next(&chunk[0], chunk.shape[0], &at):
                frames.append(self.frame())
        return frames

    def counters(self):
        """All counts, by name."""
        return {name: getattr(self, name) for name in FRAME_COUNTERS}

    def broken_identities(self):
        broken = Splitter.broken_identities(self)
        if self.frames != self.ok + self.bad_cobs + self.bad_crc + self.bad_len + self.oversize:
            broken.append(f"frames = ok + bad_cobs + bad_crc + bad_len + oversize: "
                          f"{self.counters()}")
        return broken

    cdef bint next(self, const uint8_t *chunk, Py_ssize_t n, Py_ssize_t *at) noexcept nogil:
        """Read on from chunk[at] until `raw` holds a valid frame; False at the chunk's end."""
        cdef Cut found
        while True:
            found = self.cut(chunk, n, at)
            if found == CHUNK_END:
                return False
            if found == TOO_LONG:
                self.frames += 1
                self.oversize += 1
            elif self.run_length == 0:
                self.empty += 1
            elif self._decode():
                return True

    cdef bint _decode(self) noexcept nogil:
        """Decode the run into `raw` and count it; is it valid?"""
        cdef Py_ssize_t length = cobs_decode(self.run, self.run_length, self.raw)
        self.frames += 1
        if length < 0:
            self.bad_cobs += 1
        elif length < MIN_RAW or length > self.max_raw:
            self.bad_len += 1
        elif crc32(self.raw, length - CRC_BYTES) != load_u32(self.raw + length - CRC_BYTES):
            self.bad_crc += 1
        else:
            self.ok += 1
            self.bytes_ok += self.run_length
            self.raw_length = length
            return True
        self.bytes_rejected += self.run_length
        return False

    cdef object frame(self):
        """The valid frame in `raw`, as a Python object."""
        cdef const uint8_t *raw = self.raw
        body = (<const char *> raw)[HEADER_BYTES:self.raw_length - CRC_BYTES]
        return Frame(raw[0], raw[1] & 0xF, load_u16(raw + 2), load_u32(raw + 4), body, raw[1] >> 4)


@cython.final
cdef class SequenceWindow:
    """Classifies sample numbers as new, reordered, duplicate or too old.

    A move by more than 2**20, a `seq_jump`, opens an epoch, unless it returns to the one before,
    which is continued as long as the new one has less than 64 numbers.
    """

    @property
    def span(self):
        return self._past.span + self._now.span

    @property
    def unique(self):
        return self._past.unique + self._now.unique

    @property
    def missing(self):
        return self._past.missing + self._now.missing

    def classify(self, uint32_t sequence):
        """`accept` for Python: "new", "reordered", "duplicate" or "too_old"."""
        return ("new", "reordered", "duplicate", "too_old")[self.accept(sequence)]

    def counters(self):
        """All counts, by name."""
        return {name: getattr(self, name) for name in SEQUENCE_COUNTERS}

    def broken_identities(self):
        """The counter identities that do not hold, as text; empty if all hold."""
        return [
            f"span = unique + missing, {which}: {epoch}"
            for which, epoch in (("this epoch", self._now), ("past epochs", self._past))
            if epoch.span != epoch.unique + epoch.missing
        ]

    cdef void begin_epoch(self) noexcept nogil:
        """The next number opens an epoch; none before it can be continued."""
        self._count(&self._now, 1)
        self._now = Epoch(0, 0, 0, 0, 0)
        self._open = self._has_home = False

    cdef void _count(self, const Epoch *epoch, int64_t sign) noexcept nogil:
        """Add an epoch to the past ones, or take it back."""
        self._past.span += sign * epoch.span
        self._past.unique += sign * epoch.unique
        self._past.missing += sign * epoch.missing

    cdef bint is_behind_window(self, uint32_t sequence) noexcept nogil:
        """Would this number be too old? It is not recorded."""
        return self._open and <int32_t> (self._now.highest - sequence) >= WINDOW

    cdef bint is_ahead(self, uint32_t sequence) noexcept nogil:
        """Would this number be the highest of its epoch? It is not recorded."""
        cdef int64_t step = <int32_t> (sequence - self._now.highest)
        return not self._open or step > 0 or step < -JUMP

    cdef bint is_old(self, uint32_t sequence) noexcept nogil:
        """Would this number be a duplicate or too old? It is not recorded."""
        cdef int64_t behind = <int32_t> (self._now.highest - sequence)
        if self.is_ahead(sequence):
            return False
        return behind >= WINDOW or self._now.seen >> behind & 1

    cdef Verdict accept(self, uint32_t sequence) noexcept nogil:
        """Record a number; a sample is used if its number is NEW or REORDERED."""
        # The difference modulo 2**32, as a signed number: positive is ahead.
        cdef int64_t step = <int32_t> (sequence - self._now.highest)
        if self._open and (step > JUMP or step < -JUMP):
            self.seq_jump += 1
            self._jump(sequence)
            step = <int32_t> (sequence - self._now.highest)
        if not self._open:
            self._open = True
            self.epochs += 1
            self._now = Epoch(sequence, 1, 1, 1, 0)
            return NEW
        if step > 0:
            return self._advance(sequence, step)
        return self._look_back(-step)

    cdef void _jump(self, uint32_t sequence) noexcept nogil:
        """Continue the epoch before the last jump, or close this one for a new one.

        One stray number must not reopen the window: the numbers before it could be used again.
        """
        cdef int64_t step = <int32_t> (sequence - self._home.highest)
        cdef bint is_short = self._has_home and self._now.unique < WINDOW
        self._count(&self._now, 1)
        if is_short and -JUMP <= step <= JUMP:
            self._count(&self._home, -1)
            self._now, self._has_home = self._home, False
            return
        if not is_short:
            self._home, self._has_home = self._now, True
        self._now = Epoch(0, 0, 0, 0, 0)
        self._open = False

    cdef Verdict _advance(self, uint32_t sequence, int64_t step) noexcept nogil:
        self._now.highest = sequence
        self._now.seen = 1 if step >= WINDOW else self._now.seen << step | 1
        self._now.span += step
        self._now.unique += 1
        self._now.missing += step - 1
        return NEW

    cdef Verdict _look_back(self, int64_t behind) noexcept nogil:
        cdef int64_t before_first
        if behind >= WINDOW:
            self.too_old += 1
            return TOO_OLD
        if self._now.seen >> behind & 1:
            self.duplicate += 1
            return DUPLICATE
        self._now.seen |= <uint64_t> 1 << behind
        self.reordered += 1
        self._now.unique += 1
        before_first = behind - self._now.span + 1
        if before_first > 0:
            # The epoch began earlier than thought; the numbers in between are missing so far.
            self._now.span += before_first
            self._now.missing += before_first - 1
        else:
            self._now.missing -= 1
        return REORDERED


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

    Raises
    ------
    ValueError
        The range is empty or not finite, or `clip` is set without a range.
    """

    def __cinit__(self, value_range=None, clip=False, missing=False):
        self._low, self._high = -INFINITY, INFINITY
        self._clip, self.missing = clip, missing
        if value_range is not None:
            self._low, self._high = value_range
            if not (isfinite(self._low) and isfinite(self._high) and self._low < self._high):
                raise ValueError(f"value_range={value_range!r} must be two finite numbers, "
                                 "the lower first")
        elif clip:
            raise ValueError("value_range must be given with clip=True")

    def take_refused(self):
        """Numbers of the samples refused since the last call, at most 16."""
        refused = [self._refused[i] for i in range(self._n_refused)]
        self._n_refused = 0
        return refused

    cdef void refuse(self, uint32_t sequence) noexcept nogil:
        self.bad_value += 1
        if self._n_refused < REFUSALS:
            self._refused[self._n_refused] = sequence
            self._n_refused += 1

    cdef bint admit(self, float *x, Py_ssize_t n, uint32_t sequence) noexcept nogil:
        """Are all `n` features allowed? Counts the first that is not."""
        cdef Py_ssize_t i
        cdef bint clipped = False
        cdef float low = self._low, high = self._high
        for i in range(n):
            if low <= x[i] <= high and x[i] - x[i] == 0 or self.missing and isnan(x[i]):
                continue
            if self._clip and not isnan(x[i]):
                x[i] = low if x[i] < low else high
                clipped = True
                continue
            self.bad_nan += isnan(x[i]) != 0
            self.bad_inf += isinf(x[i]) != 0
            self.bad_range += isfinite(x[i]) != 0
            self.refuse(sequence)
            return False
        self.clipped += clipped
        return True


def crc32_view(const uint8_t[::1] data):
    """The same as binascii.crc32(data)."""
    if data.shape[0] == 0:
        return 0
    return crc32(&data[0], data.shape[0])


def cobs_encode_view(const uint8_t[::1] raw):
    """The compiled COBS encoder, for tests."""
    cdef uint8_t[::1] run = bytearray(max_encoded_length(raw.shape[0]))
    cdef uint8_t nothing = 0
    cdef Py_ssize_t n = cobs_encode(&raw[0] if raw.shape[0] else &nothing, raw.shape[0], &run[0])
    return bytes(run[:n])


def cobs_decode_view(const uint8_t[::1] run):
    """The compiled COBS decoder, for tests; None for a run that is cut short."""
    cdef uint8_t[::1] raw = bytearray(max(1, run.shape[0]))
    if run.shape[0] == 0:
        return b""
    cdef Py_ssize_t n = cobs_decode(&run[0], run.shape[0], &raw[0])
    return None if n < 0 else bytes(raw[:n])
