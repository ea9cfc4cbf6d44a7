"""Serves ports, one or many: takes what arrives, opens again what fails, saves in time.

One thread serves all ports in turns, so no learner is ever used by two, and one that several ports
share learns from each alike. Only what waits has threads: opening a port, at the start or again.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from edgesvm.cli import saved_model
from edgesvm.cli.link_settings import LinkSettings
from edgesvm.cli.options import spoken
from edgesvm.cli.out_settings import OutSettings
from edgesvm.cli.saved_model import SavingSettings
from edgesvm.cli.show_settings import ReportSettings
from edgesvm.contract.threads import start_thread
from edgesvm.errors import LinkDown, SchemaChanged
from edgesvm.link.link import Link
from edgesvm.serve import process
from edgesvm.serve.job import Job
from edgesvm.serve.outputs.sink import port_name
from edgesvm.serve.process import Service, Signals, StatusLine, Stop, stop_signals

if TYPE_CHECKING:
    from edgesvm.persist.checkpoint import Checkpoint
    from edgesvm.persist.checkpointing import Checkpointer
    from edgesvm.serve.page.view import Shown

WAIT_S = 0.1  # for the first byte, where there is one port
TURN = 32  # samples of a port before it is the next one's turn
IDLE_S = 0.01  # between two looks at several ports that have nothing
STOP_S = 1.0  # to wait for a thread at the end
SLICE_S = 0.05  # between two looks whether a wait is to end


class Opening:
    """Opens a port in a thread; at once where a memory limit leaves no room for one."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.result: Any = None
        self.error: Exception | None = None
        self._call = call
        self._thread: threading.Thread | None = None
        try:
            self._thread = start_thread(self._run, "opening")
        except RuntimeError:
            self._run()

    def _run(self) -> None:
        try:
            self.result = self._call()
        except Exception as error:
            self.error = error

    def is_over(self, timeout: float) -> bool:
        """Whether it has ended, after waiting so many seconds for it."""
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()


@contextlib.contextmanager
def opened(ports: Sequence[LinkSettings], signals: Signals) -> Iterator[list[Link]]:
    """The links of all ports, opened at the same time, within this context. Raises what is wrong
    with the first that cannot be opened, and KeyboardInterrupt if a signal ended the wait."""

    def sleep(seconds: float) -> None:  # between attempts to open it again, in a thread
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if signals.stopping:
                raise Stop
            time.sleep(min(left, SLICE_S))

    calls = [functools.partial(port.open, sleep) for port in ports]
    with contextlib.ExitStack() as held:
        try:
            with signals.interruptible():
                if len(calls) == 1:
                    links = [held.enter_context(calls[0]())]
                else:
                    links = _opened_together(calls, held)
        except Stop as stop:  # a link may have said what it was waiting for
            raise KeyboardInterrupt(*stop.args) from None
        yield links


def _opened_together(calls: Sequence[Callable[[], Link]], held: contextlib.ExitStack) -> list[Link]:
    openings = [Opening(call) for call in calls]
    while not all(one.is_over(IDLE_S) for one in openings):
        if any(one.error for one in openings):
            break
    for one in openings:
        if one.result is not None:
            held.enter_context(one.result)
    for one in openings:
        if one.error is not None:
            raise one.error
    return [one.result for one in openings]


