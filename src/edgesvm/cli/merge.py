"""``edgesvm merge``: one model of those that several gateways learned."""

from __future__ import annotations

import argparse
import json

from edgesvm.budget import MemoryBudgetError, format_bytes, parse_bytes
from edgesvm.cli import arguments, saved_model
from edgesvm.cli.snapshots import read_learner
from edgesvm.cli.status import StatusLine
from edgesvm.fleet.merging import merged
from edgesvm.learner import Learner

HELP = """\
Merge snapshots or checkpoints that learned apart into one model. They must have equal parameters
and features, and labels for which there is room; a file that differs is named, and nothing is
written (exit code 2). They are merged in the order given: the same files give the same bytes.

  edgesvm merge north.esvm south.esvm -o fleet.esvm
  edgesvm merge gateways/*.esvm -o fleet.esvm --budget 64KiB

Exact for StreamSVM (the ball around both), AdaGradSVM and FourierSVM of one seed (the mean of their
decision values). Kernel machines are solved anew on the union of their vectors, an approximation.
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "merge", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_argument("models", metavar="MODEL", nargs="+", help="a snapshot or a checkpoint")
    command.add_argument(
        "-o",
        "--out",
        type=arguments.new_file,
        required=True,
        metavar="FILE",
        help="snapshot to write",
    )
    command.add_argument(
        "--budget", metavar="BYTES", help="refuse if the merged model takes more: 65536, 64KiB"
    )
    command.add_argument("--json", action="store_true", help="print one JSON line instead of text")
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    if len(options.models) < 2:
        raise ValueError("give at least two models to merge")
    with saved_model.claimed_snapshot(options.out):
        status = StatusLine(quiet=options.json)
        try:
            learners = []
            for path in options.models:
                learners.append(_read(path))
                status.show(lambda: f"read {len(learners):,} of {len(options.models):,} models")
            _check_budget(options, learners[0])
            learner = merged(
                learners,
                options.models,
                progress=lambda n, of: status.show(lambda: f"{n:,} of {of:,} merges"),
            )
        finally:
            status.end()
        learner.save(options.out)
    _report(options, learners, learner)
    return 0


def _read(path: str) -> Learner:
    learner = read_learner(path)
    if learner is None:
        raise ValueError(f"{path}: nothing was saved in it yet")
    return learner


def _check_budget(options: argparse.Namespace, learner: Learner) -> None:
    if options.budget is None:
        return
    most = parse_bytes(options.budget)
    if learner.nbytes > most:
        raise MemoryBudgetError(
            f"the merged model takes {format_bytes(learner.nbytes)}, as each of these does;"
            f" --budget is {format_bytes(most)}",
            learner.nbytes,
            most,
        )


def _report(options: argparse.Namespace, learners: list[Learner], learner: Learner) -> None:
    seen = [one.n_seen_ for one in learners]
    if options.json:
        report = {
            "learner": repr(learner),
            "merged": dict(zip(options.models, seen, strict=True)),
            "n_seen": learner.n_seen_,
            "bytes": learner.nbytes,
            "out": options.out,
        }
        print(json.dumps(report))
        return
    print(f"{learner!r}, {learner.n_features_in_} features")
    width = max(len(path) for path in options.models)
    for path, n in zip(options.models[:20], seen, strict=False):
        print(f"  {path:<{width}}  {n:>12,} samples")
    if len(seen) > 20:
        print(f"  and {len(seen) - 20:,} more")
    labels = ", ".join(str(label) for label in learner.classes_)
    print(
        f"{len(seen):,} models of {sum(seen):,} samples merged; labels {labels}; "
        f"{format_bytes(learner.nbytes)} of state"
    )
    print(f"saved to {options.out}")
