"""C types, as text: ``const float *``, ``double[8]``."""

import re


def is_pointer(kind: str) -> bool:
    return kind.rstrip().endswith(("*", "]"))


def pointee(kind: str) -> str:
    """What a pointer or an array points to."""
    kind = kind.rstrip()
    return kind[: kind.index("[")].rstrip() if kind.endswith("]") else kind[:-1].rstrip()


def bare(kind: str) -> str:
    """A type without const and pointers."""
    return re.sub(r"\bconst\b|\*", "", kind).strip()


def declaration(kind: str, name: str) -> str:
    """``name`` declared as ``kind``"""
    array = re.match(r"(.*?)((?:\[.*\])+)$", kind)
    if array:
        return declaration(array[1].rstrip(), name) + array[2]
    text = re.sub(r"\s*\*", "*", kind)
    stars = len(text) - len(text.rstrip("*"))
    return f"{text.rstrip('*')} {'*' * stars}{name}"


def cast(kind: str) -> str:
    text = re.sub(r"\s*\*", "*", kind)
    stars = len(text) - len(text.rstrip("*"))
    return f"({text.rstrip('*')}{' ' if stars else ''}{'*' * stars})"


def is_index(kind: str) -> bool:
    """Whether a plain variable of this type is an index unless it may hold more."""
    return kind in ("int64_t", "const int64_t")
