"""Learners on disk, as snapshots and checkpoints: written atomically, read without trusting the
file.
"""

from edgesvm.persist.checkpoint import (
    Checkpoint,
    Slot,
    inspect_slots,
    is_checkpoint,
    read_slot,
    slot_bytes,
)
from edgesvm.persist.disk import Disk, OsDisk
from edgesvm.persist.format import Snapshot, pack, unpack
from edgesvm.persist.store import Model, inspect, restore, save

__all__ = [
    "Checkpoint",
    "Disk",
    "Model",
    "OsDisk",
    "Slot",
    "Snapshot",
    "inspect",
    "inspect_slots",
    "is_checkpoint",
    "pack",
    "read_slot",
    "restore",
    "save",
    "slot_bytes",
    "unpack",
]
