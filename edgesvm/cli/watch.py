"""``edgesvm watch``: learn what is normal from a sensor without labels, then raise alarms."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

from edgesvm.budget import MemoryBudgetError
from edgesvm.cli import (
    arguments,
    ask_options,
    headroom,
    link_options,
    looking_on,
    novelty_options,
    out_options,
    saved_model,
    server,
    watch_report,
    window_options,
)
from edgesvm.cli.link_options import LinkSettings
from edgesvm.cli.looking_on import ShowSettings
from edgesvm.cli.novelty_options import NoveltySettings
from edgesvm.cli.out_options import OutSettings
from edgesvm.cli.saved_model import SavingSettings
from edgesvm.cli.service import Service
from edgesvm.cli.status import StatusLine
from edgesvm.cli.stopping import Signals, stop_signals
from edgesvm.cli.window_options import WindowSettings
from edgesvm.learner import learner_in
from edgesvm.learners.novelty.novelty import NoveltyLearner
from edgesvm.link import Link
from edgesvm.link.playback import FileLink
from edgesvm.page.watch_lookout import WatchLookout
from edgesvm.persist import Checkpoint
from edgesvm.preprocessing.chain import Chain
from edgesvm.preprocessing.clock_features import ClockFeatures
from edgesvm.preprocessing.virtual_sensor import VirtualSensor
from edgesvm.teaching import WatchTeaching
from edgesvm.watcher import Watcher

HELP = """\
Learn what is normal from the sensor on PORT, without labels. Then watch it: a line for each alarm
says when, how strange, and which features stand out.

  edgesvm watch /dev/ttyUSB0 --learn 5m --alarm-rate 1/day
  edgesvm watch /dev/ttyACM0 --text --window 256 --rate 1000 --bands 10-50,50-200   raw signals
  edgesvm watch /dev/ttyUSB0 --checkpoint pump.ckpt     goes on after a restart, without learning
  edgesvm watch /dev/ttyUSB0 --json >alarms.jsonl       a JSON line for each alarm
  edgesvm watch /dev/ttyUSB0 --residual 3               channel 3 against what the others say of it
  edgesvm watch /dev/ttyUSB0 --clock --learn 21d        what is usual at this hour of the week

Let the machine run well while it learns, in all its states: what it does then is normal. Then
nothing is learned any more (--then says otherwise). The node is told too: the answer to each
sample or window has flag 8 while an alarm is on, enough to light a LED.

Exit code: 0 without an alarm, 3 if there was one, 1 for a failure, 2 for wrong use.
"""
ALARMED = 3
MEASURED_S = 3.0


@dataclass(frozen=True)
class WatchSettings:
    """What the options ask for."""

    link: LinkSettings
    answers: bool
    novelty: NoveltySettings
    windows: WindowSettings
    saving: SavingSettings
    out: OutSettings
    show: ShowSettings
    ask: float | None = None  # questions a second, besides those about alarms

    @classmethod
    def of(cls, options: argparse.Namespace) -> WatchSettings:
        """Raises ValueError if the options contradict each other."""
        ask_options.check(options)
        settings = cls(
            link=LinkSettings.of(options, url=options.port, regress=None),
            answers=options.answers,
            novelty=NoveltySettings.of(options),
            windows=WindowSettings.of(options, rate=True),
            saving=SavingSettings.of(options),
            out=OutSettings.of(options),
            show=arguments.read(ShowSettings, options),
            ask=options.ask,
        )
        arguments.different([*settings.out.files, *settings.saving.files])
        if settings.novelty.residual is not None and settings.windows.window is not None:
            raise ValueError("--residual is of samples, and --window of raw signals: give one")
        others = settings.novelty.residual is not None or settings.windows.window is not None
        if settings.novelty.clock is not None and others:
            raise ValueError("--clock is of samples: leave out --window and --residual")
        return settings

    def contradicted(self, model: Any) -> list[tuple[str, str]]:
        """What a loaded model has that these options contradict, and the options."""
        found = self.windows.contradicted(model)
        by_clock = isinstance(model, Chain) and isinstance(model.windows_, ClockFeatures)
        if by_clock != (self.novelty.clock is not None):
            found.append(("--clock", "none") if by_clock else ("no --clock", "--clock"))
        asked, has = self.novelty.residual, isinstance(model, VirtualSensor)
        if asked is None:
            return [*found, (f"--residual {model.target}", "none")] if has else found
        if not has:
            return [*found, ("no --residual", f"--residual {asked}")]
        n = model.n_features_in_
        same = model.target % n == asked % n
        return found if same else [*found, (f"--residual {model.target}", f"--residual {asked}")]


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("watch", usage="edgesvm watch PORT [options]", description=HELP)
    link_options.add_port(command)
    novelty_options.add_to(command)
    files = command.add_argument_group("files")
    saved_model.add_save(files)
    saved_model.add_checkpoint(files)
    link = link_options.add_to(command, auto=True, labels=False)
    link.add_argument("--answers", action="store_true", help="tell the node on a text link too")
    link_options.add_ring(link)
    link_options.add_columns(link)
    shown = command.add_argument_group("what is shown")
    link_options.add_report(shown)
    looking_on.add_to(shown)
    ask_options.add_to(shown, alarms=True)
    window_options.add_to(command, labels=False)
    out_options.add_to(command)
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    return watch(WatchSettings.of(options))


def watch(settings: WatchSettings) -> int:
    """Learn and watch until enough samples came or a signal arrives. Returns the exit code."""
    status, service, room = settings.show.status_line(), Service(), headroom.take()
    with (
        settings.saving.claimed() as checkpoint,
        settings.out.claimed(),
        stop_signals() as signals,
        server.opened([settings.link], signals) as (link,),
    ):
        model, source = _model(settings, link, checkpoint, signals, status)
        journal = settings.out.journal(model)
        questions = ask_options.questions(settings.ask, learner_in(model))
        rows = _Rows(link)
        watcher = Watcher(
            link,
            model,
            clock=rows.seconds,
            learn_s=settings.novelty.learn.seconds,
            learns=settings.novelty.then != "nothing",
            answers=settings.answers or link.binary,
            journal=journal,
            time_of_week=time_of_week if settings.novelty.clock == "host" else None,
            questions=questions,
        )
        rows.watcher = watcher
        report = watch_report.Report(watcher, as_json=settings.show.json, when=rows.when)
        kept = out_options.bytes_told(journal) + ask_options.bytes_told(watcher)
        status.say(report.opening(source) + kept)
        saver = settings.saving.saver(checkpoint, model, status.say)
        tell = status.say if settings.out.takes_stdout else status.event

        def news() -> None:
            watcher.look_for_samples()  # also while the port is gone
            for line in report.news():
                tell(line)
            for line in watcher.remarks.news():
                status.say(f"note: {line}")

        port = server.Served(watcher, settings.link, status, saver=saver, after=news)
        by_hand = questions is not None or settings.show.http is not None
        teaching = WatchTeaching(watcher) if by_hand else None
        person = ask_options.Person({link.name: teaching}) if teaching and questions else None
        outs = settings.out.start(
            {link.name: journal},
            status.say,
            alarms=True,
            asked={link.name: questions},
            heard=None if person is None else person.hear,
            samples={link.name: link.freshness},
            steady=not watcher.of_windows,
        )
        service.ready()
        try:
            lookouts = {link.name: lambda: WatchLookout(watcher, teaching)}
            with settings.show.at(lookouts, status) as looks:
                port.look = looks.get(link.name, port.look)
                if person is not None:
                    port.look = server.both(port.look, *person.turns())
                server.serve(
                    [port], report.progress, signals=signals, status=status, service=service
                )
        finally:  # whatever ended it, save the model and report
            service.stopping()
            if person is not None:
                person.close()
            status.end()
            try:
                saved_model.save_all([(model, settings.saving, saver)])
            finally:
                told = report.summary() | outs.end()
                told["counters"] |= saver.counters if saver else {}
                told["counters"]["log_lost"] = status.lost
                settings.show.report(told, [watch_report.words(told)], status)
    del room
    if port.error is not None:
        raise port.error
    server.check(told)
    return ALARMED if watcher.alarms else 0


class _Rows:
    """The time of a watch: this computer's or, of a file, that of the row at hand."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.watcher: Watcher | None = None

    def seconds(self) -> float:
        link = self._link
        return link.seconds(self._row) if isinstance(link, FileLink) else time.monotonic()

    def when(self) -> str:
        link = self._link
        return link.when(self._row) if isinstance(link, FileLink) else watch_report.now()

    @property
    def _row(self) -> int:
        return 0 if self.watcher is None else max(self.watcher.taken - 1, 0)


