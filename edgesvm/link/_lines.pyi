from collections.abc import Iterator
from typing import NamedTuple, final

from edgesvm.link._frames import SequenceWindow, ValueGate, _Bytes
from edgesvm.link._ring import LateLabels, SampleRing

COUNTERS: tuple[str, ...]
LINE_NAMES: tuple[str, ...]

class OtherColumns(NamedTuple):
    n_features: int

@final
class LineParser:
    sequence: SequenceWindow
    ring: SampleRing
    late: LateLabels | None
    gate: ValueGate
    bytes_in: int
    bytes_ok: int
    bytes_rejected: int
    delimiters: int
    discarded_bytes: int
    lines: int
    schema_checked: bool
    label_at: int
    words: list[str]
    numbers: bool
    def __new__(
        cls,
        n_features: int | None = None,
        label_column: bool = True,
        use_labels: bool = True,
        gate: ValueGate | None = None,
        targets: bool = False,
        label_at: int = -1,
    ) -> LineParser: ...
    @property
    def n_words(self) -> int: ...
    @property
    def first_labels(self) -> list[float]: ...
    @property
    def last_line(self) -> str: ...
    @property
    def refused_line(self) -> tuple[str, str] | None: ...
    @property
    def n_features(self) -> int | None: ...
    @property
    def separator(self) -> str | None: ...
    @property
    def pending(self) -> int: ...
    @property
    def checksummed(self) -> bool: ...
    @property
    def bad_value(self) -> int: ...
    @property
    def guess(self) -> int | None: ...
    def expect(
        self, ring: SampleRing, label_column: bool | None = None, late: LateLabels | None = None
    ) -> None: ...
    def announce(self, n_features: int, label_column: bool) -> None: ...
    def new_epoch(self) -> None: ...
    def resync(self) -> None: ...
    def feed(self, chunk: _Bytes) -> Iterator[int | bytes | OtherColumns]: ...
    def take_refused(self) -> list[int]: ...
    def counters(self) -> dict[str, int]: ...
    def broken_identities(self) -> list[str]: ...
    def memory(self) -> list[tuple[str, int]]: ...
