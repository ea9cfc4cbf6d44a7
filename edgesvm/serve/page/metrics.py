"""A status in the text format of Prometheus, version 0.0.4."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from edgesvm.serve.page import words
from edgesvm.serve.remarks import KEYS

TYPE = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[dict[str, object], float]
Family = tuple[str, str, str, list[Sample]]  # name, kind, meaning

GAUGES = {
    "seconds": ("edgesvm_uptime_seconds", "Seconds since the learning began"),
    "rate": ("edgesvm_samples_per_second", "Samples taken from the link, a second"),
    "learning": ("edgesvm_learning_ratio", "How much of the learning of what is normal is done"),
    "threshold": ("edgesvm_threshold", "Score from which on a row is strange"),
    "last_score": ("edgesvm_score", "How strange the last row is"),
    "alarm": ("edgesvm_alarm", "1 while an alarm is on"),
    "stale_seconds": ("edgesvm_stale_seconds", "Seconds since the last sample, if too many"),
}
SCORES = {
    "accuracy": ("edgesvm_accuracy_ratio", "Share of right predictions, each made before learning"),
    "rolling_accuracy": ("edgesvm_accuracy_rolling_ratio", "The same over the last predictions"),
    "balanced_accuracy": ("edgesvm_accuracy_balanced_ratio", "Mean of the shares in each class"),
    "majority": ("edgesvm_larger_class_ratio", "Accuracy of always answering the larger class"),
    "label_before": ("edgesvm_label_before_ratio", "Accuracy of always repeating the last label"),
    "mae": ("edgesvm_mae", "Mean absolute error of predictions, each made before learning"),
    "rolling_mae": ("edgesvm_mae_rolling", "The same over the last predictions"),
    "rmse": ("edgesvm_rmse", "Root of the mean squared error"),
    "r2": ("edgesvm_r2", "Share of the targets' variance that is predicted"),
    "coverage": ("edgesvm_coverage_ratio", "Share of the targets within their intervals"),
    "coverage_asked": ("edgesvm_coverage_asked_ratio", "The share that was asked for"),
    "mean_width": ("edgesvm_interval_width", "Mean width of the intervals"),
    "mae_mean_so_far": ("edgesvm_mae_mean_so_far", "Mean absolute error of the mean so far"),
    "mae_value_before": ("edgesvm_mae_value_before", "Mean absolute error of the target before"),
}


def text(*statuses: dict[str, Any]) -> str:
    """The exposition of `View.status`: each counter of a job is here. Of several,
    each sample says of which port it is."""
    families: dict[str, tuple[str, str, list[Sample]]] = {}
    for status in statuses:
        port = {"port": status["port"]} if len(statuses) > 1 else {}
        for name, kind, meaning, samples in _families(status):
            _, _, found = families.setdefault(name, (kind, meaning, []))
            found += [({**port, **labels}, value) for labels, value in samples]
    lines = [line for name, family in families.items() for line in _exposed(name, *family)]
    return "\n".join(lines) + "\n"


def _families(status: dict[str, Any]) -> Iterator[Family]:
    about = {"version": status["version"], "kind": status["kind"], "port": status["port"]}
    yield "edgesvm_info", "gauge", "What runs here", [(about, 1)]
    for table, values in ((GAUGES, status), (SCORES, status.get("score", {}))):
        for key, (name, meaning) in table.items():
            if values.get(key) is not None:
                yield name, "gauge", meaning, [({}, values[key])]
    held: list[Sample] = [({"remark": key}, float(key in status["remarks"])) for key in KEYS]
    yield "edgesvm_remark", "gauge", "1 for each remark on the model that holds", held
    for name, count in status["counters"].items():
        yield _counter(name, count)
    memory: list[Sample] = [({"owner": owner}, n) for owner, n in status["memory"].items()]
    yield "edgesvm_memory_bytes", "gauge", "Memory as planned", memory
    if (confusion := status.get("confusion")) and confusion["labels"]:
        told = [
            ({"label": label, "predicted": predicted}, count)
            for label, row in zip(confusion["labels"], confusion["counts"], strict=True)
            for predicted, count in zip(confusion["labels"], row, strict=True)
        ]
        meaning = "Predictions, by the true label and the predicted one"
        yield "edgesvm_confusion_total", "counter", meaning, told
    if drift := status.get("drift"):
        yield _counter("drifts", drift["drifts"])
        yield _counter("resets", drift["resets"])


def _counter(name: str, count: float) -> Family:
    if name in words.GAUGES:
        return f"edgesvm_{name}", "gauge", words.meaning(name), [({}, count)]
    if name == "downtime_ms":
        name, count = "downtime_seconds", count / 1000
    return f"edgesvm_{name}_total", "counter", words.meaning(name), [({}, count)]


def _exposed(name: str, kind: str, meaning: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP {name} {_escaped(meaning)}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        inside = ",".join(
            f'{key}="{_escaped(str(text), quote=True)}"' for key, text in labels.items()
        )
        yield f"{name}{{{inside}}} {_number(value)}" if inside else f"{name} {_number(value)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


def _escaped(text: str, *, quote: bool = False) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quote else text
