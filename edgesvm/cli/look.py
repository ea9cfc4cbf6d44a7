"""``edgesvm look``: the raw channels of a sensor or a file, before anything is learned."""

from __future__ import annotations

import math
import os
import shlex
import textwrap
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from edgesvm import __version__
from edgesvm.cli import arguments, server
from edgesvm.cli.link_settings import SUFFIXES, FileSettings, UnlabelledLink
from edgesvm.cli.options import argument, option, parsed, section
from edgesvm.cli.options import words as words_of
from edgesvm.cli.show_settings import PageSettings
from edgesvm.cli.window_settings import UnlabelledWindows
from edgesvm.contract.sparse import SparseRows
from edgesvm.data.csv_rows import CsvRows
from edgesvm.errors import RowsError
from edgesvm.link._ring import Batch
from edgesvm.link.files import RowsLink
from edgesvm.link.link import Link
from edgesvm.preprocessing.first_look import figures
from edgesvm.serve.job import Job
from edgesvm.serve.page import words
from edgesvm.serve.page.history import plain
from edgesvm.serve.page.view import Shown
from edgesvm.serve.process import Signals

HELP = """\
Look at the raw channels of a sensor or of a file before anything is learned: a curve of each, their
ranges, samples a second, the spectrum, and a proposal of --window, --hop and --bands.

  edgesvm look /dev/ttyUSB0                        until Ctrl-C
  edgesvm look /dev/ttyACM0 --http 8080            with a page
  edgesvm look pump.rec                            a recording, a .csv or an .npz
  edgesvm look pump.csv --rate 1000 --label-column none
  edgesvm look pump.rec --window 500 --plot pump.png   the features of its windows, drawn

At the end stands a command to copy, and the figures behind it. Of a port, they are of the last
samples that came; of a file, of its first. All columns of text lines are channels.
"""
KEPT = 8192  # samples of a port
READ = 1 << 17  # samples of a file
MOST_CLASSES = 32  # a last column of more values is no label, and neither is one of one value
WIDTH = 79  # of the text
MOST_CHANNELS = 8
CURVE_ROWS, SPECTRUM_ROWS = 3, 4
SPECTRUM_DB = -20.0, 10.0  # at least: the spectrum of noise looks flat
LEVELS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, kw_only=True)
class LookedAt(UnlabelledLink):
    """A port, or the rows of a file."""

    of_file: FileSettings = section(FileSettings)

    @property
    def is_file(self) -> bool:
        return os.path.isfile(self.url) or self.url.lower().endswith(SUFFIXES)

    def open(self, sleep: Callable[[float], None] = time.sleep) -> Any:
        if not self.is_file:
            return super().open(sleep)
        files = self.of_file
        try:
            rows = files.open(self.url)
            guessed = isinstance(rows, CsvRows) and rows.labelled and files.label_column is None
            if guessed and not 1 < rows.n_classes <= MOST_CLASSES:
                rows = replace(files, label_column="none").open(self.url)
        except RowsError:  # the last column holds no labels, say
            if files.label_column is not None:
                raise
            rows = replace(files, label_column="none").open(self.url)
        return self._named(RowsLink(rows, self.url, value_range=self.range))


@dataclass(frozen=True, kw_only=True)
class Settings:
    port: str = argument("a port, a .rec, a .csv or an .npz", unit="PORT|FILE")
    plot: str | None = option(
        None,
        "of a file: draw the features of its windows, those proposed or given (needs matplotlib)",
        unit="PNG",
        check=arguments.new_file,
    )
    link: LookedAt = section(LookedAt)
    windows: UnlabelledWindows = section(UnlabelledWindows)
    show: PageSettings = section(PageSettings)


def act(settings: Settings) -> int:
    if settings.plot:
        from edgesvm.cli import figures  # noqa: F401  (reports a missing matplotlib right away)
    return LookSession(settings).serve()


