"""``edgesvm merge``: one model of those that several gateways learned."""

from __future__ import annotations

import json
from dataclasses import dataclass

from edgesvm.budget import MemoryBudgetError, format_bytes
from edgesvm.cli import arguments, saved_model
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
                learners.append(_read(path))
                status.show(lambda: f"read {len(learners):,} of {len(settings.models):,} models")
            learner = _merged(settings, learners, status)
        finally:
            status.end()
        if len({one._columns for one in learners}) == 1:
            learner.name_features(learners[0]._columns)
        learner.save(settings.out)
    _report(settings, learners, learner)
    return 0


def _read(path: str) -> Learner:
    learner = read_learner(path)
    if learner is None:
        raise ValueError(f"{path}: nothing was saved in it yet")
    return learner


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


def _report(settings: Settings, learners: list[Learner], learner: Learner) -> None:
    seen = [one.n_seen_ for one in learners]
    if settings.json:
        report = {
            "learner": repr(learner),
            "merged": dict(zip(settings.models, seen, strict=True)),
            "n_seen": learner.n_seen_,
            "bytes": learner.nbytes,
            "out": settings.out,
        }
        print(json.dumps(report))
        return
    print(f"{learner!r}, {learner.n_features_in_} features")
    width = max(len(path) for path in settings.models)
    for path, n in zip(settings.models[:20], seen, strict=False):
        print(f"  {path:<{width}}  {n:>12,} samples")
    if len(seen) > 20:
        print(f"  and {len(seen) - 20:,} more")
    labels = ", ".join(str(label) for label in learner.classes_)
    print(
        f"{len(seen):,} models of {sum(seen):,} samples merged; labels {labels}; "
        f"{format_bytes(learner.nbytes)} of state"
    )
    print(f"saved to {settings.out}")
