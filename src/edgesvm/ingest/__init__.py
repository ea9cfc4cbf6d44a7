"""From a port's bytes to samples, and predictions back. Nothing here knows about learners.

`open_link` returns a `Link`: `poll`, `take` rows, `release` them, `send_prediction`. Its parts, for
nodes and tests: `wire` (the meaning of the bytes), `FrameDecoder` and `LineParser` (bytes to frames
and lines), `SampleReceiver` and `SampleRing` (samples), `open_port`. `Recording` and
`RecordingWriter` store samples in a file; `open_rows` reads any file of rows. `SnapshotFetch` and
`SnapshotGift` carry a snapshot to and from a learner at the other end.
"""

from edgesvm.ingest._frames import FrameDecoder
from edgesvm.ingest._late import LateLabel, LateLabels, LateSample
from edgesvm.ingest._lines import LineParser
from edgesvm.ingest._ring import Batch, SampleRing
from edgesvm.ingest._samples import SampleReceiver
from edgesvm.ingest.files import open_rows
from edgesvm.ingest.link import open_link
from edgesvm.ingest.pages import SnapshotFetch, SnapshotGift
from edgesvm.ingest.ports import Port, SerialPort, SocketPort, open_port
from edgesvm.ingest.recording import Recording, RecordingSchema, RecordingWriter
from edgesvm.ingest.session import Link, SampleSchema

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
