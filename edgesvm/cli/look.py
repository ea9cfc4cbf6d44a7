"""``edgesvm look``: the raw channels of a sensor or a file, before anything is learned."""

from __future__ import annotations

import math
import os
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from edgesvm import __version__
from edgesvm.cli import arguments, server
from edgesvm.cli.link_settings import SUFFIXES, FileRows, FileSettings, UnlabelledLink
from edgesvm.cli.options import argument, option, parsed, section
from edgesvm.cli.process import stop_signals
from edgesvm.cli.show_settings import PageSettings
from edgesvm.cli.window_settings import UnlabelledWindows
from edgesvm.contract.sparse import SparseRows
from edgesvm.data import CsvRows
from edgesvm.link import Batch, Link, Recording
from edgesvm.preprocessing.first_look import figures
from edgesvm.serve.job import Job
from edgesvm.serve.page import words
from edgesvm.serve.page.history import plain
from edgesvm.serve.page.view import Shown

HELP = """\
Look at the raw channels of a sensor or of a file before anything is learned: a curve of each, their
ranges, samples a second, the spectrum, and a proposal of --window, --hop and --bands.

  edgesvm look /dev/ttyUSB0                        until Ctrl-C
  edgesvm look /dev/ttyACM0 --text --http 8080     lines of text, with a page
  edgesvm look pump.rec                            a recording, a .csv or an .npz
  edgesvm look pump.csv --rate 1000 --label-column none
  edgesvm look pump.rec --window 500 --plot pump.png   the features of its windows, drawn

At the end stands a command to copy, and the figures behind it. Of a port, they are of the last
samples that came; of a file, of its first. All columns of text lines are channels.
"""
KEPT = 8192  # samples of a port
READ = 1 << 17  # samples of a file
CHUNK_ROWS = 4096
MOST_CLASSES = 32  # a last column of more values is no label, and neither is one of one value
WIDTH = 79  # of the text
MOST_CHANNELS = 8
CURVE_ROWS, SPECTRUM_ROWS = 3, 4
LEVELS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, kw_only=True)
class Settings:
    port: str = argument("a port, a .rec, a .csv or an .npz", unit="PORT|FILE")
    plot: str | None = option(
        None,
        "of a file: draw the features of its windows, those proposed or given (needs matplotlib)",
        unit="PNG",
        check=arguments.new_file,
    )
    columns: FileSettings = section(FileSettings)
    link: UnlabelledLink = section(UnlabelledLink)
    windows: UnlabelledWindows = section(UnlabelledWindows)
    show: PageSettings = section(PageSettings)


def act(settings: Settings) -> int:
    if os.path.isfile(settings.port) or settings.port.lower().endswith(SUFFIXES):
        at_file(settings)
    else:
        at_port(settings)
    return 0


class Looker(Shown):
    """Keeps the last samples of a link, and shows them.

    Attributes
    ----------
    job : Job
    """

    def __init__(self, link: Link, rate: float | None) -> None:
        assert link.schema is not None  # open
        self.link, self.job = link, Job(link, keep=self._keep)
        self._kept = np.zeros((KEPT, link.schema.n_features), np.float32)
        self._told = rate or (1e6 / link.schema.nominal_us if link.schema.nominal_us else None)
        self._began = time.monotonic()
        self._first = self._last = 0.0
        self._before = 0  # samples of the first look: they came before it

    def _keep(self, batch: Batch) -> None:
        X, taken = batch.X, self.job.taken
        n = len(X)
        if not n:
            return
        self._kept[np.arange(taken, taken + n)[-KEPT:] % KEPT] = X[-KEPT:]
        self._last = time.monotonic()
        if taken == 0:
            self._first, self._before = self._last, n

    @property
    def rate(self) -> float | None:
        """Samples a second as measured; None before there are some."""
        seconds = self._last - self._first
        return (self.job.taken - self._before) / seconds if seconds > 0 else None

    def tick(self) -> None:
        """Nothing is kept over time."""

    def status(self) -> dict[str, Any]:
        """All that is shown, as JSON has it."""
        order = np.arange(max(0, self.job.taken - KEPT), self.job.taken) % KEPT
        counters = self.link.counters
        shown = _status(self.link.name, self._kept[order], self.rate, self._told)
        return shown | {
            "seconds": round(time.monotonic() - self._began, 3),
            "stale_seconds": plain(self.stale_seconds),
            "samples": self.job.taken,
            "counters": counters,
            "lost": words.losses(counters),
            "memory": {"model": 0, "link": self.link.nbytes, "page": self._kept.nbytes},
        }

    def progress(self) -> str:
        last = self._kept[(self.job.taken - 1) % KEPT] if self.job.taken else []
        told = " ".join(f"{value:.4g}" for value in last)
        rate = "-" if self.rate is None else f"{self.rate:,.3g}"
        return f"{self.job.taken:,} samples  {rate}/s  {told}"


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


