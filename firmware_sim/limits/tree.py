"""The processes of a program: itself, its children and theirs, daemons among them."""

from __future__ import annotations

import os
import re
import secrets
import signal
from contextlib import suppress
from glob import iglob
from itertools import chain

_FIELD = re.compile(rb"(Rss|Pss_Anon|Pss_Shmem|SwapPss|VmHWM|VmRSS|wchar):\s+(\d+)")


class ProcessTree:
    """Memory and processor time of a program, and of all that it starts.

    Its processes are known by `environment`, which it must be given, or by their parents. Memory is
    what was touched, each page once: private ones, and shared ones (mappings, memfd, files in
    /dev/shm). Pages of other files do not count: the kernel can drop them. OSError where the system
    does not tell.
    """

    def __init__(self) -> None:
        if b"Pss_Shmem" not in _fields("self", "smaps_rollup"):
            raise OSError("this kernel does not tell a process's shared memory")
        self._mark = f"FIRMWARE_SIM_HOST={secrets.token_hex(8)}"
        self.environment = dict([self._mark.split("=")])
        self._seen: dict[tuple[int, int], tuple[int, int]] = {}  # processor time, bytes written
        self.now, self.cpu_s = 0, 0.0
        with open(os.memfd_create("device")) as memfd:
            self._devices = {os.fstat(memfd.fileno()).st_dev, os.stat("/dev/shm").st_dev}
        self._before = self._files([])

    def look(self, *, anew: bool = False) -> int:
        """Their highest memory in bytes, since the last look that was `anew`; sets `now` and
        `cpu_s`."""
        pids, private, shared, passed = self.alive(), 0, 0, 0
        for pid in pids:
            with suppress(FileNotFoundError, ProcessLookupError, KeyError):  # it has ended
                # What is freed between the two is not counted twice.
                kB = _fields(pid, "smaps_rollup") | _fields(pid, "status")
                private += (kB[b"Pss_Anon"] + kB[b"SwapPss"]) * 1024
                shared += kB[b"Pss_Shmem"] * 1024
                passed += max(0, kB[b"VmHWM"] - max(kB[b"VmRSS"], kB[b"Rss"])) * 1024
                if anew:
                    with open(f"/proc/{pid}/clear_refs", "w") as peak:
                        peak.write("5")
        grown = sum(max(0, n - self._before.get(at, 0)) for at, n in self._files(pids).items())
        # Others write to /dev/shm too. A file that is also mapped counts once.
        in_files = min(grown, sum(written for _, written in self._seen.values()))
        self.now = private + max(shared, in_files)
        return self.now + passed

    def alive(self) -> list[int]:
        """Their pids; notes the processor time of each, and what it has written."""
        table = _processes()
        ours = {pid for pid, (_, started, *_) in table.items() if self._is_known(pid, started)}
        while more := {pid for pid, (parent, *_) in table.items() if parent in ours} - ours:
            ours |= more
        for pid in ours:
            with suppress(FileNotFoundError, ProcessLookupError):
                self._seen[pid, table[pid][1]] = table[pid][2], _fields(pid, "io")[b"wchar"]
        # A child that has ended is in its parent's time, unless its parent did not wait for it.
        waited = sum(sum(table[pid][2:]) for pid in ours)
        ticks = max(waited, sum(own for own, _ in self._seen.values()))
        self.cpu_s = max(self.cpu_s, ticks / os.sysconf("SC_CLK_TCK"))
        return sorted(ours)

    def kill(self) -> None:
        """SIGKILL all that are left."""
        while pids := self.alive():
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _is_known(self, pid: int, started: int) -> bool:
        with suppress(OSError):  # it has ended, or is another user's
            return (pid, started) in self._seen or self._mark.encode() in _read(pid, "environ")
        return False

    def _files(self, pids: list[int]) -> dict[tuple[int, int], int]:
        """Bytes of each file in memory that they hold or that is in /dev/shm."""
        held = (path for pid in pids for path in iglob(f"/proc/{pid}/fd/*"))
        named = (os.path.join(at, name) for at, _, names in os.walk("/dev/shm") for name in names)
        sizes = {}
        for path in chain(held, named):
            with suppress(OSError):
                of = os.stat(path)
                if of.st_dev in self._devices:
                    sizes[of.st_dev, of.st_ino] = of.st_blocks * 512
        return sizes


def is_idle(pid: int) -> bool:
    """Whether a process waits for something to come.

    One that computes, waits for the disk or a processor, or is stopped, does not. True where the
    system does not tell, and for a process that has ended.
    """
    with suppress(OSError):
        return _stat(pid)[0] not in (b"R", b"D", b"T", b"t")
    return True


def _read(pid: int | str, file: str) -> bytes:
    with open(f"/proc/{pid}/{file}", "rb") as opened:
        return opened.read()


def _fields(pid: int | str, file: str) -> dict[bytes, int]:
    return {name: int(value) for name, value in _FIELD.findall(_read(pid, file))}


def _stat(pid: int | str) -> list[bytes]:
    """From the third on: state, parent, ..."""
    return _read(pid, "stat").rpartition(b")")[2].split()


def _processes() -> dict[int, tuple[int, int, int, int]]:
    """Of each process: its parent, its start, and the processor time of itself and its children."""
    table = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, *words = _stat(pid)
            if state != b"Z":
                of = list(map(int, words))
                table[int(pid)] = of[0], of[18], of[10] + of[11], of[12] + of[13]
    return table
