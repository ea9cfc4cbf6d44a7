"""``edgesvm watch``: learn what is normal from a sensor without labels, then raise alarms."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from edgesvm.budget import MemoryBudgetError
from edgesvm.cli import (
    arguments,
    novelty_settings,
    out_settings,
    saved_model,
    server,
    watch_report,
)
from edgesvm.cli.link_settings import PORT, RING, ColumnSettings, UnlabelledLink
from edgesvm.cli.novelty_settings import NoveltySettings
from edgesvm.cli.options import argument, option, section
from edgesvm.cli.out_settings import OutSettings
from edgesvm.cli.process import Signals, StatusLine
from edgesvm.cli.saved_model import SavingSettings
from edgesvm.cli.server import Served
from edgesvm.cli.show_settings import TeachingSettings
from edgesvm.cli.window_settings import UnlabelledWindows, WindowSettings
from edgesvm.learners.novelty.novelty import NoveltyLearner
from edgesvm.link import Link
from edgesvm.link.files import RowsLink
from edgesvm.persist import Checkpoint
from edgesvm.preprocessing.chain import Chain
from edgesvm.preprocessing.clock_features import ClockFeatures
from edgesvm.preprocessing.virtual_sensor import VirtualSensor
from edgesvm.serve.job import Job
from edgesvm.serve.watch import watched

if TYPE_CHECKING:
    from edgesvm.serve.page.view import WatchView

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


@dataclass(frozen=True, kw_only=True)
class WatchLink(UnlabelledLink):
    """Its node is told too."""

    ring: int = option(256, RING, unit="ROWS", check=arguments.count)
    answers: bool = option(False, "tell the node on a text link too")
    columns: ColumnSettings = section(ColumnSettings, hidden=True)


@dataclass(frozen=True, kw_only=True)
class Settings:
    port: str = argument(PORT, unit="PORT")
    novelty: NoveltySettings = section(NoveltySettings)
    saving: SavingSettings = section(SavingSettings)
    link: WatchLink = section(WatchLink)
    show: TeachingSettings = section(TeachingSettings)
    windows: WindowSettings = section(UnlabelledWindows)
    out: OutSettings = section(OutSettings)

    def __post_init__(self) -> None:
        self.out.check(json=self.show.json)
        arguments.different([*self.out.files, *self.saving.files])
        if self.novelty.residual is not None and self.windows.window is not None:
            raise ValueError("--residual is of samples, and --window of raw signals: give one")
        others = self.novelty.residual is not None or self.windows.window is not None
        if self.novelty.clock is not None and others:
            raise ValueError("--clock is of samples: leave out --window and --residual")

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


def act(settings: Settings) -> int:
    """Learn and watch until enough samples came or a signal arrives. Returns the exit code."""
    (port,) = WatchSession(settings).serve()
    if port.error is not None:
        raise port.error
    return ALARMED if port.job.pupil.alarms else 0


class WatchSession(server.Session):
    """One port that is watched."""

    alarms = True

    def __init__(self, settings: Settings) -> None:
        super().__init__(
            [replace(settings.link, url=settings.port)],
            [settings.saving],
            settings.out,
            settings.show,
        )
        self._settings = settings
        self._job: Job | None = None
        self._link: Any = None

    def ports(
        self, links: list[Link], checkpoints: list[Checkpoint | None], signals: Signals
    ) -> list[Served]:
        settings, (link,), (checkpoint,), status = self._settings, links, checkpoints, self.status
        self._link = link
        model, source = _model(settings, link, checkpoint, signals, status)
        self._job = job = watched(
            link,
            model,
            answers=settings.link.answers or link.binary,
            journal=settings.out.journal(model),
            time_of_week=time_of_week if settings.novelty.clock == "host" else None,
            learn_s=settings.novelty.learn.seconds,
            learns=settings.novelty.then != "nothing",
            clock=self._seconds,
        )
        self._report = watch_report.Report(job, as_json=settings.show.json, when=self._when)
        status.say(self._report.opening(source) + out_settings.bytes_told(job.journal))
        saver = settings.saving.saver(checkpoint, model, status.say)
        port = Served(
            job,
            self._links[0],
            status,
            saver=saver,
            saving=settings.saving,
            after=self._news,
            view=self._view,
        )
        self._saver = saver
        return [port]

    def _seconds(self) -> float:
        """The time of a watch: this computer's or, of a file, that of the row at hand."""
        link = self._link
        return link.seconds(self._row) if isinstance(link, RowsLink) else time.monotonic()

    def _when(self) -> str:
        link = self._link
        return link.when(self._row) if isinstance(link, RowsLink) else watch_report.now()

    @property
    def _row(self) -> int:
        return 0 if self._job is None else max(self._job.taken - 1, 0)

    def _news(self) -> None:
        assert self._job is not None
        self._job.pupil.look(self._job)  # also while the port is gone
        tell = self.status.say if self._settings.out.takes_stdout else self.status.event
        for line in self._report.news():
            tell(line)
        for line in self._job.pupil.remarks.news():
            self.status.say(f"note: {line}")

    def _view(self) -> WatchView:
        from edgesvm.serve.page.view import WatchView

        assert self._job is not None
        return WatchView(self._job)

    def progress(self) -> str:
        return self._report.progress()

    def summary(self) -> dict[str, Any]:
        told = self._report.summary()
        told["counters"] |= self._saver.counters if self._saver else {}
        return told

    def words(self, summary: dict[str, Any]) -> Iterable[str]:
        return [watch_report.words(summary)]


def _model(
    settings: Settings,
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
    if isinstance(link, RowsLink):
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
        learner, fixed = novelty.new_learner(rows, kind), "max_vectors" in dict(novelty.set)
        if novelty.clock is None:
            return windows.chain(
                learner, n_inputs, novelty.memory, period_us=period_us, fixed=fixed
            )
        timed = Chain(windows=ClockFeatures(dtype=learner.dtype), learner=learner)
        return timed.fitted_into(novelty.memory, n_inputs, fixed=fixed)

    try:
        model = chain(novelty_settings.DEFAULT_KIND)
    except MemoryBudgetError as error:
        if novelty.learner or novelty.set:
            raise
        status.say(f"{error}; {novelty_settings.SMALLER_KIND} instead")
        model = chain(novelty_settings.SMALLER_KIND)
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
