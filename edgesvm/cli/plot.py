"""``edgesvm plot``: draw a saved model."""

from __future__ import annotations

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
from edgesvm.plot import Panel, Rows, draw_panel, panel_of

HELP = """\
Draw a saved model over two of its features: the boundary, the margins if it has any, and its twins
or vectors. A point's size shows its weight, its colour its majority class. Several models are drawn
side by side. Needs matplotlib (the extra `plot`).

  edgesvm plot model.esvm -o model.png
  edgesvm plot model.ckpt -o model.png --data room.npz
  edgesvm plot gas.esvm -o gas.png --features 0,3
  edgesvm plot room.esvm -o room.png --features Light,CO2

With more than two features, choose two with --features. The others are set to the median of the
model's points, or of the data. `edgesvm.plot` of Python takes other values, and a range.
"""
MAX_ROWS = 100_000  # read from the data


def pair(text: str) -> tuple[str, str]:
    """Two different features."""
    first, _, second = (part.strip() for part in text.partition(","))
    if not first or not second or first == second:
        raise ValueError(f"{text}: give two different features, such as 0,1")
    return first, second


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
    features: tuple[str, str] | None = option(
        None,
        "the two features to draw, by their names or counted from 0",
        unit="I,J",
        check=pair,
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
            drawn = _drawn(settings.features, learner)
            panels.append(panel_of(learner, features=drawn, rows=rows))
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
