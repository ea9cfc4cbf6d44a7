"""Snapshot format: header, parameters, labels, names, arena, CRC. FORMATS.md gives every byte.

Nothing in a snapshot is trusted: its length and CRC are checked first, then every count against the
number of bytes, before memory is allocated for it. No pickle, no code.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgesvm.budget import MemoryPlan
from edgesvm.contract.labels import MAX_TEXT, MOST_CLASSES, is_label
from edgesvm.errors import CorruptModelError, FormatVersionError
from edgesvm.kernels import RBF, Kernel, Linear, Polynomial

MAGIC = b"ESVMSNAP"
VERSION = 2  # 1 has no names; written where there are none, so that older releases read it
# magic, version, header bytes, n_features, file bytes, arena bytes, params bytes, labels bytes,
# names bytes, 12 reserved
HEADER = struct.Struct("<8sHHIQQIII12x")
RESERVED = {1: 16, 2: 12}  # bytes at the end of the header, by version
HEADER_BYTES = HEADER.size
CRC_BYTES = 4
MAX_SECTION = 1 << 16  # bytes of the parameters: a few names and numbers
MAX_DEPTH = 4  # learners nested in one another

NONE, BOOL, INT, FLOAT, STR, KERNEL, LEARNER, BY_LABEL = range(8)


@dataclass(frozen=True)
class Wrapped:
    """A learner as the parameter of another: class name and parameters, no state."""

    learner: str
    params: dict[str, Any]


@dataclass(frozen=True)
class Snapshot:
    """Contents of a snapshot whose bytes are valid; the model has not been checked yet."""

    learner: str  # class name
    params: dict[str, Any]
    n_features: int
    labels: tuple[Any, ...]  # in slot order
    closed: bool  # labels were given in advance
    arena: bytes | memoryview
    names: tuple[str, ...] = ()  # of the features, or none

    def check_size(self, plan: MemoryPlan) -> None:
        """Raise CorruptModelError unless the arena has the bytes that the parameters need."""
        if len(self.arena) not in plan.totals:
            raise CorruptModelError(
                f"the snapshot's arena has {len(self.arena)} bytes, its parameters need"
                f" {plan.total}"
            )


def pack(snapshot: Snapshot) -> bytes:
    """The bytes of a snapshot file.

    Raises
    ------
    TypeError
        A label or parameter has a type that the format does not support.
    """
    body = head(snapshot) + snapshot.arena
    return body + struct.pack("<I", zlib.crc32(body))


def head(snapshot: Snapshot) -> bytes:
    """Header, parameters, labels and names: everything before the arena. Raises as `pack`."""
    params = _pack_params(Wrapped(snapshot.learner, snapshot.params))
    labels = b"".join(_pack_value(y, label=True) for y in snapshot.labels)
    packed_labels = struct.pack("<B", snapshot.closed) + labels
    names = b"".join(_pack_value(name) for name in snapshot.names)
    arena_bytes = len(snapshot.arena)
    sections = params + packed_labels + names
    n_bytes = HEADER_BYTES + len(sections) + arena_bytes + CRC_BYTES
    header = HEADER.pack(
        MAGIC,
        2 if names else 1,
        HEADER_BYTES,
        snapshot.n_features,
        n_bytes,
        arena_bytes,
        len(params),
        len(packed_labels),
        len(names),
    )
    return header + sections


def max_labels_bytes(n: int) -> int:
    """Bytes of the labels section with n labels of the longest kind."""
    return 1 + n * (3 + MAX_TEXT)


def unpack(given: bytes | memoryview) -> Snapshot:
    """Read the bytes of a snapshot, whose arena is not copied.

    Raises
    ------
    CorruptModelError
        The bytes are not a snapshot, or are truncated, damaged or inconsistent.
    FormatVersionError
        This release does not read the snapshot's format version.
    """
    data = memoryview(given)
    _check_start(data)
    if len(data) < HEADER_BYTES + CRC_BYTES:
        raise CorruptModelError("this is not an edgesvm snapshot, or its start is damaged")
    (crc,) = struct.unpack_from("<I", data, len(data) - CRC_BYTES)
    if zlib.crc32(data[:-CRC_BYTES]) != crc:
        raise CorruptModelError("the snapshot is damaged or truncated (its CRC-32 does not match)")
    n_features, n_bytes, _, params_bytes, labels_bytes, names_bytes = _read_header(data)
    if n_bytes != len(data):
        raise CorruptModelError("the snapshot's lengths do not add up")
    begin = HEADER_BYTES + params_bytes
    claimed = _read_params(bytes(data[HEADER_BYTES:begin]))
    behind = begin + labels_bytes
    closed, labels = _read_labels(bytes(data[begin:behind]))
    names = _read_names(bytes(data[behind : behind + names_bytes]), n_features)
    arena = data[behind + names_bytes : -CRC_BYTES]
    return Snapshot(claimed.learner, claimed.params, n_features, labels, closed, arena, names)


def stated_lengths(header: bytes) -> tuple[int, int]:
    """Bytes of the file and of the arena, as a snapshot's header states them; the CRC is not
    checked. Raises as `unpack` does."""
    _check_start(header)
    if len(header) < HEADER_BYTES:
        raise CorruptModelError("this is not an edgesvm snapshot, or its start is damaged")
    _, n_bytes, arena_bytes, *_ = _read_header(header)
    return n_bytes, arena_bytes


def _check_start(data: bytes | memoryview) -> None:
    """Check the magic and refuse a newer version, whose other bytes this release does not know."""
    if data[: len(MAGIC)] != MAGIC:
        raise CorruptModelError("this is not an edgesvm snapshot, or its start is damaged")
    refuse_newer(data[len(MAGIC) : len(MAGIC) + 2], VERSION, "the snapshot")


def refuse_newer(version: bytes | memoryview, ours: int, what: str) -> None:
    """FormatVersionError if the two bytes of a format version are of a release after this one."""
    theirs = int.from_bytes(version, "little")
    if theirs > ours:
        raise FormatVersionError(
            f"{what} is newer than this release of edgesvm: it has format version {theirs};"
            f" this release reads version {ours}"
        )


def _read_header(data: bytes | memoryview) -> tuple[int, int, int, int, int, int]:
    """Features, and bytes of the file, the arena, the parameters, the labels and the names."""
    _, version, header_bytes, n_features, n_bytes, arena_bytes, *sections = HEADER.unpack_from(data)
    params_bytes, labels_bytes, names_bytes = sections
    if version not in RESERVED:
        raise FormatVersionError(
            f"snapshot format version {version}; this release reads version 1 to {VERSION}"
        )
    if header_bytes != HEADER_BYTES or any(data[HEADER_BYTES - RESERVED[version] : HEADER_BYTES]):
        raise CorruptModelError("the snapshot's header is invalid")
    if HEADER_BYTES + sum(sections) + arena_bytes + CRC_BYTES != n_bytes:
        raise CorruptModelError("the snapshot's lengths do not add up")
    if params_bytes > MAX_SECTION or labels_bytes > max_labels_bytes(MOST_CLASSES):
        raise CorruptModelError("the snapshot's parameters or labels are too long")
    if (version == 2) != (names_bytes > 0):
        raise CorruptModelError("the snapshot's names are missing")
    return n_features, n_bytes, arena_bytes, params_bytes, labels_bytes, names_bytes


def _pack_params(claimed: Wrapped) -> bytes:
    return _pack_value(claimed.learner) + b"".join(
        _pack_value(name) + _pack_value(value) for name, value in claimed.params.items()
    )


def _read_params(section: bytes, depth: int = 0) -> Wrapped:
    learner, *rest = list(_values(section, depth)) or [None]
    if (
        not isinstance(learner, str)
        or len(rest) % 2
        or not all(isinstance(name, str) for name in rest[::2])
    ):
        raise CorruptModelError("the snapshot's parameters are not pairs of name and value")
    return Wrapped(learner, dict(zip(rest[::2], rest[1::2], strict=True)))


def _read_labels(section: bytes) -> tuple[bool, tuple[Any, ...]]:
    labels = tuple(_values(section[1:]))
    allowed = all(isinstance(y, (bool, int, float, str)) and is_label(y) for y in labels)
    distinct = len(set(labels)) == len(labels) <= MOST_CLASSES if allowed else False
    if section[:1] not in (b"\0", b"\1") or not distinct:
        raise CorruptModelError(
            f"the snapshot's labels are not 0 to {MOST_CLASSES} different labels"
        )
    closed = section[0] == 1
    if closed and len(labels) < 2:
        raise CorruptModelError("the snapshot fixes its labels in advance but has fewer than two")
    return closed, labels


def _read_names(section: bytes, n_features: int) -> tuple[str, ...]:
    names = tuple(_values(section))
    if names and not (len(names) == n_features and all(isinstance(name, str) for name in names)):
        raise CorruptModelError("the snapshot's names are not one for each feature")
    return names


def _pack_value(value: Any, label: bool = False) -> bytes:  # noqa: PLR0911 (one per kind)
    if isinstance(value, np.generic):  # as in a grid search over np.logspace
        value = value.item()
    if value is None and not label:
        return struct.pack("<B", NONE)
    if isinstance(value, bool):
        return struct.pack("<BB", BOOL, value)
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return struct.pack("<Bq", INT, value)
    if isinstance(value, float):
        return struct.pack("<Bd", FLOAT, value)
    if isinstance(value, str) and len(encoded := value.encode()) <= MAX_TEXT:
        return struct.pack("<BH", STR, len(encoded)) + encoded
    if isinstance(value, Kernel) and not label:
        kind, gamma, coef0, degree = value.code
        return struct.pack("<BBHdd", KERNEL, kind, degree, gamma, coef0)
    if isinstance(value, Wrapped) and not label:
        section = _pack_params(value)
        return struct.pack("<BH", LEARNER, len(section)) + section
    if isinstance(value, dict) and not label:
        section = b"".join(_pack_value(y, True) + _pack_value(x) for y, x in value.items())
        return struct.pack("<BH", BY_LABEL, len(section)) + section
    what = "label" if label else "parameter"
    raise TypeError(f"cannot save the {what} {value!r}: use bool, int, float or str")


def _values(section: bytes, depth: int = 0) -> Iterator[Any]:
    """The values of a section, in order."""
    at = 0
    while at < len(section):
        value, at = _unpack_value(section, at, depth)
        yield value


def _unpack_value(  # noqa: PLR0911 (one per kind)
    section: bytes, at: int, depth: int
) -> tuple[Any, int]:
    kind = section[at]
    try:
        if kind == NONE:
            return None, at + 1
        if kind == BOOL:
            return {0: False, 1: True}[section[at + 1]], at + 2
        if kind == INT:
            return struct.unpack_from("<q", section, at + 1)[0], at + 9
        if kind == FLOAT:
            return struct.unpack_from("<d", section, at + 1)[0], at + 9
        if kind == STR:
            (length,) = struct.unpack_from("<H", section, at + 1)
            text = section[at + 3 : at + 3 + length]
            if len(text) == length:
                return text.decode(), at + 3 + length
        if kind == LEARNER and depth < MAX_DEPTH:
            (length,) = struct.unpack_from("<H", section, at + 1)
            if at + 3 + length <= len(section):
                inner = _read_params(section[at + 3 : at + 3 + length], depth + 1)
                return inner, at + 3 + length
        if kind == BY_LABEL and depth <= MAX_DEPTH:
            (length,) = struct.unpack_from("<H", section, at + 1)
            if at + 3 + length <= len(section):
                return _by_label(section[at + 3 : at + 3 + length]), at + 3 + length
        if kind == KERNEL:
            return _kernel(*struct.unpack_from("<BHdd", section, at + 1)), at + 20
    except (struct.error, LookupError, ValueError) as error:
        raise CorruptModelError("the snapshot has a value that cannot be read") from error
    raise CorruptModelError(f"the snapshot has a value of unknown kind {kind}")


def _by_label(section: bytes) -> dict[Any, float]:
    values = list(_values(section, MAX_DEPTH + 1))
    labels, numbers = values[::2], values[1::2]
    if not (
        len(labels) == len(numbers) == len(set(labels))
        and all(isinstance(y, (bool, int, float, str)) and is_label(y) for y in labels)
        and all(isinstance(number, (int, float)) for number in numbers)
    ):
        raise ValueError("not a number for each of some labels")
    return dict(zip(labels, numbers, strict=True))


def _kernel(kind: int, degree: int, gamma: float, coef0: float) -> Kernel:
    if not (math.isfinite(gamma) and math.isfinite(coef0)):
        raise ValueError("not finite")
    kinds: list[Callable[[], Kernel]] = [
        Linear,
        lambda: RBF(gamma),
        lambda: Polynomial(degree, gamma, coef0),
    ]
    return kinds[kind]()
