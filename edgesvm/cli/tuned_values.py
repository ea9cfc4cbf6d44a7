"""What ``edgesvm tune`` varies, and the values it tries.

They are what a wide grid was left with once values that gain nothing were taken out, on either half
of the data sets (benchmarks/fleet/grid.py). The kernel machines that were not measured have the
values of those that were. No value of StreamSVM gained anything; C stays, to have a choice.
"""

from __future__ import annotations

from textwrap import fill
from typing import Any

from edgesvm.cli import parameters

Values = dict[str, tuple[Any, ...]]  # by option; None: the learner's default

C = (1.0, 10.0, 100.0, 1000.0)
GAMMA = (0.3, 1.0)  # times 1 / n_features
KERNEL: Values = {"C": C, "gamma": GAMMA}
KERNEL_ALONE: Values = {"gamma": GAMMA}

TRIED: dict[str, Values] = {
    "adagrad": {"learning_rate": (0.03, 0.1, 0.2, 0.5), "loss": ("hinge", "logistic")},
    "ball-vector": KERNEL,
    "batch": KERNEL,
    "core-vector": KERNEL,
    "forgetron": KERNEL_ALONE,
    "fourier": {
        "gamma": (None, 3.0),  # None: its mixture of widths
        "learning_rate": (0.03, 0.1),
        "loss": ("hinge", "logistic"),
    },
    "incremental": KERNEL,
    "incremental-decremental": KERNEL,
    "kernel-perceptron": KERNEL_ALONE,
    "kernel-stream": {"C": (1.0, 100.0, 1000.0), "gamma": GAMMA},
    "lasvm": {"C": (1.0, 10.0, 1000.0), "gamma": GAMMA},
    "passive-aggressive": {"C": (0.001, 0.01, 1.0)},
    "reservoir": KERNEL,
    "shared-twin": KERNEL_ALONE,
    "simple": KERNEL,
    "stream": {"C": C},
    "twin": {"C": (10.0, 100.0, 1000.0), "gamma": GAMMA},
    "twin-dictionary": KERNEL,
    "windowed": KERNEL,
}


def values_of(kind: str, given: set[str], n_features: int, *, is_rbf: bool) -> Values:
    """The values to try, but of the options given; gamma for this number of features."""
    values = {name: of for name, of in TRIED.get(kind, {}).items() if name not in given}
    if not is_rbf:
        values.pop("gamma", None)
    if "gamma" in values:
        values["gamma"] = tuple(
            None if times is None else float(f"{times / n_features:.3g}")
            for times in values["gamma"]
        )
    return values


def described() -> str:
    """Which options are varied for which learner, in lines."""
    groups: dict[str, list[str]] = {}
    for kind, values in TRIED.items():
        options = ", ".join(map(parameters.spelled, values))
        groups.setdefault(options, []).append(kind)
    lines = []
    for options, kinds in groups.items():
        text = f"{options}: {', '.join(kinds)}"
        lines.append(
            fill(text, 98, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        )
    return "\n".join(lines)
