from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

POLICIES: tuple[str, ...]

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
    policy: str
    def __new__(
        cls, capacity: int, n_features: int, policy: str = "drop_oldest", targets: bool = False
    ) -> SampleRing: ...
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def first(self) -> int: ...
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
