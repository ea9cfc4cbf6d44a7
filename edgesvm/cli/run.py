"""``edgesvm run``: learn from a sensor on a port and send predictions back."""

from __future__ import annotations

import argparse
import struct
import time
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Any

from edgesvm.budget import format_bytes
from edgesvm.cli import (
    arguments,
    checkpoint_options,
    decision_options,
    drift_options,
    each_port,
    headroom,
    learner_options,
    link_options,
    live,
    looking_on,
    on_device_options,
    out_options,
    run_report,
    saved_model,
    serving,
    window_options,
)
from edgesvm.cli.node_messages import NodeMessages
from edgesvm.cli.service import Service
from edgesvm.cli.status import StatusLine
from edgesvm.cli.stopping import Signals, stop_signals
from edgesvm.learner import Learner, learner_in
from edgesvm.link import Link, wire
from edgesvm.runner import Runner

if TYPE_CHECKING:
    from edgesvm.drift.watch import DriftWatch
    from edgesvm.journal import Journal
    from edgesvm.page.lookout import Lookout
    from edgesvm.persist import Checkpoint
    from edgesvm.preprocessing.chain import Chain

HELP = """\
Learn from the sensor on PORT: predict each sample, learn it, and send the prediction back.

  edgesvm run /dev/ttyUSB0                         a node that sends frames (FORMATS.md)
  edgesvm run /dev/ttyACM0 --text --save m.esvm    a sketch that prints numbers, the label last
  edgesvm run socket://10.0.0.7:4000 --memory 64KiB --learner kernel-stream
  edgesvm run /dev/ttyACM0 --text --window 256 --hop 128 --rate 1000 --bands 10-50,50-200
  edgesvm run /dev/ttyUSB0 /dev/ttyUSB1 --memory 64KiB --save '{port}.esvm'      a learner each

With --window, samples are raw signals: each window of them becomes a row of features, which is
predicted and learned, and the prediction goes back with the number of the window's last sample.

With --save, the model is loaded from FILE if it exists, and written there at the end, on Ctrl-C,
SIGTERM and SIGHUP. With --checkpoint it is also saved while learning, so that a power cut at any
moment leaves a model. If the port fails, it is opened again after 0.1 to 5 s; with --once, run ends
instead. On a text link predictions are sent back only with --answers, as lines
"!SEQUENCE LABEL FLAGS SCORE".

With --on-device a microcontroller on PORT learns (edgesvm export), and this host looks on:

  edgesvm run /dev/ttyACM0 --on-device --save pump.esvm
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "run",
        description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    link_options.add_port(command, several=True)
    link_options.add_to(command, auto=True, unlabelled=": only predict")
    command.add_argument(
        "--answers", action="store_true", help="send predictions back on a text link too"
    )
    serving.add_to(command)
    looking_on.add_to(command)
    command.add_argument(
        "--one-model",
        action="store_true",
        help="several ports teach one learner, in turns, instead of one each",
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
        "--last",
        type=arguments.count,
        default=1000,
        metavar="N",
        help="rolling accuracy over the last N samples; default 1000",
    )
    drift_options.add_to(command)
    out_options.add_to(command)
    checkpoint_options.add_to(command)
    window_options.add_to(command)
    on_device_options.add_to(command)
    learner_options.add_to(command)
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    out_options.check(options)
    if not options.on_device:
        window_options.check(options)
    each = each_port.options_of(options)
    if len(each) > 1:
        from edgesvm.cli import several_ports

        return several_ports.act(options, each)
    (options,) = each
    if options.on_device:
        from edgesvm.cli import on_device

        return on_device.act(options)
    status = live.status_line(options)
    service = Service()
    room = headroom.take()
    with (
        saved_model.claimed(options) as checkpoint,
        stop_signals() as signals,
        serving.open_link(options, signals, service, **link_settings(options)) as link,
    ):
        model, source = model_for(options, link, checkpoint)
        assert link.schema is not None  # open
        journal = out_options.journal(options, model)
        status.say(
            f"{introduction(model, source)}; "
            f"{link.schema.n_features} features per sample; "
            f"link {format_bytes(link.nbytes)}{out_options.bytes_told(journal)}"
        )
        saver = checkpoint_options.saver(checkpoint, options, model, status.say)
        learner = learner_in(model)
        drift = drift_options.watch(options, learner, status.say, saver)
        runner = runner_for(options, link, model, drift, journal)
        ask_rate(options, link)
        outs = out_options.start(options, {options.port: journal}, status.say)
        started = time.monotonic()
        service.ready()
        try:
            with closing(saver) if saver else nullcontext():
                _serve(options, runner, signals, status, started, saver=saver, service=service)
        finally:  # whatever ended it, save the model and report
            service.stopping()
            summary = serving.end(
                options,
                model,
                lambda: run_report.summary(runner, time.monotonic() - started) | outs.end(),
                run_report.words,
                status=status,
                saver=saver,
            )
    del room
    if options.save:
        status.say(f"saved to {options.save}")
    serving.check(summary)
    return 0


def link_settings(options: argparse.Namespace) -> dict[str, Any]:
    """What `open_link` is told of the options of a run."""
    return {
        "ring": options.ring,
        "policy": options.full,
        "late_labels": options.late_labels,
        "value_range": options.range,
        "clip": options.clip,
        "allow_commands": options.allow_commands,
    }


def ask_rate(options: argparse.Namespace, link: Link) -> None:
    """Ask the node for the rate of ``--set-rate``, if that is given."""
    if options.set_rate is not None:
        link.command(wire.SET_RATE, struct.pack("<I", round(1e6 / options.set_rate)))


def introduction(model: Learner | Chain, source: str | None) -> str:
    """The model, where it comes from, and its bytes."""
    origin = f", loaded from {source} after {model.n_seen_:,} samples" if source else ""
    return f"{model!r}{origin}: {format_bytes(model.nbytes)}"


def model_for(
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
    learner = learner_in(model)
    labels = learner.classes_.tolist()
    if not all(type(label) is int and abs(label) <= 0x7FFF for label in labels):
        raise ValueError(
            f"the model in {source} has the labels {labels}, but a link has integers; "
            "use --fresh to start over"
        )
    saved_model.check_inputs(model, n_features, source)
    return model, source


def runner_for(
    options: argparse.Namespace,
    link: Link,
    model: Learner | Chain,
    drift: DriftWatch | None,
    journal: Journal | None,
) -> Runner:
    asked = {
        "window": options.last,
        "answers": options.answers or link.binary,
        "max_labels_per_second": options.max_labels_per_second,
        "drift": drift,
        "journal": journal,
    }
    if isinstance(model, Learner):
        return Runner(link, model, **asked)
    from edgesvm.window_runner import WindowRunner

    return WindowRunner(link, model, **asked)


def _serve(
    options: argparse.Namespace,
    runner: Runner,
    signals: Signals,
    status: StatusLine,
    started: float,
    **rest: Any,
) -> None:
    """Serve until enough samples are taken, a signal arrives or, with --once, the port fails."""
    learner, checked = runner.learner, False
    node = NodeMessages(runner.link, status, options.set_rate)

    def turn() -> bool:
        nonlocal checked
        look()
        left = None if options.samples is None else options.samples - runner.taken
        if left == 0:
            return False
        runner.step(at_most=left)
        checked = checked or (runner.learned > 0 and decision_options.check_labels(learner))
        node.show()
        return True

    def progress() -> str:
        return run_report.progress(runner, time.monotonic() - started)

    def lookout() -> Lookout:
        from edgesvm.page.run_lookout import RunLookout

        return RunLookout(runner)

    with looking_on.at(options, lookout, status) as look:
        serving.serve(options, runner.link, turn, progress, signals=signals, status=status, **rest)
