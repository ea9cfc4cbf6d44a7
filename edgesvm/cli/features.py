"""``edgesvm features``: the features of a file's windows."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np

from edgesvm.budget import format_bytes
from edgesvm.cli import arguments, window_options
from edgesvm.cli.raw_samples import opened, samples
from edgesvm.cli.window_options import WindowSettings
from edgesvm.data import CsvRows, NpzRows
from edgesvm.errors import SampleRefused
from edgesvm.link import Recording
from edgesvm.preprocessing.in_order import InOrder
from edgesvm.preprocessing.window_features import WindowFeatures

HELP = """\
Cut the raw samples of a CSV, npz or recorded file into windows, and write the features of each
window to stdout, as CSV: the number of its last sample (from 0; in a recording its sequence
number), that sample's label if there are labels, and the features. No sample is stored.

  edgesvm features pump.csv --label-column none --window 256 --hop 128 --rate 1000
  edgesvm features pump.rec --bands 10-50,50-200 --features std,crest,power --plot pump.png
  edgesvm features wrist.npz --rate 52 --window 104 --features all --bands 0.5-3,3-10 > rows.csv

A sample that is missing from a recording, or has a value that is not finite, is a gap: the windows
over it are dropped, and counted on stderr.
"""


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("features", description=HELP)
    command.add_argument("file", metavar="FILE", help="a .csv, an .npz with X, or a .rec")
    window_options.add_to(command, always=True)
    arguments.add_columns(command)
    command.add_argument(
        "--plot",
        type=arguments.new_file,
        metavar="PNG",
        help="draw the features over the windows (needs matplotlib)",
    )
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    with closing(opened(options.file, options)) as source:
        arguments.say_notes(options.file, getattr(source, "notes", ()))
        windows = WindowSettings.of(options).windows(source.period_us)
        assert windows is not None  # the option has a default
        windows.allocate(source.n_features).name_features(source.feature_names)
        names = windows.names()
        print(",".join(["sample", *(["label"] if source.labelled else []), *names]))
        drawn: list[tuple[int, np.ndarray]] = []
        for number, label, row in _rows(windows, source):
            labels = [str(label)] if source.labelled else []
            print(",".join([str(number), *labels, *(f"{value:.7g}" for value in row)]))
            if options.plot:
                drawn.append((number, row.copy()))
    print(
        f"{windows.n_pushed_:,} samples, {windows.n_rows_:,} windows,"
        f" {windows.n_dropped_:,} dropped at gaps; {format_bytes(windows.nbytes)}",
        file=sys.stderr,
    )
    if options.plot:
        if not drawn:
            raise ValueError(f"{options.file}: no window is complete, there is nothing to draw")
        from edgesvm.cli import features_picture

        features_picture.draw(windows, drawn, options.plot, title=options.file)
    return 0


def _rows(
    windows: WindowFeatures, source: CsvRows | NpzRows | Recording
) -> Iterator[tuple[int, Any, np.ndarray]]:
    """Last sample's number, its label as the file has it, and features of each window."""
    in_order = InOrder(lambda x, label: windows.push(x), windows.gap)
    for number, x, label in samples(source):
        try:
            row = in_order.push(number, x)
        except SampleRefused:
            continue
        if row is not None:
            yield number, _name(source, label), row


def _name(source: CsvRows | NpzRows | Recording, label: int | None) -> Any:
    """The label as the file has it; "" where there is none."""
    if label is None:
        return ""
    return source.class_names[label] if source.class_names else label
