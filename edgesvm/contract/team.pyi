from collections.abc import Callable
from typing import Any, final

def n_threads(n_jobs: int | None) -> int: ...

@final
class Team:
    def __init__(self, n: int, reader: Callable[[Any], Any]) -> None: ...
