"""``edgesvm run``: a sensor on a port teaches a learner; predictions go back."""

from __future__ import annotations

import argparse
import json
import os
import struct
import sys
import time
from contextlib import closing, nullcontext

from edgesvm.budget import format_bytes
from edgesvm.cli import (
    arguments,
    checkpoint_options,
    headroom,
    learner_options,
    link_options,
    run_report,
)
from edgesvm.cli.snapshots import of_file
from edgesvm.cli.status import StatusLine
from edgesvm.cli.stopping import Signals, Stop, stop_signals
from edgesvm.errors import LinkDown
from edgesvm.ingest import Link, wire
from edgesvm.ingest.link import BinaryLink
from edgesvm.learner import Learner, load
from edgesvm.persist import Checkpoint
from edgesvm.persist.checkpointing import Checkpointer
from edgesvm.runner import Runner

HELP = """\
Learn from the sensor on PORT: each sample is predicted, then learned, and the prediction goes back.

  edgesvm run /dev/ttyUSB0                         a node that speaks frames (FORMATS.md)
  edgesvm run /dev/ttyACM0 --text --save m.esvm    any sketch that prints numbers, the label last
  edgesvm run socket://10.0.0.7:4000 --memory 64KiB --learner kernel-stream

With --save the model is loaded from FILE if it is there, and written to it at the end, on Ctrl-C
and on SIGTERM. With --checkpoint it is saved while learning too, so that the power may go at any
moment. When the port dies it is opened again, waiting 0.1 to 5 s; --once ends instead. Nothing is
sent to a sketch that prints lines: it may not read. With --answers it gets one line for each of
its own, "!SEQUENCE LABEL FLAGS SCORE".
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "run",
        description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    link_options.add_port(command)
    link_options.add_to(command, auto=True, unlabelled=": predict only")
    command.add_argument(
        "--answers", action="store_true", help="send predictions back on a text link too"
    )
    command.add_argument(
        "--ring",
        type=arguments.count,
        default=256,
        metavar="ROWS",
        help="samples held for the learner",
    )
    command.add_argument(
        "--full",
        choices=("drop_oldest", "drop_newest"),
        default="drop_oldest",
        help="what a sample does to a full ring; default drop_oldest",
    )
    command.add_argument(
        "--late-labels",
        type=arguments.count,
        metavar="W",
        help="samples that wait for a label sent on its own; default 256 where frames say so",
    )
    command.add_argument(
        "--range",
        type=arguments.value_range,
        metavar="LO,HI",
        help="a sample with a value beyond is refused (negative: --range=-1,1)",
    )
    command.add_argument(
        "--clip", action="store_true", help="bring values beyond --range to its end instead"
    )
    command.add_argument(
        "--max-labels-per-second",
        type=arguments.rate,
        metavar="N",
        help="learn no more, whoever sends them",
    )
    command.add_argument(
        "--allow-commands", action="store_true", help="let this end ask something of the node"
    )
    command.add_argument(
        "--rate",
        type=arguments.rate,
        metavar="HZ",
        help="ask the node for so many samples a second; with --allow-commands",
    )
    command.add_argument(
        "--save",
        type=arguments.new_file,
        metavar="FILE",
        help="snapshot: loaded if there, written at the end",
    )
    command.add_argument("--fresh", action="store_true", help="load neither FILE, begin anew")
    command.add_argument(
        "--window",
        type=arguments.count,
        default=1000,
        metavar="N",
        help="samples of the rolling accuracy",
    )
    checkpoint_options.add_to(command)
    learner_options.add_to(command)
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    status = StatusLine(quiet=options.quiet)
    checkpoint = checkpoint_options.open_checkpoint(options)
    room = headroom.take()
    with stop_signals() as signals, _open(options, signals) as link:
        learner, source = _learner(options, link, checkpoint)
        assert link.schema is not None  # open
        origin = f", {learner.n_seen_:,} samples old, from {source}" if source else ""
        status.say(
            f"{learner!r}{origin}: {format_bytes(learner.nbytes)}; "
            f"{link.schema.n_features} features a sample; "
            f"link {format_bytes(link.nbytes)}"
        )
        runner = Runner(
            link,
            learner,
            window=options.window,
            answers=options.answers or isinstance(link, BinaryLink),
            max_labels_per_second=options.max_labels_per_second,
        )
        if options.rate is not None:
            link.command(wire.SET_RATE, struct.pack("<I", round(1e6 / options.rate)))
        saver = checkpoint_options.saver(checkpoint, options, learner, status.say)
        started = time.monotonic()
        try:
            with closing(saver) if saver else nullcontext():
                _serve(options, runner, signals, status, started, saver=saver)
        finally:  # whatever ended it, what was learned is kept, and told
            status.end()
            try:
                if options.save:
                    learner.save(options.save)
            finally:
                summary = run_report.summary(runner, time.monotonic() - started)
                summary["counters"] |= saver.counters if saver else {}
                if options.json:
                    print(json.dumps(summary), flush=True)
                else:
                    status.say(run_report.words(summary))
    del room
    if options.save:
        status.say(f"saved to {options.save}")
    if summary["broken_identities"]:
        print(
            f"edgesvm: counts do not add up: {'; '.join(summary['broken_identities'])}",
            file=sys.stderr,
        )
        return 1
    return 0


def _open(options: argparse.Namespace, signals: Signals) -> Link:
    return link_options.open_port(
        options,
        signals,
        ring=options.ring,
        policy=options.full,
        late_labels=options.late_labels,
        value_range=options.range,
        clip=options.clip,
        allow_commands=options.allow_commands,
    )


def _learner(
    options: argparse.Namespace, link: Link, checkpoint: Checkpoint | None
) -> tuple[Learner, str | None]:
    """The learner saved, or a new one for this link's samples; the file it came from."""
    assert link.schema is not None  # open
    n_features = link.schema.n_features
    learner, source = checkpoint_options.load(checkpoint, options), options.checkpoint
    if learner is None and options.save and not options.fresh and os.path.exists(options.save):
        with of_file(options.save):
            learner, source = load(options.save), options.save
    if learner is None:
        learner = learner_options.build(options, n_features, link.schema.n_classes)
        return learner.allocate(n_features), None
    labels = learner.classes_.tolist()
    if not all(type(label) is int and abs(label) <= 0x7FFF for label in labels):
        raise ValueError(
            f"{source} was learned with the labels {labels}, a link has whole numbers; "
            "--fresh begins anew"
        )
    if learner.n_features_in_ != n_features:
        raise ValueError(
            f"{source} was learned on {learner.n_features_in_} features, "
            f"the link has {n_features}; --fresh begins anew"
        )
    return learner, source


