"""The bytes of a binary link: frame types, flags and bodies, and how frames are encoded.

A frame is ``COBS(header 8 B | body | CRC-32 of both) 0x00``, little-endian throughout; FORMATS.md
describes every byte. This plain Python is for nodes, control frames and tests. The compiled
``_frames`` decodes frames and ``_outbox`` encodes predictions; their constants must match these.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeVar

PROTOCOL_VERSION = 1

# Frame types.
HELLO = 0x01
SCHEMA = 0x02
SCALES = 0x03
SAMPLE_F32 = 0x10
SAMPLE_I16 = 0x11
LABEL = 0x12
PREDICTION = 0x20
HEARTBEAT = 0x30
COMMAND = 0x40
ACK = 0x41
SNAPSHOT_ASK = 0x50
SNAPSHOT_PAGE = 0x51
SNAPSHOT_STATUS = 0x52
LOG = 0x7E

# Header flags, the low nibble beside the version.
HAS_LABEL = 1
HAS_TIME = 2
WANTS_ACK = 4
TAGGED = 8

# Flags of a PREDICTION body.
ABSTAIN = 1
TRAINED = 2
REJECTED = 4
ALARM = 8

# SCHEMA fields.
DTYPE_F32 = 1
DTYPE_I16 = 2
LABEL_NONE = 0
LABEL_INLINE = 1
LABEL_LATE = 2

# Commands. SET_RATE takes a u32, microseconds between samples; PING's argument is returned.
PING = 1
SET_RATE = 2
START = 3
STOP = 4
RESET_COUNTERS = 5
OPCODES = (PING, SET_RATE, START, STOP, RESET_COUNTERS)

# Status of an ACK.
DONE = 0
UNKNOWN_OPCODE = 1
BAD_ARGUMENT = 2
REFUSED = 3

MAX_ARGUMENT = 16

# What a learner says of a snapshot that it is given.
GO_ON = 0
RESTORED = 1
NO_SNAPSHOT = 2
TAKES_NONE = 3

TAG_BYTES = 8  # of a tagged frame
MOST_TAG_BYTES = 12  # of HELLO and SCHEMA, which have 4 bytes more

MIN_RAW = 12  # header and CRC, no body
MAX_RAW = 254  # the longest frame that COBS lengthens by exactly one byte
PAGE_HEAD = 16  # of a page's body, before the snapshot's bytes
MAX_PAGE = MAX_RAW - MIN_RAW - PAGE_HEAD

_HEADER = struct.Struct("<BBHI")
_TIME = struct.Struct("<I")
_LABEL = struct.Struct("<hH")
_PAGE = struct.Struct("<HH")
_SCALE = struct.Struct("<ff")

Body = TypeVar("Body", bound="_Body")
CommandBody = TypeVar("CommandBody", bound="Command")


class BadBody(ValueError):
    """The bytes are not a body of this type."""


class Frame(NamedTuple):
    """A valid frame, with its header decoded."""

    kind: int
    flags: int
    schema_id: int
    sequence: int
    body: bytes
    version: int = PROTOCOL_VERSION


def max_encoded_length(n: int) -> int:
    """The most bytes that COBS turns `n` bytes into, without the delimiter: n + ceil(n / 254), and
    at least n + 1.
    """
    return n + max(1, -(-n // 254))


def sample_raw_length(
    n_features: int, *, has_label: bool = True, has_time: bool = False, dtype: int = DTYPE_F32
) -> int:
    """Bytes of a sample before COBS: 12 + 4 d (int16: 2 d), 4 each for label and time."""
    n_bytes = 2 if dtype == DTYPE_I16 else 4
    return MIN_RAW + n_bytes * n_features + 4 * (has_label + has_time)


def cobs_encode(raw: bytes) -> bytes:
    """COBS encoding of `raw` (Cheshire & Baker 1999), without the delimiter."""
    out = bytearray()
    blocks = raw.split(b"\0")
    for last, block in enumerate(blocks, start=1 - len(blocks)):
        full, rest = divmod(len(block), 254)
        # A final block of whole 254s needs no code byte after it; elsewhere that code byte stands
        # for the zero.
        tail_is_empty = last == 0 and rest == 0 and full > 0
        for i in range(full):
            out.append(255)
            out += block[254 * i : 254 * (i + 1)]
        if not tail_is_empty:
            out.append(rest + 1)
            out += block[254 * full :]
    return bytes(out)


def encode_frame(
    kind: int, body: bytes, *, schema_id: int = 0, sequence: int = 0, flags: int = 0
) -> bytes:
    """Encode one frame for the wire, including the final 0x00.

    Parameters
    ----------
    kind : int
        Frame type, 0 to 255.
    body : bytes
    schema_id : int
        0 to 65535; 0 before the handshake.
    sequence : int
        Taken modulo 2**32, so a counter need not wrap.
    flags : int
        0 to 15: the low nibble of the second header byte.

    Raises
    ------
    ValueError
        A field is out of range.
    """
    raw = pack_header(kind, flags, schema_id, sequence) + body
    return cobs_encode(raw + zlib.crc32(raw).to_bytes(4, "little")) + b"\0"


def pack_header(kind: int, flags: int, schema_id: int, sequence: int) -> bytes:
    """The 8 bytes of a frame's header; parameters and errors as of `encode_frame`."""
    if not (0 <= kind <= 0xFF and 0 <= flags <= 0xF and 0 <= schema_id <= 0xFFFF):
        raise ValueError(
            f"frame type {kind} must be 0 to 255, flags {flags} 0 to 15, "
            f"schema id {schema_id} 0 to 65535"
        )
    return _HEADER.pack(kind, PROTOCOL_VERSION << 4 | flags, schema_id, sequence & 0xFFFFFFFF)


