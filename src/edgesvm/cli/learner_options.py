"""The learner a command line asks for: options, and the largest learner that fits."""

from __future__ import annotations

import argparse

from edgesvm.cli import arguments
from edgesvm.learner import DTYPES, Learner
from edgesvm.learners import (
    BallVectorMachine,
    BatchSVM,
    CoreVectorMachine,
    IncrementalDecrementalSVM,
    IncrementalSVM,
    KernelStreamSVM,
    OneVsOne,
    OneVsRest,
    ReservoirSVM,
    StreamSVM,
    TwinVectorMachine,
    WindowedSVM,
)
from edgesvm.learners.incremental.retrained_svm import SCHEMES
from edgesvm.learners.multiclass import Multiclass
from edgesvm.learners.wrapper import Wrapper
from edgesvm.preprocessing.standardized import Standardized

KINDS: dict[str, type[Learner]] = {
    "stream": StreamSVM,
    "kernel-stream": KernelStreamSVM,
    "batch": BatchSVM,
    "reservoir": ReservoirSVM,
    "incremental": IncrementalSVM,
    "windowed": WindowedSVM,
    "core-vector": CoreVectorMachine,
    "ball-vector": BallVectorMachine,
    "twin": TwinVectorMachine,
    "incremental-decremental": IncrementalDecrementalSVM,
}
OF_MANY: dict[str, type[Multiclass]] = {"one-vs-one": OneVsOne, "one-vs-rest": OneVsRest}
DEFAULT_MEMORY = "16KiB"


def add_to(
    command: argparse.ArgumentParser, *, memory: bool = True, memory_default: str = DEFAULT_MEMORY
) -> None:
    """Add the options; those not given stay at the learner's own defaults."""
    group = command.add_argument_group("the learner")
    if memory:
        group.add_argument(
            "--memory",
            default=DEFAULT_MEMORY,
            metavar="BYTES",
            help=f"its budget, default {memory_default}",
        )
    group.add_argument(
        "--learner",
        choices=KINDS,
        default="stream",
        help="stream: linear, the default; the others RBF unless --kernel says otherwise: "
        "batch, solved anew from the last samples; reservoir, from a random sample of all; "
        "incremental, trained a batch at a time; windowed, on the last batches alone; "
        "core-vector, by the least ball about those that matter; ball-vector, the same by a ball "
        "of fixed radius, with no solver",
    )
    group.add_argument(
        "--bound",
        choices=("lower", "upper"),
        help="of the ball's radius, for the stream learners; upper: the paper's ball, which "
        "encloses all it saw; lower (default): more accurate",
    )
    group.add_argument("--C", type=float, help="penalty of slack, default 1; of twin 100")
    group.add_argument(
        "--lookahead",
        type=arguments.count,
        metavar="L",
        help="samples held beside the ball; default: what fits",
    )
    group.add_argument(
        "--n-balls", type=arguments.count, metavar="K", help="balls kept, instead of --lookahead"
    )
    group.add_argument(
        "--max-vectors",
        type=arguments.count,
        metavar="M",
        help="of kernel-stream, incremental, windowed and incremental-decremental; default: what "
        "fits",
    )
    group.add_argument(
        "--scheme",
        choices=SCHEMES,
        help="which samples join a batch of incremental and windowed; default: all of them",
    )
    group.add_argument(
        "--batch-size",
        type=arguments.count,
        metavar="N",
        help="of incremental and windowed; default: as --max-vectors",
    )
    group.add_argument(
        "--batches", type=arguments.count, metavar="W", help="of windowed, default 3"
    )
    group.add_argument(
        "--max-samples",
        type=arguments.count,
        metavar="B",
        help="of batch and reservoir; default: what fits",
    )
    group.add_argument(
        "--max-twins", type=arguments.count, metavar="B", help="of twin; default: what fits"
    )
    group.add_argument(
        "--max-core",
        type=arguments.count,
        metavar="M",
        help="of core-vector and ball-vector; default: what fits",
    )
    group.add_argument(
        "--epsilon",
        type=float,
        help="of core-vector and ball-vector: how far outside a ball a sample may be, as a share "
        "of the radius; default 1e-4",
    )
    group.add_argument(
        "--kernel",
        choices=("rbf", "poly", "linear"),
        help="of all but stream; default rbf, which alone core-vector and ball-vector take",
    )
    group.add_argument("--gamma", type=float, help="of the kernel; default 1 / features")
    group.add_argument(
        "--classes",
        type=arguments.count,
        metavar="K",
        help="labels there can be; with more than 2 a learner for each pair of them (one-vs-one)",
    )
    group.add_argument(
        "--multiclass",
        choices=OF_MANY,
        help="one-vs-one: a learner a pair of classes, K (K - 1) / 2, and a vote; one-vs-rest: a "
        "learner a class; without --classes for as many as the source says that it has",
    )
    group.add_argument("--dtype", choices=DTYPES, default="float32")
    group.add_argument(
        "--raw", action="store_true", help="learn features as they come, without standardizing them"
    )


