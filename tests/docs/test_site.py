"""The site builds without a warning: links within it, references, docstrings. `make docs-links`
checks those to other sites."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_every_page_is_in_the_navigation():
    pages = {path.relative_to(DOCS) for path in [*DOCS.glob("*.md"), *DOCS.glob("papers/*.md")]}
    text = (DOCS / "index.md").read_text("utf-8")
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.M | re.DOTALL)
    listed = {Path(f"{page}.md") for page in re.findall(r"^[\w./-]+$", "".join(trees), re.M)}
    assert len(trees) == 4
    assert pages - listed == {Path("index.md")}


@pytest.mark.long  # half a minute of the processor; `make docs` does the same
def test_it_builds_without_a_warning(tmp_path):
    for package in ("sphinx", "numpydoc", "pydata_sphinx_theme", "myst_parser"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    pytest.importorskip("river", minversion="0.26", reason="river is not installed")
    folders = ["-d", str(tmp_path / "doctrees"), str(ROOT), str(tmp_path / "site")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-c", str(DOCS), "-W", "--keep-going", *folders],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    learner = (tmp_path / "site/docs/api/edgesvm.StreamSVM.html").read_text("utf-8")
    assert "Penalty of the l2-SVM" in learner and "StreamSVM.of_paper" in learner
    assert "A vibration monitor" in (tmp_path / "site/docs/index.html").read_text("utf-8")