def encode_sample(
    schema_id: int,
    sequence: int,
    x: Iterable[float],
    *,
    label: int | None = None,
    weight: float = 1.0,
    time_us: int | None = None,
) -> bytes:
    """Encode one float32 sample for the wire.

    Parameters
    ----------
    schema_id, sequence : int
    x : iterable of float
        The d features, sent as float32.
    label : int or None
        Class index, -32768 to 32767; None sends no label.
    weight : float
        0 to 255.996, sent in steps of 1/256, and only with a label.
    time_us : int or None
        Device clock in microseconds, modulo 2**32; None sends no time.

    Raises
    ------
    ValueError
        Label or weight is out of range, or a feature is too large for float32.
    """
    head, flags = _sample_head(label, weight, time_us)
    values = tuple(x)
    try:
        body = head + struct.pack(f"<{len(values)}f", *values)
    except OverflowError as error:
        raise ValueError("a feature is too large for float32") from error
    return encode_frame(SAMPLE_F32, body, schema_id=schema_id, sequence=sequence, flags=flags)


def encode_sample_i16(
    schema_id: int,
    sequence: int,
    x: Iterable[int],
    *,
    label: int | None = None,
    weight: float = 1.0,
    time_us: int | None = None,
) -> bytes:
    """Encode one int16 sample for the wire; the host computes ``scale * x + offset``.

    The parameters are those of `encode_sample`, except

    x : iterable of int
        The d raw values, -32768 to 32767.

    Raises
    ------
    ValueError
        Label, weight or a value is out of range.
    """
    head, flags = _sample_head(label, weight, time_us)
    values = tuple(int(value) for value in x)
    body = head + _pack(struct.Struct(f"<{len(values)}h"), values, "int16 features")
    return encode_frame(SAMPLE_I16, body, schema_id=schema_id, sequence=sequence, flags=flags)


def _sample_head(label: int | None, weight: float, time_us: int | None) -> tuple[bytes, int]:
    """The bytes before the features, and the flags that announce them."""
    flags = 0
    head = b""
    if time_us is not None:
        flags |= HAS_TIME
        head += _TIME.pack(time_us & 0xFFFFFFFF)
    if label is not None:
        flags |= HAS_LABEL
        head += _pack(
            _LABEL, (label, round(weight * 256)), "label (int16) and weight (0 to 255.996)"
        )
    return head, flags


def scale_table(
    scales: Sequence[float], offsets: Sequence[float], *, max_raw: int = MAX_RAW
) -> tuple[int, list[bytes]]:
    """Encode the scale table of int16 samples for the wire.

    Parameters
    ----------
    scales, offsets : sequence of float
        Scale and offset of each feature, sent as float32; must be finite.
    max_raw : int
        Longest raw frame in bytes, which limits the size of a page.

    Returns
    -------
    crc : int
        CRC-32 of (scale, offset) of every feature, for `Schema.scale_crc`.
    pages : list of bytes
        Bodies of the SCALES frames that follow the SCHEMA and have its id in their headers.

    Raises
    ------
    ValueError
        The lengths differ, or a value is too large for float32.
    """
    if len(scales) != len(offsets) or not len(scales):
        raise ValueError(
            f"{len(scales)} scales and {len(offsets)} offsets were given; "
            "give one of each per feature"
        )
    try:
        pairs = [_SCALE.pack(*pair) for pair in zip(scales, offsets, strict=True)]
    except OverflowError as error:
        raise ValueError("a scale or an offset is too large for float32") from error
    n = (max_raw - MIN_RAW - _PAGE.size) // _SCALE.size
    if n < 1:
        raise ValueError(f"max_raw={max_raw} is too small for a page of the scale table")
    chunks = [b"".join(pairs[i : i + n]) for i in range(0, len(pairs), n)]
    pages = [_PAGE.pack(k, len(chunks)) + chunk for k, chunk in enumerate(chunks)]
    return zlib.crc32(b"".join(pairs)), pages


