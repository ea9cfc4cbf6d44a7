"""Options of a command: each is declared once, as a field of the command's settings.

    @dataclass(frozen=True, kw_only=True)
    class Settings:
        file: str = argument("a .csv or a .rec", unit="FILE")
        baud: int = option(115200, "speed of a serial port", unit="B", check=arguments.count)
        link: Link = section(Link)  # the options of another such class

`add` gives a parser these options, and `read` makes the settings of what was parsed. The help, the
documentation and the names on the command line (``--drop-column`` of ``drop_column``) follow from
the fields. A subclass may give a field another default or help. What options contradict each other
is checked in ``__post_init__``, which raises ValueError.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

AS_JSON = "print one JSON line instead of text"
# What the library calls an option, where that is another name, or a name with this value.
LIBRARY = {"data": "rows", "drop_column": "drop_columns", "keep_column": "keep_columns"}
LIBRARY |= {"range": "value_range", "regress": "targets=True"}
LIBRARY |= {"text": "mode='text'", "binary": "mode='binary'"}
T = TypeVar("T")
Settings = TypeVar("Settings")


@dataclass(frozen=True, kw_only=True)
class Option:
    """What is known of an option besides its name and its default."""

    help: str  # one line; the default is added to it
    unit: str = ""  # what stands for the value in help
    check: Callable[[str], Any] | None = None  # makes the value of a text; the user sees its error
    text: Callable[[Any], str] = str  # makes the text of a value again
    choices: Collection[str] = ()  # see `chosen`
    repeat: bool = False  # it may be given several times; the values are a tuple
    rest: bool = False  # it is an argument that takes all words that are left
    without: object = None  # the value of the option without one, if it may be given so
    hidden: bool = False  # it is not in the help, but in the documents
    short: str = ""  # a second name, such as ``-o``
    is_argument: bool = False  # it is given by its place, not by its name
    is_required: bool = False


def option(default: T, help: str, **more: Any) -> T:
    """A field that is an option; False as a default makes it a flag. `more`: see `Option`."""
    return field(default=default, metadata={"option": Option(help=help, **more)})


def required(help: str, **more: Any) -> Any:
    """A field that is an option which must be given."""
    return field(metadata={"option": Option(help=help, is_required=True, **more)})


def argument(help: str, **more: Any) -> Any:
    """A field that is an argument; with `repeat` there are one or more, and with ``default=None``
    it may be left out."""
    given = {"default": more.pop("default")} if "default" in more else {}
    return field(**given, metadata={"option": Option(help=help, is_argument=True, **more)})


def section(of: type[T], *, hidden: bool = False) -> T:
    """A field that holds the settings of other options; `hidden`: they are not in the help."""
    return field(default_factory=of, metadata={"section": of, "hidden": hidden})


def options_of(settings: type) -> Iterator[tuple[str, dataclasses.Field[Any], Option]]:
    """The title of the group, the field and the option of each, in the order of the help."""
    title = getattr(settings, "TITLE", "")
    for one in dataclasses.fields(settings):
        if within := one.metadata.get("section"):
            for group, inner, found in options_of(within):
                hidden = found.hidden or one.metadata["hidden"]
                yield group or title, inner, dataclasses.replace(found, hidden=hidden)
        elif "option" in one.metadata:
            yield title, one, one.metadata["option"]


def add(parser: argparse.ArgumentParser, settings: type) -> None:
    """Give the parser the options of these settings; those of a class that has a ``TITLE`` are a
    group."""
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for title, of, found in options_of(settings):
        if title not in groups:
            groups[title] = parser.add_argument_group(title)
        _add_one(groups["" if found.is_argument else title], of, found)


def _add_one(group: argparse._ActionsContainer, of: dataclasses.Field[Any], found: Option) -> None:
    has_default = of.default is not dataclasses.MISSING
    told: dict[str, Any] = {"help": described(of, found).replace("%", "%%")}
    if found.hidden:
        told["help"] = argparse.SUPPRESS
    if has_default:
        told["default"] = of.default
    if found.is_argument:
        count = "+" if found.repeat else "?" if has_default else None
        count = argparse.REMAINDER if found.rest else count
        group.add_argument(of.name, metavar=found.unit or None, nargs=count, **told, **_kind(found))
        return
    names = [found.short] * bool(found.short) + [option_name(of.name)]
    told["dest"] = of.name
    if of.default is False:
        group.add_argument(*names, action="store_true", **told)
        return
    if found.repeat:
        told |= {"action": "append", "default": None}
    if found.without is not None:
        told |= {"nargs": "?", "const": found.without}
    unit = found.unit or (None if found.choices else "VALUE")
    group.add_argument(*names, metavar=unit, required=found.is_required, **told, **_kind(found))


def _kind(found: Option) -> dict[str, Any]:
    if found.choices:
        return {"choices": found.choices, "type": checked(lambda text: chosen(text, found.choices))}
    return {} if found.check is None else {"type": checked(found.check)}


def chosen(text: str, choices: Collection[str], option: str = "") -> str:
    """The choice that `text` names. Raises ValueError, with the one that was meant, if none is."""
    names = spellings(choices)
    if plain(text) in names:
        return names[plain(text)]
    near = meant(plain(text), names)
    instead = f"did you mean {names[near]}?" if near else f"give {', '.join(choices)}"
    raise ValueError(f"{option}{text}: {instead}")


def spellings(choices: Collection[str]) -> dict[str, str]:
    """The choice that a name stands for, as `plain` writes it; where choices stand for classes, a
    class's name does too."""
    names = {plain(choice): choice for choice in choices}
    if isinstance(choices, Mapping):
        names |= {plain(of): name for name, of in choices.items() if isinstance(of, str)}
    return names


