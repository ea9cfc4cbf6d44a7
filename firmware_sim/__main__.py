"""``python -m firmware_sim``: the simulated sensor node on the command line."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from edgesvm.cli.options import add, option, read, section
from edgesvm.serve.process import stop_signals
from firmware_sim.harness import Pump
from firmware_sim.harness.pump import Drain
from firmware_sim.harness.report import report
from firmware_sim.options import RAW, LineSettings, NodeSettings, NodeStatus, closing_source

EXAMPLES = """\
A simulated sensor node: it produces samples, sends them over a serial link that can fail, and
scores the predictions that come back.

  python -m firmware_sim serve
      a rotating machine on a pseudo-terminal: prints the port, waits for a host, sends samples
  python -m firmware_sim serve --replay room.csv --label-column Occupancy --text
      the rows of a file, printed as an Arduino sketch would
  python -m firmware_sim serve --raw --rate 2000 --onset 10m --defect outer-race --labels none
      what the machine's accelerometer measures: normal for ten minutes, then a bearing fault grows
  python -m firmware_sim serve --link tcp --baud 115200 --rate 200 --faults field --json
      over TCP at UART speed, about 1 % of the frames damaged; ends with one JSON line
"""

QUIET_S = 5.0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m firmware_sim",
        description=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="a node that waits for a host to open its port")
    serve.set_defaults(act=_serve)
    add(serve, _Settings)
    return parser


@dataclass(frozen=True, kw_only=True)
class _Node(NodeSettings):
    raw_signal: bool = option(False, RAW, short="--raw")


@dataclass(frozen=True, kw_only=True)
class _Settings:
    node: NodeSettings = section(_Node)
    line: LineSettings = section(LineSettings)


def _serve(options: argparse.Namespace) -> int:
    settings = read(_Settings, options)
    node, as_json = settings.node.node(settings.line.profile), settings.line.json
    with closing_source(node.source), contextlib.closing(settings.line.open()) as link:
        line, status = settings.line.line(link, settings.node), NodeStatus()
        pump, started = Pump(node, line), time.monotonic()
        drain = Drain(pump)
        with stop_signals() as signals:

            def is_over(now: float) -> bool:
                """All is sent, and the host has hung up or there is no traffic."""
                status(node, line)
                quiet = drain.is_quiet(now, QUIET_S)
                return signals.stopping or (pump.done and (quiet or not line.link.connected))

            print(json.dumps({"port": link.url}) if as_json else f"port {link.url}", flush=True)
            pump.run(is_over)
        status.end()
        ended = "stopped" if signals.stopping else "drained"
        told = report(node, line, ended=ended, wall_s=time.monotonic() - started)
        print(told.json() if as_json else told.text(), flush=True)
    return 0


def _fail(message: str, code: int) -> int:
    print(f"firmware_sim: {message}", file=sys.stderr)
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. An error becomes one line and an exit code: 2 wrong use, 1 failure."""
    options = _parser().parse_args(argv)
    try:
        code = options.act(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has closed its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ValueError as error:
        return _fail(str(error), 2)
    except OSError as error:
        return _fail(str(error), 1)


if __name__ == "__main__":
    sys.exit(main())
