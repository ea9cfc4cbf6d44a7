from typing import Any

from typing_extensions import disjoint_base

@disjoint_base
class Tally:
    window: int
    n: int
    first: float | None
    confusion: dict[Any, dict[Any, int]]
    _recent: int
    _recent_repeats: int
    _recent_larger: int
    _total: int
    _repeats: int
    _same_answer: int
    _before: Any
    _answer: Any
    def __init__(self, window: int = 1000) -> None: ...
    def add(self, truth: Any, predicted: Any) -> None: ...
    def add_many(self, truths: list[Any], predicted: list[Any]) -> None: ...
