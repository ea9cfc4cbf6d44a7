"""Options for probabilities and the price of errors: a learner within `Calibrated`."""

from __future__ import annotations

import argparse
import math

from edgesvm.contract.registry import is_a, kind_of
from edgesvm.learner import Learner

NAMES = ("cost", "min_recall")


def add_to(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--probabilities",
        action="store_true",
        help="fit probabilities to the scores while learning, and report their log loss",
    )
    group.add_argument(
        "--cost",
        type=by_label,
        metavar="LABEL=X,...",
        help="what it costs to miss a sample of a class, such as fault=20; 1 for the others: "
        "predict the class of the largest cost times probability",
    )
    group.add_argument(
        "--min-recall",
        type=by_label,
        metavar="LABEL=SHARE",
        help="keep the threshold at which this share of a class is recognised, such as fault=0.9",
    )


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


def name_labels(options: argparse.Namespace) -> bool:
    """Whether labels are named on the command line."""
    return any(getattr(options, name) is not None for name in NAMES)


def around(options: argparse.Namespace, learner: Learner) -> Learner:
    """`learner`, within `Calibrated` if an option asks for it.

    Raises
    ------
    ValueError
        Both --cost and --min-recall are given, or a number is out of range.
    """
    if not (options.probabilities or name_labels(options)):
        return learner
    if options.cost is not None and options.min_recall is not None:
        raise ValueError("--cost and --min-recall both move the decision: give one of them")
    calibrated = kind_of("Calibrated")
    return calibrated(learner=learner, cost=options.cost, min_recall=options.min_recall)


def contradicted(options: argparse.Namespace, learner: Learner) -> list[tuple[str, str]]:
    """As `learner_options.contradicted`, for these options."""
    has = learner.get_params(deep=False) if is_a(learner, "Calibrated") else {}
    found = []
    if options.probabilities and not has:
        found.append(("no --probabilities", "--probabilities"))
    for name in NAMES:
        asked, held = getattr(options, name), has.get(name)
        if asked is not None and asked != held:
            option = f"--{name.replace('_', '-')}"
            text = f"no {option}" if held is None else f"{option} {as_text(held)}"
            found.append((text, f"{option} {as_text(asked)}"))
    return found


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
    unseen = remarks(learner)
    known = learner.classes_.tolist()
    if unseen and len(known) == learner.n_classes_allocated:
        raise ValueError(f"{unseen[0]}; the labels are {known}")
    return not unseen


def remarks(learner: Learner) -> list[str]:
    """What to say of labels that have a price or a kept recall, but no sample."""
    if not is_a(learner, "Calibrated"):
        return []
    option = "--cost" if learner.cost else "--min-recall"
    return [f"{option}: no sample has the label {label!r}" for label in learner.unseen_labels_]
