"""``edgesvm inspect``: show what a snapshot holds, without trusting it."""

from __future__ import annotations

import json
import os
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from edgesvm import remarks
from edgesvm.budget import format_bytes
from edgesvm.cli.options import AS_JSON, argument, option
from edgesvm.cli.snapshots import Model, newest, of_file, snapshot
from edgesvm.learner import Learner
from edgesvm.link import Batch, Recording
from edgesvm.link.recording import is_recording
from edgesvm.persist import Slot, inspect_slots, is_checkpoint, unpack
from edgesvm.persist.format import MAGIC, Snapshot
from edgesvm.persist.saved import Saved
from edgesvm.preprocessing.chain import Chain
from edgesvm.preprocessing.window_features import RawFeatures

HELP = """\
Show what a snapshot or a checkpoint holds: format version, learner, every parameter, labels, counts
and arrays; of windows of raw samples, channels and names of the features too. Length, CRC and every
count are checked first; the file contains no code. Of a checkpoint, both slots are shown, then the
newest save. Of a recording: samples, labels and ranges. Exit code 1 if the file is damaged or none
of these.

  edgesvm inspect model.esvm
  edgesvm inspect model.ckpt --json
"""


@dataclass(frozen=True, kw_only=True)
class Settings:
    file: str = argument("a snapshot, a checkpoint or a recording", unit="FILE")
    json: bool = option(False, AS_JSON)


def act(settings: Settings) -> int:
    if is_recording(settings.file):
        return _of_recording(settings)
    with of_file(settings.file):
        slots = inspect_slots(settings.file) if is_checkpoint(settings.file) else []
        data, model = newest(slots) if slots else snapshot(settings.file)
    report = _described(data, model, settings.file) if model is not None else {}
    if settings.json:
        if slots:
            report["slots"] = [_slot(slot) for slot in slots]
        print(json.dumps(report))
        return 0
    for slot in slots:
        print(f"slot {slot.index}     {_slot_words(slot)}")
    if model is None:
        print("learner    none saved yet")
        return 0
    saved = unpack(data)
    for name, text in [("format", _format(data, settings.file)), *_lines(model, saved)]:
        print(textwrap.fill(text, 100, initial_indent=f"{name:<11}", subsequent_indent=" " * 11))
    print(
        f"bytes      {format_bytes(report['bytes'])} of state, "
        f"{format_bytes(report['file_bytes'])} on disk"
    )
    print(f"\n{model.plan(saved.n_features)}")
    return 0


def _of_recording(settings: Settings) -> int:
    """Print what a recording holds; all of it is read once, and every CRC checked."""
    labels: Counter[Any] = Counter()
    with Recording(settings.file) as recording:
        d, n = recording.n_features, 0
        low, high = np.full(d, np.inf), np.full(d, -np.inf)
        for part in recording.arrivals():
            if not isinstance(part, Batch):
                labels[part.label] += not part.is_epoch
                continue
            n += len(part.y)
            labels.update(part.y[part.has_label].tolist())
            low, high = np.fmin(low, part.X.min(axis=0)), np.fmax(high, part.X.max(axis=0))
        schema, account = recording.schema, recording.account()
    report: dict[str, Any] = {
        "recording": settings.file,
        "samples": n,
        "n_features": d,
        "period_us": schema.period_us,
        "late": schema.late,
        "targets": schema.targets,
        "labels": {} if schema.targets else {str(y): labels[y] for y in sorted(labels)},
        "ranges": [[float(a), float(b)] for a, b in zip(low, high, strict=True)] if n else [],
        "file_bytes": os.path.getsize(settings.file),
        **account,
    }
    if settings.json:
        print(json.dumps(report))
        return 0
    rate = f"{1e6 / schema.period_us:g} a second" if schema.period_us else "their rate is not known"
    kinds = ", ".join(f"{y}: {count:,}" for y, count in report["labels"].items())
    if schema.targets:
        kinds = f"{sum(labels.values()):,} targets"
    print(f"recording  {n:,} samples of {d} channels; {rate}; {format_bytes(report['file_bytes'])}")
    print(f"labels     {kinds or 'none'}{', sent after their samples' if schema.late else ''}")
    for j, (a, b) in enumerate(report["ranges"]):
        print(f"x{j:<9} {a:g} to {b:g}")
    torn = f"{account['torn_bytes']} incomplete bytes at the end"
    print(f"damaged    {account['damaged']:,} records; {torn}")
    print(f"\nNext: edgesvm {'eval' if labels else 'watch'} {settings.file}")
    return 0


