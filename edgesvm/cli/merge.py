"""``edgesvm merge``: one model of those that several gateways learned."""

from __future__ import annotations

import argparse
import json

from edgesvm.budget import MemoryBudgetError, format_bytes
from edgesvm.cli import arguments, saved_model
from edgesvm.cli.snapshots import read_learner
from edgesvm.cli.status import StatusLine
from edgesvm.fleet.merging import merged
from edgesvm.fleet.starting import start
from edgesvm.learner import Learner

HELP = """\
Merge snapshots or checkpoints that learned apart into one model. They must have equal parameters
and features, and labels for which there is room; a file that differs is named, and nothing is
written (exit code 2). They are merged in the order given: the same files give the same bytes.

  edgesvm merge north.esvm south.esvm -o fleet.esvm
  edgesvm merge gateways/*.esvm -o fleet.esvm --budget 64KiB

Exact for StreamSVM (the ball around both), AdaGradSVM and FourierSVM of one seed (the mean of their
decision values). Kernel machines are solved anew on the union of their vectors, an approximation.

Gateways scale their features by what they have seen, each in its own way, and Fourier features or
a ball of one scale say nothing in another. So such gateways start from one model that has
the scale of all, and go on from what they have learned together:

  edgesvm merge --start day1/*.esvm -o start.esvm            copy it to each gateway, as its model
  edgesvm merge day2/*.esvm -o fleet.esvm                    what they learned from it
  edgesvm merge --since fleet.esvm day3/*.esvm -o new.esvm   what they learned from fleet.esvm
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("merge", description=HELP)
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
        "--budget",
        metavar="BYTES",
        help="bytes of the merged model: 65536, 64KiB. A kernel machine (twin, batch, core-vector, "
        "ball-vector) gets as many vectors as fit, be it fewer than each of the models has or "
        "more; other learners keep their size and are refused if they take more",
    )
    how = command.add_mutually_exclusive_group()
    how.add_argument(
        "--start",
        action="store_true",
        help="write a model that has learned nothing yet, and scales the features by the mean and "
        "the deviation of all samples that these models have seen, for good",
    )
    how.add_argument(
        "--since",
        metavar="MODEL",
        help="the model that all of these started from: what it had learned counts once, and they "
        "weigh by the samples they have learned since; needed from the second round on (fourier, "
        "adagrad, stream)",
    )
    command.add_argument("--json", action="store_true", help="print one JSON line instead of text")
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    if len(options.models) < 2 and not (options.start or options.since):
        raise ValueError("give at least two models to merge")
    with saved_model.claimed(options.out):
        status = StatusLine(quiet=options.json)
        try:
            learners = []
            for path in options.models:
                learners.append(_read(path))
                status.show(lambda: f"read {len(learners):,} of {len(options.models):,} models")
            learner = _merged(options, learners, status)
        finally:
            status.end()
        if len({one._columns for one in learners}) == 1:
            learner.name_features(learners[0]._columns)
        learner.save(options.out)
    _report(options, learners, learner)
    return 0


def _read(path: str) -> Learner:
    learner = read_learner(path)
    if learner is None:
        raise ValueError(f"{path}: nothing was saved in it yet")
    return learner


def _merged(options: argparse.Namespace, learners: list[Learner], status: StatusLine) -> Learner:
    try:
        if options.start:
            learner = start(learners, options.models)
            if options.budget is not None:
                learner.fitted_into(options.budget, learner.n_features_in_, fixed=True)
            return learner
        return merged(
            learners,
            options.models,
            since=None if options.since is None else _read(options.since),
            budget=options.budget,
            progress=lambda n, of: status.show(lambda: f"{n:,} of {of:,} merges"),
        )
    except MemoryBudgetError as error:
        raise MemoryBudgetError(
            f"--budget {options.budget}: the merged model needs {format_bytes(error.required)};"
            " give that many bytes, or let the gateways learn with less --memory",
            error.required,
            error.available,
        ) from error


def _report(options: argparse.Namespace, learners: list[Learner], learner: Learner) -> None:
    before = 0 if options.since is None else _read(options.since).n_seen_
    seen = [one.n_seen_ - before for one in learners]
    if options.json:
        report = {
            "learner": repr(learner),
            "merged": dict(zip(options.models, seen, strict=True)),
            "n_seen": learner.n_seen_,
            "start": options.start,
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
    if options.start:
        print("it has learned nothing yet: copy it to each gateway, as its model")
    elif options.since:
        print(f"with the {before:,} samples of {options.since}: {learner.n_seen_:,}")
    print(f"saved to {options.out}")
