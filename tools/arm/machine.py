"""The two ARM machines, and what this host needs to build for them and to emulate them."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The Debian release whose Python is the one that builds; extension modules are made for one.
RELEASES = {(3, 11): "bookworm", (3, 13): "trixie"}
PACKAGES = (
    "qemu-user-static mmdebstrap gcc-aarch64-linux-gnu gcc-arm-linux-gnueabihf"
    " libc6-dev-arm64-cross libc6-dev-armhf-cross"
)


@dataclass(frozen=True)
class Machine:
    """A machine under its names: Debian's, the compiler's, the emulator's and that of wheels."""

    name: str
    triple: str
    emulator: str
    platform: str
    cpu_family: str

    @property
    def folder(self) -> Path:
        """Where all that is made for it lies."""
        return ROOT / "build" / "arm" / self.name

    @property
    def root(self) -> Path:
        """A Debian of this machine, unpacked."""
        return self.folder / "root"


MACHINES = (
    Machine("arm64", "aarch64-linux-gnu", "qemu-aarch64-static", "aarch64", "aarch64"),
    Machine("armhf", "arm-linux-gnueabihf", "qemu-arm-static", "armv7l", "arm"),
)


def missing() -> str:
    """Why `make arm` cannot run here; "" if it can."""
    tools = ["mmdebstrap", "apt-get"]
    tools += [tool for m in MACHINES for tool in (f"{m.triple}-gcc", m.emulator)]
    absent = [tool for tool in tools if shutil.which(tool) is None]
    if absent:
        return f"no {', '.join(absent)} here (apt-get install {PACKAGES})"
    if sys.version_info[:2] not in RELEASES:
        known = " or ".join(f"{major}.{minor}" for major, minor in RELEASES)
        return f"it needs Python {known}, of which Debian has NumPy; this is {sys.version}"
    return ""
