"""Options for probabilities and the price of errors: a learner within `Calibrated`."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

from edgesvm.contract.registry import is_a, kind_of
from edgesvm.learner import Learner


@dataclass(frozen=True)
class Decision:
    """Whether a learner is within `Calibrated`, and what moves its decision."""

    probabilities: bool = False
    cost: dict[int | str, float] | None = None
    min_recall: dict[int | str, float] | None = None
    coverage: float | None = None

    @classmethod
    def of(cls, options: argparse.Namespace) -> Decision:
        """Raises ValueError if both --cost and --min-recall are given."""
        if options.cost is not None and options.min_recall is not None:
            raise ValueError("--cost and --min-recall both move the decision: give one of them")
        return cls(options.probabilities, options.cost, options.min_recall, options.sets)

    @property
    def by_label(self) -> dict[str, dict[int | str, float]]:
        """The options given that name labels."""
        both = {"cost": self.cost, "min-recall": self.min_recall}
        return {name: numbers for name, numbers in both.items() if numbers is not None}

    def words(self) -> list[str]:
        """The words of a command line that give these options."""
        flag = ["--probabilities"] if self.probabilities else []
        flag += [] if self.coverage is None else ["--sets", repr(self.coverage)]
        return flag + [w for name, of in self.by_label.items() for w in (f"--{name}", as_text(of))]

    def around(self, learner: Learner) -> Learner:
        """`learner`, within `Calibrated` if that is asked for. Raises ValueError for a number that
        is out of range."""
        if not (self.probabilities or self.by_label or self.coverage):
            return learner
        return kind_of("Calibrated")(
            learner=learner, cost=self.cost, min_recall=self.min_recall, coverage=self.coverage
        )

    def contradicted(self, learner: Learner) -> list[tuple[str, str]]:
        """As `learner_options.contradicted`, for these options."""
        has = learner.get_params(deep=False) if is_a(learner, "Calibrated") else {}
        found = []
        if self.probabilities and not has:
            found.append(("no --probabilities", "--probabilities"))
        held = has.get("coverage")
        if self.coverage is not None and self.coverage != held:
            text = "no --sets" if held is None else f"--sets {held}"
            found.append((text, f"--sets {self.coverage}"))
        for name, asked in self.by_label.items():
            held = has.get(name.replace("-", "_"))
            if asked != held:
                text = f"no --{name}" if held is None else f"--{name} {as_text(held)}"
                found.append((text, f"--{name} {as_text(asked)}"))
        return found


def add_to(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--probabilities", action="store_true", help="fit probabilities and report their log loss"
    )
    group.add_argument(
        "--sets",
        type=share,
        metavar="SHARE",
        help="keep sets of labels that hold this share of them",
    )
    group.add_argument(
        "--cost",
        type=by_label,
        metavar="LABEL=X,...",
        help="what missing a class costs: fault=20; default 1",
    )
    group.add_argument(
        "--min-recall",
        type=by_label,
        metavar="LABEL=SHARE",
        help="share of a class to recognise: fault=0.9",
    )


def share(text: str) -> float:
    """A number between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1.0:
        raise argparse.ArgumentTypeError(f"{text}: give a share between 0 and 1, such as 0.9")
    return value


def by_label(text: str) -> dict[int | str, float]:
    """LABEL=NUMBER,LABEL=NUMBER; a label that is an integer is one."""
    numbers: dict[int | str, float] = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not equals or not name.strip() or math.isnan(value):
            raise argparse.ArgumentTypeError(
                f"{text}: give LABEL=NUMBER, or several with commas between them"
            )
        numbers[_label(name.strip())] = value
    return numbers


def _label(name: str) -> int | str:
    try:
        return int(name)
    except ValueError:
        return name


def as_text(numbers: dict[int | str, float]) -> str:
    """The option's value of which `by_label` makes these numbers."""
    return ",".join(f"{label}={number!r}" for label, number in numbers.items())


def within(learner: Learner) -> Learner:
    """The learner that `Calibrated` is around, as given; else `learner`."""
    return learner.inner if is_a(learner, "Calibrated") else learner


def check_labels(learner: Learner) -> bool:
    """Whether each label of --cost or --min-recall has been seen.

    Raises
    ------
    ValueError
        One has not, and there is no room for another label.
    """
    if not is_a(learner, "Calibrated") or not (unseen := learner.unseen_labels_):
        return True
    known = learner.classes_.tolist()
    if len(known) == learner.n_classes_allocated:
        option = "--cost" if learner.cost else "--min-recall"
        raise ValueError(f"{option}: no sample has the label {unseen[0]!r}; the labels are {known}")
    return False
