"""From a port's bytes to samples, and predictions back. Nothing here knows about learners.

`open_link` returns a `Link`: `poll`, `take` rows, `release` them, `send_prediction`. Its parts, for
nodes and tests: `wire` (the meaning of the bytes), `FrameDecoder` and `LineParser` (bytes to frames
and lines), `SampleReceiver` and `SampleRing` (samples), `open_port`. `Recording` and
`RecordingWriter` store samples in a file; `open_rows` reads any file of rows.
"""

from edgesvm.catalogue import names_of, on_first_use

_NAMES = {
    "_frames": "FrameDecoder",
    "_lines": "LineParser",
    "_ring": "Batch LateLabel LateLabels LateSample SampleRing",
    "_samples": "SampleReceiver",
    "files": "open_rows",
    "link": "Link SampleSchema",
    "opening": "open_link",
    "ports": "Port SerialPort SocketPort open_port",
    "recording": "Recording RecordingSchema RecordingWriter",
}
_MODULE_OF = names_of(__name__, _NAMES)

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605
__getattr__ = on_first_use(__name__, _MODULE_OF)