# The options that each learner takes.
OWN: dict[str, tuple[str, ...]] = {
    "stream": ("C", "bound", "lookahead", "n_balls", "dtype"),
    "kernel-stream": ("C", "bound", "max_vectors", "kernel", "gamma", "dtype"),
    "twin": ("C", "max_twins", "kernel", "gamma", "dtype"),
    "incremental-decremental": ("C", "max_vectors", "kernel", "gamma", "dtype"),
    "core-vector": ("C", "epsilon", "max_core", "gamma", "dtype"),
    "ball-vector": ("C", "epsilon", "max_core", "gamma", "dtype"),
    "batch": ("C", "max_samples", "kernel", "gamma", "dtype"),
    "reservoir": ("C", "max_samples", "kernel", "gamma", "dtype"),
    "incremental": ("C", "scheme", "batch_size", "max_vectors", "kernel", "gamma", "dtype"),
    "windowed": ("C", "scheme", "batch_size", "batches", "max_vectors", "kernel", "gamma", "dtype"),
}
RENAMED = {"batches": "window"}  # --window is of the rolling accuracy
CAPACITIES = ("lookahead", "n_balls", "max_vectors", "max_samples", "max_core", "max_twins")
# What a command's learner has other than its class says: a stream has no end to refuse at.
DEFAULTS: dict[str, dict[str, object]] = {
    "stream": {"bound": "lower"},
    "kernel-stream": {"bound": "lower"},
    "batch": {"when_full": "oldest"},
}


def of_kind(kind: str, given: dict) -> Learner:
    """A learner of what was given and it takes."""
    asked = {RENAMED.get(name, name): given[name] for name in OWN[kind] if name in given}
    return KINDS[kind](**DEFAULTS.get(kind, {}) | asked)


def of_many(options: argparse.Namespace, inner: Learner, n_classes: int = 0) -> Learner:
    """`inner` for as many classes as were asked for; `n_classes`, 0 unknown, is what the source
    says."""
    asked = options.classes
    if asked is None and options.multiclass is None:
        return inner
    if options.multiclass is None and asked <= 2:
        if asked < 2:
            raise ValueError("--classes 1: there is nothing to tell apart")
        return inner
    if asked is None and n_classes < 2:
        raise ValueError(f"--multiclass {options.multiclass}: say how many with --classes K")
    kind = OF_MANY[options.multiclass or "one-vs-one"]
    return kind(learner=inner, n_classes=n_classes if asked is None else asked)


def innermost(learner: Learner) -> Learner:
    """The learner of two classes within whatever is around it."""
    while isinstance(learner, Wrapper):
        learner = learner._inner
    return learner


def requested(options: argparse.Namespace, n_classes: int = 0) -> tuple[Learner, bool]:
    """The learner asked for, and whether its capacity was given."""
    given = {name: value for name, value in vars(options).items() if value is not None}
    for name in sorted({n for other in OWN.values() for n in other} - set(OWN[options.learner])):
        if name in given:
            raise ValueError(
                f"--{name.replace('_', '-')} does not go with --learner {options.learner}"
            )
    inner = of_many(options, of_kind(options.learner, given), n_classes)
    fixed = any(name in given for name in CAPACITIES)
    return inner if options.raw else Standardized(learner=inner), fixed


def build(options: argparse.Namespace, n_features: int, n_classes: int = 0) -> Learner:
    """The learner asked for, of the capacity given or the largest that fits ``--memory``;
    `n_classes`, 0 unknown, is what the source of the samples says.

    Raises
    ------
    MemoryBudgetError
        It does not fit.
    """
    learner, fixed = requested(options, n_classes)
    return learner.fitted_into(options.memory, n_features, fixed=fixed)
