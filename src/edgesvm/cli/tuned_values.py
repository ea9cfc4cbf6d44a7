"""What ``edgesvm tune`` varies, and the values it tries: those that a wide grid was left with once
values that gain nothing were taken out (benchmarks/fleet/grid.py)."""

from __future__ import annotations

from textwrap import fill
from typing import Any

Values = dict[str, tuple[Any, ...]]  # by option; None: the learner's default

C = (0.1, 1.0, 10.0, 100.0, 1000.0)
GAMMA = (0.1, 0.3, 1.0, 3.0, 10.0)  # times 1 / n_features
KERNEL: Values = {"C": C, "gamma": GAMMA}
ONLINE: Values = {"gamma": GAMMA}

TRIED: dict[str, Values] = {
    "adagrad": {"learning_rate": (0.1, 0.5), "loss": ("hinge", "logistic")},
    "ball-vector": KERNEL,
    "batch": KERNEL,
    "core-vector": KERNEL,
    "forgetron": ONLINE,
    "fourier": {"gamma": (None, 0.3, 3.0), "learning_rate": (0.1,), "loss": ("hinge", "logistic")},
    "incremental": KERNEL,
    "incremental-decremental": KERNEL,
    "kernel-perceptron": ONLINE,
    "kernel-stream": KERNEL,
    "lasvm": KERNEL,
    "passive-aggressive": {"C": C},
    "reservoir": KERNEL,
    "simple": KERNEL,
    "stream": {"C": C, "bound": ("lower", "upper")},
    "twin": KERNEL,
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
        options = ", ".join(f"--{name.replace('_', '-')}" for name in values)
        groups.setdefault(options, []).append(kind)
    lines = []
    for options, kinds in groups.items():
        text = f"{options}: {', '.join(kinds)}"
        lines.append(
            fill(text, 98, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        )
    return "\n".join(lines)
