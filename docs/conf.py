"""The site of the documentation. Its source folder is the root of the repository, so that links
between Markdown files lead to the same place here and on a plain repository page.

    sphinx-build -c docs -W --keep-going . build/docs
"""

import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path

from sphinx.application import Sphinx

project = "edgesvm"
author = "The edgesvm developers"
copyright = author
version = release = version_of("edgesvm")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
]
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**.md",
    "docs/api/**.rst",
    "benchmarks/README.md",
    "benchmarks/results/*.md",
    "examples/**.md",
]
# Not walked at all: there is nothing to read, and much to look through.
exclude_patterns = [".*", "build*", "tests", "tools", "dist", "demo-out", "benchmarks/out"]

# -- Markdown -------------------------------------------------------------------------------------

myst_heading_anchors = 4
highlight_language = "none"
suppress_warnings = [
    "toc.not_included",  # results and notes are reached by links
    "myst.header",  # a page may begin below its first level, as README does for a repository
]

# -- Python ---------------------------------------------------------------------------------------

default_role = "py:obj"
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say it in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# -- HTML -----------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "edgesvm"
templates_path = [str(Path(__file__).parent / "_templates")]  # autosummary looks from the root
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_root"]  # index.html, which leads to docs/index.html
html_search_scorer = str(Path(__file__).with_name("_search.js"))
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_center": [],  # the sections are in the sidebar
    "footer_start": [],
    "footer_end": [],
}
html_sidebars = {"**": ["sidebar-map.html"]}

linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_anchors = False


# -- Docstrings -----------------------------------------------------------------------------------

QUOTED = re.compile(r"(``.*?``|`.*?`)")
MARKUP = re.compile(r"(?<!\\)\||(?<=\w)_(?=\W|$)")


def as_written(*event):
    """|x| and coef_ are norms and names, not substitutions and targets of links."""
    lines = event[-1]
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", "..")):
            parts = QUOTED.split(line)
            parts[::2] = [MARKUP.sub(r"\\\g<0>", part) for part in parts[::2]]
            lines[i] = "".join(parts)


def with_options(app: Sphinx, name: str, text: list[str]) -> None:
    """The reference of the command line, from the options themselves."""
    if name == "docs/command-line":
        sys.path.insert(0, str(Path(__file__).parent))
        from _options import reference

        text[0] += reference()


def setup(app: Sphinx) -> None:
    app.connect("source-read", with_options)
    app.connect("autodoc-process-docstring", as_written, priority=900)  # after numpydoc
