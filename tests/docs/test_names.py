"""The tests that the pages name are there; the list of the interface has every public name."""

import re
from pathlib import Path

import pytest

import edgesvm

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"\btest_\w+\b(?!\.py)")


@pytest.mark.parametrize("page", ["memory"])
def test_named_tests_exist(page):
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    there = set(re.findall(r"^def (test_\w+)", "\n".join(sources), re.MULTILINE))
    named = set(NAMED.findall((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")))
    assert len(named) > 10
    assert named - there == set()


def test_every_public_name_is_in_the_list_of_the_interface():
    listed = re.findall(r"^   (\w+)$", (ROOT / "docs" / "api.md").read_text("utf-8"), re.MULTILINE)
    missing = set(edgesvm.__all__) - set(listed)
    assert not missing, f"docs/api.md: a line for each of {sorted(missing)}"
