"""Accuracies as text, beside what they have to beat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from edgesvm.evaluation import percent
from edgesvm.learner import Learner
from edgesvm.learners.wrapper import Shell

if TYPE_CHECKING:
    from edgesvm.drift.watch import DriftWatch

MOST_CLASSES = 12  # whose recalls fit a line


def accuracy(s: dict[str, Any]) -> str:
    """Accuracy of `Prequential.summary`, with the two answers that need no learner."""
    return (
        f"accuracy {percent(s['accuracy'])} (larger class {percent(s['majority'])}, "
        f"label before {percent(s['label_before'])}), balanced {percent(s['balanced_accuracy'])}"
    )


def recalls(s: dict[str, Any]) -> str:
    """Share of each class that was recognised; empty for a single class."""
    held = s["recalls"]
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
    if "set_coverage" in p:
        sets = (
            f"; sets of {p['set_size']:.2f} labels hold {percent(p['set_coverage'])} of them"
            f" ({percent(p['set_coverage_asked'])} asked)"
        )
    raw = f", scores as they are {p['log_loss_raw']:.4f}" if "log_loss_raw" in p else ""
    return (
        f"log loss {p['log_loss']:.4f} (shares of the classes {p['log_loss_of_shares']:.4f}{raw}), "
        f"calibration error {percent(p['calibration_error'])}{sets}"
    )


def given_up(learner: Learner) -> dict[str, int]:
    """How many samples or vectors a full learner gave up, for those that count them."""
    inner: Any = learner
    while isinstance(inner, Shell):
        inner = inner.learner_
    count = getattr(inner, "n_given_up_", None)
    return {} if count is None else {"n_given_up": int(count)}


def far_out(counts: dict[str, Any]) -> str:
    """That values were far out; empty if none was."""
    count = counts.get("far_out")
    return (
        f"far out: {count:,} rows learned with a value far outside what was seen" if count else ""
    )


def drifts(watch: DriftWatch | None) -> str:
    """For a status line: how many drifts; empty without a detector."""
    return "" if watch is None else f"  drifts {watch.detector.n_drifts_:,}"


def drift_lines(summary: dict[str, Any]) -> list[str]:
    """The last drifts, a line each, and how many there were; empty without a detector."""
    if (found := summary.get("drift")) is None:
        return []
    resets = f", the learner started over {found['resets']:,} times" if found["resets"] else ""
    from edgesvm.drift.watch import Drift

    last = [str(Drift(**drift)) for drift in found["last"]]
    return [f"drifts: {found['drifts']:,}{resets}", *last]
