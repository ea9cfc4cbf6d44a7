"""``edgesvm run``: learn from sensors on ports and send predictions back."""

from __future__ import annotations

import argparse
import contextlib
import functools
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from edgesvm.budget import format_bytes, parse_bytes
from edgesvm.cli import (
    arguments,
    ask_options,
    decision_options,
    drift_options,
    headroom,
    learner_options,
    link_options,
    looking_on,
    out_options,
    run_report,
    saved_model,
    server,
    window_options,
)
from edgesvm.cli.learner_options import season_of_day
from edgesvm.cli.run_settings import PortSettings, RunSettings
from edgesvm.cli.server import Served
from edgesvm.cli.service import Service
from edgesvm.cli.status import StatusLine
from edgesvm.cli.stopping import stop_signals
from edgesvm.errors import SchemaChanged
from edgesvm.learner import Learner, learner_in
from edgesvm.link import Link
from edgesvm.runner import Runner

if TYPE_CHECKING:
    from edgesvm.learners.drift import DriftWatch
    from edgesvm.page.lookout import Lookout
    from edgesvm.persist import Checkpoint
    from edgesvm.persist.checkpointing import Checkpointer
    from edgesvm.preprocessing.chain import Chain
    from edgesvm.teaching import RunTeaching

HELP = """\
Learn from the sensor on PORT: predict each sample, learn it, send the answer.

  edgesvm run /dev/ttyUSB0                         frames (docs/FORMATS.md)
  edgesvm run /dev/ttyACM0 --text --save m.esvm    lines of numbers, label last
  edgesvm run socket://10.0.0.7:4000 --memory 64KiB --learner kernel-stream
  edgesvm run /dev/ttyACM0 --text --window 256 --rate 1000 --bands 10-50,50-200
  edgesvm run /dev/ttyUSB0 /dev/ttyUSB1 --save '{port}.esvm'      a learner each
  edgesvm run /dev/ttyACM0 --on-device --save pump.esvm     the board learns

The model is saved at the end, on Ctrl-C, SIGTERM and SIGHUP. A port that fails
is opened again after 0.1 to 5 s. More is in docs/command-line.md.
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "run", usage="edgesvm run PORT [PORT ...] [options]", description=HELP
    )
    link_options.add_port(command, several=True)
    files = command.add_argument_group("files")
    saved_model.add_save(files)
    saved_model.add_checkpoint(files)
    learner_options.add_regress(learner_options.add_to(command))
    link = link_options.add_to(command, auto=True)
    link.add_argument(
        "--answers", action="store_true", help="send predictions back on a text link too"
    )
    link_options.add_ring(link)
    link_options.add_columns(link)
    link.add_argument(
        "--full",
        choices=("drop_oldest", "drop_newest"),
        default="drop_oldest",
        metavar="WHICH",
        help="what to drop then: drop_oldest or drop_newest",
    )
    link.add_argument(
        "--late-labels",
        type=arguments.count,
        metavar="W",
        help="samples that wait for a late label; default 256",
    )
    link.add_argument(
        "--range",
        type=arguments.value_range,
        metavar="LO,HI",
        help="refuse samples with other values: --range=-1,1",
    )
    link.add_argument("--clip", action="store_true", help="move values into --range instead")
    link.add_argument(
        "--max-labels-per-second", type=arguments.rate, metavar="N", help="learn at most so many"
    )
    link.add_argument(
        "--allow-commands", action="store_true", help="allow sending commands to the node"
    )
    link.add_argument(
        "--set-rate",
        type=arguments.rate,
        metavar="HZ",
        help="ask the node for this rate (--allow-commands)",
    )
    link.add_argument(
        "--other-width",
        choices=("stop", "restart"),
        default="stop",
        metavar="WHAT",
        help="on another number of features: stop, or restart",
    )
    link.add_argument(
        "--one-model", action="store_true", help="several ports teach one learner, not one each"
    )
    shown = command.add_argument_group("what is shown")
    link_options.add_report(shown)
    shown.add_argument(
        "--last",
        type=arguments.count,
        default=1000,
        metavar="N",
        help="rolling accuracy of N samples; default 1000",
    )
    looking_on.add_to(shown)
    ask_options.add_to(shown)
    window_options.add_to(command)
    drift_options.add_to(command)
    out_options.add_to(command)
    board = command.add_argument_group("a board that learns (edgesvm export, NAME_link.h)")
    board.add_argument(
        "--on-device", action="store_true", help="the board learns; --save keeps its model"
    )
    board.add_argument(
        "--fetch-every",
        type=arguments.duration,
        default=60.0,
        metavar="TIME",
        help="how often its model is fetched; default 1m",
    )
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    settings = RunSettings.of(options)
    if settings.fetch_every is not None:
        from edgesvm.cli import on_device

        return on_device.run(settings)
    while True:
        try:
            return run(settings)
        except SchemaChanged as changed:
            if settings.other_width != "restart":
                raise
            for port in settings.ports:
                port.saving.set_aside()
            with contextlib.suppress(OSError):
                print(f"edgesvm: {changed}; starting over with a new model", file=sys.stderr)


def run(settings: RunSettings) -> int:
    """Serve the ports until each has ended or a signal arrives; save and report each."""
    status, service, room = settings.show.status_line(), Service(), headroom.take()
    with contextlib.ExitStack() as held:
        checkpoints = [held.enter_context(one.saving.claimed()) for one in settings.owners]
        held.enter_context(settings.out.claimed())
        signals = held.enter_context(stop_signals())
        links = held.enter_context(server.opened([one.link for one in settings.ports], signals))
        ports = _ports(settings, links, checkpoints, status)
        for port in ports:
            port.ask_rate()
        journals = {one.link.name: one.job.journal for one in ports}
        teachings = _teachings(settings, ports)
        person = None if settings.ask is None else ask_options.Person(teachings)
        outs = settings.out.start(
            journals,
            status.say,
            asked={one.link.name: one.job.questions for one in ports},
            heard=None if person is None else person.hear,
            samples={link.name: link.freshness for link in links},
            steady=all(isinstance(one.job.model, Learner) for one in ports),
        )
        started = time.monotonic()
        names = [one.name for one in settings.ports]
        lookouts = {
            name: functools.partial(_lookout, port.job, teachings.get(port.link.name))
            for name, port in zip(names, ports, strict=True)
        }
        progress = functools.partial(run_report.progress, ports, started)
        service.ready()
        try:
            with settings.show.at(lookouts, status) as looks:
                for name, port in zip(names, ports, strict=True):
                    port.look = looks.get(name, port.look)
                if person is not None:
                    for port, turn in zip(ports, person.turns(), strict=True):
                        port.look = server.both(port.look, turn)
                server.serve(ports, progress, signals=signals, status=status, service=service)
        finally:  # whatever ended it, save the models and report
            service.stopping()
            if person is not None:
                person.close()
            told = _end(settings, ports, status, started, outs.end)
    del room
    server.check(told)
    if len(ports) == 1 and ports[0].error is not None:
        raise ports[0].error
    return 1 if any(port.error for port in ports) else 0


def _ports(
    settings: RunSettings,
    links: Sequence[Link],
    checkpoints: Sequence[Checkpoint | None],
    status: StatusLine,
) -> list[Served]:
    """The ports, each with its learner or all with one; says what learns, in how many bytes."""
    several, learned, introductions = len(links) > 1, [], []
    for one, link, checkpoint in zip(settings.ports, links, checkpoints, strict=False):
        model, source = model_for(settings, one, link, checkpoint)
        introductions.append(_introduction(model, source))
        saver = one.saving.saver(checkpoint, model, status.say)
        drift = settings.drift.watch(learner_in(model), status.say, saver)
        learned.append((model, saver, drift))
    if settings.one_model:
        _check_alike(links)
        learned *= len(links)
    ports = []
    for one, link, (model, saver, drift) in zip(settings.ports, links, learned, strict=True):
        ports.append(served(settings, one, link, model, status, saver=saver, drift=drift))
    kept = out_options.bytes_told(*(one.job.journal for one in ports))
    kept += ask_options.bytes_told(*(one.job for one in ports))
    if not several:
        n_features = ports[0].job.model.n_features_in_
        status.say(
            f"{introductions[0]}; {n_features} features per sample; "
            f"link {format_bytes(links[0].nbytes)}{kept}"
        )
        return ports
    for one, told in zip(settings.ports, introductions, strict=False):
        share = f"{format_bytes(parse_bytes(one.learner.memory))} of {settings.memory}"
        status.say(f"{'all ports' if settings.one_model else one.name}: {told}; may have {share}")
    names = zip((one.name for one in settings.ports), links, strict=True)
    sizes = "; ".join(f"{name} {format_bytes(link.nbytes)}" for name, link in names)
    status.say(f"links: {sizes}{kept}")
    return ports


def _introduction(model: Learner | Chain, source: str | None) -> str:
    """The model, where it comes from, and its bytes."""
    origin = f", loaded from {source} after {model.n_seen_:,} samples" if source else ""
    return f"{model!r}{origin}: {format_bytes(model.nbytes)}"


def _check_alike(links: Sequence[Link]) -> None:
    """Raise ValueError if the samples of two links have not as many features."""
    widths = {link.name: link.schema.n_features for link in links if link.schema is not None}
    if len(set(widths.values())) > 1:
        told = ", ".join(f"{n} on {name}" for name, n in widths.items())
        raise ValueError(f"--one-model needs as many features on each port, not {told}")


def model_for(
    settings: RunSettings, port: PortSettings, link: Link, checkpoint: Checkpoint | None
) -> tuple[Learner | Chain, str | None]:
    """The saved model and its file, or a new one for this link's samples and None."""
    assert link.schema is not None  # open
    n_features, memory = link.schema.n_features, port.learner.memory

    def contradicted(model: Learner | Chain, learner: Learner) -> list[tuple[str, str]]:
        return settings.windows.contradicted(model) + port.learner.contradicted(learner)

    model, source = port.saving.loaded(checkpoint, memory, contradicted)
    if model is None:
        learner, fixed = port.learner.requested(link.schema.n_classes)
        period = link.schema.nominal_us
        model = settings.windows.chain(learner, n_features, memory, period_us=period, fixed=fixed)
        return model.allocate(n_features).name_features(link.feature_names), None
    if not port.learner.regress:
        try:
            link.name_classes(learner_in(model).classes_.tolist())
        except ValueError as error:
            raise ValueError(f"{source}: {error}; use --fresh to start over") from None
    saved_model.check_inputs(model, n_features, source)
    return model, source


