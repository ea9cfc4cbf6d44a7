"""The command line, ``edgesvm``: parses, calls, prints."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import functools
import importlib
import io
import os
import sys
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, NoReturn

from edgesvm.cli import options
from edgesvm.errors import CorruptModelError, RecordingError, RowsError, SampleRefused

DESCRIPTION = "Support vector machines that learn on the device, in a fixed number of bytes."
EXIT_CODES = """\
`edgesvm COMMAND --help` has the options and examples of a command.
Exit code: 0 done, 1 failed, 2 wrong use, 3 alarms (`watch`), 130 interrupted with nothing to save.
"""


class Command(NamedTuple):
    module: str
    words: str  # what to type first after its name
    summary: str


# How --help shows them.
GROUPS = {
    "Start here": {
        "demo": Command("demo", "", "a tour on a simulated sensor, in half a minute"),
        "ports": Command("ports", "", "list the serial ports, and which is probably the sensor"),
        "run": Command("run", "/dev/ttyUSB0 --save m.esvm", "learn from a sensor on a port"),
        "eval": Command("evaluate", "room.csv", "predict, then learn, each row of a file"),
    },
    "With a sensor": {
        "look": Command("look", "/dev/ttyUSB0", "show raw channels, and propose windows for them"),
        "watch": Command(
            "watch",
            "/dev/ttyUSB0 --learn 5m",
            "learn what is normal without labels, then raise alarms",
        ),
        "record": Command("record", "/dev/ttyUSB0 room.rec", "record a sensor's samples in a file"),
        "train": Command(
            "train", "wave.rec rest.rec --save m.esvm", "fit a model to recorded files"
        ),
        "example": Command("example", "arduino", "write sketches and services to start from"),
        "service": Command(
            "service", "install /dev/ttyUSB0", "run or watch from boot on, by systemd"
        ),
        "key": Command("key", "node.key", "make a key for a node and its host"),
        "simulate": Command(
            "simulate", "--signal rotating", "run a simulated sensor and `run` together"
        ),
    },
    "With a model": {
        "predict": Command("predict", "m.esvm /dev/ttyUSB0", "answer samples, and learn nothing"),
        "plan": Command("plan", "16KiB --features 8", "list the learners that fit in N bytes"),
        "inspect": Command("inspection", "m.esvm", "show what a snapshot holds"),
        "plot": Command("plot", "m.esvm -o m.png", "draw a saved model"),
        "merge": Command(
            "merge", "a.esvm b.esvm -o all.esvm", "make one model of those that several learned"
        ),
        "export": Command(
            "export", "m.esvm --c pump", "write a saved model as C for a microcontroller"
        ),
    },
}
PLAIN = dict(zip("▁▂▃▄▅▆▇█─µ·…≥≤±×→", "_.:-=+*#-u..><+x>", strict=True))
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. An error becomes one line and an exit code: 2 for wrong use, 1 for failure."""
    if sys.stderr is None:  # closed by the caller: 2>&-
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (to the end)
    codecs.register_error("edgesvm-plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="edgesvm-plain")
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    finally:
        try:  # drop what stderr does not accept; at exit it would turn any exit code into 120
            sys.stderr.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _plain(error: Any) -> tuple[str, int]:
    """What is printed for characters that the encoding of a stream lacks."""
    return "".join(PLAIN.get(c, "?") for c in error.object[error.start : error.end]), error.end


def _run(argv: Sequence[str]) -> int:
    told: Callable[[str], str] = str
    try:
        given = _parse(argv)
        told = functools.partial(options.spoken, given.settings)
        code = given.act(given)
        return code if _flushed() else 1
    except SystemExit:  # --help or a usage error was printed
        _flushed()
        raise
    except BrokenPipeError:
        _flushed()
        return 1
    except (
        CorruptModelError,
        RecordingError,
        SampleRefused,
        RowsError,
        OSError,
        RuntimeError,
    ) as error:
        return _fail(told(str(error)), 1)
    except MemoryError:
        return _fail("not enough memory on this machine, or within this process's limit", 1)
    except (ValueError, TypeError) as error:
        return _fail(told(str(error)), 2)
    except KeyboardInterrupt as stopped:
        why = f"; {stopped}" if str(stopped) else ""
        return _fail(f"interrupted{why}", 130)


class _Parser(argparse.ArgumentParser):
    def __init__(self, **kwargs: Any) -> None:
        # argparse makes a formatter for every argument, and each would ask for the width
        formatter: Any = functools.partial(
            argparse.RawDescriptionHelpFormatter, width=_columns() - 2, max_help_position=30
        )
        super().__init__(formatter_class=formatter, **kwargs)

    def error(self, message: str) -> NoReturn:
        """One line and exit code 2, even if nothing can be printed."""
        sys.exit(_fail(f"{message} (see {self.prog} --help)", 2))


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    """Import only the requested command: on a small board each import costs time and memory."""
    parser = _Parser(
        prog="edgesvm",
        usage="edgesvm COMMAND ...",
        description=f"{DESCRIPTION}\n\n{_overview()}",
        epilog=EXIT_CODES,
    )
    parser.add_argument("--version", action="version", version=f"edgesvm {_version()}")
    commands = parser.add_subparsers(dest="command", prog="edgesvm", help=argparse.SUPPRESS)
    if argv and argv[0] in COMMANDS:
        _add(commands, argv[0])
    elif argv and not argv[0].startswith("-"):
        near = options.meant(argv[0], COMMANDS)
        told = f"; did you mean {near}?" if near else ""
        parser.error(f"there is no command {argv[0]!r}{told}")
    given, unknown = parser.parse_known_args(argv)
    if given.command is None:
        parser.error("give a COMMAND, such as `edgesvm demo`")
    if unknown:
        parser.prog += f" {given.command}"
        known = commands.choices[given.command]._option_string_actions
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{_instead(unknown, known)}")
    return given


def _add(commands: argparse._SubParsersAction, name: str) -> None:
    """Add a command, whose module has its `HELP`, its `Settings` and what it does with them."""
    module = importlib.import_module(f"edgesvm.cli.{COMMANDS[name].module}")
    usage = f"edgesvm {name} {options.usage(module.Settings)}"
    command = commands.add_parser(name, usage=usage, description=module.HELP)
    options.add(command, module.Settings)
    command.set_defaults(
        act=lambda given: module.act(options.read(module.Settings, given)), settings=module.Settings
    )


def _columns() -> int:
    """Of the terminal, as `shutil.get_terminal_size` finds them, which brings all compressors."""
    if (given := os.environ.get("COLUMNS", "")).isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 80


def _overview() -> str:
    """The commands in their groups, and what to type first."""
    lines = []
    for group, commands in GROUPS.items():
        lines.append(f"{group}:")
        for name, command in commands.items():
            lines.append(f"  {f'edgesvm {name} {command.words}':<40}  {command.summary}")
    return "\n".join(lines)


def _version() -> str:
    import platform

    import numpy

    import edgesvm

    return f"{edgesvm.__version__} (Python {platform.python_version()}, NumPy {numpy.__version__})"


def _instead(unknown: Sequence[str], known: Collection[str]) -> str:
    """What to give instead of an option that a command does not have."""
    from edgesvm import catalogue
    from edgesvm.cli import parameters

    word, value, *_ = [*" ".join(unknown).replace("=", " ").split(), "VALUE"]
    name = word.lstrip("-").replace("-", "_")
    families = catalogue.LEARNERS if "--classes" in known else ("novelty",)
    kinds = catalogue.commands(*families) if "--set" in known else {}
    taken = parameters.having(kinds, lambda kind: name in parameters.types_of(kind))
    if taken:
        return f"; {taken} {parameters.spelled(name, value)}"
    near = options.meant(word.lstrip("-"), [one.lstrip("-") for one in known])
    return f"; did you mean --{near}?" if near else ""


def _flushed() -> bool:
    """Flush stdout; False if its reader is gone, which Python would complain about at exit."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def _fail(message: str, code: int) -> int:
    with contextlib.suppress(OSError):  # the code says it too
        print(f"edgesvm: {message}", file=sys.stderr)
    return code
