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


class Stored(str):
    """The type of an index as it is read: C holds it in 64 bits."""

    __slots__ = ()


STORED = Stored("esvm_index")
SMALL = ("int8_t", "int16_t", "char", "signed char")
SIGNED = (*SMALL, "int32_t", "esvm_index", "int", "int64_t")
UNSIGNED = ("uint8_t", "uint16_t", "uint32_t", "uint64_t", "size_t", "unsigned")
REAL = ("float", "esvm_real")


# What a type takes without a compiler's warning, besides itself.
INTS = (*SMALL, "int32_t", "esvm_index", "int")
TAKEN = {
    "double": (*INTS, "uint8_t", "uint16_t", "uint32_t", "unsigned"),
    **dict.fromkeys(("int", "int32_t", "esvm_index"), INTS),
    "int64_t": SIGNED,
    **dict.fromkeys(("uint64_t", "size_t"), UNSIGNED),
}
KNOWN = (*SIGNED, *UNSIGNED, *REAL, "double")


def needs_cast(given: str, wanted: str) -> bool:
    """Whether compilers warn of a value of one type where another is wanted."""
    given = "int64_t" if isinstance(given, Stored) else given
    if given == wanted or given not in KNOWN or wanted not in KNOWN:
        return False
    return given not in TAKEN.get(wanted, ())
