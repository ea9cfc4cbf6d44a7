"""``edgesvm plot``: draw a saved model."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edgesvm.calibration.calibrated import Calibrated
from edgesvm.cli import arguments
from edgesvm.cli.snapshots import read_learner
from edgesvm.cli.stored_points import StoredPoints, stored_points
from edgesvm.contract.sparse import SparseRows
from edgesvm.learner import Learner
from edgesvm.learners.wrapper import innermost
from edgesvm.link import open_rows
from edgesvm.preprocessing.scaler import Scaler

if TYPE_CHECKING:
    from edgesvm.cli.model_picture import Panel

HELP = """\
Draw a saved model over two of its features: the boundary, the margins if it has any, and its twins
or vectors. A point's size shows its weight, its colour its majority class. Several models are drawn
side by side. Needs matplotlib (the extra `plot`).

  edgesvm plot model.esvm -o model.png
  edgesvm plot model.ckpt -o model.png --data room.npz --range 18,24,0,600
  edgesvm plot gas.esvm -o gas.png --features 0,3 --at 7=0.5

With more than two features, choose two with --features. The others are set to the median of the
model's points, or of the data, unless --at sets them.
"""
MARGIN = 0.08  # around the points, relative to their range
DEVIATIONS = 3.0  # shown of a standardized model without points
MAX_ROWS = 100_000  # read from the data

Rows = tuple[NDArray[Any], NDArray[Any] | None]
Box = tuple[float, float, float, float]


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("plot", description=HELP)
    command.add_argument("models", metavar="MODEL", nargs="+", help="a snapshot or a checkpoint")
    command.add_argument(
        "-o",
        "--out",
        type=arguments.new_file,
        required=True,
        metavar="PNG",
        help="output file: .png, .svg or .pdf",
    )
    command.add_argument(
        "--data",
        metavar="FILE",
        help="rows to draw as dots: an .npz, a .csv with the label last, or a .rec",
    )
    command.add_argument(
        "--range",
        type=box,
        metavar="LO,HI[,LO,HI]",
        help="range of both features, or of each; default: around the points (write "
        "--range=-1,1 for negative numbers)",
    )
    command.add_argument(
        "--features", type=pair, metavar="I,J", help="the two features to draw, counted from 0"
    )
    command.add_argument(
        "--at",
        type=setting,
        action="append",
        default=[],
        metavar="I=VALUE",
        help="value of feature I, which is not drawn; may be repeated",
    )
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    from edgesvm.cli import model_picture  # reports a missing matplotlib right away

    panels = []
    for path in options.models:
        learner = read_learner(path)
        if learner is None or not learner.is_fitted:
            raise ValueError(f"{path} has not learned a sample yet: nothing to draw")
        rows = None if options.data is None else _rows(options.data, learner)
        try:
            panels.append(
                panel_of(
                    learner,
                    features=options.features,
                    at=dict(options.at),
                    box=options.range,
                    rows=rows,
                )
            )
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    model_picture.draw(panels, options.out)
    print(options.out)
    return 0


def panel_of(
    learner: Learner,
    *,
    title: str | None = None,
    features: tuple[int, int] | None = None,
    at: Mapping[int, float] | None = None,
    box: Box | None = None,
    rows: Rows | None = None,
) -> Panel:
    """The view of a fitted learner, with defaults for what the caller left open.

    Raises
    ------
    ValueError
        It cannot be drawn; the message names the option to give.
    """
    from edgesvm.cli.model_picture import Panel

    if learner.n_classes_planned > 2:
        raise ValueError("cannot draw a model of more than two classes")
    found = stored_points(learner)
    drawn = _features(learner, features)
    known = _points(learner, found, rows)
    return Panel(
        learner,
        drawn,
        _fixed(learner, drawn, dict(at or {}), known),
        box or _box(known, drawn),
        title or _title(learner, found),
        rows,
    )


def _rows(path: str, learner: Learner) -> Rows:
    source = open_rows(path)
    try:
        X, y = next(source.chunks(MAX_ROWS), (np.empty((0, source.n_features)), None))
    finally:
        source.close()
    if isinstance(X, SparseRows):
        X = X.toarray()
    if X.shape[1] != learner.n_features_in_:
        raise ValueError(
            f"{path} has {X.shape[1]} features, the model has {learner.n_features_in_}"
        )
    finite = np.isfinite(X).all(axis=1)
    return X[finite], None if y is None else y[finite]


def _features(learner: Learner, chosen: tuple[int, int] | None) -> tuple[int, int]:
    n = learner.n_features_in_
    if n < 2:
        raise ValueError("the model has one feature; a picture needs two")
    if chosen is None:
        if n > 2:
            raise ValueError(f"the model has {n} features: choose two with --features I,J")
        return 0, 1
    if max(chosen) >= n:
        raise ValueError(f"--features {chosen[0]},{chosen[1]}: the model has features 0 to {n - 1}")
    return chosen


def _points(
    learner: Learner, found: StoredPoints | None, rows: Rows | None
) -> NDArray[np.float64] | None:
    """Points that show the model's range: its own, else the data, else those of its scale."""
    if found is not None and len(found.points):
        return found.points
    if rows is not None and len(rows[0]):
        return rows[0].astype(np.float64)
    learner = learner.learner_ if isinstance(learner, Calibrated) else learner
    if isinstance(learner, Scaler):
        reach = DEVIATIONS * np.where(learner.scale_ > 0, learner.scale_, 1.0)
        return np.stack([learner.center_ - reach, learner.center_ + reach])
    return None


