"""A node for edgesvm in MicroPython: binary frames with COBS and CRC-32, or lines of text.

Copy this file to the board and pass it a function that reads your sensor:

    import os
    from edgesvm_node import Node, serve
    boot_id = int.from_bytes(os.urandom(4), "little")        # another number at each boot
    serve(Node(4, boot_id=boot_id), sensor, period_ms=20)    # edgesvm run /dev/ttyACM0
    serve(Node(4, text=True), sensor, period_ms=20)          # edgesvm run /dev/ttyACM0 --text

`sensor()` returns the features and a label, or None if the label is not known. The file also runs
under CPython: `python edgesvm_node.py [--text]` is a node on stdin and stdout. FORMATS.md specifies
every byte.
"""

import struct
import sys
import time

try:
    from binascii import crc32
except ImportError:  # on a small port of MicroPython

    def crc32(data):
        crc = 0xFFFFFFFF
        for byte in data:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
        return crc ^ 0xFFFFFFFF


HELLO, SCHEMA, SAMPLE, PREDICTION, HEARTBEAT = 0x01, 0x02, 0x10, 0x20, 0x30
HAS_LABEL = 1
MAX_RAW = 254
MAX_RUN = 64  # bytes of a frame from the host, as received; longer ones are skipped
HEARTBEAT_MS = 1000
IDLE_MS = 100


def cobs(raw):
    """`raw` (at most 254 bytes) encoded by COBS."""
    out = bytearray(b"\0")
    code_at = 0
    for byte in raw:
        if byte:
            out.append(byte)
        else:
            out[code_at] = len(out) - code_at
            code_at = len(out)
            out.append(0)
    out[code_at] = len(out) - code_at
    return out


def uncobs(run):
    """The bytes that COBS encoded as `run`, or None if it is not valid."""
    raw = bytearray()
    at = 0
    while at < len(run):
        code = run[at]
        if at + code > len(run):
            return None
        raw += run[at + 1 : at + code]
        at += code
        if code < 255 and at < len(run):
            raw.append(0)
    return raw


def checked(line):
    """The line with its checksum and its end."""
    check = 0
    for byte in line.encode():
        check ^= byte
    return f"{line}*{check:02X}\n"


class Node:
    """What to send and what was received, without a port or a clock of its own.

    Parameters
    ----------
    n_features : int
        At most 59.
    boot_id : int
        Another number at each boot.
    text : bool
        Lines instead of frames.
    tags : Tags, optional
        Tags the frames with a key; see edgesvm_tags.py. n_features is then at most 57.
    """

    def __init__(self, n_features, boot_id=1, n_classes=0, period_us=0, text=False, *, tags=None):
        if not 1 <= n_features <= 59:
            raise ValueError("n_features must be 1 to 59")
        self.n_features = n_features
        self.text = text
        self.tags = tags
        self.streaming = text
        self.samples = 0
        self.prediction = None  # the last: (sequence, class, flags, score)
        self.ok = self.bad = 0
        self._boot_id = boot_id & 0xFFFFFFFF
        self._body = struct.pack(
            "<IHBBhHHII", self._boot_id, n_features, 1, 1, n_classes, MAX_RAW, 0, period_us, 0
        )
        # The nonce does not count in the schema's id.
        self._schema_id = crc32(bytes(4) + self._body) & 0xFFFF or 1
        self._control = 0
        self._run = bytearray()
        self._wrote_ms = self._heartbeat_ms = None
        self._greeted = False

    def sample(self, x, label, now_ms):
        """The bytes of one sample; empty until a host has sent HELLO."""
        if self.text:
            return self._line(x, label)
        if not self.streaming:
            return b""
        body = struct.pack(f"<{len(x)}f", *x)
        if label is not None:
            body = struct.pack("<hH", label, 256) + body
        frame = self._frame(SAMPLE, HAS_LABEL * (label is not None), self.samples, body, now_ms)
        self.samples += 1
        return frame

    def _line(self, x, label):
        values = ",".join([f"{value:.7g}" for value in x])
        line = f"@{self.samples} {values},{'?' if label is None else label}"
        self.samples += 1
        head = ""
        if not self._greeted:
            # The host discards the first line of a stream: make it an empty one.
            head = "\n" + checked(f"#esvm 1 d={self.n_features} label=last")
            self._greeted = True
        return (head + checked(line)).encode()

    def receive(self, data, now_ms):
        """Take in received bytes; return the bytes of the answer."""
        answer = b""
        if self.text:
            return answer
        for byte in data:
            if byte:
                if len(self._run) <= MAX_RUN:
                    self._run.append(byte)
                continue
            if 0 < len(self._run) <= MAX_RUN:
                answer += self._hear(uncobs(self._run), now_ms)
            self._run = bytearray()
        return answer

    def _hear(self, raw, now_ms):
        if raw is None or len(raw) < 12 or crc32(raw[:-4]) != struct.unpack("<I", raw[-4:])[0]:
            self.bad += 1
            return b""
        raw = raw[:-4] if self.tags is None else self.tags.admit(raw[:-4])
        if raw is None:
            self.bad += 1
            return b""
        self.ok += 1
        body = raw[8:]
        if raw[1] >> 4 != 1 or len(body) != 12:
            return b""
        if raw[0] == PREDICTION:
            self.prediction = struct.unpack("<IhHf", body)
        if raw[0] != HELLO:
            return b""
        if not self.streaming:
            self._heartbeat_ms = now_ms
        self.streaming = True
        return self._control_frame(SCHEMA, bytes(body[:4]) + self._body, now_ms)

    def heartbeat(self, now_ms):
        """The bytes of a heartbeat if one is due."""
        if not self.streaming or self.text or now_ms - self._heartbeat_ms < HEARTBEAT_MS:
            return b""
        self._heartbeat_ms = now_ms
        counts = (self._boot_id, now_ms & 0xFFFFFFFF, self.samples, 0, self.ok, self.bad, 0)
        return self._control_frame(HEARTBEAT, struct.pack("<IIIIIIIHH", *counts, 0, 0), now_ms)

    def _control_frame(self, kind, body, now_ms):
        self._control += 1
        return self._frame(kind, 0, self._control - 1, body, now_ms)

    def _frame(self, kind, flags, sequence, body, now_ms):
        raw = (
            struct.pack("<BBHI", kind, 0x10 | flags, self._schema_id, sequence & 0xFFFFFFFF) + body
        )
        if self.tags is not None:
            raw = self.tags.seal(raw)
        frame = bytes(cobs(raw + struct.pack("<I", crc32(raw)))) + b"\0"
        # After silence there may be noise on the line: a 0x00 keeps it out of this frame.
        idle = self._wrote_ms is None or now_ms - self._wrote_ms >= IDLE_MS
        self._wrote_ms = now_ms
        return b"\0" + frame if idle else frame


