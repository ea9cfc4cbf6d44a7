"""The command ``edgesvm``: handles Ctrl-C also while the package is being imported.

``python -m edgesvm.cli`` imports the package `edgesvm` before any code of the command line; so the
package imports this module first.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys


def main() -> int:
    try:
        _let_go_of_sigint()
        gc.disable()  # until `imported`
        from edgesvm.cli import main as run

        return run()
    except KeyboardInterrupt:
        _say_interrupted()
        return 130
    finally:
        gc.freeze()  # all goes at once now: the interpreter need not look for garbage first


def imported() -> None:
    """Look for garbage from now on, but not among the modules, which stay."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def _say_interrupted() -> None:
    with contextlib.suppress(OSError):  # the code says it too
        print("edgesvm: interrupted", file=sys.stderr, flush=True)


def _end(*_: object) -> None:
    _say_interrupted()
    os._exit(130)


def _let_go_of_sigint() -> None:
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# Python's mark of ``-m``, as long as it looks for the module: an exception now is a traceback.
if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end)
