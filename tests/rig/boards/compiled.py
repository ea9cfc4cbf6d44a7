"""An exported folder compiled for a core: the flash that it adds, and a bound of its stack."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rig.boards.board import Board
from rig.boards.program import sections

FLAGS = ("-Os", "-std=c99", "-ffp-contract=off")
LIBRARY_STACK = 96  # allowed for a routine of the compiler's library, which no graph shows
ONCE = {"esvm_sqrt", "esvm_root"}  # each calls itself, but not again: of a subnormal number, scaled
NODE = re.compile(r'node: \{ title: "([^"]+)" label: "[^"]*?(?:\\n(\d+) bytes \((\w[^)]*)\))?"')
EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')


@dataclass(frozen=True)
class Compiled:
    """Bytes.

    flash : of all the model's functions and tables, and of what they need of the compiler's library
    stack : at most, of a call of any of them; None if the call graph does not say
    """

    flash: int
    stack: int | None


def compiled(folder: Path, prefix: str, board: Board) -> Compiled:
    """Compile and link what an export wrote, with `-Os`."""
    command = [*board.compiler.split(), *FLAGS, f"-I{folder}"]
    graph = [] if board.is_avr else ["-fcallgraph-info=su"]  # Debian's avr-gcc is too old
    objects = []
    for name in (f"{prefix}.c", "edgesvm/esvm.c", "edgesvm/soft.c"):
        source = folder / name
        objects.append(source.with_suffix(".o"))
        run([*command, *graph, "-c", str(source), "-o", str(objects[-1])])
    public = symbols(board, objects[0], "T")
    program = folder / "program.elf"
    keep = [f"-Wl,-u,{name}" for name in [*public, *symbols(board, objects[0], "R")]]
    link = ["-nostartfiles", "-Wl,--gc-sections", f"-Wl,-e,{public[0]}", *keep]
    run([*command, *link, *map(str, objects), "-o", str(program), "-lm"])
    flash = sum(n for name, n in sections(board, program).items() if name.startswith(IN_FLASH))
    if not graph:
        return Compiled(flash, None)
    graphs = [path.with_suffix(".ci") for path in objects]
    return Compiled(flash, deepest("\n".join(map(Path.read_text, graphs)), public))


IN_FLASH = (".text", ".rodata", ".srodata", ".data", ".ARM.ex", ".eh_frame")


def run(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(board: Board, file: Path, kind: str) -> list[str]:
    """Of an object, what other files may use: functions ("T"), tables ("R")."""
    listed = run([board.compiler.split()[0].replace("gcc", "nm"), "-P", str(file)])
    return [line.split()[0] for line in listed.splitlines() if line.split()[1] == kind]


def deepest(graph: str, roots: list[str]) -> int | None:
    """Bytes of stack from any of the roots down, by GCC's call graph; None where there is no bound:
    a call by pointer, a recursion, or a frame whose size is not fixed."""
    frames: dict[str, int | None] = {}
    for name, size, how in NODE.findall(graph):
        if size:
            frames[name] = int(size) if how != "dynamic" else None
    calls: dict[str, set[str]] = {}
    for caller, called in EDGE.findall(graph):
        calls.setdefault(caller, set()).add(called)
    open_now: set[str] = set()

    @cache
    def below(name: str) -> int | None:
        if name in open_now or name == "__indirect_call":
            return None
        own = frames.get(name, LIBRARY_STACK)
        open_now.add(name)
        called = calls.get(name, set())
        deeper = [below(other) for other in called if other != name or name not in ONCE]
        open_now.remove(name)
        if own is not None and name in called & ONCE:
            own *= 2
        if own is None or None in deeper:
            return None
        return own + max((depth for depth in deeper if depth is not None), default=0)

    depths = [below(name) for name in roots]
    return None if None in depths else max(depth for depth in depths if depth is not None)
