"""A sensor on a pseudo-terminal, played by a list of lines, before an edgesvm command."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import tty
from collections.abc import Callable, Iterable
from itertools import chain

END_S = 20.0  # to end after Ctrl-C


def command(*words: str, folder: str | None = None) -> str:
    """What an edgesvm command shows, and its exit code."""
    call = [sys.executable, "-m", "edgesvm", *words]
    done = subprocess.run(call, capture_output=True, text=True, cwd=folder, check=False)
    return f"{done.stdout}{done.stderr}exit code {done.returncode}\n"


def on_a_port(
    *words: str,
    lines: Iterable[str] = (),
    hz: float = 200.0,
    until: Callable[[str], bool] = lambda shown: False,
    at_most: float = 20.0,
) -> str:
    """What a command shows whose word PORT is a port on which these lines arrive; then Ctrl-C,
    once `until` holds of what it has shown, or after so many seconds."""
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    os.set_blocking(ours, False)
    call = [os.ttyname(theirs) if word == "PORT" else word for word in words]
    with tempfile.TemporaryFile("w+") as shown:
        process = subprocess.Popen(
            [sys.executable, "-m", "edgesvm", *call], stdout=shown, stderr=shown
        )
        try:
            sent, ended = iter(chain(lines, ())), time.monotonic() + at_most
            while process.poll() is None and time.monotonic() < ended:
                if until(_shown(shown)):
                    break
                for line in sent:
                    _write(ours, f"{line}\n".encode())
                    break
                time.sleep(1 / hz)
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.wait(END_S)
            return f"{_shown(shown)}exit code {process.returncode}\n"
        finally:
            process.kill()
            process.wait()
            os.close(ours)
            os.close(theirs)


def _write(port: int, data: bytes) -> None:
    with contextlib.suppress(BlockingIOError):  # nobody reads yet: lost, as on a wire
        os.write(port, data)


def _shown(file: object) -> str:
    text = os.pread(file.fileno(), 1 << 20, 0).decode(errors="replace")  # type: ignore[attr-defined]
    return re.sub(r"/dev/pts/\d+", "PORT", text)
