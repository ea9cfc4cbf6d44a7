"""Learners on disk, as snapshots and checkpoints: written atomically, read without trusting the
file.
"""

from edgesvm.catalogue import names_of, on_first_use

_NAMES = {
    "checkpoint": "Checkpoint Slot inspect_slots is_checkpoint read_slot slot_bytes",
    "files": "Disk",
    "format": "Snapshot pack unpack",
    "store": "Model inspect restore save",
}
_MODULE_OF = names_of(__name__, _NAMES)

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605
__getattr__ = on_first_use(__name__, _MODULE_OF)
