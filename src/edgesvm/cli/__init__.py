"""The command line, ``edgesvm``: parses, calls, prints."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from edgesvm.cli import demo, evaluate, inspection, plan, run, simulate
from edgesvm.errors import CorruptModelError, MemoryBudgetError, SampleRefused

DESCRIPTION = """\
Support vector machines that learn on the device, from a stream seen once, in a fixed number of bytes.

  edgesvm plan 16KiB --features 8          what fits in 16 KiB
  edgesvm run /dev/ttyUSB0 --save m.esvm   learn from a sensor on a serial line, predictions go back
  edgesvm eval room.csv                    the same over a file, no sensor needed
  edgesvm inspect m.esvm                   what a snapshot says, before it is trusted
  edgesvm simulate --signal rotating       a simulated sensor and `run` together, under a board's limits
  edgesvm demo                             all of it in under a minute
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Parse, act, and turn what can go wrong into one line and an exit code: 2 for use, 1 for failure."""
    parser = argparse.ArgumentParser(
        prog="edgesvm", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (plan, run, simulate, evaluate, inspection, demo):
        module.add_to(commands)
    options = parser.parse_args(argv)
    try:
        return options.act(options)
    except BrokenPipeError:  # the reader of our output has had enough; Python would complain once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (CorruptModelError, SampleRefused, OSError, RuntimeError) as error:
        return _fail(error, 1)
    except (MemoryBudgetError, ValueError, TypeError) as error:
        return _fail(error, 2)
    except KeyboardInterrupt:
        return 130


def _fail(error: BaseException, code: int) -> int:
    print(f"edgesvm: {error}", file=sys.stderr)
    return code
