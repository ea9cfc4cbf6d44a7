"""``edgesvm run``: learn from sensors on ports and send predictions back."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from edgesvm.budget import format_bytes, parse_bytes
from edgesvm.cli import arguments, out_settings, reports, server
from edgesvm.cli.learner_settings import (
    DriftSettings,
    LearnerOfAll,
    LearnerSettings,
    check_labels,
    season_of_day,
)
from edgesvm.cli.link_settings import PORT, LearningLink
from edgesvm.cli.options import argument, option, section, spoken
from edgesvm.cli.out_settings import OutSettings
from edgesvm.cli.saved_model import SavingSettings
from edgesvm.cli.server import Served
from edgesvm.cli.show_settings import TeachingSettings
from edgesvm.cli.window_settings import WindowSettings
from edgesvm.errors import SchemaChanged
from edgesvm.learner import Learner, learner_in
from edgesvm.link.link import Link
from edgesvm.serve.job import Job
from edgesvm.serve.outputs.sink import port_name
from edgesvm.serve.process import Signals
from edgesvm.serve.taught import taught

if TYPE_CHECKING:
    from edgesvm.persist.checkpoint import Checkpoint
    from edgesvm.preprocessing.chain import Chain
    from edgesvm.serve.page.view import RunView
    from edgesvm.serve.teaching import Before

HELP = """\
Learn from the sensor on PORT: predict each sample, learn it, send the answer.

  edgesvm run /dev/ttyACM0 --save m.esvm           frames, or lines of numbers, the label last
  edgesvm run /dev/ttyACM0 --save m.esvm --label wave    all that comes is "wave", until Ctrl-C
  edgesvm run socket://10.0.0.7:4000 --memory 64KiB --learner kernel-stream
  edgesvm run /dev/ttyACM0 --window 256 --rate 1000 --bands 10-50,50-200
  edgesvm run /dev/ttyUSB0 /dev/ttyUSB1 --save '{port}.esvm'      a learner each

