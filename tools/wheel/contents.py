"""What must be in a wheel, and what must not."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

LARGEST = 1_500_000  # bytes: what we aim for
NEEDED = (
    "edgesvm/py.typed",
    "edgesvm/examples/arduino/vibration_features/vibration_features.ino",
    "edgesvm/examples/micropython/edgesvm_node.py",
    "edgesvm/examples/pi/edgesvm.service",
    "edgesvm/export/costs.json",
    "edgesvm/export/floor/esvm.h",
    "edgesvm/export/translated/stream.h",
    "edgesvm/learners/byte/byte.h",  # of exported models
)
UNWANTED = ("tests/", "reference/", "rig/", "_ref.py")  # what only a clone needs


def check(wheel: Path) -> Iterator[str]:
    """A line for each thing that is right; SystemExit for the first that is not."""
    with zipfile.ZipFile(wheel) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    info = next(name.split("/")[0] for name in files if name.endswith(".dist-info/WHEEL"))
    for name in (*NEEDED, f"{info}/licenses/LICENSE"):
        _must(name in files, f"{name} is missing")
    yield "licence, examples and the C of exported models are there"
    for name in files:
        _must(not any(part in name for part in UNWANTED), f"{name} is for a clone only")
    records = csv.reader(io.StringIO(files[f"{info}/RECORD"].decode()))
    recorded = {row[0]: row[1:] for row in records if row}
    _must(recorded.keys() == files.keys(), f"RECORD: {recorded.keys() ^ files.keys()}")
    for name, (digest, size) in recorded.items():
        if name != f"{info}/RECORD":
            body = files[name]
            sha256 = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
            _must((digest, size) == (f"sha256={sha256}", str(len(body))), f"RECORD: {name}")
    yield f"RECORD agrees with {len(files)} files"
    (bill,) = (name for name in files if name.startswith(f"{info}/sboms/"))
    told = json.loads(files[bill])
    _must(told["bomFormat"] == "CycloneDX", f"{bill} is no CycloneDX")
    yield f"bill of materials: {', '.join(part['name'] for part in told['components'])}"
    modules = [name for name in files if ".so" in name]
    yield f"{len(modules)} extension modules, {sum(len(files[name]) for name in modules):,} bytes"
    size = wheel.stat().st_size
    if size > LARGEST:
        yield f"larger than aimed for: {size:,} of {LARGEST:,} bytes"


def _must(true: bool, why: str) -> None:
    if not true:
        raise SystemExit(f"wheel: {why}")
