"""Device profiles, and limits that hold a process of this machine to them.

Every profile limits the model, and by how much its host grows once it is up: an interpreter with
NumPy is larger than a microcontroller, which runs exported C, so this shows that a running learner
takes no more, not that Python fits. One of a device that runs Python also limits the memory of the
host, from its start, and its processor time.
"""

from __future__ import annotations

import os
import time
import timeit
from dataclasses import dataclass

KiB, MiB = 1024, 1024 * 1024


@dataclass(frozen=True)
class Profile:
    """The limits of a device, in bytes and bits per second.

    ``arena_bytes``: the largest learner; ``learner_bytes``: the default size of a learner;
    ``allowance_bytes``: how much the host's processes may grow once it shakes hands; ``tx_bytes``:
    the node's transmit buffer; ``baud`` and ``max_baud``: default and highest speed of the UART. Of
    a device that runs Python: ``ram_bytes``: what those processes may hold together; ``cpu_us``:
    its processor time that they may take a sample; ``turns_per_s``: an estimate of that function.
    """

    name: str
    summary: str
    arena_bytes: int
    learner_bytes: int
    allowance_bytes: int
    tx_bytes: int
    baud: int = 115200
    max_baud: int = 921600
    ram_bytes: int | None = None
    cpu_us: float | None = None
    turns_per_s: float | None = None

    def allowed(self) -> dict[str, float]:
        """The limits that it claims."""
        limits = {
            "model_bytes": self.arena_bytes,
            "growth_bytes": self.allowance_bytes,
            "memory_bytes": self.ram_bytes,
            "cpu_us": self.cpu_us,
        }
        return {name: most for name, most in limits.items() if most is not None}

    def text(self) -> str:
        """The limits that it claims, and why not others."""
        text = ", ".join(f"{name} {most:,.0f}" for name, most in self.allowed().items())
        return text if self.ram_bytes else f"{text}; it runs C: none of a Python process"


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "pi-zero",
            "Raspberry Pi Zero: one ARMv6 core, 512 MiB shared with everything else",
            arena_bytes=1 * MiB,
            learner_bytes=16 * KiB,
            allowance_bytes=8 * MiB,
            tx_bytes=1024,
            ram_bytes=128 * MiB,
            cpu_us=25_000,
            turns_per_s=1e6,
        ),
        Profile(
            "pi-3",
            "Raspberry Pi 3: four ARMv8 cores, 1 GiB",
            arena_bytes=16 * MiB,
            learner_bytes=64 * KiB,
            allowance_bytes=32 * MiB,
            max_baud=4_000_000,
            tx_bytes=4096,
            ram_bytes=256 * MiB,
            cpu_us=10_000,
            turns_per_s=3e6,
        ),
        Profile(
            "esp32-class",
            "ESP32 or similar: 520 KiB of SRAM, half of it for the radio stack",
            arena_bytes=128 * KiB,
            learner_bytes=16 * KiB,
            allowance_bytes=2 * MiB,
            tx_bytes=512,
        ),
        Profile(
            "pico-class",
            "RP2040 or similar: two Cortex-M0+ cores without an FPU, 264 KiB of SRAM",
            arena_bytes=64 * KiB,
            learner_bytes=4 * KiB,
            allowance_bytes=2 * MiB,
            tx_bytes=256,
        ),
    )
}


def profile(name: str) -> Profile:
    """The profile of that name; ValueError lists the known names."""
    if name not in PROFILES:
        raise ValueError(f"no profile {name!r}; there are {', '.join(PROFILES)}")
    return PROFILES[name]


def turns_per_s() -> float:
    """How often this machine computes ``i * i % 7`` in Python in a second of processor time."""
    loop = "sum(i * i % 7 for i in range(50_000))"
    return 50_000 / min(timeit.repeat(loop, timer=time.process_time, number=1))


def one_thread_environment() -> dict[str, str]:
    """This process's environment, with BLAS limited to one thread.

    Each further thread of OpenBLAS costs some 40 MB of address space.
    """
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