The model is saved at the end, on Ctrl-C, SIGTERM and SIGHUP. A port that fails
is opened again after 0.1 to 5 s. More is in docs/command-line.md.
"""


@dataclass(frozen=True, kw_only=True)
class RunLink(LearningLink):
    """What is special to several ports, and to learning from them."""

    answers: bool = option(False, "send predictions back on a text link too")
    max_labels_per_second: float | None = option(
        None, "learn at most so many", unit="N", check=arguments.rate
    )
    other_width: str = option(
        "stop",
        "on another number of features: stop, or restart",
        unit="WHAT",
        choices=("stop", "restart"),
    )
    one_model: bool = option(False, "several ports teach one learner, not one each")


@dataclass(frozen=True)
class PortSettings:
    """What is special to a port: its name, its link, its files, its share of the memory."""

    name: str
    link: RunLink
    learner: LearnerSettings
    saving: SavingSettings


@dataclass(frozen=True, kw_only=True)
class Settings:
    port: tuple[str, ...] = argument(PORT, unit="PORT", repeat=True)
    saving: SavingSettings = section(SavingSettings)
    learner: LearnerSettings = section(LearnerOfAll)
    link: RunLink = section(RunLink)
    show: TeachingSettings = section(TeachingSettings)
    windows: WindowSettings = section(WindowSettings)
    drift: DriftSettings = section(DriftSettings)
    out: OutSettings = section(OutSettings)

    def __post_init__(self) -> None:
        names = [port_name(port) for port in self.port]
        if len(set(names)) < len(names):
            raise ValueError(f"two ports have one name: {', '.join(names)}")
        if len(names) > 1 and self.link.other_width == "restart":
            raise ValueError("--other-width restart is for one port: the others could not go on")
        if self.link.one_model and self.windows.window:
            raise ValueError(
                "--one-model with --window: a window is of one port; give one learner each"
            )
        self.learner.check_alone(window=self.windows.window, drift=self.drift.drift)
        self.out.check(json=self.show.json)
        files = (file for port in self.owners for file in port.saving.files)
        arguments.different([*self.out.files, *files])
        first = self.ports[0]
        loads = not first.saving.fresh and any(map(os.path.exists, first.saving.models))
        if first.learner.learner is not None or not loads:
            first.learner.of_two()  # checks the parameters

    @functools.cached_property
    def ports(self) -> tuple[PortSettings, ...]:
        n = 1 if self.link.one_model else len(self.port)
        memory = self.learner.memory
        learner = self.learner if n == 1 else replace(self.learner, memory=parse_bytes(memory) // n)
        return tuple(
            PortSettings(
                port_name(url),
                replace(self.link, url=url, regress=learner.regress),
                learner,
                self.saving.of_port(port_name(url), several=n > 1, one_model=self.link.one_model),
            )
            for url in self.port
        )

    @property
    def owners(self) -> tuple[PortSettings, ...]:
        """The ports that have a learner of their own."""
        return self.ports[:1] if self.link.one_model else self.ports


def act(settings: Settings) -> int:
    while True:
        try:
            return run(settings)
        except SchemaChanged as changed:
            if settings.link.other_width != "restart":
                raise
            for port in settings.ports:
                port.saving.set_aside()
            with contextlib.suppress(OSError):
                print(f"edgesvm: {changed}; starting over with a new model", file=sys.stderr)


def run(settings: Settings) -> int:
    """Serve the ports until each has ended or a signal arrives. Returns the exit code."""
    return RunSession(settings).serve()


class RunSession(server.Session):
    """Ports that teach a learner each, or all one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        super().__init__(
            [one.link for one in settings.ports],
            settings.show,
            savings=[one.saving for one in settings.owners],
            out=settings.out,
        )
        self._before: dict[int, Before] = {}

    def ports(
        self, links: list[Link], checkpoints: list[Checkpoint | None], signals: Signals
    ) -> list[Served]:
        settings, say = self._settings, self.status.say
        if settings.link.one_model:
            _check_alike(links)
        introductions: list[str] = []
        ports: list[Served] = []
        learned: tuple[Any, ...] = ()
        for one, link in zip(settings.ports, links, strict=True):
            if one in settings.owners:
                checkpoint = checkpoints[len(ports)]
                model, source = model_for(settings, one, link, checkpoint)
                introductions.append(_introduction(model, source))
                saver = one.saving.saver(checkpoint, model, self.status.warn)
                drift = settings.drift.watch(learner_in(model), say, saver)
                learned = model, saver, drift, one.saving
            model, saver, drift, saving = learned
            options = {
                "answers": settings.link.answers or link.binary,
                "word": settings.link.word,
                "journal": settings.out.journal(model),
                "max_labels_per_second": settings.link.max_labels_per_second,
                "season": 0 if link.schema is None else season_of_day(link.schema.nominal_us),
            }
            job = taught(link, model, drift=drift, **options | self.options(link))
            ports.append(
                Served(
                    job,
                    one.link,
                    self.status,
                    saver=saver,
                    saving=saving if one in settings.owners else None,
                    after=self.news(job),
                    view=functools.partial(self._view, job),
                )
            )
        self.introduce(introductions, ports)
        return ports

    def options(self, link: Any) -> dict[str, Any]:
        """What else `taught` is told of a link."""
        return {}

    def introduce(self, introductions: Sequence[str], ports: Sequence[Served]) -> None:
        """Say what learns, in how many bytes."""
        settings, say, many = self._settings, self.status.say, len(ports) > 1
        for one, told in zip(settings.ports, introductions, strict=False):
            memory = format_bytes(parse_bytes(one.learner.memory))
            name = "all ports" if settings.link.one_model else one.name
            share = f"; may have {memory} of {settings.learner.memory}" if many else ""
            say(f"{name}: {told}{share}" if many else told)
        sizes = "; ".join(f"link {one.name} {format_bytes(one.link.nbytes)}" for one in ports)
        n_features = ports[0].job.model.n_features_in_
        kept = out_settings.bytes_told(*(one.job.journal for one in ports))
        say(f"{n_features} features per sample; {sizes}{kept}")

    def _view(self, job: Job) -> RunView:
        from edgesvm.serve.page.view import RunView
        from edgesvm.serve.teaching import Before, Teaching

        learner = job.pupil.learner
        before = self._before.setdefault(id(learner), Before(learner))
        return RunView(job, Teaching(job, before))

    def news(self, job: Job) -> Callable[[], None]:
        """What is said after each step of a port."""
        say, pupil = self.status.say, job.pupil
        tell_samples = server.samples_told(job.link, say)
        where = f"{job.link.name}: " if len(self._settings.ports) > 1 else ""
        checked = doubted = False

        def after() -> None:
            nonlocal checked, doubted
            tell_samples()
            checked = checked or (pupil.learned > 0 and check_labels(pupil.learner))
            if not doubted and (doubt := job.link.doubt()):
                doubted = True
                say(f"note: {spoken(RunLink, doubt)}")
            for line in pupil.remarks.news():
                say(f"{where}note: {line}")

        return after

    def progress(self) -> str:
        seconds, ports = max(self.seconds, 1e-9), self.served
        if len(ports) == 1:
            return reports.progress(ports[0].job, seconds)
        told = [f"{sum(port.job.taken for port in ports) / seconds:,.0f}/s"]
        for port in ports:
            state = " gone" if port.away else " ended" if port.ended else ""
            score = reports.brief(port.job.pupil.score, alone=True)
            told.append(f"{port.link.name}{state} {port.job.taken:,} samples, {score}")
        return "  ".join(told)

    def summary(self) -> dict[str, Any]:
        """Of the port, or of each by its URL."""
        told = {}
        for port in self.served:
            one = reports.of_taught(port.job, self.seconds)
            one["counters"] |= port.saver.counters if port.saver else {}
            told[port.link.name] = one
        if len(told) == 1:
            return one
        for port in self.served:
            told[port.link.name]["error"] = None if port.error is None else str(port.error)
        broken = [f"{name}: {line}" for name, s in told.items() for line in s["broken_identities"]]
        return {"ports": told, "broken_identities": broken}

    def words(self, summary: dict[str, Any]) -> list[str]:
        told = []
        for name, one in summary.get("ports", {"": summary}).items():
            told += [f"{name}:"] * bool(name)
            told += [*reports.words(one), reports.link(one["counters"])]
        return told + reports.closing(summary)


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
    settings: Settings, port: PortSettings, link: Link, checkpoint: Checkpoint | None
) -> tuple[Learner | Chain, str | None]:
    """The saved model and its file, or a new one for this link's samples and None."""
    assert link.schema is not None  # open
    n_features, memory = link.schema.n_features, port.learner.memory

    def contradicted(model: Learner | Chain, learner: Learner) -> list[tuple[str, str]]:
        return settings.windows.contradicted(model) + port.learner.contradicted(learner)

    model, source = port.saving.loaded(checkpoint, memory, n_features, contradicted)
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
    return model, source
