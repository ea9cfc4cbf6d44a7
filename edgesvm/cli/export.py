"""``edgesvm export``: a saved model as C99 for a microcontroller."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from edgesvm.cli.options import argument, option
from edgesvm.cli.saved_model import of_file, snapshot
from edgesvm.export.boards import BOARDS
from edgesvm.export.folder import decides_only, export
from edgesvm.export.report import Need, details, needs, overview
from edgesvm.learner import Learner
from edgesvm.preprocessing.chain import Chain

HELP = """\
Write MODEL.esvm as C99 that predicts and learns on a microcontroller, in the arena of the host: its
snapshots are the host's, byte for byte. Kernel machines decide there, and learn no more.

  edgesvm export pump.esvm --c firmware/pump --prefix pump
  edgesvm export pump.esvm --report                  flash, RAM and time on all boards known
  edgesvm export pump.esvm --report --board pico     on one, in full

writes pump.h, pump.c, the runtime in edgesvm/, and what Make, CMake, Arduino, PlatformIO, Zephyr
and the Pico SDK need. Nothing is allocated; pump.h states every size.

Exit code of --report --board: 0 if the model fits there, 2 if not.
"""


@dataclass(frozen=True, kw_only=True)
class Settings:
    model: str = argument("a saved model", unit="MODEL.esvm")
    c: str | None = option(None, "write C99 into this folder", unit="DIR")
    prefix: str = option("model", "what all names begin with", unit="NAME")
    inference: bool = option(
        False, "tables in flash that decide and learn no more; a kernel machine has no other form"
    )
    report: bool = option(False, "flash, RAM and time a sample on boards")
    board: str | None = option(
        None, f"report on this one: {', '.join(BOARDS)}", unit="NAME", choices=BOARDS
    )
    json: bool = option(False, "report in one JSON line")

    def __post_init__(self) -> None:
        if (self.board or self.json) and not self.report:
            raise ValueError(f"{'--board' if self.board else '--json'} needs --report")
        if self.c is None and not self.report:
            raise ValueError("give --c DIR, --report or both")


def act(settings: Settings) -> int:
    learner = loaded(settings.model)
    if settings.c is not None:
        check_folder(Path(settings.c), settings.prefix)
        inference = settings.inference or None  # None: if it has no form that learns
        written = export(learner, settings.c, settings.prefix, inference=inference)
        remove_left_over(Path(settings.c), settings.prefix, written)
        if not settings.json:
            print(f"{settings.model}: {learner!r}, {learner.nbytes} bytes here")
            if not settings.inference and decides_only(learner):
                print("it decides there and learns no more, as with --inference")
            print(f"{settings.c}: {len(written)} files; include {settings.prefix}.h")
    return report(settings, learner) if settings.report else 0


def check_folder(folder: Path, prefix: str) -> None:
    """Raise FileExistsError if a model of another name is in the folder."""
    properties = folder / "library.properties"
    text = properties.read_text(encoding="utf-8") if properties.is_file() else ""
    found = re.search(r"^includes=(\w+)\.h$", text, re.MULTILINE)
    if found and found[1] != prefix:
        raise FileExistsError(
            f"{folder} holds the model {found[1]}: give another folder, or --prefix {found[1]} to "
            "replace it"
        )


def remove_left_over(folder: Path, prefix: str, written: list[Path]) -> None:
    """Remove what the last export of this name wrote, and this one did not."""
    patterns = [
        "edgesvm/*.[ch]",
        "src/*.[ch]",
        f"examples/{prefix}_learn/*.ino",
    ]
    for path in (path for pattern in patterns for path in folder.glob(pattern)):
        ours = path.parent.name != "src" or path.read_text().startswith('#include "../')
        if path not in written and ours:
            path.unlink()


def report(settings: Settings, learner: Learner | Chain) -> int:
    """Print what the model needs; 2 if it does not fit on the board named."""
    names = [settings.board] if settings.board else list(BOARDS)
    found = needs(learner, names, inference=settings.inference or None)
    needed: dict[str, Need] = dict(zip(names, found, strict=True))
    if settings.json:
        boards = [need.as_json(name) for name, need in needed.items()]
        print(json.dumps({"model": repr(learner), "arena": learner.nbytes, "boards": boards}))
    elif settings.board:
        print(f"{learner!r}, an arena of {learner.nbytes:,} bytes\n")
        print(details(needed[settings.board]))
    else:
        print(f"{learner!r}, an arena of {learner.nbytes:,} bytes\n")
        print(overview(needed))
        print("\n  ~: estimated. For one board in full: --board NAME")
    if not settings.board or needed[settings.board].fits:
        return 0
    print(f"edgesvm: the model does not fit on {BOARDS[settings.board].title}", file=sys.stderr)
    return 2


def loaded(path: str) -> Learner | Chain:
    """The model of a snapshot, which may be a chain's; ValueError for one that joins learners."""
    with of_file(path):
        _, model = snapshot(path)
    if not isinstance(model, Learner | Chain):
        raise ValueError(
            f"{path}: a {type(model).__name__} cannot be exported to C; a learner can, or a Chain"
        )
    return model
