"""The back-test of a watch: its alarms beside the faults that the labels of a file tell."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgesvm.contract.names import word_of
from edgesvm.data.rows import NO_LABEL
from edgesvm.errors import LinkDown
from edgesvm.link.files import RowsLink

# What samples without a fault are called; if none is, it is the label of most samples.
NORMAL = {"0", "false", "no", "none", "normal", "ok", "fine", "good", "healthy", "benign"}
CHANNELS, POINTS = 3, 1000  # drawn
WIDTH = 64  # of a line of text


@dataclass
class Span:
    """Rows of a fault or an alarm, from `first` to before `end`, and when it began."""

    first: int
    end: int
    began: float


def clock(link: RowsLink, row: int) -> float:
    """When a row was taken, in seconds; its number, if the file has no times."""
    return link.seconds(row) if link.seconds_apart else float(row)


class BackTest:
    """All rows of a file, read before they are watched; then the alarms are added.

    An alarm is of a fault if it begins in it, or at most `late` rows before or behind it, as
    windows and K of N need some: one that was on long before found nothing. Raises ValueError if
    the labels are all the same.
    """

    def __init__(self, link: RowsLink, late: int) -> None:
        self.alarms: list[Span] = []
        self.watching: Span | None = None  # from where
        self._late, self._timed, self.n = late, bool(link.seconds_apart), 0
        runs: list[tuple[Any, Span]] = []
        counts: Counter[Any] = Counter()
        self._signal: list[np.ndarray] = []  # lowest and highest values, for the picture
        self._step = max((getattr(link.file, "n_rows", None) or 0) // POINTS, 16)
        while link.waiting or self._more(link):
            batch = link.take()
            for at in range(0, len(batch.y), self._step):
                part = batch.X[at : at + self._step, :CHANNELS]
                self._signal += [np.fmin.reduce(part), np.fmax.reduce(part)]
            for label in np.where(batch.has_label, batch.y, NO_LABEL).tolist():
                if not runs or runs[-1][0] != label:
                    runs.append((label, Span(self.n, self.n, clock(link, self.n))))
                self.n += 1
                runs[-1][1].end = self.n
                counts[label] += 1
            self.ended = clock(link, self.n - 1)
            link.release(len(batch.y))
        words = {label: str(word_of(link.class_names, label)) for label in counts}
        known = [label for label, word in words.items() if word.lower() in NORMAL]
        normal = (known or [counts.most_common(1)[0][0]])[0]
        self.normal = words[normal]
        self.faults = [span for label, span in runs if label not in (normal, NO_LABEL)]
        if not self.faults:
            raise ValueError(f"{link.name}: all rows have the label {self.normal}")

    @staticmethod
    def _more(link: RowsLink) -> bool:
        try:
            return link.poll() > 0
        except LinkDown:
            return False

    def begin(self, row: int, at: float) -> None:
        """An alarm begins."""
        self.alarms.append(Span(row, self.n, at))

    def _of(self, fault: Span) -> list[Span]:
        """The alarms of a fault."""
        begin, end = fault.first - self._late, fault.end + self._late
        return [one for one in self.alarms if begin <= one.first < end]

    def summary(self, alarm_rate: float) -> dict[str, Any]:
        """All results, for a JSON line; `alarm_rate` is asked, as a share of the rows."""
        start = self.watching or Span(self.n, self.n, self.ended)
        judged = [fault for fault in self.faults if fault.end > start.first]
        found = [(fault, met[0]) for fault in judged if (met := self._of(fault))]
        delays = [max(alarm.began - max(fault.began, start.began), 0.0) for fault, alarm in found]
        own = {id(alarm) for fault in self.faults for alarm in self._of(fault)}
        return {
            "normal": self.normal,
            "faults": len(judged),
            "found": len(found),
            "median_delay": statistics.median(delays) if delays else None,
            "false_alarms": sum(id(alarm) not in own for alarm in self.alarms),
            "watched": self.ended - start.began,
            "unit": "s" if self._timed else "rows",
            "alarms_asked": alarm_rate * (self.n - start.first),
            "faults_while_learning": len(self.faults) - len(judged),
        }

    def words(self, s: dict[str, Any], asked: str) -> Iterator[str]:
        """The same as text, and a picture of it."""
        late = (
            ""
            if s["median_delay"] is None
            else f", median {s['median_delay']:,.0f} {s['unit']} late"
        )
        hours = s["watched"] / 3600
        watched = f"{hours:,.1f} h" if self._timed else f"{s['watched']:,.0f} rows"
        yield (
            f"back-test: found {s['found']} of {s['faults']} faults{late}; "
            f"{s['false_alarms']} false alarms in {watched} (asked {asked}: "
            f"{s['alarms_asked']:.2g}); label {s['normal']} is normal"
        )
        if n := s["faults_while_learning"]:
            yield f"{n} faults came while it learned: it takes them for normal; see --learn"
        yield f"  faults  {self._line(self.faults)}"
        yield f"  alarms  {self._line(self.alarms)}"

    def _line(self, spans: list[Span]) -> str:
        on = [False] * WIDTH
        for span in spans:
            for k in range(span.first * WIDTH // self.n, (span.end - 1) * WIDTH // self.n + 1):
                on[k] = True
        return "".join("█" if one else "·" for one in on)

    def draw(self, path: str, names: Sequence[str]) -> None:
        """A picture: the first channels, faults shaded, and where alarms were on."""
        from edgesvm.cli.figures import saved

        x, signal = np.linspace(0, self.n, len(self._signal)), np.array(self._signal)
        with saved(path, signal.shape[1], 1, (9, 1.6 * signal.shape[1] + 1), sharex=True) as axes:
            for axis, curve, name in zip(axes.flat, signal.T, names, strict=False):
                axis.plot(x, curve, lw=0.7, color="0.35")
                axis.set_ylabel(name)
                for k, span in enumerate(self.faults):
                    label = None if k else "fault, by the labels"
                    axis.axvspan(span.first, span.end, color="tab:orange", alpha=0.35, label=label)
                for k, span in enumerate(self.alarms):
                    label = None if k else "alarm"
                    axis.axvspan(span.first, span.end, 0, 0.06, color="tab:red", label=label)
                if self.watching is not None:
                    axis.axvline(self.watching.first, color="tab:blue", label="watched from here")
            axes.flat[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, fontsize=8)
            axes.flat[-1].set_xlabel("row")
