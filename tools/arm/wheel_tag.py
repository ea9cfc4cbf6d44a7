"""The tag under which a wheel may be installed: that of the oldest C library that has all it calls.

What `auditwheel` does, for wheels that bring no library of their own.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import zipfile
from pathlib import Path

from machine import Machine
from wheel_file import rewritten

# What every manylinux system has, of that which the compiler links to.
PROVIDED = re.compile(r"(libc|libm|libpthread|libgcc_s|ld-linux-\w+)\.so\.\d")
OLDEST = 17  # glibc 2.17, of manylinux2014: the first that pip knows for ARM


def glibc_needed(machine: Machine, wheel: Path) -> int:
    """The minor number of the glibc that the modules in the wheel need.

    Raises
    ------
    ValueError
        A module needs a library that not every manylinux system has.
    """
    newest = OLDEST
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        for name in (n for n in archive.namelist() if n.endswith(".so")):
            objdump = [f"{machine.triple}-objdump", "-p", archive.extract(name, folder)]
            listing = subprocess.run(objdump, capture_output=True, text=True, check=True).stdout
            for library in re.findall(r"NEEDED\s+(\S+)", listing):
                if not PROVIDED.fullmatch(library):
                    raise ValueError(f"{name} needs {library}, which a wheel has to bring")
            newest = max([newest, *map(int, re.findall(r"GLIBC_2\.(\d+)", listing))])
    return newest


def tagged(machine: Machine, wheel: Path) -> Path:
    """The wheel under its manylinux tag, in the machine's folder `dist`."""
    plain = f"linux_{machine.platform}"
    tag = f"manylinux_2_{glibc_needed(machine, wheel)}_{machine.platform}"
    dist = machine.folder / "dist"
    dist.mkdir(exist_ok=True)
    for old in dist.glob("*.whl"):
        old.unlink()
    out = dist / wheel.name.replace(plain, tag)

    def change(name: str, body: bytes) -> bytes:
        is_tagged = name.endswith(".dist-info/WHEEL")
        return body.replace(plain.encode(), tag.encode()) if is_tagged else body

    return rewritten(wheel, out, change)