def _pack(layout: struct.Struct, values: tuple[Any, ...], what: str) -> bytes:
    try:
        return layout.pack(*values)
    except struct.error as error:
        raise ValueError(f"{what} {values} is out of range: {error}") from error


class _Body:
    """A body of fixed length; its fields are those of the dataclass, in order."""

    _layout: ClassVar[struct.Struct]

    def pack(self) -> bytes:
        """The body's bytes; ValueError if a field is out of range."""
        values = astuple(self)  # type: ignore[call-overload]
        return _pack(self._layout, values, type(self).__name__)

    @classmethod
    def unpack(cls: type[Body], body: bytes) -> Body:
        """Decode `body`; BadBody, a ValueError, if it is not of this kind."""
        return cls._built(cls._fields(body))

    @classmethod
    def _fields(cls, body: bytes) -> tuple[Any, ...]:
        if len(body) != cls._layout.size:
            raise BadBody(f"{cls.__name__} body has {len(body)} bytes; {cls._layout.size} expected")
        return cls._layout.unpack(body)

    @classmethod
    def _built(cls: type[Body], fields: tuple[Any, ...]) -> Body:
        try:
            return cls(*fields)
        except ValueError as error:
            raise BadBody(str(error)) from error


@dataclass(frozen=True)
class Hello(_Body):
    """Host to device: asks for the SCHEMA. 12 bytes."""

    nonce: int  # u32, not 0, which marks an unsolicited SCHEMA
    version_min: int = PROTOCOL_VERSION
    version_max: int = PROTOCOL_VERSION
    max_raw: int = MAX_RAW  # longest raw frame the host accepts, bytes
    host_ms: int = 0

    _layout: ClassVar[struct.Struct] = struct.Struct("<IBBHI")

    def __post_init__(self) -> None:
        if self.version_min > self.version_max:
            raise ValueError(
                f"Hello version_min={self.version_min} must not exceed "
                f"version_max={self.version_max}"
            )
        if self.max_raw < MIN_RAW:
            raise ValueError(f"Hello max_raw={self.max_raw} must be at least {MIN_RAW}")


@dataclass(frozen=True)
class Schema(_Body):
    """Device to host: describes the samples. 26 bytes."""

    nonce: int  # that of the HELLO answered; 0 if unsolicited
    boot_id: int  # a different number at each boot
    n_features: int
    dtype: int = DTYPE_F32
    label_mode: int = LABEL_INLINE
    n_classes: int = 0  # 0: open
    max_raw: int = MAX_RAW  # longest raw frame the device sends or accepts, bytes
    nominal_us: int = 0  # between samples, microseconds; 0: irregular
    scale_crc: int = 0  # CRC-32 of the scale table, int16 only

    _layout: ClassVar[struct.Struct] = struct.Struct("<IIHBBhHHII")

    def __post_init__(self) -> None:
        if self.n_features < 1:
            raise ValueError(f"Schema n_features={self.n_features} must be at least 1")
        if self.dtype not in (DTYPE_F32, DTYPE_I16):
            raise ValueError(f"Schema dtype={self.dtype} must be 1 (float32) or 2 (int16)")
        if self.label_mode not in (LABEL_NONE, LABEL_INLINE, LABEL_LATE):
            raise ValueError(
                f"Schema label_mode={self.label_mode} must be 0 (none), 1 (inline) or 2 (late)"
            )
        if self.n_classes < 0:
            raise ValueError(f"Schema n_classes={self.n_classes} must be at least 0")
        if self.max_raw < MIN_RAW:
            raise ValueError(f"Schema max_raw={self.max_raw} must be at least {MIN_RAW}")

    def pack(self) -> bytes:
        """The body's bytes; ValueError if a field is out of range."""
        values = astuple(self)
        return _pack(self._layout, (*values[:7], 0, *values[7:]), "Schema")

    @classmethod
    def unpack(cls, body: bytes) -> Schema:
        """Decode `body`; BadBody, a ValueError, if it is not of this kind."""
        *first, reserved, nominal_us, scale_crc = cls._fields(body)
        if reserved:
            raise BadBody(f"Schema reserved bytes are {reserved:#06x}; they must be 0")
        return cls._built((*first, nominal_us, scale_crc))

    @property
    def schema_id(self) -> int:
        """Id of its samples: low half of the CRC-32 of the body with nonce 0, or 1 if that is 0.

        The nonce is left out so that samples in flight stay valid across another handshake. The
        boot id is included so that samples of a restarted device are refused until its new SCHEMA
        opens a new epoch.
        """
        return zlib.crc32(replace(self, nonce=0).pack()) & 0xFFFF or 1


