"""``edgesvm key``: draw a key that a node and its host share."""

from __future__ import annotations

from dataclasses import dataclass

from edgesvm.cli import arguments
from edgesvm.cli.options import argument
from edgesvm.link.keyed import write_new_key

HELP = """\
Draw a random key and write it to FILE, which only its owner may read. A node that holds the same
16 bytes tags its frames with it, and `run --key FILE` refuses all others, and those sent before.

  edgesvm key node.key
  edgesvm run /dev/ttyUSB0 --key node.key

It is printed as the bytes of a C array, for the node's program. An existing FILE is not replaced.
"""


@dataclass(frozen=True, kw_only=True)
class Settings:
    file: str = argument("file to write", unit="FILE", check=arguments.new_file)


def act(settings: Settings) -> int:
    key = write_new_key(settings.file)
    print(", ".join(f"0x{byte:02x}" for byte in key))
    return 0
