"""The edge process: a program at the other end of the link, watched and capped from outside."""

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
    one_thread_environment,
    read_vm,
    reset_peak,
)


@dataclass
class Memory:
    """The edge process's memory in bytes; None where /proc is not, or the moment did not come.

    ``at_start`` is its resident size when it first spoke to the node (or opened the link), ``warm``
    its peak since then after 10,000 samples, ``peak`` that at the end, ``limit`` the cap set by the
    kernel.
    """

    at_start: int | None = None
    warm: int | None = None
    peak: int | None = None
    limit: int | None = None
    allowance: int | None = None

    @property
    def growth(self) -> int | None:
        """Peak at the end minus peak when warm."""
        return None if self.peak is None or self.warm is None else self.peak - self.warm

    def text(self) -> str:
        """For a reader, in kB."""
        parts = [
            ("at start", self.at_start),
            ("peak", self.peak),
            ("growth when warm", self.growth),
        ]
        parts += [("allowed above start", self.allowance)]
        return ", ".join(f"{n / 1024:,.0f} kB {what}" for what, n in parts if n is not None)


class EdgeProcess:
    """A program started at the other end of the link, watched and capped from outside.

    Parameters
    ----------
    argv : sequence of str
        ``{port}`` in any of them stands for the link's url. The program itself should be the
        process: a shell around it would be what is watched.
    url : str
    profile : Profile or None
        Whose allowance caps it.
    cap : {"data", "as"}
        See `cap_process`.
    warm_allowance : int or None
        Bytes its address space may grow by once it is warm.
    """

    def __init__(
        self,
        argv: Sequence[str],
        url: str,
        *,
        profile: Profile | None = None,
        cap: str = "data",
        warm_allowance: int | None = None,
    ) -> None:
        if not argv:
            raise ValueError("argv of the edge process is empty")
        self.memory = Memory()
        self._profile = profile
        self._cap = cap
        self._warm_allowance = warm_allowance
        self._begun = False
        with ExitStack() as stack:
            # Files, not pipes: nobody has to read along for the process to go on.
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
        """It has come up: note its size, forget the peak of its imports, set the cap. Only once."""
        if self._begun:
            return
        self._begun = True
        try:
            self.memory.at_start = read_vm(self._process.pid)["VmRSS"]
            reset_peak(self._process.pid)
            if self._profile is not None:
                self.memory.allowance = self._profile.allowance_bytes
                self.memory.limit = cap_process(
                    self._process.pid, self._profile.allowance_bytes, kind=self._cap
                )
        except ProcessLookupError:
            pass  # gone already: its exit code says more
        except OSError:
            # Without /proc a run can be watched less closely, but a cap that was asked for must
            # hold.
            if self._profile is not None:
                raise

    def look(self, *, warm: bool) -> None:
        """Note its peak."""
        if self.memory.at_start is None:
            return
        try:
            self.memory.peak = read_vm(self._process.pid)["VmHWM"]
        except ProcessLookupError:
            return
        if warm and self.memory.warm is None:
            self.memory.warm = self.memory.peak
            if self._warm_allowance is not None:
                self.memory.allowance = self._warm_allowance
                self.memory.limit = cap_process(self._process.pid, self._warm_allowance, kind="as")

    def said_bytes(self) -> int:
        """Bytes it has written to stderr."""
        return os.fstat(self._err.fileno()).st_size

    def pause(self) -> None:
        """SIGSTOP: it holds everything and reads nothing."""
        if self.exit_code is None:
            self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        if self.exit_code is None:
            self._process.send_signal(signal.SIGCONT)

    def ask_to_stop(self) -> None:
        """SIGTERM: save and end."""
        if self.exit_code is None:
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        if self.exit_code is None:
            self._process.kill()
        self._process.wait()

    def output(self) -> tuple[Any, str]:
        """Its last line on stdout as JSON, else None, and the last 2,000 characters of stderr."""
        self._out.seek(0)
        lines = self._out.read().decode(errors="replace").strip().splitlines()
        self._err.seek(0)
        errors = self._err.read().decode(errors="replace")[-2000:]
        try:
            return json.loads(lines[-1]) if lines else None, errors
        except json.JSONDecodeError:
            return None, errors

    def close(self) -> None:
        """End it if it still runs, and give its files back."""
        self.kill()
        self._stack.close()
