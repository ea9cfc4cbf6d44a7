"""The port, what speaks on it and when to end: options of the commands that listen."""

from __future__ import annotations

import argparse
from typing import Any

from edgesvm.cli import arguments
from edgesvm.cli.stopping import Signals, Stop
from edgesvm.errors import NoSchema
from edgesvm.ingest import Link, open_link


def add_port(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "port", metavar="PORT", help="/dev/ttyUSB0, a pseudo-terminal, socket://host:port"
    )


def add_to(command: argparse.ArgumentParser, *, auto: bool = False, unlabelled: str = "") -> None:
    """`unlabelled` is what a command does with samples that carry no label."""
    command.add_argument(
        "--baud", type=arguments.count, default=115200, metavar="B", help="default 115200"
    )
    kind = command.add_mutually_exclusive_group()
    kind.add_argument("--text", action="store_true", help="lines of numbers instead of frames")
    if auto:
        kind.add_argument(
            "--auto", action="store_true", help="lines or frames, as the first byte tells"
        )
    command.add_argument(
        "--features",
        type=arguments.count,
        metavar="D",
        help="expected; on a text link else found out",
    )
    command.add_argument(
        "--unlabelled", action="store_true", help=f"samples carry no label{unlabelled}"
    )
    command.add_argument("--samples", type=arguments.count, metavar="N", help="end after so many")
    command.add_argument(
        "--once", action="store_true", help="end when the port dies, do not open it again"
    )
    command.add_argument(
        "--wait",
        type=arguments.seconds,
        default=10.0,
        metavar="S",
        help="for the node's schema, default 10 s",
    )
    command.add_argument("--json", action="store_true", help="a JSON line on stdout at the end")
    command.add_argument("--quiet", action="store_true", help="no status line")


def open_port(options: argparse.Namespace, signals: Signals, **more: Any) -> Link:
    """The link that the options name; `more` is for `open_link`. Ctrl-C ends the waiting."""
    mode = "text" if options.text else "auto" if getattr(options, "auto", False) else "binary"
    try:
        with signals.interruptible():
            return open_link(
                options.port,
                baud=options.baud,
                mode=mode,
                n_features=options.features,
                label="none" if options.unlabelled else "last",
                handshake_timeout=options.wait,
                **more,
            )
    except NoSchema as error:
        raise NoSchema(f"{error} See --baud and --text.") from error
    except Stop:
        raise KeyboardInterrupt from None
