"""Reports of ``edgesvm run``: a status line, a JSON line and text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from edgesvm.cli import out_options, score_words
from edgesvm.cli.status import lost_lines
from edgesvm.evaluation import percent
from edgesvm.learner import Learner
from edgesvm.runner import Runner

if TYPE_CHECKING:
    from edgesvm.window_runner import WindowRunner


def progress(runner: Runner, seconds: float) -> str:
    """The status line."""
    c = runner.link.counters
    return (
        f"{runner.taken:,} samples  {runner.taken / max(seconds, 1e-9):,.0f}/s  "
        f"{_windows(runner)}accuracy {percent(runner.score.rolling)} (larger class "
        f"{percent(runner.score.majority)}, label before {percent(runner.score.label_before)})  "
        f"{runner.model.nbytes:,} B  "
        f"dropped {c['ring_dropped']:,}  missing {c['missing']:,}  bad {c['bytes_rejected']:,} B  "
        f"disconnects {c['disconnects']:,}  silent {c['silent']:,}"
        f"{score_words.drifts(runner.drift)}"
    )


def _windows(runner: Runner) -> str:
    if isinstance(runner.model, Learner):
        return ""
    runner = cast("WindowRunner", runner)
    return f"{runner.windows:,} windows, {runner.windows_dropped:,} dropped  "


def summary(runner: Runner, seconds: float) -> dict[str, Any]:
    """All results, for a JSON line."""
    return {
        "learner": repr(runner.model),
        "bytes_planned": runner.model.plan(runner.model.n_features_in_).total,
        "bytes_allocated": runner.model.nbytes,
        "link_bytes": runner.link.nbytes,
        "seconds": round(seconds, 3),
        "samples_per_second": round(runner.taken / max(seconds, 1e-9), 1),
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
        f"{c['taken']:,} samples in {summary['seconds']:.1f} s: {_of_windows(c)}"
        f"{c['learned']:,} learned, {c['unlabelled']:,} unlabelled, "
        f"{c['refused_value'] + c['unknown_label']:,} refused",
        *_left_out(c),
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
    lines += out_options.words(summary)
    if c.get("log_lost"):
        lines.append(lost_lines(c["log_lost"]))
    if c["over_rate"]:
        lines.append(f"{c['over_rate']:,} labels not learned: over --max-labels-per-second")
    if refused := c["unknown_label"] + c.get("labels_refused", 0):
        lines.append(
            f"{refused:,} labels refused: more labels than classes; "
            "give the number with --classes K"
        )
    return "\n".join(lines)


def _of_windows(c: dict[str, int]) -> str:
    return f"{c['windows']:,} windows, " if "windows" in c else ""


def _left_out(c: dict[str, int]) -> list[str]:
    """What windows are without, if there are any."""
    if "windows" not in c:
        return []
    return [
        f"{c['windows_dropped']:,} windows dropped where samples are missing; left out: "
        f"{c['late_samples']:,} samples that came late, {c['refused_samples']:,} that are not "
        "finite or too large"
    ]
