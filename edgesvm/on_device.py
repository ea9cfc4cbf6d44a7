"""A board learns; the host looks on, keeps what it has learned, and gives it back."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from edgesvm.errors import CorruptModelError
from edgesvm.link import wire
from edgesvm.link.board import BoardLink
from edgesvm.persist import pack, restore


class OnDevice:
    """Keeps one model on both sides of a link to a board that learns.

    The side that has seen more samples is right. The board's snapshot is fetched at the start and
    from time to time; where the host's has seen more, because the board has restarted or another
    learner went on with it, the board gets it.

    Parameters
    ----------
    link : BoardLink
        Open.
    keep : callable
        Called with each model fetched that is newer than the host's.
    model : Learner or Chain, optional
        The host's.
    every_s : float, default 60
        Seconds from one fetch to the next.
    clock : callable
        Monotonic clock, in seconds.

    Attributes
    ----------
    model : Learner, Chain or None
        What is known to have been learned.
    fetched, given, restarts : int
        Snapshots fetched, given to the board and taken there; restarts of the board.
    unreadable : int
        Snapshots fetched that hold no model.
    """

    def __init__(
        self,
        link: BoardLink,
        keep: Callable[[Any], None] = lambda model: None,
        *,
        model: Any = None,
        every_s: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.link, self.model = link, model
        self.fetched = self.given = self.restarts = self.unreadable = 0
        self._keep, self._every_s, self._clock = keep, every_s, clock
        self._boot_id = link.boot_id
        self._giving = False
        self._next = clock()

    def step(self, timeout: float = 0.1) -> int:
        """Read once, and do what is due. Returns the number of predictions that came.

        Raises
        ------
        LinkDown
            The port failed.
        ValueError
            The board does not take a snapshot that knows more than it does.
        """
        before = self.link.predictions
        if self._clock() >= self._next and not self.link.giving:
            self._next = self._clock() + self._every_s
            self.link.ask()
        self.link.poll(timeout)
        self._note_restart()
        if self._giving and not self.link.giving:
            self._end_gift()
        data = self.link.take_snapshot()
        if data is not None:
            self._compare(data)
        return self.link.predictions - before

    def fetch(self, give_up: float = 5.0) -> bool:
        """Fetch what the board knows now. Returns whether it came within `give_up` seconds."""
        before, deadline = self.fetched, self._clock() + give_up
        self.link.ask()
        while self._clock() < deadline and self.fetched == before:
            self.step()
        return self.fetched > before

    def _note_restart(self) -> None:
        if self.link.boot_id == self._boot_id:
            return
        self.restarts += self._boot_id is not None
        self._boot_id = self.link.boot_id
        self._next = self._clock()  # what does it know now?

    def _compare(self, data: bytes) -> None:
        """Keep the board's model, or give it the host's, whichever has seen more."""
        try:
            model = restore(data)
        except CorruptModelError:
            self.unreadable += 1
            return
        self.fetched += 1
        if self.model is None or model.n_seen_ >= self.model.n_seen_:
            self.model = model
            self._keep(model)
        else:
            self._giving = True
            self.link.give(pack(self.model.snapshot()))

    def _end_gift(self) -> None:
        outcome = self.link.gift.outcome if self.link.gift is not None else None
        self._giving = False
        if outcome == wire.RESTORED:
            self.given += 1
            return
        why = (
            "the board takes no snapshots (NAME_LINK_RESTORE is 0 in its program)"
            if outcome == wire.TAKES_NONE
            else "for the board it is a snapshot of another model"
        )
        n_seen = self.model.n_seen_
        raise ValueError(f"the host's model has seen {n_seen:,} samples, more; but {why}")

    def counters(self) -> dict[str, int]:
        """The counters of the job and of the link, in one dict."""
        own = ("fetched", "given", "restarts", "unreadable")
        link = self.link
        answers = {"trained": link.trained, "abstained": link.abstained}
        return {**{name: getattr(self, name) for name in own}, **answers, **link.counters}
