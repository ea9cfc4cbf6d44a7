"""Options that choose a learner, and the largest such learner that fits the memory."""

from __future__ import annotations

import argparse

from edgesvm import catalogue, learners
from edgesvm.cli import arguments, decision_options
from edgesvm.contract.registry import is_a, kind_of
from edgesvm.kernels import RBF, Linear, Polynomial
from edgesvm.learner import DTYPES, Learner
from edgesvm.learners.gradient.gradient_learner import GradientLearner
from edgesvm.learners.wrapper import Wrapper
from edgesvm.preprocessing.scaler import Scaler
from edgesvm.preprocessing.stage import Stage

# The class of each, which is imported once it is asked for.
KINDS = catalogue.commands(*catalogue.LEARNERS)
OF_MANY = catalogue.commands("multiclass")
SCALERS = catalogue.commands("scaler")
LINEAR = catalogue.commands("plane")
DEFAULT_SCALE = "deviation"
DEFAULT_KIND = "fourier"
SCHEMES = (
    *("error_driven", "fixed_partition", "exceeding_margin", "exceeding_margin_errors", "active"),
)
DEFAULT_MEMORY = "16KiB"
KERNELS: dict[str, type[object]] = {"rbf": RBF, "poly": Polynomial, "linear": Linear}


def add_to(
    command: argparse.ArgumentParser, *, memory: bool = True, memory_default: str = DEFAULT_MEMORY
) -> None:
    """Add the options; one that is not given keeps the learner's default."""
    group = command.add_argument_group("learner")
    if memory:
        group.add_argument(
            "--memory",
            default=DEFAULT_MEMORY,
            metavar="BYTES",
            help=f"memory budget, such as 65536, 64KiB or 1MiB; default {memory_default}",
        )
    group.add_argument(
        "--learner",
        choices=KINDS,
        help=f"default {DEFAULT_KIND}; {catalogue.help_of(*catalogue.LEARNERS)}. All but "
        "stream, fourier and the linear ones use an RBF kernel unless --kernel is given",
    )
    group.add_argument(
        "--bound",
        choices=("lower", "upper"),
        help="bound on the ball's radius (stream, kernel-stream); upper: the paper's, encloses "
        "every sample seen; lower (default): more accurate",
    )
    group.add_argument(
        "--C",
        type=float,
        help="penalty of margin violations; default 1, for kernel-stream, twin and twin-dictionary "
        "100",
    )
    group.add_argument(
        "--lookahead",
        type=arguments.count,
        metavar="L",
        help="samples stored besides the ball (stream); default: as many as fit, "
        "at most 8 (64 with --bound upper)",
    )
    group.add_argument(
        "--n-balls",
        type=arguments.count,
        metavar="K",
        help="number of balls (stream), instead of --lookahead",
    )
    group.add_argument(
        "--average",
        action=argparse.BooleanOptionalAction,
        help="decide by the average of the weights over the stream where it is right more often "
        "than the last weights (stream; default), or by the last weights only, in half the bytes",
    )
    group.add_argument(
        "--class-weight",
        choices=("balanced",),
        help="balanced: the rarer class counts more, by the numbers of samples so far (stream, "
        "fourier, kernel-stream, lasvm, and the linear ones)",
    )
    group.add_argument(
        "--max-vectors",
        type=arguments.count,
        metavar="M",
        help="vectors stored (kernel-stream, incremental, windowed, incremental-decremental, "
        "simple, lasvm, forgetron, kernel-perceptron); default: as many as fit",
    )
    group.add_argument(
        "--when-full",
        choices=("newton", "share"),
        help="what follows when no vector fits any more (kernel-stream); newton (default): the "
        "vectors stay and their coefficients are learned; share: the ball goes on",
    )
    group.add_argument(
        "--scheme",
        choices=SCHEMES,
        help="which samples join a batch (incremental, windowed; active: incremental only); "
        "default fixed_partition: all",
    )
    group.add_argument(
        "--batch-size",
        type=arguments.count,
        metavar="N",
        help="samples per batch (incremental, windowed); default: as --max-vectors",
    )
    group.add_argument(
        "--batches",
        type=arguments.count,
        metavar="W",
        help="batches in the window (windowed); default 3",
    )
    group.add_argument(
        "--max-samples",
        type=arguments.count,
        metavar="B",
        help="samples stored (batch, reservoir); default: as many as fit",
    )
    group.add_argument(
        "--max-twins",
        type=arguments.count,
        metavar="B",
        help="twins stored (twin, twin-dictionary); default: as many as fit",
    )
    group.add_argument(
        "--max-core",
        type=arguments.count,
        metavar="M",
        help="core vectors stored (core-vector, ball-vector); default: as many as fit",
    )
    group.add_argument(
        "--epsilon",
        type=float,
        help="how far outside the ball a sample may lie, relative to its radius (core-vector, "
        "ball-vector); default 1e-4",
    )
    group.add_argument(
        "--kernel",
        choices=("rbf", "poly", "linear"),
        help="kernel (all learners with one but core-vector and ball-vector); default rbf",
    )
    group.add_argument(
        "--gamma",
        type=float,
        help="kernel width; default 1 / number of features, and for fourier and --fourier several "
        "widths",
    )
    group.add_argument(
        "--n-directions",
        type=arguments.count,
        metavar="P",
        help="random directions, two features each (fourier, --fourier); default: as many as fit",
    )
    group.add_argument(
        "--directions",
        choices=("auto", "independent", "orthogonal"),
        help="how they are drawn (fourier, --fourier); auto (default) takes orthogonal ones, which "
        "are many times faster, from 16 features on",
    )
    group.add_argument(
        "--fourier",
        action="store_const",
        const=True,
        help=f"random Fourier features before a linear learner ({', '.join(LINEAR)}), which makes "
        "it a kernel machine; --gamma, --n-directions and --directions are theirs",
    )
    group.add_argument(
        "--loss",
        choices=("hinge", "logistic"),
        help="loss of a margin (adagrad, fourier); default hinge",
    )
    group.add_argument(
        "--learning-rate",
        type=float,
        metavar="RATE",
        help="factor of all steps (adagrad, fourier); default 0.1, for adagrad 0.5",
    )
    group.add_argument(
        "--classes",
        type=arguments.count,
        metavar="K",
        help="number of classes; with more than 2, one learner per pair of classes (one-vs-one)",
    )
    group.add_argument(
        "--multiclass",
        choices=OF_MANY,
        help=f"{catalogue.help_of('multiclass')}; without --classes, the source says how many",
    )
    group.add_argument("--dtype", choices=DTYPES, help="type of stored values; default float32")
    group.add_argument(
        "--scale",
        choices=SCALERS,
        help=f"how features are standardized; default {DEFAULT_SCALE}; "
        f"{catalogue.help_of('scaler')}",
    )
    group.add_argument("--raw", action="store_true", help="do not standardize the features")
    decision_options.add_to(group)


