"""Cython's modules as C, several in one process, whose start takes as long as a small module:
`python tools/translate.py DEPFILE FOLDER PYX ... -- OPTION ...`.

C that is newer than what it was made of is left as it is: after an edit only what depends on it is
made again, and compiled. The options are Cython's own.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from Cython import __version__
from Cython.Compiler.CmdLine import parse_command_line
from Cython.Compiler.Main import compile


def made_of(c: Path) -> list[str]:
    """The files that a C file was made of, by the list that Cython leaves beside it."""
    listed = Path(f"{c}.dep")
    if not listed.exists():
        return []
    return listed.read_text(encoding="utf-8").split(":", 1)[1].replace("\\\n", " ").split()


def is_current(c: Path, how: str) -> bool:
    """Whether it is there, made in the same way, and newer than what it was made of."""
    sources, noted = made_of(c), Path(f"{c}.how")
    if not (sources and c.exists() and noted.exists() and noted.read_text(encoding="utf-8") == how):
        return False
    made = c.stat().st_mtime
    return all(os.path.exists(f) and os.path.getmtime(f) <= made for f in sources)


def main(depfile: str, folder: str, *words: str) -> int:
    at = words.index("--")
    sources, options = words[:at], words[at + 1 :]
    how = " ".join([__version__, *options])
    all_of: list[str] = []
    for source in sources:
        c = Path(folder, Path(source).stem + ".c")
        if not is_current(c, how):
            settings, files = parse_command_line([*options, "-M", source, "-o", str(c)])
            if compile(files, settings).num_errors:
                c.unlink(missing_ok=True)
                return 1
            Path(f"{c}.how").write_text(how, encoding="utf-8")
        all_of += [name for name in made_of(c) if name not in all_of]
    first = Path(folder, Path(sources[0]).stem + ".c")
    Path(depfile).write_text(f"{first}: {' '.join(all_of)}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
