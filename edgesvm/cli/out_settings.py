"""``--out`` and related options: where predictions go besides the node."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from edgesvm.budget import format_bytes
from edgesvm.cli import arguments
from edgesvm.cli.options import option
from edgesvm.learner import Learner, learner_in
from edgesvm.serve.outputs.sink import port_name

if TYPE_CHECKING:
    from edgesvm.preprocessing.chain import Chain
    from edgesvm.preprocessing.virtual_sensor import VirtualSensor
    from edgesvm.serve.job import Job
    from edgesvm.serve.journal import Journal
    from edgesvm.serve.outputs.lines import When
    from edgesvm.serve.outputs.output import Output
    from edgesvm.serve.outputs.sink import Sink

KINDS = ("jsonl", "mqtt", "mqtts")
STDOUT = "jsonl:-"
PASSWORD = "EDGESVM_MQTT_PASSWORD"


def _sink(text: str) -> str:
    """A sink whose kind is known, and of which all is there that must be there at the start."""
    kind, colon, rest = text.partition(":")
    if kind not in KINDS or not colon or not rest:
        raise ValueError(
            f"{text}: give jsonl:FILE, jsonl:-, mqtt://host/topic or mqtts://host/topic"
        )
    if kind == "jsonl" and text != STDOUT and not os.path.exists(rest):
        arguments.new_file(rest)
    return text


def _when(text: str) -> When:
    from edgesvm.serve.outputs.lines import When

    if text in ("every", "change"):
        return When(1 if text == "every" else None)
    try:
        return When(arguments.count(text))
    except ValueError:
        raise ValueError(f"{text}: give every, change or an N >= 1") from None


@dataclass(frozen=True, kw_only=True)
class OutSettings:
    """The sinks that predictions are passed on to; none by default."""

    TITLE: ClassVar[str] = "predictions for others, each as a JSON line (docs/outputs.md)"

    out: tuple[str, ...] = option(
        (), "jsonl:FILE, jsonl:- or mqtt://", unit="SINK", check=_sink, repeat=True
    )
    out_when: When | None = option(
        None,
        "which predictions to pass on; default every",
        unit="every|change|N",
        check=_when,
    )
    out_queue: int = option(
        1024, "predictions kept for a slow sink", unit="N", check=arguments.count
    )
    out_password_file: str | None = option(None, "password of mqtt:// or mqtts://", unit="FILE")

    def __post_init__(self) -> None:
        if len(set(self.out)) < len(self.out):
            raise ValueError("--out names a sink twice")

    @property
    def files(self) -> list[tuple[str, str]]:
        """``--out``, and each file that it writes."""
        paths = [text.removeprefix("jsonl:") for text in self.out if text.startswith("jsonl:")]
        return [("--out", path) for path in paths if path != "-" and not _is_device(path)]

    def check(self, *, json: bool) -> None:
        """Raise ValueError if two things are to be written to standard output."""
        if json and self.takes_stdout:
            raise ValueError(
                "--json and --out jsonl:- both write standard output: send one of them to a file, "
                "as in --out jsonl:FILE"
            )

    @property
    def takes_stdout(self) -> bool:
        """Whether standard output is for predictions alone."""
        return STDOUT in self.out

    def journal(self, model: Learner | Chain | VirtualSensor) -> Journal | None:
        """Where the answers of a model are kept for the sinks; None without sinks."""
        if not self.out:
            return None
        from edgesvm.serve.journal import Journal

        return Journal.of(learner_in(model), self.out_queue)

    def start(
        self, jobs: list[Job], report: Callable[[str], None], *, alarms: bool = False
    ) -> Outputs:
        """Begin to pass on the answers of these jobs, which have journals. Raises OSError if the
        password's file cannot be read, and ValueError for a wrong URL or certificate."""
        if not self.out:
            return Outputs([])
        from edgesvm.serve.outputs.lines import When
        from edgesvm.serve.outputs.output import Output

        journals = {one.link.name: one.journal for one in jobs if one.journal is not None}
        topics = {port: port_name(port) for port in journals} if len(journals) > 1 else {}
        when = self.out_when or When(1)
        steady = when.every == 1 and all(one.stage.steady for one in jobs)
        sinks = self.sinks(topics, alarms=alarms, steady=steady)
        for sink in sinks:
            sink.samples = {one.link.name: one.link.freshness for one in jobs}
        return Outputs([Output(sink, journals, when, report=report) for sink in sinks])

    def sinks(
        self, topics: Mapping[str, str], *, alarms: bool = False, steady: bool = False
    ) -> list[Sink]:
        """The sinks, not open yet. Raises ValueError if two would write to one place."""
        sinks = [self._open(text, topics, alarms=alarms, steady=steady) for text in self.out]
        ids = [one for sink in sinks for one in sink.ids]
        for one in ids:
            if ids.count(one) > 1:
                raise ValueError(f"--out: two topics would both be {one}: name them apart")
        return sinks

    def _open(self, text: str, topics: Mapping[str, str], *, alarms: bool, steady: bool) -> Sink:
        """The sink of an option. A kind's module is imported only for it."""
        kind, _, rest = text.partition(":")
        if kind == "jsonl":
            from edgesvm.serve.outputs.files import File, StandardOutput

            return StandardOutput() if text == STDOUT else File(rest)
        from edgesvm.serve.outputs.mqtt import Mqtt

        password = self._password()
        return Mqtt(text, alarms=alarms, topics=topics, password=password, steady=steady)

    def _password(self) -> str | None:
        if self.out_password_file is None:
            return os.environ.get(PASSWORD)
        with open(self.out_password_file, encoding="utf-8") as file:
            lines = file.read().splitlines()
        return lines[0] if lines else ""


def _is_device(path: str) -> bool:
    """Whether it is a pipe or a device, to which others may write too."""
    return os.path.exists(path) and not os.path.isfile(path)


def bytes_told(*journals: Journal | None) -> str:
    """How many bytes the kept answers take, for the first line of a report."""
    n_bytes = sum(one.nbytes for one in journals if one is not None)
    return f"; predictions for --out {format_bytes(n_bytes)}" if n_bytes else ""


class Outputs:
    """The sinks of a run, each with its thread, until `end`."""

    def __init__(self, outputs: list[Output]) -> None:
        self._outputs = outputs

    def end(self) -> dict[str, Any]:
        """Pass on what waits, for two seconds at most; what became of the answers, for a report."""
        for output in self._outputs:
            output.ask_to_stop()
        for output in self._outputs:
            output.stop()
        return {"outputs": [one.counters() for one in self._outputs]} if self._outputs else {}
