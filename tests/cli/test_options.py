"""Options as fields of settings: the parser, what is read, and the words that give them again."""

import argparse
from dataclasses import dataclass
from typing import ClassVar

import pytest
from each import each

from edgesvm.cli import arguments
from edgesvm.cli.options import add, argument, option, read, required, section, usage, words


@dataclass(frozen=True, kw_only=True)
class Inner:
    TITLE: ClassVar[str] = "within"
    rate: float | None = option(None, "samples a second", unit="HZ", check=arguments.rate)
    drop_column: tuple[str, ...] = option((), "left out", unit="NAME", repeat=True)

    def __post_init__(self):
        if self.rate == 13:
            raise ValueError("--rate 13: give another")


@dataclass(frozen=True, kw_only=True)
class Settings:
    files: tuple[str, ...] = argument("to read", unit="FILE", repeat=True)
    out: str = required("to write", unit="FILE", short="-o")
    baud: int = option(9600, "speed", unit="B", check=arguments.count)
    clock: str | None = option(None, "whose", choices=("host", "sample"), without="host")
    text: bool = option(False, "lines of 100 % text")
    inner: Inner = section(Inner)
    other: int = 3


def parsed(*argv):
    parser = argparse.ArgumentParser(exit_on_error=False)
    add(parser, Settings)
    return read(Settings, parser.parse_args([*argv, "-o", "x", "a"]))


def test_what_is_not_given_is_the_default_of_its_field():
    plain = Settings(files=("a",), out="x")
    assert parsed() == plain and plain.inner == Inner()


@each(
    "argv",
    [
        [],
        ["--baud", "5", "--text"],
        ["--clock", "sample"],
        ["--rate", "12.5", "--drop-column", "b", "--drop-column", "c"],
    ],
)
def test_the_words_of_settings_give_them_again(argv):
    assert words(parsed(*argv)) == ["a", "--out", "x", *argv]


def test_a_value_may_be_left_out_where_there_is_one_without():
    assert parsed("--clock", "--text").clock == "host"


def test_the_help_has_units_defaults_and_groups():
    parser = argparse.ArgumentParser()
    add(parser, Settings)
    text = parser.format_help()
    assert "--baud B" in text and "speed; default 9600" in text and "100 % text" in text
    assert text.index("within:") < text.rindex("--rate HZ") and "other" not in text
    assert usage(Settings) == "FILE [FILE ...] -o FILE [options]"


@each(
    "argv, told",
    [
        (["--baud", "0"], "0: give an integer >= 1"),
        (["--rate", "fast"], "fast: give a rate per second"),
        (["--clock", "moon"], "invalid choice"),
    ],
)
def test_a_value_that_cannot_be_says_what_can(argv, told):
    with pytest.raises(argparse.ArgumentError, match=told):
        parsed(*argv)


def test_what_contradicts_is_of_the_settings():
    with pytest.raises(ValueError, match="give another"):
        parsed("--rate", "13")