@dataclass(frozen=True)
class Prediction(_Body):
    """Host to device: the prediction for one sample. 12 bytes."""

    sequence: int  # of the sample
    label: int  # class index, int16
    flags: int  # ABSTAIN, TRAINED, REJECTED, ALARM
    score: float  # float32

    _layout: ClassVar[struct.Struct] = struct.Struct("<IhHf")

    def __post_init__(self) -> None:
        if self.flags & ~(ABSTAIN | TRAINED | REJECTED | ALARM):
            raise ValueError(f"Prediction flags={self.flags:#x} must be 0 to 15")


@dataclass(frozen=True)
class Heartbeat(_Body):
    """In both directions, every second. 32 bytes."""

    boot_id: int
    up_ms: int
    samples_made: int = 0  # from the host: predictions made
    samples_dropped: int = 0  # before sending; from the host: predictions dropped
    frames_ok: int = 0  # received
    frames_bad: int = 0
    free_bytes: int = 0
    stack_high_water: int = 0

    _layout: ClassVar[struct.Struct] = struct.Struct("<7IHxx")


@dataclass(frozen=True)
class Label(_Body):
    """The label of an earlier sample. 8 bytes."""

    sequence: int  # of the sample
    label: int  # class index, int16
    weight: float = 1.0  # 0 to 255.996, sent in steps of 1/256

    _layout: ClassVar[struct.Struct] = struct.Struct("<IhH")

    def pack(self) -> bytes:
        """The body's bytes; ValueError if a field is out of range."""
        values = (self.sequence, self.label, round(self.weight * 256))
        return _pack(self._layout, values, "Label")

    @classmethod
    def unpack(cls, body: bytes) -> Label:
        """Decode `body`; BadBody, a ValueError, if it is not of this kind."""
        sequence, label, weight = cls._fields(body)
        return cls(sequence, label, weight / 256)


@dataclass(frozen=True)
class Command:
    """Host to device, answered by an `Ack` with the same id. 4 to 20 bytes.

    A device that receives the id of the last command again repeats the answer, not the command.
    """

    command_id: int  # u16
    opcode: int  # one of OPCODES; any other is answered with UNKNOWN_OPCODE
    status: int = 0  # 0 in a command
    argument: bytes = b""  # at most 16 bytes

    _layout: ClassVar[struct.Struct] = struct.Struct("<HBB")

    def __post_init__(self) -> None:
        if len(self.argument) > MAX_ARGUMENT:
            raise ValueError(
                f"{type(self).__name__} argument has {len(self.argument)} bytes; "
                f"it must have at most {MAX_ARGUMENT}"
            )

    def pack(self) -> bytes:
        """The body's bytes; ValueError if a field is out of range."""
        values = (self.command_id, self.opcode, self.status)
        return _pack(self._layout, values, type(self).__name__) + self.argument

    @classmethod
    def unpack(cls: type[CommandBody], body: bytes) -> CommandBody:
        """Decode `body`; BadBody, a ValueError, if it is not of this kind."""
        n = cls._layout.size
        if not n <= len(body) <= n + MAX_ARGUMENT:
            raise BadBody(
                f"{cls.__name__} body has {len(body)} bytes; {n} to {n + MAX_ARGUMENT} expected"
            )
        command_id, opcode, status = cls._layout.unpack(body[:n])
        return cls(command_id, opcode, status, bytes(body[n:]))


@dataclass(frozen=True)
class Ack(Command):
    """Device to host: whether the command with this id was carried out, or why not (`status`)."""


