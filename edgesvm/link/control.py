"""Bodies of control frames and of predictions, whose every byte FORMATS.md has, and the table that
several frames make up."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Container, Mapping
from dataclasses import astuple, dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from edgesvm.link import wire

Body = TypeVar("Body", bound="_Body")

FLAGS = range(16)  # sums of ABSTAIN, TRAINED, REJECTED, ALARM


class _Body:
    """A body of fixed length; its fields are those of the dataclass, in order, and what they may be
    where it is not all that the layout holds."""

    _layout: ClassVar[struct.Struct]
    _allowed: ClassVar[Mapping[str, Container[int]]] = {}
    _reserved: ClassVar[slice] = slice(0)  # bytes that must be 0

    def __post_init__(self) -> None:
        for name, allowed in self._allowed.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{type(self).__name__} {name}={getattr(self, name)} must be in {allowed}"
                )

    def pack(self) -> bytes:
        """The body's bytes; ValueError if a field is out of range."""
        return wire.pack_fields(self._layout, self._to_wire(), type(self).__name__)

    @classmethod
    def unpack(cls: type[Body], body: bytes) -> Body:
        """Decode `body`; BadBody, a ValueError, if it is not of this kind."""
        if len(body) != cls._layout.size:
            raise wire.BadBody(
                f"{cls.__name__} body has {len(body)} bytes; {cls._layout.size} expected"
            )
        if any(body[cls._reserved]):
            raise wire.BadBody(f"{cls.__name__} has reserved bytes that are not 0")
        try:
            return cls._of_wire(*cls._layout.unpack(body))
        except ValueError as error:
            raise wire.BadBody(str(error)) from error

    # What the layout has is the fields, unless a kind says otherwise.

    def _to_wire(self) -> tuple[Any, ...]:
        return astuple(self)  # type: ignore[call-overload]

    @classmethod
    def _of_wire(cls: type[Body], *fields: Any) -> Body:
        return cls(*fields)


@dataclass(frozen=True)
class Hello(_Body):
    """Host to device: asks for the SCHEMA. 12 bytes."""

    nonce: int  # u32, not 0, which marks an unsolicited SCHEMA
    version_min: int = wire.PROTOCOL_VERSION
    version_max: int = wire.PROTOCOL_VERSION
    max_raw: int = wire.MAX_RAW  # longest raw frame the host accepts, bytes
    host_ms: int = 0

    _layout: ClassVar[struct.Struct] = struct.Struct("<IBBHI")
    _allowed: ClassVar[Mapping[str, Container[int]]] = {"max_raw": range(wire.MIN_RAW, 1 << 16)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.version_min > self.version_max:
            raise ValueError(
                f"Hello version_min={self.version_min} must not exceed "
                f"version_max={self.version_max}"
            )


@dataclass(frozen=True)
class Schema(_Body):
    """Device to host: describes the samples. 26 bytes."""

    nonce: int  # that of the HELLO answered; 0 if unsolicited
    boot_id: int  # a different number at each boot
    n_features: int
    dtype: int = wire.DTYPE_F32
    label_mode: int = wire.LABEL_INLINE  # plus TARGETS, if labels are float64
    n_classes: int = 0  # 0: open
    max_raw: int = wire.MAX_RAW  # longest raw frame the device sends or accepts, bytes
    nominal_us: int = 0  # between samples, microseconds; 0: irregular
    scale_crc: int = 0  # CRC-32 of the scale table, int16 only

    _layout: ClassVar[struct.Struct] = struct.Struct("<IIHBBhHxxII")
    _allowed: ClassVar[Mapping[str, Container[int]]] = {
        "n_features": range(1, 1 << 16),
        "dtype": (wire.DTYPE_F32, wire.DTYPE_I16),
        "label_mode": (0, 1, 2, 4, 5, 6),
        "n_classes": range(1 << 15),
        "max_raw": range(wire.MIN_RAW, 1 << 16),
    }
    _reserved: ClassVar[slice] = slice(16, 18)

    @property
    def labels(self) -> int:
        """LABEL_NONE, LABEL_INLINE or LABEL_LATE."""
        return self.label_mode & ~wire.TARGETS

    @property
    def targets(self) -> bool:
        """Whether labels are float64, and not class indices."""
        return bool(self.label_mode & wire.TARGETS)

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
    _allowed: ClassVar[Mapping[str, Container[int]]] = {"flags": FLAGS}


@dataclass(frozen=True)
class Estimate(_Body):
    """Host to device: the prediction for one sample, where labels are float64. 32 bytes."""

    sequence: int  # of the sample
    flags: int  # as of a Prediction
    value: float
    low: float  # the ends of its interval
    high: float

    _layout: ClassVar[struct.Struct] = struct.Struct("<IHxxddd")
    _allowed: ClassVar[Mapping[str, Container[int]]] = {"flags": FLAGS}


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
    label: float  # class index, int16
    weight: float = 1.0  # 0 to 255.996, sent in steps of 1/256

    _layout: ClassVar[struct.Struct] = struct.Struct("<IhH")

    def _to_wire(self) -> tuple[Any, ...]:
        return self.sequence, self.label, round(self.weight * 256)

    @classmethod
    def _of_wire(cls, *fields: Any) -> Label:
        sequence, label, weight = fields
        return cls(sequence, label, weight / 256)


@dataclass(frozen=True)
class Target(Label):
    """The target of an earlier sample: a LABEL where labels are float64. 16 bytes."""

    _layout: ClassVar[struct.Struct] = struct.Struct("<IdHxx")


class ScaleTable:
    """The scale table of one schema's int16 samples; at most 8 bytes per feature, whatever is
    received. Once it is complete, `rows` has scale and offset of each feature.

    Pages are accepted in order, and page 0 starts over: after a lost page the node is asked again
    and sends them all.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.rows: np.ndarray | None = None
        self._pairs = bytearray()
        self._next = 0
        if schema.scale_crc == 0:
            self.rows = np.tile(np.array([1, 0], np.float32), (schema.n_features, 1))

    def take(self, body: bytes) -> bool:
        """Add the page of a SCALES frame; is the table complete now? BadBody if the page cannot
        belong to it.
        """
        pairs = body[wire.PAGE.size :]
        if not pairs or len(pairs) % wire.PAIR.size:
            raise wire.BadBody(f"a page of the scale table has {len(body)} bytes; 4 + 8 n expected")
        page, pages = wire.PAGE.unpack_from(body)
        if page >= pages:
            raise wire.BadBody(f"page {page} of the scale table must be less than {pages}")
        if self.rows is not None:
            return False
        if page == 0:
            self._restart()
        if page != self._next:
            return False
        self._pairs += pairs
        self._next += 1
        if len(self._pairs) > 8 * self.schema.n_features:
            self._restart()
            raise wire.BadBody(f"the scale table has more than {self.schema.n_features} features")
        if self._next < pages:
            return False
        self.rows = self._assemble()
        return True

    def _assemble(self) -> np.ndarray:
        pairs = bytes(self._pairs)
        self._restart()
        if len(pairs) != 8 * self.schema.n_features or zlib.crc32(pairs) != self.schema.scale_crc:
            raise wire.BadBody("the scale table does not match the schema's length and CRC")
        rows = np.frombuffer(pairs, "<f4").reshape(-1, 2).astype(np.float32)
        if not np.isfinite(rows).all():
            raise wire.BadBody("the scale table has a value that is not finite")
        return rows

    def _restart(self) -> None:
        self._pairs.clear()
        self._next = 0