# The options of each learner.
OWN: dict[str, tuple[str, ...]] = {
    "stream": ("C", "bound", "lookahead", "n_balls", "average", "class_weight", "dtype"),
    "auto": ("dtype",),
    "adagrad": ("loss", "learning_rate", "class_weight", "dtype"),
    "fourier": (
        *("gamma", "n_directions", "directions", "loss", "learning_rate", "class_weight", "dtype"),
    ),
    "kernel-stream": (
        *("C", "bound", "max_vectors", "when_full", "kernel", "gamma", "class_weight", "dtype"),
    ),
    "twin": ("C", "max_twins", "kernel", "gamma", "dtype"),
    "twin-dictionary": ("C", "max_twins", "kernel", "gamma", "dtype"),
    "incremental-decremental": ("C", "max_vectors", "kernel", "gamma", "dtype"),
    "simple": ("C", "max_vectors", "kernel", "gamma", "dtype"),
    "lasvm": ("C", "max_vectors", "kernel", "gamma", "class_weight", "dtype"),
    "forgetron": ("max_vectors", "kernel", "gamma", "dtype"),
    "kernel-perceptron": ("max_vectors", "kernel", "gamma", "dtype"),
    "perceptron": ("class_weight", "dtype"),
    "passive-aggressive": ("C", "class_weight", "dtype"),
    "pegasos": ("class_weight", "dtype"),
    "core-vector": ("C", "epsilon", "max_core", "gamma", "dtype"),
    "ball-vector": ("C", "epsilon", "max_core", "gamma", "dtype"),
    "batch": ("C", "max_samples", "kernel", "gamma", "dtype"),
    "reservoir": ("C", "max_samples", "kernel", "gamma", "dtype"),
    "incremental": ("C", "scheme", "batch_size", "max_vectors", "kernel", "gamma", "dtype"),
    "windowed": ("C", "scheme", "batch_size", "batches", "max_vectors", "kernel", "gamma", "dtype"),
}
OF_FEATURES = ("gamma", "n_directions", "directions")  # the options of --fourier
ANY_OWN = {name for names in OWN.values() for name in names}
RENAMED = {"batches": "window"}  # --window is that of raw samples
CAPACITIES = (
    "lookahead",
    "n_balls",
    "max_vectors",
    "max_samples",
    "max_core",
    "max_twins",
    "n_directions",
)
# Where a command's default is not the class's: a stream has no end, so a store must not refuse.
DEFAULTS: dict[str, dict[str, object]] = {
    "batch": {"when_full": "oldest"},
}


