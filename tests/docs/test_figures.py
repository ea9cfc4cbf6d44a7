"""The figures of the pages about the papers stand in the results that the pages name."""

import re
from pathlib import Path

from each import each

PAPERS = sorted((Path(__file__).parents[2] / "docs" / "papers").glob("*.md"))
FIGURE = re.compile(r"(?<![\w.,])\d[\d,]*\.\d+(?:e-\d+)?(?![\w.])")


def test_there_is_a_page_for_each_paper():
    assert len(PAPERS) == 5


@each("page", PAPERS, ids=lambda page: page.stem)
def test_what_we_measured(page):
    text = page.read_text(encoding="utf-8")
    section = re.search(r"^## What we measured\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)[1]
    linked = re.findall(r"\]\((\.\./\.\./benchmarks/results/\w+\.md)\)", section)
    known = set()
    for result in linked:
        known |= set(FIGURE.findall((page.parent / result).read_text(encoding="utf-8")))
    figures = FIGURE.findall(section)
    assert len(figures) > 10
    assert [figure for figure in figures if figure not in known] == []
