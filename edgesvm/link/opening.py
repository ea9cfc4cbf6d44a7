"""Opens a link to a node by the URL of its port."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Sequence
from importlib import import_module

from edgesvm.errors import NoSchema
from edgesvm.link._frames import ValueGate
from edgesvm.link.link import SILENT_AFTER, Link
from edgesvm.link.ports import READ_BYTES, Port, open_port

LATE_LABELS = 256
QUIET = 0.25  # seconds
TEXT = frozenset(b"\t\n\r\x1b") | frozenset(range(32, 127)) | frozenset(range(128, 256))
DIGIT = re.compile(rb"\d.*\d|\d\r?$|^#")  # in a line of numbers, or the schema's
DOUBTFUL = 4096  # bytes, the last of which are looked at

# Each mode's module has the name of the mode.
MODES = {"binary": "BinaryLink", "text": "TextLink"}


def open_link(
    url: str,
    *,
    baud: int = 115200,
    mode: str = "binary",
    n_features: int | None = None,
    label: str | int = "last",
    targets: bool | None = False,
    ring: int = 256,
    max_raw: int | None = None,
    keep_columns: Sequence[str] | None = None,
    handshake_timeout: float = 10.0,
    outbox_bytes: int = 4096,
    late_labels: int | None = 0,
    value_range: tuple[float, float] | None = None,
    clip: bool = False,
    key: bytes | None = None,
    silent_after: float = SILENT_AFTER,
    stale_after: float | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    opener: Callable[[], Port] | None = None,
) -> Link:
    """Open a port and complete the handshake with the node.

    Parameters
    ----------
    url : str
        ``/dev/ttyUSB0``, the name of a pseudo-terminal, ``socket://host:port`` or another pyserial
        URL.
    baud : int
        Bits per second.
    mode : {"binary", "text", "auto"}
        CRC-checked frames, or lines of decimal numbers. "auto" waits for a line or a frame.
    n_features : int, optional
        Features per sample. By default they are taken from the node's schema; on a text link
        without a schema, from the first three rows that agree (two of these are not samples).
    label : {"last", "first", "none", "if more"}, int or str
        Whether samples may have a label: inline in a frame, or a column of a line: its number from
        0, or the name that a header line or ``name:value`` gives it. "none": labels in frames are
        ignored, and lines have no label column. "if more": the last column is the label if there is
        one more than `n_features`.
    targets : bool
        Whether labels are numbers, float64, and not class indices, as a node of frames must say
        too. A feature may be missing, which is NaN. Predictions go back by `Link.send_estimate`.
        None: either, for who uses no labels.
    ring : int
        Samples held for the reader; if it is full the oldest are dropped.
    max_raw : int, optional
        Longest binary frame accepted, in bytes before COBS. By default what `n_features` needs, at
        least 254; 4100 (1,020 features) if `n_features` is not given.
    keep_columns : sequence of str, optional
        Of a text link: look at the first 12 lines, or at those of 2 s, name the features as they
        do, and leave out columns that hold times or only rise, but for these names or numbers. By
        default nothing is left out, and features have no names.
    handshake_timeout : float
        Seconds to wait for the node's schema.
    outbox_bytes : int
        Buffer for predictions in bytes; predictions that do not fit are dropped and counted.
    late_labels : int or None
        Late-label window: the number of samples that wait for labels sent after them. 0: late
        labels are ignored. None: 256 on a binary link, 0 on a text link. On a binary link it
        applies if the node's schema announces late labels; on a text link, lines then have no
        label column. See `Link.take_labelled`.
    value_range : (float, float), optional
        Lowest and highest value of a feature. Samples outside are refused (`bad_range`).
    clip : bool
        Clip values outside `value_range` instead, and count the sample as `clipped`.
    key : bytes, optional
        16 bytes that the node holds too: frames without a valid keyed tag are refused, and so are
        those that have arrived before. It needs ``mode="binary"``. See `edgesvm.link.keyed`.
    silent_after : float
        Seconds without a valid frame after which a node is asked for its schema again; after twice
        as many the port counts as down. At least 5. On a text link, where there is nobody to ask,
        silence is only counted.
    stale_after : float, optional
        Seconds without a sample after which data count as stale; default ten periods, at least 5 s.
        See `edgesvm.link.freshness`.
    clock, sleep : callable
        A monotonic clock in seconds, and the wait between attempts to reconnect.
    opener : callable, optional
        Opens the port instead of `open_port(url, ...)`.

    Returns
    -------
    Link
        An open link; use it in a ``with`` block or `close` it.

    Raises
    ------
    LinkDown
        The port cannot be opened, or failed.
    NoSchema
        The node did not describe its samples within `handshake_timeout`, or the first 64 KiB of a
        text link are not lines.
    VersionMismatch
        The node and this host have no protocol version in common.
    ValueError
        A parameter is out of range, or the node's samples do not match the parameters.

    Examples
    --------
    ::

        with open_link("/dev/ttyUSB0") as link:
            while True:
                if link.poll(0.1):
                    batch = link.take()
                    ...
                    link.release(len(batch.y))
    """
    if mode not in (*MODES, "auto"):
        raise ValueError(f"mode={mode!r} must be one of {(*MODES, 'auto')}")
    if key is not None and mode != "binary":
        raise ValueError(f"mode={mode!r}: only frames have tags; a key needs mode='binary'")
    ValueGate(value_range, clip)  # checks them
    if opener is None:
        opener = functools.partial(open_port, url, baud)
    if label not in ("last", "none", "if more"):
        if mode == "binary":
            raise ValueError(f"label={label!r} must be 'last' or 'none': frames have no columns")
        mode = "text"

    def opened(mode: str, opener: Callable[[], Port]) -> Link:
        is_text = mode == "text"
        late = (0 if is_text else LATE_LABELS) if late_labels is None else late_labels
        options = {"max_raw": max_raw, "baud": baud, "key": key}
        kind = getattr(import_module(f"edgesvm.link.{mode}"), MODES[mode])
        link: Link = kind(
            opener,
            name=url,
            n_features=n_features,
            label="last" if label == "if more" and not is_text else label,
            targets=targets,
            ring=ring,
            handshake_timeout=handshake_timeout,
            outbox_bytes=outbox_bytes,
            late_labels=late,
            gate=ValueGate(value_range, clip, missing=bool(targets)),
            silent_after=silent_after,
            stale_after=stale_after,
            clock=clock,
            sleep=sleep,
            **({"keep_columns": keep_columns} if is_text else options),
        )
        link.open()
        return link

    if mode != "auto":
        return opened(mode, opener)
    first = Undecided(opener(), clock)
    try:
        link = opened("binary", functools.partial(_first, [first], opener))
        first.decide()
        return link
    except (IsText, NoSchema):
        if not first.may_be_text:
            raise
    except BaseException:
        first.decide()
        first.close()
        raise
    first.decide(text=True)
    return opened("text", functools.partial(_first, [first], opener))


def _first(waiting: list[Port], opener: Callable[[], Port]) -> Port:
    """The open port that waits, then others."""
    return waiting.pop() if waiting else opener()


class IsText(Exception):
    """A port that was read for frames gives lines."""


class Undecided:
    """A port that is read for frames until it is clear that it gives lines: `read` raises IsText
    then. A line that all bytes so far belong to, or two among others, make that clear. Nothing is
    written while what comes may be text, and nothing before the node had time to say something.
    """

    def __init__(self, port: Port, clock: Callable[[], float]) -> None:
        self._port, self._clock, self._begun, self._again = port, clock, b"", b""
        self._quiet_until, self._is_decided = clock() + QUIET, False

    @property
    def may_be_text(self) -> bool:
        """Whether lines have come, or what may be the beginning of one."""
        lines = self._begun.split(b"\n")
        whole = [TEXT.issuperset(line) and DIGIT.search(line) is not None for line in lines[:-1]]
        return sum(whole[1:]) > 1 or (self._begun != b"" and TEXT.issuperset(self._begun))

    def read(self, timeout: float, limit: int = READ_BYTES) -> bytes:
        if self._again:
            chunk, self._again = self._again[:limit], self._again[limit:]
            return chunk
        if self._is_decided:
            return self._port.read(timeout, limit)
        left = self._quiet_until - self._clock()
        chunk = self._port.read(min(timeout, left) if left > 0 else timeout, limit)
        self._begun = (self._begun + chunk)[-DOUBTFUL:]
        if self.may_be_text and DIGIT.search(self._begun[: self._begun.rfind(b"\n") + 1]):
            raise IsText
        return chunk

    def write(self, data: bytes) -> int:
        waits = self._clock() < self._quiet_until and not self._begun
        return 0 if not self._is_decided and (waits or self.may_be_text) else self._port.write(data)

    def decide(self, *, text: bool = False) -> None:
        """It gives frames; or lines, and all bytes that came are read again."""
        self._is_decided, self._again, self._begun = True, self._begun * text, b""

    def close(self) -> None:
        if self._is_decided or not self.may_be_text:
            self._port.close()
