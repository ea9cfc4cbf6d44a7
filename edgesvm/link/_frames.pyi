from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from edgesvm.link.frames import Frame

_Bytes = bytes | bytearray | memoryview | NDArray[np.uint8]

COUNTERS: tuple[str, ...]
LARGEST_RAW: int
MAX_RAW: int

@final
class FrameDecoder:
    max_raw: int
    bytes_in: int
    bytes_ok: int
    bytes_rejected: int
    delimiters: int
    discarded_bytes: int
    frames: int
    ok: int
    bad_cobs: int
    bad_crc: int
    bad_len: int
    oversize: int
    empty: int
    def __new__(cls, max_raw: int = 254) -> FrameDecoder: ...
    @property
    def pending(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def resync(self) -> None: ...
    def feed(self, chunk: _Bytes) -> list[Frame]: ...
    def counters(self) -> dict[str, int]: ...
    def broken_identities(self) -> list[str]: ...

def cobs_encode_view(raw: _Bytes) -> bytes: ...
def cobs_decode_view(run: _Bytes) -> Any: ...
