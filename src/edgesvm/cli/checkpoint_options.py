"""``--checkpoint`` and related options: save the learner while it learns, load it at the start."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from edgesvm.persist import Checkpoint
from edgesvm.persist.checkpointing import Checkpointer, Interval, LearningModel

DEFAULT_EVERY = "60s"


def add_to(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("checkpoint")
    group.add_argument(
        "--checkpoint",
        type=_file,
        metavar="FILE",
        help="save here while learning, and continue from here at the start if the file exists",
    )
    group.add_argument(
        "--every",
        type=_interval,
        default=DEFAULT_EVERY,
        metavar="60s|N",
        help=f"time between saves (60s) or a number of samples; default {DEFAULT_EVERY}",
    )
    group.add_argument(
        "--checkpoint-second",
        type=_file,
        metavar="FILE",
        help="a second file for each save, on another medium",
    )


def _file(text: str) -> str:
    """A path whose folder exists. Saves check that it is writable: a medium may come back."""
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text}: the folder {path.parent} does not exist")
    if path.exists() and not path.is_file():
        raise argparse.ArgumentTypeError(f"{text} is not a regular file")
    return text


def _interval(text: str) -> Interval:
    try:
        return Interval.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def open_checkpoint(options: argparse.Namespace) -> Checkpoint | None:
    """The requested checkpoint, or None. Raises ValueError if the options contradict each other."""
    if options.checkpoint is not None:
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
    return Checkpointer(checkpoint, learner, options.every, report=report)
