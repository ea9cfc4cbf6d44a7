"""``exec:CMD``: lines on the standard input of a program that stays."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import time

from edgesvm.outputs.pipe import has_room, put, whole_lines
from edgesvm.outputs.sink import Line, Sink

# How long before the end of the time a child is asked to end that has not, and is killed.
ASK_S, KILL_S = 0.3, 0.15


class Child(Sink):
    """Lines on the standard input of a child process; one that ends is started again.

    What it prints goes to standard error. It is in a session of its own, so Ctrl-C does not reach
    it: it ends when its input ends, or is ended.

    Parameters
    ----------
    command : str
        Split as a shell does; no shell runs it.
    """

    def __init__(self, command: str) -> None:
        self.name = f"exec:{command}"
        self._argv = shlex.split(command)
        self._process: subprocess.Popen[bytes] | None = None

    def open(self) -> None:
        self._process = subprocess.Popen(
            self._argv, stdin=subprocess.PIPE, stdout=2, bufsize=0, start_new_session=True
        )
        os.set_blocking(self._stdin(), False)

    def _stdin(self) -> int:
        assert self._process is not None and self._process.stdin is not None  # open
        return self._process.stdin.fileno()

    def _check(self) -> None:
        assert self._process is not None  # open
        if (code := self._process.poll()) is not None:
            raise OSError(f"{self._argv[0]} ended with code {code}")

    def send(self, lines: list[Line]) -> int:
        data, n = whole_lines(lines)
        if not has_room(self._stdin()):
            return 0
        return n if put(self._stdin(), data) else 0

    def turn(self, seconds: float) -> None:
        super().turn(seconds)
        self._check()

    def close(self, seconds: float) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        assert process.stdin is not None
        process.stdin.close()  # unbuffered: nothing to flush
        patience = time.monotonic() + seconds
        for early, how in ((ASK_S, signal.SIGTERM), (KILL_S, signal.SIGKILL)):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, patience - early - time.monotonic()))
                return
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, how)
        process.wait()  # killed
