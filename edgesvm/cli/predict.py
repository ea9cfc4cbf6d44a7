"""``edgesvm predict``: a saved model answers samples, and learns nothing."""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from edgesvm.budget import format_bytes
from edgesvm.cli import reports, saved_model, server
from edgesvm.cli.link_settings import (
    IF_MORE,
    LABEL,
    PORT,
    ColumnSettings,
    FileSettings,
    LinkSettings,
    column,
)
from edgesvm.cli.options import argument, option, section
from edgesvm.cli.out_settings import OutSettings
from edgesvm.cli.show_settings import ReportSettings
from edgesvm.learner import Learner, learner_in
from edgesvm.link.link import Link
from edgesvm.preprocessing.chain import Chain
from edgesvm.serve.job import Job
from edgesvm.serve.journal import Journal
from edgesvm.serve.process import Signals
from edgesvm.serve.score import percent
from edgesvm.serve.taught import Asked, taught

HELP = """\
A saved model answers each sample of a port or a file, on standard output. Nothing is learned, and
the model's file does not change. Labels that come with samples tell how good the answers are.

  edgesvm predict m.esvm /dev/ttyACM0                  number, answer and score of each
  edgesvm predict m.esvm room.csv --csv >answers.csv   the file's columns, and the answers
  edgesvm predict m.esvm /dev/ttyACM0 --json           a JSON line each (docs/outputs.md)
  edgesvm predict m.esvm /dev/ttyACM0 --out mqtt://hub/room

The columns of a CSV are found by the names that the model has learned; others are left out.
"""


@dataclass(frozen=True, kw_only=True)
class KnownLink(LinkSettings):
    """Samples that a model knows; they may have a label."""

    label: str | int = option(IF_MORE, LABEL, unit="COLUMN", check=column)
    label_column: str | int | None = None
    late_labels: int | None = None
    answers: bool = option(False, "send the answers back on a text link too")
    columns: ColumnSettings = section(ColumnSettings, hidden=True)
    known: tuple[str, ...] = ()  # names of the features

    @property
    def word(self) -> str | None:
        return None

    def files(self) -> FileSettings:
        """Those by which a CSV has the model's features."""
        asked = super().files()
        if not self.url.lower().endswith(".csv"):
            return asked
        from edgesvm.data.columns import KEPT

        asked = replace(asked, missing=asked.missing or "keep")  # rows without a label are answered
        all_columns = replace(asked, label_column="none", encode=KEPT)
        with contextlib.closing(all_columns.open(self.url, quiet=True)) as opened:
            found: Any = opened
            columns, n_features = found.columns, found.n_features
        if self.known and set(self.known) <= set(columns):
            others = [name for name in columns if name not in self.known]
            label = asked.label_column or (others[-1] if others[-1:] == columns[-1:] else "none")
            drop = tuple(name for name in others if name != label)
            return replace(asked, label_column=label, keep_column=self.known, drop_column=drop)
        if asked.label_column is None and n_features == self.n_features:
            return replace(asked, label_column="none")
        return asked


@dataclass(frozen=True, kw_only=True)
class AnswerSettings(ReportSettings):
    """The form of the answers."""

    json: bool = option(False, "each answer as a JSON line")
    csv: bool = option(False, "each answer behind its line of the CSV, or behind its features")


@dataclass(frozen=True, kw_only=True)
class Settings:
    model: str = argument("a saved model", unit="MODEL")
    port: str = argument(PORT, unit="PORT")
    link: KnownLink = section(KnownLink)
    show: AnswerSettings = section(AnswerSettings)
    out: OutSettings = section(OutSettings)

    def __post_init__(self) -> None:
        if self.show.csv and self.show.json:
            raise ValueError("--csv and --json: give one")
        self.out.check(json=self.show.json or self.show.csv)


def act(settings: Settings) -> int:
    model = saved_model.read_model(settings.model)
    if not isinstance(model, Learner | Chain) or not learner_in(model).takes_labels:
        raise ValueError(
            f"{settings.model} knows what is normal, and no labels; next: edgesvm watch "
            f"{settings.port} --save {settings.model} --then nothing"
        )
    return PredictSession(settings, model).serve()


