"""``edgesvm demo``: a tour from planning to report on a simulated sensor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgesvm import load
from edgesvm.budget import format_bytes
from edgesvm.cli import arguments, plan, reports, simulate
from edgesvm.cli.learner_settings import LearnerSettings
from edgesvm.cli.options import option, section
from edgesvm.cli.saved_model import SavingSettings
from edgesvm.serve import remarks
from edgesvm.serve.score import Prequential
from firmware_sim.harness import Report
from firmware_sim.harness import simulate as run_simulation
from firmware_sim.limits.profiles import Profile, profile
from firmware_sim.line import Line, PtyLink
from firmware_sim.node import FrameNode, Node, RotatingMachine
from firmware_sim.options import NodeStatus

HELP = """\
A tour in half a minute. A simulated rotating machine, whose bearing fails now and then, sends
samples over a pseudo-terminal at the speed of a 115200 baud serial line. At the other end
`edgesvm run` teaches a 16 KiB learner, in a process limited like a Pi Zero. Shows the plan, a
status line, a report and, if matplotlib is installed, a picture.
"""
UNLABELLED = 2_000  # samples that the saved model predicts once labels have stopped


@dataclass(frozen=True, kw_only=True)
class Settings:
    samples: int = option(6000, "number of samples, 230 a second", unit="N", check=arguments.count)
    seed: int = option(1, "random seed of the simulated machine", unit="SEED", check=arguments.seed)
    out: str = option("demo-out", "folder for the picture and the snapshot", unit="FOLDER")
    learner: LearnerSettings = section(LearnerSettings)

    @property
    def folder(self) -> Path:
        return Path(self.out)

    @property
    def model(self) -> str:
        return str(self.folder / "model.esvm")


def act(settings: Settings) -> int:
    device = profile("pi-zero")
    machine = RotatingMachine(settings.seed)
    settings.folder.mkdir(parents=True, exist_ok=True)
    memory = settings.learner.memory
    print(f"1. Learners that fit in {memory}\n")
    plan.table(LearnerSettings(memory=memory), machine.n_features)
    print(
        f"\n2. {settings.samples:,} samples at {device.baud} baud,"
        f" in a process limited like a {device.name}\n",
        flush=True,
    )
    watch = _Watch()
    report = _run(settings, machine, device, watch)
    failed = simulate.exit_code(report)
    if failed:
        return failed
    print(_report(report, settings, machine))
    print(_picture(watch, settings))
    return 0


def _run(settings: Settings, machine: RotatingMachine, device: Profile, watch: _Watch) -> Report:
    Path(settings.model).unlink(missing_ok=True)  # each demo starts with a new learner
    link = PtyLink()
    try:
        node = FrameNode(machine, samples=settings.samples, tx_bytes=device.tx_bytes)
        report = run_simulation(
            simulate.edge_command(settings.learner, SavingSettings(save=settings.model)),
            node,
            Line(link, baud=device.baud),
            profile=device,
            timeout_s=300.0,
            on_progress=watch,
        )
    finally:
        link.close()
        watch.end()
    return report


class _Watch(NodeStatus):
    """The status line, and the curve of the picture."""

    def __init__(self) -> None:
        super().__init__()
        self.accuracy: list[tuple[float | None, ...]] = []

    def __call__(self, node: Node, line: Line) -> None:
        super().__call__(node, line)
        score = node.scorer.score
        if score.n:
            self.accuracy.append((node.scorer.received, score.rolling, *score.rolling_baselines))


def _without_labels(settings: Settings, machine: RotatingMachine) -> dict[str, Any]:
    """Score of the saved model on the machine's next samples, none of which it learns."""
    model, score = load(settings.model), Prequential()
    X, y = machine.read(UNLABELLED)
    for x, label in zip(X, y.tolist(), strict=True):
        score.add(label, model.predict_one(x))
    return score.summary() | {"remarks": remarks.lines(score=score, labels_stop=True)}


def _report(report: Report, settings: Settings, machine: RotatingMachine) -> str:
    edge: dict[str, Any] = report.edge
    frozen = _without_labels(settings, machine)
    return "\n".join(
        [
            "3. Report\n",
            report.text(),
            *reports.words(edge),
            f"no labels the saved model on the next {UNLABELLED:,} samples, none of them learned: "
            f"{reports.scored(frozen)}",
            *(f"          {line}" for line in reports.remarks(frozen)),
            f"bytes     planned {edge['bytes_planned']:,} = allocated {edge['bytes_allocated']:,} "
            f"of {settings.learner.memory}; link {format_bytes(edge['link_bytes'])}",
            f"snapshot  {settings.model}: edgesvm inspect {settings.model}",
        ]
    )


def _picture(watch: _Watch, settings: Settings) -> str:
    try:
        from edgesvm.cli import figures
    except RuntimeError as why:
        return f"picture   not drawn: {why}"
    path = str(settings.folder / "demo.png")
    n_samples = watch.accuracy[-1][0] if watch.accuracy else 0
    title = f"Rotating machine, {settings.learner.memory} learner, {n_samples:,} samples"
    figures.accuracy(watch.accuracy, path, title=title)
    return f"picture   {path}"
