"""Device profiles, and limits that hold a process of this machine to them.

A profile limits three things: the learner's arena (enforced by the library), the link's speed (by
`firmware_sim.line`) and the growth of the host process (by the kernel, once the program is up).
The process may grow by an allowance above its size at that moment, since an interpreter with NumPy
is larger than some of the devices: this shows that a running learner takes no more, not that Python
fits.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

KiB, MiB = 1024, 1024 * 1024


@dataclass(frozen=True)
class Profile:
    """The limits of a device, in bytes and bits per second.

    ``arena_bytes``: the largest learner; ``learner_bytes``: the default size of a learner;
    ``allowance_bytes``: how much the host process may grow once its port is open; ``tx_bytes``: the
    node's transmit buffer; ``baud`` and ``max_baud``: default and highest speed of the UART.
    """

    name: str
    summary: str
    arena_bytes: int
    learner_bytes: int
    allowance_bytes: int
    baud: int
    max_baud: int
    tx_bytes: int


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "pi-zero",
            "Raspberry Pi Zero: one ARMv6 core, 512 MiB shared with everything else",
            arena_bytes=1 * MiB,
            learner_bytes=16 * KiB,
            allowance_bytes=8 * MiB,
            baud=115200,
            max_baud=921600,
            tx_bytes=1024,
        ),
        Profile(
            "pi-3",
            "Raspberry Pi 3: four ARMv8 cores, 1 GiB",
            arena_bytes=16 * MiB,
            learner_bytes=64 * KiB,
            allowance_bytes=32 * MiB,
            baud=115200,
            max_baud=4_000_000,
            tx_bytes=4096,
        ),
        Profile(
            "esp32-class",
            "ESP32 or similar: 520 KiB of SRAM, half of it for the radio stack",
            arena_bytes=128 * KiB,
            learner_bytes=16 * KiB,
            allowance_bytes=2 * MiB,
            baud=115200,
            max_baud=921600,
            tx_bytes=512,
        ),
        Profile(
            "pico-class",
            "RP2040 or similar: two Cortex-M0+ cores without an FPU, 264 KiB of SRAM",
            arena_bytes=64 * KiB,
            learner_bytes=4 * KiB,
            allowance_bytes=2 * MiB,
            baud=115200,
            max_baud=921600,
            tx_bytes=256,
        ),
    )
}

_VM_FIELDS = ("VmSize", "VmData", "VmRSS", "VmHWM")


def profile(name: str) -> Profile:
    """The profile of that name; ValueError lists the known names."""
    if name not in PROFILES:
        raise ValueError(f"no profile {name!r}; there are {', '.join(PROFILES)}")
    return PROFILES[name]


def _proc(pid: int | None, file: str) -> Path:
    if not sys.platform.startswith("linux"):
        raise OSError(f"cannot read a process's memory: {sys.platform} has no /proc")
    return Path("/proc", "self" if pid is None else str(pid), file)


def is_idle(pid: int) -> bool:
    """Whether a process waits for something to come.

    One that computes, waits for the disk or a processor, or is stopped, does not. True where the
    system does not tell, and for a process that has ended.
    """
    try:
        stat = _proc(pid, "stat").read_bytes()
    except OSError:
        return True
    return stat.rpartition(b")")[2].split()[0] not in (b"R", b"D", b"T", b"t")


def read_vm(pid: int | None = None) -> dict[str, int]:
    """Memory of a process, this one by default.

    In bytes: ``VmSize`` (address space), ``VmData`` (private and writable), ``VmRSS`` (resident),
    ``VmHWM`` (peak resident since the process began or `reset_peak`), accurate to 100 to 250 kB.
    OSError where this is not Linux, ProcessLookupError if the process has ended.
    """
    try:
        text = _proc(pid, "status").read_text()
    except FileNotFoundError:
        raise ProcessLookupError(f"no process {pid}") from None
    lines = (line.split() for line in text.splitlines())
    found = {words[0][:-1]: int(words[1]) * KiB for words in lines if words[0][:-1] in _VM_FIELDS}
    # A zombie has a status without memory fields.
    if len(found) < len(_VM_FIELDS):
        raise ProcessLookupError(f"process {pid} has ended")
    return found


def reset_peak(pid: int | None = None) -> None:
    """Reset ``VmHWM`` of a process (this one by default) to its current size."""
    _proc(pid, "clear_refs").write_text("5")


def cap_process(pid: int | None, allowance_bytes: int) -> int:
    """Limit a process, this one if None, to `allowance_bytes` of growth from now on, in private
    writable memory (``RLIMIT_DATA``); shared memory and mapped files are not held back.

    Works on any running process of the same user, so a program can be limited once it has imported
    what it needs. One more thread alone takes 8 MiB of stack. Returns the limit in bytes, beyond
    which an allocation fails; OSError where this is not Linux, or not allowed.
    """
    if allowance_bytes < 0:
        raise ValueError(f"allowance_bytes must not be negative, got {allowance_bytes}")
    size = read_vm(pid)["VmData"]
    import resource  # missing on Windows, where read_vm has already raised

    limit = size + allowance_bytes
    resource.prlimit(0 if pid is None else pid, resource.RLIMIT_DATA, (limit, limit))
    return limit


def one_thread_environment() -> dict[str, str]:
    """This process's environment, with BLAS limited to one thread.

    Each further thread of OpenBLAS costs some 40 MB of address space.
    """
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
