"""Options for drift: a detector on the learner's errors, and what follows when it finds one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from edgesvm import catalogue
from edgesvm.learner import Learner

if TYPE_CHECKING:
    from edgesvm.drift.watch import Drift, DriftWatch
    from edgesvm.persist.checkpointing import Checkpointer

# The class of each, which is imported once it is asked for.
DETECTORS = catalogue.commands("drift")


def add_to(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("drift")
    group.add_argument(
        "--drift",
        choices=DETECTORS,
        help=f"say where the errors become more; {catalogue.help_of('drift')}",
    )
    group.add_argument(
        "--on-drift",
        choices=("note", "reset"),
        help="note (default): count and show it; reset: also forget all that was learned, scales "
        "of the features included, and keep the memory and the labels",
    )


def watch(
    options: argparse.Namespace,
    learner: Learner,
    say: Callable[[str], None],
    saver: Checkpointer | None = None,
) -> DriftWatch | None:
    """The requested detector on this learner, or None. Raises ValueError for --on-drift alone."""
    if options.drift is None:
        if options.on_drift is not None:
            raise ValueError("--on-drift needs --drift")
        return None
    import edgesvm
    from edgesvm.drift.watch import DriftWatch

    resets = options.on_drift == "reset"

    def report(drift: Drift) -> None:
        if resets and saver is not None:
            saver.forget()
        say(f"{drift}{'; the learner starts over' if resets else ''}")

    return DriftWatch(
        learner, getattr(edgesvm, DETECTORS[options.drift])(), reset=resets, report=report
    )
