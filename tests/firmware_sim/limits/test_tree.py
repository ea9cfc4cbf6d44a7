"""Processes looked at from outside, tried on processes of our own."""

import signal
import subprocess
import sys
import tempfile
import time

import pytest

from firmware_sim.harness import EdgeProcess
from firmware_sim.limits import tree
from firmware_sim.limits.profiles import PROFILES, one_thread_environment
from firmware_sim.limits.tree import is_idle

linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


def python(code, **settings):
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=one_thread_environment(),
        **settings,
    )


@linux
def test_who_waits_is_idle_and_who_computes_or_is_stopped_is_not():
    def soon(idle):
        deadline = time.monotonic() + 60
        while is_idle(child.pid) != idle:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    with python("import sys\nsys.stdin.read()\nwhile True: pass") as child:
        try:
            soon(True)
            child.send_signal(signal.SIGSTOP)
            soon(False)
            child.send_signal(signal.SIGCONT)
            soon(True)
            child.stdin.close()
            soon(False)
        finally:
            child.kill()
        soon(True)
    assert is_idle(child.pid)


@linux
def test_a_system_that_does_not_tell_refuses_a_profile(monkeypatch):
    monkeypatch.setattr(tree, "_fields", lambda pid, file: {})
    with pytest.raises(OSError, match="does not tell a process's shared memory"):
        EdgeProcess([sys.executable, "-c", ""], "no port", profile=PROFILES["pico-class"])


@linux
def test_what_others_leave_in_shared_memory_is_not_counted():
    watched = tree.ProcessTree()
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        file.write(bytes(1 << 20))
        file.flush()
        assert watched.look() == 0
