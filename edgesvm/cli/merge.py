"""``edgesvm merge``: one model of those that several gateways learned."""

from __future__ import annotations

from dataclasses import dataclass

from edgesvm.budget import MemoryBudgetError, format_bytes
from edgesvm.cli import arguments, reports, saved_model
from edgesvm.cli.options import AS_JSON, argument, option, required
from edgesvm.cli.saved_model import read_learner
from edgesvm.fleet import merged
from edgesvm.learner import Learner
from edgesvm.serve.process import StatusLine

HELP = """\
Merge snapshots or checkpoints that learned apart into one model. They must have equal parameters
and features, and labels for which there is room; a file that differs is named, and nothing is
written (exit code 2). They are merged in the order given: the same files give the same bytes.

  edgesvm merge north.esvm south.esvm -o fleet.esvm
  edgesvm merge gateways/*.esvm -o fleet.esvm --budget 64KiB

Exact for StreamSVM (the ball around both), AdaGradSVM and FourierSVM of one seed (the mean of their
decision values). Kernel machines are solved anew on the union of their vectors, an approximation.
"""


@dataclass(frozen=True, kw_only=True)
class Settings:
    models: tuple[str, ...] = argument("a snapshot or a checkpoint", unit="MODEL", repeat=True)
    out: str = required("snapshot to write", unit="FILE", short="-o", check=arguments.new_file)
    budget: str | None = option(
        None,
        "bytes of the merged model: 65536, 64KiB. A kernel machine (twin, batch, core-vector, "
        "ball-vector) gets as many vectors as fit, be it fewer than each of the models has or "
        "more; other learners keep their size and are refused if they take more",
        unit="BYTES",
    )
    json: bool = option(False, AS_JSON)

    def __post_init__(self) -> None:
        if len(self.models) < 2:
            raise ValueError("give at least two models to merge")


def act(settings: Settings) -> int:
    with saved_model.claimed(settings.out):
        status = StatusLine(quiet=settings.json)
        try:
            learners = []
            for path in settings.models:
                learners.append(read_learner(path))
                status.show(lambda: f"read {len(learners):,} of {len(settings.models):,} models")
            learner = _merged(settings, learners, status)
        finally:
            status.end()
        if len({one._columns for one in learners}) == 1:
            learner.name_features(learners[0]._columns)
        learner.save(settings.out)
    seen = [one.n_seen_ for one in learners]
    report = {
        "learner": repr(learner),
        "merged": dict(zip(settings.models, seen, strict=True)),
        "n_seen": learner.n_seen_,
        "labels": [str(label) for label in learner.classes_],
        "bytes": learner.nbytes,
        "out": settings.out,
    }
    reports.show(report, as_json=settings.json)
    return 0


def _merged(settings: Settings, learners: list[Learner], status: StatusLine) -> Learner:
    try:
        return merged(
            learners,
            settings.models,
            budget=settings.budget,
            progress=lambda n, of: status.show(lambda: f"{n:,} of {of:,} merges"),
        )
    except MemoryBudgetError as error:
        raise MemoryBudgetError(
            f"--budget {settings.budget}: the merged model needs {format_bytes(error.required)};"
            " give that many bytes, or let the gateways learn with less --memory",
            error.required,
            error.available,
        ) from error
