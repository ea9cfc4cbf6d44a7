"""Options that choose a learner, and the largest such learner that fits the memory."""

from __future__ import annotations

import contextlib
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from edgesvm import catalogue, learners
from edgesvm.cli import arguments, parameters
from edgesvm.cli.options import chosen, option, option_name, plain, spellings
from edgesvm.contract.registry import is_a, kind_of
from edgesvm.kernels import RBF, Linear, Polynomial
from edgesvm.learner import Learner
from edgesvm.learners.wrapper import innermost
from edgesvm.preprocessing.standardized import Standardized

if TYPE_CHECKING:
    from edgesvm.learners.drift import Drift, DriftWatch
    from edgesvm.persist.checkpointing import Checkpointer

REGRESS = "labels are numbers to predict, not classes"
# The class of each, which is imported once it is asked for.
KINDS = catalogue.commands(*catalogue.LEARNERS)
REGRESSORS = catalogue.commands("regressor")
OF_MANY = catalogue.commands("multiclass")
DEFAULT_KIND = "byte"
DEFAULT_REGRESSOR = "fourier"
DEFAULT_MEMORY = "16KiB"
# Samples of a day of which the targets are kept, to compare with those of the day before.
MOST_OF_A_DAY = 1440
DAY_US = 86_400_000_000
KERNELS: dict[str, type[object]] = {"rbf": RBF, "poly": Polynomial, "linear": Linear}


# Where a command's default is not the class's: a stream has no end, so a store must not refuse.
DEFAULTS: dict[str, dict[str, object]] = {"batch": {"when_full": "oldest"}}

ByLabel = dict[int | str, float]


def by_label(text: str) -> ByLabel:
    """LABEL=NUMBER,LABEL=NUMBER; a label that is an integer is one."""
    numbers: ByLabel = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        value = arguments.number(number)
        if not equals or not name.strip() or math.isnan(value):
            raise ValueError(f"{text}: give LABEL=NUMBER, or several with commas between them")
        label = name.strip()
        numbers[int(label) if label.removeprefix("-").isdecimal() else label] = value
    return numbers


def as_text(numbers: ByLabel) -> str:
    """The option's value of which `by_label` makes these numbers."""
    return ",".join(f"{label}={number!r}" for label, number in numbers.items())


