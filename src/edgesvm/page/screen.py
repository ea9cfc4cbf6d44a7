"""A status as lines of text, for a terminal of any size."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from edgesvm.budget import format_bytes
from edgesvm.evaluation import percent

LEVELS = "▁▂▃▄▅▆▇█"
ASCII_LEVELS = "_.:-=+*#"
CURVE_ROWS = 6
NARROW = 72  # columns; from here on two figures stand side by side


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
        self, status: dict[str, Any], columns: int, rows: int, messages: list[str]
    ) -> list[str]:
        """At most `rows` lines of at most `columns` characters. What is most wanted comes first;
        the last messages are at the foot.

        Parameters
        ----------
        status : dict
            Of `Lookout.status`.
        columns, rows : int
            Size of the terminal.
        messages : list of str
            What was said, the newest last.
        """
        blocks = list(self._blocks(status, columns, rows))
        shown = [line for block in blocks for line in block]
        room = max(rows - len(shown), min(2, rows // 4)) if messages else 0
        foot = [""] * (room > 1) + messages[-(room - 1) :] if room > 1 else messages[-room:]
        body = shown[: rows - (len(foot) if messages else 0)]
        return [line[:columns] for line in (*body, *(foot if messages else ()))]

    def _blocks(self, s: dict[str, Any], columns: int, rows: int) -> Iterator[list[str]]:
        yield [self._title(s, columns)]
        yield (
            self._accuracy(s, columns, rows)
            if s["kind"] == "run"
            else self._watch(s, columns, rows)
        )
        yield self._flow(s, columns)
        yield self._lost(s)
        yield self._memory(s, columns)
        yield self._answers(s)

    def _title(self, s: dict[str, Any], columns: int) -> str:
        title = f"edgesvm {s['kind']}  {s['port']}  {_clock(s['seconds'] or 0)}  "
        return title + self._rule * max(0, columns - len(title))

    def _accuracy(self, s: dict[str, Any], columns: int, rows: int) -> list[str]:
        score = s["score"]
        lines = [
            f"accuracy {percent(score['rolling_accuracy'])} of the last "
            f"{min(score['window'], score['predicted']):,}, {percent(score['accuracy'])} of all",
            f"larger class {percent(score['majority'])}, label before "
            f"{percent(score['label_before'])}, balanced {percent(score['balanced_accuracy'])}",
        ]
        lines += self._curve(s["history"]["accuracy"], columns, rows)
        return lines + [f"note: {remark}" for remark in score["remarks"][:1]]

    def _watch(self, s: dict[str, Any], columns: int, rows: int) -> list[str]:
        threshold = "-" if s["threshold"] is None else f"{s['threshold']:.3g}"
        phase = "watching" if s["watching"] else f"learning what is normal: {s['learning']:.0%}"
        alarm = "   ALARM" if s["alarm"] else ""
        lines = [
            f"{phase}{alarm}",
            f"score {s['last_score'] or 0:.3g} of {threshold}, "
            f"{s['counters']['strange']:,} strange, {s['counters']['alarms']:,} alarms",
            *self._curve(s["history"]["score"], columns, rows, s["threshold"]),
        ]
        for alarm_ in s["alarms"][:3]:
            features = ", ".join(f"{f['name']} {f['share']:.0%}" for f in alarm_["features"])
            lines.append(
                f"{_time(alarm_['time'])}  alarm, {'still on' if alarm_['on'] else 'over'}, "
                f"highest {alarm_['highest']:.3g}: {features}"
            )
        return lines

    def _curve(
        self, points: list[float | None], columns: int, rows: int, mark: float | None = None
    ) -> list[str]:
        """The last points as columns of blocks, with the ends of the scale at the left."""
        height = max(1, min(CURVE_ROWS, rows - 14))
        known = [p for p in points if p is not None]
        if not known or columns < 24:
            return []
        points = points[-(columns - 9) :]
        known = [p for p in points if p is not None] or known
        low, high = min(known), max(known + ([] if mark is None else [mark]))
        span = (high - low) or 1.0
        steps = height * len(self._levels)
        filled = [None if p is None else 1 + int((p - low) / span * (steps - 1)) for p in points]
        lines = []
        for row in range(height - 1, -1, -1):
            base = row * len(self._levels)
            text = "".join(self._block(n, base) for n in filled)
            label = high if row == height - 1 else low if row == 0 else None
            shown = "" if label is None else f"{label:.3g}"
            lines.append(f"{shown:>7}  {text}")
        return lines

    def _block(self, filled: int | None, base: int) -> str:
        if filled is None or filled <= base:
            return " "
        return self._levels[min(filled - base, len(self._levels)) - 1]

    def _flow(self, s: dict[str, Any], columns: int) -> list[str]:
        rate = "-" if s["rate"] is None else f"{s['rate']:,.0f}"
        counters = s["counters"]
        learned = f"{counters['learned']:,} learned"
        drift = s.get("drift")
        drifts = "" if not drift else f", {drift['drifts']:,} drifts"
        return [f"{rate} samples/s, {s['samples']:,} so far, {learned}{drifts}"]

    def _lost(self, s: dict[str, Any]) -> list[str]:
        lost = [f"{one['count']:>9,}  {one['why']}" for one in s["lost"][:6]]
        return ["", "missing, and why"] + (lost or ["nothing is missing"])

    def _memory(self, s: dict[str, Any], columns: int) -> list[str]:
        parts = s["memory"]
        told = ", ".join(
            f"{owner} {sum(part['bytes'] for part in parts[owner]):,} B"
            for owner in ("model", "link", "page")
        )
        return ["", f"memory {format_bytes(parts['total'])}: {told}"]

    def _answers(self, s: dict[str, Any]) -> list[str]:
        lines = ["", f"{'number':>10}  predicted  label       score"]
        for one in s["predictions"]:
            predicted = "-" if one["predicted"] is None else str(one["predicted"])
            label = "" if one["label"] is None else str(one["label"])
            score = "-" if one["score"] is None else f"{one['score']:.3g}"
            lines.append(f"{one['sequence']:>10,}  {predicted:>9}  {label:>5}  {score:>10}")
        return lines


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"


def _time(seconds: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(seconds))
