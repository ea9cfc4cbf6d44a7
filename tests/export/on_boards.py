"""An exported model, cross-compiled and run under QEMU on a board's processor."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from on_host import STRICT, write

HERE = Path(__file__).parent / "boards"
SECTIONS = "-ffunction-sections -fdata-sections"
ARM = f"arm-none-eabi-gcc -mthumb {SECTIONS} --specs=nano.specs --specs=nosys.specs"
RISCV = f"riscv64-unknown-elf-gcc {SECTIONS} --specs=picolibc.specs"
RUN = (
    "-display none -monitor none -serial none -icount shift=6,sleep=off"
    " -semihosting-config enable=on,target=native -d guest_errors,unimp -D guest.log"
)


@dataclass(frozen=True)
class Board:
    """A processor, the QEMU machine that has it, and its bytes of RAM."""

    compiler: str
    machine: str
    ram: int
    script: str = "cortexm.ld"

    def missing(self):
        """The tools that are not there."""
        tools = [self.compiler.split()[0], self.machine.split()[0]]
        return [tool for tool in tools if shutil.which(tool) is None]


BOARDS = {
    "M0": Board(f"{ARM} -mcpu=cortex-m0", "qemu-system-arm -M microbit", 16 << 10),
    "M3": Board(f"{ARM} -mcpu=cortex-m3", "qemu-system-arm -M lm3s6965evb", 64 << 10),
    "M4F": Board(
        f"{ARM} -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard",
        "qemu-system-arm -M mps2-an386",
        64 << 10,
    ),
    "M7": Board(
        f"{ARM} -mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard",
        "qemu-system-arm -M mps2-an500",
        64 << 10,
    ),
    "rv32": Board(
        f"{RISCV} -march=rv32imac -misa-spec=2.2 -mabi=ilp32",
        "qemu-system-riscv32 -M virt -bios none",
        64 << 10,
        "riscv.ld",
    ),
}


@dataclass(frozen=True)
class Run:
    """What came out. `code`: bytes of the model's machine code; `flash`: of the whole program."""

    values: np.ndarray
    decided: np.ndarray
    learned: np.ndarray
    arena: bytes
    code: int
    flash: int
    stack: int
    decide: int  # instructions a sample
    learn: int
    self_test: bool


def build(learner, board, folder, *, stack=1024, flags="-Os", without=""):
    """The program's file; CalledProcessError if it does not fit."""
    write(learner, folder, without)
    compiler = [*board.compiler.split(), *flags.split(), f"-I{folder}", f"-I{HERE}"]
    objects = []
    for source in (
        folder / "mod.c",
        folder / "edgesvm/esvm.c",
        folder / "edgesvm/soft.c",
        HERE / "bulk.c",
    ):
        objects.append(folder / f"{source.stem}.o")
        rules = STRICT if source.parent != HERE else ["-std=gnu99", "-w"]
        subprocess.run([*compiler, *rules, "-c", source, "-o", objects[-1]], check=True)
    program = folder / "program.elf"
    link = [
        "-nostartfiles",
        "-Wl,--gc-sections",
        f"-Wl,--defsym=__ram={board.ram}",
        f"-Wl,--defsym=__stack={stack}",
        f"-T{HERE / board.script}",
    ]
    subprocess.run(
        [*compiler, *link, *objects, "-o", program, "-lm"], check=True, capture_output=True
    )
    return program


def run(learner, board, folder, samples, *, stack=1024, **options):
    """Decide about each sample, then learn it, on the board."""
    X, slots, weights = samples
    program = build(learner, board, folder, stack=stack, **options)
    pad = -X.itemsize * X.shape[1] % 8
    fields = [("x", X.dtype, X.shape[1]), ("pad", "u1", pad), ("weight", "<f8"), ("slot", "<i8")]
    rows = np.zeros(len(X), fields)
    rows["x"], rows["weight"], rows["slot"] = X, weights, slots
    rows.tofile(folder / "rows.bin")
    command = [*board.machine.split(), "-kernel", program, *RUN.split()]
    done = subprocess.run(
        command, cwd=folder, timeout=600, check=True, capture_output=True, text=True
    )
    log = folder / "guest.log"
    said = log.read_text().splitlines() if log.exists() else []
    # one machine reads its vectors before there is any memory
    said = [line for line in said if "Invalid read at addr 0x0," not in line]
    said = [line for line in said if "Invalid read at addr 0x4," not in line]
    assert not said, said
    assert "FAULT" not in done.stdout + done.stderr
    n, ticks, used, passed = np.fromfile(folder / "counts.bin", "<u4", 4).tolist()
    decide, learn = np.fromfile(folder / "counts.bin", "<u8", 2, offset=16).tolist()
    assert n == len(X)
    assert used < stack, "the stack is full, and what is below it overwritten"
    n_values = max(learner._allocated.n_columns, 1)
    lines = np.fromfile(
        folder / "values.bin", [("values", "<f8", n_values), ("decided", "<i4"), ("learned", "<i4")]
    )
    return Run(
        lines["values"].reshape(n, n_values),
        lines["decided"],
        lines["learned"],
        (folder / "arena.bin").read_bytes(),
        code_bytes(board, folder / "mod.o"),
        flash_bytes(board, program),
        used,
        round(decide * 3e6 / ticks / n),
        round(learn * 3e6 / ticks / n),
        bool(passed),
    )


def sections(board, file):
    """Bytes by section."""
    tool = board.compiler.split()[0].replace("gcc", "size")
    report = subprocess.run([tool, "-A", file], check=True, capture_output=True, text=True).stdout
    fields = [line.split() for line in report.splitlines()]
    return {f[0]: int(f[1]) for f in fields if len(f) == 3 and f[1].isdigit()}


def code_bytes(board, file):
    """Of what learns and decides: the model's functions but for those of snapshots."""
    return sum(
        n
        for name, n in sections(board, file).items()
        if name.startswith(".text") and not name.endswith(("_snapshot_read", "_restore"))
    )


def flash_bytes(board, file):
    return sum(n for name, n in sections(board, file).items() if name in (".text", ".data"))
