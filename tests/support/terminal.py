"""A command on a terminal that is emulated, and can be resized."""

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte

PATIENCE_S = 60.0


class Terminal:
    """An `edgesvm` command with a pseudo-terminal of this size as its stdout and stderr; used with
    `with`, at whose end it is killed.
    """

    def __init__(self, argv, columns, rows, stdout=None):
        self.master, slave = os.openpty()
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.output = b""
        self._slave = slave
        self.resize(columns, rows)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "edgesvm.cli", *argv],
            stdin=slave,
            stdout=slave if stdout is None else stdout,
            stderr=slave,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        )

    def resize(self, columns, rows):
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def read(self, seconds=0.1):
        if select.select([self.master], [], [], seconds)[0]:
            chunk = os.read(self.master, 65536)
            self.output += chunk
            self.stream.feed(chunk)

    def until(self, condition):
        """Read until the screen is as it must be; its lines."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition(self.lines()):
            assert time.monotonic() < deadline, "\n".join(self.lines())
            self.read()
        return self.lines()

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def end(self):
        """SIGTERM, and read to the end; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE_S
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read()
        while select.select([self.master], [], [], 0.2)[0]:
            self.read()
        return self.process.wait(PATIENCE_S)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self._slave)
