"""An exported model as a program: rows of a file in, what it decided and learned out."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgesvm.export.folder import export
from edgesvm.learner import Learner
from rig.boards.board import HERE, Board
from rig.boards.samples import Samples

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
SOURCES = ("mod.c", "edgesvm/esvm.c", "edgesvm/soft.c")
STACK = 1024
CACHE = ["ccache"] if shutil.which("ccache") else []
QEMU = (
    "-display none -monitor none -serial none -icount shift=6,sleep=off"
    " -semihosting-config enable=on,target=native -d guest_errors,unimp -D guest.log"
)
OF_SNAPSHOTS = ("_snapshot_read", "_restore", "_is_whole", "_holds", "_is_sound")
# One machine reads its vectors before there is any memory.
AT_START = ("Invalid read at addr 0x0,", "Invalid read at addr 0x4,")


@dataclass(frozen=True)
class Run:
    """What came out. `code`: bytes of the model's machine code; `flash`: of the whole program."""

    values: NDArray[np.float64]
    decided: NDArray[np.int32]
    learned: NDArray[np.int32]
    arena: bytes
    code: int
    flash: int
    ram: int  # but for the stack
    stack: int
    decide: int  # instructions a sample, of a regressor to forecast; of an AVR, cycles
    learn: int
    self_test: bool


def write(learner: Learner, folder: Path, without: str = "") -> None:
    """Export it as "mod"; a control leaves out a line of floor.h."""
    for path in export(learner, folder, "mod"):
        if without and path.name == "floor.h":
            text = path.read_text()
            if without not in text:
                raise ValueError(f"floor.h has no {without!r}")
            path.write_text(text.replace(without, ""))


def build(
    learner: Learner,
    board: Board,
    folder: Path,
    *,
    stack: int = STACK,
    flags: str = "-Os",
    without: str = "",
) -> Path:
    """The program's file; a `CalledProcessError` of the linker if it does not fit into the RAM."""
    write(learner, folder, without)
    compiler = [*CACHE, *board.compiler.split(), *flags.split(), "-I.", f"-I{board.include}"]
    for source in (*SOURCES, str(HERE / "bulk.c")):
        rules = STRICT if source in SOURCES else ["-std=gnu99", "-w"]
        out = f"{Path(source).stem}.o"
        # in the folder, so that a cache of the compiler's finds what another folder has too
        subprocess.run([*compiler, *rules, "-c", source, "-o", out], cwd=folder, check=True)
    return link(board, folder, ram=board.ram, stack=stack)


def link(board: Board, folder: Path, *, ram: int, stack: int) -> Path:
    """The program of what was compiled, for so many bytes of RAM; errors as in `build`."""
    program = folder / "program.elf"
    objects = [folder / f"{Path(name).stem}.o" for name in (*SOURCES, "bulk.c")]
    command: list[str | Path] = [*board.compiler.split(), *objects, "-o", program]
    if board.script:
        command += ["-nostartfiles", "-Wl,--gc-sections", f"-T{board.include / board.script}"]
        command += [f"-Wl,--defsym=__ram={ram}", f"-Wl,--defsym=__stack={stack}"]
    subprocess.run([*command, "-lm"], check=True, capture_output=True)
    return program


def run(
    learner: Learner,
    board: Board,
    folder: Path,
    samples: Samples,
    *,
    stack: int = STACK,
    flags: str = "-Os",
    without: str = "",
) -> Run:
    """Decide about each sample, then learn it, on the board; a `RuntimeError` if it did what is not
    allowed there: a fault, an access outside memory, a full stack."""
    X, slots, weights = samples
    program = build(learner, board, folder, stack=stack, flags=flags, without=without)
    real = f"<f{board.double}"
    pad = 0 if board.is_avr else -X.itemsize * X.shape[1] % 8
    y = "<f8" if learner.regresses else "<i8"
    fields = [("x", X.dtype, X.shape[1]), ("pad", "u1", pad), ("weight", real), ("slot", y)]
    rows = np.zeros(len(X), fields)
    rows["x"], rows["weight"], rows["slot"] = X, weights, slots
    rows.tofile(folder / "rows.bin")
    start(board, program, folder)
    n, ticks, used, passed = np.fromfile(folder / "counts.bin", "<u4", 4).tolist()
    decide, learn = np.fromfile(folder / "counts.bin", "<u8", 2, offset=16).tolist()
    if n != len(X):
        raise RuntimeError(f"{n} of {len(X)} rows were read")
    parts = sections(board, program)
    if board.is_avr:  # all that is left
        stack = board.ram - parts[".data"] - parts[".bss"]
    if used >= stack:
        raise RuntimeError(f"the stack of {stack} bytes is full, and what is below it overwritten")
    width = n_values(learner)
    lines = np.fromfile(
        folder / "values.bin", [("values", real, width), ("decided", "<i4"), ("learned", "<i4")]
    )
    return Run(
        lines["values"].reshape(n, width).astype(np.float64),
        lines["decided"],
        lines["learned"],
        (folder / "arena.bin").read_bytes(),
        code_bytes(board, folder / "mod.o"),
        parts[".text"] + parts[".data"],
        parts[".data"] + parts[".bss"],
        used,
        round(decide * 3e6 / ticks / n),
        round(learn * 3e6 / ticks / n),
        bool(passed),
    )


def n_values(learner: Learner) -> int:
    """Numbers of a decision."""
    return 6 if learner.regresses else max(learner.core.n_columns, 1)


def start(board: Board, program: Path, folder: Path) -> None:
    """Run the program to its end."""
    command: list[str | Path] = [*board.emulator.split(), program]
    if board.is_avr:
        command[0] = simulator(folder)
    if board.script:
        command[-1:] = ["-kernel", program, *QEMU.split()]
    log = folder / "guest.log"
    log.unlink(missing_ok=True)
    done = subprocess.run(
        command, cwd=folder, timeout=3000, check=True, capture_output=True, text=True
    )
    said = log.read_text().splitlines() if log.exists() else []
    said = [line for line in said if not any(known in line for known in AT_START)]
    said += [line for line in (done.stdout + done.stderr).splitlines() if "FAULT" in line]
    if said:
        raise RuntimeError(f"guest errors: {len(said)}, first {said[0]}")


def simulator(folder: Path) -> Path:
    """The program that has an AVR."""
    made = folder / "simulator"
    source = HERE / "avr" / "simulator.c"
    subprocess.run(["gcc", "-O2", source, "-o", made, "-lsimavr", "-lelf"], check=True)
    return made


def heap_symbols(board: Board, program: Path) -> list[str]:
    """Functions of an allocator in it."""
    tool = board.compiler.split()[0].replace("gcc", "nm")
    report = subprocess.run([tool, program], check=True, capture_output=True, text=True).stdout
    return [name for name in report.split() if re.fullmatch(r"_*(m|c|re)alloc(_r)?|_*sbrk", name)]


def sections(board: Board, file: Path) -> dict[str, int]:
    """Bytes by section."""
    tool = board.compiler.split()[0].replace("gcc", "size")
    report = subprocess.run([tool, "-A", file], check=True, capture_output=True, text=True).stdout
    fields = [line.split() for line in report.splitlines()]
    return {f[0]: int(f[1]) for f in fields if len(f) == 3 and f[1].isdigit()}


def code_bytes(board: Board, file: Path) -> int:
    """Of what learns and decides: the model's functions but for those of snapshots."""
    return sum(
        n
        for name, n in sections(board, file).items()
        if name.startswith(".text") and not name.endswith(OF_SNAPSHOTS) and "_fault" not in name
    )
