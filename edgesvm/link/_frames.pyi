from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from edgesvm.link.wire import Frame

_Bytes = bytes | bytearray | memoryview | NDArray[np.uint8]

FRAME_COUNTERS: tuple[str, ...]
SEQUENCE_COUNTERS: tuple[str, ...]
GATE_COUNTERS: tuple[str, ...]
LARGEST_RAW: int
MAX_RAW: int

@disjoint_base
class Splitter:
    bytes_in: int
    bytes_ok: int
    bytes_rejected: int
    delimiters: int
    discarded_bytes: int
    pending: int
    def resync(self) -> None: ...
    def broken_identities(self) -> list[str]: ...

@final
class FrameDecoder(Splitter):
    max_raw: int
    nbytes: int
    frames: int
    ok: int
    bad_cobs: int
    bad_crc: int
    bad_len: int
    oversize: int
    empty: int
    def __new__(cls, max_raw: int = 254) -> FrameDecoder: ...
    def feed(self, chunk: _Bytes) -> list[Frame]: ...
    def counters(self) -> dict[str, int]: ...

@final
class SequenceWindow:
    epochs: int
    reordered: int
    duplicate: int
    too_old: int
    seq_jump: int
    span: int
    unique: int
    missing: int
    def __new__(cls) -> SequenceWindow: ...
    def classify(self, sequence: int) -> str: ...
    def counters(self) -> dict[str, int]: ...
    def broken_identities(self) -> list[str]: ...

@final
class ValueGate:
    bad_nan: int
    bad_inf: int
    bad_range: int
    bad_value: int
    clipped: int
    missing: bool
    def __new__(
        cls,
        value_range: tuple[float, float] | None = None,
        clip: bool = False,
        missing: bool = False,
    ) -> ValueGate: ...
    def take_refused(self) -> list[int]: ...

def crc32_view(data: _Bytes) -> int: ...
def cobs_encode_view(raw: _Bytes) -> bytes: ...
def cobs_decode_view(run: _Bytes) -> Any: ...
