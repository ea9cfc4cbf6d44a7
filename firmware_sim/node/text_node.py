"""A node that prints lines, like a sketch with ``Serial.println``."""

from __future__ import annotations

import binascii
from functools import reduce
from operator import xor

import numpy as np
from numpy.typing import NDArray

from edgesvm.data.rows import SampleSource
from firmware_sim.node.node import Node

MAX_LINE = 512

CHECKSUMS = {
    "none": lambda line: "",
    "xor": lambda line: f"*{reduce(xor, line, 0):02X}",
    "crc16": lambda line: f"*{binascii.crc_hqx(line, 0xFFFF):04X}",
}


class TextNode(Node):
    """Sends lines of comma-separated features, the label last, after a comment that announces them.

    There is no handshake and nothing is received: lines are sent as soon as the node has booted.

    Parameters
    ----------
    source, **settings
        See `Node`.
    numbered : bool
        Put ``@N``, the sequence number, before the values.
    checksum : {"none", "xor", "crc16"}
        ``*HH`` (exclusive or of all bytes before the star) or ``*HHHH`` (CRC-16/CCITT-FALSE of
        them).

    Raises
    ------
    ValueError
        At construction: an unknown checksum. In `poll`: a line of more than 512 bytes, which a
        host would refuse.
    """

    hears = False

    def __init__(
        self,
        source: SampleSource,
        *,
        numbered: bool = False,
        checksum: str = "none",
        **settings,
    ) -> None:
        if checksum not in CHECKSUMS:
            raise ValueError(f"checksum must be one of {', '.join(CHECKSUMS)}, got {checksum!r}")
        self.numbered = numbered
        self._checksum = CHECKSUMS[checksum]
        super().__init__(source, **settings)

    def _receive(self, now: float, bytes_in: bytes) -> None:
        """Ignore it: a sketch that only prints does not read."""

    def _queue_due(self, now: float) -> None:
        if self.streaming:
            return
        label = "last" if self.label_mode == "inline" else "none"
        # The host discards all before the first line end: make that empty.
        greeting = f"#esvm 1 d={self.source.n_features} label={label}".encode()
        self._urgent["greeting"] = b"\n" + greeting + self._checksum(greeting).encode() + b"\n"
        self._start(now)

    @property
    def _sample_bytes(self) -> int:
        return 8 * (self.source.n_features + 1)

    def encode(
        self, now: float, first: int, X: NDArray[np.float32], labels: NDArray
    ) -> tuple[bytes, NDArray[np.int64]]:
        rows = zip(X.tolist(), labels.tolist(), strict=True)
        lines = [self._line(first + i, x, label) for i, (x, label) in enumerate(rows)]
        return b"".join(lines), np.cumsum([len(line) for line in lines])

    def _line(self, sequence: int, x: list[float], label: float) -> bytes:
        # Nine digits restore a float32 exactly.
        values = ",".join([f"{value:.9g}" for value in x])
        head = f"@{sequence} " if self.numbered else ""
        known = f"{label:.15g}" if self.is_known(label) else ""
        tail = f",{known}" if self.label_mode == "inline" else ""
        line = f"{head}{values}{tail}".encode()
        line += self._checksum(line).encode()
        if len(line) > MAX_LINE:
            raise ValueError(
                f"a text line of {len(line)} bytes is longer than {MAX_LINE}: use frames for "
                f"{len(x)} features"
            )
        return line + b"\n"

    def queue_labels(self, first: int, labels: NDArray) -> None:
        if self.label_mode == "late":
            entries = enumerate(labels.tolist(), first)
            self._late.extend((n, n, label) for n, label in entries if self.is_known(label))

    def _late_label(self) -> bytes | None:
        if not self._late:
            return None
        _, sequence, label = self._late.popleft()
        line = f"={sequence} {label:.15g}".encode()
        return line + self._checksum(line).encode() + b"\n"
