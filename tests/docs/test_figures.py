"""The figures of the documents stand in the results that they name.

A figure is a number with a decimal point. A paragraph, list item or row that names studies
(`twin.table`, or a link to a result) quotes them alone; a row or an item that names none quotes
those of its table or list, and each page of docs/notes/benchmarks its study. In the pages about the
papers, all of "What we measured" quotes those that it names.
"""

import re
from pathlib import Path

from each import each

ROOT = Path(__file__).parents[2]
RESULTS = {path.stem: path for path in (ROOT / "benchmarks" / "results").glob("*_*.md")}
PAPERS = sorted((ROOT / "docs" / "papers").glob("*.md"))
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", *(p for p in DOCS if p.parent.name != "cells")]  # those: paper_cells
NAMED = re.compile(r"results/(\w+)\.md|`(?:python -m benchmarks\.)?(\w+\.\w+)`")
QUOTED = re.compile(r"(?<![\w.,/:-])\d[\d,]*\.\d+(?:e-\d+)?(?![\w.]*\w)")
NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


def sources(text):
    """The results that a text names."""
    names = {m[1] or m[2].replace(".", "_", 1) for m in NAMED.finditer(text)}
    return names & RESULTS.keys()


def value(figure):
    return float(figure.replace(",", ""))


def wrong(text, names):
    """Figures of the text that no number of these results rounds to."""
    known = [value(k) for name in names for k in NUMBER.findall(RESULTS[name].read_text("utf-8"))]

    def stands(figure):
        mantissa, _, exponent = figure.partition("e")
        half = 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.split(".")[1]))
        return any(abs(value(figure) - k) <= half * 1.000001 for k in known)

    return [figure for figure in QUOTED.findall(text) if not stands(figure)]


def test_there_is_a_page_for_each_paper():
    assert len(PAPERS) == 5


@each("page", PAPERS, ids=lambda page: page.stem)
def test_what_we_measured(page):
    text = page.read_text(encoding="utf-8")
    section = re.search(r"^## What we measured\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)[1]
    assert len(QUOTED.findall(section)) > 5
    assert wrong(section, sources(section)) == []


def quoting(page):
    """Text of the page without its code, and the results that it quotes, piece by piece."""
    own = {page.stem} if page.parent.name == "benchmarks" else set()
    for text in page.read_text(encoding="utf-8").split("\n\n"):
        if names := sources(text) | own:
            for piece in re.split(r"\n(?=\||- )", text):
                yield re.sub(r"`[^`]*`", "", piece), sources(piece) or names


@each("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_names_a_study_quotes_it(page):
    assert [figure for text, names in quoting(page) for figure in wrong(text, names)] == []
