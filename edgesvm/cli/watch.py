"""``edgesvm watch``: learn what is normal from a sensor without labels, then raise alarms."""

from __future__ import annotations

import argparse
import time
from contextlib import closing, nullcontext
from typing import Any

from edgesvm.alarms import Hysteresis
from edgesvm.cli import (
    checkpoint_options,
    headroom,
    link_options,
    live,
    looking_on,
    novelty_options,
    out_options,
    saved_model,
    serving,
    watch_report,
    window_options,
)
from edgesvm.cli.node_messages import NodeMessages
from edgesvm.cli.service import Service
from edgesvm.cli.status import StatusLine
from edgesvm.cli.stopping import Signals, stop_signals
from edgesvm.learners.novelty.novelty_learner import NoveltyLearner
from edgesvm.link import Link
from edgesvm.page.watch_lookout import WatchLookout
from edgesvm.persist import Checkpoint
from edgesvm.preprocessing.chain import Chain
from edgesvm.watcher import Watcher

HELP = """\
Learn what is normal from the sensor on PORT, without labels. Then watch it: a line for each alarm
says when, how strange, and which features stand out.

  edgesvm watch /dev/ttyUSB0 --learn 5m --alarm-rate 1/day
  edgesvm watch /dev/ttyACM0 --text --window 256 --rate 1000 --bands 10-50,50-200   raw signals
  edgesvm watch /dev/ttyUSB0 --checkpoint pump.ckpt     goes on after a restart, without learning
  edgesvm watch /dev/ttyUSB0 --json >alarms.jsonl       a JSON line for each alarm

Let the machine run well while it learns, in all its states: what it does then is normal. Then
nothing is learned any more (--then says otherwise). The node is told too: the answer to each
sample or window has flag 8 while an alarm is on, enough to light a LED.

Exit code: 0 without an alarm, 3 if there was one, 1 for a failure, 2 for wrong use.
"""
ALARMED = 3
MEASURED_S = 3.0


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "watch", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    link_options.add_port(command)
    link_options.add_to(command, auto=True, unlabelled=" column: a text line has features only")
    command.add_argument("--answers", action="store_true", help="tell the node on a text link too")
    serving.add_to(command)
    looking_on.add_to(command)
    novelty_options.add_to(command)
    window_options.add_to(command, labels=False)
    checkpoint_options.add_to(command)
    out_options.add_to(command)
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    window_options.check(options)
    out_options.check(options)
    status = live.status_line(options)
    service = Service()
    room = headroom.take()
    with (
        saved_model.claimed(options) as checkpoint,
        stop_signals() as signals,
        serving.open_link(
            options, signals, service, ring=options.ring, policy="drop_oldest", late_labels=0
        ) as link,
    ):
        model, source = _model(options, link, checkpoint, signals, status)
        journal = out_options.journal(options, model)
        watcher = Watcher(
            link,
            model,
            learn_s=options.learn.seconds,
            hysteresis=Hysteresis(*options.alarm),
            learns=options.then != "nothing",
            answers=options.answers or link.binary,
            journal=journal,
        )
        report = watch_report.Report(watcher, options)
        status.say(report.opening(source) + out_options.bytes_told(journal))
        saver = checkpoint_options.saver(checkpoint, options, model, status.say)
        outs = out_options.start(options, {options.port: journal}, status.say, alarms=True)
        service.ready()
        try:
            with closing(saver) if saver else nullcontext():
                _serve(options, watcher, report, signals, status, saver=saver, service=service)
        finally:  # whatever ended it, save the model and report
            service.stopping()
            summary = serving.end(
                options,
                model,
                lambda: report.summary() | outs.end(),
                watch_report.words,
                status=status,
                saver=saver,
            )
    del room
    serving.check(summary)
    return ALARMED if watcher.alarms else 0


def _model(
    options: argparse.Namespace,
    link: Link,
    checkpoint: Checkpoint | None,
    signals: Signals,
    status: StatusLine,
) -> tuple[NoveltyLearner | Chain, str | None]:
    """The saved model and its file, or a new one for this link's samples and None."""
    assert link.schema is not None  # open
    n_inputs, period_us = link.schema.n_features, link.schema.nominal_us
    model: Any
    model, source = saved_model.loaded(options, checkpoint, labels=False)
    if model is not None:
        saved_model.check_inputs(model, n_inputs, source)
        return model, source
    rate = options.rate or (1e6 / period_us if period_us else None)
    if rate is None and novelty_options.needs_rate(options):
        rate = _measured_rate(link, signals)
        status.say(f"{rate:.3g} samples a second")
    rows = None if rate is None else rate / window_options.hop(options)
    learner = novelty_options.of_options(options, rows)
    model = window_options.chain(options, learner, n_inputs, period_us=period_us)
    return model.allocate(n_inputs), None


def _measured_rate(link: Link, signals: Signals) -> float:
    """Samples a second, from those of a few seconds; they are not learned."""
    first, n = time.monotonic(), 0
    while not signals.stopping and (n < 2 or time.monotonic() - first < MEASURED_S):
        link.poll(0.1)
        batch = link.take()
        if len(batch.y):
            if n == 0:
                first = time.monotonic()
            n += len(batch.y)
            last = time.monotonic()
            link.release(len(batch.y))
    return (n - 1) / max(last - first, 1e-3) if n > 1 else 1.0


def _serve(
    options: argparse.Namespace,
    watcher: Watcher,
    report: watch_report.Report,
    signals: Signals,
    status: StatusLine,
    **rest: Any,
) -> None:
    node = NodeMessages(watcher.link, status)

    def turn() -> bool:
        look()
        left = None if options.samples is None else options.samples - watcher.taken
        if left == 0:
            return False
        try:
            watcher.step(at_most=left)
        finally:
            for line in report.news():
                if out_options.takes_stdout(options):
                    status.say(line)
                else:
                    status.event(line)
        if (warning := report.warning()) is not None:
            status.say(warning)
        node.show()
        return True

    with looking_on.at(options, lambda: WatchLookout(watcher), status) as look:
        serving.serve(
            options, watcher.link, turn, report.progress, signals=signals, status=status, **rest
        )
