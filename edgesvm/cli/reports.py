"""What is said of a job: a status line, all results for a JSON line, and these as text.

Accuracies, and errors of targets, stand beside those of answers that need no learner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from edgesvm.contract.params import rounded
from edgesvm.learner import Learner
from edgesvm.learners.wrapper import Shell
from edgesvm.serve.job import Job
from edgesvm.serve.score import RegressionScore, percent

if TYPE_CHECKING:
    from edgesvm.learners.drift import DriftWatch
    from edgesvm.serve.score import Prequential

ONE_LABEL = "only one label seen"  # every answer is right then: an accuracy would say nothing
MOST_CLASSES = 12  # whose recalls fit a line
SEVERAL_LINES = ("slots", "parameters", "ranges", "remarks")


# The status line.


def progress(job: Job, seconds: float) -> str:
    """Of a job that learns labels or targets, after so many seconds."""
    c, windows = job.counters(), ""
    if "windows" in c:
        windows = f"{c['windows']:,} windows, {c['windows_dropped']:,} dropped  "
    return (
        f"{job.taken:,} samples  {job.taken / seconds:,.0f}/s  "
        f"{windows}{brief(job.pupil.score)}  "
        f"{job.model.nbytes:,} B  "
        f"dropped {c['ring_dropped']:,}  missing {c['missing']:,}  bad {c['bytes_rejected']:,} B  "
        f"disconnects {c['disconnects']:,}  stopped {c['stale']:,}"
        f"{drifts(job.pupil.drift)}"
    )


def brief(score: Prequential | RegressionScore, *, alone: bool = False) -> str:
    """The figure of the last samples and, unless `alone`, those of answers without a learner."""
    if isinstance(score, RegressionScore):
        told = f"MAE {number(score.rolling)}"
        others = (
            f" (mean {number(score.mean_so_far.mae)}, target before "
            f"{number(score.value_before.mae)}), within {percent(score.coverage)}"
        )
    elif score.majority == 1:
        return ONE_LABEL
    else:
        told = f"accuracy {percent(score.rolling)}"
        others = (
            f" (larger class {percent(score.majority)}, label before {percent(score.label_before)})"
        )
    return told if alone else told + others


def drifts(watch: DriftWatch | None) -> str:
    """How many drifts; empty without a detector."""
    return "" if watch is None else f"  drifts {watch.detector.n_drifts_:,}"


# All results, for a JSON line.


def of_job(job: Job, seconds: float) -> dict[str, Any]:
    """What became of any job that learns, in so many seconds."""
    return {
        "learner": repr(job.model),
        "bytes_planned": job.model.plan(job.model.n_features_in_).total,
        "bytes_allocated": job.model.nbytes,
        "link_bytes": job.link.nbytes,
        "seconds": round(seconds, 3),
        "remarks": job.pupil.remarks.look(),
        "counters": job.counters(),
        "broken_identities": job.check_identities(),
    }


def of_taught(job: Job, seconds: float) -> dict[str, Any]:
    """The same, and the score, of a job that learns labels or targets."""
    pupil = job.pupil
    told = {
        **of_job(job, seconds),
        "samples_per_second": round(job.taken / max(seconds, 1e-9), 1),
        "n_seen": pupil.learner.n_seen_,
        "n_updates": pupil.learner.n_updates_,
        **_given_up(pupil.learner),
        **pupil.score.summary(),
    }
    told |= {} if pupil.forecasts is None else {"probabilities": pupil.forecasts.summary()}
    return told | ({} if pupil.drift is None else {"drift": pupil.drift.summary()})


def _given_up(learner: Learner) -> dict[str, int]:
    """How many samples or vectors a full learner gave up, for those that count them."""
    inner: Any = learner
    while isinstance(inner, Shell):
        inner = inner.learner_
    count = getattr(inner, "n_given_up_", None)
    return {} if count is None else {"n_given_up": int(count)}


# As text.


def words(s: dict[str, Any]) -> list[str]:
    """The summary of a job that learns labels or targets, as lines."""
    c, n = s["counters"], min(s["window"], s["predicted"])
    of_windows = "windows" in c
    lines = [
        f"{s['learner']}, {s['bytes_allocated']:,} B",
        f"{s['predicted']:,} {'windows' if of_windows else 'rows'} predicted before they were "
        f"learned: {scored(s)}; first {n:,} {_figure(s, 'first')}, "
        f"last {n:,} {_figure(s, 'rolling')}",
        *filter(None, [_recalls(s), _probabilities(s), _far_out(c)]),
        *remarks(s),
        *_drifts(s),
        f"{c['taken']:,} samples in {s['seconds']:.1f} s, {s['samples_per_second']:,.0f}/s: "
        + (f"{c['windows']:,} windows, " if of_windows else "")
        + f"{c['learned']:,} learned, {c['unlabelled']:,} unlabelled, "
        f"{c['refused_value'] + c['unknown_label'] + c['rare_label']:,} refused",
    ]
    if of_windows:
        lines.append(
            f"{c['windows_dropped']:,} windows dropped where samples are missing; left out: "
            f"{c['late_samples']:,} samples that came late, {c['refused_samples']:,} that are not "
            "finite or too large"
        )
    if n_late := c["waiting"] + c["expired"]:
        lines.append(
            f"{n_late:,} samples without a label in time: {c['expired']:,} waited too long, "
            f"{c['waiting']:,} still waiting"
        )
    if "saves" in c:
        lines.append(f"checkpoint: {c['saves']:,} saves, {c['save_failed']:,} failed")
    if c["over_rate"]:
        lines.append(f"{c['over_rate']:,} labels not learned: over --max-labels-per-second")
    if refused := c["unknown_label"] + c.get("labels_refused", 0):
        lines.append(
            f"{refused:,} labels refused: more labels than there is room for; "
            "give a larger --memory, or --classes K"
        )
    return lines


def link(c: dict[str, int]) -> str:
    """What the link has counted."""
    return (
        f"link: {c['missing']:,} missing, {c['ring_dropped']:,} dropped, "
        f"{c['duplicate'] + c['too_old']:,} repeated, {c['bytes_rejected']:,} bytes rejected, "
        f"{c['disconnects']:,} disconnects, samples stopped {c['stale']:,} times"
    )


def closing(s: dict[str, Any]) -> list[str]:
    """What became of the sinks, and of this log."""
    lines = [
        f"out {o['sink']}: {o['sent']:,} sent, {o['lost']:,} lost, {o['failed']:,} failures"
        + (f", the last: {o['cause']}" if o["cause"] else "")
        for o in s.get("outputs", [])
    ]
    if lost := s.get("counters", s).get("log_lost"):
        lines.append(f"{lost:,} lines of this log could not be written")
    return lines


def scored(s: dict[str, Any]) -> str:
    """The summary of a score of classes or of targets, with the answers that need no learner."""
    if "mae" in s:
        return _errors(s)
    if s["majority"] == 1:
        return ONE_LABEL
    return (
        f"accuracy {percent(s['accuracy'])} (larger class {percent(s['majority'])}, "
        f"label before {percent(s['label_before'])}), balanced {percent(s['balanced_accuracy'])}"
    )


def _errors(s: dict[str, Any]) -> str:
    season = f", {s['season']:,} before {number(s['mae_season_before'])}" if s["season"] else ""
    r2 = "-" if s["r2"] is None else f"{s['r2']:.3f}"
    told = (
        f"MAE {number(s['mae'])} (mean so far {number(s['mae_mean_so_far'])}, target before "
        f"{number(s['mae_value_before'])}{season}), RMSE {number(s['rmse'])}, R2 {r2}"
    )
    if s["coverage"] is None:
        return told
    asked = "" if s["coverage_asked"] is None else f" ({percent(s['coverage_asked'])} asked)"
    return (
        f"{told}; {percent(s['coverage'])} within the interval{asked}, which is "
        f"{number(s['mean_width'])} wide"
    )


def _figure(s: dict[str, Any], which: str) -> str:
    """That of the "first" samples, or the "rolling" one of the last."""
    if "mae" in s:
        return number(s[f"{which}_mae"])
    return percent(None if s["majority"] == 1 else s[f"{which}_accuracy"])


def number(value: float | None) -> str:
    """An error in four digits; "-" for None."""
    return "-" if value is None else f"{value:.4g}"


def remarks(s: dict[str, Any]) -> list[str]:
    return [f"note: {remark}" for remark in s["remarks"]]


def _recalls(s: dict[str, Any]) -> str:
    """Share of each class that was recognised; empty for a single class."""
    held = s.get("recalls", {})
    if not 2 <= len(held) <= MOST_CLASSES:
        return ""
    return "recall: " + ", ".join(f"{label} {percent(share)}" for label, share in held.items())


def _probabilities(s: dict[str, Any]) -> str:
    """Log loss of the probabilities, with that of answers that need none; empty without them."""
    p = s.get("probabilities")
    if not p or p["log_loss"] is None:  # no sample has been scored yet
        return ""
    sets = ""
    if p.get("set_coverage") is not None:
        sets = (
            f"; sets of {p['set_size']:.2f} labels hold {percent(p['set_coverage'])} of them"
            f" ({percent(p['set_coverage_asked'])} asked)"
        )
    raw = f", scores as they are {p['log_loss_raw']:.4f}" if "log_loss_raw" in p else ""
    return (
        f"log loss {p['log_loss']:.4f} (shares of the classes {p['log_loss_of_shares']:.4f}{raw}), "
        f"calibration error {percent(p['calibration_error'])}{sets}"
    )


def _far_out(counts: dict[str, Any]) -> str:
    """That values were far out, or missing; empty if none was."""
    told = []
    if count := counts.get("far_out"):
        told.append(f"far out: {count:,} rows learned with a value far outside what was seen")
    if count := counts.get("n_missing"):
        told.append(f"missing: {count:,} values, taken to be their mean")
    return "\n".join(told)


def _drifts(summary: dict[str, Any]) -> list[str]:
    """The last drifts, a line each, and how many there were; empty without a detector."""
    if (found := summary.get("drift")) is None:
        return []
    resets = f", the learner started over {found['resets']:,} times" if found["resets"] else ""
    from edgesvm.learners.drift import Drift

    last = [str(Drift(**drift)) for drift in found["last"]]
    return [f"drifts: {found['drifts']:,}{resets}", *last]


# A report that is only its figures.


def show(report: dict[str, Any], *, as_json: bool) -> None:
    """Print a report as a JSON line, or a line each of what is not empty."""
    if as_json:
        import json

        print(json.dumps(report))
        return
    import textwrap

    for name, value in report.items():
        for told in value if name in SEVERAL_LINES else [value] if value not in ([], {}) else []:
            text = f"{name.replace('_', ' '):<15}{_as_text(told)}"
            print(textwrap.fill(text, 100, subsequent_indent="    "))


def _as_text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_as_text(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_as_text, value))
    if value is None:
        return "none"
    return f"{value:,}" if type(value) is int else rounded(str(value))
