"""``edgesvm export``: a saved model as C99 for a microcontroller."""

from __future__ import annotations

import argparse

from edgesvm.cli.snapshots import of_file
from edgesvm.export.folder import export
from edgesvm.learner import Learner
from edgesvm.persist import restore
from edgesvm.persist.store import read_file
from edgesvm.preprocessing.chain import Chain

HELP = """\
Write MODEL.esvm as C99 that predicts and learns on a microcontroller, in the arena of the host: its
snapshots are the host's, byte for byte.

  edgesvm export pump.esvm --c firmware/pump --prefix pump

writes pump.h, pump.c, the runtime in edgesvm/, a Makefile and a library.json. Nothing is allocated;
pump.h states every size.
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "export", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_argument("model", metavar="MODEL.esvm", help="a saved model")
    command.add_argument("--c", metavar="DIR", required=True, help="write C99 into this folder")
    command.add_argument(
        "--prefix", default="model", metavar="NAME", help="what all names begin with; model"
    )
    command.add_argument(
        "--inference", action="store_true", help="tables in flash that decide and learn no more"
    )
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    learner = loaded(options.model)
    written = export(learner, options.c, options.prefix, inference=options.inference)
    print(f"{options.model}: {learner!r}, {learner.nbytes} bytes here")
    print(f"{options.c}: {len(written)} files; include {options.prefix}.h")
    return 0


def loaded(path: str) -> Learner | Chain:
    """The model of a snapshot, which may be a chain's."""
    data = read_file(path)
    with of_file(path):
        return restore(data)
