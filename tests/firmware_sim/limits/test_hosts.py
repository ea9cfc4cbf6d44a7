"""Hosts that take more than their device has: each fails wherever that is claimed."""

import os
import sys
from contextlib import closing
from pathlib import Path

import pytest
from each import each

from edgesvm.cli.simulate import exit_code
from firmware_sim.harness import simulate
from firmware_sim.limits.profiles import PROFILES
from firmware_sim.line import Line, PtyLink
from firmware_sim.node import RotatingMachine, TextNode

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")

HOST = """
import mmap, os, signal, sys, termios, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
MiB = 1 << 20

def shared(n_bytes, file=-1):
    block = mmap.mmap(file, n_bytes)
    for at in range(0, n_bytes, mmap.PAGESIZE):
        block[at] = 1
    return block

def fork(child, seconds=60):
    done, write = os.pipe()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        keep = child()
        os.write(write, b".")
        time.sleep(seconds)
        os._exit(0)
    os.read(done, 1)

def daemon():
    os.setsid()
    fork(lambda: shared(9 * MiB))

def burn():
    until = time.process_time() + 0.03
    while time.process_time() < until:
        pass

each_line = lambda: None
{before}
port = open({port!r}, "rb")
termios.tcflush(port, termios.TCIFLUSH)  # the line is silent until then
for _ in range(20):
    port.readline()
{after}
for line in port:
    each_line()
"""
MEMFD = "file = os.memfd_create('m'); [os.write(file, bytes(MiB)) for _ in range(9)]"
TMPFS = "with open({file!r}, 'wb') as file: file.writelines([bytes(MiB)] * 9)"


@each(
    "before, after, limit",
    [
        ("", "", None),
        ("", "keep = bytearray(MiB)", None),
        ("keep = mmap.mmap(-1, 2 << 30, flags=mmap.MAP_PRIVATE)", "", "refused"),
        ("keep = bytearray(140 * MiB)", "", "refused"),
        ("keep = shared(140 * MiB)", "", "memory_bytes"),
        ("shared(140 * MiB).close()", "", "memory_bytes"),
        ("keep = shared(140 * MiB); time.sleep(60)", "", "memory_bytes"),
        ("[fork(lambda: shared(4 * MiB)) for _ in range(35)]; time.sleep(60)", "", "memory_bytes"),
        ("", "keep = bytearray(9 * MiB)", "growth_bytes"),
        ("", "keep = shared(9 * MiB)", "growth_bytes"),
        ("", "shared(9 * MiB).close()", "growth_bytes"),
        ("", "[fork(lambda: bytearray(b'1') * MiB) for _ in range(40)]", "growth_bytes"),
        ("", "fork(daemon, 0)", "growth_bytes"),
        ("", MEMFD, "growth_bytes"),
        ("", TMPFS, "growth_bytes"),
        ("each_line = burn", "", "cpu_us"),
    ],
)
def test_a_host_that_takes_more_than_is_allowed_fails_where_that_is_claimed(before, after, limit):
    for profile in (PROFILES["pi-zero"], PROFILES["pico-class"]):
        if before and profile.ram_bytes is None:
            continue
        file = f"/dev/shm/edgesvm-{os.getpid()}"
        with closing(PtyLink()) as link:
            host = HOST.format(before=before, after=after.format(file=file), port=link.url)
            node = TextNode(RotatingMachine(0), samples=60, rate=200.0)
            argv, settings = [sys.executable, "-c", host], {"drain_s": 0.1, "start_s": 60.0}
            report = simulate(argv, node, Line(link), profile=profile, **settings)
        Path(file).unlink(missing_ok=True)
        assert report.exceeded == [limit] * (limit in report.allowed), report
        assert exit_code(report) == (limit is not None), report
