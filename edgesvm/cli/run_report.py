"""Reports of ``edgesvm run``: a status line, a JSON line and text."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from edgesvm.cli import out_settings, score_words
from edgesvm.cli.process import lost_lines
from edgesvm.serve.job import Job

if TYPE_CHECKING:
    from edgesvm.cli.server import Served


def progress(ports: Sequence[Served], started: float) -> str:
    """The status line."""
    seconds = max(time.monotonic() - started, 1e-9)
    if len(ports) == 1:
        return _progress(ports[0].job, seconds)
    told = [f"{sum(port.job.taken for port in ports) / seconds:,.0f}/s"]
    for port in ports:
        state = " gone" if port.away else " ended" if port.ended else ""
        score = score_words.last(port.job.pupil.score)
        told.append(f"{port.link.name}{state} {port.job.taken:,} samples, {score}")
    return "  ".join(told)


def _progress(job: Job, seconds: float) -> str:
    c, pupil = job.counters(), job.pupil
    windows = ""
    if "windows" in c:
        windows = f"{c['windows']:,} windows, {c['windows_dropped']:,} dropped  "
    return (
        f"{job.taken:,} samples  {job.taken / seconds:,.0f}/s  "
        f"{windows}{score_words.brief(pupil.score)}  "
        f"{job.model.nbytes:,} B  "
        f"dropped {c['ring_dropped']:,}  missing {c['missing']:,}  bad {c['bytes_rejected']:,} B  "
        f"disconnects {c['disconnects']:,}  stopped {c['stale']:,}"
        f"{score_words.drifts(pupil.drift)}"
    )


def summary(ports: Sequence[Served], seconds: float) -> dict[str, Any]:
    """All results, for a JSON line: of the port, or of each by its URL."""
    told = {}
    for port in ports:
        one = _summary(port.job, seconds)
        one["counters"] |= port.saver.counters if port.saver else {}
        told[port.link.name] = one
    if len(ports) == 1:
        return one
    for port in ports:
        told[port.link.name]["error"] = None if port.error is None else str(port.error)
    broken = [f"{name}: {line}" for name, one in told.items() for line in one["broken_identities"]]
    return {"ports": told, "broken_identities": broken}


def _summary(job: Job, seconds: float) -> dict[str, Any]:
    pupil = job.pupil
    return {
        "learner": repr(job.model),
        "bytes_planned": job.model.plan(job.model.n_features_in_).total,
        "bytes_allocated": job.model.nbytes,
        "link_bytes": job.link.nbytes,
        "seconds": round(seconds, 3),
        "samples_per_second": round(job.taken / max(seconds, 1e-9), 1),
        "n_updates": pupil.learner.n_updates_,
        **score_words.results(pupil),
        "remarks": pupil.remarks.look(),
        "counters": job.counters(),
        "broken_identities": job.check_identities(),
    }


def words(summary: dict[str, Any]) -> list[str]:
    """`summary` as text, with the name of each port if there are several."""
    if "ports" not in summary:
        return [_words(summary)]
    told = [f"{name}:\n{_words(one)}" for name, one in summary["ports"].items()]
    return told + _of_all(summary)


def _of_all(summary: dict[str, Any]) -> list[str]:
    """What became of the sinks, and of this log."""
    lost = [lost_lines(summary["log_lost"])] if summary.get("log_lost") else []
    return out_settings.words(summary) + lost


def _words(summary: dict[str, Any]) -> str:
    """The summary of a port as text."""
    c = summary["counters"]
    lines = [
        f"{c['taken']:,} samples in {summary['seconds']:.1f} s: "
        + (f"{c['windows']:,} windows, " if "windows" in c else "")
        + f"{c['learned']:,} learned, {c['unlabelled']:,} unlabelled, "
        f"{c['refused_value'] + c['unknown_label']:,} refused",
        *([score_words.left_out(c)] if "windows" in c else []),
        f"{score_words.scored(summary)}; last {min(summary['window'], summary['predicted']):,} "
        f"{score_words.rolling(summary)}",
        *score_words.details(summary, c),
        score_words.link(c),
    ]
    if n_late := c["waiting"] + c["expired"]:
        lines.append(
            f"{n_late:,} samples without a label in time: {c['expired']:,} waited too long, "
            f"{c['waiting']:,} still waiting"
        )
    lines += _of_all(summary | {"log_lost": c.get("log_lost", 0)})
    if c["over_rate"]:
        lines.append(f"{c['over_rate']:,} labels not learned: over --max-labels-per-second")
    if refused := c["unknown_label"] + c.get("labels_refused", 0):
        lines.append(
            f"{refused:,} labels refused: more labels than there is room for; "
            "give a larger --memory, or with --learner or --scale --classes K"
        )
    return "\n".join(lines)
