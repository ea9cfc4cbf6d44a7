"""``edgesvm run`` on several ports: a learner each, or one for all.

One thread serves all ports in turns, so no learner is ever used by two, and a shared one learns
from each port alike. Only what waits has threads: opening a port, at the start or again.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from edgesvm.budget import format_bytes, parse_bytes
from edgesvm.cli import (
    checkpoint_options,
    decision_options,
    drift_options,
    headroom,
    link_options,
    looking_on,
    out_options,
    run,
    run_report,
    saved_model,
)
from edgesvm.cli.node_messages import NodeMessages
from edgesvm.cli.service import Service
from edgesvm.cli.status import StatusLine
from edgesvm.cli.stopping import Signals, Stop, stop_signals
from edgesvm.errors import LinkDown, SchemaChanged, VersionMismatch
from edgesvm.evaluation import percent
from edgesvm.journal import Journal
from edgesvm.learner import Learner, learner_in
from edgesvm.link import Link
from edgesvm.runner import Runner

if TYPE_CHECKING:
    from edgesvm.drift.watch import DriftWatch
    from edgesvm.persist.checkpointing import Checkpointer
    from edgesvm.preprocessing.chain import Chain

TURN = 32  # samples of a port before it is the next one's turn
STOP_S = 1.0  # to wait for a thread at the end
IDLE_S = 0.01  # between two looks at ports that have nothing


def act(options: argparse.Namespace, each: list[argparse.Namespace]) -> int:
    """Serve all ports until each has ended or a signal arrives; save and report each.

    Parameters
    ----------
    options : argparse.Namespace
    each : list of argparse.Namespace
        The same as each port has them.
    """
    status, service, room = StatusLine(quiet=options.quiet), Service(), headroom.take()
    with contextlib.ExitStack() as held:
        claims = each[:1] if options.one_model else each
        checkpoints = [held.enter_context(saved_model.claimed(one)) for one in claims]
        signals = held.enter_context(stop_signals())
        links = _open_all(each, signals, held)
        learned = []
        for one, checkpoint, link in zip(claims, checkpoints, links, strict=False):
            model, source = run.model_for(one, link, checkpoint)
            status.say(_opening(one, model, source, options))
            saver = checkpoint_options.saver(checkpoint, one, model, status.say)
            learner = learner_in(model)
            learned.append((model, saver, drift_options.watch(one, learner, status.say, saver)))
        if options.one_model:
            _check_alike(links)
            learned *= len(each)
        journals = {
            one.port: out_options.journal(options, model)
            for one, (model, *_) in zip(each, learned, strict=True)
        }
        ports = [
            Served(
                one,
                link,
                model,
                status,
                saver=saver,
                drift=drift,
                journal=journals[one.port],
            )
            for one, link, (model, saver, drift) in zip(each, links, learned, strict=True)
        ]
        names = "; ".join(f"{port.name} {format_bytes(port.link.nbytes)}" for port in ports)
        status.say(f"links: {names}{out_options.bytes_told(*journals.values())}")
        for link in links:
            run.ask_rate(options, link)
        outs = out_options.start(options, journals, status.say)
        started = time.monotonic()
        service.ready()
        try:
            with looking_on.at_each(options, ports, status):
                _serve(ports, signals, status, service, started)
        finally:
            service.stopping()
            summary = _end(
                ports, len(claims), status, lambda: _summary(ports, started, outs), options
            )
    del room
    failed = [port for port in ports if port.error is not None]
    if broken := [f"{name}: {line}" for name, line in _broken(summary)]:
        raise RuntimeError(f"internal error, counters are inconsistent: {'; '.join(broken)}")
    return 1 if failed else 0


def _opening(
    one: argparse.Namespace, model: Learner | Chain, source: str | None, options: argparse.Namespace
) -> str:
    whose = "all ports" if options.one_model else one.name
    share = f"{format_bytes(parse_bytes(one.memory))} of {options.memory}"
    return f"{whose}: {run.introduction(model, source)}; may have {share}"


class _Thread(threading.Thread):
    """A call that waits, in a thread that nobody needs to wait for."""

    def __init__(self, call: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._call, self.result, self.error = call, None, None
        self.start()

    result: Any
    error: Exception | None

    def run(self) -> None:
        try:
            self.result = self._call()
        except Exception as error:
            self.error = error


def _open_all(
    each: list[argparse.Namespace], signals: Signals, held: contextlib.ExitStack
) -> list[Link]:
    """Open all ports at the same time. Raises what is wrong with the first that cannot be."""

    def opened(one: argparse.Namespace) -> Link:
        def wait(seconds: float) -> None:  # between attempts to open it again
            if signals.stopping:
                raise Stop
            time.sleep(min(seconds, 1.0))

        signalled = Signals()  # none comes here: it ends the wait for the threads, below
        return link_options.open_port(one, signalled, sleep=wait, **run.link_settings(one))

    threads = [_Thread(functools.partial(opened, one)) for one in each]
    try:
        with signals.interruptible():
            while any(thread.is_alive() for thread in threads) and not _errors(threads):
                time.sleep(IDLE_S)
    except Stop:
        raise KeyboardInterrupt from None
    for thread in threads:
        if thread.result is not None:
            held.enter_context(thread.result)
    for error in _errors(threads):
        raise error
    return [thread.result for thread in threads]


def _errors(threads: list[_Thread]) -> list[Exception]:
    return [thread.error for thread in threads if thread.error is not None]


def _check_alike(links: list[Link]) -> None:
    """Raise ValueError if the samples of two links have not as many features."""
    widths = {link.name: link.schema.n_features for link in links if link.schema is not None}
    if len(set(widths.values())) > 1:
        told = ", ".join(f"{n} on {name}" for name, n in widths.items())
        raise ValueError(f"--one-model needs as many features on each port, not {told}")


class Served:
    """A port with its runner; while it is away, a thread tries to open it again.

    Attributes
    ----------
    ended : bool
        Nothing more is expected of it.
    look : callable
        Called in each turn while the port is here: those who look on.
    error : Exception or None
        What ended it before its time; the other ports go on.
    """

    def __init__(
        self,
        options: argparse.Namespace,
        link: Link,
        model: Learner | Chain,
        status: StatusLine,
        *,
        saver: Checkpointer | None,
        drift: DriftWatch | None,
        journal: Journal | None,
    ) -> None:
        self.options, self.name, self.link, self.saver = options, options.name, link, saver
        self.runner: Runner = run.runner_for(options, link, model, drift, journal)
        self.ended, self.error = False, None
        self.look: Callable[[], None] = lambda: None  # called while no thread has the link
        self._status, self._opening, self._checked = status, None, False
        self._node = NodeMessages(link, status, options.set_rate)

    error: Exception | None
    _opening: _Thread | None

    @property
    def away(self) -> bool:
        return self._opening is not None

    def turn(self) -> int:
        """Take what has arrived, `TURN` samples at most, without waiting. Returns how many."""
        if self._opening is not None and not self._is_back(self._opening):
            return 0
        self.look()
        if self.ended:
            return 0
        left = self._left()
        if left == 0:
            self.ended = True
            return 0
        try:
            n = self.runner.step(0.0, at_most=TURN if left is None else min(TURN, left))
            if not self._checked and self.runner.learned:
                self._checked = decision_options.check_labels(self.runner.learner)
            if self.saver is not None:
                self.saver.step()
            self._node.show()
            return n
        except LinkDown as down:
            self._lost(down)
        except (SchemaChanged, ValueError) as error:
            self._end(error)
        return 0

    def _left(self) -> int | None:
        """Samples until the port has had as many as ``--samples``; None without it."""
        asked = self.options.samples
        return None if asked is None else asked - self.runner.taken

    def finish(self) -> None:
        """Handle what has arrived. A thread that opens the port is waited for a moment, so that
        the link is nobody else's."""
        if self._opening is not None:
            self._opening.join(STOP_S)
        elif not self.ended:
            self.runner.handle_waiting(self._left())

    def _lost(self, down: LinkDown) -> None:
        self.runner.handle_waiting(self._left())  # a thread has the link from now on
        if self.saver is not None:
            self.saver.save()
        if self.options.once:
            self.ended = True
            return
        self._status.say(f"{down}; trying to open it again")
        self._opening = _Thread(self.link.reconnect)

    def _is_back(self, opening: _Thread) -> bool:
        if opening.is_alive():
            return False
        self._opening = None
        if isinstance(opening.error, (VersionMismatch, ValueError, OSError)):
            self._end(opening.error)
        elif opening.error is not None:
            self.ended = True  # told to stop
        else:
            self._status.say(f"{self.link.name} is open again")
        return not self.ended

    def _end(self, error: Exception) -> None:
        self.ended, self.error = True, error
        self._status.say(f"{self.name}: {error}; the other ports go on")


