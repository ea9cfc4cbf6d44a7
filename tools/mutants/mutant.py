"""A mutant: one small mistake, made by replacing one piece of text in a source file."""

from __future__ import annotations

from dataclasses import dataclass

# What each operator is mistaken for. In Cython and C they are the same but for the words.
MISTAKEN = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
MISTAKEN |= {"in": "not in", "not in": "in", "is": "is not", "is not": "is"}
MISTAKEN |= {"and": "or", "or": "and", "&&": "||", "||": "&&"}
MISTAKEN |= {"+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "%": "//"}
MISTAKEN |= {"<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|"}


@dataclass(frozen=True)
class Edit:
    """The text from `start` to `end` becomes `new`; `operator` says it in a few words."""

    start: int
    end: int
    new: str
    operator: str


@dataclass(frozen=True)
class Mutant:
    """An edit of `file`, a path from the root; its name says where and what."""

    name: str
    file: str
    edit: Edit

    def applied(self, text: str) -> str:
        return text[: self.edit.start] + self.edit.new + text[self.edit.end :]

    def difference(self, text: str) -> str:
        """The first line that changes, as it was and as it is."""
        before, after = text.splitlines(), self.applied(text).splitlines()
        pairs = zip(before, after, strict=False)
        old, new = next((a, b) for a, b in pairs if a != b)
        return f"  - {old.strip()}\n  + {new.strip()}"


def swapped(start: int, end: int, old: str) -> Edit:
    """One operator for another."""
    return Edit(start, end, MISTAKEN[old], f"{old} to {MISTAKEN[old]}")


def whole(start: int, text: str) -> Edit:
    """A whole number, off by one."""
    return Edit(start, start + len(text), f"({text} + 1)", f"{text} + 1")


def real(start: int, text: str) -> Edit:
    """A number with a point, doubled; 1 instead of 0."""
    if float(text.rstrip("fF")) == 0:
        return Edit(start, start + len(text), "1.0", f"{text} to 1.0")
    return Edit(start, start + len(text), f"(2 * {text})", f"2 * {text}")


def truth(start: int, text: str) -> Edit:
    other = {"True": "False", "False": "True"}[text]
    return Edit(start, start + len(text), other, f"{text} to {other}")


def dropped(start: int, end: int, nothing: str) -> Edit:
    return Edit(start, end, nothing, "dropped")


def name_of(file: str, text: str, edit: Edit) -> str:
    """``file:line:column operator``, counted from 1."""
    line = text.count("\n", 0, edit.start) + 1
    column = edit.start - text.rfind("\n", 0, edit.start)
    return f"{file}:{line}:{column} {edit.operator}"
