"""What the commands that learn from a port have in common: opening it, serving it to the end."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from edgesvm.cli import arguments, link_options
from edgesvm.cli.service import Service
from edgesvm.cli.status import StatusLine
from edgesvm.cli.stopping import Signals, Stop
from edgesvm.errors import LinkDown
from edgesvm.learner import Learner
from edgesvm.link import Link

if TYPE_CHECKING:
    from edgesvm.persist.checkpointing import Checkpointer
    from edgesvm.preprocessing.chain import Chain


def add_to(command: argparse.ArgumentParser) -> None:
    """Add the options of the ring and of the model's file."""
    command.add_argument(
        "--ring",
        type=arguments.count,
        default=256,
        metavar="ROWS",
        help="capacity of the ring between link and learner, in samples; default 256",
    )
    command.add_argument(
        "--save",
        type=arguments.new_file,
        metavar="FILE",
        help="snapshot file: loaded if it exists, written at the end",
    )
    command.add_argument(
        "--fresh",
        action="store_true",
        help="start with a new model; do not load --save or --checkpoint",
    )


def open_link(options: argparse.Namespace, signals: Signals, service: Service, **more: Any) -> Link:
    """Open the port; while it is gone later, the service manager is told. `more` as in
    `link_options.open_port`."""

    def wait(seconds: float) -> None:  # between attempts to open the port again
        service.alive(lambda: f"{options.port} is gone; trying to open it again")
        time.sleep(seconds)

    return link_options.open_port(options, signals, sleep=wait, **more)


def serve(
    options: argparse.Namespace,
    link: Link,
    turn: Callable[[], bool],
    progress: Callable[[], str],
    *,
    signals: Signals,
    status: StatusLine,
    service: Service,
    saver: Checkpointer | None,
) -> None:
    """Call `turn` until it returns False, a signal arrives or, with --once, the port fails.

    A port that fails is opened again. The learner is saved in time, and before a port is waited
    for, which may be long.
    """
    while not signals.stopping:
        try:
            if not turn():
                return
            if saver is not None:
                saver.step()
        except LinkDown as down:
            if saver is not None:
                saver.save()
            if options.once:
                return
            status.say(f"{down}; trying to open it again")
            try:
                with signals.interruptible():
                    link.reconnect()
            except Stop:
                return
            status.say(f"{link.name} is open again")
        status.show(progress)
        service.alive(progress)


def end(
    options: argparse.Namespace,
    model: Learner | Chain,
    summary: Callable[[], dict[str, Any]],
    words: Callable[[dict[str, Any]], str],
    *,
    status: StatusLine,
    saver: Checkpointer | None,
) -> dict[str, Any]:
    """Save the model and report, whatever ended the serving. Returns the summary."""
    status.end()
    try:
        if options.save:
            model.save(options.save)
    finally:
        told = summary()
        told["counters"] |= saver.counters if saver else {}
        told["counters"]["log_lost"] = status.lost
        if options.json:
            import json

            print(json.dumps(told), flush=True)
        else:
            status.say(words(told))
    return told


def check(summary: dict[str, Any]) -> None:
    """Raise RuntimeError if the counters contradict each other."""
    if broken := summary["broken_identities"]:
        raise RuntimeError(f"internal error, counters are inconsistent: {'; '.join(broken)}")