def plain(name: str) -> str:
    """A name in any case, with hyphens or without."""
    return name.lower().replace("-", "").replace("_", "")


def meant(word: str, names: Iterable[str]) -> str:
    """The name that is most like a word; empty if none is."""
    import difflib

    return next(iter(difflib.get_close_matches(word, list(names), n=1)), "")


def checked(check: Callable[[str], T]) -> Callable[[str], T]:
    """`check`, with what its ValueError says told to the user."""

    def value(text: str) -> T:
        try:
            return check(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return value


def described(of: dataclasses.Field[Any], found: Option) -> str:
    """The help of an option, with its default."""
    default = f"{of.default:g}" if isinstance(of.default, float) else of.default
    is_told = isinstance(default, (int, str)) and default not in (False, "")
    return f"{found.help}; default {default}" if is_told else found.help


def option_name(name: str) -> str:
    """How the option of a field is given."""
    return f"--{name.replace('_', '-')}"


def spoken(settings: type, text: str) -> str:
    """A text of the library, with its parameters as the options of a command: ``label='none'`` is
    ``--label none``. Those within a call, as in ``Standardized(missing="mean")``, stay."""
    for _, of, _ in options_of(settings):
        option, name = option_name(of.name), LIBRARY.get(of.name, of.name)
        if "=" in name:
            text = text.replace(name, option)
        else:
            given = rf"(?<!--set )(?<![\w(.-]){name}=('[^']*'|[\w.,+-]*\w)(?![\w(\[])"
            for found in re.finditer(given, text):
                text = text.replace(found[0], f"{option} {found[1].strip(chr(39))}", 1)
    return text


def usage(settings: type) -> str:
    """The arguments, for the line of usage."""
    words = []
    for _, of, found in options_of(settings):
        if found.is_required:
            words.append(f"{found.short or option_name(of.name)} {found.unit}")
        elif found.is_argument:
            word = f"{found.unit} [{found.unit} ...]" if found.repeat else found.unit
            words.append(f"[{word}]" if of.default is not dataclasses.MISSING else word)
    return " ".join([*words, "[options]"])


def read(settings: type[Settings], options: argparse.Namespace) -> Settings:
    """The settings of the options that were parsed."""
    given: dict[str, Any] = {}
    for one in dataclasses.fields(settings):  # type: ignore[arg-type]
        if within := one.metadata.get("section"):
            given[one.name] = read(within, options)
        elif hasattr(options, one.name):
            value = getattr(options, one.name)
            found = one.metadata.get("option")
            repeats = found is not None and found.repeat
            given[one.name] = tuple(value or ()) if repeats else value
    return settings(**given)


def parsed(settings: type[Settings], line: str) -> Settings:
    """The settings that the options of a command line give."""
    parser = argparse.ArgumentParser()
    add(parser, settings)
    return read(settings, parser.parse_args(line.split()))


def words(settings: Any) -> list[str]:
    """The words of a command line that give these settings, but for those that are as without."""
    told: list[str] = []
    for one in dataclasses.fields(settings):
        value, found = getattr(settings, one.name), one.metadata.get("option")
        if "section" in one.metadata:
            told += words(value)
        elif found is not None and value != one.default:
            for each in value if found.repeat else [value]:
                text = [] if each is True else [found.text(each)]
                told += [*([] if found.is_argument else [option_name(one.name)]), *text]
    return told
