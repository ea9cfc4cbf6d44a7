"""A status as lines of text, for a terminal of any size."""

from __future__ import annotations

import math
import textwrap
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Any

from edgesvm.budget import format_bytes
from edgesvm.evaluation import percent
from edgesvm.learners.novelty.novelty import NORMAL, STRANGE

LEVELS, ASCII_LEVELS = "▁▂▃▄▅▆▇█", "_.:-=+*#"
CURVE_ROWS = 6
WIDE = 96  # columns; from here on the answers stand beside the rest
ANSWERS = 40  # columns of the answers
ANSWERS_OF_WATCH = {NORMAL: "normal", STRANGE: "strange"}
MOST_LOSSES = 6
MOST_CHANNELS = 8
MOST_MESSAGES = 3


class Screen:
    """Draws statuses of `Lookout`.

    Parameters
    ----------
    ascii_only : bool
        Whether the terminal shows no other characters.
    """

    def __init__(self, *, ascii_only: bool = False) -> None:
        self._levels = ASCII_LEVELS if ascii_only else LEVELS
        self._rule = "-" if ascii_only else "─"

    def lines(
        self, status: dict[str, Any], columns: int, rows: int, messages: Sequence[str] = ()
    ) -> list[str]:
        """At most `rows` lines of at most `columns` characters: what is most wanted first, and the
        last messages at the foot.

        Parameters
        ----------
        status : dict
            Of `Lookout.status`.
        columns, rows : int
            Size of the terminal.
        messages : sequence of str
            What was said, the newest last.
        """
        foot = [line[:columns] for line in list(messages)[-min(MOST_MESSAGES, rows // 6) :]]
        if not messages or rows < 6:
            foot = []
        room = rows - len(foot)
        if status["kind"] == "look":
            body = self._looked_at(status, columns, room)[:room]
            return [line[:columns] for line in body] + foot
        beside = columns >= WIDE
        width = columns - ANSWERS - 2 if beside else columns
        left = self._title(status, width) + self._main(status, width, rows)
        left += _wrapped(_flow(status), width)
        left += ["", "missing, and why", *_lost(status, width, MOST_LOSSES if rows >= 24 else 3)]
        left += ["", *_wrapped(_memory(status), width)]
        answers = _answers(status)
        if beside:
            body = _side_by_side(left[:room], answers[:room], width)
        else:
            body = [*left, "", *answers][:room]
        body += [""] * (room - len(body) if foot else 0)
        return [line[:columns] for line in body] + foot

    def _title(self, s: dict[str, Any], width: int) -> list[str]:
        clock = "" if s["seconds"] is None else f"{_clock(s['seconds'])}  "
        title = f"edgesvm {s['kind']}  {s['port']}  {clock}"
        return [title + self._rule * max(0, width - len(title))]

    def _looked_at(self, s: dict[str, Any], width: int, rows: int) -> list[str]:
        """Raw channels, their spectrum, and what is proposed."""
        lines = self._title(s, width) + _wrapped(_sampled(s), width)
        channels = s.get("channels", [])
        n = min(len(channels), MOST_CHANNELS)
        height = max(1, min(3, (rows - 16) // max(n, 1) - 2))
        for channel, trace in zip(channels[:n], s.get("traces", []), strict=False):
            lines += ["", *_wrapped([_ranged(channel)], width)]
            lines += self._curve(trace, width, height, [], "{:.3g}".format)
        if len(channels) > n:
            lines += ["", f"and {len(channels) - n} channels more"]
        if levels := s.get("spectrum", {}).get("levels"):
            top = s["spectrum"]["frequencies"][-1]
            unit = "Hz" if s["rate"] or s["told_rate"] else "of the rate: give --rate"
            lines += ["", f"spectrum of all channels, 0 to {top:.3g} {unit}, decibels"]
            drawn = _highest(levels, max(width - 10, 1))
            lines += self._curve(drawn, width, min(4, max(rows // 8, 2)), [], "{:.0f}".format)
        told = [*s.get("why", []), s.get("options", "")]
        return [*lines, "", *_wrapped(told, width)]

    def _main(self, s: dict[str, Any], width: int, rows: int) -> list[str]:
        """The figures that matter most, as words and as a curve."""
        height = max(1, min(CURVE_ROWS, rows - 14))
        if s["kind"] == "run":
            score, history = s["score"], s["history"]
            if "mae" in score:
                marks = [score["mae_mean_so_far"]]
                curve = self._curve(history["mae"], width, height, marks, "{:.3g}".format)
            else:
                curve = self._curve(
                    history["accuracy"], width, height, [score["majority"]], percent
                )
            return _wrapped(_scored(score), width) + curve + _wrapped(_remarks(s), width)
        highest = [point for point in s["history"]["score"] if point is not None]
        most = 4 * (s["threshold"] or math.inf)  # the first scores are far higher
        curve = self._curve(
            [None if p is None else min(p, most) for p in s["history"]["score"]],
            width,
            height,
            [s["threshold"]] if highest else [],
            lambda value: f"{value:.3g}",
        )
        told = _alarms(s) + _remarks(s)
        return _wrapped(_watching(s), width) + curve + _wrapped(told, width)

    def _curve(
        self,
        points: list[float | None],
        width: int,
        height: int,
        marks: list[float | None],
        text: Callable[[float], str],
    ) -> list[str]:
        """The last points as columns of blocks, from the lowest of them and of `marks` to the
        highest; these two at the left."""
        points = points[-max(width - 10, 0) :]
        known = [p for p in (*points, *marks) if p is not None]
        if not any(p is not None for p in points) or width < 24:
            return []
        low, high = min(known), max(known)
        steps = height * len(self._levels)
        scale = (steps - 1) / ((high - low) or 1.0)
        filled = [0 if p is None else 1 + int((p - low) * scale) for p in points]
        lines = []
        for row in range(height - 1, -1, -1):
            label = text(high) if row == height - 1 else text(low) if row == 0 else ""
            blocks = "".join(self._block(n - row * len(self._levels)) for n in filled)
            lines.append(f"{label:>8}  {blocks}")
        return lines

    def _block(self, filled: int) -> str:
        return " " if filled <= 0 else self._levels[min(filled, len(self._levels)) - 1]


def _sampled(s: dict[str, Any]) -> list[str]:
    told = "" if s["told_rate"] is None else f", {s['told_rate']:g} a second as told"
    measured = "" if s["rate"] is None else f", {s['rate']:,.1f} a second as measured"
    missing = [f"{one['count']:,} {one['why']}" for one in s["lost"][:2]]
    stale = s.get("stale_seconds")
    quiet = [] if stale is None else [f"NO SAMPLE for {stale:,.0f} s"]
    return [*quiet, f"{s['samples']:,} samples{told}{measured}", *missing]


def _highest(points: list[float], most: int) -> list[float | None]:
    """As many points at most, each the highest of so many neighbours."""
    of = math.ceil(len(points) / most)
    return [max(points[at : at + of]) for at in range(0, len(points), of)]


def _ranged(c: dict[str, Any]) -> str:
    figures = f"{c['low']:.4g} to {c['high']:.4g}, mean {c['mean']:.4g}, spread {c['std']:.3g}"
    return f"{c['name']}  {figures}{'  ' if c['remark'] else ''}{c['remark']}"


def _scored(score: dict[str, Any]) -> list[str]:
    seen = min(score["window"], score["predicted"])
    if "mae" in score:
        told = {name: "-" if v is None else f"{v:.3g}" for name, v in score.items()}
        return [
            f"MAE {told['rolling_mae']} of the last {seen:,}, {told['mae']} of all, "
            f"R2 {told['r2']}",
            f"mean so far {told['mae_mean_so_far']}, target before {told['mae_value_before']}, "
            f"within the interval {percent(score['coverage'])}",
        ]
    return [
        f"accuracy {percent(score['rolling_accuracy'])} of the last {seen:,}, "
        f"{percent(score['accuracy'])} of all",
        f"larger class {percent(score['majority'])}, "
        f"label before {percent(score['label_before'])}, "
        f"balanced {percent(score['balanced_accuracy'])}",
    ]


def _watching(s: dict[str, Any]) -> list[str]:
    threshold = "-" if s["threshold"] is None else f"{s['threshold']:.3g}"
    phase = "watching" if s["watching"] else f"learning what is normal: {s['learning']:.0%}"
    return [
        f"{phase}{', ALARM' if s['alarm'] else ''}",
        f"score {s['last_score'] or 0:.3g} of {threshold}, {s['counters']['strange']:,} strange, "
        f"{s['counters']['alarms']:,} alarms",
    ]


def _remarks(s: dict[str, Any]) -> list[str]:
    stale = s["stale_seconds"]
    told = [] if stale is None else [f"NO SAMPLE for {stale:,.0f} s"]
    return told + [f"note: {line}" for line in s["remarks"].values()][:1]


def _alarms(s: dict[str, Any]) -> list[str]:
    lines = []
    for alarm in s["alarms"][:3]:
        features = ", ".join(f"{f['name']} {f['share']:.0%}" for f in alarm["features"])
        at = time.strftime("%H:%M:%S", time.localtime(alarm["time"]))
        state = "on" if alarm["on"] else f"over after {alarm['seconds']:.0f} s"
        what = "alarm" if alarm["kind"] == "strange" else f"alarm: {alarm['kind']}"
        lines.append(f"{at} {what}, {state}, score up to {alarm['highest']:.3g}: {features}")
    return lines


def _flow(s: dict[str, Any]) -> list[str]:
    rate = "-" if s["rate"] is None else f"{s['rate']:,.0f}"
    drifts = f", {s['drift']['drifts']:,} drifts" if s.get("drift") else ""
    learned = f"{s['counters']['learned']:,} rows learned"
    return [f"{rate} samples/s, {s['samples']:,} so far, {learned}{drifts}"]


def _lost(s: dict[str, Any], width: int, most: int) -> list[str]:
    lines = [f"{one['count']:>9,}  {one['why']}" for one in s["lost"]]
    if len(lines) > most:
        lines[most - 1 :] = [f"{len(lines) - most + 1:>9,}  more kinds"]
    return _wrapped(lines, width, indent=11) or ["nothing is missing"]


def _memory(s: dict[str, Any]) -> list[str]:
    parts = s["memory"]
    told = ", ".join(
        f"{owner} {sum(part['bytes'] for part in parts[owner]):,} B"
        for owner in ("model", "link", "page")
    )
    return [f"memory {format_bytes(parts['total'])}", told]


def _answers(s: dict[str, Any]) -> list[str]:
    targets = "mae" in s.get("score", {})
    if s["kind"] == "run":
        head, said = f"{'predicted':>9}  {'label':>6}", "{predicted:>9}  {label:>6}".format_map
    else:
        head, said = f"{'answer':>9}", "{answer:>9}".format_map
    lines = [f"{'number':>10}  {head}" + ("" if targets else f"  {'score':>9}")]
    for one in s["predictions"]:
        shown = {name: "-" if value is None else value for name, value in one.items()}
        if targets:
            shown |= {n: f"{one[n]:.4g}" for n in ("predicted", "label") if one[n] is not None}
        shown["answer"] = ANSWERS_OF_WATCH.get(one["predicted"], "learning")
        if one["refused"]:
            shown["predicted"] = shown["answer"] = "refused"
        score = "-" if one["score"] is None else f"{one['score']:.3g}"
        line = f"{one['sequence']:>10,}  {said(shown)}"
        lines.append(line if targets else f"{line}  {score:>9}")
    return lines


def _side_by_side(left: list[str], right: list[str], width: int) -> list[str]:
    return [a.ljust(width + 2) + b for a, b in zip_longest(left, right, fillvalue="")]


def _wrapped(lines: Iterable[str], width: int, indent: int = 0) -> list[str]:
    width, further = max(width, 2), " " * min(indent, width // 2)
    return [
        part for line in lines for part in textwrap.wrap(line, width, subsequent_indent=further)
    ]


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"
