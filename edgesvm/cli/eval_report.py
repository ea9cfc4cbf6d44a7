"""Reports of ``edgesvm eval``: a status line, a JSON line and text."""

from __future__ import annotations

from typing import Any

from edgesvm.budget import format_bytes
from edgesvm.cli import score_words
from edgesvm.cli.process import lost_lines
from edgesvm.learner import Learner
from edgesvm.serve import remarks
from edgesvm.serve.job import Job
from edgesvm.serve.score import RegressionScore, far_out, percent


def progress(job: Job, seconds: float) -> str:
    """The status line."""
    learner, score = job.pupil.learner, job.pupil.score
    return (
        f"{score.n:,} rows  {score.n / max(seconds, 1e-9):,.0f}/s  "
        f"{_whole(score)}, last {min(score.n, score.window):,} {score_words.brief(score)}  "
        f"{learner.n_updates_:,} updates  {learner.nbytes:,} B{score_words.drifts(job.pupil.drift)}"
    )


def _whole(score: Any) -> str:
    """The figure of all samples."""
    if isinstance(score, RegressionScore):
        return f"MAE {score_words.number(score.mae)}"
    return score_words.ONE_LABEL if score.majority == 1 else f"accuracy {percent(score.accuracy)}"


def summary(job: Job, held_out: Any, seconds: float) -> dict[str, Any]:
    """All results, for a JSON line; `held_out` is the score of the copy that learned no more."""
    pupil, learner = job.pupil, job.pupil.learner
    rows = pupil.learned if isinstance(job.model, Learner) else job.model.n_seen_
    return {
        "learner": repr(job.model),
        "bytes": job.model.nbytes,
        "n_seen": learner.n_seen_,
        "n_updates": learner.n_updates_,
        "refused": pupil.refused_value,
        **far_out(learner),
        "us_per_sample": 1e6 * seconds / max(rows, 1),
        **score_words.results(pupil),
        "remarks": [*_by_class(pupil.score), *remarks.lines(learner=learner, score=pupil.score)],
        "frozen": _frozen(held_out) if held_out.n else None,
    }


def _by_class(score: Any) -> list[str]:
    """That every class comes in one piece."""
    n_classes = 0 if isinstance(score, RegressionScore) else len(score.confusion)
    if n_classes < 2 or score.n < 10 * n_classes:
        return []
    if round((score.n - 1) * (1.0 - score.label_before)) != n_classes - 1:
        return []
    return [
        "the rows come class by class, so most of these answers repeat the last label; add"
        " --shuffle 1"
    ]


def _frozen(score: Any) -> dict[str, Any]:
    return score.summary() | {"remarks": remarks.lines(score=score, labels_stop=True)}


def words(s: dict[str, Any]) -> str:
    """`summary` as text."""
    n = min(s["window"], s["predicted"])
    rows, sample = ("windows", "raw sample") if "windows" in s else ("rows", "row")
    lines = [
        f"{s['learner']}, {format_bytes(s['bytes'])}",
        f"{s['predicted']:,} {rows} predicted before they were learned: {score_words.scored(s)}; "
        f"first {n:,} {score_words.first(s)}, last {n:,} {score_words.rolling(s)}",
        *score_words.details(s, s),
    ]
    if frozen := s["frozen"]:
        lines += [
            f"a copy that learned no more, on the last {frozen['predicted']:,} {rows}: "
            f"{score_words.scored(frozen)}",
            *score_words.remarks(frozen),
        ]
    new = f"{s['n_updates']:,} {rows} changed the model"
    lines.append(f"{new}; {s['us_per_sample']:.1f} us per {sample}")
    if c := s.get("windows"):
        lines.append(
            f"{c['pushed']:,} raw samples, {c['windows']:,} windows, {score_words.left_out(c)}"
        )
    words = "\n".join(lines)
    missing = s.get("missing")
    passed_over = missing["rows"] if missing and not missing["filled"] else 0
    if (refused := s["refused"] - passed_over) > 0:
        words += f"\n{refused:,} rows refused: a value is not finite or too large"
    if missing:
        became = (
            "with the mean where a cell is missing"
            if missing["filled"]
            else "passed over: a cell is missing (--missing mean fills it)"
        )
        words += f"\n{missing['rows']:,} rows {became}, first in line {missing['first_line']:,}"
    if s["log_lost"]:
        words += f"\n{lost_lines(s['log_lost'])}"
    if held := s.get("recording"):
        words += (
            f"\n{held['records']:,} records: {held['damaged']:,} damaged, {held['unlabelled']:,} "
            f"without a label, {held['torn_bytes']} incomplete bytes at the end"
        )
        if held.get("labels"):
            words += (
                f"\n{held['labels']:,} labels arrived late: {held['label_matched']:,} in time, "
                f"{held['label_expired']:,} too late, {held['label_duplicate']:,} repeated, "
                f"{held['label_unknown']:,} for unknown samples"
            )
    return words
