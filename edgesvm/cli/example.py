"""``edgesvm example``: write the examples, which are in the package, into a folder."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from edgesvm.cli.options import argument

if TYPE_CHECKING:
    from importlib.abc import Traversable

HELP = """\
Write an example into a folder, DIR, which is made if it is not there. No file is overwritten.

  edgesvm example arduino          sketches: features of a vibration, raw signals, frames
  edgesvm example pi /tmp/pi       a service that learns from boot on, for a Raspberry Pi
"""
NEXT = {
    "arduino": """\
Open {folder}/vibration_features/vibration_features.ino in the Arduino IDE and upload it. Then:
  edgesvm run /dev/ttyACM0 --answers --save pump.esvm""",
    "pi": "{folder}/README.md says what goes where.",
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    name: str = argument("which example", choices=tuple(NEXT))
    folder: str | None = argument("default: the example's name", unit="DIR", default=None)


def act(settings: Settings) -> int:
    folder = Path(settings.folder or settings.name)
    source = resources.files("edgesvm") / "examples" / settings.name  # of the installed package
    written = {folder / path: content for path, content in sorted(_files(source).items())}
    for path in written:
        if path.exists():
            raise FileExistsError(f"{path} is already there; give another folder")
    for path, content in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(path)
    print(f"\n{NEXT[settings.name].format(folder=folder)}")
    return 0


def _files(folder: Traversable) -> dict[Path, bytes]:
    """The files in a folder and below, by their paths in it."""
    found = {}
    for entry in folder.iterdir():
        if entry.is_file() and "." in entry.name and not entry.name.endswith(".pyc"):
            found[Path(entry.name)] = entry.read_bytes()
        elif entry.is_dir():
            found |= {Path(entry.name) / path: of for path, of in _files(entry).items()}
    return found
