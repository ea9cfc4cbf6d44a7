"""The edits of a C file: no tree, but tokens between which the house writes spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mutants.mutant import MISTAKEN, Edit, dropped, real, swapped, whole

TOKEN = re.compile(
    r"""(?P<no>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      |(?P<real>(?<![\w.])(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?[fF]?|(?<![\w.])\d+[eE][-+]?\d+)
      |(?P<whole>(?<![\w.])\d\w*)
      |(?P<op>(?<=\s)(?:<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^<>])(?=\s))""",
    re.VERBOSE | re.DOTALL,
)
# Whole directives; of a macro only its name and parameters, for its body is code.
DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]*(?!define\b)(?:\\\n|[^\n])*|^[ \t]*#[ \t]*define \w+(\([^)]*\))?", re.M
)
DECLARATION = re.compile(
    r"^.*(?:\btypedef\b|\b_?[sS]tatic_assert\b|__attribute__|\bextern\b|^\s*case\b).*$"
    r"|^\s*(?:(?:static|const|unsigned)\s+)*[A-Za-z_]\w*\s+\*?\w+\[[^]]*\].*$",
    re.M,
)
IF = re.compile(r"\bif \(")
ALONE = re.compile(r"^[ \t]*(?P<it>[^\s;{}#][^;{}\n]*;)[ \t]*\\?$", re.M)
CALL = re.compile(r"(?!return\b|else\b|if\b|for\b|while\b)\w+\(.*\);$|[\w.>\[\]-]+(?:\+\+|--);$")
ASSIGNMENT = re.compile(
    r"(?!\w+ \*?\w+ ?[=\[(]|const |return\b)[\w.\[\]>()*+%/ -]+? ?(?:[-+*/|&^]|<<|>>)?=[^=]"
)


def edits(text: str) -> Iterator[Edit]:
    # The same length, without what is no code.
    code = TOKEN.sub(lambda found: re.sub(r"\S", " ", found[0]) if found["no"] else found[0], text)
    code = DIRECTIVE.sub(lambda found: re.sub(r"[^\s\\]", " ", found[0]), code)
    plain = DECLARATION.sub(lambda found: re.sub(r"[^\s\\]", " ", found[0]), code)
    for found in TOKEN.finditer(plain):
        if found["op"] and found["op"] in MISTAKEN:
            yield swapped(*found.span(), found["op"])
        elif found["whole"]:
            yield whole(found.start(), found["whole"])
        elif found["real"]:
            yield real(found.start(), found["real"])
    for found in IF.finditer(plain):
        end = closing(plain, found.end() - 1)
        start = found.end()
        yield Edit(start, end, f"!({text[start:end]})", "negated")
    for found in ALONE.finditer(plain):
        if CALL.match(found["it"]) or ASSIGNMENT.match(found["it"]):
            yield dropped(*found.span("it"), ";")


def closing(code: str, at: int) -> int:
    """The parenthesis that closes the one at this place."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] == "(") - (code[i] == ")")
        if depth == 0:
            return i
    return len(code)