class Served:
    """A port and the job that is done with its samples.

    saver : saves the model at intervals. saving : the files of the model, if it is this port's own.
    after : called after each step, whether or not it failed, and while the port is gone. view :
    makes what the page shows of it. look : called in each turn while the port is here. alone :
    whether it is the only port. ended : nothing more is expected of it. error : what ended it
    before its time.
    """

    def __init__(
        self,
        job: Job,
        settings: LinkSettings,
        status: StatusLine,
        *,
        saver: Checkpointer | None = None,
        saving: SavingSettings | None = None,
        after: Callable[[], object] = lambda: None,
        view: Callable[[], Shown] | None = None,
    ) -> None:
        self.job, self.link = job, job.link
        self.settings, self.saver, self.saving, self.view = settings, saver, saving, view
        self.look: Callable[[], object] = lambda: None
        self.alone, self.ended = True, False
        self.error: Exception | None = None
        self._status, self._after = status, after
        self._opening: Opening | None = None
        self._logs_at = time.monotonic()

    @property
    def name(self) -> str:
        """Short, for a file or a topic."""
        return port_name(self.link.name)

    @property
    def away(self) -> bool:
        return self._opening is not None

    @property
    def left(self) -> int | None:
        """Samples until the port has had as many as ``--samples``; None without it."""
        asked = self.settings.samples
        return None if asked is None else max(asked - self.job.taken, 0)

    def turn(self, timeout: float = 0.0, at_most: int | None = TURN) -> int:
        """Take what has arrived, after waiting so many seconds for it. Returns how many samples."""
        if self._opening is not None and not self._is_back(self._opening, timeout):
            self.link.look_for_samples()
            self._after()
            return 0
        self.look()
        self.ended = self.ended or self.left == 0
        if self.ended:
            return 0
        try:
            try:
                limits = [n for n in (at_most, self.left) if n is not None]
                n = self.job.step(timeout, min(limits, default=None))
            finally:
                self._after()
            if self.saver is not None:
                self.saver.step()
            self._show_messages()
            return n
        except LinkDown as down:
            self._lost(down)
        except (SchemaChanged, ValueError) as error:
            self._end(error)
        return 0

    def finish(self) -> None:
        """Handle what has arrived. A thread that opens the port is waited for a moment, so that
        the link is nobody else's."""
        if self._opening is not None:
            self._opening.is_over(STOP_S)
        elif not self.ended:
            self.job.handle_waiting(self.left)

    def _lost(self, down: LinkDown) -> None:
        self.job.handle_waiting(self.left)  # a thread has the link from now on
        if self.saver is not None:
            self.saver.save()
        if self.settings.once or self.settings.is_file:
            self.ended = True
            return
        self._status.say(f"{down}; trying to open it again")
        self._opening = Opening(self.link.reconnect)

    def _is_back(self, opening: Opening, timeout: float) -> bool:
        if not opening.is_over(timeout):
            return False
        self._opening = None
        if isinstance(opening.error, Stop):
            self.ended = True
        elif opening.error is not None:
            self._end(opening.error)
        else:
            self._status.say(f"{self.link.name} is open again")
        return not self.ended

    def _end(self, error: Exception) -> None:
        self.ended, self.error = True, error
        if not self.alone:
            self._status.warn(f"{self.link.name}: {error}; the other ports go on")

    def _show_messages(self) -> None:
        """Show the node's log, at most 16 lines a second."""
        now = time.monotonic()
        if now >= self._logs_at:
            self._logs_at = now + 1.0
            for line in self.link.take_logs():
                self._status.say(f"node: {line}")


def stopped(link: Link) -> str:
    """That no samples come."""
    return f"{link.name}: no sample for {link.freshness.quiet:,.0f} s"


def samples_told(link: Link, say: Callable[[str], object]) -> Callable[[], None]:
    """Says where samples stop, and where they come again, at the next call."""
    was_stale, quiet = False, 0.0

    def look() -> None:
        nonlocal was_stale, quiet
        fresh = link.freshness
        if fresh.is_stale and not was_stale:
            say(f"{stopped(link)}; see --stale")
        elif was_stale and not fresh.is_stale:
            say(f"{link.name}: samples come again, after {quiet:,.0f} s")
        was_stale = fresh.is_stale
        quiet = fresh.quiet if was_stale else 0.0

    return look


def serve(
    ports: Sequence[Served],
    progress: Callable[[], str],
    *,
    signals: Signals,
    status: StatusLine,
    service: Service | None = None,
) -> None:
    """Serve all ports until each has ended or a signal arrives.

    One port is waited for where it is read; several are read in turns of `TURN` samples.
    """

    def told() -> str:
        if len(ports) == 1 and ports[0].away:
            return f"{ports[0].link.name} is gone; trying to open it again"
        gone = [f"{stopped(port.link)}  " for port in ports if port.link.freshness.is_stale]
        return "".join(gone) + progress()

    many = len(ports) > 1
    how: tuple[float, int | None] = (0.0, TURN) if many else (WAIT_S, None)
    for port in ports:
        port.alone = not many
    while not signals.stopping and not all(port.ended for port in ports):
        n = sum(port.turn(*how) for port in ports)
        if many and not n:
            time.sleep(IDLE_S)
        status.show(told)
        if service is not None:
            service.alive(told)
    for port in ports:
        port.finish()


