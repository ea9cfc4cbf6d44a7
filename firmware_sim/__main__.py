"""``python -m firmware_sim``: the simulated sensor node on the command line."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from firmware_sim.faults import FAULTS, MIXES, FaultInjector, fault_rates
from firmware_sim.harness import Report, report, simulate
from firmware_sim.line import Line
from firmware_sim.links import Link, PtyLink, TcpLink
from firmware_sim.node import LABEL_MODES, FrameNode, Node
from firmware_sim.profiles import PROFILES, profile
from firmware_sim.pump import Drain, Pump
from firmware_sim.replay import CsvReplay, open_replay
from firmware_sim.signals import SIGNALS, Source
from firmware_sim.text_node import CHECKSUMS, TextNode

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
  python -m firmware_sim list
      signals, faults, fault mixes and device profiles there are
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m firmware_sim",
        description=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="serve | run | list")
    serve = commands.add_parser("serve", help="a node that waits for a host to open its port")
    run = commands.add_parser("run", help="a node, and an edge process started at the other end")
    listing = commands.add_parser("list", help="signals, faults, mixes and profiles there are")
    serve.set_defaults(act=_serve)
    run.set_defaults(act=_run)
    listing.set_defaults(act=_list)
    for command in (serve, run):
        _add_node_options(command)
        _add_link_options(command)
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


def _add_node_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("what is sent")
    group.add_argument("--signal", choices=SIGNALS, default="rotating", help="synthetic sensor")
    group.add_argument("--replay", metavar="FILE", help="rows of a .csv or .npz file instead")
    group.add_argument(
        "--label-column", metavar="NAME", help="of a CSV: name or index; none: no label"
    )
    group.add_argument(
        "--drop-column", metavar="NAME", action="append", default=[], help="of a CSV: no feature"
    )
    group.add_argument("--labels", choices=LABEL_MODES, default="inline", help="told to the host")
    group.add_argument("--samples", type=int, metavar="N", help="stop after so many")
    group.add_argument(
        "--rate", type=float, metavar="HZ", help="samples a second; else all the link takes"
    )
    group.add_argument("--text", action="store_true", help="print lines; no handshake, no answers")
    group.add_argument(
        "--checksum", choices=CHECKSUMS, default="none", help="of a line, with --text"
    )
    group.add_argument("--timestamps", action="store_true", help="send the device's clock too")
    group.add_argument("--seed", type=int, default=0, help="of the signal and the faults")


def _add_link_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("how it gets there")
    group.add_argument("--link", choices=("pty", "tcp"), default="pty")
    group.add_argument("--symlink", metavar="NAME", help="a name for the pty that stays")
    group.add_argument("--tcp-port", type=int, default=0, metavar="P", help="0 takes a free one")
    group.add_argument(
        "--baud", type=float, metavar="B", help="pace the link; default: as fast as it goes"
    )
    group.add_argument("--profile", choices=PROFILES, help="a device's baud, buffers and memory")
    group.add_argument(
        "--faults", choices=MIXES, default="none", metavar="MIX", help=", ".join(MIXES)
    )
    group.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="KIND=RATE",
        help=f"chance per frame, over the mix: {', '.join(FAULTS)}",
    )
    group.add_argument(
        "--ledger", metavar="FILE", help="write the injected faults, one JSON a line"
    )
    group.add_argument("--json", action="store_true", help="report as one JSON line on stdout")


def _source(options: argparse.Namespace) -> Source:
    if options.replay is not None:
        return open_replay(
            options.replay,
            label_column=options.label_column,
            drop_columns=tuple(options.drop_column),
        )
    return SIGNALS[options.signal](options.seed)


def _node(options: argparse.Namespace) -> Node:
    settings = {
        "rate": options.rate,
        "samples": options.samples,
        "label_mode": options.labels,
    }
    source = _source(options)
    device = profile(options.profile) if options.profile else None
    if options.text:
        if device:
            settings["tx_bytes"] = max(device.tx_bytes, 512)
        return TextNode(source, checksum=options.checksum, **settings)
    if device:
        # A wide sample needs a wider buffer than the profile's own, or there is no node at all.
        settings["tx_bytes"] = max(device.tx_bytes, 8 * source.n_features + 64)
    return FrameNode(source, timestamps=options.timestamps, boot_id=options.seed + 1, **settings)


def _line(options: argparse.Namespace, link: Link) -> Line:
    rates = fault_rates(options.faults, options.fault)
    faults = None
    if any(rates.values()):
        delimiter = ord("\n") if options.text else 0
        faults = FaultInjector(rates, seed=options.seed, delimiter=delimiter)
    baud = options.baud
    if options.profile is not None:
        device = profile(options.profile)
        if baud is not None and baud > device.max_baud:
            raise ValueError(f"--baud {baud:g}: {device.name} goes up to {device.max_baud}")
        # Named for its limits: a profile is paced unless the speed is said.
        baud = device.baud if baud is None else baud
    return Line(link, baud=baud, faults=faults)


def _link(options: argparse.Namespace) -> Link:
    if options.link == "tcp":
        return TcpLink(options.tcp_port)
    may_unplug = fault_rates(options.faults, options.fault).get("disconnect", 0) > 0
    name = options.symlink
    if name is None and may_unplug:
        # A terminal that comes back needs a name that stays.
        name = f"{tempfile.gettempdir()}/firmware_sim.{os.getpid()}"
    return PtyLink(name)


class _StatusLine:
    """One line on a terminal, written over and over; nothing where stderr is no terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._next = 0.0
        self._started = time.monotonic()

    def __call__(self, node: Node, line: Line, *_: object) -> None:
        now = time.monotonic()
        if not self._shown or now < self._next:
            return
        self._next = now + 0.2
        last = node.scorer.last_accuracy
        text = (
            f"{node.samples_sent:,} sent  {node.samples_dropped:,} dropped  "
            f"{node.scorer.received:,} answers  accuracy {'-' if last is None else f'{last:.3f}'}  "
            f"faults {len(line.faults.ledger) if line.faults else 0}  "
            f"{now - self._started:.0f} s"
        )
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    def end(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")


def _finish(options: argparse.Namespace, line: Line, result: Report) -> None:
    if options.ledger and line.faults:
        with open(options.ledger, "w", encoding="utf-8") as file:
            line.faults.ledger.write(file)
    print(result.json() if options.json else result.text(), flush=True)


def _closing(source: Source) -> contextlib.AbstractContextManager:
    return contextlib.closing(source) if isinstance(source, CsvReplay) else contextlib.nullcontext()


def _serve(options: argparse.Namespace) -> int:
    node = _node(options)
    with _closing(node.source), contextlib.closing(_link(options)) as link:
        line = _line(options, link)
        status = _StatusLine()
        over = _ServedUntil(Pump(node, line), status)
        started = time.monotonic()
        with _stopping(over.stop):
            print(
                json.dumps({"port": link.url}) if options.json else f"port {link.url}", flush=True
            )
            over.pump.run(over)
        status.end()
        _finish(
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
    node = _node(options)
    device = profile(options.profile) if options.profile and options.cap != "none" else None
    with _closing(node.source), contextlib.closing(_link(options)) as link:
        line = _line(options, link)
        status = _StatusLine()
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
    _finish(options, line, result)
    if result.ended == "drained" and result.exit_code == 0:
        return 0
    if result.edge_errors:
        sys.stderr.write(result.edge_errors.rstrip() + "\n")
    return _fail(f"the run ended by {result.ended}, the edge process with {result.exit_code}", 1)


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
        return options.act(options)
    except ValueError as error:
        return _fail(str(error), 2)
    except OSError as error:
        return _fail(str(error), 1)


if __name__ == "__main__":
    sys.exit(main())
