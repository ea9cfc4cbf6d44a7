"""Keyed tags of a node's frames, protocol 1.1: docs/keyed-link.md.

Copy this file to the board beside edgesvm_node.py and pass the node its key:

    from edgesvm_tags import Tags
    Node(4, boot_id=boot_id, tags=Tags(bytes.fromhex("..."), boot_id))    # edgesvm run --key FILE
"""

import struct

HELLO, SCHEMA, SAMPLE, PREDICTION = 0x01, 0x02, 0x10, 0x20
TAGGED = 8
MASK = (1 << 64) - 1


def turn(x, by):
    return (x << by | x >> (64 - by)) & MASK


def rounds(v0, v1, v2, v3, n):
    for _ in range(n):
        v0 = v0 + v1 & MASK
        v2 = v2 + v3 & MASK
        v1 = turn(v1, 13) ^ v0
        v3 = turn(v3, 16) ^ v2
        v0 = turn(v0, 32)
        v2 = v2 + v1 & MASK
        v0 = v0 + v3 & MASK
        v1 = turn(v1, 17) ^ v2
        v3 = turn(v3, 21) ^ v0
        v2 = turn(v2, 32)
    return v0, v1, v2, v3


def siphash(key, data):
    """SipHash-2-4, as 8 bytes."""
    k0, k1 = struct.unpack("<QQ", key)
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573
    data = bytes(data) + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for at in range(0, len(data), 8):
        word = struct.unpack("<Q", data[at : at + 8])[0]
        v0, v1, v2, v3 = rounds(v0, v1, v2, v3 ^ word, 2)
        v0 ^= word
    v0, v1, v2, v3 = rounds(v0, v1, v2 ^ 255, v3, 4)
    return struct.pack("<Q", v0 ^ v1 ^ v2 ^ v3)


class Counter:
    """Numbers of one class of frames, extended to 64 bits; each is entered once."""

    def __init__(self):
        self.highest = None
        self.seen = 0

    def extended(self, low):
        """The number nearest to the highest so far that ends in these 32 bits."""
        if self.highest is None:
            return low
        step = (low - self.highest + 0x80000000 & 0xFFFFFFFF) - 0x80000000
        return self.highest + step + (0x100000000 if self.highest + step < 0 else 0)

    def enter(self, number):
        """False if it was entered before or is behind the window."""
        if self.highest is None or number > self.highest:
            ahead = 64 if self.highest is None else min(64, number - self.highest)
            self.seen = (self.seen << ahead | 1) & MASK
            self.highest = number
            return True
        bit = 1 << self.highest - number
        if self.highest - number >= 64 or self.seen & bit:
            return False
        self.seen |= bit
        return True


class Tags:
    """The keys, windows and session of a node.

    Parameters
    ----------
    key : bytes
        16 bytes.
    boot_id : int
        The node's.
    """

    def __init__(self, key, boot_id):
        self.session = 0
        self._key = key
        self._boot_id = boot_id & 0xFFFFFFFF
        self._nonce = None
        self._hello = self._derived(0, bytes(16))

    def admit(self, raw):
        """Header and body of a frame (without its CRC) if it is genuine and new, else None."""
        if len(raw) < 16 or not raw[1] & TAGGED:
            return None
        raw, tag = bytes(raw[:-8]), bytes(raw[-8:])
        if raw[0] == HELLO:
            return self._admit_hello(raw, tag)
        if self._nonce is None:
            return None
        counter = self._arrived[raw[0] == PREDICTION]
        number = counter.extended(struct.unpack("<I", raw[4:8])[0])
        if tag != siphash(self._in, raw + struct.pack("<I", number >> 32)):
            return None
        return raw if counter.enter(number) else None

    def _admit_hello(self, raw, tag):
        if len(raw) != 24 or tag != siphash(self._hello, raw + bytes(4)):
            return None
        nonce = raw[8:12] + raw[20:]
        if nonce != self._nonce:  # not a repetition: a new session
            self._nonce = nonce
            self.session += 1
            context = nonce + struct.pack("<II", self._boot_id, self.session)
            self._out, self._in = self._derived(2, context), self._derived(4, context)
            self._arrived = Counter(), Counter()
            self._sent = Counter(), Counter()
        return raw[:20]

    def seal(self, raw):
        """The frame (header and body) with its tag."""
        if raw[0] == SCHEMA:
            raw += struct.pack("<I", self.session)
        raw = raw[:1] + bytes([raw[1] | TAGGED]) + raw[2:]
        counter = self._sent[raw[0] == SAMPLE]
        number = counter.extended(struct.unpack("<I", raw[4:8])[0])
        counter.enter(number)
        return raw + siphash(self._out, raw + struct.pack("<I", number >> 32))

    def _derived(self, purpose, context):
        return b"".join([siphash(self._key, bytes([purpose + i]) + context) for i in (0, 1)])
