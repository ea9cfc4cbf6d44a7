from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

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
    def __new__(cls, n_features: int, targets: bool = False) -> LateSample: ...
    @property
    def label(self) -> Any: ...
    @property
    def predicted(self) -> Any: ...

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
    def __new__(
        cls, capacity: int, n_features: int, queue: int = 256, targets: bool = False
    ) -> LateLabels: ...
    @property
    def room(self) -> int: ...
    @property
    def queued(self) -> int: ...
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
