"""Reports of ``edgesvm run``: a status line, a JSON line and text."""

from __future__ import annotations

from typing import Any

from edgesvm.cli import score_words
from edgesvm.cli.status import lost_lines
from edgesvm.evaluation import percent
from edgesvm.runner import Runner


def progress(runner: Runner, seconds: float) -> str:
    """The status line."""
    c = runner.link.counters
    return (
        f"{runner.taken:,} samples  {runner.taken / max(seconds, 1e-9):,.0f}/s  "
        f"accuracy {percent(runner.score.rolling)} (larger class "
        f"{percent(runner.score.majority)}, label before {percent(runner.score.label_before)})  "
        f"{runner.learner.nbytes:,} B  "
        f"dropped {c['ring_dropped']:,}  missing {c['missing']:,}  bad {c['bytes_rejected']:,} B  "
        f"disconnects {c['disconnects']:,}  silent {c['silent']:,}"
        f"{score_words.drifts(runner.drift)}"
    )


def summary(runner: Runner, seconds: float) -> dict[str, Any]:
    """All results, for a JSON line."""
    return {
        "learner": repr(runner.learner),
        "bytes_planned": runner.learner.plan(runner.learner.n_features_in_).total,
        "bytes_allocated": runner.learner.nbytes,
        "link_bytes": runner.link.nbytes,
        "seconds": round(seconds, 3),
        "n_updates": runner.learner.n_updates_,
        **score_words.given_up(runner.learner),
        **runner.score.summary(),
        **runner.probability_summary(),
        **({} if runner.drift is None else {"drift": runner.drift.summary()}),
        "counters": runner.counters(),
        "broken_identities": runner.check_identities(),
    }


def words(summary: dict[str, Any]) -> str:
    """`summary` as text."""
    c = summary["counters"]
    lines = [
        f"{c['taken']:,} samples in {summary['seconds']:.1f} s: {c['learned']:,} learned, "
        f"{c['unlabelled']:,} unlabelled, {c['refused_value'] + c['unknown_label']:,} refused",
        f"{score_words.accuracy(summary)}; last {min(summary['window'], summary['predicted']):,} "
        f"{percent(summary['rolling_accuracy'])}",
        *filter(None, [score_words.recalls(summary), score_words.probabilities(summary)]),
        *score_words.remarks(summary),
        *filter(None, [score_words.full(summary)]),
        *score_words.drift_lines(summary),
        f"link: {c['missing']:,} missing, {c['ring_dropped']:,} dropped, "
        f"{c['duplicate'] + c['too_old']:,} repeated, "
        f"{c['bytes_rejected']:,} bytes rejected, {c['disconnects']:,} disconnects, "
        f"silent {c['silent']:,} times",
    ]
    if n_late := c["waiting"] + c["expired"]:
        lines.append(
            f"{n_late:,} samples without a label in time: {c['expired']:,} waited too long, "
            f"{c['waiting']:,} still waiting"
        )
    if c.get("log_lost"):
        lines.append(lost_lines(c["log_lost"]))
    if c["over_rate"]:
        lines.append(f"{c['over_rate']:,} labels not learned: over --max-labels-per-second")
    if c["unknown_label"]:
        lines.append(
            f"{c['unknown_label']:,} samples refused: more labels than classes; "
            "give the number with --classes K"
        )
    return "\n".join(lines)
