"""The machines that an exported model is compiled for, and the emulators that they need here."""

from __future__ import annotations

import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SECTIONS = "-ffunction-sections -fdata-sections"
ARM = f"arm-none-eabi-gcc -mthumb {SECTIONS} --specs=nano.specs --specs=nosys.specs"
RISCV = f"riscv64-unknown-elf-gcc {SECTIONS} --specs=picolibc.specs"
# Debian's package of each tool, and what it needs.
PACKAGES = {
    "arm-none-eabi-gcc": "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    "riscv64-unknown-elf-gcc": "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf",
    "qemu-system-arm": "qemu-system-arm",
    "qemu-system-riscv32": "qemu-system-misc",
    "avr-gcc": "gcc-avr avr-libc",
    "simavr": "simavr libsimavr-dev libelf-dev",
    "gcc": "gcc",
    "x86_64-linux-gnu-gcc": "gcc-x86-64-linux-gnu libc6-dev-amd64-cross",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    "arm-linux-gnueabihf-gcc": "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross",
    "qemu-x86_64-static": "qemu-user-static",
    "qemu-aarch64-static": "qemu-user-static",
    "qemu-arm-static": "qemu-user-static",
}


@dataclass(frozen=True)
class Board:
    """A processor: its compiler, and the emulator that has it, "" if this machine does.

    Without a system on it (`script`, of the linker, is given) it has `ram` bytes, with which QEMU
    is told to be strict by the linker: stores beyond them would vanish. `double`: its bytes.
    """

    compiler: str
    emulator: str
    ram: int = 0
    script: str = ""
    double: int = 8

    @property
    def is_avr(self) -> bool:
        return self.double == 4

    @property
    def tools(self) -> list[str]:
        """The programs that it takes."""
        return [command.split()[0] for command in (self.compiler, self.emulator) if command]

    @property
    def include(self) -> Path:
        """The folder of its board.h."""
        return HERE / ("avr" if self.is_avr else "bare" if self.script else "hosted")


def missing(*boards: Board) -> str:
    """What these need that is not here, and how to install it; "" if all is here."""
    tools = dict.fromkeys(tool for board in boards for tool in board.tools)
    absent = [tool for tool in tools if shutil.which(tool) is None]
    if "simavr" in tools and not Path("/usr/include/simavr").is_dir():  # the library's headers
        absent = list(dict.fromkeys([*absent, "simavr"]))
    packages = dict.fromkeys(PACKAGES[tool] for tool in absent)
    return (absent and f"no {', '.join(absent)} here (apt-get install {' '.join(packages)})") or ""


BOARDS = {
    "M0": Board(f"{ARM} -mcpu=cortex-m0", "qemu-system-arm -M microbit", 16 << 10, "cortexm.ld"),
    "M3": Board(f"{ARM} -mcpu=cortex-m3", "qemu-system-arm -M lm3s6965evb", 64 << 10, "cortexm.ld"),
    "M4F": Board(
        f"{ARM} -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard",
        "qemu-system-arm -M mps2-an386",
        64 << 10,
        "cortexm.ld",
    ),
    "M7": Board(
        f"{ARM} -mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard",
        "qemu-system-arm -M mps2-an500",
        64 << 10,
        "cortexm.ld",
    ),
    "rv32": Board(
        f"{RISCV} -march=rv32imac -misa-spec=2.2 -mabi=ilp32",
        "qemu-system-riscv32 -M virt -bios none",
        64 << 10,
        "riscv.ld",
    ),
}
# Of what needs no double of 64 bits; it counts cycles.
UNO = Board(
    f"avr-gcc -mmcu=atmega328p -mrelax {SECTIONS} -Wl,--gc-sections", "simavr", 2 << 10, double=4
)
NATIVE = {"x86_64": "x86-64", "aarch64": "arm64", "armv7l": "armhf"}.get(platform.machine())
HOSTS = {
    "x86-64": Board("x86_64-linux-gnu-gcc -static", "qemu-x86_64-static"),
    "arm64": Board("aarch64-linux-gnu-gcc -static", "qemu-aarch64-static"),
    "armhf": Board("arm-linux-gnueabihf-gcc -static", "qemu-arm-static"),
}
if NATIVE:
    HOSTS[NATIVE] = Board("gcc", "")