def serve(node, sensor, period_ms, rounds=None, on_prediction=None):
    """Run `node` on stdin and stdout: the USB port of a board."""
    import select

    try:
        import micropython

        micropython.kbd_intr(-1)  # a frame may contain the byte of Ctrl-C
    except ImportError:
        pass  # CPython
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    poll = select.poll()
    poll.register(source, select.POLLIN)
    started = _ticks_ms()
    done = 0
    while rounds is None or done < rounds:
        now = _ticks_ms() - started
        wait = done * period_ms - now if node.streaming else period_ms
        if poll.poll(max(0, wait)):
            data = _read(source)
            if not data:
                return  # the host hung up
            before = node.prediction
            _write(sink, node.receive(data, now))
            if on_prediction and node.prediction is not before:
                on_prediction(node.prediction)
            continue
        _write(sink, node.heartbeat(now))
        if node.streaming:
            x, label = sensor()
            _write(sink, node.sample(x, label, now))
            done += 1


def _ticks_ms():
    # MicroPython's own ticks wrap after days; time.time() there counts whole seconds.
    return time.time_ns() // 1000000


def _read(source):
    # Read only what poll reported: one byte on a board, where read(n) blocks until it has n.
    return source.read1(64) if hasattr(source, "read1") else source.read(1)


def _write(sink, data):
    if data:
        sink.write(data)
        if hasattr(sink, "flush"):
            sink.flush()


class Counting:
    """A test sensor with values in quarters: in round i, feature j is (37 j + 11 i) % 1024 / 4."""

    def __init__(self, n_features=4):
        self.n_features = n_features
        self.i = 0

    def __call__(self):
        i = self.i
        self.i += 1
        x = [(37 * j + 11 * i) % 1024 / 4 for j in range(self.n_features)]
        return x, None if i % 5 == 0 else int(i % 3 == 0)


if __name__ == "__main__":
    tags = None
    boot_id = time.time_ns()
    if "--key" in sys.argv:  # 32 hexadecimal digits
        from edgesvm_tags import Tags

        tags = Tags(bytes.fromhex(sys.argv[sys.argv.index("--key") + 1]), boot_id)
    node = Node(4, boot_id=boot_id, n_classes=2, text="--text" in sys.argv, tags=tags)
    serve(node, Counting(), 1)
