from typing import Any, final

from edgesvm.prequential._tally import Tally

@final
class PlainRows:
    learned: int
    unlabelled: int
    refused_value: int
    answered: int
    drained: bool
    def __new__(cls, n_features: int, score: Tally) -> PlainRows: ...
    def aim(self, core: Any) -> bool: ...
    def read(
        self,
        ring: Any,
        late: Any,
        most: int,
        *,
        outbox: Any = None,
        schema_id: int = 0,
        frame_sequence: int = 0,
        guard: Any = None,
    ) -> int: ...
