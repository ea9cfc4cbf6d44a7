"""Cython's own parser, on one file, and what its syntax nodes say in C."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from Cython.Compiler import Errors, Parsing
from Cython.Compiler.Main import CompilationOptions, Context
from Cython.Compiler.Options import default_options
from Cython.Compiler.Scanning import PyrexScanner, StringSourceDescriptor


class UnknownNode(Exception):
    """Something that has no translation; says where."""

    def __init__(self, node, what):
        source, line, _ = node.pos
        super().__init__(f"{source.get_description()}:{line}: {what}")


def parse(path: Path):
    """The statements of a .pyx or .pxd file."""
    options = CompilationOptions(default_options, language_level=3)
    context = Context.from_options(options)
    source = StringSourceDescriptor(str(path), path.read_text(encoding="utf-8"))
    Errors.init_thread()
    scanner = PyrexScanner(
        StringIO(path.read_text(encoding="utf-8")),
        source,
        source_encoding="UTF-8",
        scope=context.find_module("m", need_pxd=False),
        context=context,
        initial_pos=(source, 1, 0),
    )
    return statements(Parsing.p_module(scanner, path.suffix == ".pxd", path.stem).body)


def statements(node):
    """A block's statements, flat."""
    if node is None:
        return []
    if type(node).__name__ == "StatListNode":
        return [inner for s in node.stats for inner in statements(s)]
    return [node]


def children(node):
    """The nodes right below one, in the order of the text."""
    for name in node.child_attrs or ():
        below = getattr(node, name)
        if isinstance(below, (list, tuple)):
            yield from (n for n in below if hasattr(n, "child_attrs"))
        elif hasattr(below, "child_attrs"):
            yield below


def walk(node):
    """A node and all below it."""
    yield node
    for below in children(node):
        yield from walk(below)
