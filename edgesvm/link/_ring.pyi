from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

def __getattr__(name: str) -> Any: ...  # what only this package uses

class Batch(NamedTuple):
    X: NDArray[np.float32]
    y: NDArray[Any]
    has_label: NDArray[np.bool_]
    weight: NDArray[np.float32]
    sequence: NDArray[np.uint32]

@final
class SampleRing:
    capacity: int
    n_features: int
    pushed: int
    entered: int
    released: int
    dropped: int
    high_water: int
    nbytes: int
    first: int
    def __new__(cls, capacity: int, n_features: int, targets: bool = False) -> SampleRing: ...
    def __len__(self) -> int: ...
    def take(self, max_rows: int | None = None) -> Batch: ...
    def release(self, n: int) -> None: ...
    def push_row(
        self,
        x: NDArray[np.float32],
        sequence: int = 0,
        label: float | None = None,
        weight: float = 1.0,
    ) -> bool: ...
    def counters(self) -> dict[str, int]: ...
    def broken_identities(self) -> list[str]: ...

class LateLabel(NamedTuple):
    sequence: int
    label: float
    weight: float
    is_epoch: bool = False

@final
class LateSample:
    x: NDArray[np.float32]
    weight: float
    sequence: int
    label: Any
    predicted: Any
    def __new__(cls, n_features: int, targets: bool = False) -> LateSample: ...

@final
class LateLabels:
    capacity: int
    n_features: int
    labels: int
    matched: int
    duplicate: int
    unknown: int
    dropped: int
    handed_on: int
    claimed: int
    waiting: int
    unlabelled: int
    expired: int
    room: int
    queued: int
    def __new__(
        cls, capacity: int, n_features: int, queue: int = 256, targets: bool = False
    ) -> LateLabels: ...
    def rows_before(self, row: int) -> int | None: ...
    def take(self, row: int) -> LateSample | None: ...
    def take_label(self, row: int) -> LateLabel | None: ...
    def wait(
        self,
        x: NDArray[np.float32],
        sequence: int,
        predicted: int | tuple[float, float, float] | None = None,
    ) -> None: ...
    def labelled(self, sequence: int) -> None: ...
    def claim(self, sequence: int) -> LateSample | None: ...
    def counters(self) -> dict[str, int]: ...
    def memory(self) -> list[tuple[str, int]]: ...
    def add_label(self, row: int, sequence: int, label: float, weight: float = 1.0) -> None: ...
    def add_epoch(self, row: int) -> None: ...
