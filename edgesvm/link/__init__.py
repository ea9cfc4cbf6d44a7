"""From a port's bytes to samples, and predictions back. Nothing here knows about learners.

`open_link` returns a `Link`: `poll`, `take` rows, `release` them, `send_prediction`. Its parts, for
nodes and tests: `wire` (the meaning of the bytes), `FrameDecoder` and `LineParser` (bytes to frames
and lines), `SampleReceiver` and `SampleRing` (samples), `open_port`. `Recording` and
`RecordingWriter` store samples in a file; `open_rows` reads any file of rows.
"""

from typing import TYPE_CHECKING

from edgesvm.lazy import on_first_use

if TYPE_CHECKING:
    from edgesvm.link._frames import FrameDecoder
    from edgesvm.link._late import LateLabel, LateLabels, LateSample
    from edgesvm.link._lines import LineParser
    from edgesvm.link._ring import Batch, SampleRing
    from edgesvm.link._samples import SampleReceiver
    from edgesvm.link.files import open_rows
    from edgesvm.link.link import Link, SampleSchema
    from edgesvm.link.opening import open_link
    from edgesvm.link.port import Port
    from edgesvm.link.ports import open_port
    from edgesvm.link.recording import Recording, RecordingSchema, RecordingWriter
    from edgesvm.link.serial_port import SerialPort
    from edgesvm.link.socket_port import SocketPort

_MODULES = {
    "_frames": ("FrameDecoder",),
    "_late": ("LateLabel", "LateLabels", "LateSample"),
    "_lines": ("LineParser",),
    "_ring": ("Batch", "SampleRing"),
    "_samples": ("SampleReceiver",),
    "files": ("open_rows",),
    "link": ("Link", "SampleSchema"),
    "opening": ("open_link",),
    "port": ("Port",),
    "ports": ("open_port",),
    "serial_port": ("SerialPort",),
    "socket_port": ("SocketPort",),
    "recording": ("Recording", "RecordingSchema", "RecordingWriter"),
}
_MODULE_OF = {name: f"edgesvm.link.{m}" for m, names in _MODULES.items() for name in names}

__all__ = [
    "Batch",
    "FrameDecoder",
    "LateLabel",
    "LateLabels",
    "LateSample",
    "LineParser",
    "Link",
    "Port",
    "Recording",
    "RecordingSchema",
    "RecordingWriter",
    "SampleReceiver",
    "SampleRing",
    "SampleSchema",
    "SerialPort",
    "SocketPort",
    "open_link",
    "open_port",
    "open_rows",
]

__getattr__ = on_first_use(__name__, _MODULE_OF)
