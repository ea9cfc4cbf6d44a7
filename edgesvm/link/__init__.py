"""From a port's bytes to samples, and predictions back. Nothing here knows about learners.

`open_link` returns a `Link`: `poll`, `take` rows, `release` them, `send_prediction`. Its parts, for
nodes and tests: `wire` (the meaning of the bytes), `FrameDecoder` and `LineParser` (bytes to frames
and lines), `SampleReceiver` and `SampleRing` (samples), `open_port`. `Recording` and
`RecordingWriter` store samples in a file; `open_rows` reads any file of rows.
"""

from typing import TYPE_CHECKING

from edgesvm.catalogue import on_first_use

if TYPE_CHECKING:
    from edgesvm.link._frames import FrameDecoder
    from edgesvm.link._lines import LineParser
    from edgesvm.link._ring import Batch, LateLabel, LateLabels, LateSample, SampleRing
    from edgesvm.link._samples import SampleReceiver
    from edgesvm.link.files import open_rows
    from edgesvm.link.link import Link, SampleSchema
    from edgesvm.link.opening import open_link
    from edgesvm.link.ports import Port, SerialPort, SocketPort, open_port
    from edgesvm.link.recording import Recording, RecordingSchema, RecordingWriter

_MODULES = {
    "_frames": ("FrameDecoder",),
    "_lines": ("LineParser",),
    "_ring": ("Batch", "LateLabel", "LateLabels", "LateSample", "SampleRing"),
    "_samples": ("SampleReceiver",),
    "files": ("open_rows",),
    "link": ("Link", "SampleSchema"),
    "opening": ("open_link",),
    "ports": ("Port", "SerialPort", "SocketPort", "open_port"),
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
