"""``--out`` and related options: where predictions go besides the node."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from edgesvm.budget import format_bytes, parse_bytes
from edgesvm.cli import arguments
from edgesvm.cli.saved_model import claimed
from edgesvm.learner import Learner, learner_in
from edgesvm.outputs.names import port_name

if TYPE_CHECKING:
    from edgesvm.asking import Questions
    from edgesvm.journal import Journal
    from edgesvm.link.freshness import Freshness
    from edgesvm.outputs.lines import When
    from edgesvm.outputs.output import Output
    from edgesvm.outputs.sink import Sink
    from edgesvm.preprocessing.chain import Chain
    from edgesvm.preprocessing.virtual_sensor import VirtualSensor

KINDS = ("jsonl", "exec", "mqtt", "mqtts", "socket")
STDOUT = "jsonl:-"
PASSWORD = "EDGESVM_MQTT_PASSWORD"


def add_to(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group(
        "predictions for others, each as a JSON line (docs/outputs.md)"
    )
    group.add_argument(
        "--out",
        action="append",
        default=[],
        type=_sink,
        metavar="SINK",
        help="jsonl:FILE, jsonl:-, exec:, mqtt:// or socket:",
    )
    group.add_argument(
        "--out-when",
        type=_when,
        metavar="every|change|N",
        help="which predictions to pass on; default every",
    )
    group.add_argument(
        "--out-queue",
        type=arguments.count,
        default=1024,
        metavar="N",
        help="predictions kept for a slow sink; default 1024",
    )
    group.add_argument(
        "--out-rotate",
        type=_size,
        default="10MiB",
        metavar="SIZE",
        help="size at which a file is renamed; default 10MiB",
    )
    group.add_argument(
        "--out-keep",
        type=int,
        choices=range(100),
        default=5,
        metavar="N",
        help="renamed files to keep, 0 to 99; default 5",
    )
    group.add_argument(
        "--out-password-file", metavar="FILE", help="password of mqtt:// or mqtts://"
    )


def _sink(text: str) -> str:
    """A sink whose kind is known, and of which all is there that must be there at the start."""
    kind, colon, rest = text.partition(":")
    if kind not in KINDS or not colon or not rest:
        raise argparse.ArgumentTypeError(
            f"{text}: give jsonl:FILE, jsonl:-, exec:COMMAND, mqtt://host/topic, mqtts://host/topic"
            " or socket:PORT"
        )
    if kind == "jsonl" and text != STDOUT and not os.path.exists(rest):
        arguments.new_file(rest)
    if kind == "exec":
        _program(rest)
    if kind == "socket":
        _address(rest)
    return text


def _program(command: str) -> None:
    import shlex

    try:
        words = shlex.split(command)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{command}: {error}") from None
    import shutil

    if not words or shutil.which(words[0]) is None:
        raise argparse.ArgumentTypeError(f"{command}: there is no such program")


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 0xFFFF:
        raise argparse.ArgumentTypeError(f"{text}: give socket:PORT or socket:HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)


def _when(text: str) -> When:
    from edgesvm.outputs.lines import When

    if text in ("every", "change"):
        return When(1 if text == "every" else None)
    try:
        return When(arguments.count(text))
    except (ValueError, argparse.ArgumentTypeError):
        raise argparse.ArgumentTypeError(f"{text}: give every, change or an N >= 1") from None


def _size(text: str) -> int:
    size = arguments.said(parse_bytes, text)
    if size < 1024:
        raise argparse.ArgumentTypeError(f"{text}: give at least 1KiB")
    return size


@dataclass(frozen=True)
class OutSettings:
    """The sinks that predictions are passed on to; none by default."""

    out: tuple[str, ...] = ()
    out_when: When | None = None
    out_queue: int = 1024
    out_rotate: int = 10 << 20  # bytes
    out_keep: int = 5
    out_password_file: str | None = None

    @classmethod
    def of(cls, options: argparse.Namespace) -> OutSettings:
        """Raises ValueError if the options contradict each other."""
        if len(set(options.out)) < len(options.out):
            raise ValueError("--out names a sink twice")
        if STDOUT in options.out and options.json:
            raise ValueError(
                "--json and --out jsonl:- both write standard output: send one of them to a file, "
                "as in --out jsonl:FILE"
            )
        return arguments.read(cls, options, out=tuple(options.out))

    @property
    def files(self) -> list[tuple[str, str]]:
        """``--out``, and each file that it writes."""
        paths = [text.removeprefix("jsonl:") for text in self.out if text.startswith("jsonl:")]
        paths = [path for path in paths if path != "-" and not _is_device(path)]
        kept = range(1, self.out_keep + 1)
        return [
            ("--out", name) for path in paths for name in (path, *(f"{path}.{i}" for i in kept))
        ]

    @contextlib.contextmanager
    def claimed(self) -> Iterator[None]:
        """Keep other processes from the files within the block.

        Raises
        ------
        BlockingIOError
            Another process has one of them; the message names it.
        """
        with contextlib.ExitStack() as held:
            for _, path in self.files[:: self.out_keep + 1]:
                held.enter_context(claimed(path))
            yield

    @property
    def takes_stdout(self) -> bool:
        """Whether standard output is for predictions alone."""
        return STDOUT in self.out

    def journal(self, model: Learner | Chain | VirtualSensor) -> Journal | None:
        """Where the answers of a model are kept for the sinks; None without sinks."""
        if not self.out:
            return None
        from edgesvm.journal import Journal

        learner = learner_in(model)
        return Journal(
            learner.n_features_in_, self.out_queue, dtype=learner.dtype, targets=learner.regresses
        )

    def start(
        self,
        journals: Mapping[str, Journal | None],
        report: Callable[[str], None],
        *,
        alarms: bool = False,
        asked: Mapping[str, Questions | None] | None = None,
        heard: Callable[[str | None, str], str] | None = None,
        samples: Mapping[str, Freshness] | None = None,
        steady: bool = True,
    ) -> Outputs:
        """Begin to pass on the answers in the journals, and the questions, given by their ports'
        names; `heard` is told what comes back. `samples` says whether samples come, and `steady`
        whether each gives an answer.

        Raises
        ------
        OSError
            The port of a server is taken, or the password's file cannot be read.
        ValueError
            A URL is wrong, a certificate cannot be read, or paho-mqtt is not installed.
        """
        if not self.out:
            return Outputs([])
        from edgesvm.outputs.lines import When
        from edgesvm.outputs.output import Output

        topics = {port: port_name(port) for port in journals} if len(journals) > 1 else {}
        when = self.out_when or When(1)
        steady = steady and when.every == 1
        sinks = [self._open(text, topics, alarms=alarms, steady=steady) for text in self.out]
        for sink in sinks:
            sink.heard, sink.samples = heard, samples or {}
        there = {name: one for name, one in journals.items() if one is not None}
        rings = {name: one.ring for name, one in (asked or {}).items() if one is not None}
        return Outputs([Output(sink, there, when, asked=rings, report=report) for sink in sinks])

    def _open(self, text: str, topics: Mapping[str, str], *, alarms: bool, steady: bool) -> Sink:
        """The sink of an option. A kind's module is imported only for it."""
        kind, _, rest = text.partition(":")
        if text == STDOUT:
            from edgesvm.outputs.standard import StandardOutput

            return StandardOutput()
        if kind == "jsonl":
            from edgesvm.outputs.rotated import RotatedFile

            return RotatedFile(rest, self.out_rotate, self.out_keep)
        if kind == "exec":
            from edgesvm.outputs.child import Child

            return Child(rest)
        if kind == "socket":
            from edgesvm.outputs.server import Server

            return Server(*_address(rest), self.out_queue)
        from edgesvm.outputs.mqtt import Mqtt

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


def words(summary: dict[str, Any]) -> list[str]:
    """A line for each sink, for a report."""
    return [
        f"out {o['sink']}: {o['sent']:,} sent, {o['lost']:,} lost, {o['failed']:,} failures"
        + (f", {o['client_lost']:,} lost by slow clients" if o.get("client_lost") else "")
        for o in summary.get("outputs", [])
    ]
