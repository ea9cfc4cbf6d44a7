"""``edgesvm inspect``: show what a snapshot holds, without trusting it."""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from edgesvm.cli import reports
from edgesvm.cli.options import AS_JSON, argument, option
from edgesvm.cli.saved_model import Model, newest, of_file, snapshot
from edgesvm.contract.names import word_of
from edgesvm.link._ring import Batch
from edgesvm.link.recording import Recording, is_recording
from edgesvm.persist.checkpoint import Slot, inspect_slots, is_checkpoint
from edgesvm.persist.format import MAGIC, unpack
from edgesvm.persist.saved import Saved
from edgesvm.preprocessing.chain import Chain
from edgesvm.preprocessing.window_features import RawFeatures
from edgesvm.serve import remarks

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
    plan = ""
    if is_recording(settings.file):
        report = of_recording(settings.file)
        plan = f"Next: edgesvm {'eval' if report['n_labels'] else 'watch'} {settings.file}"
    else:
        with of_file(settings.file):
            slots = inspect_slots(settings.file) if is_checkpoint(settings.file) else []
            data, model = newest(slots) if slots else snapshot(settings.file)
        report = {"slots": [_slot(slot) for slot in slots]} if slots else {}
        if model is None:
            report["learner"] = "none saved yet"
        else:
            report |= of_model(data, model, settings.file)
            plan = str(model.plan(unpack(data).n_features))
    reports.show(report, as_json=settings.json)
    if plan and not settings.json:
        print(f"\n{plan}")
    return 0


def of_recording(path: str) -> dict[str, Any]:
    """What a recording holds; all of it is read once, and every CRC checked."""
    labels: Counter[Any] = Counter()
    with Recording(path) as recording:
        d, n = recording.n_features, 0
        low, high = np.full(d, np.inf), np.full(d, -np.inf)
        for part in recording.arrivals():
            if not isinstance(part, Batch):
                labels[part.label] += not part.is_epoch
                continue
            n += len(part.y)
            labels.update(part.y[part.has_label].tolist())
            low, high = np.fmin(low, part.X.min(axis=0)), np.fmax(high, part.X.max(axis=0))
        schema, account, words = recording.schema, recording.account(), recording.class_names
    return {
        "recording": path,
        "samples": n,
        "n_features": d,
        "feature_names": list(recording.feature_names),
        "period_us": schema.period_us,
        "late": schema.late,
        "targets": schema.targets,
        "labels": {}
        if schema.targets
        else {str(word_of(words, y)): labels[y] for y in sorted(labels)},
        "n_labels": sum(labels.values()),
        "ranges": [[float(a), float(b)] for a, b in zip(low, high, strict=True)] if n else [],
        "file_bytes": os.path.getsize(path),
        **account,
    }


def of_model(data: bytes, model: Model, path: str) -> dict[str, Any]:
    """What a snapshot holds."""
    saved = unpack(data)
    windows: Any = model if isinstance(model, RawFeatures) else None
    learner: Any = None if isinstance(model, RawFeatures) else model
    if isinstance(model, Chain):
        windows, learner = model.windows_, model.learner_
    report: dict[str, Any] = {
        "format_version": int.from_bytes(data[len(MAGIC) : len(MAGIC) + 2], "little"),
        "file_written": time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(os.path.getmtime(path))),
        "learner": repr(model),
        "parameters": _parameters(model),
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


def _parameters(model: Model) -> list[dict[str, Any]]:
    """Every parameter by name, of the model and then of the learners within it."""
    found: list[dict[str, Any]] = []
    left: list[Any] = [model]
    while left:
        of = left.pop(0)
        params = {field.name: getattr(of, field.name) for field in fields(of)}
        left += [value for value in params.values() if isinstance(value, Saved)]
        own = {name: value for name, value in params.items() if not isinstance(value, Saved)}
        found.append({"of": type(of).__name__, **{k: _plain(value) for k, value in own.items()}})
    return found


def _plain(value: Any) -> Any:
    """A parameter as JSON has it: a kernel as text."""
    return value if isinstance(value, bool | int | float | str | dict | None) else repr(value)


def _slot(slot: Slot) -> dict[str, Any]:
    told = {"sequence": slot.sequence, "snapshot_bytes": slot.snapshot_bytes}
    return told | {"problem": None if slot.problem is None else str(slot.problem)}
