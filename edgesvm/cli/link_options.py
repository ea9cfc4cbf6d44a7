"""Options of the commands that read a port: what speaks on it, and when to stop."""

from __future__ import annotations

import argparse
from typing import Any

from edgesvm.cli import arguments, ports
from edgesvm.cli.stopping import Signals, Stop
from edgesvm.errors import LinkDown, NoSchema
from edgesvm.link import Link, open_link
from edgesvm.link.keys import read_key
from edgesvm.link.link import SILENT_AFTER


def add_port(command: argparse.ArgumentParser, *, several: bool = False) -> None:
    port = command.add_argument(
        "port", metavar="PORT", help="/dev/ttyUSB0, a pseudo-terminal or socket://host:port"
    )
    port.nargs = "+" if several else None


def add_to(command: argparse.ArgumentParser, *, auto: bool = False, unlabelled: str = "") -> None:
    """Add the options; `unlabelled` says in the help what is done with unlabelled samples."""
    command.add_argument(
        "--baud",
        type=arguments.count,
        default=115200,
        metavar="B",
        help="speed of a serial port; default 115200",
    )
    kind = command.add_mutually_exclusive_group()
    kind.add_argument("--text", action="store_true", help="text lines instead of binary frames")
    if auto:
        kind.add_argument(
            "--auto", action="store_true", help="text or frames, decided by the first byte"
        )
    command.add_argument(
        "--key",
        metavar="FILE",
        help="refuse frames without a valid tag of this key; the node has it too",
    )
    command.add_argument(
        "--n-features",
        type=arguments.count,
        metavar="D",
        help="expected numbers in a sample; default on a text link: found from the first lines",
    )
    command.add_argument(
        "--unlabelled", action="store_true", help=f"samples have no label{unlabelled}"
    )
    command.add_argument(
        "--samples", type=arguments.count, metavar="N", help="stop after N samples"
    )
    command.add_argument(
        "--once", action="store_true", help="stop when the port fails instead of opening it again"
    )
    command.add_argument(
        "--wait",
        type=arguments.seconds,
        default=10.0,
        metavar="S",
        help="how long to wait for the node's schema; default 10 s",
    )
    command.add_argument(
        "--silent-after",
        type=_silence,
        default=SILENT_AFTER,
        metavar="S",
        help="count a silence after S seconds without a valid frame or line, and ask a node that "
        f"sends frames for its schema; after 2 S open its port again; default {SILENT_AFTER:g} s",
    )
    command.add_argument(
        "--json", action="store_true", help="print one JSON line to stdout at the end"
    )
    command.add_argument("--quiet", action="store_true", help="do not show the status line")


def _silence(text: str) -> float:
    """A time in seconds, at least three heartbeats of a node."""
    number = arguments.seconds(text)
    if number < SILENT_AFTER:
        raise argparse.ArgumentTypeError(f"{text}: give at least {SILENT_AFTER:g} seconds")
    return number


def open_port(options: argparse.Namespace, signals: Signals, **more: Any) -> Link:
    """Open the link that the options describe; `more` goes to `open_link`. Ctrl-C ends the wait."""
    mode = "text" if options.text else "auto" if getattr(options, "auto", False) else "binary"
    if getattr(options, "on_device", False):
        mode = "board"
    try:
        with signals.interruptible():
            return open_link(
                options.port,
                baud=options.baud,
                mode=mode,
                n_features=options.n_features,
                label="none" if options.unlabelled else "last",
                handshake_timeout=options.wait,
                silent_after=options.silent_after,
                key=None if options.key is None else read_key(options.key),
                **more,
            )
    except LinkDown as error:
        advice = ports.advice(options.port)
        raise LinkDown(f"{error}{'; ' if advice else ''}{advice}") from error
    except NoSchema as error:
        raise NoSchema(f"{error} See --baud and --text.") from error
    except Stop:
        raise KeyboardInterrupt from None
