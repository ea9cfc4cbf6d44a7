"""A cell measured in a process of its own, which may be limited and whose memory is its own."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from typing import Any

from benchmarks.common.clock import since
from benchmarks.common.progress import say
from benchmarks.common.report import ROOT


def in_a_process(module: str, arguments: list[str], limit: int) -> dict[str, Any] | None:
    """What `python -m module arguments` prints as JSON; {"limit": seconds} where it was out of
    processor time, None where it failed.
    """
    command = [sys.executable, "-m", module, *arguments]
    child = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
    if child.returncode == -signal.SIGXCPU:
        return {"limit": limit}
    if child.returncode:
        say(f"{module} {' '.join(arguments)}: failed, exit code {child.returncode}")
        return None
    return json.loads(child.stdout)


def limited(seconds: int) -> float:
    """From here on the process has so many seconds of the processor; its clock."""
    begin = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(begin) + 1 + seconds, resource.RLIM_INFINITY))
    return begin


def unlimited(begin: float) -> float:
    """Lift the limit; seconds of the processor since `begin`."""
    seconds = since(begin)
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return seconds
