"""Cython's modules as C, by as many processes as there are processors, all forked from one, since
Cython's start takes as long as two small modules:
`python tools/translate.py DEPFILE FOLDER PYX ... -- OPTION ...`.

C that is newer than what it was made of is left as it is: after an edit only what depends on it is
made again, and compiled. The options are Cython's own.
"""

from __future__ import annotations

import gc
import os
import sys
from functools import partial
from multiprocessing import get_context
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


def translate(folder: str, options: list[str], source: str) -> bool:
    """Make the C of one module unless it is current; whether it is there."""
    c, how = c_of(folder, source), " ".join([__version__, *options])
    if is_current(c, how):
        return True
    settings, files = parse_command_line([*options, "-M", source, "-o", str(c)])
    if compile(files, settings).num_errors:
        c.unlink(missing_ok=True)
        return False
    Path(f"{c}.how").write_text(how, encoding="utf-8")
    return True


def c_of(folder: str, source: str) -> Path:
    return Path(folder, Path(source).stem + ".c")


def main(depfile: str, folder: str, *words: str) -> int:
    at = words.index("--")
    sources, options = words[:at], list(words[at + 1 :])
    first, *others = sources
    one = partial(translate, folder, options)
    gc.disable()  # a third of the time; instead a process ends after a few modules
    if not one(first):  # it fills Cython's tables, before they are shared
        return 1
    with get_context("fork").Pool(os.cpu_count(), maxtasksperchild=4) as pool:
        if not all(pool.imap_unordered(one, others)):
            return 1
    made = [c_of(folder, source) for source in sources]
    all_of = dict.fromkeys(name for c in made for name in made_of(c))
    Path(depfile).write_text(f"{made[0]}: {' '.join(all_of)}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