def class_of(kind: str) -> type[Learner]:
    """The class that a name of ``--learner`` stands for."""
    return getattr(learners, KINDS[kind])


def of_kind(kind: str, given: dict) -> Learner:
    """A learner of this kind, with those of the given options that it has."""
    asked = {RENAMED.get(name, name): given[name] for name in OWN[kind] if name in given}
    return class_of(kind)(**DEFAULTS.get(kind, {}) | asked)


def of_many(options: argparse.Namespace, inner: Learner, n_classes: int = 0) -> Learner:
    """`inner` for the requested number of classes; `n_classes` is the source's, 0 if unknown."""
    asked = options.classes
    if asked is not None and asked < 2:
        raise ValueError(f"--classes {asked}: give at least 2")
    if options.multiclass is None and isinstance(inner, GradientLearner):
        return inner.set_params(n_classes=asked or max(n_classes, 2))
    if asked is None and options.multiclass is None:
        return inner
    if options.multiclass is None and asked == 2:
        return inner
    if asked is None and n_classes < 2:
        raise ValueError(
            f"--multiclass {options.multiclass}: give the number of classes with --classes K"
        )
    kind = kind_of(OF_MANY[options.multiclass or "one-vs-one"])
    return kind(learner=inner, n_classes=n_classes if asked is None else asked)


def innermost(learner: Learner) -> Learner:
    """The learner behind all stages, or of each part of a multiclass learner."""
    while isinstance(learner, Wrapper) and not is_a(learner, "RandSVM"):
        learner = learner.inner
    return learner


def requested(options: argparse.Namespace, n_classes: int = 0) -> tuple[Learner, bool]:
    """The requested learner, and whether its capacity was given."""
    kind = options.learner or ("stream" if options.fourier else DEFAULT_KIND)
    given = {name: value for name, value in vars(options).items() if value is not None}
    of_features = OF_FEATURES if options.fourier else ()
    unknown = ANY_OWN.difference(OWN[kind], of_features)
    if kind not in LINEAR:
        unknown.add("fourier")
    for name in sorted(unknown):
        if name in given:
            raise ValueError(f"{_option(name)} does not apply to --learner {kind}")
    inner = of_many(options, of_kind(kind, given), n_classes)
    if options.fourier:
        asked = {name: given[name] for name in OF_FEATURES if name in given}
        inner = kind_of("FourierFeatures")(learner=inner, **asked)
    capacities = ("n_directions",) if options.fourier else CAPACITIES
    fixed = any(name in given for name in capacities)
    return decision_options.around(options, scaled(options, inner)), fixed


