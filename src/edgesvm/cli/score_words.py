"""Accuracies as text, beside what they have to beat."""

from __future__ import annotations

from typing import Any

from edgesvm.evaluation import percent

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
    if not s.get("probabilities"):
        return ""
    p = s["probabilities"]
    raw = f", scores as they are {p['log_loss_raw']:.4f}" if "log_loss_raw" in p else ""
    return (
        f"log loss {p['log_loss']:.4f} (shares of the classes {p['log_loss_of_shares']:.4f}{raw}), "
        f"calibration error {percent(p['calibration_error'])}"
    )
