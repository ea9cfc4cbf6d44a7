"""Threads that wait for something, beside the one that learns."""

from __future__ import annotations

import threading
from collections.abc import Callable

# The system's default of 8 MiB would count towards the process's memory limit.
STACK_BYTES = 256 * 1024


def start_thread(target: Callable[[], None], name: str) -> threading.Thread:
    """A thread with a small stack, which does not keep the process from ending.

    Raises
    ------
    RuntimeError
        A memory limit leaves no room for it.
    """
    before = threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    return thread
