"""Parameters of a learner on the command line: named, parsed and explained by its class."""

from __future__ import annotations

import contextlib
import re
from dataclasses import fields
from typing import Any

# The parameters that have an option of their own.
OPTIONS = ("C", "gamma")
A_KIND = {"int": "an integer", "float": "a number", "bool": "true or false", "None": "none"}


def named(text: str) -> tuple[str, str]:
    """Name and value of NAME=VALUE; ValueError if it is something else."""
    name, equals, value = text.partition("=")
    if not name.isidentifier() or not equals:
        raise ValueError(f"{text}: give NAME=VALUE, such as max_vectors=100")
    return name, value


def spelled(name: str, value: object = None) -> str:
    """How a parameter is given on the command line; without a value, what it is called there."""
    if name in OPTIONS:
        return f"--{name}" if value is None else f"--{name} {value}"
    return name if value is None else f"--set {name}={value}"


def types_of(kind: type) -> dict[str, list[str]]:
    """The parameters of a class that a command line can set, and the types of each."""
    types = {
        field.name: [of.strip() for of in str(field.type).split("|")] for field in fields(kind)
    }
    return {name: of for name, of in types.items() if "Learner" not in of}


def parsed(kind: type, name: str, text: str) -> Any:
    """The value that `text` stands for, by the type of the class's field. Raises ValueError if the
    class has no such parameter, or none of its types such a value."""
    types = types_of(kind)
    if name not in types:
        raise ValueError(
            f"{spelled(name, text)}: {kind.__name__} has no such parameter; it has "
            f"{', '.join(sorted(types))}"
        )
    for of in ("None", "bool", "int", "float", "str"):
        if of in types[name]:
            with contextlib.suppress(ValueError):
                return _value(of, text)
    allowed = " or ".join(A_KIND[of] for of in types[name])
    raise ValueError(f"{spelled(name, text)}: {name} is {allowed}")


def _value(of: str, text: str) -> Any:
    """`text` as a value of this type; ValueError if it is none."""
    if of == "None" and text == "none":
        return None
    if of == "bool" and text in {"true", "false"}:
        return text == "true"
    if of == "str":
        return text
    if of in {"int", "float"}:
        return int(text) if of == "int" else float(text)
    raise ValueError(text)


def described(kind: type) -> str:
    """Each parameter of a class, with its default and what its documentation says of it."""
    told: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        told |= _of_docstring(base.__doc__ or "")
    lines = [f"{kind.__name__}: parameters of --set NAME=VALUE", ""]
    for field in fields(kind):
        if field.name in types_of(kind):
            lines.append(f"  {field.name}={field.default}")
            lines += [f"      {line}" for line in told.get(field.name, "").splitlines()]
    return "\n".join(lines)


def _of_docstring(text: str) -> dict[str, str]:
    """What the section "Parameters" says, by the name of the parameter."""
    section = re.search(r"Parameters\n *-+\n(.*?)(?:\n *\w+\n *-+\n|\Z)", text, re.DOTALL)
    told: dict[str, str] = {}
    names: list[str] = []
    for line in section[1].splitlines() if section else ():
        if re.match(r" {0,4}[A-Za-z_]\w*(, \w+)*( :.*)?$", line):
            head, _, types = line.strip().partition(" : ")
            names = head.split(", ")
            told |= dict.fromkeys(names, types)
        elif line.strip():
            for name in names:
                told[name] = f"{told[name]}\n{line.strip()}".lstrip("\n")
    return told
