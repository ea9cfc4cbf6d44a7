"""The edits of a Python file, by its syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from mutants.mutant import Edit, dropped, real, swapped, truth, whole

SYMBOLS: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
SYMBOLS |= {ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in", ast.Is: "is"}
SYMBOLS |= {ast.IsNot: "is not", ast.And: "and", ast.Or: "or", ast.Add: "+", ast.Sub: "-"}
SYMBOLS |= {ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.LShift: "<<"}
SYMBOLS |= {ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}

# Types, and what is said of an error; Python before 3.12 gives wrong columns inside f-strings.
LEFT_OUT = (ast.Import, ast.ImportFrom, ast.Raise, ast.Assert, ast.JoinedStr, ast.pattern)
FIELDS_LEFT_OUT = {"annotation", "returns", "decorator_list", "bases"}
BEGINNINGS = {"__init__", "__post_init__"}  # an attribute that is missing says nothing


def edits(text: str) -> Iterator[Edit]:
    yield from Source(text).below(ast.parse(text), "")


class Source:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.splitlines(keepends=True)
        self.begins = [0]
        for line in self.lines:
            self.begins.append(self.begins[-1] + len(line))

    def offset(self, line: int, column: int) -> int:
        """The place of a line and a column, which counts bytes of UTF-8."""
        before = self.lines[line - 1].encode()[:column].decode()
        return self.begins[line - 1] + len(before)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self.offset(node.lineno, node.col_offset)
        return start, self.offset(node.end_lineno, node.end_col_offset)

    def below(self, node: ast.AST, function: str) -> Iterator[Edit]:
        """The edits of a node and of all below it, in the function of this name."""
        if isinstance(node, ast.stmt) and is_droppable(node, function):
            yield dropped(*self.span(node), "pass")
        if isinstance(node, LEFT_OUT):
            return
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = node.name
        yield from self.of(node)
        for name, value in ast.iter_fields(node):
            if name in FIELDS_LEFT_OUT or (name == "keywords" and isinstance(node, ast.ClassDef)):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self.below(child, function)

    def of(self, node: ast.AST) -> Iterator[Edit]:
        """The edits of this node alone."""
        match node:
            case ast.BinOp() if not is_text(node):
                yield from self.between(node.left, node.right, node.op)
            case ast.Compare():
                operands = [node.left, *node.comparators]
                for left, right, op in zip(operands, operands[1:], node.ops, strict=False):
                    yield from self.between(left, right, op)
            case ast.BoolOp():
                for left, right in zip(node.values, node.values[1:], strict=False):
                    yield from self.between(left, right, node.op)
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                pass
            case ast.If() | ast.IfExp():
                start, end = self.span(node.test)
                yield Edit(start, end, f"(not ({self.text[start:end]}))", "negated")
            case ast.Constant(value=bool()):
                yield truth(self.span(node)[0], str(node.value))
            case ast.Constant(value=int() | float()):
                start, end = self.span(node)
                number = whole if isinstance(node.value, int) else real
                yield number(start, self.text[start:end])

    def between(self, left: ast.expr, right: ast.expr, op: ast.AST) -> Iterator[Edit]:
        """The operator that stands between two operands."""
        if symbol := SYMBOLS.get(type(op)):
            start, end = self.span(left)[1], self.span(right)[0]
            words = re.escape(symbol).replace(r"\ ", r"\s+")
            for found in re.compile(rf"#[^\n]*|({words})").finditer(self.text, start, end):
                if found[1]:
                    yield swapped(*found.span(), symbol)
                    return


def is_droppable(node: ast.stmt, function: str) -> bool:
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Delete() | ast.Raise():
            return True
        case ast.Continue():
            return True
        case ast.Assign(targets=targets) if function and function not in BEGINNINGS:
            return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets)
    return False


def is_text(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str() | bytes()) | ast.JoinedStr():
            return True
        case ast.BinOp():
            return is_text(node.left) or is_text(node.right)
    return False
