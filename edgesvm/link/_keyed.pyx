"""Keyed tags: refuses frames that the key's holder did not send, or sent before.

An `Authenticator` stands between the frames and whoever reads them. Inward it checks the
SipHash-2-4 tag of each frame, refuses numbers that have arrived before, and strips what it checked,
so that readers see plain frames. Outward it adds the tag. docs/keyed-link.md specifies
the bytes.

    ok = admitted + bad_tag + replayed       (ok: the frame decoder's)
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from edgesvm.link._frames cimport CRC_BYTES, HEADER_BYTES, crc32, load_u32, store_u32

from edgesvm.link import wire

cdef enum:
    # As in wire.py.
    HELLO = 0x01
    SCHEMA = 0x02
    SAMPLE_F32 = 0x10
    SAMPLE_I16 = 0x11
    PREDICTION = 0x20
    HELLO_END = 20     # header and body, without the extension
    SCHEMA_END = 34
    # Purposes of the keys derived.
    FOR_HELLO = 0
    FROM_NODE = 2
    FROM_HOST = 4
    KEY_BYTES = 16

cdef uint64_t WINDOW = 64


cdef inline uint64_t rotate_left(uint64_t value, int by) noexcept nogil:
    return value << by | value >> (64 - by)


cdef inline uint64_t load_u64(const uint8_t *p) noexcept nogil:
    # In one expression, which compilers make one load.
    return (<uint64_t> p[0] | <uint64_t> p[1] << 8 | <uint64_t> p[2] << 16 | <uint64_t> p[3] << 24
            | <uint64_t> p[4] << 32 | <uint64_t> p[5] << 40 | <uint64_t> p[6] << 48
            | <uint64_t> p[7] << 56)


cdef inline void store_u64(uint8_t *p, uint64_t value) noexcept nogil:
    cdef int i
    for i in range(8):
        p[i] = value >> (8 * i) & 0xFF


cdef inline void sip_round(uint64_t *v) noexcept nogil:
    v[0] += v[1]
    v[2] += v[3]
    v[1] = rotate_left(v[1], 13) ^ v[0]
    v[3] = rotate_left(v[3], 16) ^ v[2]
    v[0] = rotate_left(v[0], 32)
    v[2] += v[1]
    v[0] += v[3]
    v[1] = rotate_left(v[1], 17) ^ v[2]
    v[3] = rotate_left(v[3], 21) ^ v[0]
    v[2] = rotate_left(v[2], 32)


cdef inline void absorb(uint64_t *v, uint64_t word) noexcept nogil:
    v[3] ^= word
    sip_round(v)
    sip_round(v)
    v[0] ^= word


cdef inline uint64_t siphash(const uint64_t *key, const uint8_t *data, Py_ssize_t n) noexcept nogil:
    """SipHash-2-4 (Aumasson & Bernstein 2012) of data[:n]; key[0] is the little-endian number of
    the key's first 8 bytes.
    """
    cdef uint64_t[4] v
    cdef uint64_t last = <uint64_t> n << 56
    cdef Py_ssize_t i
    cdef int _round
    v[0] = key[0] ^ 0x736F6D6570736575ULL
    v[1] = key[1] ^ 0x646F72616E646F6DULL
    v[2] = key[0] ^ 0x6C7967656E657261ULL
    v[3] = key[1] ^ 0x7465646279746573ULL
    for i in range(0, n - 7, 8):
        absorb(v, load_u64(data + i))
    for i in range(n & ~7, n):
        last |= <uint64_t> data[i] << (8 * (i & 7))
    absorb(v, last)
    v[2] ^= 0xFF
    for _round in range(4):
        sip_round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


@cython.final
cdef class Authenticator:
    """The tags of one end of a link.

    Parameters
    ----------
    key : bytes
        16 bytes that both ends hold.
    boot_id : int, optional
        Of the node whose guard this is; None: this is the host's.

    Raises
    ------
    ValueError
        The key does not have 16 bytes.
    """

    def __cinit__(self, const uint8_t[::1] key, boot_id=None):
        cdef SessionId none
        if key.shape[0] != KEY_BYTES:
            raise ValueError(f"the key has {key.shape[0]} bytes; it must have {KEY_BYTES}")
        self._key[0], self._key[1] = load_u64(&key[0]), load_u64(&key[8])
        self._is_host = boot_id is None
        self._boot_id = 0 if boot_id is None else boot_id
        memset(&none, 0, sizeof(none))
        self._derive(FOR_HELLO, none, self._hello_key)

    @property
    def in_session(self):
        """Whether a session is in force."""
        return self._open

    def ask(self, uint64_t nonce):
        """The host's next HELLO has this nonce; its low half is the one in the HELLO's body.

        The SCHEMA that answers it opens a session once. Draw a new random nonce afterwards.
        """
        self._wanted = nonce
        self._asked = True

    @property
    def asked(self):
        """Whether a HELLO still awaits its SCHEMA."""
        return self._asked

    def encode_frame(self, int kind, bytes body, *, int schema_id=0, sequence=0, int flags=0):
        """`wire.encode_frame` with a tag."""
        head = wire.pack_header(kind, flags, schema_id, sequence)
        cdef Py_ssize_t end = len(head) + len(body)
        cdef uint8_t[::1] raw = bytearray(head + body + bytes(MOST_ADDED + CRC_BYTES))
        end = self.seal(&raw[0], end)
        store_u32(&raw[end], crc32(&raw[0], end))
        return wire.cobs_encode(bytes(raw[:end + CRC_BYTES])) + b"\0"

    def counters(self):
        """Counts of refused frames, by name."""
        return {"bad_tag": self.bad_tag, "replayed": self.replayed}

    cdef bint admit(self, uint8_t *raw, Py_ssize_t *raw_length) noexcept nogil:
        """Is the frame in `raw` genuine and new? If so, its tag is stripped."""
        cdef Py_ssize_t end = raw_length[0] - CRC_BYTES - TAG_BYTES
        cdef uint8_t kind = raw[0]
        cdef bint good = False
        if raw[1] & TAGGED and end >= HEADER_BYTES:
            if kind == HELLO:
                good = self._admit_hello(raw, end)
            elif kind == SCHEMA:
                good = self._admit_schema(raw, end)
            else:
                good = self._admit_counted(raw, end)
        else:
            self.bad_tag += 1
        if not good:
            return False
        self.admitted += 1
        raw[1] &= ~TAGGED & 0xFF
        raw_length[0] = end + CRC_BYTES
        if kind == HELLO or kind == SCHEMA:
            raw_length[0] -= EXTENSION
        return True

    cdef bint _admit_hello(self, uint8_t *raw, Py_ssize_t end) noexcept nogil:
        """Open a session for a HELLO that is not a repetition of the one in force."""
        cdef SessionId session
        if (self._is_host or end != HELLO_END + EXTENSION
                or not has_tag(self._hello_key, raw, end, 0)):
            self.bad_tag += 1
            return False
        session.nonce = load_u32(raw + HEADER_BYTES) | <uint64_t> load_u32(raw + HELLO_END) << 32
        if not self._open or session.nonce != self._session.nonce:
            self._n_sessions += 1
            session.boot_id = self._boot_id
            session.number = self._n_sessions
            self._open_session(session)
        return True

    cdef bint _admit_schema(self, uint8_t *raw, Py_ssize_t end) noexcept nogil:
        """The SCHEMA of the session in force is a frame like others; that of a new one opens it."""
        cdef uint64_t[2] key
        cdef SessionId session
        if not self._is_host or end != SCHEMA_END + EXTENSION:
            self.bad_tag += 1
            return False
        session.boot_id = load_u32(raw + HEADER_BYTES + 4)
        session.number = load_u32(raw + SCHEMA_END)
        session.nonce = self._session.nonce
        if self._open and is_same(session, self._session):
            return self._admit_counted(raw, end)
        session.nonce = self._wanted
        self._derive(FROM_NODE, session, key)
        if not self._asked or not has_tag(key, raw, end, 0):
            self.bad_tag += 1
            return False
        self._asked = False
        self._open_session(session)
        accept(&self._arrived[0], load_u32(raw + 4))
        return True

    cdef bint _admit_counted(self, uint8_t *raw, Py_ssize_t end) noexcept nogil:
        cdef Counter *counter = &self._arrived[is_data(raw[0])]
        cdef uint64_t number = extended(counter, load_u32(raw + 4))
        if not self._open or not has_tag(self._in_key, raw, end, number >> 32):
            self.bad_tag += 1
            return False
        if not accept(counter, number):
            self.replayed += 1
            return False
        return True

    cdef Py_ssize_t seal(self, uint8_t *raw, Py_ssize_t end) noexcept nogil:
        """Add flag and tag to the header and body in raw[:end]; the new end. MOST_ADDED bytes of
        room are needed.
        """
        cdef uint64_t number = 0
        cdef const uint64_t *key = self._out_key
        raw[1] |= TAGGED
        if raw[0] == HELLO:
            store_u32(raw + end, self._wanted >> 32)
            end += EXTENSION
            key = self._hello_key
        else:
            if raw[0] == SCHEMA:
                store_u32(raw + end, self._session.number)
                end += EXTENSION
            number = extended(&self._sent[is_data(raw[0])], load_u32(raw + 4))
            accept(&self._sent[is_data(raw[0])], number)
        store_u64(raw + end, tag_of(key, raw, end, number >> 32))
        return end + TAG_BYTES

    cdef void _open_session(self, SessionId session) noexcept nogil:
        self._session = session
        self._derive(FROM_NODE if self._is_host else FROM_HOST, session, self._in_key)
        self._derive(FROM_HOST if self._is_host else FROM_NODE, session, self._out_key)
        memset(self._arrived, 0, sizeof(self._arrived))
        memset(self._sent, 0, sizeof(self._sent))
        self._open = True

    cdef void _derive(self, uint8_t purpose, SessionId session, uint64_t *key) noexcept nogil:
        """The two halves of a key that only this purpose of this session has."""
        cdef uint8_t[KEY_BYTES + 1] context
        cdef int half
        store_u64(context + 1, session.nonce)
        store_u32(context + 9, session.boot_id)
        store_u32(context + 13, session.number)
        for half in range(2):
            context[0] = purpose + half
            key[half] = siphash(self._key, context, KEY_BYTES + 1)


cdef bint is_data(uint8_t kind) noexcept nogil:
    """Samples and predictions have sequence numbers of their own."""
    return kind == SAMPLE_F32 or kind == SAMPLE_I16 or kind == PREDICTION


cdef bint is_same(SessionId a, SessionId b) noexcept nogil:
    return a.nonce == b.nonce and a.boot_id == b.boot_id and a.number == b.number


cdef uint64_t tag_of(const uint64_t *key, uint8_t *raw, Py_ssize_t end,
                     uint32_t high) noexcept nogil:
    """The tag of header and body in raw[:end]. The high half of the number stands behind them while
    they are hashed; it is not sent.
    """
    store_u32(raw + end, high)
    return siphash(key, raw, end + 4)


cdef bint has_tag(const uint64_t *key, uint8_t *raw, Py_ssize_t end, uint32_t high) noexcept nogil:
    """Is the tag behind raw[:end] right? It stays in place if it is not."""
    cdef uint64_t sent = load_u64(raw + end)
    cdef uint64_t right = tag_of(key, raw, end, high)
    store_u64(raw + end, sent)
    return sent == right


cdef uint64_t extended(const Counter *counter, uint32_t low) noexcept nogil:
    """The 64-bit number nearest to the highest so far that ends in these 32 bits."""
    cdef int64_t step
    if not counter.started:
        return low
    step = <int32_t> (low - <uint32_t> counter.highest)
    if step < 0 and counter.highest < <uint64_t> -step:
        return counter.highest + <uint64_t> (step + (<int64_t> 1 << 32))
    return counter.highest + <uint64_t> step


cdef bint accept(Counter *counter, uint64_t number) noexcept nogil:
    """Enter a number; False if it has been entered before or is behind the window."""
    cdef uint64_t behind
    if not counter.started or number > counter.highest:
        behind = number - counter.highest
        if not counter.started or behind >= WINDOW:
            counter.seen = 1
        else:
            counter.seen = counter.seen << behind | 1
        counter.started = True
        counter.highest = number
        return True
    behind = counter.highest - number
    if behind >= WINDOW or counter.seen >> behind & 1:
        return False
    counter.seen |= <uint64_t> 1 << behind
    return True


def siphash_view(const uint8_t[::1] key, const uint8_t[::1] data):
    """The compiled SipHash-2-4, for tests."""
    cdef uint64_t[2] words
    cdef uint8_t nothing = 0
    words[0], words[1] = load_u64(&key[0]), load_u64(&key[8])
    return siphash(words, &data[0] if data.shape[0] else &nothing, data.shape[0])
