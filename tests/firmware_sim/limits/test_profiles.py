"""Caps on a process, tried on processes of our own."""

import os
import signal
import subprocess
import sys
import time

import pytest
from each import each

from firmware_sim.limits.profiles import (
    cap_process,
    is_idle,
    one_thread_environment,
    read_vm,
    reset_peak,
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")

# Waits for a line, then takes 1 MiB, then 64 MiB, and says how far it came.
HUNGRY = """
import sys
import numpy as np
print("up", flush=True)
sys.stdin.readline()
try:
    small = np.ones(1 << 20, np.uint8)
    print("small", flush=True)
    large = np.ones(64 << 20, np.uint8)
    print("large", flush=True)
except MemoryError:
    print("MemoryError", flush=True)
"""


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
@each("allowance, end", [(8 << 20, "MemoryError"), (256 << 20, "large")])
def test_a_running_process_is_held_to_its_allowance(allowance, end):
    with python(HUNGRY) as child:
        assert child.stdout.readline() == "up\n"
        limit = cap_process(child.pid, allowance)
        assert limit > allowance
        out, _ = child.communicate("go\n")
    assert out.split() == ["small", end]


@linux
def test_the_peak_can_be_read_and_reset():
    with python(HUNGRY) as child:
        child.stdout.readline()
        before = read_vm(child.pid)
        assert before["VmHWM"] >= before["VmRSS"] - (1 << 20) and before["VmSize"] > before["VmRSS"]
        child.communicate("go\n")
    block = bytearray(os.urandom(32 << 20))
    high = read_vm()["VmHWM"]
    del block
    reset_peak()
    assert read_vm()["VmHWM"] < high - (16 << 20)


@linux
def test_a_process_that_is_gone():
    with python("pass") as child:
        child.communicate()
    with pytest.raises(ProcessLookupError):
        read_vm(child.pid)


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


def test_without_proc_the_message_says_so(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(OSError, match="cannot read a process's memory: darwin has no /proc"):
        read_vm()
