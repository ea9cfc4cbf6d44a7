"""``edgesvm watch``: learn what is normal from a sensor without labels, then raise alarms."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from edgesvm.budget import MemoryBudgetError, format_bytes
from edgesvm.cli import arguments, novelty_settings, out_settings, reports, server
from edgesvm.cli.back_test import BackTest, Span, clock
from edgesvm.cli.link_settings import PORT, RING, ColumnSettings, UnlabelledLink, column
from edgesvm.cli.novelty_settings import NoveltySettings
from edgesvm.cli.options import argument, option, section
from edgesvm.cli.out_settings import OutSettings
from edgesvm.cli.saved_model import SavingSettings
from edgesvm.cli.server import Served
from edgesvm.cli.show_settings import TeachingSettings
from edgesvm.cli.window_settings import UnlabelledWindows, WindowSettings
from edgesvm.learners.novelty.novelty import NoveltyLearner, by_chance
from edgesvm.link.files import RowsLink
from edgesvm.link.link import Link
from edgesvm.persist.checkpoint import Checkpoint
from edgesvm.preprocessing.chain import Chain
from edgesvm.preprocessing.clock_features import ClockFeatures
from edgesvm.preprocessing.virtual_sensor import VirtualSensor
from edgesvm.serve.job import Job
from edgesvm.serve.process import Signals, StatusLine
from edgesvm.serve.watch import Episode, watched

if TYPE_CHECKING:
    from edgesvm.serve.page.view import WatchView

HELP = """\
Learn what is normal from the sensor on PORT, without labels. Then watch it: a line for each alarm
says when, how strange, and which features stand out.

  edgesvm watch /dev/ttyUSB0 --learn 5m --alarm-rate 1/day
  edgesvm watch /dev/ttyACM0 --window 256 --rate 1000 --bands 10-50,50-200   raw signals
  edgesvm watch /dev/ttyUSB0 --checkpoint pump.ckpt     goes on after a restart, without learning
  edgesvm watch /dev/ttyUSB0 --json >alarms.jsonl       a JSON line for each alarm
  edgesvm watch pump.csv --residual flow                a channel against what the others say of it
  edgesvm watch /dev/ttyUSB0 --clock --learn 21d        what is usual at this hour of the week
  edgesvm watch pump.csv --label anomaly --plot a.png   a back-test: faults found, false alarms

Let the machine run well while it learns, in all its states: what it does then is normal. Then
it follows slow changes, and holds apart what is strange (--then says otherwise). The node is told
too: the answer to each sample or window has flag 8 while an alarm is on, enough to light a LED.

