"""``--ask``: questions to a person, and what comes back of them through the outputs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from edgesvm.budget import format_bytes
from edgesvm.outputs.names import port_name

if TYPE_CHECKING:
    from edgesvm.asking import Questions
    from edgesvm.learner import Learner
    from edgesvm.teaching import Teaching

ALARMS = "alarms"
ANSWERED_BY = ("mqtt:", "mqtts:", "socket:")


def add_to(group: argparse._ActionsContainer, *, alarms: bool = False) -> None:
    """Add ``--ask``; `alarms`: of a watch."""
    more = f"; {ALARMS}: only about each alarm" if alarms else ""
    group.add_argument(
        "--ask",
        type=_rate_or_alarms if alarms else _rate,
        metavar="N/day",
        help=f"ask a person so often, about doubtful rows{more}",
    )


def _rate(text: str) -> float:
    """``10/day`` as questions a second."""
    from edgesvm.learners.novelty.novelty import SECONDS

    count, _, unit = text.partition("/")
    try:
        asked = float(count) / SECONDS[unit]
    except (ValueError, KeyError):
        asked = 0.0
    if not 0 < asked < 1e6:
        raise argparse.ArgumentTypeError(
            f"{text}: give questions in a time, as 10/day (second, minute, hour, day or week)"
        )
    return asked


def _rate_or_alarms(text: str) -> float:
    return 0.0 if text == ALARMS else _rate(text)


def check(options: argparse.Namespace) -> None:
    """Raise ValueError for ``--ask`` where nobody could answer."""
    answerable = options.http or any(out.startswith(ANSWERED_BY) for out in options.out)
    if options.ask is not None and not answerable:
        raise ValueError("--ask: nobody could answer; give --http, --out mqtt://... or socket:...")
    if options.ask is not None and getattr(options, "regress", False):
        raise ValueError("--ask is for labels, not with --regress")


def questions(per_second: float | None, learner: Learner) -> Questions | None:
    """The ring of a learner's questions, if they are asked for."""
    if per_second is None:
        return None
    from edgesvm.asking import Asker, Questions

    return Questions(learner, Asker(per_second) if per_second else None)


def bytes_told(*jobs: Any) -> str:
    """How many bytes the questions and the copy of each learner for the undo take, for the first
    line of a report."""
    asking = [(job.questions, job.learner) for job in jobs if job.questions is not None]
    n_bytes = sum(questions.nbytes + learner.nbytes for questions, learner in asking)
    return f"; questions and undo {format_bytes(n_bytes)}" if n_bytes else ""


class Person:
    """Who answers the questions of some ports, through the outputs.

    Parameters
    ----------
    teachings : mapping of str to Teaching
        By the ports' names.
    """

    def __init__(self, teachings: Mapping[str, Teaching]) -> None:
        from edgesvm.page.desk import Errands

        self._asked = {port_name(port): (one, Errands()) for port, one in teachings.items()}

    def turns(self) -> list[Callable[[], None]]:
        """What is to be called between two steps of each port."""
        return [errands.turn for _, errands in self._asked.values()]

    def hear(self, port: str | None, text: str) -> str:
        """Have what a text asks for done by the loop; what came of it, as JSON. For other
        threads."""
        from edgesvm.page.desk import Busy

        names = list(self._asked)
        name = _port_in(text) or names[0] if port is None else port
        if name not in self._asked or (port is None and len(names) > 1 and not _port_in(text)):
            return json.dumps({"error": f'give "port", one of {", ".join(names)}'})
        teaching, errands = self._asked[name]
        try:
            return json.dumps(errands.ask(teaching.told(text)))
        except (Busy, ValueError) as why:
            return json.dumps({"error": str(why)})

    def close(self) -> None:
        for _, errands in self._asked.values():
            errands.close()


def _port_in(text: str) -> str | None:
    """The port that a JSON object names."""
    try:
        name = json.loads(text)["port"]
    except (ValueError, RecursionError, TypeError, KeyError, IndexError):
        return None
    return name if isinstance(name, str) else None
