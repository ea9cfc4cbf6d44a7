"""``--checkpoint`` and its like: the learner goes to disk while it learns, and comes back at the
start.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from edgesvm.budget import parse_bytes
from edgesvm.learner import Learner
from edgesvm.persist import Checkpoint
from edgesvm.persist.checkpointing import Checkpointer, Interval

DEFAULT_EVERY = "60s"
ROOM_BESIDE_ARENA = 1 << 16  # header, parameters, labels


def add_to(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("the checkpoint")
    group.add_argument(
        "--checkpoint",
        type=_file,
        metavar="FILE",
        help="saved to while learning; taken up from there at the start, if there",
    )
    group.add_argument(
        "--every",
        type=_interval,
        default=DEFAULT_EVERY,
        metavar="60s|N",
        help=f"seconds between saves, or samples; default {DEFAULT_EVERY}",
    )
    group.add_argument(
        "--checkpoint-second",
        type=_file,
        metavar="FILE",
        help="each save goes there too: on another medium",
    )


def _file(text: str) -> str:
    """A name that can be meant; whether the medium can be written is seen, and told, later: it may
    come back.
    """
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text}: there is no folder {path.parent}")
    if path.exists() and not path.is_file():
        raise argparse.ArgumentTypeError(f"{text} is no plain file")
    return text


def _interval(text: str) -> Interval:
    try:
        return Interval.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def open_checkpoint(options: argparse.Namespace) -> Checkpoint | None:
    """The checkpoint asked for; ValueError where the options make no sense."""
    if options.checkpoint is not None:
        return Checkpoint(options.checkpoint, second=options.checkpoint_second, fresh=options.fresh)
    if options.checkpoint_second is not None:
        raise ValueError("--checkpoint-second goes with --checkpoint")
    return None


def load(checkpoint: Checkpoint | None, options: argparse.Namespace) -> Learner | None:
    """The learner of the newest save within the budget, if there is one."""
    if checkpoint is None:
        return None
    return checkpoint.load(parse_bytes(options.memory) + ROOM_BESIDE_ARENA)


def saver(
    checkpoint: Checkpoint | None,
    options: argparse.Namespace,
    learner: Learner,
    report: Callable[[str], None],
) -> Checkpointer | None:
    """What saves now and then; None without ``--checkpoint``."""
    if checkpoint is None:
        return None
    return Checkpointer(checkpoint, learner, options.every, report=report)