class PredictSession(server.Session):
    """One port whose samples are answered."""

    def __init__(self, settings: Settings, model: Learner | Chain) -> None:
        self._settings, self._model = settings, model
        link = replace(
            settings.link,
            url=settings.port,
            n_features=model.n_features_in_,
            known=tuple(model._columns or ()),
            regress=learner_in(model).regresses,
            read_rows=1 if settings.show.csv else settings.link.read_rows,  # each has its line
        )
        super().__init__([link], settings.show, out=settings.out)
        self._answers: Counter[Any] = Counter()
        self._copied: Copied | None = None

    def ports(
        self, links: list[Link], checkpoints: list[Any], signals: Signals
    ) -> list[server.Served]:
        (link,), (asked,), settings, model = links, self._links, self._settings, self._model
        assert link.schema is not None  # open
        learner = learner_in(model)
        known, names = model._columns or (), link.feature_names
        n_features, wanted = link.schema.n_features, model.n_features_in_
        if n_features != wanted or (known and names and names != known):
            raise ValueError(
                f"{link.name} has {n_features} features ({', '.join(names) or 'no names'}), the "
                f"model learned {wanted} ({', '.join(known) or 'no names'})"
            )
        if not learner.regresses:
            link.name_classes(learner.classes_.tolist())
        self._journal = journal = settings.out.journal(model) or Journal.of(learner, 1)
        self._form = self._form_of(link)
        journal.listener = self._tell
        answers = settings.link.answers or link.binary
        job = taught(link, model, kind=Asked, answers=answers, journal=journal)
        self.status.say(f"{model!r}, {learner.n_seen_:,} learned: {format_bytes(model.nbytes)}")
        return [server.Served(job, asked, self.status)]

    def _form_of(self, link: Any) -> Callable[[np.void], Iterable[str]]:
        """What makes the lines of an answer."""
        journal, show = self._journal, self._settings.show
        if show.json:
            from edgesvm.serve.outputs.lines import line

            return lambda entry: [line(link.name, journal, entry).text]
        if show.csv and self._settings.port.lower().endswith(".csv"):
            self._copied = Copied(link.rows, journal)
            return self._copied.up_to
        if show.csv:
            return functools.partial(_with_features, journal, self._features)
        if self._settings.out.out:
            return lambda entry: []
        return lambda entry: ["  ".join([str(entry["sequence"]), *told(journal, entry)])]

    @property
    def _features(self) -> Iterable[str]:
        model: Any = self._model
        if isinstance(model, Chain):
            return model.windows_.names()
        return model._columns or [f"x{j}" for j in range(model.n_features_in_)]

    def _tell(self, entry: np.void) -> None:
        if entry["has_prediction"]:
            self._answers[self._journal.told(entry, "predicted")] += 1
        for line in self._form(entry):
            print(line, flush=not self._links[0].is_file)

    def progress(self) -> str:
        job: Job = self.port.job
        return f"{job.taken:,} samples  {job.taken / max(self.seconds, 1e-9):,.0f}/s"

    def summary(self) -> dict[str, Any]:
        return reports.of_taught(self.port.job, self.seconds)

    def report(self, summary: dict[str, Any]) -> None:
        if self._copied is not None and self.port.error is None:
            for line in self._copied.rest():
                print(line)
        for line in self.words(summary):
            self.status.say(line)

    def words(self, summary: dict[str, Any]) -> Iterator[str]:
        c, n = summary["counters"], sum(self._answers.values())
        shares = ""
        if not learner_in(self._model).regresses and n:
            most = self._answers.most_common(reports.MOST_CLASSES)
            shares = ": " + ", ".join(f"{label} {percent(k / n)}" for label, k in most)
        yield f"{n:,} answers to {c['taken']:,} samples{shares}; nothing was learned"
        if summary["predicted"]:
            right = summary.get("accuracy")
            of = reports.scored(summary) if right is None else f"{percent(right)} right"
            yield f"{summary['predicted']:,} had a label: {of}"
        if c["refused_value"]:
            yield f"{c['refused_value']:,} without an answer: a value is missing or too large"
        yield from reports.closing(summary)


def told(journal: Journal, entry: np.void) -> list[str]:
    """The answer and its score, or the ends of its interval."""
    answer, ends = journal.told(entry, "predicted"), added(journal)[1:]
    if answer is None:
        return [""] * (1 + len(ends))
    told = f"{answer:.9g}" if journal.targets else str(answer)
    return [told, *(f"{entry[end]:.6g}" for end in ends)]


def added(journal: Journal) -> list[str]:
    """The names of what `told` gives."""
    return ["predicted", *(["low", "high"] if journal.targets else ["score"])]


def _with_features(journal: Journal, names: Iterable[str], entry: np.void) -> Iterator[str]:
    if journal.written == 1:
        yield ",".join([*names, *added(journal)])
    yield ",".join([*(f"{value:.9g}" for value in entry["x"]), *told(journal, entry)])


class Copied:
    """The lines of a CSV, with answers behind those that have one."""

    def __init__(self, rows: Any, journal: Journal) -> None:
        self._rows, self._journal, self._at = rows, journal, 0
        self._lines, self._separator = rows.text_lines(), rows.separator

    def up_to(self, entry: np.void) -> Iterator[str]:
        """The lines up to that of the row read last, which has this answer."""
        yield from self._plain(self._rows.line - 1 - self._at)
        self._at += 1
        yield from self._with(next(self._lines), told(self._journal, entry))

    def rest(self) -> Iterator[str]:
        yield from filter(None, self._plain(None))

    def _plain(self, n: int | None) -> Iterator[str]:
        names = added(self._journal)
        for line in islice(self._lines, n):
            self._at += 1
            is_header = self._at == self._rows.header_line
            yield from self._with(line, names if is_header else [""] * len(names))

    def _with(self, line: str, cells: list[str]) -> Iterator[str]:
        yield self._separator.join([line, *cells]) if line.strip() else line