def _model(
    settings: WatchSettings,
    link: Link,
    checkpoint: Checkpoint | None,
    signals: Signals,
    status: StatusLine,
) -> tuple[NoveltyLearner | Chain | VirtualSensor, str | None]:
    """The saved model and its file, or a new one for this link's samples and None."""
    assert link.schema is not None  # open
    n_inputs, period_us = link.schema.n_features, link.schema.nominal_us
    windows, novelty = settings.windows, settings.novelty
    n_inputs += novelty.clock == "host"
    model: Any
    model, source = settings.saving.loaded(
        checkpoint,
        novelty.memory,
        lambda model, learner: settings.contradicted(model),
        labels=False,
    )
    if model is not None:
        saved_model.check_inputs(model, n_inputs, source)
        return model, source
    if isinstance(link, FileLink):
        link.seconds_apart = 1 / windows.rate if windows.rate else link.seconds_apart
        period_us = round(1e6 * link.seconds_apart)
        if not period_us and (novelty.learn.seconds or novelty.needs_rate):
            raise ValueError(
                f"{link.name} has no times: give --rate, or --learn N and --alarm-rate 0.001, which"
                " are of rows"
            )
    rate = windows.rate or (1e6 / period_us if period_us else None)
    if rate is None and novelty.needs_rate:
        rate = _measured_rate(link, signals)
        status.say(f"{rate:.3g} samples a second")
    rows = None if rate is None else rate / windows.rows_apart
    if novelty.residual is not None:
        sensor = VirtualSensor(target=novelty.residual, learner=novelty.new_learner(rows))
        return sensor.fitted_into(novelty.memory, n_inputs).allocate(n_inputs), None

    def chain(kind: str) -> Any:
        learner, fixed = novelty.new_learner(rows, kind), "max_vectors" in novelty.parameters
        if novelty.clock is None:
            return windows.chain(
                learner, n_inputs, novelty.memory, period_us=period_us, fixed=fixed
            )
        timed = Chain(windows=ClockFeatures(dtype=learner.dtype), learner=learner)
        return timed.fitted_into(novelty.memory, n_inputs, fixed=fixed)

    try:
        model = chain(novelty_options.DEFAULT_KIND)
    except MemoryBudgetError as error:
        if novelty.learner or novelty.parameters:
            raise
        status.say(f"{error}; {novelty_options.SMALLER_KIND} instead")
        model = chain(novelty_options.SMALLER_KIND)
    return model.allocate(n_inputs).name_features(link.feature_names), None


def time_of_week() -> float:
    """Seconds since Monday 0:00, local time."""
    now = time.time()
    at = time.localtime(now)
    minutes = (24 * at.tm_wday + at.tm_hour) * 60 + at.tm_min
    return 60.0 * minutes + min(at.tm_sec, 59) + now % 1  # a leap second is none


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
