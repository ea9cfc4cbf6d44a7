"""Boards by name: core, clock, flash and RAM, as their makers state them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

SECTIONS = "-Os -std=c99 -ffp-contract=off -ffunction-sections -fdata-sections"
ARM = ("arm-none-eabi-gcc",)
NEWLIB = "-mthumb --specs=nano.specs --specs=nosys.specs"
RISCV = ("riscv64-unknown-elf-gcc",)
PICOLIBC = "-misa-spec=2.2 -mabi=ilp32 --specs=picolibc.specs"


@dataclass(frozen=True)
class Core:
    """A processor.

    title : its name
    compilers : programs that compile for it; the first that is there is taken
    flags : of them
    counted_as : the core on whose emulator instructions were counted
    cycles : an instruction takes on average; an assumption, not a measurement. Of an AVR cycles
        are counted
    """

    title: str
    compilers: tuple[str, ...]
    flags: str
    counted_as: str
    cycles: float = 1.5

    @property
    def has_double(self) -> bool:
        """Whether a double has 64 bits there; without, there is ByteSVM alone."""
        return self.counted_as != "AVR"

    @property
    def compiler(self) -> str | None:
        """The compiler that is there."""
        return next((cc for cc in self.compilers if shutil.which(cc)), None)


CORES = {
    "M0": Core("Cortex-M0", ARM, f"-mcpu=cortex-m0 {NEWLIB}", "M0"),
    "M0+": Core("Cortex-M0+", ARM, f"-mcpu=cortex-m0plus {NEWLIB}", "M0"),
    "M3": Core("Cortex-M3", ARM, f"-mcpu=cortex-m3 {NEWLIB}", "M3"),
    "M4F": Core(
        "Cortex-M4F", ARM, f"-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard {NEWLIB}", "M4F"
    ),
    "M33": Core(
        "Cortex-M33", ARM, f"-mcpu=cortex-m33 -mfpu=fpv5-sp-d16 -mfloat-abi=hard {NEWLIB}", "M4F"
    ),
    "M7": Core(
        "Cortex-M7",
        ARM,
        f"-mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard {NEWLIB}",
        "M7",
        cycles=1.0,
    ),
    "rv32": Core("RISC-V rv32imc", RISCV, f"-march=rv32imc {PICOLIBC}", "rv32"),
    "LX6": Core("Xtensa LX6", ("xtensa-esp32-elf-gcc",), "-mlongcalls", "M4F"),
    "LX7": Core("Xtensa LX7", ("xtensa-esp32s3-elf-gcc",), "-mlongcalls", "M4F"),
    "AVR": Core("AVR", ("avr-gcc",), "-mmcu=atmega328p -mrelax", "AVR", cycles=1.0),
}


@dataclass(frozen=True)
class Board:
    """`flash` and `ram` in bytes; `fpu`: "none", "single" or "double" precision."""

    title: str
    core: str
    mhz: int
    flash: int
    ram: int
    fpu: str


KIB, MIB = 1 << 10, 1 << 20
BOARDS = {
    "uno": Board("Arduino Uno (ATmega328P)", "AVR", 16, 32 * KIB, 2 * KIB, "none"),
    "microbit": Board("BBC micro:bit (nRF51822)", "M0", 16, 256 * KIB, 16 * KIB, "none"),
    "pico": Board("Raspberry Pi Pico (RP2040)", "M0+", 125, 2 * MIB, 264 * KIB, "none"),
    "stm32f103": Board("STM32F103C8", "M3", 72, 64 * KIB, 20 * KIB, "none"),
    "nano33": Board("Arduino Nano 33 BLE (nRF52840)", "M4F", 64, MIB, 256 * KIB, "single"),
    "microbit2": Board("BBC micro:bit V2 (nRF52833)", "M4F", 64, 512 * KIB, 128 * KIB, "single"),
    "stm32f4": Board("STM32F407 (without its CCM)", "M4F", 168, MIB, 128 * KIB, "single"),
    "pico2": Board("Raspberry Pi Pico 2 (RP2350, Arm)", "M33", 150, 4 * MIB, 520 * KIB, "single"),
    "teensy41": Board("Teensy 4.1 (first RAM)", "M7", 600, 7936 * KIB, 512 * KIB, "double"),
    "esp32": Board("ESP32 (data RAM)", "LX6", 240, 4 * MIB, 320 * KIB, "single"),
    "esp32-s3": Board("ESP32-S3", "LX7", 240, 8 * MIB, 320 * KIB, "single"),
    "esp32-c3": Board("ESP32-C3", "rv32", 160, 4 * MIB, 320 * KIB, "none"),
}