def _serve(
    options: argparse.Namespace,
    runner: Runner,
    signals: Signals,
    status: StatusLine,
    started: float,
    *,
    saver: Checkpointer | None,
) -> None:
    """Until the samples asked for are in, a signal comes, or, with --once, the port dies."""
    node = _Voice(runner.link, status, options.rate)
    while not signals.stopping and (options.samples is None or runner.taken < options.samples):
        try:
            runner.step(at_most=None if options.samples is None else options.samples - runner.taken)
            if saver is not None:
                saver.step()
        except LinkDown as down:
            if saver is not None:
                saver.save()  # the port may be away for long
            if options.once:
                return
            status.say(f"{down}; opening it again")
            try:
                with signals.interruptible():
                    runner.link.reconnect()
            except Stop:
                return
            status.say(f"{runner.link.name} is back")
        node.listen()
        status.show(lambda: run_report.progress(runner, time.monotonic() - started))


class _Voice:
    """What the node says for people to read: its log, at most 16 lines a second, and its answer."""

    def __init__(self, link: Link, status: StatusLine, rate: float | None) -> None:
        self._link = link
        self._status = status
        self._asked = rate
        self._next = time.monotonic()

    def listen(self) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + 1.0
            for line in self._link.take_logs():
                self._status.say(f"node: {line}")
        if self._asked is not None and isinstance(self._link, BinaryLink):
            self._answer(self._link)

    def _answer(self, link: BinaryLink) -> None:
        if link.commands.pending:
            return
        asked = f"{self._asked:g} samples a second"
        if link.commands.command_done:
            self._status.say(f"the node now makes {asked}")
        elif link.commands.command_refused:
            self._status.say(f"the node refused to make {asked}")
        else:
            self._status.say(f"the node did not answer when asked for {asked}")
        self._asked = None
