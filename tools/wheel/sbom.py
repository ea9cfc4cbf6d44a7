"""The bill of materials of a wheel: CycloneDX, in .dist-info/sboms (PEP 770).

A wheel has our own code, what Cython and NumPy's headers put into it, and nothing else: no library
is bundled.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
import uuid
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any


def component(name: str, of: str, license_id: str, **more: Any) -> dict[str, Any]:
    purl = f"pkg:pypi/{name.lower()}@{of}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": of,
        "purl": purl,
        "licenses": [{"license": {"id": license_id}}],
        **more,
    }


def bill(name: str, of: str, epoch: int) -> dict[str, Any]:
    """The bill of this wheel as a JSON object, the same at each build."""
    compiled_in = [
        component("Cython", version("Cython"), "Apache-2.0", description="its C run-time code"),
        component("numpy", version("numpy"), "BSD-3-Clause", description="its C headers"),
    ]
    ours = component(name, of, "BSD-3-Clause")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, ours['purl'])}",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
            "component": ours,
        },
        "components": compiled_in,
        "dependencies": [
            {"ref": ours["bom-ref"], "dependsOn": [c["bom-ref"] for c in compiled_in]}
        ],
    }


def with_sbom(wheel: Path, epoch: int) -> Path:
    """Rewrite the wheel with its bill, its files in order and all of one time."""
    name, of = wheel.name.split("-")[:2]
    text = json.dumps(bill(name, of, epoch), indent=1).encode() + b"\n"
    path = f"{name}-{of}.dist-info/sboms/{name}.cdx.json"
    with zipfile.ZipFile(wheel) as packed:
        files = {item.filename: packed.read(item) for item in packed.infolist()}
        modes = {item.filename: item.external_attr for item in packed.infolist()}
    record = f"{name}-{of}.dist-info/RECORD"
    files = {filename: body for filename, body in files.items() if not filename.endswith("/")}
    lines = [line for line in files.pop(record).decode().splitlines() if not line.startswith(path)]
    files[path] = text
    lines.insert(-1, line_of_record(path, text))
    files = {**dict(sorted(files.items())), record: ("\n".join(lines) + "\n").encode()}
    stamp = time.gmtime(max(epoch, 315532800))[:6]  # a zip has no time before 1980
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for filename, body in files.items():
            info = zipfile.ZipInfo(filename, stamp)
            info.external_attr = modes.get(filename, 0o644 << 16)
            info.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(info, body, compresslevel=9)
    return wheel


def line_of_record(name: str, body: bytes) -> str:
    """What RECORD says of a file."""
    sha256 = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
    return f"{name},sha256={sha256},{len(body)}"