def served(
    settings: RunSettings,
    port: PortSettings,
    link: Link,
    model: Learner | Chain,
    status: StatusLine,
    *,
    saver: Checkpointer | None = None,
    drift: DriftWatch | None = None,
) -> Served:
    """The port with the `Runner` of its samples."""
    asked: dict[str, Any] = {
        "window": settings.last,
        "answers": settings.answers or link.binary,
        "max_labels_per_second": settings.max_labels_per_second,
        "drift": drift,
        "journal": settings.out.journal(model),
        "questions": ask_options.questions(settings.ask, learner_in(model)),
        "season": 0 if link.schema is None else season_of_day(link.schema.nominal_us),
    }
    if isinstance(model, Learner):
        runner = Runner(link, model, **asked)
    else:
        from edgesvm.window_runner import WindowRunner

        runner = WindowRunner(link, model, **asked)
    checked, news = False, run_report.questions_of(runner)
    tell_samples = server.samples_told(link, status.say)

    doubted = False

    def after() -> None:
        nonlocal checked, doubted
        tell_samples()
        if not doubted and (doubt := link.doubt()):
            doubted = True
            status.say(f"note: {doubt}")
        checked = checked or (runner.learned > 0 and decision_options.check_labels(runner.learner))
        where = f"{link.name}: " if len(settings.ports) > 1 else ""
        for line in runner.remarks.news():
            status.say(f"{where}note: {line}")
        for line in news():
            status.say(f"{where}{line}")

    return Served(runner, port.link, status, saver=saver, after=after, rest=runner.handle_waiting)


