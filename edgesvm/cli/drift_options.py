"""Options for drift: a detector on the learner's errors, and what follows when it finds one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edgesvm import catalogue
from edgesvm.learner import Learner

if TYPE_CHECKING:
    from edgesvm.learners.drift import Drift, DriftWatch
    from edgesvm.persist.checkpointing import Checkpointer

# The class of each, which is imported once it is asked for.
DETECTORS = catalogue.commands("drift")


def add_to(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("drift")
    group.add_argument(
        "--drift",
        choices=DETECTORS,
        metavar="TEST",
        help=f"say when errors become more: {', '.join(DETECTORS)}",
    )
    group.add_argument(
        "--on-drift", choices=("note", "reset"), help="reset: forget what was learned; default note"
    )


@dataclass(frozen=True)
class DriftSettings:
    """The detector that is asked for, if any, and whether the learner starts over at a drift."""

    detector: str | None = None
    reset: bool = False

    @classmethod
    def of(cls, options: argparse.Namespace) -> DriftSettings:
        """Raises ValueError for --on-drift alone."""
        if options.drift is None and options.on_drift is not None:
            raise ValueError("--on-drift needs --drift")
        return cls(options.drift, options.on_drift == "reset")

    def watch(
        self, learner: Learner, say: Callable[[str], None], saver: Checkpointer | None = None
    ) -> DriftWatch | None:
        """The detector on this learner, or None."""
        if self.detector is None:
            return None
        import edgesvm
        from edgesvm.learners.drift import DriftWatch

        def report(drift: Drift) -> None:
            if self.reset and saver is not None:
                saver.forget()
            say(f"{drift}{'; the learner starts over' if self.reset else ''}")

        detector = getattr(edgesvm, DETECTORS[self.detector])()
        return DriftWatch(learner, detector, reset=self.reset, report=report)