@dataclass(frozen=True, kw_only=True)
class LearnerSettings:
    """The learner that is asked for; what its parameters mean is for its class to say."""

    TITLE: ClassVar[str] = "learner (its own options: `edgesvm plan --learner NAME`)"

    memory: str | int = option(DEFAULT_MEMORY, "such as 65536 or 64KiB", unit="BYTES")
    learner: str | None = option(
        None,
        f"{DEFAULT_KIND} (default), stream, twin, ...: `edgesvm plan`",
        unit="NAME",
    )
    set: tuple[tuple[str, str], ...] = option((), **parameters.SET)
    classes: int | None = option(
        None, "number of classes, if more than 2", unit="K", check=arguments.whole(2)
    )
    multiclass: str | None = option(
        None,
        "how a learner of two classes learns more: one-vs-one (default) or one-vs-rest",
        unit="HOW",
        choices=OF_MANY,
        hidden=True,
    )
    raw: bool = option(False, "do not standardize the features", hidden=True)
    probabilities: bool = option(False, "fit probabilities and report their log loss")
    sets: float | None = option(
        None,
        "give a set of labels that holds the right one in this share of samples",
        unit="SHARE",
        check=arguments.share,
    )
    cost: ByLabel | None = option(
        None,
        "what missing a class costs: fault=20; default 1",
        unit="LABEL=X,...",
        check=by_label,
        text=as_text,
    )
    min_recall: ByLabel | None = option(
        None,
        "share of a class to recognise: fault=0.9",
        unit="LABEL=SHARE",
        check=by_label,
        text=as_text,
    )
    regress: bool = False

    def __post_init__(self) -> None:
        if self.cost is not None and self.min_recall is not None:
            raise ValueError("--cost and --min-recall both move the decision: give one of them")
        if self.learner is not None:
            object.__setattr__(self, "learner", self._named(self.learner))
        others = ("classes", "multiclass", "probabilities", "sets", "cost", "min_recall")
        self.check_alone(**{name: getattr(self, name) or None for name in others})

    def _named(self, learner: str) -> str:
        """The name of a learner here. Raises ValueError if it is none, or one of the others."""
        others = KINDS if self.regress else REGRESSORS
        if plain(learner) in spellings(others).keys() - spellings(self.kinds):
            instead = f"tells classes apart: with --regress give --learner {', '.join(self.kinds)}"
            instead = instead if self.regress else "predicts numbers: give --regress"
            raise ValueError(f"--learner {learner} {instead}")
        return chosen(learner, self.kinds, "--learner ")

    def check_alone(self, **given: object) -> None:
        """Raise ValueError for an option that does not go with ``--regress``."""
        for name, value in given.items():
            if self.regress and value is not None:
                raise ValueError(f"{option_name(name)} does not go with --regress: leave it out")

    @property
    def chosen(self) -> str:
        """The kind of the learner."""
        return self.learner or (DEFAULT_REGRESSOR if self.regress else DEFAULT_KIND)

    @property
    def kinds(self) -> dict[str, str]:
        """Those to choose from."""
        return REGRESSORS if self.regress else KINDS

    @property
    def kind(self) -> type[Learner]:
        """The class of the learner."""
        return class_of(self.chosen, regress=self.regress)

    def of_two(self) -> Learner:
        """The learner of two classes, or of targets, alone, not allocated. Raises ValueError for a
        parameter that it does not have, or that is out of range."""
        kind = self.kind
        if self.raw and kind.scales_itself:
            having = parameters.having(self.kinds, lambda other: not other.scales_itself)
            raise ValueError(f"--raw: {self.chosen} scales its samples itself; {having} --raw")
        given = {name: parameters.parsed(kind, name, text, self.kinds) for name, text in self.set}
        learner = kind(**given) if self.regress else of_kind(self.chosen, given)
        try:
            learner.plan(1)  # checks the parameters
        except ValueError as error:
            raise ValueError(parameters.as_set(str(error))) from None
        return learner

    def requested(self, n_classes: int = 0) -> tuple[Learner, bool]:
        """The learner, not allocated, and whether its capacity was given; `n_classes` is the number
        of classes that the source reports, 0 if unknown. Raises as `of_two` does."""
        inner = self.of_many(self.of_two(), n_classes)
        capacities = {self.kind._capacity, "n_balls"}  # StreamSVM has these or a lookahead
        fixed = not capacities.isdisjoint(dict(self.set))
        return self._decided(self.scaled(inner)), fixed

    def build(self, n_features: int, n_classes: int = 0) -> Learner:
        """The same with the given capacity, or the largest that fits the memory."""
        learner, fixed = self.requested(n_classes)
        with said():
            return learner.fitted_into(self.memory, n_features, fixed=fixed)

    def of_many(self, inner: Learner, n_classes: int = 0) -> Learner:
        """`inner` for the requested number of classes; `n_classes` is the source's."""
        asked = self.classes
        if self.regress:
            return inner
        if self.multiclass is None and "n_classes" in parameters.types_of(type(inner)):
            of: Any = inner
            if asked or "n_classes" not in dict(self.set):  # None: as they come
                of.set_params(n_classes=asked or (of.n_classes and max(n_classes, 2)))
            return inner
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
        if self.raw or innermost(inner).scales_itself:
            return inner
        return Standardized(learner=inner, missing="mean" if self.regress else "refuse")

    def _decided(self, learner: Learner) -> Learner:
        """`learner`, within `Calibrated` if that is asked for. Raises ValueError for a number that
        is out of range."""
        if not (self.probabilities or self.sets or self.cost or self.min_recall):
            return learner
        return kind_of("Calibrated")(
            learner=learner, cost=self.cost, min_recall=self.min_recall, coverage=self.sets
        )

    def contradicted(self, learner: Learner) -> list[tuple[str, str]]:
        """What a loaded learner has that the options given contradict, and the options."""
        inner = innermost(learner)
        if learner.regresses != self.regress:
            return [("--regress", "classes") if learner.regresses else ("classes", "--regress")]
        named = {of: name for name, of in self.kinds.items()}
        kind = named.get(type(inner).__name__, type(inner).__name__)
        if self.learner not in (None, kind):
            return [(f"--learner {kind}", f"--learner {self.learner}")]
        decided = learner.get_params(deep=False) if is_a(learner, "Calibrated") else {}
        outer: Any = learner
        scaled = outer.inner if decided else learner
        found = [("no --probabilities", "--probabilities")] * (self.probabilities and not decided)
        if self.raw and (isinstance(scaled, Standardized) or inner.scales_itself):
            found.append(("standardized features", "--raw"))
        for name, text in sorted(dict(self.set).items()):
            found += _differing(name, text, inner)
        has = {
            "sets": decided.get("coverage"),
            "cost": decided.get("cost"),
            "min_recall": decided.get("min_recall"),
            "classes": learner.n_classes_planned,
            "multiclass": _many_kind(scaled),
        }
        for name, held in has.items():
            asked = getattr(self, name)
            if asked is not None and asked != held:
                found.append((_told(name, held), _told(name, asked)))
        return found


