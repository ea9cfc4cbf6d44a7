"""Options that choose a learner, and the largest such learner that fits the memory."""

from __future__ import annotations

import argparse
import contextlib
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from edgesvm import catalogue, learners
from edgesvm.cli import arguments, decision_options, parameters
from edgesvm.cli.decision_options import Decision
from edgesvm.contract.registry import is_a, kind_of
from edgesvm.kernels import RBF, Linear, Polynomial
from edgesvm.learner import Learner
from edgesvm.learners.gradient.gradient_learner import GradientLearner
from edgesvm.learners.wrapper import innermost
from edgesvm.preprocessing.scaler import Scaler
from edgesvm.preprocessing.stage import Stage

# The class of each, which is imported once it is asked for.
KINDS = catalogue.commands(*catalogue.LEARNERS)
REGRESSORS = catalogue.commands("regressor")
OF_MANY = catalogue.commands("multiclass")
SCALERS = catalogue.commands("scaler")
DEFAULT_SCALE = "deviation"  # of a learner that does not scale its samples itself
DEFAULT_KIND = "byte"
DEFAULT_REGRESSOR = "fourier"
DEFAULT_MEMORY = "16KiB"
# Samples of a day of which the targets are kept, to compare with those of the day before.
MOST_OF_A_DAY = 1440
DAY_US = 86_400_000_000
KERNELS: dict[str, type[object]] = {"rbf": RBF, "poly": Polynomial, "linear": Linear}


# Where a command's default is not the class's: a stream has no end, so a store must not refuse.
DEFAULTS: dict[str, dict[str, object]] = {"batch": {"when_full": "oldest"}}
CAPACITIES = (
    *("lookahead", "n_balls", "max_vectors", "max_samples", "max_core", "max_twins"),
    *("n_directions", "n_bytes"),
)


def add_to(
    command: argparse.ArgumentParser, *, memory: bool = True, memory_default: str = DEFAULT_MEMORY
) -> argparse._ArgumentGroup:
    """Add the options; a parameter that is not given keeps the learner's default. Returns their
    group."""
    group = command.add_argument_group(
        "learner (`edgesvm plan` lists them, and the parameters of each)"
    )
    if memory:
        group.add_argument(
            "--memory",
            default=DEFAULT_MEMORY,
            metavar="BYTES",
            help=f"such as 65536 or 64KiB; default {memory_default}",
        )
    group.add_argument(
        "--learner",
        choices={**KINDS, **REGRESSORS},
        metavar="NAME",
        help=f"{DEFAULT_KIND} (default), stream, twin, fourier, ...",
    )
    parameters.add_to(group)
    group.add_argument(
        "--classes", type=arguments.count, metavar="K", help="number of classes, if more than 2"
    )
    group.add_argument(
        "--multiclass", choices=OF_MANY, metavar="HOW", help="one-vs-one (default) or one-vs-rest"
    )
    group.add_argument("--scale", choices=SCALERS, help="standardize by mean (default) or median")
    group.add_argument("--raw", action="store_true", help="do not standardize the features")
    group.add_argument(
        "--fourier",
        dest="learner",
        action="store_const",
        const="fourier",
        help="--learner fourier: a kernel machine in few bytes",
    )
    decision_options.add_to(group)
    return group


def add_regress(group: argparse._ActionsContainer) -> None:
    """Add the option of regression."""
    group.add_argument(
        "--regress", action="store_true", help="labels are numbers to predict, not classes"
    )


def check_regress(options: argparse.Namespace) -> None:
    """Raise ValueError for an option of a command that does not go with ``--regress``."""
    if not options.regress:
        return
    for name in ("window", "drift", "positive", "reliability"):
        if getattr(options, name, None) is not None:
            raise ValueError(f"--{name} does not go with --regress: leave it out")


def season_of_day(period_us: float) -> int:
    """Samples of a day, if these are known and few; else 0."""
    of_a_day = round(DAY_US / period_us) if period_us else 0
    return of_a_day if of_a_day <= MOST_OF_A_DAY else 0


