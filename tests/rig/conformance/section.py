"""A line of the conformance report: result, how it was measured, and broken limits."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Section:
    """A line of the report."""

    name: str
    text: str
    broken: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    taken: str = "native"

    def __str__(self) -> str:
        lines = [f"{self.name:<10}{self.text}   ({self.taken})"]
        return "\n".join([*lines, *(f"{'':<10}LIMIT BROKEN: {what}" for what in self.broken)])


def as_json(sections: list[Section]) -> str:
    """All sections as one JSON line."""
    return json.dumps(
        {
            "broken": [f"{s.name}: {what}" for s in sections for what in s.broken],
            **{s.name: {"text": s.text, "taken": s.taken, **s.values} for s in sections},
        }
    )