class Looker(Shown):
    """Keeps the last samples of a link, or the first of a file, and shows them.

    Attributes
    ----------
    job : Job
    labels : set
        Those of the samples.
    """

    def __init__(self, link: Any, rate: float | None, *, kept: int, is_file: bool) -> None:
        assert link.schema is not None  # open
        self.link, self.job, self.labels = link, Job(link, keep=self._keep), set[Any]()
        self._X = np.zeros((kept, link.schema.n_features), np.float32)
        self._numbers = np.zeros(kept, np.int64)
        self.told = rate or (1e6 / link.schema.nominal_us if link.schema.nominal_us else None)
        self._is_file, self._n = is_file, 0  # samples kept so far
        self._began = time.monotonic()
        self._first = self._last = 0.0
        self._before = 0  # samples of the first look: they came before it

    def _keep(self, batch: Batch) -> None:
        if isinstance(batch.X, SparseRows):
            raise ValueError("raw samples must be dense rows, not a sparse matrix")
        self.labels.update(batch.y[batch.has_label].tolist())
        fine = np.isfinite(batch.X).all(axis=1)
        n = int(fine.sum())
        if not n:
            return
        most = len(self._X)
        at = np.arange(self._n, self._n + n)[-most:] % most
        self._X[at] = batch.X[fine][-most:]
        self._numbers[at] = batch.sequence[fine][-most:]
        self._last = time.monotonic()
        if self._n == 0:
            self._first, self._before = self._last, n
        self._n += n

    @property
    def kept(self) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the samples, and the samples (n, d), in their order."""
        order = np.arange(max(0, self._n - len(self._X)), self._n) % len(self._X)
        return self._numbers[order], self._X[order]

    @property
    def rate(self) -> float | None:
        """Samples a second as measured; None before there are some."""
        seconds = self._last - self._first
        if self._is_file or seconds <= 0:
            return None
        return (self._n - self._before) / seconds

    def tick(self) -> None:
        """Nothing is kept over time."""

    def status(self) -> dict[str, Any]:
        """All that is shown, as JSON has it."""
        (numbers, X), rate, counters = self.kept, self.rate, self.link.counters
        names = self.link.feature_names or [f"x{j}" for j in range(X.shape[1])]
        at = self.told or (float(f"{rate:.3g}") if rate else 1.0)
        lost = words.losses(counters)
        if self._is_file and (missing := int(np.maximum(np.diff(numbers) - 1, 0).sum())):
            lost = [{"count": missing, "why": words.LOSSES["missing"]}]
        return {
            "kind": "look",
            "version": __version__,
            "port": self.link.name,
            "time": time.time(),
            "rate": rate,
            "told_rate": self.told,
            "remarks": {},
            **(figures(X.astype(np.float64), at, names) if len(X) else {}),
            "seconds": None if self._is_file else round(time.monotonic() - self._began, 3),
            "stale_seconds": plain(self.stale_seconds),
            "samples": self._n,
            "counters": counters,
            "lost": lost,
            "memory": {"model": 0, "link": self.link.nbytes, "page": self._X.nbytes},
        }

    def progress(self) -> str:
        last = self._X[(self._n - 1) % len(self._X)] if self._n else []
        told = " ".join(f"{value:.4g}" for value in last)
        rate = "-" if self.rate is None else f"{self.rate:,.3g}"
        return f"{self._n:,} samples  {rate}/s  {told}"


class LookSession(server.Session):
    """A port until a signal or enough samples, or the first samples of a file."""

    reports_to_stdout = True

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        link = replace(settings.link, url=settings.port)
        if link.is_file:
            link = replace(link, samples=link.samples or READ)
        super().__init__([link], settings.show)

    def ports(
        self, links: list[Link], checkpoints: list[Any], signals: Signals
    ) -> list[server.Served]:
        (link,), asked = links, self._links[0]
        kept = asked.samples or KEPT if asked.is_file else KEPT
        rate = self._settings.windows.rate
        self._looker = Looker(link, rate, kept=kept, is_file=asked.is_file)
        return [server.Served(self._looker.job, asked, self.status, view=lambda: self._looker)]

    def save(self) -> None:
        """Draw the features of windows, if that is asked for."""
        settings, looker, port = self._settings, self._looker, self.port
        if not settings.plot or not port.settings.is_file or port.error:
            return
        from edgesvm.cli import figures as pictures

        cut = settings.windows
        if not cut.window:
            cut = parsed(UnlabelledWindows, looker.status().get("options", ""))
        features = replace(cut, rate=looker.told).windows()
        if features is None:
            raise ValueError(
                f"{port.link.name}: too few samples to propose windows; give --window N"
            )
        features.allocate(port.link.schema.n_features).name_features(port.link.feature_names)
        numbers, X = looker.kept
        samples = zip(numbers.tolist(), X, strict=True)
        pictures.features(features, samples, settings.plot, port.link.name)

    def progress(self) -> str:
        return self._looker.progress()

    def summary(self) -> dict[str, Any]:
        return self._looker.status()

    def report(self, summary: dict[str, Any]) -> None:
        if self.port.error is None:
            super().report(summary)

    def words(self, summary: dict[str, Any]) -> Iterable[str]:
        """The figures, and the command to copy."""
        yield from (line[:WIDTH].rstrip() for line in _lines(summary))
        if summary["samples"]:
            is_labelled = self.port.settings.is_file and len(self._looker.labels) > 1
            command = "eval" if is_labelled else "watch"
            asked: Any = replace(self._links[0], samples=None)
            if asked.is_file:
                asked = asked.of_file if is_labelled else replace(asked.of_file, label_column=None)
            given = shlex.join([summary["port"], *words_of(asked)])
            yield ""
            yield f"Next: edgesvm {command} {given} {summary['options']}".rstrip()


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
        lines += ["", f"spectrum of all channels, 0 to {top:.3g} {unit}, dB above white noise"]
        lines += _curve(_highest(levels, WIDTH - 10), SPECTRUM_ROWS, "{:.0f}".format, *SPECTRUM_DB)
    return [*lines, "", *_wrapped([*s.get("why", []), s.get("options", "")])]


def _curve(points: Sequence[float], rows: int, text: Callable[..., str], *ends: float) -> list[str]:
    """The last points as columns of blocks, from the lowest of them and of `ends` to the highest;
    these two at the left."""
    points = points[-(WIDTH - 10) :]
    low, high, n = min([*points, *ends]), max([*points, *ends]), len(LEVELS)
    scale = (rows * n - 1) / ((high - low) or 1.0)
    filled = [1 + int((p - low) * scale) for p in points]
    lines = []
    for row in range(rows - 1, -1, -1):
        label = text(high) if row == rows - 1 else text(low) if row == 0 else ""
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
