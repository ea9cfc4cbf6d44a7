"""Accuracies, and errors of targets, as text, beside what they have to beat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from edgesvm.learner import Learner
from edgesvm.learners.wrapper import Shell
from edgesvm.serve.score import RegressionScore, percent

if TYPE_CHECKING:
    from edgesvm.learners.drift import DriftWatch
    from edgesvm.serve.score import Prequential

ONE_LABEL = "only one label seen"  # every answer is right then: an accuracy would say nothing
MOST_CLASSES = 12  # whose recalls fit a line


def scored(s: dict[str, Any]) -> str:
    """The summary of a score of classes or of targets, with the answers that need no learner."""
    return errors(s) if "mae" in s else accuracy(s)


def first(s: dict[str, Any]) -> str:
    """The figure of the first samples."""
    if "mae" in s:
        return number(s["first_mae"])
    return percent(None if s["majority"] == 1 else s["first_accuracy"])


def rolling(s: dict[str, Any]) -> str:
    """The figure of the last samples."""
    if "mae" in s:
        return number(s["rolling_mae"])
    return percent(None if s["majority"] == 1 else s["rolling_accuracy"])


def last(score: Prequential | RegressionScore) -> str:
    """The figure of the last samples, with its name."""
    if isinstance(score, RegressionScore):
        return f"MAE {number(score.rolling)}"
    return ONE_LABEL if score.majority == 1 else f"accuracy {percent(score.rolling)}"


def brief(score: Prequential | RegressionScore) -> str:
    """For a status line: the figure of the last samples, and those of answers without a learner."""
    if isinstance(score, RegressionScore):
        return (
            f"MAE {number(score.rolling)} (mean {number(score.mean_so_far.mae)}, target before "
            f"{number(score.value_before.mae)}), within {percent(score.coverage)}"
        )
    if score.majority == 1:
        return ONE_LABEL
    return (
        f"accuracy {percent(score.rolling)} (larger class {percent(score.majority)}, label before "
        f"{percent(score.label_before)})"
    )


def number(value: float | None) -> str:
    """An error in four digits; "-" for None."""
    return "-" if value is None else f"{value:.4g}"


def errors(s: dict[str, Any]) -> str:
    """Errors of `RegressionScore.summary`, with those of the answers that need no learner."""
    season = f", {s['season']:,} before {number(s['mae_season_before'])}" if s["season"] else ""
    r2 = "-" if s["r2"] is None else f"{s['r2']:.3f}"
    told = (
        f"MAE {number(s['mae'])} (mean so far {number(s['mae_mean_so_far'])}, target before "
        f"{number(s['mae_value_before'])}{season}), RMSE {number(s['rmse'])}, R2 {r2}"
    )
    if s["coverage"] is None:
        return told
    asked = "" if s["coverage_asked"] is None else f" ({percent(s['coverage_asked'])} asked)"
    return f"{told}; {percent(s['coverage'])} within the interval{asked}, " + (
        f"which is {number(s['mean_width'])} wide"
    )


def accuracy(s: dict[str, Any]) -> str:
    """Accuracy of `Prequential.summary`, with the two answers that need no learner."""
    if s["majority"] == 1:
        return ONE_LABEL
    return (
        f"accuracy {percent(s['accuracy'])} (larger class {percent(s['majority'])}, "
        f"label before {percent(s['label_before'])}), balanced {percent(s['balanced_accuracy'])}"
    )


def recalls(s: dict[str, Any]) -> str:
    """Share of each class that was recognised; empty for a single class."""
    held = s.get("recalls", {})
    if not 2 <= len(held) <= MOST_CLASSES:
        return ""
    return "recall: " + ", ".join(f"{label} {percent(share)}" for label, share in held.items())


def remarks(s: dict[str, Any]) -> list[str]:
    return [f"note: {remark}" for remark in s["remarks"]]


def probabilities(s: dict[str, Any]) -> str:
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


def results(pupil: Any) -> dict[str, Any]:
    """What became of a learner and its score, for a JSON line; `pupil` is a `Taught`."""
    told = {**given_up(pupil.learner), **pupil.score.summary()}
    told |= {} if pupil.forecasts is None else {"probabilities": pupil.forecasts.summary()}
    return told | ({} if pupil.drift is None else {"drift": pupil.drift.summary()})


def details(s: dict[str, Any], counts: dict[str, Any]) -> list[str]:
    """The lines of a report that follow its score."""
    filled = filter(None, [recalls(s), probabilities(s), far_out(counts)])
    return [*filled, *remarks(s), *drift_lines(s)]


def left_out(c: dict[str, int]) -> str:
    """What windows are without."""
    return (
        f"{c['windows_dropped']:,} windows dropped where samples are missing; left out: "
        f"{c['late_samples']:,} samples that came late, {c['refused_samples']:,} that are not "
        "finite or too large"
    )


def link(c: dict[str, int]) -> str:
    """What the link has counted."""
    return (
        f"link: {c['missing']:,} missing, {c['ring_dropped']:,} dropped, "
        f"{c['duplicate'] + c['too_old']:,} repeated, {c['bytes_rejected']:,} bytes rejected, "
        f"{c['disconnects']:,} disconnects, samples stopped {c['stale']:,} times"
    )


def given_up(learner: Learner) -> dict[str, int]:
    """How many samples or vectors a full learner gave up, for those that count them."""
    inner: Any = learner
    while isinstance(inner, Shell):
        inner = inner.learner_
    count = getattr(inner, "n_given_up_", None)
    return {} if count is None else {"n_given_up": int(count)}


def far_out(counts: dict[str, Any]) -> str:
    """That values were far out, or missing; empty if none was."""
    told = []
    if count := counts.get("far_out"):
        told.append(f"far out: {count:,} rows learned with a value far outside what was seen")
    if count := counts.get("n_missing"):
        told.append(f"missing: {count:,} values, taken to be their mean")
    return "\n".join(told)


def drifts(watch: DriftWatch | None) -> str:
    """For a status line: how many drifts; empty without a detector."""
    return "" if watch is None else f"  drifts {watch.detector.n_drifts_:,}"


def drift_lines(summary: dict[str, Any]) -> list[str]:
    """The last drifts, a line each, and how many there were; empty without a detector."""
    if (found := summary.get("drift")) is None:
        return []
    resets = f", the learner started over {found['resets']:,} times" if found["resets"] else ""
    from edgesvm.learners.drift import Drift

    last = [str(Drift(**drift)) for drift in found["last"]]
    return [f"drifts: {found['drifts']:,}{resets}", *last]