def _fixed(
    learner: Learner,
    drawn: tuple[int, int],
    given: dict[int, float],
    known: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    n = learner.n_features_in_
    for feature in given:
        if feature >= n:
            raise ValueError(f"--at {feature}=...: the model has features 0 to {n - 1}")
        if feature in drawn:
            raise ValueError(f"--at {feature}=...: this feature is one of the two drawn")
    others = [j for j in range(n) if j not in drawn and j not in given]
    if others and known is None:
        raise ValueError(
            f"the model has no points to set feature {others[0]} from: give --at "
            f"{others[0]}=VALUE for each feature that is not drawn, or --data FILE"
        )
    values = np.zeros(n)
    if known is not None:
        values[others] = np.median(known[:, others], axis=0)
    for feature, value in given.items():
        values[feature] = value
    return values


def _box(known: NDArray[np.float64] | None, drawn: tuple[int, int]) -> Box:
    if known is None:
        raise ValueError(
            "the model has no points to choose a range from: give --range or --data FILE"
        )
    low, high = known[:, drawn].min(axis=0), known[:, drawn].max(axis=0)
    width = np.where(high > low, high - low, 2.0 * np.maximum(np.abs(high), 0.5))
    low, high = low - MARGIN * width, high + MARGIN * width
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])


def _title(learner: Learner, found: StoredPoints | None) -> str:
    inner = innermost(learner)
    holds = "" if found is None else f"{len(found.points):,} {found.name}, "
    return f"{type(inner).__name__}: {holds}{learner.n_seen_:,} samples"


# -- values of options -----------------------------------------------------------------------------


def box(text: str) -> Box:
    """LO,HI for both features, or LO,HI,LO,HI."""
    numbers = [float(part) for part in text.split(",")]
    if len(numbers) == 2:
        numbers *= 2
    if len(numbers) != 4 or not (
        all(map(math.isfinite, numbers)) and numbers[0] < numbers[1] and numbers[2] < numbers[3]
    ):
        raise argparse.ArgumentTypeError(
            f"{text}: give two finite numbers LO,HI, the lower one first, or two for each feature"
        )
    return numbers[0], numbers[1], numbers[2], numbers[3]


def pair(text: str) -> tuple[int, int]:
    """Two different features."""
    first, _, second = text.partition(",")
    numbers = int(first), int(second or "-1")
    if min(numbers) < 0 or numbers[0] == numbers[1]:
        raise argparse.ArgumentTypeError(f"{text}: give two different features, such as 0,1")
    return numbers


def setting(text: str) -> tuple[int, float]:
    """A feature and its value, I=VALUE."""
    feature, _, number = text.partition("=")
    value = float(number or "nan")
    if int(feature) < 0 or not math.isfinite(value):
        raise argparse.ArgumentTypeError(
            f"{text}: give a feature and a finite number, such as 3=0.5"
        )
    return int(feature), value
