"""One sink and its thread: takes the answers from the journals, and knows what it lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from edgesvm.serve.journal import Journal
from edgesvm.serve.outputs.lines import When, line
from edgesvm.serve.outputs.sink import Sink

POLL_S = 0.05  # how often a journal is looked at
BATCH = 64  # lines given to a sink at a time
PAUSE_FIRST_S, PAUSE_LAST_S = 0.25, 2.0  # between attempts to open a sink that failed
TELL_AGAIN_S = 60.0  # a sink that fails again and again is told about once in so many seconds
# At the end: to pass on what waits, to close the sink, and how much later a sink is left behind
# that does neither.
FLUSH_S, CLOSE_S, LATE_S = 1.0, 0.5, 0.5


class Source:
    """A journal, and the place up to which it was read."""

    def __init__(self, port: str, journal: Journal) -> None:
        self.port, self.journal, self.place = port, journal, 0
        self.before: np.void | None = None

    @property
    def waiting(self) -> int:
        return self.journal.written - self.place


class Output:
    """Passes answers of journals, by the name of the port, on to a sink, in a thread of its own;
    `report` is told from it, in a line, that the sink failed or is back.

    Who writes the journals never waits for it. What a sink does not take waits in the journals,
    whose oldest entries are overwritten: these are lost, and counted. A sink that fails is opened
    again after a pause, and goes on with the line that failed; `failed` counts that.

    Every answer is accounted for after `stop`: ``answers = sent + skipped + lost``: taken by the
    sink; not wanted; overwritten before the sink took them, or left at the end.
    """

    def __init__(
        self,
        sink: Sink,
        journals: Mapping[str, Journal],
        when: When,
        *,
        report: Callable[[str], None],
    ) -> None:
        self.sink, self._when, self._report = sink, when, report
        self.sent = self.skipped = self.lost = self.failed = 0
        self.cause: str | None = None  # of the last failure
        self._sources = [Source(port, journal) for port, journal in journals.items()]
        self._stop = threading.Event()
        self._deadline = float("inf")
        self._pause = PAUSE_FIRST_S
        self._told, self._tell_again = False, 0.0
        self._thread = threading.Thread(target=self._run, name=f"out {sink.name}", daemon=True)
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Pass on what waits, for a limited time, and end. Does not wait."""
        self._deadline = time.monotonic() + FLUSH_S
        self._stop.set()

    def stop(self) -> None:
        """Wait for the end, a limited time: a sink may hang for good. What is left is lost."""
        self.ask_to_stop()
        self._thread.join(FLUSH_S + CLOSE_S + LATE_S)
        written = sum(source.journal.written for source in self._sources)
        self.lost = written - self.sent - self.skipped

    def counters(self) -> dict[str, Any]:
        """The sink's name, all counters, and why it failed last."""
        own = {"sink": self.sink.name, "sent": self.sent, "skipped": self.skipped}
        return {**own, "lost": self.lost, "failed": self.failed, "cause": self.cause}

    def _run(self) -> None:
        while not self._over():
            try:
                self._serve()
            except Exception as error:  # whatever a client raises: a thread that ends is silent
                self._sink_failed(error)

    def _serve(self) -> None:
        """Open the sink and pass answers on, to the end."""
        try:
            self.sink.open()
            while not self._over():
                moved = [self._pass_on(source) for source in self._sources]
                self.sink.turn(0.0 if any(moved) else POLL_S)
        finally:
            left = self._deadline + CLOSE_S - time.monotonic() if self._stop.is_set() else 0.0
            self.sink.close(max(left, 0.0))

    def _over(self) -> bool:
        """Whether it was told to stop, and all was passed on or the time is up."""
        if not self._stop.is_set():
            return False
        waiting = any(source.waiting for source in self._sources)
        return not waiting or time.monotonic() > self._deadline

    def _pass_on(self, source: Source) -> bool:
        """Give the sink a batch of a journal's answers. Returns whether it took any."""
        entries, lost = source.journal.since(source.place)
        self.lost += lost
        source.place += lost
        entries = entries[:BATCH]
        if not len(entries):
            return False
        wanted = self._when.wanted(entries, source.place, source.before)
        n_sent = 0
        if len(wanted):
            lines = [line(source.port, source.journal, entries[i]) for i in wanted.tolist()]
            n_sent = self.sink.send(lines)
        done = len(entries) if n_sent == len(wanted) else int(wanted[n_sent])
        if done:
            source.before = entries[done - 1]
        source.place += done
        self.sent += n_sent
        self.skipped += done - n_sent
        if n_sent:
            self._sink_works()
        return done > 0

    def _sink_failed(self, error: Exception) -> None:
        self.failed += 1
        self.cause = str(error) if isinstance(error, OSError) else repr(error)
        now = time.monotonic()
        if not self._told and now >= self._tell_again:
            self._told, self._tell_again = True, now + TELL_AGAIN_S
            self._report(f"--out {self.sink.name}: {self.cause}; trying again")
        if self._stop.is_set():
            self._deadline = 0.0  # it is not waited for
        self._stop.wait(self._pause)
        self._pause = min(2 * self._pause, PAUSE_LAST_S)

    def _sink_works(self) -> None:
        self._pause = PAUSE_FIRST_S
        if self._told:
            self._told = False
            self._report(f"--out {self.sink.name} works again; {self.lost:,} answers lost so far")
