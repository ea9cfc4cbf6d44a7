"""Whether forged and replayed frames get past the tags, at either end of a keyed link."""

from __future__ import annotations

import random
import zlib
from collections import deque
from dataclasses import dataclass, field

from edgesvm.errors import LinkDown
from edgesvm.link import FrameDecoder, Link, open_link, wire
from edgesvm.link._keyed import Authenticator
from edgesvm.link.ports import READ_BYTES
from firmware_sim.node import FrameNode, RotatingMachine

TURN_S = 0.01  # of simulated time
RECENT = 20  # frames, some of them still in the window; half of the replays are of these
REBOOT_EVERY, RECONNECT_EVERY = 499, 331  # attacks; each begins a session


def decoded(frame: bytes) -> bytearray:
    """A frame of the wire before COBS, without its CRC."""
    f = FrameDecoder(1 << 12).feed(frame)[0]
    head = wire.pack_header(f.kind, f.flags, f.schema_id, f.sequence)
    return bytearray(head + f.body)


def encoded(raw: bytes | bytearray) -> bytes:
    return wire.cobs_encode(bytes(raw) + zlib.crc32(raw).to_bytes(4, "little")) + b"\0"


@dataclass
class Attacker:
    """Sees all frames of both directions; makes new ones of them, without the key."""

    rng: random.Random
    seen: tuple[list[bytes], list[bytes]] = field(default_factory=lambda: ([], []))

    def watch(self, to_host: bool, frame: bytes) -> None:
        self.seen[to_host].append(frame)

    def forge(self, to_host: bool) -> bytes:
        """A frame with a valid CRC that no holder of the key sent."""
        kind = self.rng.randrange(5)
        raw = decoded(self.rng.choice(self.seen[to_host]))
        if kind == 0:  # one bit
            at = self.rng.choice([i for i in range(len(raw)) if i != 1])
            raw[at] ^= 1 << self.rng.randrange(8)
        elif kind == 1:  # a number far ahead, to open the window again
            raw[4:8] = self.rng.randbytes(4)
        elif kind == 2:  # no tag
            raw = raw[: -wire.TAG_BYTES]
            raw[1] &= ~wire.TAGGED & 0xFF
        elif kind == 3:  # another key
            guard = Authenticator(self.rng.randbytes(16), boot_id=7)
            plain = raw[8 : -wire.TAG_BYTES]
            return guard.encode_frame(raw[0], bytes(plain), sequence=int(raw[4]))
        else:  # a guess
            raw[-wire.TAG_BYTES :] = self.rng.randbytes(wire.TAG_BYTES)
        return encoded(raw)

    def replay(self, to_host: bool) -> bytes:
        """A frame of this session or an earlier one, either direction."""
        known = self.seen[to_host if self.rng.random() < 0.9 else not to_host]
        return self.rng.choice(known[-RECENT:] if self.rng.random() < 0.5 else known)


