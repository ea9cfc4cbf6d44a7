"""Where the serving loop and the readers of its page meet. They ask; it answers between two steps,
as often as it wants to, and waits for nobody."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from typing import Any, Generic, TypeVar

from edgesvm.serve.page.view import Shown
from edgesvm.serve.teaching import Work

Made = TypeVar("Made")

STATUS_EVERY_S = 0.25
SNAPSHOT_EVERY_S = 1.0
PATIENCE_S = 2.0  # for a new status; then the last one is shown with its age
ANSWER_S = 10.0  # for a request to be begun
REQUESTS = 16


class Busy(Exception):
    """A request was not carried out, and will not be: the message says why."""


class Newest(Generic[Made]):
    """Something made by the loop for any number of readers: only if one of them has asked since the
    last one was made, and no more often than every so many seconds. `made` counts them.
    """

    def __init__(
        self, make: Callable[[], Made], every: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.made = 0
        self._make, self._every, self._clock = make, every, clock
        self._newest: Made | None = None
        self._made_at = -float("inf")
        self._wanted = self._overdue = False
        self._changed = threading.Condition()

    def turn(self) -> None:
        """Make it if it is asked for, which is when the last one is too old. For the loop."""
        if not self._wanted:
            return
        now, newest = self._clock(), self._make()
        with self._changed:
            self._newest, self._made_at = newest, now
            self.made += 1
            self._wanted = self._overdue = False
            self._changed.notify_all()

    def read(self, patience: float = PATIENCE_S) -> tuple[Made | None, float]:
        """The newest and its age in seconds; None before the first. For other threads.

        An older one is given only where the loop makes none within `patience` seconds; then nobody
        waits any more until it does.
        """
        with self._changed:
            if self._clock() - self._made_at >= self._every:
                self._wanted, made = True, self.made
                if not self._overdue:
                    self._overdue = not self._changed.wait_for(
                        lambda: self.made != made, timeout=patience
                    )
            return self._newest, self._clock() - self._made_at


class Requests:
    """Requests to the loop, carried out one after the other, a portion between two steps; so many
    may wait."""

    def __init__(self, capacity: int = REQUESTS) -> None:
        self._waiting: queue.Queue[tuple[Work, Future[Any]]] = queue.Queue(capacity)
        self._current: tuple[Work, Future[Any]] | None = None
        self._lock = threading.Lock()
        self._closed = False

    def ask(self, work: Work, patience: float = ANSWER_S) -> Any:
        """Have the loop do this; its answer, or what it raises. For other threads. Busy if too many
        requests wait, or the loop did not begin it within `patience` seconds: it will not be
        carried out."""
        answer: Future[Any] = Future()
        with self._lock:
            if self._closed:
                raise Busy("the program is ending")
            try:
                self._waiting.put_nowait((work, answer))
            except queue.Full:
                raise Busy("too many requests wait already; try again") from None
        try:
            return answer.result(patience)
        except TooLate:
            if answer.cancel():
                raise Busy("the program is busy, or waits for its port; nothing changed") from None
            return answer.result()

    def turn(self) -> None:
        """Carry out a portion of the oldest request. For the loop."""
        if self._current is None and not self._waiting.empty():
            request = self._waiting.get_nowait()
            self._current = request if request[1].set_running_or_notify_cancel() else None
        if self._current is None:
            return
        work, answer = self._current
        try:
            next(work)
            return
        except StopIteration as done:
            answer.set_result(done.value)
        except Exception as error:  # the asker's: it does not end the loop
            answer.set_exception(error)
        self._current = None

    def close(self) -> None:
        """Refuse all requests that wait, and all that come. For the loop."""
        with self._lock:
            self._closed = True
        left = [] if self._current is None else [self._current]
        while not self._waiting.empty():
            left.append(self._waiting.get_nowait())
        for _, answer in left:
            if not answer.cancelled():
                answer.set_exception(Busy("the program is ending"))


class Controls:
    """The loop's end: call `turn` between two steps. `status` and `snapshot` are what readers ask
    for, and `requests` what is to be changed.
    """

    def __init__(self, view: Shown, clock: Callable[[], float] = time.monotonic) -> None:
        self.view = view
        self.status = Newest(view.status, STATUS_EVERY_S, clock)
        self.snapshot = Newest(view.snapshot, SNAPSHOT_EVERY_S, clock)
        self.requests = Requests()
        self._clock, self._turned_at = clock, clock()
        self._encoded: tuple[Any, bytes] = (None, b"")

    def turn(self) -> None:
        """Carry out a portion of what was asked for, and make what is due."""
        self._turned_at = self._clock()
        self.view.tick()
        self.requests.turn()
        self.status.turn()
        self.snapshot.turn()

    @property
    def idle_s(self) -> float:
        """Seconds since the last turn."""
        return self._clock() - self._turned_at

    def read_status(self) -> tuple[dict[str, Any], float]:
        """The status and its age in seconds. For readers; Busy before there is one."""
        status, age = self.status.read()
        if status is None:
            raise Busy("the program has not begun yet")
        return status, age

    def encoded_status(self) -> tuple[bytes, float]:
        """The status as JSON, encoded once for all readers, and its age in seconds."""
        status, age = self.read_status()
        if self._encoded[0] is not status:
            self._encoded = status, json.dumps(status, separators=(",", ":")).encode()
        return self._encoded[1], age
