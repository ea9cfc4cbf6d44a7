"""``--checkpoint`` and related options: save the learner while it learns, load it at the start."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from edgesvm.cli import arguments

if TYPE_CHECKING:
    from edgesvm.persist import Checkpoint
    from edgesvm.persist.checkpointing import Checkpointer, Interval, LearningModel


DEFAULT_EVERY = "60s"


def add_to(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("checkpoint")
    group.add_argument(
        "--checkpoint",
        type=arguments.file_in_folder,  # writable, or not yet: a medium may come back
        metavar="FILE",
        help="save here while learning, and continue from here at the start if the file exists",
    )
    group.add_argument(
        "--every",
        type=_interval,
        metavar="60s|N",
        help=f"time between saves (60s) or a number of samples; default {DEFAULT_EVERY}",
    )
    group.add_argument(
        "--checkpoint-second",
        type=arguments.file_in_folder,  # writable, or not yet: a medium may come back
        metavar="FILE",
        help="a second file for each save, on another medium",
    )


def _interval(text: str) -> Interval:
    from edgesvm.persist.checkpointing import Interval

    try:
        return Interval.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def open_checkpoint(options: argparse.Namespace) -> Checkpoint | None:
    """The requested checkpoint, or None. Raises ValueError if the options contradict each other."""
    if options.checkpoint is not None:
        from edgesvm.persist import Checkpoint

        return Checkpoint(options.checkpoint, second=options.checkpoint_second, fresh=options.fresh)
    if options.checkpoint_second is not None:
        raise ValueError("--checkpoint-second needs --checkpoint")
    return None


def saver(
    checkpoint: Checkpoint | None,
    options: argparse.Namespace,
    learner: LearningModel,
    report: Callable[[str], None],
) -> Checkpointer | None:
    """The object that saves at intervals; None without ``--checkpoint``."""
    if checkpoint is None:
        return None
    from edgesvm.persist.checkpointing import Checkpointer

    every = options.every or _interval(DEFAULT_EVERY)
    return Checkpointer(checkpoint, learner, every, report=report)
