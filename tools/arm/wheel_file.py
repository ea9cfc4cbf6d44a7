"""A wheel written once more with files changed, and its list of hashes with them."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path


def rewritten(wheel: Path, out: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """`out`, in which each file is what `change` makes of its name and bytes."""
    lines = {}
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for item in old.infolist():
            if item.filename.endswith(".dist-info/RECORD"):  # it comes last
                body = record(old.read(item).decode(), lines).encode()
            else:
                body = change(item.filename, old.read(item))
                lines[item.filename] = line_of_record(item.filename, body)
            new.writestr(item, body)
    return out


def record(text: str, lines: dict[str, str]) -> str:
    """RECORD with the lines of the files as they are now."""
    names = [line.split(",")[0] for line in text.splitlines()]
    return "".join(f"{lines.get(name, f'{name},,')}\n" for name in names)


def line_of_record(name: str, body: bytes) -> str:
    """What RECORD says of a file."""
    sha256 = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
    return f"{name},sha256={sha256},{len(body)}"