@dataclass(frozen=True)
class LearnerSettings:
    """The learner that is asked for.

    Attributes
    ----------
    memory : str or int
        For the learner and what it is behind.
    learner : str or None
        One of `KINDS`; None: the default.
    parameters : mapping of str to str
        Those given, as text: what they mean is for the class of the learner to say.
    classes, multiclass, scale
        None: as the source of the samples, or the default.
    raw : bool
        Whether the features are not standardized.
    regress : bool
        Whether it predicts a number.
    decision : Decision
    """

    memory: str | int = DEFAULT_MEMORY
    learner: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    classes: int | None = None
    multiclass: str | None = None
    scale: str | None = None
    raw: bool = False
    regress: bool = False
    decision: Decision = field(default_factory=Decision)

    @classmethod
    def of(cls, options: argparse.Namespace, memory: str | int | None = None) -> LearnerSettings:
        """What the options say, with `memory` in place of theirs. Raises ValueError if they
        contradict each other."""
        if options.classes is not None and options.classes < 2:
            raise ValueError(f"--classes {options.classes}: give at least 2")
        if options.raw and options.scale is not None:
            raise ValueError(f"--scale {options.scale} contradicts --raw: give one of them")
        settings = arguments.read(
            cls,
            options,
            memory=options.memory if memory is None else memory,
            parameters=parameters.given(options),
            decision=Decision.of(options),
        )
        if settings.regress:
            settings._check_regressor()
        elif settings.chosen not in KINDS:
            raise ValueError(f"--learner {settings.chosen} predicts numbers: give --regress")
        return settings

    def _check_regressor(self) -> None:
        """Raise ValueError for what means nothing where numbers are predicted."""
        if self.chosen not in REGRESSORS:
            *names, last = REGRESSORS
            raise ValueError(
                f"--learner {self.chosen} tells classes apart: with --regress give "
                f"--learner {', '.join(names)} or {last}"
            )
        given = {
            "--classes": self.classes is not None,
            "--multiclass": self.multiclass is not None,
            "--probabilities": self.decision.probabilities,
            "--sets": self.decision.coverage is not None,
            **{f"--{name}": True for name in self.decision.by_label},
        }
        for option in (name for name, asked in given.items() if asked):
            raise ValueError(f"{option} does not go with --regress: leave it out")

    @property
    def kind(self) -> type[Learner]:
        """The class of the learner."""
        return class_of(self.chosen, regress=self.regress)

    @property
    def chosen(self) -> str:
        """The kind of the learner."""
        default = DEFAULT_REGRESSOR if self.regress else DEFAULT_KIND
        return self.learner or default

    def words(self) -> list[str]:
        """The words of a command line that ask for this learner."""
        given = {
            "memory": self.memory,
            "learner": self.learner,
            "classes": self.classes,
            "multiclass": self.multiclass,
            "scale": self.scale,
        }
        told = [w for name, of in given.items() if of is not None for w in (f"--{name}", str(of))]
        told += [f"--{name}" for name in ("raw", "regress") if getattr(self, name)]
        return told + parameters.words(self.parameters) + self.decision.words()

    def of_two(self) -> Learner:
        """The learner of two classes, or of targets, alone, not allocated. Raises ValueError for a
        parameter that it does not have, or that is out of range."""
        given = _parsed(self.kind, self.parameters)
        learner = self.kind(**given) if self.regress else of_kind(self.chosen, given)
        learner.plan(1)  # checks the parameters
        return learner

    def requested(self, n_classes: int = 0) -> tuple[Learner, bool]:
        """The learner, not allocated, and whether its capacity was given; `n_classes` is the number
        of classes that the source reports, 0 if unknown. Raises as `of_two` does."""
        inner = self.of_many(self.of_two(), n_classes)
        fixed = any(name in CAPACITIES for name in self.parameters)
        return self.decision.around(self.scaled(inner)), fixed

    def build(self, n_features: int, n_classes: int = 0) -> Learner:
        """The learner with the given capacity or the largest that fits the memory. Raises as
        `requested` does, and `MemoryBudgetError` if it does not fit."""
        learner, fixed = self.requested(n_classes)
        with said():
            return learner.fitted_into(self.memory, n_features, fixed=fixed)

    def of_many(self, inner: Learner, n_classes: int = 0) -> Learner:
        """`inner` for the requested number of classes; `n_classes` is the source's."""
        asked = self.classes
        if self.regress:
            return inner
        of_any = isinstance(inner, GradientLearner) or is_a(inner, "SharedTwinSVM")
        if self.multiclass is None and of_any:
            return inner.set_params(n_classes=asked or max(n_classes, 2))
        if self.multiclass is None and is_a(inner, "ByteSVM"):
            return inner.set_params(n_classes=asked or (n_classes if n_classes > 2 else None))
        if self.multiclass is None and asked in {None, 2}:
            return inner
        if asked is None and n_classes < 2:
            raise ValueError(
                f"--multiclass {self.multiclass}: give the number of classes with --classes K"
            )
        kind = kind_of(OF_MANY[self.multiclass or "one-vs-one"])
        return kind(learner=inner, n_classes=n_classes if asked is None else asked)

    def scaled(self, inner: Learner) -> Learner:
        """`inner` behind the requested scaler, or itself with ``--raw`` and where it scales its
        samples itself."""
        scales_itself = innermost(inner).scales_itself
        if self.raw and scales_itself:
            raise ValueError(f"--raw: {self.chosen} scales its samples; name another --learner")
        if self.raw or (self.scale is None and scales_itself):
            return inner
        scale = self.scale or DEFAULT_SCALE
        fills = {"missing": "mean"} if self.regress and scale == DEFAULT_SCALE else {}
        return kind_of(SCALERS[scale])(learner=inner, **fills)

    def contradicted(self, learner: Learner) -> list[tuple[str, str]]:
        """The options given that `learner`, which was loaded, does not have.

        Returns
        -------
        list of (str, str)
            What the learner has, and the option as it was given.
        """
        inner = innermost(learner)
        if learner.regresses != self.regress:
            return [("--regress", "classes") if learner.regresses else ("classes", "--regress")]
        named = {of: name for name, of in (REGRESSORS if self.regress else KINDS).items()}
        kind = named.get(type(inner).__name__, type(inner).__name__)
        if self.learner not in (None, kind):
            return [(f"--learner {kind}", f"--learner {self.learner}")]
        found = self.decision.contradicted(learner)
        scaled = decision_options.within(learner)
        if self.raw and (isinstance(scaled, Scaler) or inner.scales_itself):
            found.append(("standardized features", "--raw"))
        for name, text in sorted(self.parameters.items()):
            found += _differing(name, text, inner)
        has: dict[str, Any] = {
            "classes": learner.n_classes_planned,
            "multiclass": _many_kind(scaled),
            "scale": _scale(scaled),
        }
        for name, held in has.items():
            asked = getattr(self, name)
            if asked and asked != held:
                found.append((f"--{name} {held}" if held else f"no --{name}", f"--{name} {asked}"))
        return found