def at_port(settings: Settings) -> None:
    """Show what comes until a signal or enough samples; then print the figures and a command."""
    show, status = settings.show, settings.show.status_line()
    link_of = replace(settings.link, url=settings.port)
    with stop_signals() as signals, server.opened([link_of], signals) as (link,):
        looker = Looker(link, settings.windows.rate)
        port = server.Served(looker.job, link_of, status)
        try:
            with show.at({link.name: lambda: looker}, status) as looks:
                port.look = looks.get(link.name, port.look)
                server.serve([port], looker.progress, signals=signals, status=status)
        finally:
            status.end()
        _print(looker.status(), "watch", as_json=show.json)
    if port.error is not None:
        raise port.error


def at_file(settings: Settings) -> None:
    """Print the figures of a file's first samples, and a command."""
    file, columns, windows = settings.port, settings.columns, settings.windows
    most = settings.link.samples or READ
    if settings.plot:
        from edgesvm.cli import figures as pictures  # reports a missing matplotlib right away
    source = columns.open_unlabelled(file)
    X, numbers, classes = _read(source, most)
    guessed = isinstance(source, CsvRows) and source.labelled and columns.label_column is None
    if guessed and not 1 < classes <= MOST_CLASSES:
        source = replace(columns, label_column="none").open(file)
        X, numbers, classes = _read(source, most)
    told = windows.rate or (1e6 / source.period_us if source.period_us else None)
    shown = _status(file, X, None, told, source.feature_names)
    shown |= {"samples": len(X), "seconds": None, "lost": []}
    missing = int(np.maximum(np.diff(numbers) - 1, 0).sum())
    if missing:
        shown["lost"] = [{"count": missing, "why": words.LOSSES["missing"]}]
    if settings.plot:
        cut = windows if windows.window else parsed(UnlabelledWindows, shown.get("options", ""))
        features = replace(cut, rate=told).windows()
        if features is None:
            raise ValueError(f"{file}: too few samples to propose windows; give --window N")
        features.allocate(source.n_features).name_features(source.feature_names)
        pictures.features(features, zip(numbers.tolist(), X, strict=True), settings.plot, file)
    _print(shown, "eval" if classes > 1 else "watch", as_json=settings.show.json)


def _read(source: FileRows, most: int) -> tuple[np.ndarray, np.ndarray, int]:
    """The first samples (n, d) whose values are finite, their numbers, and how many classes."""
    with closing(source):
        numbers, rows, labels = [], [], set()
        for number, x, label in islice(samples(source), most):
            labels.add(label)
            if np.isfinite(x).all():
                numbers.append(number)
                rows.append(x.copy())
    X = np.array(rows, np.float32).reshape(-1, source.n_features)
    return X, np.array(numbers, np.int64), len(labels - {None})


def samples(source: FileRows) -> Iterator[tuple[int, np.ndarray, int | None]]:
    """Number, channels and label of each sample; None where it has no label.

    The number is that of the row, from 0, or in a recording the sequence number.
    """
    if isinstance(source, Recording):
        for batch in source.batches():
            columns = batch.sequence.tolist(), batch.X, batch.y.tolist(), batch.has_label
            for number, x, label, has_label in zip(*columns, strict=True):
                yield number, x, label if has_label else None
        return
    number = 0
    for X, y in source.chunks(CHUNK_ROWS):
        if isinstance(X, SparseRows):
            raise ValueError("raw samples must be dense rows, not a sparse matrix")
        for i, x in enumerate(X):
            yield number, x, None if y is None else int(y[i])
            number += 1


