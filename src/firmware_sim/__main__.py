"""``python -m firmware_sim``: the simulated sensor node on the command line."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence

from firmware_sim.conformance import as_json, conform
from firmware_sim.harness import Pump, simulate
from firmware_sim.harness.pump import Drain
from firmware_sim.harness.report import report
from firmware_sim.limits.profiles import PROFILES, profile
from firmware_sim.line import MIXES, Line
from firmware_sim.line.faults import FAULTS
from firmware_sim.node import SIGNALS, Node
from firmware_sim.node.mishaps import MISHAP_MIXES, MISHAPS
from firmware_sim.options import (
    StatusLine,
    add_link_options,
    add_node_options,
    closing_source,
    finish,
    make_line,
    make_link,
    make_node,
    parse_count,
)

EXAMPLES = """\
A simulated sensor node: it takes samples, sends them over a serial link that can go wrong, and
scores the predictions that come back.

  python -m firmware_sim serve
      a rotating machine on a pseudo-terminal: prints the port to open, waits for a host, streams
  python -m firmware_sim serve --replay room.csv --label-column Occupancy --text
      the rows of a file, as an Arduino sketch would print them
  python -m firmware_sim serve --link tcp --baud 115200 --rate 200 --faults field --json
      over TCP, at the speed of a UART, about 1 % of the frames damaged; ends with one JSON line
  python -m firmware_sim run --profile pi-zero --samples 10000 -- edgesvm run {port} --json
      starts the program after -- as well, held to a small board's memory, and reports on both
  python -m firmware_sim conformance --samples 1M
      `edgesvm run` in a mix of every fault: what was injected, what was counted, and the limits
  python -m firmware_sim list
      signals, faults, fault mixes and device profiles there are
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m firmware_sim",
        description=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="serve | run | conformance | list"
    )
    serve = commands.add_parser("serve", help="a node that waits for a host to open its port")
    run = commands.add_parser("run", help="a node, and an edge process started at the other end")
    listing = commands.add_parser("list", help="signals, faults, mixes and profiles there are")
    serve.set_defaults(act=_serve)
    run.set_defaults(act=_run)
    listing.set_defaults(act=_list)
    conformance = commands.add_parser("conformance", help="every fault, counted; limits held")
    conformance.set_defaults(act=_conformance)
    conformance.add_argument("--samples", default="100k", metavar="N", help="as 50000, 50k or 10M")
    conformance.add_argument(
        "--baud", type=float, metavar="B", help="pace the link; default: as fast as it goes"
    )
    conformance.add_argument(
        "--mix", choices=MIXES, default="field", metavar="MIX", help=", ".join(MIXES)
    )
    conformance.add_argument("--seed", type=int, default=7, help="of the signal and the faults")
    conformance.add_argument("--json", action="store_true", help="only the JSON line on stdout")
    for command in (serve, run):
        add_node_options(command)
        add_link_options(command)
    run.add_argument(
        "--cap",
        choices=("data", "as", "none"),
        default="data",
        help="what the profile's allowance caps: private memory (default), address space, nothing",
    )
    run.add_argument("--timeout", type=float, default=600.0, metavar="S", help="longest run")
    run.add_argument(
        "argv",
        nargs="+",
        metavar="-- PROGRAM ARG",
        help="the edge process; {port} in it stands for the port",
    )
    return parser


def _serve(options: argparse.Namespace) -> int:
    node = make_node(options)
    with closing_source(node.source), contextlib.closing(make_link(options)) as link:
        line = make_line(options, link)
        status = StatusLine()
        over = _ServedUntil(Pump(node, line), status)
        started = time.monotonic()
        with _stopping(over.stop):
            print(
                json.dumps({"port": link.url}) if options.json else f"port {link.url}", flush=True
            )
            over.pump.run(over)
        status.end()
        finish(
            options,
            line,
            report(node, line, ended=over.ended, wall_s=time.monotonic() - started),
        )
    return 0


class _ServedUntil:
    """The end of serving: all is sent, and the host has hung up or nothing moves any more."""

    _QUIET_S = 5.0

    def __init__(self, pump: Pump, status: Callable[[Node, Line], None]) -> None:
        self.pump = pump
        self.ended = "stopped"
        self._status = status
        self._stop = False
        self._drain = Drain(pump)

    def stop(self) -> None:
        self._stop = True

    def __call__(self, now: float) -> bool:
        node, line = self.pump.node, self.pump.line
        self._status(node, line)
        if self._stop:
            return True
        quiet_s = self._drain.quiet_s(now)
        if self.pump.done and (quiet_s > self._QUIET_S or not line.link.connected):
            self.ended = "drained"
            return True
        return False


@contextlib.contextmanager
def _stopping(stop: Callable[[], None]):
    """Let SIGINT and SIGTERM end a run with its report."""
    before = {
        number: signal.signal(number, lambda *_: stop())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _run(options: argparse.Namespace) -> int:
    node = make_node(options)
    device = profile(options.profile) if options.profile and options.cap != "none" else None
    with closing_source(node.source), contextlib.closing(make_link(options)) as link:
        line = make_line(options, link)
        status = StatusLine()
        result = simulate(
            options.argv,
            node,
            line,
            profile=device,
            cap="as" if options.cap == "as" else "data",
            timeout_s=options.timeout,
            on_progress=status,
        )
        status.end()
    finish(options, line, result)
    if result.ended == "drained" and result.exit_code == 0:
        return 0
    if result.edge_errors:
        sys.stderr.write(result.edge_errors.rstrip() + "\n")
    return _fail(f"the run ended by {result.ended}, the edge process with {result.exit_code}", 1)


def _conformance(options: argparse.Namespace) -> int:
    status = StatusLine()
    sections = []
    for section in conform(
        samples=parse_count(options.samples),
        mix=options.mix,
        seed=options.seed,
        baud=options.baud,
        on_progress=status,
    ):
        status.end()
        sections.append(section)
        if not options.json:
            print(section, flush=True)
    print(as_json(sections), flush=True)
    return 1 if any(section.broken for section in sections) else 0


def _list(_: argparse.Namespace) -> int:
    print("signals")
    for name, kind in SIGNALS.items():
        print(f"  {name:12} {(kind.__doc__ or '').splitlines()[0]}")
    print("faults (chance per frame)")
    for name, fault in FAULTS.items():
        print(f"  {name:12} {fault.summary}")
    print("fault mixes")
    for name, rates in MIXES.items():
        print(f"  {name:12} {', '.join(f'{k}={r:g}' for k, r in rates.items()) or '-'}")
    print("mishaps of the device itself")
    for name, mishap in MISHAPS.items():
        print(f"  {name:15} {mishap.summary}")
    print("mishaps that go with them in a conformance run")
    for name, rates in MISHAP_MIXES.items():
        print(f"  {name:12} {', '.join(f'{k}={r:g}' for k, r in rates.items())}")
    print("profiles")
    for name, p in PROFILES.items():
        print(
            f"  {name:12} {p.summary}; learner {p.learner_bytes // 1024} of at most "
            f"{p.arena_bytes // 1024} KiB, process may grow {p.allowance_bytes // 1024} KiB, "
            f"{p.baud} baud"
        )
    return 0


def _fail(message: str, code: int) -> int:
    print(f"firmware_sim: {message}", file=sys.stderr)
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Parse, act, and turn what can go wrong into one line and an exit code (2 use, 1 failure)."""
    options = _parser().parse_args(argv)
    try:
        code = options.act(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # whoever read along has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ValueError as error:
        return _fail(str(error), 2)
    except OSError as error:
        return _fail(str(error), 1)


if __name__ == "__main__":
    sys.exit(main())