def _teachings(settings: RunSettings, ports: Sequence[Served]) -> dict[str, RunTeaching]:
    """What takes labels by hand, of each port, where somebody can give them."""
    if settings.ask is None and settings.show.http is None:
        return {}
    from edgesvm.teaching import RunTeaching

    return {port.link.name: RunTeaching(port.job) for port in ports}


def _lookout(runner: Runner, teaching: RunTeaching | None) -> Lookout:
    from edgesvm.page.run_lookout import RunLookout

    return RunLookout(runner, teaching)


def _end(
    settings: RunSettings,
    ports: Sequence[Served],
    status: StatusLine,
    started: float,
    outputs: Callable[[], dict[str, Any]],
) -> dict[str, Any]:
    """Save each model and report, whatever ended the serving. Returns the summary."""
    status.end()
    owners = list(zip(settings.ports, ports, strict=True))[: 1 if settings.one_model else None]
    try:
        saved_model.save_all([(of.job.model, one.saving, of.saver) for one, of in owners])
    finally:
        told = run_report.summary(ports, time.monotonic() - started) | outputs()
        run_report.add_lost(told, status.lost)
        settings.show.report(told, run_report.words(told), status)
    for one, _ in owners:
        if one.saving.save:
            status.say(f"saved to {one.saving.save}")
    return told
