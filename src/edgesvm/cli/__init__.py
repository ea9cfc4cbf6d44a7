"""The command line, ``edgesvm``: parses, calls, prints."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from edgesvm.data import RowsError
from edgesvm.errors import CorruptModelError, RecordingError, SampleRefused

DESCRIPTION = """\
Support vector machines that learn on the device, from a stream seen once, in fixed memory.

  edgesvm plan 16KiB --features 8          what fits in 16 KiB
  edgesvm run /dev/ttyUSB0 --save m.esvm   learn from a sensor on a serial line, predictions go back
  edgesvm eval room.csv                    the same over a file, no sensor needed
  edgesvm record /dev/ttyUSB0 room.rec     keep the samples in a file that survives power cuts
  edgesvm replay room.rec                  test-then-train over such a file
  edgesvm inspect m.esvm                   what a snapshot says, before it is trusted
  edgesvm plot m.esvm -o m.png             a picture of it, boundary, margins and twins
  edgesvm simulate --signal rotating       a simulated sensor and `run` under a board's limits
  edgesvm demo                             all of it, in half a minute

Exit code: 0 done, 1 failed, 2 wrong use, 130 interrupted before there was anything to keep.
"""
COMMANDS = {
    "plan": ("edgesvm.cli.plan", "what fits in N bytes"),
    "run": ("edgesvm.cli.run", "learn from a sensor on a port"),
    "simulate": ("edgesvm.cli.simulate", "a simulated sensor and `run` together"),
    "eval": ("edgesvm.cli.evaluate", "test-then-train over a file"),
    "record": ("edgesvm.cli.record", "keep a sensor's samples in a file"),
    "replay": ("edgesvm.cli.replay", "test-then-train over a recording"),
    "inspect": ("edgesvm.cli.inspection", "what a snapshot says"),
    "plot": ("edgesvm.cli.plot", "a picture of a saved model"),
    "demo": ("edgesvm.cli.demo", "the main job, in half a minute"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Parse, act; what can go wrong becomes one line and a code: 2 for use, 1 for failure."""
    try:
        options = _parse(sys.argv[1:] if argv is None else argv)
    except SystemExit:  # --help was printed, or wrong use told
        _flushed()
        raise
    try:
        code = options.act(options)
        return code if _flushed() else 1
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
        return _fail("this machine, or its limit for this process, has not that much memory", 1)
    except (ValueError, TypeError) as error:
        return _fail(str(error), 2)
    except KeyboardInterrupt:
        return 130


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    """Only the command asked for is imported: a small board pays for each, in time and memory."""
    parser = argparse.ArgumentParser(
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
    """Whether what was printed found a reader. Python would complain at exit where it did not."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def _fail(message: str, code: int) -> int:
    print(f"edgesvm: {message}", file=sys.stderr)
    return code
