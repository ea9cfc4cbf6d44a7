from typing import final

@final
class ValueGate:
    bad_nan: int
    bad_inf: int
    bad_range: int
    clipped: int
    clip: bool
    missing: bool
    low: float
    high: float
    def __new__(
        cls,
        value_range: tuple[float, float] | None = None,
        clip: bool = False,
        missing: bool = False,
    ) -> ValueGate: ...
    def counters(self) -> dict[str, int]: ...
