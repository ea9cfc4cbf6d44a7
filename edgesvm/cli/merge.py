"""``edgesvm merge``: one model of those that several gateways learned."""

from __future__ import annotations

from dataclasses import dataclass

from edgesvm.cli import arguments, reports, saved_model
from edgesvm.cli.options import AS_JSON, argument, option, required
from edgesvm.cli.saved_model import read_learner
from edgesvm.fleet import merged
from edgesvm.serve.process import StatusLine

HELP = """\
Merge snapshots or checkpoints that learned apart into one model. They must have equal parameters
and features, and labels for which there is room; a file that differs is named, and nothing is
written (exit code 2). They are merged in the order given: the same files give the same bytes.

  edgesvm merge north.esvm south.esvm -o fleet.esvm
  edgesvm merge gateways/*.esvm -o fleet.esvm

Exact for StreamSVM (the ball around both), AdaGradSVM and FourierSVM of one seed (the mean of their
decision values). Others cannot be merged.
"""


@dataclass(frozen=True, kw_only=True)
class Settings:
    models: tuple[str, ...] = argument("a snapshot or a checkpoint", unit="MODEL", repeat=True)
    out: str = required("snapshot to write", unit="FILE", short="-o", check=arguments.new_file)
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
            learner = merged(
                learners,
                settings.models,
                progress=lambda n, of: status.show(lambda: f"{n:,} of {of:,} merges"),
            )
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
