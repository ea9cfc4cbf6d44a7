"""Learners on disk, as snapshots and checkpoints: written atomically, read without trusting the
file.
"""

from typing import TYPE_CHECKING

from edgesvm.catalogue import on_first_use

if TYPE_CHECKING:
    from edgesvm.persist.checkpoint import (
        Checkpoint,
        Slot,
        inspect_slots,
        is_checkpoint,
        read_slot,
        slot_bytes,
    )
    from edgesvm.persist.files import Disk
    from edgesvm.persist.format import Snapshot, pack, unpack
    from edgesvm.persist.store import Model, inspect, restore, save

_MODULES = {
    "checkpoint": (
        *("Checkpoint", "Slot", "inspect_slots", "is_checkpoint", "read_slot", "slot_bytes"),
    ),
    "files": ("Disk",),
    "format": ("Snapshot", "pack", "unpack"),
    "store": ("Model", "inspect", "restore", "save"),
}
_MODULE_OF = {name: f"edgesvm.persist.{m}" for m, names in _MODULES.items() for name in names}

__all__ = [
    "Checkpoint",
    "Disk",
    "Model",
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

__getattr__ = on_first_use(__name__, _MODULE_OF)
