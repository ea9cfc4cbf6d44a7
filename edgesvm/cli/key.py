"""``edgesvm key``: draw a key that a node and its host share."""

from __future__ import annotations

import argparse

from edgesvm.cli import arguments
from edgesvm.link.keys import write_new_key

HELP = """\
Draw a random key and write it to FILE, which only its owner may read. A node that holds the same
16 bytes tags its frames with it, and `run --key FILE` refuses all others, and those sent before.

  edgesvm key node.key
  edgesvm run /dev/ttyUSB0 --key node.key

It is printed as the bytes of a C array, for the node's program. An existing FILE is not replaced.
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("key", description=HELP)
    command.add_argument("file", type=arguments.new_file, metavar="FILE")
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    key = write_new_key(options.file)
    print(", ".join(f"0x{byte:02x}" for byte in key))
    return 0
