"""From a port's bytes to samples, and predictions back. Nothing here knows about learners.

`open_link` returns a `Link`: `poll`, `take` rows, `release` them, `send_prediction`. Its parts, for
nodes and tests: `wire` (the meaning of the bytes), `FrameDecoder` and `LineParser` (bytes to frames
and lines), `SampleReceiver` and `SampleRing` (samples), `open_port`. `Recording` and
`RecordingWriter` store samples in a file; `open_rows` reads any file of rows. `SnapshotFetch` and
`SnapshotGift` carry a snapshot to and from a learner at the other end.
"""

from typing import TYPE_CHECKING

from edgesvm.lazy import on_first_use

if TYPE_CHECKING:
    from edgesvm.ingest._frames import FrameDecoder
    from edgesvm.ingest._late import LateLabel, LateLabels, LateSample
    from edgesvm.ingest._lines import LineParser
    from edgesvm.ingest._ring import Batch, SampleRing
    from edgesvm.ingest._samples import SampleReceiver
    from edgesvm.ingest.files import open_rows
    from edgesvm.ingest.link import open_link
    from edgesvm.ingest.pages import SnapshotFetch, SnapshotGift
    from edgesvm.ingest.ports import Port, SocketPort, open_port
    from edgesvm.ingest.recording import Recording, RecordingSchema, RecordingWriter
    from edgesvm.ingest.serial_port import SerialPort
    from edgesvm.ingest.session import Link, SampleSchema

_MODULES = {
    "_frames": ("FrameDecoder",),
    "_late": ("LateLabel", "LateLabels", "LateSample"),
    "_lines": ("LineParser",),
    "_ring": ("Batch", "SampleRing"),
    "_samples": ("SampleReceiver",),
    "files": ("open_rows",),
    "link": ("open_link",),
    "pages": ("SnapshotFetch", "SnapshotGift"),
    "ports": ("Port", "SocketPort", "open_port"),
    "serial_port": ("SerialPort",),
    "recording": ("Recording", "RecordingSchema", "RecordingWriter"),
    "session": ("Link", "SampleSchema"),
}
_MODULE_OF = {name: f"edgesvm.ingest.{m}" for m, names in _MODULES.items() for name in names}

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
    "SnapshotFetch",
    "SnapshotGift",
    "SocketPort",
    "open_link",
    "open_port",
    "open_rows",
]

__getattr__ = on_first_use(__name__, _MODULE_OF)
