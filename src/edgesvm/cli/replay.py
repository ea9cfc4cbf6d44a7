"""``edgesvm replay``: test-then-train over a recording."""

from __future__ import annotations

import argparse

from edgesvm.cli import evaluate
from edgesvm.ingest import Recording

HELP = """\
Test-then-train over the samples that `edgesvm record` kept, in their order: each is predicted, then
learned.

  edgesvm replay room.rec --memory 64KiB --learner kernel-stream
  python -m firmware_sim serve --replay room.rec   plays it onto a link, for `run`

Where labels came late, a sample is predicted where it came and learned where its label came, as in
`run`. The same as `edgesvm eval` on such a file. Damaged records and samples without a label are
left out and counted.
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "replay", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_argument("file", metavar="FILE", help="a recording, of whatever name")
    evaluate.add_options(command)
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    with Recording(options.file, late_labels=options.late_labels) as recording:
        return evaluate.test_then_train(options, recording)
