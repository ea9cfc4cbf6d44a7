"""``edgesvm plot``: draw a saved model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edgesvm.cli import arguments
from edgesvm.cli.options import argument, option, required
from edgesvm.cli.saved_model import read_learner
from edgesvm.contract.names import word_of
from edgesvm.contract.sparse import SparseRows
from edgesvm.learner import Learner
from edgesvm.link.files import open_rows
from edgesvm.plot import Box, Panel, Rows, draw_panel, panel_of

HELP = """\
Draw a saved model over two of its features: the boundary, the margins if it has any, and its twins
or vectors. A point's size shows its weight, its colour its majority class. Several models are drawn
side by side. Needs matplotlib (the extra `plot`).

  edgesvm plot model.esvm -o model.png
  edgesvm plot model.ckpt -o model.png --data room.npz --range 18,24,0,600
  edgesvm plot gas.esvm -o gas.png --features 0,3 --at 7=0.5
  edgesvm plot room.esvm -o room.png --features Light,CO2

With more than two features, choose two with --features. The others are set to the median of the
model's points, or of the data, unless --at sets them.
"""
MAX_ROWS = 100_000  # read from the data


def box(text: str) -> Box:
    """LO,HI for both features, or LO,HI,LO,HI."""
    numbers = [arguments.number(part) for part in text.split(",")]
    if len(numbers) == 2:
        numbers *= 2
    if len(numbers) != 4 or not (
        all(map(math.isfinite, numbers)) and numbers[0] < numbers[1] and numbers[2] < numbers[3]
    ):
        raise ValueError(
            f"{text}: give two finite numbers LO,HI, the lower one first, or two for each feature"
        )
    return numbers[0], numbers[1], numbers[2], numbers[3]


def pair(text: str) -> tuple[str, str]:
    """Two different features."""
    first, _, second = (part.strip() for part in text.partition(","))
    if not first or not second or first == second:
        raise ValueError(f"{text}: give two different features, such as 0,1")
    return first, second


def setting(text: str) -> tuple[str, float]:
    """A feature and its value, I=VALUE."""
    feature, _, number = text.rpartition("=")
    value = arguments.number(number)
    if not feature or not math.isfinite(value):
        raise ValueError(f"{text}: give a feature and a finite number, such as 3=0.5")
    return feature.strip(), value


@dataclass(frozen=True, kw_only=True)
class Settings:
    models: tuple[str, ...] = argument("a snapshot or a checkpoint", unit="MODEL", repeat=True)
    out: str = required(
        "output file: .png, .svg or .pdf", unit="PNG", short="-o", check=arguments.new_file
    )
    data: str | None = option(
        None,
        "rows to draw as dots: an .npz, a .csv with the label last, or a .rec",
        unit="FILE",
    )
    range: Box | None = option(
        None,
        "range of both features, or of each; default: around the points (write --range=-1,1 for "
        "negative numbers)",
        unit="LO,HI[,LO,HI]",
        check=box,
    )
    features: tuple[str, str] | None = option(
        None,
        "the two features to draw, by their names or counted from 0",
        unit="I,J",
        check=pair,
    )
    at: tuple[tuple[str, float], ...] = option(
        (),
        "value of feature I, which is not drawn; may be repeated",
        unit="I=VALUE",
        check=setting,
        repeat=True,
    )


def act(settings: Settings) -> int:
    from edgesvm.cli import figures  # noqa: F401  (reports a missing matplotlib right away)

    panels = []
    for path in settings.models:
        learner = read_learner(path)
        if not learner.is_fitted:
            raise ValueError(f"{path} has not learned a sample yet: nothing to draw")
        rows = None if settings.data is None else _rows(settings.data, learner)
        try:
            panels.append(
                panel_of(
                    learner,
                    features=_drawn(settings.features, learner),
                    at={numbered(j, learner): value for j, value in settings.at},
                    box=settings.range,
                    rows=rows,
                )
            )
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    draw(panels, settings.out)
    print(settings.out)
    return 0


def draw(panels: Sequence[Panel], path: str) -> None:
    """Draw panels side by side, at most four per row. The path's suffix sets the file format."""
    from edgesvm.cli.figures import saved

    columns = min(len(panels), 4)
    lines = -(-len(panels) // columns)
    with saved(path, lines, columns, (4.6 * columns + 0.4, 5.3 * lines), dpi=130) as grid:
        for axes, panel in zip(grid.flat, panels, strict=False):
            draw_panel(axes, panel)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)


def _drawn(features: tuple[str, str] | None, learner: Learner) -> tuple[int, int] | None:
    if features is None:
        return None
    first, second = (numbered(feature, learner) for feature in features)
    if first == second:
        raise ValueError(f"--features {','.join(features)}: one feature, twice")
    return first, second


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
    if y is None:
        return X[finite], None
    return X[finite], np.array([word_of(source.class_names, k) for k in y[finite].tolist()])


def numbered(feature: str, learner: Learner) -> int:
    """The number of a feature of the model that is given by its name or its number."""
    names = list(getattr(learner, "feature_names_in_", ()))
    if feature in names:
        return names.index(feature)
    if feature.isdecimal():
        return int(feature)
    known = ", ".join(names) or f"features 0 to {learner.n_features_in_ - 1}, without names"
    raise ValueError(f"no feature {feature!r}: the model has {known}")
