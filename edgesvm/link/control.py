"""Control frames of a binary link and predictions, whose every byte FORMATS.md has; and what takes
several of them: a scale table in pages, a command until it is acknowledged."""

from __future__ import annotations

import struct
import zlib
from dataclasses import astuple, dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from edgesvm.link.wire import (
    ABSTAIN,
    ALARM,
    DONE,
    DTYPE_F32,
    DTYPE_I16,
    LABEL_INLINE,
    LABEL_LATE,
    LABEL_NONE,
    MAX_ARGUMENT,
    MAX_RAW,
    MIN_RAW,
    OPCODES,
    PAGE,
    PAIR,
    PROTOCOL_VERSION,
    REJECTED,
    TARGETS,
    TRAINED,
    BadBody,
    pack_fields,
)

RETRY_AFTER = 0.2  # seconds
RETRIES = 3

Body = TypeVar("Body", bound="_Body")
CommandBody = TypeVar("CommandBody", bound="Command")


class _Body:
    """A body of fixed length; its fields are those of the dataclass, in order."""

    _layout: ClassVar[struct.Struct]

    def pack(self) -> bytes:
        """The body's bytes; ValueError if a field is out of range."""
        return pack_fields(self._layout, self._to_wire(), type(self).__name__)

    @classmethod
    def unpack(cls: type[Body], body: bytes) -> Body:
        """Decode `body`; BadBody, a ValueError, if it is not of this kind."""
        if len(body) != cls._layout.size:
            raise BadBody(f"{cls.__name__} body has {len(body)} bytes; {cls._layout.size} expected")
        try:
            return cls._of_wire(*cls._layout.unpack(body))
        except ValueError as error:
            raise BadBody(str(error)) from error

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
    label_mode: int = LABEL_INLINE  # plus TARGETS, if labels are float64
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
        if self.label_mode & ~TARGETS not in (LABEL_NONE, LABEL_INLINE, LABEL_LATE):
            raise ValueError(
                f"Schema label_mode={self.label_mode} must be 0 (none), 1 (inline) or 2 (late), "
                "plus 4 for targets"
            )
        if self.n_classes < 0:
            raise ValueError(f"Schema n_classes={self.n_classes} must be at least 0")
        if self.max_raw < MIN_RAW:
            raise ValueError(f"Schema max_raw={self.max_raw} must be at least {MIN_RAW}")

    def _to_wire(self) -> tuple[Any, ...]:
        values = astuple(self)
        return (*values[:7], 0, *values[7:])

    @classmethod
    def _of_wire(cls, *fields: Any) -> Schema:
        if fields[7]:
            raise BadBody(f"Schema reserved bytes are {fields[7]:#06x}; they must be 0")
        return cls(*fields[:7], *fields[8:])

    @property
    def labels(self) -> int:
        """LABEL_NONE, LABEL_INLINE or LABEL_LATE."""
        return self.label_mode & ~TARGETS

    @property
    def targets(self) -> bool:
        """Whether labels are float64, and not class indices."""
        return bool(self.label_mode & TARGETS)

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
class Estimate(_Body):
    """Host to device: the prediction for one sample, where labels are float64. 32 bytes."""

    sequence: int  # of the sample
    flags: int  # as of a Prediction
    value: float
    low: float  # the ends of its interval
    high: float

    _layout: ClassVar[struct.Struct] = struct.Struct("<IHxxddd")

    def __post_init__(self) -> None:
        if self.flags & ~(ABSTAIN | TRAINED | REJECTED | ALARM):
            raise ValueError(f"Estimate flags={self.flags:#x} must be 0 to 15")


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
        return pack_fields(self._layout, values, type(self).__name__) + self.argument

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
        pairs = bytes(body[PAGE.size :])
        if len(body) <= PAGE.size or len(pairs) % PAIR.size:
            raise BadBody(f"ScalePage body has {len(body)} bytes; 4 + 8 n expected")
        page, pages = PAGE.unpack(body[: PAGE.size])
        if page >= pages:
            raise BadBody(f"ScalePage page={page} must be less than pages={pages}")
        return cls(page, pages, pairs)


class ScaleTable:
    """The table of one schema; at most 8 bytes per feature, whatever is received. Once it is
    complete, `rows` has scale and offset of each feature.

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

    def take(self, page: ScalePage) -> bool:
        """Add a page; is the table complete now? BadBody if the page cannot belong to it."""
        if self.rows is not None:
            return False
        if page.page == 0:
            self._restart()
        if page.page != self._next:
            return False
        self._pairs += page.pairs
        self._next += 1
        if len(self._pairs) > 8 * self.schema.n_features:
            self._restart()
            raise BadBody(f"the scale table has more than {self.schema.n_features} features")
        if self._next < page.pages:
            return False
        self.rows = self._assemble()
        return True

    def _assemble(self) -> np.ndarray:
        pairs = bytes(self._pairs)
        self._restart()
        if len(pairs) != 8 * self.schema.n_features or zlib.crc32(pairs) != self.schema.scale_crc:
            raise BadBody("the scale table does not match the schema's length and CRC")
        rows = np.frombuffer(pairs, "<f4").reshape(-1, 2).astype(np.float32)
        if not np.isfinite(rows).all():
            raise BadBody("the scale table has a value that is not finite")
        return rows

    def _restart(self) -> None:
        self._pairs.clear()
        self._next = 0


class Commands:
    """The pending command, and what became of earlier ones; FORMATS.md describes its counters.

    `last_ack` is the last ACK that matched a command, or None.
    """

    def __init__(self) -> None:
        names = "commands command_retries command_done command_refused command_lost acks ack_stray"
        self.counts = dict.fromkeys(names.split(), 0)
        self.last_ack: Ack | None = None
        self._pending: Command | None = None
        self._sent = 0
        self._next = 0.0

    @property
    def pending(self) -> bool:
        """Is a command waiting for its acknowledgement?"""
        return self._pending is not None

    def ask(self, opcode: int, argument: bytes, now: float) -> int:
        """Accept a command and return its id; ValueError if it is invalid or one is pending."""
        if opcode not in OPCODES:
            raise ValueError(f"opcode={opcode} must be one of {OPCODES}")
        if self._pending is not None:
            raise ValueError(
                f"command {self._pending.command_id} has not been acknowledged yet; "
                "wait until pending is False"
            )
        # Ids run from 1 and wrap: never the id of the command before.
        n_before = self.counts["commands"]
        self._pending = Command(n_before % 0xFFFF + 1, opcode, argument=bytes(argument))
        self.counts["commands"] += 1
        self._sent = 0
        self._next = now
        return self._pending.command_id

    def due(self, now: float) -> bytes | None:
        """The body to send now, or None."""
        if self._pending is None or now < self._next:
            return None
        if self._sent > RETRIES:
            self.counts["command_lost"] += 1
            self._pending = None
            return None
        self.counts["command_retries"] += self._sent > 0
        self._sent += 1
        self._next = now + RETRY_AFTER
        return self._pending.pack()

    def on_ack(self, ack: Ack) -> None:
        """Handle an ACK frame of the node."""
        self.counts["acks"] += 1
        sent = self._pending
        if sent is None or (sent.command_id, sent.opcode) != (ack.command_id, ack.opcode):
            self.counts["ack_stray"] += 1
            return
        self._pending = None
        self.last_ack = ack
        self.counts["command_done" if ack.status == DONE else "command_refused"] += 1
