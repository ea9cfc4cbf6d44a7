"""Cython in a cross build: what this host's build, or another machine's, has made of the same
sources is taken over.

The C is the same for all machines, and to make it takes as long as to compile it. Meson starts this
in a build folder with Cython's own arguments.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

BUILD = Path("../../..")
OPTIONS = BUILD / "../meson.build"  # Cython's options stand there


def builds() -> Iterator[Path]:
    """The build folders with these options: this host's own, which has the name of its virtual
    environment, and those of the machines."""
    yield BUILD / Path(sys.prefix).name
    yield from BUILD.glob("arm/*/meson")


def dependencies(build: Path, c: Path) -> list[Path]:
    """The files that a C file was made of, by the list beside it."""
    _, listed = Path(f"{c}.dep").read_text().split(":", 1)
    return [Path(os.path.relpath(build / name)) for name in listed.replace("\\\n", " ").split()]


def is_current(build: Path, c: Path) -> bool:
    """Whether it is complete and as new as what it was made of."""
    if not Path(f"{c}.dep").exists():
        return False
    sources = [*dependencies(build, c), OPTIONS]
    return all(f.exists() and f.stat().st_mtime <= c.stat().st_mtime for f in sources)


def elsewhere(out: Path) -> tuple[Path, Path] | None:
    """The same C in another build folder, and that folder."""
    target = out.parent.name.split(".")[0]
    for build in builds():
        for c in build.glob(f"{out.parent.parent}/{target}.*.p/{out.name}"):
            if c.resolve() != out.resolve() and is_current(build, c):
                return build, c
    return None


def main(arguments: list[str]) -> int:
    if "-o" in arguments:
        out = Path(arguments[arguments.index("-o") + 1])
        if found := elsewhere(out):
            shutil.copyfile(found[1], out)
            Path(f"{out}.dep").write_text(f"{out}: {' '.join(map(str, dependencies(*found)))}\n")
            return 0
    return subprocess.run(["cython", *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
