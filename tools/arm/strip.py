"""The wheel without the symbols that only a debugger reads: meson-python installs by itself, and
strips nothing."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from machine import Machine
from wheel_file import rewritten


def stripped(machine: Machine, wheel: Path) -> Path:
    """The wheel with modules that the machine's `strip` has been over, in the folder `stripped`."""
    folder = machine.folder / "stripped"
    folder.mkdir(exist_ok=True)

    def change(name: str, body: bytes) -> bytes:
        if not name.endswith(".so"):
            return body
        with tempfile.TemporaryDirectory() as scratch:
            module = Path(scratch) / "module.so"
            module.write_bytes(body)
            subprocess.run([f"{machine.triple}-strip", "--strip-unneeded", module], check=True)
            return module.read_bytes()

    return rewritten(wheel, folder / wheel.name, change)