class Session(ABC):
    """A command at its ports: files are claimed and links open; the ports are served; at the end,
    whatever ended it, the models are saved and the report is made."""

    alarms = False  # whether answers tell of them
    reports_to_stdout = False  # the report as text too

    def __init__(
        self,
        links: Sequence[LinkSettings],
        show: ReportSettings,
        *,
        savings: Sequence[SavingSettings] = (),
        out: OutSettings | None = None,
    ) -> None:
        self._links, self._savings, self._out = links, savings, out or OutSettings()
        self.show, self.status = show, StatusLine(quiet=show.quiet)
        self.served: list[Served] = []
        self.unsaved = 0  # saves at the end that failed
        self._started = time.monotonic()

    @abstractmethod
    def ports(
        self, links: list[Link], checkpoints: list[Checkpoint | None], signals: Signals
    ) -> list[Served]:
        """The ports with their jobs; says what learns, in how many bytes."""

    @abstractmethod
    def progress(self) -> str:
        """The status line."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """All results, for a JSON line."""

    @abstractmethod
    def words(self, summary: dict[str, Any]) -> Iterable[str]:
        """The same as text."""

    @property
    def seconds(self) -> float:
        """Since serving began."""
        return time.monotonic() - self._started

    @property
    def port(self) -> Served:
        """The port, of a command that has one."""
        return self.served[0]

    def save(self) -> None:
        """Save each model, whatever becomes of another."""
        for one in self.served:
            if one.saving is not None and one.saver is not None:
                self._save(one.saver.close)
            if one.saving is not None and one.saving.save:
                self._save(one.job.model.save, one.saving.save)

    def _save(self, save: Callable[..., None], *path: str) -> None:
        try:
            save(*path)
        except Exception as error:
            self.unsaved += 1
            self.status.warn(f"edgesvm: {error}")
        else:
            for one in path:
                self.status.say(f"saved to {one}")

    def report(self, summary: dict[str, Any]) -> None:
        """Print the summary as a JSON line, or say it as text."""
        if self.show.json:
            import json

            print(json.dumps(summary), flush=True)
            return
        for line in self.words(summary):
            (self.status.event if self.reports_to_stdout else self.status.say)(line)

    def serve(self) -> int:
        """Serve until each port has ended or a signal arrives. Returns the exit code; raises what
        ended the only port before its time."""
        status, service, room = self.status, Service(), process.reserve()
        with contextlib.ExitStack() as held:
            checkpoints = [held.enter_context(one.claimed()) for one in self._savings]
            for _, path in self._out.files:
                held.enter_context(saved_model.claimed(path))
            signals = held.enter_context(stop_signals())
            links = held.enter_context(opened(self._links, signals))
            ports = self.served = self.ports(links, checkpoints, signals)
            outs = self._out.start([one.job for one in ports], status.warn, alarms=self.alarms)
            self._started = time.monotonic()
            service.ready()
            try:
                views = {one.name: one.view for one in ports if one.view is not None}
                with self.show.at(views, status) as looks:
                    for port in ports:
                        port.look = looks.get(port.name, port.look)
                    serve(ports, self.progress, signals=signals, status=status, service=service)
            finally:
                service.stopping()
                status.end()
                try:
                    self.save()
                finally:
                    told = self.summary() | outs.end()
                    told.get("counters", told).update(log_lost=status.lost, unsaved=self.unsaved)
                    self.report(told)
                    for port in ports:
                        for line in [] if port.error else getattr(port.link, "told", []):
                            told_here = spoken(type(port.settings), line)
                            status.warn(f"edgesvm: {port.link.name}: {told_here}")
        del room
        if len(ports) == 1 and ports[0].error is not None:
            raise ports[0].error
        if broken := told.get("broken_identities"):
            raise RuntimeError(f"internal error, counters are inconsistent: {'; '.join(broken)}")
        return int(self.unsaved > 0 or any(port.error for port in ports))
