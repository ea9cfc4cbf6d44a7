"""Figure and table of docs/which-learner.md are those of the committed result."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def made():
    path = DOCS / "figures" / "which_learner.py"
    spec = importlib.util.spec_from_file_location("which_learner", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_figure_and_table():
    figure = DOCS / "figures" / "which_learner.svg"
    assert figure.read_text(encoding="utf-8") == made().svg()
    page = (DOCS / "which-learner.md").read_text(encoding="utf-8")
    assert f"\n\n{made().markdown()}\n\n" in page
    assert sum(row.ours for row in made().rows()) >= 20
