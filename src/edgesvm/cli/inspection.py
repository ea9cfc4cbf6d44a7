"""``edgesvm inspect``: show what a snapshot holds, without trusting it."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from edgesvm.budget import format_bytes
from edgesvm.cli.snapshots import newest, of_file, snapshot
from edgesvm.learner import Learner
from edgesvm.persist import Slot, inspect_slots, is_checkpoint, unpack

HELP = """\
Show what a snapshot or a checkpoint holds: learner, parameters, labels, counts and arrays. Length,
CRC and every count are checked first; the file contains no code. Of a checkpoint, both slots are
shown, then the newest save. Exit code 1 if the file is damaged or neither of the two.

  edgesvm inspect model.esvm
  edgesvm inspect model.ckpt --json
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "inspect", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_argument("file", metavar="FILE", help="a snapshot or a checkpoint")
    command.add_argument("--json", action="store_true", help="print one JSON line instead of text")
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    with of_file(options.file):
        slots = inspect_slots(options.file) if is_checkpoint(options.file) else []
        data, learner = newest(slots) if slots else snapshot(options.file)
    report = _described(data, learner, options.file) if learner is not None else {}
    if options.json:
        if slots:
            report["slots"] = [_slot(slot) for slot in slots]
        print(json.dumps(report))
        return 0
    for slot in slots:
        print(f"slot {slot.index}     {_slot_words(slot)}")
    if learner is None:
        print("learner    none saved yet")
        return 0
    saved = unpack(data)
    labels = ", ".join(map(repr, saved.labels)) or "none yet"
    print(f"learner    {report['learner']}")
    print(f"features   {saved.n_features}")
    print(f"labels     {labels}{' (fixed in advance)' if saved.closed else ''}")
    print(f"samples    {report['n_seen']:,} seen, {report['n_updates']:,} changed the model")
    print(
        f"bytes      {format_bytes(report['bytes'])} of state, "
        f"{format_bytes(report['file_bytes'])} on disk"
    )
    print(f"\n{learner.plan(saved.n_features)}")
    return 0


def _described(data: bytes, learner: Learner, path: str) -> dict[str, Any]:
    saved = unpack(data)
    return {
        "learner": repr(learner),
        "n_features": saved.n_features,
        "labels": [repr(y) for y in saved.labels],
        "bytes": learner.nbytes,
        "file_bytes": os.path.getsize(path),
        "n_seen": learner.n_seen_,
        "n_updates": learner.n_updates_,
    }


def _slot(slot: Slot) -> dict[str, Any]:
    return {
        "sequence": slot.sequence,
        "snapshot_bytes": slot.snapshot_bytes,
        "problem": None if slot.problem is None else str(slot.problem),
    }


def _slot_words(slot: Slot) -> str:
    if slot.problem is not None:
        return f"rejected: {slot.problem}"
    if slot.sequence is None:
        return "never written"
    if slot.snapshot_bytes == 0:
        return "empty, no save yet"
    return f"save {slot.sequence:,}, {format_bytes(slot.snapshot_bytes)}"
