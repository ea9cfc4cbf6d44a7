"""Cython in a cross build: what another machine's build has made of the same sources is taken over.

The C is the same for all machines, and to make it takes as long as to compile it. Meson starts this
in a build folder with Cython's own arguments.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

OPTIONS = Path("../../../../meson.build")  # Cython's options stand there


def dependencies(c: Path) -> list[Path]:
    """The files that a C file was made of, by the list beside it."""
    _, listed = Path(f"{c}.dep").read_text().split(":", 1)
    return [Path(name) for name in listed.replace("\\\n", " ").split()]


def is_current(c: Path) -> bool:
    """Whether it is complete and as new as what it was made of."""
    if not Path(f"{c}.dep").exists():
        return False
    sources = [*dependencies(c), OPTIONS]
    return all(f.exists() and f.stat().st_mtime <= c.stat().st_mtime for f in sources)


def elsewhere(out: Path) -> Path | None:
    """The same C in another machine's build folder."""
    module = out.parent.name.split(".")[0]
    found = Path("../..").glob(f"*/meson/{out.parent.parent}/{module}.*.p/{out.name}")
    return next((c for c in found if c.resolve() != out.resolve() and is_current(c)), None)


def main(arguments: list[str]) -> int:
    if "-o" in arguments:
        out = Path(arguments[arguments.index("-o") + 1])
        if c := elsewhere(out):
            listed = Path(f"{c}.dep").read_text().split(":", 1)[1]
            shutil.copyfile(c, out)
            Path(f"{out}.dep").write_text(f"{out}:{listed}")
            return 0
    return subprocess.run(["cython", *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
