from collections.abc import Iterator
from typing import NamedTuple, final

from edgesvm.link._frames import SequenceWindow, Splitter, ValueGate, _Bytes
from edgesvm.link._ring import LateLabels, SampleRing

COUNTERS: tuple[str, ...]
GATE_COUNTERS: tuple[str, ...]
LINE_NAMES: tuple[str, ...]

class OtherColumns(NamedTuple):
    n_features: int

@final
class LineParser(Splitter):
    sequence: SequenceWindow
    ring: SampleRing
    late: LateLabels | None
    gate: ValueGate
    lines: int
    schema_checked: bool
    label_at: int
    words: list[str]
    n_words: int
    numbers: bool
    first_labels: list[float]
    last_line: str
    refused_line: tuple[str, str] | None
    n_features: int | None
    separator: str | None
    checksummed: bool
    guess: int | None
    def __new__(
        cls,
        n_features: int | None = None,
        label_column: bool = True,
        use_labels: bool = True,
        gate: ValueGate | None = None,
        targets: bool = False,
        label_at: int = -1,
    ) -> LineParser: ...
    def expect(
        self, ring: SampleRing, label_column: bool | None = None, late: LateLabels | None = None
    ) -> None: ...
    def announce(self, n_features: int, label_column: bool) -> None: ...
    def new_epoch(self) -> None: ...
    def feed(self, chunk: _Bytes) -> Iterator[int | bytes | OtherColumns]: ...
    def counters(self) -> dict[str, int]: ...
    def memory(self) -> list[tuple[str, int]]: ...
