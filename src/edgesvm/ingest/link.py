"""Open a link to a node by the URL of its port."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable
from typing import Any

from edgesvm.ingest import auto
from edgesvm.ingest._values import ValueGate
from edgesvm.ingest.binary import BinaryLink
from edgesvm.ingest.ports import Port, open_port
from edgesvm.ingest.session import Link, SampleSchema
from edgesvm.ingest.text import TextLink

__all__ = ["BinaryLink", "Link", "SampleSchema", "TextLink", "open_link"]

LATE_LABELS = 256

MODES: dict[str, Callable[..., Link]] = {"binary": BinaryLink, "text": TextLink}


def open_link(
    url: str,
    *,
    baud: int = 115200,
    mode: str = "binary",
    n_features: int | None = None,
    label: str = "last",
    ring: int = 256,
    policy: str = "drop_oldest",
    max_raw: int | None = None,
    handshake_timeout: float = 10.0,
    outbox_bytes: int = 4096,
    late_labels: int | None = 0,
    allow_commands: bool = False,
    value_range: tuple[float, float] | None = None,
    clip: bool = False,
    exclusive: bool = True,
    low_latency: bool = False,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    opener: Callable[[], Port] | None = None,
) -> Link:
    """Open a port and come to terms with the node behind it.

    Parameters
    ----------
    url : str
        ``/dev/ttyUSB0``, a pseudo-terminal's name, ``socket://host:port`` or another pyserial URL.
    baud : int
        Bits a second.
    mode : {"binary", "text", "auto"}
        CRC-checked frames, or lines of decimal numbers from any sketch. "auto": lines where the
        first byte belongs into text, else frames.
    n_features : int, optional
        Features a sample. Not given: the node's schema tells; on a text link without one, the
        first two lines that agree (these two are not samples then).
    label : {"last", "none"}
        Whether samples may carry a label: inline in a frame, the last column of a line. "none":
        labels in frames are passed over, and lines have no such column.
    ring : int
        Samples held for the reader.
    policy : {"drop_oldest", "drop_newest"}
        What a sample does to a full ring.
    max_raw : int, optional
        Longest binary frame taken, bytes before COBS. By default what `n_features` needs, and not
        below 254; 4100 (1,020 features) when that is not given.
    handshake_timeout : float
        Seconds to wait for the node's schema.
    outbox_bytes : int
        Buffer for predictions; those that do not fit are dropped and counted.
    late_labels : int or None
        Samples that wait for a label which comes on its own; 0: such labels are ignored; None: 256
        on a binary link, 0 on a text link. On a
        binary link for nodes whose schema says so; on a text link lines have no label column then.
        See `Link.take_labelled`.
    allow_commands : bool
        Whether `Link.command` may ask something of the node.
    value_range : (float, float), optional
        Lowest and highest value of a feature. A sample beyond is refused (`bad_range`).
    clip : bool
        Bring values beyond `value_range` to its end instead, and count the sample as `clipped`.
    exclusive, low_latency : bool
        See `edgesvm.ingest.ports.open_port`.
    clock, sleep : callable
        Seconds that only grow; and waiting between attempts to reconnect.
    opener : callable, optional
        Gives the port in place of `open_port(url, ...)`.

    Returns
    -------
    Link
        Open; use it in a ``with`` block or `close` it.

    Raises
    ------
    LinkDown
        The port cannot be opened, or died.
    NoSchema
        The node did not say within `handshake_timeout` what its samples look like.
    VersionMismatch
        The node shares no protocol version with this host.
    ValueError
        A parameter is out of range, or the node's samples are not those asked for.

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
    gate = ValueGate(value_range, clip)
    if opener is None:
        opener = functools.partial(
            open_port, url, baud, exclusive=exclusive, low_latency=low_latency
        )
    with contextlib.ExitStack() as on_failure:
        if mode == "auto":
            port = opener()
            on_failure.callback(port.close)
            mode, heard = auto.listen(port, url, handshake_timeout, clock)
            opener = _first(heard, opener)
        if late_labels is None:
            late_labels = LATE_LABELS if mode == "binary" else 0
        options: dict[str, Any] = {}
        if mode == "binary":
            options = {"max_raw": max_raw, "baud": baud, "allow_commands": allow_commands}
        link = MODES[mode](
            opener,
            name=url,
            n_features=n_features,
            label=label,
            ring=ring,
            policy=policy,
            handshake_timeout=handshake_timeout,
            outbox_bytes=outbox_bytes,
            late_labels=late_labels,
            gate=gate,
            clock=clock,
            sleep=sleep,
            **options,
        )
        link.open()
        on_failure.pop_all()
    return link


def _first(port: Port, opener: Callable[[], Port]) -> Callable[[], Port]:
    """An opener that gives the port that is open already, and then opens anew."""
    waiting = [port]
    return lambda: waiting.pop() if waiting else opener()