def _serve(
    ports: list[Served], signals: Signals, status: StatusLine, service: Service, started: float
) -> None:
    def progress() -> str:
        seconds = max(time.monotonic() - started, 1e-9)
        told = [f"{sum(port.runner.taken for port in ports) / seconds:,.0f}/s"]
        for port in ports:
            state = " gone" if port.away else " ended" if port.ended else ""
            accuracy = percent(port.runner.score.rolling)
            told.append(f"{port.name}{state} {port.runner.taken:,} samples, accuracy {accuracy}")
        return "  ".join(told)

    while not signals.stopping and not all(port.ended for port in ports):
        if not sum(port.turn() for port in ports):
            time.sleep(IDLE_S)
        status.show(progress)
        service.alive(progress)
    for port in ports:
        port.finish()


def _end(
    ports: list[Served],
    n_models: int,
    status: StatusLine,
    summary: Callable[[], dict[str, Any]],
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Save each model and report, whatever ended the serving. Returns the summary."""
    status.end()
    owners = ports[:n_models]
    try:
        with contextlib.ExitStack() as saving:  # each is saved, whatever becomes of another
            for port in owners:
                if port.saver is not None:
                    saving.callback(port.saver.close)
                if port.options.save:
                    saving.callback(port.runner.model.save, port.options.save)
    finally:
        told = {**summary(), "log_lost": status.lost}
        if options.json:
            print(json.dumps(told), flush=True)
        else:
            for name, one in told["ports"].items():
                status.say(f"{name}:\n{run_report.words(one)}")
            for line in out_options.words(told):
                status.say(line)
    for port in owners:
        if port.options.save:
            status.say(f"saved to {port.options.save}")
    return told


def _summary(ports: list[Served], started: float, outs: out_options.Outputs) -> dict[str, Any]:
    """All results, for a JSON line."""
    told, seconds = {}, time.monotonic() - started
    for port in ports:
        one = run_report.summary(port.runner, seconds)
        one["counters"] |= port.saver.counters if port.saver else {}
        one["error"] = None if port.error is None else str(port.error)
        told[port.options.port] = one
    return {"ports": told, **outs.end()}


def _broken(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The counter identities that do not hold, with their ports."""
    return [
        (name, line) for name, one in summary["ports"].items() for line in one["broken_identities"]
    ]
