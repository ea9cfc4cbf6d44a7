"""``edgesvm look``: the raw channels of a sensor or a file, before anything is learned."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from typing import Any

import numpy as np

from edgesvm import __version__
from edgesvm.cli import arguments, link_options, looking_on, server
from edgesvm.cli.link_options import LinkSettings
from edgesvm.cli.looking_on import ShowSettings
from edgesvm.cli.raw_samples import opened, samples
from edgesvm.cli.stopping import stop_signals
from edgesvm.data import CsvRows
from edgesvm.link import Link, open_rows
from edgesvm.page import words
from edgesvm.page.lookout import Shown
from edgesvm.page.numbers import plain
from edgesvm.page.screen import Screen
from edgesvm.preprocessing.first_look import figures

HELP = """\
Look at the raw channels of a sensor or of a file before anything is learned: a curve of each, their
ranges, samples a second, the spectrum, and a proposal of --window, --hop and --bands.

  edgesvm look /dev/ttyUSB0                        fills the terminal until Ctrl-C
  edgesvm look /dev/ttyACM0 --http 8080            a page instead
  edgesvm look pump.rec                            a recording, a .csv or an .npz
  edgesvm look pump.csv --rate 1000 --label-column none

At the end stands a command to copy, and the figures behind it. Of a port, they are of the last
samples that came; of a file, of its first. All columns of text lines are channels.
"""
KEPT = 8192  # samples of a port
READ = 1 << 17  # samples of a file
MOST_CLASSES = 32  # a last column of more values is no label, and neither is one of one value
COLUMNS, ROWS = 79, 1000


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "look", usage="edgesvm look PORT|FILE [options]", description=HELP
    )
    command.add_argument("port", metavar="PORT|FILE", help="a port, a .rec, a .csv or an .npz")
    command.add_argument(
        "--rate",
        type=arguments.rate,
        metavar="HZ",
        help="samples a second; default: as the source says, or measured",
    )
    link_options.add_to(command, auto=True, labels=False)
    arguments.add_columns(command)
    shown = command.add_argument_group("what is shown")
    shown.add_argument(
        "--http", type=looking_on.address, metavar="[HOST:]PORT", help="a page at this port"
    )
    link_options.add_report(shown)
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    show = arguments.read(ShowSettings, options, live=options.http is None)
    if os.path.isfile(options.port) or options.port.lower().endswith(link_options.SUFFIXES):
        at_file(options, show)
    else:
        settings = LinkSettings.of(
            options,
            url=options.port,
            mode="text" if options.text else "auto",
            regress=None,
        )
        at_port(settings, show, options.rate)
    return 0


class Looker(Shown):
    """Keeps the last samples of a link, and shows them: a job to serve, and what a page shows."""

    teaching = None

    def __init__(self, link: Link, rate: float | None) -> None:
        assert link.schema is not None  # open
        self.link, self.taken = link, 0
        period_us = link.schema.nominal_us
        self._told = rate or (1e6 / period_us if period_us else None)
        self._kept = np.zeros((KEPT, link.schema.n_features), np.float32)
        self._began = self._first = self._last = time.monotonic()
        self._before = 0  # samples that were there at the first look: they came before it

    def step(self, timeout: float = 0.1, at_most: int | None = None) -> int:
        """Read once, waiting so many seconds, and keep what came. Returns how many samples."""
        self.link.poll(timeout)
        before = self.taken
        while at_most != 0 and (n := len(X := self.link.take(at_most).X)):
            self._kept[np.arange(self.taken, self.taken + n)[-KEPT:] % KEPT] = X[-KEPT:]
            self.link.release(n)
            self.taken += n
            at_most = None if at_most is None else at_most - n
        if self.taken > before:
            self._last = time.monotonic()
            if before == 0:
                self._first, self._before = self._last, self.taken
        return self.taken - before

    @property
    def rate(self) -> float | None:
        """Samples a second as measured; None before there are some."""
        seconds = self._last - self._first
        return (self.taken - self._before) / seconds if seconds > 0 else None

    def tick(self) -> None:
        """Nothing is kept over time."""

    def snapshot(self) -> None:
        """There is no model."""

    def status(self) -> dict[str, Any]:
        """All that is shown, as JSON has it."""
        order = np.arange(max(0, self.taken - KEPT), self.taken) % KEPT
        counters = self.link.counters
        shown = _status(self.link.name, self._kept[order], self.rate, self._told)
        return shown | {
            "seconds": round(time.monotonic() - self._began, 3),
            "stale_seconds": plain(self.stale_seconds),
            "samples": self.taken,
            "counters": counters,
            "lost": words.losses(counters),
            "memory": {
                "total": self.link.nbytes + self._kept.nbytes,
                "model": [],
                "link": [{"name": name, "bytes": n} for name, n in self.link.memory()],
                "page": [{"name": "last samples", "bytes": self._kept.nbytes}],
            },
        }

    def progress(self) -> str:
        last = self._kept[(self.taken - 1) % KEPT] if self.taken else []
        told = " ".join(f"{value:.4g}" for value in last)
        rate = "-" if self.rate is None else f"{self.rate:,.3g}"
        return f"{self.taken:,} samples  {rate}/s  {told}"


def _status(
    name: str,
    X: np.ndarray,
    rate: float | None,
    told: float | None,
    channels: Sequence[str] = (),
) -> dict[str, Any]:
    """Of the samples X (n, d), at a rate that was measured and one that the source or the user
    told."""
    names = channels or [f"x{j}" for j in range(X.shape[1])]
    at = told or (float(f"{rate:.3g}") if rate else None)
    shown = figures(X.astype(np.float64), at or 1.0, names) if len(X) else {}
    return {
        "kind": "look",
        "version": __version__,
        "port": name,
        "time": time.time(),
        "rate": rate,
        "told_rate": told,
        "remarks": {},
        **shown,
    }


def at_port(settings: LinkSettings, show: ShowSettings, rate: float | None) -> None:
    """Show what comes until a signal or enough samples; then print the figures and a command."""
    status = show.status_line()
    with stop_signals() as signals, server.opened([settings], signals) as (link,):
        looker = Looker(link, rate)
        port = server.Served(looker, settings, status)
        try:
            with show.at({link.name: lambda: looker}, status) as looks:
                port.look = looks.get(link.name, port.look)
                server.serve([port], looker.progress, signals=signals, status=status)
        finally:
            status.end()
        _print(looker.status(), "watch", show)
    if port.error is not None:
        raise port.error


def at_file(options: argparse.Namespace, show: ShowSettings) -> None:
    """Print the figures of a file's first samples, and a command."""
    source = opened(options.port, options)
    X, missing, classes = _read(source, options.samples)
    guessed = isinstance(source, CsvRows) and source.labelled and options.label_column is None
    if guessed and not 1 < classes <= MOST_CLASSES:
        source = open_rows(options.port, label_column="none", **arguments.columns(options))
        X, missing, classes = _read(source, options.samples)
    arguments.say_notes(options.port, getattr(source, "notes", ()))
    told = options.rate or (1e6 / source.period_us if source.period_us else None)
    shown = _status(options.port, X, None, told, getattr(source, "feature_names", ()))
    shown |= {"samples": len(X), "seconds": None, "lost": []}
    if missing:
        shown["lost"] = [{"count": missing, "why": words.LOSSES["missing"]}]
    _print(shown, "eval" if classes > 1 else "watch", show)


def _read(source: Any, most: int | None) -> tuple[np.ndarray, int, int]:
    """The first samples (n, d) whose values are finite, how many are missing among them, and the
    number of classes."""
    with closing(source):
        numbers, rows, labels = [], [], set()
        for number, x, label in islice(samples(source), most or READ):
            labels.add(label)
            if np.isfinite(x).all():
                numbers.append(number)
                rows.append(x.copy())
    X = np.array(rows, np.float32).reshape(-1, source.n_features)
    steps = np.diff(np.array(numbers, np.int64))
    return X, int(np.maximum(steps - 1, 0).sum()), len(labels - {None})


def _print(status: dict[str, Any], command: str, show: ShowSettings) -> None:
    """The figures as text or a JSON line, and the command to copy."""
    if show.json:
        import json

        print(json.dumps(status), flush=True)
        return
    print("\n".join(line.rstrip() for line in Screen().lines(status, COLUMNS, ROWS)))
    if status["samples"]:
        print(f"\nNext: edgesvm {command} {status['port']} {status['options']}".rstrip())
