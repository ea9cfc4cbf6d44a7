"""The host process at the other end of the link, watched and limited from outside."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from typing import IO, Any

from firmware_sim.limits.profiles import Profile, one_thread_environment, turns_per_s
from firmware_sim.limits.tree import ProcessTree, is_idle


class EdgeProcess:
    """A program started at the other end of the link, watched and limited from outside.

    Parameters
    ----------
    argv : sequence of str
        ``{port}`` is replaced by the link's url. Start the program directly: with a shell around
        it, the shell would be watched.
    url : str
    profile : Profile or None
        The profile that limits it and all that it starts.
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
        self.allowed = {} if profile is None else profile.allowed()
        self.used: dict[str, float] = {}
        self._device_turns_per_s = None if profile is None else profile.turns_per_s
        self._start: tuple[int, float] | None = None  # memory and processor time when it was up
        # Without /proc the run goes on with less data, but a requested limit must hold.
        known = profile is not None or os.path.exists("/proc/self/smaps_rollup")
        self._tree = ProcessTree() if known else None
        with ExitStack() as stack:
            # Files, not pipes: a full pipe would block the process.
            self._out: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            self._err: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            self._process = subprocess.Popen(
                [word.replace("{port}", url) for word in argv],
                stdin=subprocess.DEVNULL,
                stdout=self._out,
                stderr=self._err,
                env=one_thread_environment() | (self._tree.environment if self._tree else {}),
            )
            self._stack = stack.pop_all()
        if profile is not None and profile.ram_bytes is not None:
            # Of each process for itself, and with what it has only reserved.
            limits = profile.ram_bytes, profile.ram_bytes
            resource.prlimit(self._process.pid, resource.RLIMIT_DATA, limits)

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def begin(self) -> None:
        """It is up: note its size. Only once."""
        if self._tree is not None and self._start is None:
            self.look(warm=False, anew=True)
            self._start = self._tree.now, self._tree.cpu_s

    def look(self, *, warm: bool, anew: bool = False) -> None:
        """Note its highest memory, and that of the first time it is warm; kill it if it is too
        much."""
        if self._tree is None or self.exit_code is not None:
            return
        memory = self._tree.look(anew=anew)
        self.used["memory_bytes"] = max(memory, self.used.get("memory_bytes", 0))
        if self._start is not None:
            growth = memory - self._start[0]
            self.used["growth_bytes"] = max(growth, self.used.get("growth_bytes", 0))
        if warm:
            self.used.setdefault("growth_until_warm_bytes", self.used["growth_bytes"])
        if {"memory_bytes", "growth_bytes"}.intersection(self.exceeded()):
            self.kill()

    def exceeded(self) -> list[str]:
        """The limits of which too much was used."""
        return [name for name, most in self.allowed.items() if self.used.get(name, 0) > most]

    def count(self, n_samples: int) -> None:
        """All samples were sent: what it does from now on is not of them."""
        if self._tree and self._start and self._device_turns_per_s and n_samples:
            slower = turns_per_s() / self._device_turns_per_s
            self.used["cpu_us"] = 1e6 * slower * (self._tree.cpu_s - self._start[1]) / n_samples

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
        if self._tree is not None:
            self._tree.kill()

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
