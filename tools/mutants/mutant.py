"""A mutant: one small mistake, made by replacing one piece of text in a source file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class DoesNotApply(ValueError):
    """The text to be replaced is not in the file exactly once."""


@dataclass(frozen=True)
class Mutant:
    """`old` becomes `new` in `file`, a path from the root."""

    file: str
    old: str
    new: str
    breaks: str  # one line: what is wrong then
    equivalent: str = ""  # why no test can find it; "" if one must

    @property
    def name(self) -> str:
        return f"{self.file}: {self.breaks}"

    def applied(self, tree: Path) -> str:
        """The text of the file with the mistake in it."""
        text = (tree / self.file).read_text()
        if self.old == self.new or (found := text.count(self.old)) != 1:
            where = "changes nothing" if self.old == self.new else f"{found} times in the file"
            raise DoesNotApply(f"{self.name}\n  {self.old!r}: {where}")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Area:
    """A part of the sources: its mutants, and the tests that are run first."""

    name: str
    tests: tuple[str, ...]
    mutants: tuple[Mutant, ...]


def mutants_of(file: str, *entries: tuple[str, ...]) -> tuple[Mutant, ...]:
    """Entries ``(old, new, breaks)`` of one file; a fourth text says why it is equivalent."""
    return tuple(Mutant(file, *entry) for entry in entries)
