"""A simulated node as a process of its own, on a pseudo-terminal."""

import contextlib
import json
import subprocess
import sys


@contextlib.contextmanager
def node(*options):
    """A simulated node; its port. It ends with the block at the latest."""
    process = subprocess.Popen(
        [sys.executable, "-m", "firmware_sim", "serve", "--json", *options],
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield json.loads(process.stdout.readline())["port"]
        finally:
            process.terminate()
            process.stdout.read()
