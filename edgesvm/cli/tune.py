"""``edgesvm tune``: choose C, gamma and the like on a file, by successive halving."""

from __future__ import annotations

import argparse
import itertools
import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from edgesvm.cli import arguments, learner_options, parameters
from edgesvm.cli.learner_options import LearnerSettings
from edgesvm.cli.status import StatusLine
from edgesvm.cli.tuned_values import described, values_of
from edgesvm.contract.sparse import stacked
from edgesvm.fleet.tuning import Candidate, halve, rungs
from edgesvm.link import open_rows

HELP = """\
Try values of what matters to a learner, within its memory: all of them on the first rows, the best
third on three times the rows, and so on to all rows (successive halving). Of those that are within
one standard error of the most accurate, the model of the fewest vectors is taken. Each row is
predicted before it is learned; with --holdout, the last share of the rows is predicted only.

  edgesvm tune room.csv --learner twin --memory 64KiB
  edgesvm tune digits.npz --positive 8 --learner ball-vector --shuffle 1 --holdout 0.3
  edgesvm tune room.csv --learner twin --dask tcp://scheduler:8786 --plot tuned.png

What is varied for which learner, as far as it is not given:

{varied}

The last line printed is the command with the best values. The rows are read into memory. Accuracy
of the best is that of the rows it was chosen by.
"""
CHUNK_ROWS = 1024


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "tune", usage="edgesvm tune FILE [options]", description=HELP.format(varied=described())
    )
    command.add_argument("file", metavar="FILE", help="a .csv, an .npz with X and y, or a .rec")
    arguments.add_columns(command)
    command.add_argument("--positive", type=int, metavar="LABEL", help="this class and all others")
    command.add_argument(
        "--shuffle", type=arguments.seed, metavar="SEED", help="take the rows in random order"
    )
    command.add_argument(
        "--holdout",
        type=_share,
        metavar="SHARE",
        help="predict the last share of the rows only, between 0 and 1; default: predict each row "
        "before it is learned",
    )
    command.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="try candidates on the workers of this Dask scheduler (needs the extra `fleet`)",
    )
    command.add_argument(
        "--plot",
        type=arguments.new_file,
        metavar="PNG",
        help="draw the accuracy of each candidate over the rounds (needs matplotlib)",
    )
    command.add_argument("--json", action="store_true", help="print one JSON line instead of text")
    learner_options.add_to(command)
    command.set_defaults(act=act)


def _share(text: str) -> float:
    share = float(text)
    if not 0 < share < 1:
        raise ValueError(text)
    return share


def act(options: argparse.Namespace) -> int:
    if options.plot:
        from edgesvm.cli import figures  # reports a missing matplotlib right away
    X, y = _rows(options)
    candidates = list(_candidates(options, X.shape[1], len(np.unique(y))))
    status = StatusLine(quiet=options.json)
    with _client(options) as client:
        try:
            ranked = halve(
                candidates,
                X,
                y,
                holdout=options.holdout,
                client=client,
                progress=lambda n, of: status.show(lambda: f"tried {n:,} of {of:,}"),
            )
        finally:
            status.end()
    rounds = rungs(len(X), len(candidates))
    if options.plot:
        scores = [(_said(c), c.scores) for c in ranked]
        share = np.unique(y, return_counts=True)[1].max() / len(y)
        figures.rounds([n for n, _ in rounds], scores, options.plot, larger_class=float(share))
    line = _command(options, ranked[0])
    if options.json:
        tried = [{**c.chosen, "accuracy": c.scores, "vectors": c.vectors} for c in ranked]
        print(json.dumps({"rows": [n for n, _ in rounds], "tried": tried, "command": line}))
    else:
        _print_table([n for n, _ in rounds], ranked, line)
    return 0


