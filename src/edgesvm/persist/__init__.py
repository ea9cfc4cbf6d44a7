"""Snapshots: a learner's bytes on disk, written whole or not at all, and read without trust."""

from edgesvm.persist.format import Snapshot, pack, unpack
from edgesvm.persist.store import inspect, load, restore, save

__all__ = ["Snapshot", "inspect", "load", "pack", "restore", "save", "unpack"]
