from collections.abc import Iterator
from typing import Any, final

from edgesvm.link._frames import FrameDecoder, SequenceWindow, ValueGate, _Bytes
from edgesvm.link._keyed import Authenticator
from edgesvm.link._ring import LateLabels, SampleRing
from edgesvm.link.wire import Frame

COUNTERS: tuple[str, ...]

@final
class SampleReceiver:
    decoder: FrameDecoder
    sequence: SequenceWindow
    ring: SampleRing
    late: LateLabels | None
    gate: ValueGate
    guard: Authenticator | None
    samples: int
    bad_dimension: int
    bad_flags: int
    schema_mismatch: int
    bad_label: int
    label_mismatch: int
    clock_jumps: int
    pending: int
    def __new__(
        cls,
        decoder: FrameDecoder,
        use_labels: bool = True,
        gate: ValueGate | None = None,
        guard: Authenticator | None = None,
    ) -> SampleReceiver: ...
    def expect(
        self,
        schema_id: int,
        ring: SampleRing,
        *,
        late: LateLabels | None = None,
        scales: Any = None,
        nominal_us: int = 0,
        targets: bool = False,
    ) -> None: ...
    def new_epoch(self) -> None: ...
    def resync(self) -> None: ...
    def feed(self, chunk: _Bytes) -> Iterator[Frame]: ...
    def counters(self) -> dict[str, int]: ...
    def broken_identities(self) -> list[str]: ...
    def memory(self) -> list[tuple[str, int]]: ...
