"""The files of a run's model: claimed before the port is opened, loaded within the budget."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from edgesvm.budget import parse_bytes
from edgesvm.cli import checkpoint_options, learner_options, window_options
from edgesvm.cli.snapshots import learner_of, of_file
from edgesvm.learner import Learner, load
from edgesvm.persist.exclusive import Claim
from edgesvm.persist.folders import followed

if TYPE_CHECKING:
    from edgesvm.persist import Checkpoint
    from edgesvm.preprocessing.chain import Chain


@contextlib.contextmanager
def claimed(options: argparse.Namespace) -> Iterator[Checkpoint | None]:
    """Keep other processes from the files of ``--checkpoint`` and ``--save`` within the block;
    yields the checkpoint, None if there is none.

    Raises
    ------
    BlockingIOError
        Another process has one of them; the message names it.
    """
    checkpoint = checkpoint_options.open_checkpoint(options)
    if checkpoint is not None and options.save and _same(options.save, options.checkpoint):
        raise ValueError(f"--save and --checkpoint are both {options.save}: use two files")
    with contextlib.ExitStack() as held:
        if checkpoint is not None:
            held.callback(checkpoint.close)
            checkpoint.claim()
        if options.save:
            held.enter_context(claimed_snapshot(options.save))
        yield checkpoint


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def claimed_snapshot(path: str) -> contextlib.AbstractContextManager[object]:
    """Keep other processes from a snapshot within the block. Raises as `claimed` does.

    A snapshot is replaced when it is saved, so the claim is on a file of its own, ``FILE.lock``.
    """
    name = f"{followed(path)}.lock"
    try:
        return Claim(name, path)
    except BlockingIOError:
        raise
    except OSError:  # no room for a file, say; what cannot be saved is reported at the end
        return contextlib.nullcontext()


def loaded(
    options: argparse.Namespace, checkpoint: Checkpoint | None, *, labels: bool = True
) -> tuple[Any, str | None]:
    """The model of the checkpoint, else of the snapshot, and its file; None if there is none.

    Parameters
    ----------
    options : argparse.Namespace
    checkpoint : Checkpoint or None
    labels : bool
        Whether it must be one that learns with labels, or one without.

    Raises
    ------
    MemoryBudgetError
        It is larger than ``--memory``; only a header was read.
    ValueError
        It was learned with other options than those given, or it learns with labels and must not,
        or the reverse.
    """
    max_bytes = parse_bytes(options.memory)
    model: Learner | Chain | None = None
    source = None
    if checkpoint is not None:
        model, source = checkpoint.load(max_bytes), options.checkpoint
    if model is None and options.save and not options.fresh and os.path.exists(options.save):
        with of_file(options.save):
            model, source = load(options.save, max_bytes=max_bytes), options.save
    if model is None:
        return None, None
    learner = learner_of(model, str(source))
    if labels and not learner.takes_labels:
        raise ValueError(f"the model in {source} learns without labels; this command needs them")
    if learner.takes_labels and not labels:
        raise ValueError(f"the model in {source} learns with labels; this command has none")
    differing = window_options.contradicted(options, model)
    differing += learner_options.contradicted(options, learner) if labels else []
    if differing:
        raise ValueError(
            f"the model in {source} was learned with {', '.join(have for have, _ in differing)},"
            f" not {', '.join(given for _, given in differing)}; use --fresh to start over"
        )
    return model, source


def check_inputs(model: Learner | Chain, n_inputs: int, source: str | None) -> None:
    """Raise ValueError if the samples of a link have another length than those that `model`, loaded
    from `source`, has learned."""
    if model.n_features_in_ != n_inputs:
        raise ValueError(
            f"the model in {source} has {model.n_features_in_} features, "
            f"the link has {n_inputs}; use --fresh to start over"
        )
