"""The edits of a Cython file, by Cython's own parser: it says where each operator is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pyx_to_c.parsing import parse, walk

from mutants.mutant import MISTAKEN, Edit, dropped, real, swapped, truth, whole

LEFT_OUT = re.compile(
    "RaiseStat|AssertStat|CEnumDef|CDefExtern|FromCImport|CImport|JoinedStr|FormattedValue"
    "|.*Type(Node)?$|FromImport|Import"
)
ATTRIBUTES_LEFT_OUT = {"base_type", "dimension", "exception_value", "decorators", "annotation"}
ATTRIBUTES_LEFT_OUT |= {"return_type_annotation", "axes"}
DROPPABLE = {"InPlaceAssignmentNode", "RaiseStatNode", "ContinueStatNode"}
# `not`, the address of, and `+=`, which is to be dropped.
UNARY = {"NotNode", "AmpersandNode", "UnaryMinusNode", "UnaryPlusNode", "InPlaceAssignmentNode"}
TEXTS = {"UnicodeNode", "BytesNode", "StringNode", "JoinedStrNode"}
BEGINNINGS = {"__init__", "__cinit__"}  # an attribute that is missing says nothing
QUOTED_OR_COMMENT = re.compile(r"'''.*?'''|\"\"\".*?\"\"\"|'[^'\n]*'|\"[^\"\n]*\"|#[^\n]*", re.S)


def edits(path: Path) -> Iterator[Edit]:
    source = Source(path.read_text(encoding="utf-8"))
    for statement in parse(path):
        yield from source.below(statement, "")


class Source:
    def __init__(self, text: str) -> None:
        self.text = text
        # The same length, without what may hold brackets and colons that are none.
        self.code = QUOTED_OR_COMMENT.sub(lambda found: re.sub(r"\S", "_", found[0]), text)
        self.begins = [0]
        for line in text.splitlines(keepends=True):
            self.begins.append(self.begins[-1] + len(line))

    def offset(self, node) -> int:
        _, line, column = node.pos
        return self.begins[line - 1] + column

    def below(self, node, function: str) -> Iterator[Edit]:
        """The edits of a node and of all below it, in the function of this name."""
        kind = type(node).__name__
        if is_droppable(node, function) and (span := self.statement(node)):
            yield dropped(*span, "pass")
        if LEFT_OUT.match(kind):
            return
        if kind in {"DefNode", "CFuncDefNode"}:
            function = name_of(node)
        yield from self.of(node, kind)
        for name in node.child_attrs or ():
            value = None if name in ATTRIBUTES_LEFT_OUT else getattr(node, name)
            for child in value if isinstance(value, (list, tuple)) else [value]:
                if hasattr(child, "child_attrs"):
                    yield from self.below(child, function)

    def of(self, node, kind: str) -> Iterator[Edit]:
        """The edits of this node alone; none where the text is not what the tree says."""
        start = self.offset(node)
        if kind == "IfClauseNode" and self.code[:start].rstrip().endswith("if"):
            end = self.end_of(start, ":")
            yield Edit(start, end, f"not ({self.text[start:end]})", "negated")
        elif kind in {"IntNode", "FloatNode", "BoolNode"}:
            number = {"IntNode": r"-?\w+", "FloatNode": r"[\w.]+(?:(?<=[eE])[-+]\d+)?"}
            found = re.compile(number.get(kind, r"\w+")).match(self.text, start)
            if found and kind == "BoolNode":
                yield truth(start, found[0])
            elif found:
                yield (whole if kind == "IntNode" else real)(start, found[0])
        elif isinstance(symbol := getattr(node, "operator", None), str):
            symbol = symbol.replace("_", " ")
            words = re.escape(symbol).replace(r"\ ", r"\s+")
            found = re.compile(words).match(self.text, start)
            if found and symbol in MISTAKEN and kind not in UNARY and not is_text(node):
                yield swapped(start, found.end(), symbol)

    def end_of(self, start: int, mark: str) -> int:
        """Where `mark` comes outside all brackets."""
        depth = 0
        for at in range(start, len(self.code)):
            if depth == 0 and self.code[at] == mark:
                return at
            depth += (self.code[at] in "([{") - (self.code[at] in ")]}")
        return len(self.code)

    def statement(self, node) -> tuple[int, int] | None:
        """From where to where a statement reaches that is alone on its lines."""
        first = min((below for below in walk(node) if below.pos), key=lambda n: n.pos[1:])
        line = self.begins[first.pos[1] - 1]
        start = line + len(self.code[line:]) - len(self.code[line:].lstrip())
        end = self.end_of(start, "\n")
        if set(self.text[start : self.offset(first)]) - set("(<_ "):
            return None  # something stands before it
        end = start + len(self.code[start:end].split("  #")[0].rstrip())
        return None if ";" in self.code[start:end] else (start, end)


def name_of(function) -> str:
    """The name of a `def` or a `cdef`, whose declarator may be that of a pointer."""
    while not hasattr(function, "name"):
        function = getattr(function, "declarator", None) or function.base
    return function.name


def is_droppable(node, function: str) -> bool:
    kind = type(node).__name__
    if kind == "ExprStatNode":
        return type(node.expr).__name__ in {"SimpleCallNode", "GeneralCallNode"}
    if kind == "SingleAssignmentNode" and function and function not in BEGINNINGS:
        return type(node.lhs).__name__ in {"AttributeNode", "IndexNode"}
    return kind in DROPPABLE


def is_text(node) -> bool:
    operands = (getattr(node, name, None) for name in ("operand1", "operand2"))
    return any(type(operand).__name__ in TEXTS for operand in operands) and hasattr(
        node, "operator"
    )