def _rows(options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray]:
    """All rows without missing cells, and their labels."""
    rows = open_rows(
        options.file,
        label_column=options.label_column,
        **arguments.columns(options),
    )
    with closing(rows):
        arguments.say_notes(options.file, getattr(rows, "notes", ()))
        if not rows.labelled:
            raise ValueError(f"{options.file} has no labels: there is nothing to learn")
        chunks = [(chunk.X, chunk.y) for chunk in rows.chunks(CHUNK_ROWS)]
    if not chunks:
        raise ValueError(f"{options.file} has no rows")
    X, y = (stacked(column) for column in zip(*chunks, strict=True))
    if not isinstance(X, np.ndarray):
        raise ValueError(f"{options.file}: sparse rows cannot be tuned on; use dense ones")
    fine = np.isfinite(X).all(axis=1)
    X, y = X[fine], y[fine]
    if options.positive is not None:
        y = (y == options.positive).astype(np.int64)
    if len(np.unique(y)) < 2:
        raise ValueError(f"{options.file} has rows of one class only: nothing to choose by")
    if options.shuffle is not None:
        order = np.random.default_rng(options.shuffle).permutation(len(X))
        X, y = X[order], y[order]
    return X, y


def _candidates(
    options: argparse.Namespace, n_features: int, n_classes: int
) -> Iterator[Candidate]:
    asked = LearnerSettings.of(options)
    is_rbf = asked.parameters.get("kernel", "rbf") == "rbf"
    tried = values_of(asked.chosen, set(asked.parameters), n_features, is_rbf=is_rbf)
    if not tried:
        raise ValueError(f"--learner {asked.chosen}: there is nothing left to vary")
    for values in itertools.product(*tried.values()):
        chosen = dict(zip(tried, values, strict=True))
        learner = replace(asked, parameters={**asked.parameters, **_texts(chosen)}).build(
            n_features, n_classes
        )
        if learner.n_classes_planned < n_classes:
            raise ValueError(
                f"{options.file} has {n_classes} classes: give --positive LABEL to learn one"
                " against all others, or --multiclass one-vs-one"
            )
        yield Candidate(chosen, learner)


@contextmanager
def _client(options: argparse.Namespace) -> Iterator[Any]:
    """A client of the scheduler that was named; None if none was."""
    if options.dask is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise RuntimeError("--dask needs Dask: pip install 'edgesvm[fleet]'") from error
    with Client(options.dask, timeout="10s") as client:
        yield client


def _texts(chosen: Mapping[str, Any]) -> dict[str, str]:
    """The chosen values as text, without those that are left at their defaults."""
    return {
        name: value if isinstance(value, str) else format(value, "g")
        for name, value in chosen.items()
        if value is not None
    }


def _said(candidate: Candidate) -> str:
    """The options that make it this candidate."""
    return " ".join(parameters.words(_texts(candidate.chosen)))


def _print_table(rows: list[int], ranked: list[Candidate], line: str) -> None:
    width = max(len(_said(candidate)) for candidate in ranked)
    header = f"{'accuracy on':<{width}}" + "".join(f"{n:>12,} rows" for n in rows)
    has_vectors = any(candidate.vectors for candidate in ranked)
    print(header + "     vectors" * has_vectors)
    for candidate in ranked:
        cells = "".join(f"{100 * score:>15.1f} %" for score in candidate.scores)
        said = f"{_said(candidate):<{width}}{cells}"
        print(said + f"{candidate.vectors:>{len(header) + 12 - len(said)},}" * has_vectors)
    print(f"\n{ranked[0].learner!r}\n{line}")


def _command(options: argparse.Namespace, best: Candidate) -> str:
    """The line to run: `eval` with the options given and the best values."""
    words = ["edgesvm", "eval", options.file]
    for name in ("label_column", "drop_column", "positive", "shuffle", "holdout"):
        given = getattr(options, name)
        for one in given if isinstance(given, list) else [given]:
            words += [] if one is None else [f"--{name.replace('_', '-')}", str(one)]
    asked = LearnerSettings.of(options)
    given = {**asked.parameters, **_texts(best.chosen)}
    return shlex.join([*words, *replace(asked, parameters=given).words()])
