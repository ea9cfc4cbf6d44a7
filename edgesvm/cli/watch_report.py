"""Reports of ``edgesvm watch``: a status line, a line for each alarm, a JSON line and text."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from edgesvm.budget import format_bytes
from edgesvm.cli import out_settings, score_words
from edgesvm.cli.process import lost_lines
from edgesvm.learners.novelty.novelty import by_chance
from edgesvm.serve.job import Job
from edgesvm.serve.watch import Episode

BAR = 20  # characters
NAMED = 3  # features named in a line
LEAST_SHARE = 0.05  # a feature with less is not named


class Report:
    """What is told of a watch.

    Parameters
    ----------
    job : Job
        Of a `Watch`.
    as_json : bool
        Whether what happens is told as JSON.
    when : callable
        The time of what happens, as text; by default this computer's.
    """

    def __init__(self, job: Job, *, as_json: bool, when: Callable[[], str] | None = None) -> None:
        self._job, self._watch, self._as_json = job, job.pupil, as_json
        self._when = when or now
        self._started = time.monotonic()
        self.names = self._watch.names
        self._row = "window" if self._watch.of_windows else "sample"
        self._was_watching = self._watch.watching
        self._told: Episode | None = None

    def opening(self, source: str | None) -> str:
        """The first line: what learns, in how many bytes, and where it came from."""
        w = self._watch
        age = f"{w.learner.n_seen_:,} {self._row}s"
        origin = f", loaded from {source} after {age}" if source else ""
        return (
            f"{w.model!r}{origin}: {format_bytes(w.model.nbytes)}; {len(self.names)} features per "
            f"{self._row}; link {format_bytes(w.link.nbytes)}"
        )

    def news(self) -> list[str]:
        """A line for each thing that has happened since the last call."""
        w, lines = self._watch, []
        if (ended := w.take_ended()) is not None:
            lines.append(self._over(ended))
        if w.episode is not None and w.episode is not self._told:
            self._told = w.episode
            lines.append(self._alarm(w.episode))
        if w.watching and not self._was_watching:
            lines.append(self._learned())
        self._was_watching = w.watching
        return lines

    def _learned(self) -> str:
        w = self._watch
        if self._as_json:
            learned = {"event": "watching", "learned": w.learned, "threshold": -w.learner.offset_}
            return json.dumps({"time": self._when(), **learned})
        return (
            f"{self._when()}  watching: learned from {w.learner.n_updates_:,} {self._row}s, "
            f"threshold {-w.learner.offset_:.3g}"
        )

    def _alarm(self, e: Episode) -> str:
        w, number = self._watch, self._watch.alarms
        if self._as_json:
            event: dict[str, Any] = {"event": "alarm", "alarm": number, "kind": e.kind}
            event |= {self._row: e.row, "sequence": e.sequence}
            event |= {"score": e.score, "threshold": e.threshold, "features": self._standing_out(e)}
            event |= {"seconds": round(w.link.freshness.quiet, 3)} if e.kind == "stale" else {}
            return json.dumps({"time": self._when(), **event})
        features = ", ".join(f"{name} {share:.0%}" for name, share in self._standing_out(e).items())
        what = {
            "strange": f"score {e.score:.3g}, threshold {e.threshold:.3g}: {features}",
            "stuck": f"STUCK, and not judged: {', '.join(self._standing_out(e))}",
            "lost": f"LOST: half of the last {self._row}s were in an alarm, and what is normal is "
            f"learned anew; most of all {features}",
            "stale": f"NO DATA: {w.link.name} has sent no sample for "
            f"{w.link.freshness.quiet:,.0f} s",
        }
        where = f"{self._row} {e.row:,}, number {e.sequence:,}"
        return f"{self._when()}  ALARM {number}  {where}  {what[e.kind]}"

    def _over(self, e: Episode) -> str:
        assert e.ended is not None
        w = self._watch
        seconds, number = e.ended - e.began, w.alarms - (w.episode is not None)
        if self._as_json:
            event = {"event": "over", "alarm": number, "kind": e.kind, "seconds": round(seconds, 3)}
            return json.dumps({"time": self._when(), **event, "highest": e.highest})
        lasted = f" after {seconds:,.1f} s" if seconds else ""
        over = f"alarm {number} is over{lasted}"
        rest = "samples come again" if e.kind == "stale" else f"highest score {e.highest:.3g}"
        return f"{self._when()}  {over}, {rest}"

    def _standing_out(self, e: Episode) -> dict[str, float]:
        """The features with the largest shares of the score, first the largest."""
        order = np.argsort(-e.shares, kind="stable")[:NAMED]
        return {
            self.names[j]: round(float(e.shares[j]), 3)
            for j in order
            if e.shares[j] >= LEAST_SHARE or j == order[0]
        }

    def progress(self) -> str:
        """The status line."""
        w, c = self._watch, self._watch.link.counters
        link = f"missing {c['missing']:,}  bad {c['bytes_rejected']:,} B  stopped {c['stale']:,}"
        rows = f"{w.rows:,} {self._row}s"
        if not w.watching:
            return f"learning  {self._learning()}  {rows}  {link}"
        on = " (on)" if w.episode is not None else ""
        return (
            f"watching  {rows}  score {w.score:.3g} of {-w.learner.offset_:.3g}  "
            f"strange {w.strange:,}  alarms {w.alarms:,}{on}  {link}"
        )

    def _learning(self) -> str:
        w = self._watch
        if (left := w.learning_left) is not None:
            assert w.learn_s is not None
            so_far = w.learn_s - left
            done, text = so_far / w.learn_s, f"{_minutes(so_far)} of {_minutes(w.learn_s)}"
        else:
            done = w.learner.n_updates_ / w.learner.warm_up
            text = f"{w.learner.n_updates_:,} of {w.learner.warm_up:,}"
        full = min(int(done * BAR), BAR)
        return f"[{'#' * full}{'.' * (BAR - full)}] {text}"

    def summary(self) -> dict[str, Any]:
        """All results, for a JSON line."""
        w = self._watch
        return {
            "event": "end",
            "learner": repr(w.model),
            "bytes_planned": w.model.plan(w.model.n_features_in_).total,
            "bytes_allocated": w.model.nbytes,
            "link_bytes": w.link.nbytes,
            "seconds": round(time.monotonic() - self._started, 3),
            "watching": w.watching,
            "threshold": -w.learner.offset_ if w.learner.is_fitted else None,
            "alarms": w.alarms,
            "alarms_asked": w.learner.alarm_rate * w.watched,
            "alarms_by_chance": list(by_chance(w.learner.alarm_rate * w.watched)),
            "remarks": w.remarks.look(),
            "counters": self._job.counters(),
            "broken_identities": self._job.check_identities(),
        }


def words(summary: dict[str, Any]) -> str:
    """`summary` as text."""
    c = summary["counters"]
    in_windows = f", {c['windows_dropped']:,} windows dropped at gaps" if "gaps" in c else ""
    lines = [
        f"{c['taken']:,} samples in {summary['seconds']:.1f} s: {c['learned']:,} learned, "
        f"{c['strange']:,} strange, {c['stuck']:,} stuck, {c['alarms']:,} alarms{in_windows}",
        score_words.link(c),
    ]
    if c["watched"]:
        least, most = summary["alarms_by_chance"]
        lines.insert(
            1,
            f"{c['watched']:,} watched: {c['alarms'] - c['stale']:,} alarms, "
            f"{summary['alarms_asked']:.2g} asked for; by chance {least:,} to {most:,}",
        )
    if not summary["watching"]:
        lines.insert(0, "still learning: nothing was watched")
    if c["refused_value"]:
        lines.append(f"{c['refused_value']:,} samples refused: a value is too large")
    lines += score_words.remarks(summary)
    lines += out_settings.words(summary)
    if c.get("log_lost"):
        lines.append(lost_lines(c["log_lost"]))
    return "\n".join(lines)


def now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
