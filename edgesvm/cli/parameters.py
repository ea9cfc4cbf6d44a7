"""Parameters of a learner on the command line: named, parsed and explained by its class."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from edgesvm.cli.options import meant
from edgesvm.contract.registry import kind_of

A_KIND = {"int": "an integer", "float": "a number", "bool": "true or false", "None": "none"}


def named(text: str) -> tuple[str, str]:
    """Name and value of NAME=VALUE; ValueError if it is something else."""
    name, equals, value = text.partition("=")
    if not name.isidentifier() or not equals:
        raise ValueError(f"{text}: give NAME=VALUE, such as max_vectors=100")
    return name, value


SET: dict[str, Any] = {
    "help": "a parameter of the learner; repeatable",
    "unit": "NAME=VALUE",
    "check": named,
    "text": "=".join,
    "repeat": True,
}


def spelled(name: str, value: object) -> str:
    """How a parameter is given on the command line."""
    return f"--set {name}={value}"


def as_set(text: str) -> str:
    """What a learner says of its parameters, these as they are given on the command line."""
    return re.sub(r"(\w+)='?([\w.]+)'?", lambda found: spelled(found[1], found[2].lower()), text)


def types_of(kind: type) -> dict[str, list[str]]:
    """The parameters of a class that a command line can set, and the types of each."""
    types = {
        field.name: [of.strip() for of in str(field.type).split("|")] for field in fields(kind)
    }
    return {name: of for name, of in types.items() if "Learner" not in of}


def having(kinds: Mapping[str, str], takes: Callable[[Any], bool]) -> str:
    """Which of these learners, classes by name, take something, and how the first is chosen; empty
    if none does."""
    names = [name for name, of in kinds.items() if takes(kind_of(of))]
    return f"taken by {', '.join(names)}: --learner {names[0]}" if names else ""


def parsed(kind: type, name: str, text: str, kinds: Mapping[str, str]) -> Any:
    """The value that `text` stands for, by the class's field. Raises ValueError if the class has no
    such parameter or value, and says which of `kinds` have."""
    try:
        return _accepted(kind, name, text)
    except ValueError as error:
        own, instead = types_of(kind), ""
        if others := having(kinds, lambda other: _accepts(other, name, text)):
            instead = f"; {others} {spelled(name, text)}"
        elif name not in own:
            near = meant(name, own)
            instead = f"; did you mean {near}?" if near else f", but {', '.join(sorted(own))}"
        raise ValueError(f"{spelled(name, text)}: {error}{instead}") from None


def _accepts(kind: type, name: str, text: str) -> bool:
    with contextlib.suppress(ValueError):
        _accepted(kind, name, text)
        return True
    return False


def _accepted(kind: type, name: str, text: str) -> Any:
    types = types_of(kind)
    if name not in types:
        raise ValueError(f"{kind.__name__} has no {name}")
    check = kind.__dataclass_fields__[name].metadata.get("check")  # type: ignore[attr-defined]
    for of in ("None", "bool", "int", "float", "str"):
        if of in types[name]:
            with contextlib.suppress(ValueError):
                value = _value(of, text)
                break
    else:
        raise ValueError(f"{name} is {' or '.join(A_KIND[of] for of in types[name])}")
    try:
        return value if check is None else check(name, value)
    except ValueError as error:
        raise ValueError(str(error).partition(": ")[2]) from None


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
    lines = [f"{kind.__name__}: parameters, as --set NAME=VALUE", ""]
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
