"""``edgesvm run``: learn from a sensor on a port and send predictions back."""

from __future__ import annotations

import argparse
import json
import struct
import time
from contextlib import closing, nullcontext

from edgesvm.budget import format_bytes
from edgesvm.cli import (
    arguments,
    checkpoint_options,
    decision_options,
    headroom,
    learner_options,
    link_options,
    run_report,
    saved_model,
    window_options,
)
from edgesvm.cli.service import Service
from edgesvm.cli.status import StatusLine
from edgesvm.cli.stopping import Signals, Stop, stop_signals
from edgesvm.errors import LinkDown
from edgesvm.ingest import Link, wire
from edgesvm.ingest.link import BinaryLink
from edgesvm.learner import Learner
from edgesvm.persist import Checkpoint
from edgesvm.persist.checkpointing import Checkpointer
from edgesvm.preprocessing.chain import Chain
from edgesvm.runner import Runner
from edgesvm.window_runner import WindowRunner

HELP = """\
Learn from the sensor on PORT: predict each sample, learn it, and send the prediction back.

  edgesvm run /dev/ttyUSB0                         a node that sends frames (FORMATS.md)
  edgesvm run /dev/ttyACM0 --text --save m.esvm    a sketch that prints numbers, the label last
  edgesvm run socket://10.0.0.7:4000 --memory 64KiB --learner kernel-stream
  edgesvm run /dev/ttyACM0 --text --window 256 --hop 128 --rate 1000 --bands 10-50,50-200

With --window, samples are raw signals: each window of them becomes a row of features, which is
predicted and learned, and the prediction goes back with the number of the window's last sample.

With --save, the model is loaded from FILE if it exists, and written there at the end, on Ctrl-C,
SIGTERM and SIGHUP. With --checkpoint it is also saved while learning, so that a power cut at any
moment leaves a model. If the port fails, it is opened again after 0.1 to 5 s; with --once, run ends
instead. On a text link predictions are sent back only with --answers, as lines
"!SEQUENCE LABEL FLAGS SCORE".
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "run",
        description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    link_options.add_port(command)
    link_options.add_to(command, auto=True, unlabelled=": only predict")
    command.add_argument(
        "--answers", action="store_true", help="send predictions back on a text link too"
    )
    command.add_argument(
        "--ring",
        type=arguments.count,
        default=256,
        metavar="ROWS",
        help="capacity of the ring between link and learner, in samples; default 256",
    )
    command.add_argument(
        "--full",
        choices=("drop_oldest", "drop_newest"),
        default="drop_oldest",
        help="which sample to drop when the ring is full; default drop_oldest",
    )
    command.add_argument(
        "--late-labels",
        type=arguments.count,
        metavar="W",
        help="how many samples may wait for a late label; default 256 if the node announces "
        "late labels",
    )
    command.add_argument(
        "--range",
        type=arguments.value_range,
        metavar="LO,HI",
        help="refuse samples with a value outside (write --range=-1,1 for negative numbers)",
    )
    command.add_argument(
        "--clip", action="store_true", help="set values outside --range to the nearer end instead"
    )
    command.add_argument(
        "--max-labels-per-second",
        type=arguments.rate,
        metavar="N",
        help="learn at most N labels per second",
    )
    command.add_argument(
        "--allow-commands", action="store_true", help="allow sending commands to the node"
    )
    command.add_argument(
        "--set-rate",
        type=arguments.rate,
        metavar="HZ",
        help="ask the node for this sampling rate; needs --allow-commands",
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
    command.add_argument(
        "--last",
        type=arguments.count,
        default=1000,
        metavar="N",
        help="rolling accuracy over the last N samples; default 1000",
    )
    checkpoint_options.add_to(command)
    window_options.add_to(command)
    learner_options.add_to(command)
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    window_options.check(options)
    status = StatusLine(quiet=options.quiet)
    service = Service()
    room = headroom.take()
    with (
        saved_model.claimed(options) as checkpoint,
        stop_signals() as signals,
        _open(options, signals, service) as link,
    ):
        model, source = _model(options, link, checkpoint)
        assert link.schema is not None  # open
        origin = f", loaded from {source} after {model.n_seen_:,} samples" if source else ""
        status.say(
            f"{model!r}{origin}: {format_bytes(model.nbytes)}; "
            f"{link.schema.n_features} features per sample; "
            f"link {format_bytes(link.nbytes)}"
        )
        runner = _runner(options, link, model)
        if options.set_rate is not None:
            link.command(wire.SET_RATE, struct.pack("<I", round(1e6 / options.set_rate)))
        saver = checkpoint_options.saver(checkpoint, options, model, status.say)
        started = time.monotonic()
        service.ready()
        try:
            with closing(saver) if saver else nullcontext():
                _serve(options, runner, signals, status, started, saver=saver, service=service)
        finally:  # whatever ended it, save the model and report
            service.stopping()
            status.end()
            try:
                if options.save:
                    model.save(options.save)
            finally:
                summary = run_report.summary(runner, time.monotonic() - started)
                summary["counters"] |= saver.counters if saver else {}
                summary["counters"]["log_lost"] = status.lost
                if options.json:
                    print(json.dumps(summary), flush=True)
                else:
                    status.say(run_report.words(summary))
    del room
    if options.save:
        status.say(f"saved to {options.save}")
    if summary["broken_identities"]:
        raise RuntimeError(
            f"internal error, counters are inconsistent: {'; '.join(summary['broken_identities'])}"
        )
    return 0


def _open(options: argparse.Namespace, signals: Signals, service: Service) -> Link:
    def wait(seconds: float) -> None:  # between attempts to open the port again
        service.alive(lambda: f"{options.port} is gone; trying to open it again")
        time.sleep(seconds)

    return link_options.open_port(
        options,
        signals,
        ring=options.ring,
        policy=options.full,
        late_labels=options.late_labels,
        value_range=options.range,
        clip=options.clip,
        allow_commands=options.allow_commands,
        sleep=wait,
    )


def _model(
    options: argparse.Namespace, link: Link, checkpoint: Checkpoint | None
) -> tuple[Learner | Chain, str | None]:
    """The saved model and its file, or a new one for this link's samples and None."""
    assert link.schema is not None  # open
    n_features = link.schema.n_features
    model, source = saved_model.loaded(options, checkpoint)
    if model is None:
        learner, fixed = learner_options.requested(options, link.schema.n_classes)
        period = link.schema.nominal_us
        model = window_options.chain(options, learner, n_features, period_us=period, fixed=fixed)
        return model.allocate(n_features), None
    learner = model.learner_ if isinstance(model, Chain) else model
    labels = learner.classes_.tolist()
    if not all(type(label) is int and abs(label) <= 0x7FFF for label in labels):
        raise ValueError(
            f"the model in {source} has the labels {labels}, but a link has integers; "
            "use --fresh to start over"
        )
    saved_model.check_inputs(model, n_features, source)
    return model, source