@contextlib.contextmanager
def said() -> Iterator[None]:
    """Warnings within become lines on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        print(f"edgesvm: {warning.message}", file=sys.stderr)


def _parsed(kind: type, given: Mapping[str, str]) -> dict[str, object]:
    return {name: parameters.parsed(kind, name, text) for name, text in given.items()}


def _differing(name: str, text: str, owner: Learner) -> list[tuple[str, str]]:
    """What this learner has for the parameter, if it is not `text`."""
    given = parameters.spelled(name, text)
    if name not in parameters.types_of(type(owner)):
        return [(f"no {parameters.spelled(name)}", given)]
    held = owner.get_params(deep=False)[name]
    if name in {"kernel", "gamma"} and hasattr(owner, "kernel"):
        kernel = owner.kernel_for(owner.n_features_in_)  # type: ignore[attr-defined]
        names = [of for of, kind in KERNELS.items() if isinstance(kernel, kind)]
        held = names[0] if name == "kernel" else getattr(kernel, "gamma", None)
    if held == parameters.parsed(type(owner), name, text):
        return []
    has = f"no {parameters.spelled(name)}" if held is None else parameters.spelled(name, held)
    return [(has, given)]


def class_of(kind: str, *, regress: bool = False) -> type[Learner]:
    """The class that a name of ``--learner`` stands for, with ``--regress`` or without."""
    return getattr(learners, (REGRESSORS if regress else KINDS)[kind])


def of_kind(kind: str, given: Mapping[str, object]) -> Learner:
    """A learner of this kind with these parameters."""
    return class_of(kind)(**{**DEFAULTS.get(kind, {}), **given})


def _many_kind(learner: Learner) -> str | None:
    """The name of ``--multiclass`` that stands for this learner's class, if there is one."""
    while isinstance(learner, Stage):
        learner = learner.inner
    return next((name for name, of in OF_MANY.items() if is_a(learner, of)), None)


def _scale(learner: Learner) -> str | None:
    """The name of ``--scale`` that stands for this learner's class, if there is one."""
    return next((name for name, kind in SCALERS.items() if is_a(learner, kind)), None)
