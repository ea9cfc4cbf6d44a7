"""Boards by name: core, clock, flash and RAM, as their makers state them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Core:
    """A processor."""

    title: str
    counted_as: str  # the core on whose emulator instructions were counted
    cycles: float = 1.5  # an instruction, in the mean; an assumption

    @property
    def has_double(self) -> bool:
        """Whether a double has 64 bits there; without, there is ByteSVM alone."""
        return self.counted_as != "AVR"


CORES = {
    "M0": Core("Cortex-M0", "M0"),
    "M0+": Core("Cortex-M0+", "M0"),
    "M3": Core("Cortex-M3", "M3"),
    "M4F": Core("Cortex-M4F", "M4F"),
    "M33": Core("Cortex-M33", "M4F"),
    "M7": Core("Cortex-M7", "M7", cycles=1.0),
    "rv32": Core("RISC-V rv32imc", "rv32"),
    "LX6": Core("Xtensa LX6", "M4F"),
    "LX7": Core("Xtensa LX7", "M4F"),
    "AVR": Core("AVR", "AVR", cycles=1.0),
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
