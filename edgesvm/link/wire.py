"""The bytes of a binary link: types and flags of frames, and how frames are encoded.

A frame is ``COBS(header 8 B | body | CRC-32 of both) 0x00``, little-endian throughout; FORMATS.md
describes every byte. This plain Python is for nodes, control frames and tests. The compiled
``_frames`` decodes frames and ``_ring`` encodes predictions; their constants must match these. The
bodies of control frames are imported on first use, since a text link does not need them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from edgesvm.catalogue import on_first_use

if TYPE_CHECKING:
    from edgesvm.link.control import (  # noqa: F401  (for those who import it from here)
        Estimate,
        Heartbeat,
        Hello,
        Label,
        Prediction,
        Schema,
        Target,
    )

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
LOG = 0x7E

# Header flags, the low nibble beside the version.
HAS_LABEL = 1
HAS_TIME = 2
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
TARGETS = 4  # added to one of these: labels are float64

TAG_BYTES = 8  # of a tagged frame

MIN_RAW = 12  # header and CRC, no body
MAX_RAW = 254  # the longest frame that COBS lengthens by exactly one byte

_HEADER = struct.Struct("<BBHI")
_TIME = struct.Struct("<I")
_LABEL = struct.Struct("<hH")
_TARGET = struct.Struct("<dHxx")
PAGE = struct.Struct("<HH")
PAIR = struct.Struct("<ff")


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
    n_features: int,
    *,
    has_label: bool = True,
    has_time: bool = False,
    dtype: int = DTYPE_F32,
    targets: bool = False,
) -> int:
    """Bytes of a sample before COBS: 12 + 4 d (int16: 2 d), 4 each for label and time; a target
    has 12.
    """
    n_bytes = 2 if dtype == DTYPE_I16 else 4
    label_bytes = 12 if targets else 4
    return MIN_RAW + n_bytes * n_features + label_bytes * has_label + 4 * has_time


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
    """Encode one frame for the wire, including the final 0x00; ValueError for a type beyond 255, a
    schema id beyond 65535 (0 before the handshake), or flags beyond 15. The sequence is taken
    modulo 2**32, so a counter need not wrap.
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
    target: float | None = None,
    weight: float = 1.0,
    time_us: int | None = None,
    dtype: int = DTYPE_F32,
) -> bytes:
    """Encode one sample for the wire.

    Parameters
    ----------
    schema_id, sequence : int
    x : iterable of float or int
        The d features, sent as float32; or d raw values, -32768 to 32767, of which the host
        computes ``scale * x + offset``.
    label : int or None
        Class index, -32768 to 32767; None sends no label.
    target : float or None
        Sent in place of a class index, if the schema says so.
    weight : float
        0 to 255.996, sent in steps of 1/256, and only with a label.
    time_us : int or None
        Device clock in microseconds, modulo 2**32; None sends no time.
    dtype : int
        DTYPE_F32 or DTYPE_I16.

    Raises
    ------
    ValueError
        Label or weight is out of range, or a feature is too large for its type.
    """
    flags, body = 0, b""
    if time_us is not None:
        flags |= HAS_TIME
        body += _TIME.pack(time_us & 0xFFFFFFFF)
    layout, given, what = (_TARGET, target, "target") if label is None else (_LABEL, label, "label")
    if given is not None:
        flags |= HAS_LABEL
        values = given, round(weight * 256)
        body += pack_fields(layout, values, f"{what} and weight (0 to 255.996)")
    is_float = dtype == DTYPE_F32
    features = tuple(x) if is_float else tuple(map(int, x))
    packing = struct.Struct(f"<{len(features)}{'f' if is_float else 'h'}")
    body += pack_fields(packing, features, "float32 features" if is_float else "int16 features")
    kind = SAMPLE_F32 if is_float else SAMPLE_I16
    return encode_frame(kind, body, schema_id=schema_id, sequence=sequence, flags=flags)


def scale_table(
    scales: Sequence[float], offsets: Sequence[float], *, max_raw: int = MAX_RAW
) -> tuple[int, list[bytes]]:
    """Encode the scale table of int16 samples: finite scales and offsets, sent as float32.

    Returns the CRC-32 of all pairs, for `Schema.scale_crc`, and the bodies of the SCALES frames of
    at most `max_raw` bytes that follow the SCHEMA and have its id in their headers. ValueError if
    the lengths differ, or a value is too large.
    """
    if len(scales) != len(offsets) or not len(scales):
        raise ValueError(
            f"{len(scales)} scales and {len(offsets)} offsets were given; "
            "give one of each per feature"
        )
    both = zip(scales, offsets, strict=True)
    pairs = [pack_fields(PAIR, pair, "a scale and an offset of float32") for pair in both]
    n = (max_raw - MIN_RAW - PAGE.size) // PAIR.size
    if n < 1:
        raise ValueError(f"max_raw={max_raw} is too small for a page of the scale table")
    chunks = [b"".join(pairs[i : i + n]) for i in range(0, len(pairs), n)]
    pages = [PAGE.pack(k, len(chunks)) + chunk for k, chunk in enumerate(chunks)]
    return zlib.crc32(b"".join(pairs)), pages


def pack_fields(layout: struct.Struct, values: tuple[Any, ...], what: str) -> bytes:
    try:
        return layout.pack(*values)
    except (struct.error, OverflowError) as error:
        raise ValueError(f"{what} {values} is out of range: {error}") from error


_BODIES = ("Estimate", "Heartbeat", "Hello", "Label", "Prediction", "Schema", "Target")
__getattr__ = on_first_use(__name__, dict.fromkeys(_BODIES, "edgesvm.link.control"))
