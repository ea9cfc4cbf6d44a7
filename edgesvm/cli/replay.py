"""``edgesvm replay``: predict, then learn, each sample of a recording."""

from __future__ import annotations

import argparse

from edgesvm.cli import evaluate
from edgesvm.link import Recording

HELP = """\
Predict, then learn, each sample that `edgesvm record` wrote, in order, and report the accuracy of
these predictions (test-then-train). The same as `edgesvm eval` on such a file.

  edgesvm replay room.rec --memory 64KiB --learner kernel-stream
  python -m firmware_sim serve --replay room.rec   send it over a link, to `run`

If labels arrived late, each sample is predicted when it arrived and learned when its label arrived,
as in `run`. Damaged records and samples without a label are skipped and counted.
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("replay", usage="edgesvm replay FILE [options]", description=HELP)
    command.add_argument("file", metavar="FILE", help="a recording; the name does not matter")
    evaluate.add_options(command)
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    with Recording(options.file, late_labels=options.late_labels) as recording:
        return evaluate.test_then_train(options, recording)