@dataclass(frozen=True)
class ScalePage:
    """Device to host: part of the scale table of int16 samples. 12 bytes or more."""

    page: int  # from 0
    pages: int
    pairs: bytes  # float32 (scale, offset) of each feature of the page

    @classmethod
    def unpack(cls, body: bytes) -> ScalePage:
        """Decode `body`; BadBody, a ValueError, if it is not of this kind."""
        pairs = bytes(body[_PAGE.size :])
        if len(body) <= _PAGE.size or len(pairs) % _SCALE.size:
            raise BadBody(f"ScalePage body has {len(body)} bytes; 4 + 8 n expected")
        page, pages = _PAGE.unpack(body[: _PAGE.size])
        if page >= pages:
            raise BadBody(f"ScalePage page={page} must be less than pages={pages}")
        return cls(page, pages, pairs)


@dataclass(frozen=True)
class SnapshotAsk(_Body):
    """To a learner: send these bytes of your snapshot. 12 bytes."""

    request: int  # u16, not 0
    at: int  # first byte
    n: int  # bytes; beyond the end there are none

    _layout: ClassVar[struct.Struct] = struct.Struct("<HHII")

    def __post_init__(self) -> None:
        if not self.request:
            raise ValueError("SnapshotAsk request must not be 0")

    def pack(self) -> bytes:
        """The body's bytes; ValueError if a field is out of range."""
        return _pack(self._layout, (self.request, 0, self.at, self.n), "SnapshotAsk")

    @classmethod
    def unpack(cls, body: bytes) -> SnapshotAsk:
        """Decode `body`; BadBody, a ValueError, if it is not of this kind."""
        request, reserved, at, n = cls._fields(body)
        _check_reserved(reserved, "SnapshotAsk")
        return cls._built((request, at, n))


@dataclass(frozen=True)
class SnapshotPage:
    """From a learner or to it: some bytes of a snapshot. 17 bytes or more."""

    request: int  # u16: what it answers, or of which transfer it is; 0: unasked
    crc: int  # the snapshot's last four bytes
    total: int  # bytes of the snapshot
    at: int  # of them, the first in this page
    part: bytes  # at least one

    _layout: ClassVar[struct.Struct] = struct.Struct("<HHIII")

    def __post_init__(self) -> None:
        if not self.part or self.at + len(self.part) > self.total:
            raise ValueError(
                f"SnapshotPage bytes {self.at} to {self.at + len(self.part)} must be some of "
                f"total={self.total}"
            )

    def pack(self) -> bytes:
        """The body's bytes; ValueError if a field is out of range."""
        fields = (self.request, 0, self.crc, self.total, self.at)
        return _pack(self._layout, fields, "SnapshotPage") + self.part

    @classmethod
    def unpack(cls, body: bytes) -> SnapshotPage:
        """Decode `body`; BadBody, a ValueError, if it is not of this kind."""
        if len(body) <= PAGE_HEAD:
            raise BadBody(f"SnapshotPage body has {len(body)} bytes; more than 16 expected")
        request, reserved, crc, total, at = cls._layout.unpack(body[:PAGE_HEAD])
        _check_reserved(reserved, "SnapshotPage")
        try:
            return cls(request, crc, total, at, bytes(body[PAGE_HEAD:]))
        except ValueError as error:
            raise BadBody(str(error)) from error


@dataclass(frozen=True)
class SnapshotStatus(_Body):
    """From a learner that is given a snapshot: how far it is. 8 bytes."""

    request: int  # u16, of the transfer
    status: int  # GO_ON, RESTORED, NO_SNAPSHOT, TAKES_NONE
    next: int  # the byte that the next page must begin with

    _layout: ClassVar[struct.Struct] = struct.Struct("<HBBI")

    def __post_init__(self) -> None:
        if self.status not in (GO_ON, RESTORED, NO_SNAPSHOT, TAKES_NONE):
            raise ValueError(f"SnapshotStatus status={self.status} must be 0 to 3")

    def pack(self) -> bytes:
        """The body's bytes; ValueError if a field is out of range."""
        return _pack(self._layout, (self.request, self.status, 0, self.next), "SnapshotStatus")

    @classmethod
    def unpack(cls, body: bytes) -> SnapshotStatus:
        """Decode `body`; BadBody, a ValueError, if it is not of this kind."""
        request, status, reserved, following = cls._fields(body)
        _check_reserved(reserved, "SnapshotStatus")
        return cls._built((request, status, following))


def _check_reserved(value: int, what: str) -> None:
    if value:
        raise BadBody(f"{what} reserved bytes are {value:#06x}; they must be 0")
