from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from edgesvm.link.wire import Frame

def __getattr__(name: str) -> Any: ...  # what only this package uses

@final
class FrameDecoder:
    max_raw: int
    nbytes: int
    bytes_in: int
    bytes_ok: int
    bytes_rejected: int
    delimiters: int
    discarded_bytes: int
    pending: int
    frames: int
    ok: int
    bad_cobs: int
    bad_crc: int
    bad_len: int
    oversize: int
    empty: int
    def __new__(cls, max_raw: int = 254) -> FrameDecoder: ...
    def feed(self, chunk: bytes | bytearray | memoryview | NDArray[np.uint8]) -> list[Frame]: ...
    def resync(self) -> None: ...
    def counters(self) -> dict[str, int]: ...
    def broken_identities(self) -> list[str]: ...

@final
class ValueGate:
    def __new__(
        cls,
        value_range: tuple[float, float] | None = None,
        clip: bool = False,
        missing: bool = False,
    ) -> ValueGate: ...