def scaled(options: argparse.Namespace, inner: Learner) -> Learner:
    """`inner` behind the requested scaler, or itself with ``--raw``."""
    if options.raw and options.scale is not None:
        raise ValueError(f"--scale {options.scale} contradicts --raw: give one of them")
    if options.raw:
        return inner
    return kind_of(SCALERS[options.scale or DEFAULT_SCALE])(learner=inner)


def contradicted(options: argparse.Namespace, learner: Learner) -> list[tuple[str, str]]:
    """The options given on the command line that `learner`, which was loaded, does not have.

    Returns
    -------
    list of (str, str)
        What the learner has, and the option as it was given.
    """
    inner = innermost(learner)
    named = {of: name for name, of in KINDS.items()}
    kind = named.get(type(inner).__name__, type(inner).__name__)
    if options.learner not in (None, kind):
        return [(f"--learner {kind}", f"--learner {options.learner}")]
    found = decision_options.contradicted(options, learner)
    scaled = decision_options.within(learner)
    if options.raw and isinstance(scaled, Scaler):
        found.append(("standardized features", "--raw"))
    has = _own_values(inner, learner.n_features_in_) | _many_values(scaled) | _scale(scaled)
    has |= _features(scaled)
    for name in (*sorted(ANY_OWN), "fourier", "multiclass", "classes", "scale"):
        value = getattr(options, name)
        if value is not None and has.get(name) != value:
            text = f"{_option(name)} {has[name]}" if name in has else f"no {_option(name)}"
            found.append((text, f"{_option(name)} {value}".removesuffix(" True")))
    return found


def _own_values(inner: Learner, n_features: int) -> dict[str, object]:
    """The values that the options of a two-class learner would have."""
    params = inner.get_params(deep=False)
    values = {name: params.get(RENAMED.get(name, name)) for name in ANY_OWN}
    if "kernel" in params:
        kernel = inner.kernel_for(n_features)  # type: ignore[attr-defined]
        values["kernel"] = next(name for name, of in KERNELS.items() if isinstance(kernel, of))
        values["gamma"] = getattr(kernel, "gamma", None)
    return {name: value for name, value in values.items() if value is not None}


def _many_values(learner: Learner) -> dict[str, object]:
    """The values that ``--multiclass`` and ``--classes`` would have."""
    many = learner
    while isinstance(many, Stage):
        many = many.inner
    kind = _many_kind(many)
    return {"classes": many.n_classes_planned} | ({} if kind is None else {"multiclass": kind})


def _many_kind(learner: Learner) -> str | None:
    """The name of ``--multiclass`` that stands for this learner's class, if there is one."""
    return next((name for name, of in OF_MANY.items() if is_a(learner, of)), None)


def _features(learner: Learner) -> dict[str, object]:
    """The values that ``--fourier`` and its options would have."""
    stage = learner.inner if isinstance(learner, Scaler) else learner
    if not is_a(stage, "FourierFeatures"):
        return {}
    values = {name: getattr(stage, name) for name in OF_FEATURES}
    return {"fourier": True, **{k: v for k, v in values.items() if v is not None}}


def _scale(learner: Learner) -> dict[str, object]:
    """The value that ``--scale`` would have."""
    names = [name for name, kind in SCALERS.items() if is_a(learner, kind)]
    return {"scale": names[0]} if names else {}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def build(options: argparse.Namespace, n_features: int, n_classes: int = 0) -> Learner:
    """The requested learner, with the given capacity or the largest that fits ``--memory``.

    `n_classes` is the number of classes that the source reports, 0 if unknown.

    Raises
    ------
    MemoryBudgetError
        It does not fit.
    """
    learner, fixed = requested(options, n_classes)
    return learner.fitted_into(options.memory, n_features, fixed=fixed)
