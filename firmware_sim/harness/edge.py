"""The host process at the other end of the link, watched and limited from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Any

from firmware_sim.limits.profiles import (
    Profile,
    cap_process,
    is_idle,
    one_thread_environment,
    read_vm,
    reset_peak,
)


@dataclass
class Memory:
    """Memory of the host process in bytes; None without /proc, or if the moment never came.

    ``at_start`` is its resident size when it first spoke to the node (or opened the link), ``warm``
    its peak since then after 10,000 samples, ``peak`` its peak at the end, ``limit`` the limit set
    in the kernel.
    """

    at_start: int | None = None
    warm: int | None = None
    peak: int | None = None
    limit: int | None = None
    allowance: int | None = None

    @property
    def growth(self) -> int | None:
        """Peak at the end minus peak after 10,000 samples."""
        return None if self.peak is None or self.warm is None else self.peak - self.warm

    def text(self) -> str:
        """As text, in kB."""
        parts = [
            ("at start", self.at_start),
            ("peak", self.peak),
            ("growth when warm", self.growth),
        ]
        parts += [("allowed above start", self.allowance)]
        return ", ".join(f"{n / 1024:,.0f} kB {what}" for what, n in parts if n is not None)


class EdgeProcess:
    """A program started at the other end of the link, watched and limited from outside.

    Parameters
    ----------
    argv : sequence of str
        ``{port}`` is replaced by the link's url. Start the program directly: with a shell around
        it, the shell would be watched.
    url : str
    profile : Profile or None
        The profile whose allowance limits it.
    """

    def __init__(
        self,
        argv: Sequence[str],
        url: str,
        *,
        profile: Profile | None = None,
    ) -> None:
        if not argv:
            raise ValueError("argv is empty: give the command of the host process")
        self.memory = Memory()
        self._profile = profile
        self._begun = False
        with ExitStack() as stack:
            # Files, not pipes: a full pipe would block the process.
            self._out: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            self._err: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            self._process = subprocess.Popen(
                [word.replace("{port}", url) for word in argv],
                stdin=subprocess.DEVNULL,
                stdout=self._out,
                stderr=self._err,
                env=one_thread_environment(),
            )
            self._stack = stack.pop_all()

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def begin(self) -> None:
        """It is up: note its size, reset the peak left by imports, set the limit. Only once."""
        if self._begun:
            return
        self._begun = True
        try:
            self.memory.at_start = read_vm(self._process.pid)["VmRSS"]
            reset_peak(self._process.pid)
            if self._profile is not None:
                self.memory.allowance = self._profile.allowance_bytes
                self.memory.limit = cap_process(self._process.pid, self._profile.allowance_bytes)
        except ProcessLookupError:
            pass  # already exited: its exit code says more
        except OSError:
            # Without /proc the run goes on with less data, but a requested limit must hold.
            if self._profile is not None:
                raise

    def look(self, *, warm: bool) -> None:
        """Record its peak, and that of the first time it is warm."""
        if self.memory.at_start is None:
            return
        try:
            self.memory.peak = read_vm(self._process.pid)["VmHWM"]
        except ProcessLookupError:
            return
        if warm and self.memory.warm is None:
            self.memory.warm = self.memory.peak

    @property
    def idle(self) -> bool:
        """Whether it waits for something to come; see `is_idle`."""
        return is_idle(self._process.pid)

    def pause(self) -> None:
        """SIGSTOP: it keeps the port open and reads nothing."""
        if self.exit_code is None:
            self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        if self.exit_code is None:
            self._process.send_signal(signal.SIGCONT)

    def ask_to_stop(self) -> None:
        """SIGTERM: it saves and ends."""
        if self.exit_code is None:
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        if self.exit_code is None:
            self._process.kill()
        self._process.wait()

    def output(self) -> tuple[Any, str]:
        """Its last line on stdout as JSON, else None, and the last 2,000 characters of stderr."""
        lines = _written(self._out).strip().splitlines()
        errors = _written(self._err)[-2000:]
        try:
            return json.loads(lines[-1]) if lines else None, errors
        except json.JSONDecodeError:
            return None, errors

    def lines(self) -> list[str]:
        """All its whole lines on stdout so far."""
        whole, _, _ = _written(self._out).rpartition("\n")
        return whole.splitlines()

    def close(self) -> None:
        """End it if it still runs, and close its files."""
        self.kill()
        self._stack.close()


def _written(file: IO[bytes]) -> str:
    """What the process has written. The file's position is the process's too: it stays where it
    is, or the next line would be written over the first."""
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), size, 0).decode(errors="replace")
