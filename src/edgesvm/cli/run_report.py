"""What ``edgesvm run`` reports: a status line, a JSON line, and words."""

from __future__ import annotations

from typing import Any

from edgesvm.cli.status import percent
from edgesvm.runner import Runner


def progress(runner: Runner, seconds: float) -> str:
    """The status line."""
    c = runner.link.counters
    return (
        f"{runner.taken:,} samples  {runner.taken / max(seconds, 1e-9):,.0f}/s  "
        f"accuracy {percent(runner.score.rolling)}  {runner.learner.nbytes:,} B  "
        f"dropped {c['ring_dropped']:,}  missing {c['missing']:,}  bad {c['bytes_rejected']:,} B"
    )


def summary(runner: Runner, seconds: float) -> dict[str, Any]:
    """All of it, for a JSON line."""
    return {
        "learner": repr(runner.learner),
        "bytes_planned": runner.learner.plan(runner.learner.n_features_in_).total,
        "bytes_allocated": runner.learner.nbytes,
        "link_bytes": runner.link.nbytes,
        "seconds": round(seconds, 3),
        "n_updates": runner.learner.n_updates_,
        **runner.score.summary(),
        "counters": runner.counters(),
        "broken_identities": runner.check_identities(),
    }


def words(summary: dict[str, Any]) -> str:
    """`summary` for people."""
    c = summary["counters"]
    lines = [
        f"{c['taken']:,} samples in {summary['seconds']:.1f} s: {c['learned']:,} learned, "
        f"{c['unlabelled']:,} unlabelled, {c['refused_value'] + c['unknown_label']:,} refused",
        f"accuracy {percent(summary['accuracy'])}, "
        f"last {min(summary['window'], summary['predicted']):,} "
        f"{percent(summary['rolling_accuracy'])} "
        f"(saying the larger class: {percent(summary['majority'])})",
        f"link: {c['missing']:,} missing, {c['ring_dropped']:,} dropped, "
        f"{c['duplicate'] + c['too_old']:,} sent again, "
        f"{c['bytes_rejected']:,} bytes rejected, {c['disconnects']:,} disconnects",
    ]
    if n_late := c["waiting"] + c["expired"]:
        lines.append(
            f"{n_late:,} samples without their label in time: {c['expired']:,} came too late, "
            f"{c['waiting']:,} may yet come"
        )
    if c["over_rate"]:
        lines.append(f"{c['over_rate']:,} labels were over --max-labels-per-second")
    if c["unknown_label"]:
        lines.append(
            f"{c['unknown_label']:,} samples had a label more than the learner has classes:"
            " --classes K makes room for K"
        )
    return "\n".join(lines)
