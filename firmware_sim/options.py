"""Command-line options of a simulated node and its link, and the objects they describe."""

from __future__ import annotations

import argparse
import contextlib
import re
import secrets
import shutil
import sys
import time

from edgesvm.data import SampleSource
from edgesvm.link import open_rows
from edgesvm.link.keyed import read_key
from firmware_sim.harness import Report
from firmware_sim.limits.profiles import PROFILES, profile
from firmware_sim.line import (
    MIXES,
    FaultInjector,
    Line,
    PtyLink,
    SimulatedLink,
    TcpLink,
    fault_rates,
)
from firmware_sim.line.faults import FAULTS
from firmware_sim.node import RAW_SIGNALS, SIGNALS, FrameNode, Node, TextNode
from firmware_sim.node.node import LABEL_MODES
from firmware_sim.node.raw_signals import DEFECTS

STATUS_EVERY_S = 0.2
CLEAR_LINE = "\r\x1b[K"


def parse_seconds(text: str) -> float:
    """``"90"``, ``"90s"``, ``"10m"``, ``"2h"`` in seconds."""
    match = re.fullmatch(r"(\d+\.?\d*)([smh]?)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text}: give a time such as 90s, 10m or 2h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def add_node_options(command: argparse.ArgumentParser, raw: str = "--raw") -> None:
    """Add the options of what the node sends; `raw` is the option of raw signals."""
    group = command.add_argument_group("what is sent")
    group.add_argument(
        "--signal", choices=SIGNALS, default="rotating", help="synthetic sensor; default rotating"
    )
    group.add_argument("--replay", metavar="FILE", help="send the rows of a .csv, .npz or .rec")
    group.add_argument(
        "--label-column",
        metavar="NAME",
        help="label column of a CSV: name or index; none: no label",
    )
    group.add_argument(
        "--drop-column",
        metavar="NAME",
        action="append",
        default=[],
        help="a CSV column that is not a feature; may be repeated",
    )
    group.add_argument(
        "--regress", action="store_true", help="the labels of --replay are numbers, not classes"
    )
    group.add_argument(
        "--labels",
        choices=LABEL_MODES,
        default="inline",
        help="how labels are sent to the host; default inline",
    )
    group.add_argument("--samples", type=int, metavar="N", help="stop after N samples")
    group.add_argument(
        "--rate",
        type=float,
        metavar="HZ",
        help="samples per second; default: as fast as the link accepts",
    )
    _add_raw_options(group, raw)
    group.add_argument(
        "--text", action="store_true", help="send text lines: no handshake, no predictions back"
    )
    group.add_argument("--key", metavar="FILE", help="tag the frames with the key in FILE")
    group.add_argument("--seed", type=int, default=0, help="random seed of signal and faults")


def _add_raw_options(group: argparse._ArgumentGroup, raw: str) -> None:
    group.add_argument(
        raw,
        dest="raw_signal",
        action="store_true",
        help="the samples that the sensor measures, instead of features of its windows "
        f"({', '.join(RAW_SIGNALS)}): a housing's acceleration on two axes, a person's on three",
    )
    group.add_argument(
        "--signal-rate",
        type=float,
        metavar="HZ",
        help="samples per second of a raw signal, sent at --rate; default: as --rate, else 2000 "
        "(rotating) or 100 (person)",
    )
    group.add_argument(
        "--onset",
        type=parse_seconds,
        metavar="TIME",
        help="the raw rotating machine is normal until then, such as 10m, and then its fault "
        "grows; default: it comes and goes",
    )
    group.add_argument(
        "--growth",
        type=parse_seconds,
        metavar="TIME",
        help="how long a fault grows after --onset; default 5m",
    )
    group.add_argument(
        "--defect",
        choices=DEFECTS,
        help="what fails in the raw rotating machine; default outer-race, of the bearing",
    )


def add_link_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the link: its kind, speed and faults."""
    group = command.add_argument_group("the link")
    group.add_argument(
        "--link", choices=("pty", "tcp"), default="pty", help="a pseudo-terminal (default) or TCP"
    )
    group.add_argument("--symlink", metavar="NAME", help="a stable name for the pseudo-terminal")
    group.add_argument(
        "--tcp-port",
        type=int,
        default=0,
        metavar="P",
        help="port number; 0 (default) picks a free one",
    )
    group.add_argument(
        "--baud", type=float, metavar="B", help="speed of the link; default: unlimited"
    )
    group.add_argument(
        "--flow-control",
        action="store_true",
        help="RTS and CTS are wired: the line waits for a busy host, and loses nothing",
    )
    group.add_argument(
        "--profile", choices=PROFILES, help="device whose baud, buffers and memory apply"
    )
    group.add_argument(
        "--faults",
        choices=MIXES,
        default="none",
        metavar="MIX",
        help=f"fault mix: {', '.join(MIXES)}",
    )
    group.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="KIND=RATE",
        help=f"probability per frame, overrides the mix: {', '.join(FAULTS)}",
    )
    group.add_argument("--json", action="store_true", help="print the report as one JSON line")


# Of a raw rotating machine: name of an option, and of its parameter.
_OF_A_MACHINE = {
    "onset": "onset_s",
    "growth": "growth_s",
    "defect": "defect",
}


def _raw_source(options: argparse.Namespace) -> SampleSource:
    if options.signal not in RAW_SIGNALS:
        raise ValueError(
            f"--signal {options.signal} has no raw samples; {' and '.join(RAW_SIGNALS)} have"
        )
    given = {name: getattr(options, name) for name in _OF_A_MACHINE}
    settings = {_OF_A_MACHINE[name]: value for name, value in given.items() if value is not None}
    if settings and options.signal != "rotating":
        raise ValueError("--onset, --growth and --defect are of a machine")
    if options.onset is None and options.growth is not None:
        raise ValueError("--growth needs --onset")
    rate = options.signal_rate or options.rate
    if rate is not None:
        settings["rate"] = rate
    return RAW_SIGNALS[options.signal](options.seed, **settings)


def make_source(options: argparse.Namespace) -> SampleSource:
    if options.replay is None and options.raw_signal:
        return _raw_source(options)
    of_raw = ("signal_rate", *_OF_A_MACHINE)
    if options.raw_signal or any(getattr(options, name) is not None for name in of_raw):
        raise ValueError(
            "--signal-rate, --onset, --growth and --defect are of a raw signal"
            if options.replay is None
            else "--replay sends the rows of the file as they are: leave out the options of raw "
            "signals"
        )
    if options.replay is not None:
        return open_rows(
            options.replay,
            label_column=options.label_column,
            drop_columns=tuple(options.drop_column),
            targets=options.regress,
        )
    return SIGNALS[options.signal](options.seed)


def make_node(options: argparse.Namespace) -> Node:
    settings = {
        "rate": options.rate,
        "samples": options.samples,
        "label_mode": options.labels,
    }
    source = make_source(options)
    device = profile(options.profile) if options.profile else None
    if options.text:
        if options.key:
            raise ValueError("--key needs frames and does not apply with --text")
        if device:
            settings["tx_bytes"] = max(device.tx_bytes, 512)
        return TextNode(source, **settings)
    if device:
        # The buffer must hold at least one sample, even if the profile's is smaller.
        settings["tx_bytes"] = max(device.tx_bytes, 8 * source.n_features + 64)
    return FrameNode(
        source,
        key=None if options.key is None else read_key(options.key),
        boot_id=secrets.randbits(32),  # differs at each start, as on a board, whatever the seed
        **settings,
    )


def make_line(options: argparse.Namespace, link: SimulatedLink) -> Line:
    rates = fault_rates(options.faults, options.fault)
    faults = None
    if any(rates.values()):
        delimiter = ord("\n") if options.text else 0
        faults = FaultInjector(rates, seed=options.seed, delimiter=delimiter)
    baud = options.baud
    if options.profile is not None:
        device = profile(options.profile)
        if baud is not None and baud > device.max_baud:
            raise ValueError(f"--baud {baud:g}: {device.name} supports at most {device.max_baud}")
        # A profile sets the speed unless --baud does.
        baud = device.baud if baud is None else baud
    return Line(link, baud=baud, faults=faults, flow_control=options.flow_control)


def make_link(options: argparse.Namespace) -> SimulatedLink:
    if options.link == "tcp":
        return TcpLink(options.tcp_port)
    return PtyLink(options.symlink)


class NodeStatus:
    """A line about the node, rewritten in place; nothing if stderr is not a terminal."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._started = self._shown = time.monotonic()

    def __call__(self, node: Node, line: Line, *_: object) -> None:
        now = time.monotonic()
        if not self._live or now - self._shown < STATUS_EVERY_S:
            return
        self._shown = now
        last = getattr(node.scorer, "mae", node.scorer.last_accuracy)
        figure = "MAE" if node.targets else "accuracy"
        text = (
            f"{node.samples_sent:,} sent  {node.samples_dropped:,} dropped  "
            f"{node.scorer.received:,} predicted  "
            f"{figure} {'-' if last is None else f'{last:.3f}'}  "
            f"faults {len(line.faults.ledger) if line.faults else 0}  "
            f"{now - self._started:.0f} s"
        )
        columns = shutil.get_terminal_size().columns
        self._write(CLEAR_LINE + text[: columns - 1])  # a wrapped line cannot be rewritten

    def end(self) -> None:
        """Clear the line."""
        if self._live:
            self._write(CLEAR_LINE)

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a terminal that is gone
            sys.stderr.write(text)
            sys.stderr.flush()


def closing_source(source: SampleSource) -> contextlib.AbstractContextManager:
    """A context that closes the source if it has a file."""
    return contextlib.closing(source) if hasattr(source, "close") else contextlib.nullcontext()


def finish(options: argparse.Namespace, result: Report) -> None:
    """Print the report."""
    print(result.json() if options.json else result.text(), flush=True)
