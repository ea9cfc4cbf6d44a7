"""Options of ``edgesvm run`` for a board that learns itself."""

from __future__ import annotations

import argparse

from edgesvm.cli import arguments


def add_to(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("a board that learns (edgesvm export, NAME_link.h)")
    group.add_argument(
        "--on-device",
        action="store_true",
        help="the board on PORT learns; this host looks on, and --save keeps the board's model. A "
        "board that has restarted gets it back; so does one that knows less than FILE",
    )
    group.add_argument(
        "--fetch-every",
        type=arguments.duration,
        default=60.0,
        metavar="TIME",
        help="how often the board's snapshot is fetched, such as 30s or 5m; default 1m",
    )
