"""docs/papers/cells: each figure of the five papers beside ours."""

import json
import sys
from pathlib import Path

from each import each

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.papers import FOLDER, PAGES, SPEC, Notes, differs, page, text  # noqa: E402


@each("name", SPEC)
def test_the_page_is_what_the_command_makes(name):
    assert (PAGES / f"{name}.md").read_text("utf-8") == page(name), "python -m benchmarks.papers"


def numbers(value):
    """Of what a paper published."""
    if isinstance(value, dict):
        return [n for key, part in value.items() for n in numbers(part) if key != "IDSVM rows"]
    if isinstance(value, list):
        return [n for part in value for n in numbers(part)]
    return [] if isinstance(value, str | None) else [value]


@each("name", SPEC)
def test_every_figure_of_the_paper_is_on_its_page(name):
    said = (PAGES / f"{name}.md").read_text("utf-8")
    published = numbers(json.loads((FOLDER / SPEC[name]["paper"]).read_text("utf-8")))
    assert len(published) > 25
    assert [n for n in published if f" {text(n)} / " not in said] == []


def test_what_differs():
    assert differs(96.7, "97.1 *", 0.3) and not differs(96.7, "97.0", 0.3)
    assert differs(1060, "623", "15 %") and not differs(1060, "1,100", "15 %")
    assert differs(94.1, "> 20 s", None) and not differs(94.1, "50.0", None)
    assert not differs(None, "50.0", 0.3)


def test_the_first_rule_that_fits_tells_why():
    notes = Notes([["Adult", ".*", "a8a"], [".*", "TVM.*", "merges"]], {"a8a": "Other rows."})
    letters = [notes.letter(*cell) for cell in (("Gauss", "TVM 20"), ("Adult", "TVM 20"))]
    assert letters == ["a", "b"] and notes.letter("Gauss", "IDSVM") == "c"
    assert notes.lines().splitlines() == [
        "- (a) merges",
        "- (b) Other rows.",
        "- (c) The reason is not known.",
    ]