@dataclass(frozen=True, kw_only=True)
class LearnerOfAll(LearnerSettings):
    """That of a command where it may predict numbers too."""

    regress: bool = option(False, REGRESS)


@dataclass(frozen=True, kw_only=True)
class DriftSettings:
    """Whether drifts of the errors are looked for, and whether the learner starts over at one."""

    TITLE: ClassVar[str] = "drift"

    drift: str | None = option(
        None,
        "note where errors become more; reset: forget then what was learned",
        choices=("note", "reset"),
        without="note",
    )

    def watch(
        self, learner: Learner, say: Callable[[str], None], saver: Checkpointer | None = None
    ) -> DriftWatch | None:
        """The detector on this learner, or None."""
        if self.drift is None:
            return None
        from edgesvm.learners.drift import DriftWatch, PageHinkley

        starts_over = self.drift == "reset"

        def report(drift: Drift) -> None:
            if starts_over and saver is not None:
                saver.forget()
            say(f"{drift}{'; the learner starts over' if starts_over else ''}")

        return DriftWatch(learner, PageHinkley(), reset=starts_over, report=report)


def _told(name: str, value: Any) -> str:
    """An option with its value, or that there is none."""
    if value is None:
        return f"no {option_name(name)}"
    return f"{option_name(name)} {as_text(value) if isinstance(value, dict) else value}"


def _differing(name: str, text: str, owner: Learner) -> list[tuple[str, str]]:
    """What this learner has for a parameter, if that is not `text`."""
    given = parameters.spelled(name, text)
    if name not in parameters.types_of(type(owner)):
        return [(f"no {name}", given)]
    held = owner.get_params(deep=False)[name]
    if name in {"kernel", "gamma"} and hasattr(owner, "kernel"):
        kernel = owner.kernel_for(owner.n_features_in_)  # type: ignore[attr-defined]
        names = [of for of, kind in KERNELS.items() if isinstance(kernel, kind)]
        held = names[0] if name == "kernel" else getattr(kernel, "gamma", None)
    if held == parameters.parsed(type(owner), name, text, KINDS):
        return []
    return [(f"no {name}" if held is None else parameters.spelled(name, held), given)]


@contextlib.contextmanager
def said() -> Iterator[None]:
    """Warnings within become lines on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        print(f"edgesvm: {warning.message}", file=sys.stderr)


def class_of(kind: str, *, regress: bool = False) -> type[Learner]:
    """The class that a name of ``--learner`` stands for, with ``--regress`` or without."""
    return getattr(learners, (REGRESSORS if regress else KINDS)[kind])


def of_kind(kind: str, given: Mapping[str, object]) -> Learner:
    """A learner of this kind with these parameters."""
    return class_of(kind)(**{**DEFAULTS.get(kind, {}), **given})


def _many_kind(learner: Learner) -> str | None:
    """The name of ``--multiclass`` that stands for this learner's class, if there is one."""
    while isinstance(learner, Standardized):
        learner = learner.inner
    return next((name for name, of in OF_MANY.items() if is_a(learner, of)), None)


def check_labels(learner: Learner) -> bool:
    """Whether each label of --cost or --min-recall has been seen; ValueError if there is no room
    for one that has not."""
    if not is_a(learner, "Calibrated") or not (unseen := learner.unseen_labels_):
        return True
    known = learner.classes_.tolist()
    if len(known) == learner.n_classes_allocated:
        option = "--cost" if learner.cost else "--min-recall"
        raise ValueError(f"{option}: no sample has the label {unseen[0]!r}; the labels are {known}")
    return False


def season_of_day(period_us: float) -> int:
    """Samples of a day, if these are known and few; else 0."""
    of_a_day = round(DAY_US / period_us) if period_us else 0
    return of_a_day if of_a_day <= MOST_OF_A_DAY else 0