class TappedLine:
    """A port whose other end is the node, one frame at a time; the attacker inserts frames."""

    def __init__(self, node: FrameNode, attacker: Attacker) -> None:
        self.node = node
        self.attacker = attacker
        self.now = 100.0
        self.link: Link | None = None
        self.sent = {"forged": 0, "replayed": 0, "": 0}
        self.accepted = 0
        self._genuine: set[bytes] = set()
        self._used: set[bytes] = set()
        self.alive = True
        self._to_host: deque[tuple[bytes, str]] = deque()
        self._frame = self._rest = b""
        self._hostile = ""  # what the attacker did to the frame in hand
        self._admitted = 0

    def read(self, timeout: float, limit: int = READ_BYTES) -> bytes:
        """See `Port.read`; never more than a frame, so that its fate can be looked up."""
        if not self.alive:
            raise LinkDown("the attacker pulled the plug")
        self._look_up()
        if not self._rest:
            if not self._to_host:
                self.now += TURN_S
                self._collect(self.node.poll(self.now, b"", 256))
            if not self._to_host:
                return b""
            self._frame, self._hostile = self._to_host.popleft()
            self._rest = self._frame
            self.sent[self._hostile] += 1
            self._admitted = self._host_admitted
        chunk, self._rest = self._rest[:limit], self._rest[limit:]
        return chunk

    def write(self, data: bytes) -> int:
        """See `Port.write`."""
        for frame in frames_of(data):
            self.attacker.watch(False, frame)
            self._collect(self.node.poll(self.now, frame, 256))
            if self.attacker.rng.random() < 0.5:
                self._attack_node()
        return len(data)

    def reopen(self) -> None:
        """Begin a connection with what the node sends from now on."""
        self.alive = True
        self._to_host.clear()
        self._rest = b"\0"

    def close(self) -> None:
        """See `Port.close`."""
        self.alive = False

    @property
    def _host_admitted(self) -> int:
        return 0 if self.link is None else self.link.guard.admitted  # type: ignore[attr-defined]

    @property
    def n_attacks(self) -> int:
        return self.sent["forged"] + self.sent["replayed"]

    def _look_up(self) -> None:
        if self._rest or self._host_admitted == self._admitted:
            return
        self._admitted = self._host_admitted
        if self._hostile and (self._frame in self._used or self._frame not in self._genuine):
            self.accepted += 1
        self._used.add(self._frame)

    def _collect(self, data: bytes) -> None:
        """Frames of the node, each followed by attacks now and then."""
        for frame in frames_of(data):
            self.attacker.watch(True, frame)
            self._genuine.add(frame)
            self._to_host.append((frame, ""))
            if self.link is not None and self.attacker.rng.random() < 0.7:
                self._to_host.append(self._hostile_frame(True))

    def _hostile_frame(self, to_host: bool) -> tuple[bytes, str]:
        if self.attacker.rng.random() < 0.5:
            return self.attacker.forge(to_host), "forged"
        return self.attacker.replay(to_host), "replayed"

    def _attack_node(self) -> None:
        assert self.node.guard is not None
        if not self.attacker.seen[True]:
            return
        frame, kind = self._hostile_frame(False)
        self.sent[kind] += 1
        before, hellos = self.node.guard.admitted, self.node.hellos
        self._collect(self.node.poll(self.now, frame, 256))
        # A HELLO of old is answered, under a session that only the key's holder can use.
        self.accepted += self.node.guard.admitted - before - (self.node.hellos - hellos)


def frames_of(data: bytes) -> list[bytes]:
    return [run + b"\0" for run in data.split(b"\0") if run]


def attacked(*, seed: int, attacks: int) -> tuple[list[str], dict[str, int]]:
    """A keyed node and host, restarts of both, and an attacker who reads and writes the line.

    Returns what was broken, and how many frames of each kind were sent.
    """
    rng = random.Random(seed)
    key = rng.randbytes(16)
    node = FrameNode(RotatingMachine(seed), key=key, boot_id=seed)
    attacker = Attacker(rng)
    line = TappedLine(node, attacker)

    def reopened() -> TappedLine:
        line.reopen()
        return line

    learned: list[bytes] = []
    with open_link(
        "tapped",
        key=key,
        opener=reopened,
        clock=lambda: line.now,
        sleep=lambda s: None,
    ) as link:
        line.link = link
        turns = 0
        while line.n_attacks < attacks:
            turns += 1
            if turns % REBOOT_EVERY == 0:
                node.reboot()
            if turns % RECONNECT_EVERY == 0:
                link.reconnect()
            link.poll(0.0)
            batch = link.take()
            learned += [x.tobytes() for x in batch.X]
            for n in batch.sequence.tolist():
                link.send_prediction(n, 1, 0.5)
            link.release(len(batch.y))
        broken = list(link.check_identities())
    twice = len(learned) - len(set(learned))
    if line.accepted:
        broken.append(f"{line.accepted} frames of the attacker were accepted")
    if twice:
        broken.append(f"{twice} samples were learned twice")
    if len(learned) < attacks // 10:
        broken.append(f"only {len(learned)} samples were learned")
    return broken, line.sent