def _runner(options: argparse.Namespace, link: Link, model: Learner | Chain) -> Runner:
    asked = {
        "window": options.last,
        "answers": options.answers or isinstance(link, BinaryLink),
        "max_labels_per_second": options.max_labels_per_second,
    }
    if isinstance(model, Chain):
        return WindowRunner(link, model, **asked)
    return Runner(link, model, **asked)


def _serve(
    options: argparse.Namespace,
    runner: Runner,
    signals: Signals,
    status: StatusLine,
    started: float,
    *,
    saver: Checkpointer | None,
    service: Service,
) -> None:
    """Serve until enough samples are taken, a signal arrives or, with --once, the port fails."""

    def progress() -> str:
        return run_report.progress(runner, time.monotonic() - started)

    learner, checked = runner.learner, False
    node = _NodeMessages(runner.link, status, options.set_rate)
    while not signals.stopping and (options.samples is None or runner.taken < options.samples):
        try:
            runner.step(at_most=None if options.samples is None else options.samples - runner.taken)
            checked = checked or (runner.learned > 0 and decision_options.check_labels(learner))
            if saver is not None:
                saver.step()
        except LinkDown as down:
            if saver is not None:
                saver.save()  # the port may be away for long
            if options.once:
                return
            status.say(f"{down}; trying to open it again")
            try:
                with signals.interruptible():
                    runner.link.reconnect()
            except Stop:
                return
            status.say(f"{runner.link.name} is open again")
        node.show()
        status.show(progress)
        service.alive(progress)


class _NodeMessages:
    """Shows the node's log, at most 16 lines per second, and its reply to --set-rate."""

    def __init__(self, link: Link, status: StatusLine, rate: float | None) -> None:
        self._link = link
        self._status = status
        self._rate = rate
        self._next = time.monotonic()

    def show(self) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + 1.0
            for line in self._link.take_logs():
                self._status.say(f"node: {line}")
        if self._rate is not None and isinstance(self._link, BinaryLink):
            self._show_reply(self._link)

    def _show_reply(self, link: BinaryLink) -> None:
        if link.commands.pending:
            return
        rate = f"{self._rate:g} samples per second"
        if link.commands.command_done:
            self._status.say(f"the node's rate is now {rate}")
        elif link.commands.command_refused:
            self._status.say(f"the node refused the rate {rate}")
        else:
            self._status.say(f"the node did not answer the request for {rate}")
        self._rate = None