Exit code: 0 without an alarm, 3 if there was one, 1 for a failure, 2 for wrong use.
"""
ALARMED = 3
MEASURED_S = 3.0
BAR = 20  # characters


@dataclass(frozen=True, kw_only=True)
class WatchLink(UnlabelledLink):
    """Its node is told too."""

    ring: int = option(256, RING, unit="ROWS", check=arguments.count)
    answers: bool = option(False, "tell the node on a text link too")
    columns: ColumnSettings = section(ColumnSettings, hidden=True)
    label: str | int = option(
        "none",
        "a column that is not learned; that of a file tells the faults, for a back-test",
        unit="COLUMN",
        check=column,
    )


@dataclass(frozen=True, kw_only=True)
class Settings:
    port: str = argument(PORT, unit="PORT")
    plot: str | None = option(
        None, "draw the back-test (needs matplotlib)", unit="PNG", check=arguments.new_file
    )
    novelty: NoveltySettings = section(NoveltySettings)
    saving: SavingSettings = section(SavingSettings)
    link: WatchLink = section(WatchLink)
    show: TeachingSettings = section(TeachingSettings)
    windows: WindowSettings = section(UnlabelledWindows)
    out: OutSettings = section(OutSettings)

    def __post_init__(self) -> None:
        self.out.check(json=self.show.json)
        if self.plot and self.link.label == "none":
            raise ValueError("--plot draws a back-test: give --label COLUMN of a file")
        arguments.different([*self.out.files, *self.saving.files])
        if self.novelty.residual is not None and self.windows.window is not None:
            raise ValueError("--residual is of samples, and --window of raw signals: give one")
        others = self.novelty.residual is not None or self.windows.window is not None
        if self.novelty.clock is not None and others:
            raise ValueError("--clock is of samples: leave out --window and --residual")

    def contradicted(self, model: Any, names: Sequence[str]) -> list[tuple[str, str]]:
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
        same = model.target % n == self.novelty.channel(names, n)
        return found if same else [*found, (f"--residual {model.target}", f"--residual {asked}")]


def act(settings: Settings) -> int:
    """Learn and watch until enough samples came or a signal arrives. Returns the exit code."""
    if settings.plot:
        from edgesvm.cli import figures  # noqa: F401  (reports a missing matplotlib right away)
    session = WatchSession(settings)
    return session.serve() or (ALARMED if session.port.job.pupil.alarms else 0)


class WatchSession(server.Session):
    """One port that is watched: a line for each thing that happens."""

    alarms = True

    def __init__(self, settings: Settings) -> None:
        self._settings, self._as_json = settings, settings.show.json
        links = [replace(settings.link, url=settings.port)]
        super().__init__(links, settings.show, savings=[settings.saving], out=settings.out)
        self._told = 0  # alarms
        self._back_test: BackTest | None = None
        if settings.link.label != "none" and links[0].is_file:
            late = 5 * settings.windows.rows_apart + (settings.windows.window or 0)
            rows: Any = replace(links[0], quiet=True).open()
            with rows:
                self._back_test = BackTest(rows, late)

    def ports(
        self, links: list[Link], checkpoints: list[Checkpoint | None], signals: Signals
    ) -> list[Served]:
        settings, (link,), (checkpoint,), say = self._settings, links, checkpoints, self.status.say
        model, source = _model(settings, link, checkpoint, signals, self.status)
        self._link: Any = link
        self._job: Job | None = None
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
        w = self._pupil = job.pupil
        self._row = "window" if w.of_windows else "sample"
        self._was_watching = w.watching
        origin = (
            f", loaded from {source} after {w.learner.n_seen_:,} {self._row}s" if source else ""
        )
        say(
            f"{model!r}{origin}: {format_bytes(model.nbytes)}; {len(w.names)} features per "
            f"{self._row}; link {format_bytes(link.nbytes)}{out_settings.bytes_told(job.journal)}"
        )
        saver = settings.saving.saver(checkpoint, model, self.status.warn)
        port = Served(
            job,
            self._links[0],
            self.status,
            saver=saver,
            saving=settings.saving,
            after=self._tell_news,
            view=self._view,
        )
        return [port]

    def _seconds(self) -> float:
        """The time of a watch: this computer's or, of a file, that of the row at hand."""
        return self._link.seconds(self._at) if self._is_file else time.monotonic()

    def _when(self) -> str:
        return self._link.when(self._at) if self._is_file else time.strftime("%Y-%m-%d %H:%M:%S")

    @property
    def _is_file(self) -> bool:
        return isinstance(self._link, RowsLink)

    @property
    def _at(self) -> int:
        """The number of the row at hand, from 0."""
        return 0 if self._job is None else max(self._job.taken - 1, 0)

    def _tell_news(self) -> None:
        self._pupil.look(self._job)  # also while the port is gone
        tell = self.status.say if self._settings.out.takes_stdout else self.status.event
        for line in self.news():
            tell(line)
        for line in self._pupil.remarks.news():
            self.status.say(f"note: {line}")

    def _view(self) -> WatchView:
        from edgesvm.serve.page.view import WatchView

        assert self._job is not None
        return WatchView(self._job)

    def news(self) -> list[str]:
        """A line for each thing that has happened since the last call."""
        w, found = self._pupil, []
        test = self._back_test
        if (ended := w.take_ended()) is not None:
            if test is not None:
                test.alarms[ended.number - 1].end = self._at
            found.append(self._over(ended))
        if w.episode is not None and w.episode.number > self._told:
            self._told = w.episode.number
            if test is not None:
                test.begin(self._at, clock(self._link, self._at))
            found.append(self._alarm(w.episode))
        if w.watching and not self._was_watching:
            if test is not None:
                test.watching = Span(self._at, self._at, clock(self._link, self._at))
            event = {"event": "watching", "learned": w.learned, "threshold": -w.learner.offset_}
            learned = f"watching: learned from {w.learner.n_updates_:,} {self._row}s"
            found.append((event, f"{learned}, threshold {-w.learner.offset_:.3g}"))
        self._was_watching = w.watching
        if self._as_json:
            return [json.dumps({"time": self._when(), **event}) for event, _ in found]
        return [f"{self._when()}  {text}" for _, text in found]

    def _alarm(self, e: Episode) -> tuple[dict[str, Any], str]:
        w, quiet = self._pupil, self._pupil.link.freshness.quiet
        shares = e.standing_out(w.names)
        event: dict[str, Any] = {"event": "alarm", "alarm": e.number, "kind": e.kind}
        event |= {self._row: e.row, "sequence": e.sequence}
        event |= {"score": e.score, "threshold": e.threshold, "features": shares}
        event |= {"seconds": round(quiet, 3)} if e.kind == "stale" else {}
        features = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
        what = {
            "strange": f"score {e.score:.3g}, threshold {e.threshold:.3g}: {features}",
            "stuck": f"STUCK, and not judged: {', '.join(shares)}",
            "lost": f"LOST: strange for 250 {self._row}s, which are held apart: only what is "
            f"strange beside them is an alarm; most of all {features}",
            "stale": f"NO DATA: {w.link.name} has sent no sample for {quiet:,.0f} s",
        }
        where = f"{self._row} {e.row:,}, number {e.sequence:,}"
        return event, f"ALARM {e.number}  {where}  {what[e.kind]}"

    def _over(self, e: Episode) -> tuple[dict[str, Any], str]:
        assert e.ended is not None
        seconds = e.ended - e.began
        event = {"event": "over", "alarm": e.number, "kind": e.kind, "seconds": round(seconds, 3)}
        lasted = f" after {seconds:,.1f} s" if seconds else ""
        rest = "samples come again" if e.kind == "stale" else f"highest score {e.highest:.3g}"
        return event | {"highest": e.highest}, f"alarm {e.number} is over{lasted}, {rest}"

    def save(self) -> None:
        super().save()
        if self._settings.plot and self._back_test is not None:
            self._back_test.draw(self._settings.plot, self._link.feature_names or "012")
            self.status.say(f"drawn in {self._settings.plot}")

    def progress(self) -> str:
        """The status line."""
        w, c = self._pupil, self._pupil.link.counters
        link = f"missing {c['missing']:,}  bad {c['bytes_rejected']:,} B  stopped {c['stale']:,}"
        rows = f"{w.rows:,} {self._row}s"
        if not w.watching:
            return f"learning  {self._learning()}  {rows}  {link}"
        on = " (on)" if w.episode is not None else ""
        return (
            f"watching  {rows}  score {w.score:.3g} of {-w.learner.offset_:.3g}  "
            f"strange {w.strange:,}  alarms {w.alarms:,}{on}  {link}"
        )

    def _learning(self) -> str:
        w = self._pupil
        if (left := w.learning_left) is not None:
            assert w.learn_s is not None
            so_far = w.learn_s - left
            done, text = so_far / w.learn_s, f"{_minutes(so_far)} of {_minutes(w.learn_s)}"
        else:
            done = w.learner.n_updates_ / w.learner.warm_up
            text = f"{w.learner.n_updates_:,} of {w.learner.warm_up:,}"
        full = min(int(done * BAR), BAR)
        return f"[{'#' * full}{'.' * (BAR - full)}] {text}"

    def summary(self) -> dict[str, Any]:
        w, port = self._pupil, self.port
        expected = w.learner.alarm_rate * w.watched
        told = {
            "event": "end",
            **reports.of_job(port.job, self.seconds),
            "watching": w.watching,
            "threshold": -w.learner.offset_ if w.learner.is_fitted else None,
            "alarms": w.alarms,
            "alarms_asked": expected,
            "alarms_by_chance": list(by_chance(expected)),
        }
        told["counters"] |= port.saver.counters if port.saver else {}
        if self._back_test is not None:
            told["back_test"] = self._back_test.summary(w.learner.alarm_rate)
        return told

    def words(self, summary: dict[str, Any]) -> list[str]:
        c, lines = summary["counters"], []
        if not summary["watching"]:
            lines.append("still learning: nothing was watched")
        windows = f", {c['windows_dropped']:,} windows dropped at gaps" if "gaps" in c else ""
        lines.append(
            f"{c['taken']:,} samples in {summary['seconds']:.1f} s: {c['learned']:,} learned, "
            f"{c['strange']:,} strange, {c['stuck']:,} stuck, {c['alarms']:,} alarms{windows}"
        )
        if c["watched"]:
            least, most = summary["alarms_by_chance"]
            lines.append(
                f"{c['watched']:,} watched: {c['alarms'] - c['stale']:,} alarms, "
                f"{summary['alarms_asked']:.2g} asked for; by chance {least:,} to {most:,}"
            )
        lines.append(reports.link(c))
        if c["refused_value"]:
            lines.append(f"{c['refused_value']:,} samples refused: a value is too large")
        if self._back_test is not None:
            asked = self._settings.novelty.alarm_rate
            lines += self._back_test.words(summary["back_test"], asked)
        return [*lines, *reports.remarks(summary), *reports.closing(summary)]


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
        n_inputs,
        lambda model, learner: settings.contradicted(model, link.feature_names),
        labels=False,
    )
    if model is not None:
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
        rate = _measured_rate(link, settings.link.ring, signals)
        status.say(f"{rate:.3g} samples a second")
    rows = None if rate is None else rate / windows.rows_apart
    if novelty.residual is not None:
        target = novelty.channel(link.feature_names, n_inputs)
        sensor = VirtualSensor(target=target, learner=novelty.new_learner(rows))
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


def _measured_rate(link: Link, ring: int, signals: Signals) -> float:
    """Samples a second, from those of a few seconds, or that fill the ring, where they stay."""
    began = first = last = now = time.monotonic()
    n = waited = 0  # samples, and of these the first that were read
    while not signals.stopping and n < ring and (n == waited or now - first < MEASURED_S):
        came, now = link.poll(0.1), time.monotonic()
        if n == 0:
            first, waited = now, came
        n, last = came, now if came > n else last
    since, n = (first, n - waited) if n > waited else (began, n)  # they filled the ring at once
    return n / max(last - since, 1e-3) if n else 1.0


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