def _print(status: dict[str, Any], command: str, *, as_json: bool) -> None:
    """The figures as text or a JSON line, and the command to copy."""
    if as_json:
        import json

        print(json.dumps(status), flush=True)
        return
    print("\n".join(line[:WIDTH].rstrip() for line in _lines(status)))
    if status["samples"]:
        print(f"\nNext: edgesvm {command} {status['port']} {status['options']}".rstrip())


# The figures as text.


def _lines(s: dict[str, Any]) -> list[str]:
    """Raw channels, their spectrum, and what is proposed."""
    clock = "" if s["seconds"] is None else f"{_clock(s['seconds'])}  "
    title = f"edgesvm look  {s['port']}  {clock}"
    lines = [title + "─" * max(0, WIDTH - len(title)), *_wrapped(_sampled(s))]
    channels = s.get("channels", [])
    for channel, trace in zip(channels[:MOST_CHANNELS], s.get("traces", []), strict=False):
        lines += ["", *_wrapped([_ranged(channel)]), *_curve(trace, CURVE_ROWS, "{:.3g}".format)]
    if len(channels) > MOST_CHANNELS:
        lines += ["", f"and {len(channels) - MOST_CHANNELS} channels more"]
    if levels := s.get("spectrum", {}).get("levels"):
        top = s["spectrum"]["frequencies"][-1]
        unit = "Hz" if s["rate"] or s["told_rate"] else "of the rate: give --rate"
        lines += ["", f"spectrum of all channels, 0 to {top:.3g} {unit}, decibels"]
        lines += _curve(_highest(levels, WIDTH - 10), SPECTRUM_ROWS, "{:.0f}".format)
    return [*lines, "", *_wrapped([*s.get("why", []), s.get("options", "")])]


def _curve(points: Sequence[float], height: int, text: Callable[[float], str]) -> list[str]:
    """The last points as columns of blocks, from the lowest of them to the highest; these two at
    the left."""
    points = points[-(WIDTH - 10) :]
    low, high, n = min(points), max(points), len(LEVELS)
    scale = (height * n - 1) / ((high - low) or 1.0)
    filled = [1 + int((p - low) * scale) for p in points]
    lines = []
    for row in range(height - 1, -1, -1):
        label = text(high) if row == height - 1 else text(low) if row == 0 else ""
        blocks = (min(max(level - row * n, 0), n) for level in filled)
        lines.append(f"{label:>8}  " + "".join(f" {LEVELS}"[block] for block in blocks))
    return lines


def _highest(points: Sequence[float], most: int) -> list[float]:
    """As many points at most, each the highest of so many neighbours."""
    of = math.ceil(len(points) / most)
    return [max(points[at : at + of]) for at in range(0, len(points), of)]


def _sampled(s: dict[str, Any]) -> list[str]:
    told = "" if s["told_rate"] is None else f", {s['told_rate']:g} a second as told"
    measured = "" if s["rate"] is None else f", {s['rate']:,.1f} a second as measured"
    missing = [f"{one['count']:,} {one['why']}" for one in s["lost"][:2]]
    stale = s.get("stale_seconds")
    quiet = [] if stale is None else [f"NO SAMPLE for {stale:,.0f} s"]
    return [*quiet, f"{s['samples']:,} samples{told}{measured}", *missing]


def _ranged(c: dict[str, Any]) -> str:
    figures = f"{c['low']:.4g} to {c['high']:.4g}, mean {c['mean']:.4g}, spread {c['std']:.3g}"
    return f"{c['name']}  {figures}{'  ' if c['remark'] else ''}{c['remark']}"


def _wrapped(lines: Iterable[str]) -> list[str]:
    return [part for line in lines for part in textwrap.wrap(line, WIDTH)]


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"
