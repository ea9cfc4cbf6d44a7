"""``edgesvm inspect``: show what a snapshot holds, without trusting it."""

from __future__ import annotations

import json
import os
import textwrap
import time
from collections import Counter
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from edgesvm.budget import format_bytes
from edgesvm.cli.options import AS_JSON, argument, option
from edgesvm.cli.saved_model import Model, newest, of_file, snapshot
from edgesvm.learner import Learner
from edgesvm.link import Batch, Recording
from edgesvm.link.recording import is_recording
from edgesvm.persist import Slot, inspect_slots, is_checkpoint, unpack
from edgesvm.persist.format import MAGIC
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
    if is_recording(settings.file):
        report = of_recording(settings.file)
        lines = _of_recording(report)
    else:
        with of_file(settings.file):
            slots = inspect_slots(settings.file) if is_checkpoint(settings.file) else []
            data, model = newest(slots) if slots else snapshot(settings.file)
        report = {} if model is None else of_model(data, model, settings.file)
        lines = _of_slots(slots) + (
            [("learner", "none saved yet")] if model is None else _of_model(report)
        )
        if slots:
            report["slots"] = [_slot(slot) for slot in slots]
    if settings.json:
        print(json.dumps(report))
        return 0
    for name, text in lines:
        print(textwrap.fill(text, 100, initial_indent=f"{name:<11}", subsequent_indent=" " * 11))
    if "recording" in report:
        print(f"\nNext: edgesvm {'eval' if report['n_labels'] else 'watch'} {settings.file}")
    elif model is not None:
        print(f"\n{model.plan(unpack(data).n_features)}")
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
        schema, account = recording.schema, recording.account()
    return {
        "recording": path,
        "samples": n,
        "n_features": d,
        "period_us": schema.period_us,
        "late": schema.late,
        "targets": schema.targets,
        "labels": {} if schema.targets else {str(y): labels[y] for y in sorted(labels)},
        "n_labels": sum(labels.values()),
        "ranges": [[float(a), float(b)] for a, b in zip(low, high, strict=True)] if n else [],
        "file_bytes": os.path.getsize(path),
        **account,
    }


def _of_recording(of: dict[str, Any]) -> list[tuple[str, str]]:
    """The report of a recording in lines, by name."""
    rate = f"{1e6 / of['period_us']:g} a second" if of["period_us"] else "their rate is not known"
    kinds = ", ".join(f"{y}: {count:,}" for y, count in of["labels"].items())
    if of["targets"]:
        kinds = f"{of['n_labels']:,} targets"
    size = format_bytes(of["file_bytes"])
    damaged = f"{of['damaged']:,} records; {of['torn_bytes']} incomplete bytes at the end"
    return [
        ("recording", f"{of['samples']:,} samples of {of['n_features']} channels; {rate}; {size}"),
        ("labels", f"{kinds or 'none'}{', sent after their samples' if of['late'] else ''}"),
        *((f"x{j}", f"{a:g} to {b:g}") for j, (a, b) in enumerate(of["ranges"])),
        ("damaged", damaged),
    ]


def of_model(data: bytes, model: Model, path: str) -> dict[str, Any]:
    """What a snapshot holds."""
    saved = unpack(data)
    windows, learner = _parts(model)
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


def _of_model(of: dict[str, Any]) -> list[tuple[str, str]]:
    """The report of a snapshot in lines, by name."""
    of_windows = "n_channels" in of
    names = ", ".join(of["feature_names"])
    lines = [
        (
            "format",
            f"snapshot, version {of['format_version']}; the file was written {of['file_written']} "
            "(neither the time of a save nor the device is stored in it)",
        ),
        ("windows" if "n_seen" not in of else "learner", of["learner"]),
    ]
    for params in of["parameters"]:
        given = ", ".join(f"{key}={value!r}" for key, value in params.items() if key != "of")
        lines.append(("parameters", f"{params['of']}: {given or 'none'}"))
    if of_windows:
        lines.append(("channels", f"{of['n_channels']}{': ' if names else ''}{names}"))
        names = ", ".join(of["features"])
    lines.append(("features", f"{of['n_features']}{': ' if names else ''}{names}"))
    if of_windows:
        lines.append(
            (
                "samples",
                f"{of['n_pushed']:,} raw ones taken, {of['n_rows']:,} windows complete, "
                f"{of['n_dropped']:,} dropped at gaps",
            )
        )
    if "n_seen" in of:
        what = "learned" if of_windows else "samples"
        lines += [
            ("labels", ", ".join(of["labels"]) or "none"),
            (what, f"{of['n_seen']:,} seen, {of['n_updates']:,} changed the model"),
            *(("note", remark) for remark in of["remarks"]),
        ]
    size, on_disk = format_bytes(of["bytes"]), format_bytes(of["file_bytes"])
    return [*lines, ("bytes", f"{size} of state, {on_disk} on disk")]


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


def _parts(model: Model) -> tuple[RawFeatures | None, Learner | None]:
    if isinstance(model, Chain):
        return model.windows_, model.learner_
    return (model, None) if isinstance(model, RawFeatures) else (None, model)


def _of_slots(slots: list[Slot]) -> list[tuple[str, str]]:
    return [(f"slot {slot.index}", _slot_words(slot)) for slot in slots]


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