def _lines(model: Model, saved: Snapshot) -> Iterator[tuple[str, str]]:
    """What the file holds, by name."""
    windows, learner = _parts(model)
    if windows is not None:
        yield "windows", repr(windows)
    if learner is not None:
        yield "learner", repr(learner)
    for name, params in parameters(model):
        given = ", ".join(f"{key}={value!r}" for key, value in params.items())
        yield "parameters", f"{name}: {given or 'none'}"
    if windows is None:
        yield "features", _counted(saved)
    else:
        names = windows.names()
        yield "channels", _counted(saved)
        yield "features", f"{len(names)}: {', '.join(names)}"
    if learner is not None and not learner.regresses:
        labels = ", ".join(map(repr, saved.labels)) or "none yet"
        yield "labels", f"{labels}{' (fixed in advance)' if saved.closed else ''}"
    if isinstance(model, Chain):
        whose = {"majority": "that of most of its samples", "last": "its last sample's"}
        yield "label", f"of a window: {whose[model.label]}"
    if windows is not None:
        yield (
            "samples",
            f"{windows.n_pushed_:,} raw ones taken, {windows.n_rows_:,} windows complete,"
            f" {windows.n_dropped_:,} dropped at gaps",
        )
    if learner is not None:
        seen, changed = learner.n_seen_, learner.n_updates_
        what = "samples" if windows is None else "learned"
        yield what, f"{seen:,} seen, {changed:,} taught it something new"
        for remark in remarks.lines(learner=learner):
            yield "note", remark


def _counted(saved: Snapshot) -> str:
    """How many features, and their names."""
    return ": ".join(filter(None, [str(saved.n_features), ", ".join(saved.names)]))


def _format(data: bytes, path: str) -> str:
    """The version of the snapshot's format, and what is known of the time."""
    return (
        f"snapshot, version {format_version(data)}; the file was written {written(path)} (neither "
        "the time of a save nor the device is stored in it)"
    )


def format_version(data: bytes) -> int:
    return int.from_bytes(data[len(MAGIC) : len(MAGIC) + 2], "little")


def written(path: str) -> str:
    """When the file was last written, in local time."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(os.path.getmtime(path)))


def parameters(model: Model) -> list[tuple[str, dict[str, Any]]]:
    """Every parameter by name, of the model and then of the learners within it."""
    found: list[tuple[str, dict[str, Any]]] = []
    left: list[Any] = [model]
    while left:
        of = left.pop(0)
        params = {field.name: getattr(of, field.name) for field in fields(of)}
        within = {name for name, value in params.items() if isinstance(value, Saved)}
        own = {name: value for name, value in params.items() if name not in within}
        found.append((type(of).__name__, own))
        left += [params[name] for name in params if name in within]
    return found


def _parts(model: Model) -> tuple[RawFeatures | None, Learner | None]:
    if isinstance(model, Chain):
        return model.windows_, model.learner_
    return (model, None) if isinstance(model, RawFeatures) else (None, model)


def _described(data: bytes, model: Model, path: str) -> dict[str, Any]:
    saved = unpack(data)
    windows, learner = _parts(model)
    report: dict[str, Any] = {
        "format_version": format_version(data),
        "file_written": written(path),
        "learner": repr(model),
        "parameters": [
            {"of": name, **{key: _plain(value) for key, value in params.items()}}
            for name, params in parameters(model)
        ],
        "n_features": saved.n_features,
        "feature_names": list(saved.names),
        "labels": [repr(y) for y in saved.labels],
        "bytes": model.nbytes,
        "file_bytes": os.path.getsize(path),
    }
    if learner is not None:
        report |= {"n_seen": learner.n_seen_, "n_updates": learner.n_updates_}
        report["remarks"] = remarks.lines(learner=learner)
    if windows is not None:
        counts = {
            name: getattr(windows, f"{name}_") for name in ("n_pushed", "n_rows", "n_dropped")
        }
        report |= {"n_channels": saved.n_features, "n_features": len(windows.names()), **counts}
        report["features"] = windows.names()
    return report


def _plain(value: Any) -> Any:
    """A parameter as JSON has it: a kernel as text."""
    return value if isinstance(value, bool | int | float | str | dict | None) else repr(value)


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
