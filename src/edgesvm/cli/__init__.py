"""The command line, ``edgesvm``: parses, calls, prints."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from edgesvm.data import RowsError
from edgesvm.errors import CorruptModelError, RecordingError, SampleRefused

DESCRIPTION = """\
Support vector machines that learn on the device, from a stream seen once, in fixed memory.

  edgesvm plan 16KiB --features 8          which learners fit in 16 KiB
  edgesvm run /dev/ttyUSB0 --save m.esvm   learn from a serial sensor and send predictions back
  edgesvm run /dev/ttyACM0 --text --window 256 --rate 1000    the same with windows of raw signals
  edgesvm watch /dev/ttyUSB0 --learn 5m    learn what is normal, without labels, then raise alarms
  edgesvm eval room.csv                    the same with the rows of a file, no sensor needed
  edgesvm record /dev/ttyUSB0 room.rec     record its samples in a file that survives power cuts
  edgesvm replay room.rec                  predict and learn the samples of a recording
  edgesvm key node.key                     make a key that authenticates a node and its host
  edgesvm features pump.csv --rate 1000    show the features of its windows of raw samples
  edgesvm inspect m.esvm                   show what a snapshot holds, without trusting it
  edgesvm plot m.esvm -o m.png             draw it: boundary, margins and twins
  edgesvm export m.esvm --c pump           write it as C that learns on a microcontroller
  edgesvm simulate --signal rotating       run a simulated sensor and `run` under a board's limits
  edgesvm demo                             a tour on a simulated sensor, in half a minute

Each command has its own --help.

Exit code: 0 done, 1 failed, 2 wrong use, 3 alarms (`watch`), 130 interrupted with nothing to save.
"""
COMMANDS = {
    "plan": ("edgesvm.cli.plan", "list the learners that fit in N bytes"),
    "run": ("edgesvm.cli.run", "learn from a sensor on a port"),
    "simulate": ("edgesvm.cli.simulate", "run a simulated sensor and `run` together"),
    "eval": ("edgesvm.cli.evaluate", "predict, then learn, each row of a file"),
    "watch": ("edgesvm.cli.watch", "learn what is normal without labels, then raise alarms"),
    "record": ("edgesvm.cli.record", "record a sensor's samples in a file"),
    "replay": ("edgesvm.cli.replay", "predict, then learn, each sample of a recording"),
    "features": ("edgesvm.cli.features", "show the features of a file's windows of raw samples"),
    "key": ("edgesvm.cli.key", "make a key for a node and its host"),
    "inspect": ("edgesvm.cli.inspection", "show what a snapshot holds"),
    "plot": ("edgesvm.cli.plot", "draw a saved model"),
    "export": ("edgesvm.cli.export", "write a saved model as C for a microcontroller"),
    "demo": ("edgesvm.cli.demo", "a tour on a simulated sensor, in half a minute"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. An error becomes one line and an exit code: 2 for wrong use, 1 for failure."""
    if sys.stderr is None:  # closed by the caller: 2>&-
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (to the end)
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    finally:
        _unblock_stderr()


def _run(argv: Sequence[str]) -> int:
    try:
        options = _parse(argv)
        code = options.act(options)
        return code if _flushed() else 1
    except SystemExit:  # --help or a usage error was printed
        _flushed()
        raise
    except BrokenPipeError:
        _flushed()
        return 1
    except (
        CorruptModelError,
        RecordingError,
        SampleRefused,
        RowsError,
        OSError,
        RuntimeError,
    ) as error:
        return _fail(str(error), 1)
    except MemoryError:
        return _fail("not enough memory on this machine, or within this process's limit", 1)
    except (ValueError, TypeError) as error:
        return _fail(str(error), 2)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit with 2, even if nothing can be printed: before Python 3.11.5 that raised OSError."""
        with contextlib.suppress(OSError):
            super().error(message)
        sys.exit(2)


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    """Import only the requested command: on a small board each import costs time and memory."""
    parser = _Parser(
        prog="edgesvm",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (module, summary) in COMMANDS.items():
        if name in argv[:1]:
            importlib.import_module(module).add_to(commands)
        else:
            commands.add_parser(name, help=summary)
    return parser.parse_args(argv)


def _flushed() -> bool:
    """Flush stdout; False if its reader is gone, which Python would complain about at exit."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def _fail(message: str, code: int) -> int:
    with contextlib.suppress(OSError):  # the code says it too
        print(f"edgesvm: {message}", file=sys.stderr)
    return code


def _unblock_stderr() -> None:
    """Drop what stderr does not accept; at exit it would turn any exit code into 120."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
