"""``edgesvm inspect``: what a snapshot says, without trusting it."""

from __future__ import annotations

import argparse
import json
import os

from edgesvm.budget import format_bytes
from edgesvm.cli.snapshots import of_file
from edgesvm.persist import inspect, load

HELP = """\
What a snapshot says: learner, parameters, labels, counts, and the arrays it holds. Its length, CRC
and every count are checked first, and no code in it is run: there is none. Exit code 1 where it is
damaged or no snapshot.

  edgesvm inspect model.esvm
  edgesvm inspect model.esvm --json
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "inspect", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_argument("file", metavar="FILE", help="a snapshot")
    command.add_argument("--json", action="store_true", help="one JSON line")
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    with of_file(options.file):
        snapshot, empty, plan = inspect(options.file)
        learner = load(options.file)  # its own checks of what was learned
    counts = {"n_seen": learner.n_seen_, "n_updates": learner.n_updates_}
    if options.json:
        said = {
            "learner": repr(empty),
            "n_features": snapshot.n_features,
            "labels": [repr(y) for y in snapshot.labels],
            "bytes": plan.total,
            "file_bytes": os.path.getsize(options.file),
            **counts,
        }
        print(json.dumps(said))
        return 0
    labels = ", ".join(map(repr, snapshot.labels)) or "none yet"
    print(f"learner    {empty!r}")
    print(f"features   {snapshot.n_features}")
    print(f"labels     {labels}{' (named up front)' if snapshot.closed else ''}")
    print(f"samples    {counts['n_seen']:,} seen, {counts['n_updates']:,} moved the model")
    print(
        f"bytes      {format_bytes(plan.total)} of state, "
        f"{format_bytes(os.path.getsize(options.file))} on disk"
    )
    print(f"\n{plan}")
    return 0
