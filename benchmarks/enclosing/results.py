"""The fits that are finished, kept so that an interrupted run goes on, and what adds to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sklearn import __version__

from benchmarks.common.cells import Cells, build_id
from benchmarks.common.progress import say
from benchmarks.enclosing.data import SETS
from benchmarks.enclosing.fits import Setting, apart
from benchmarks.enclosing.systems import SYSTEMS


class Results:
    """Cells of every system, which go by its own build."""

    def __init__(self, folder: Path, any_build: bool) -> None:
        self._cells = {
            how: Cells(
                folder / f"enclosing_{how.lower().replace(' ', '_')}.jsonl",
                build_id() if system.is_ours else __version__,
                any_build=any_build,
            )
            for how, system in SYSTEMS.items()
        }

    def _of(self, setting: Setting) -> Cells:
        return self._cells[setting.how]

    def __contains__(self, setting: Setting) -> bool:
        return setting.key in self._of(setting)

    def get(self, setting: Setting) -> dict[str, Any] | None:
        """None where there is none, or it was out of time."""
        if setting not in self:
            return None
        result = self._of(setting)[setting.key]
        return None if "limit" in result else result

    def limit(self, setting: Setting) -> int:
        """Seconds in which it did not end; 0 where it did."""
        return int(self._of(setting)[setting.key].get("limit", 0)) if setting in self else 0

    def __setitem__(self, setting: Setting, result: dict[str, Any]) -> None:
        self._of(setting)[setting.key] = result

    @property
    def limits(self) -> list[int]:
        """Of all fits that were out of time."""
        cells = (result for of in self._cells.values() for result in map(of.__getitem__, of))
        return sorted({int(result["limit"]) for result in cells if "limit" in result})

    @property
    def builds(self) -> str:
        """Cells by the build that made them, of the systems with cells of another than this."""
        return "; ".join(
            f"{how} {', '.join(f'{n} of {build}' for build, n in cells.builds.items())}"
            for how, cells in self._cells.items()
            if set(cells.builds) - {cells.build}
        )

    def as_list(self) -> list[dict[str, Any]]:
        return [
            {"setting": key, "result": cells[key]}
            for cells in self._cells.values()
            for key in cells
        ]


def run(settings: Sequence[Setting], results: Results, limit: int) -> list[str]:
    """Fill in what is missing, or had less time. Where a larger epsilon was out of time, a smaller
    is not tried. What was left out, and why.
    """
    absent = {s.set: why for s in settings if (why := SETS[s.set].missing)}
    settings = [s for s in settings if s.set not in absent]
    missing = [s for s in settings if s not in results or 0 < results.limit(s) < limit]
    for n, setting in enumerate(missing, start=1):
        if any(results.limit(other) >= limit for other in settings if is_easier(other, setting)):
            results[setting] = {"limit": limit}
            continue
        result = apart(setting, limit)
        if result is None:
            continue
        results[setting] = result
        told = "out of time"
        if "limit" not in result:
            told = f"{result['accuracy']:.2f} %, {result['seconds']:.2f} s"
        say(f"{n}/{len(missing)}: {' '.join(map(str, setting.key))}: {told}")
    return [f"{name}: {why}" for name, why in absent.items()]


def is_easier(other: Setting, setting: Setting) -> bool:
    return replace(other, epsilon=setting.epsilon) == setting and other.epsilon > setting.epsilon
