"""Each table and figure of the five papers, cell by cell: what the paper has, what was measured
here, and why they differ. `python -m benchmarks.papers` writes docs/papers/cells/*.md.

It measures nothing. The papers' figures are in the studies' paper.json, ours in benchmarks/results;
where a cell is in them, and why it differs, is in papers.json.
"""

from __future__ import annotations

import argparse
import json
import re
from functools import cache
from typing import Any

from benchmarks.common.report import FOLDER, RESULTS, ROOT, markdown

PAGES = ROOT / "docs" / "papers" / "cells"
SPEC = json.loads((FOLDER / "papers.json").read_text("utf-8"))
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
NONE, UNKNOWN = "–", "The reason is not known."
FOREWORD = (
    "{paper}. Written by `python -m benchmarks.papers` from the [results]({results}/README.md) of "
    "commands of this project. A cell is *paper / ours*; {none} stands for what there is not, in "
    "the paper or here. A letter tells why ours is not there, or differs by more than is said "
    "above the table. [What was decided, and measured beyond the paper](../{page}.md)."
)


@cache
def tables(stem: str) -> dict[str, list[list[str]]]:
    """Rows of cells, the header first, of a result, by the titles of its tables."""
    found: dict[str, list[list[str]]] = {}
    title = ""
    for line in (RESULTS / f"{stem}.md").read_text("utf-8").splitlines():
        if line.startswith("## "):
            title = line[3:]
        elif line.startswith("| "):
            found.setdefault(title, []).append([cell.strip() for cell in line.split("|")[1:-1]])
    return found


def measured(where: list[str], row: str) -> str:
    """A cell of a result, without its deviation: of [study, title of the table, column]. "X>" is
    the column after X, "X#2" the second X. A row may be named fourth.
    """
    stem, title, column, *other = where
    header, *rows = tables(stem)[title]
    name, _, count = column.rstrip(">").partition("#")
    places = [k for k, heading in enumerate(header) if heading == name]
    place = places[int(count or 1) - 1] + column.endswith(">")
    cell = next((cells[place] for cells in rows if cells[0] == (other or [row])[0]), "")
    return re.sub(r" ± [\d.]+", "", cell)


def published(paper: dict[str, Any], path: str, row: str) -> Any:
    """What paper.json has at a path; a list is in the order of its "sets" or "columns"."""
    names = paper["sets"] if isinstance(paper.get("sets"), list) else paper.get("columns", [])
    found: Any = paper
    for name in path.format(row=row).split("/"):
        found = found[names.index(name)] if isinstance(found, list) else found.get(name)
        if found is None:
            return None
    return found


def number(cell: Any) -> float | None:
    """The first number of a cell; None of one that was not measured, or was out of time."""
    found = NUMBER.search(text(cell))
    return None if found is None or text(cell).startswith(">") else float(found[0].replace(",", ""))


def text(value: Any) -> str:
    if value is None or value in ("", "-"):
        return NONE
    return value if isinstance(value, str) else f"{value:,}"


def differs(paper: Any, ours: Any, same: float | str | None) -> bool:
    """By more than `same`: points, or "N %" of the paper's. Without it, nothing does."""
    a, b = number(paper), number(ours)
    if a is None or b is None or same is None:
        return a is not None and b is None
    return abs(b - a) > (a * float(same.split()[0]) / 100 if isinstance(same, str) else same) + 1e-9


class Notes:
    """Letters of the reasons below a table, in the order in which they are met."""

    def __init__(self, rules: list[list[str]], reasons: dict[str, str]) -> None:
        self._rules, self._reasons, self.told = rules, reasons, list[str]()

    def letter(self, row: str, column: str) -> str:
        """By the first rule, [rows, columns, reason], both of whose patterns match."""
        matching = (
            why
            for rows, columns, why in self._rules
            if re.fullmatch(rows, row) and re.fullmatch(columns, column)
        )
        key = next(matching, UNKNOWN)
        reason = self._reasons.get(key, key)
        if reason not in self.told:
            self.told.append(reason)
        return chr(ord("a") + self.told.index(reason))

    def lines(self) -> str:
        return "\n".join(f"- ({chr(ord('a') + k)}) {reason}" for k, reason in enumerate(self.told))


def grid(spec: dict[str, Any], paper: dict[str, Any], reasons: dict[str, str]) -> list[str]:
    """A table of the paper."""
    columns = [
        {key: filled(value, of) for key, value in column.items() if key != "each"}
        for column in spec["columns"]
        for of in column.get("each", [""])
    ]
    notes = Notes(spec.get("why", []), reasons)
    pairs: dict[str, list[tuple[float, float]]] = {}
    body = []
    n_cells = n_measured = n_apart = 0
    for row in spec.get("rows") or published(paper, spec["rows of"], ""):
        shown = [row]
        for column in columns:
            theirs = published(paper, column["paper"], row)
            ours = measured(column["ours"], row) if column["ours"] else ""
            a, b = number(theirs), number(ours)
            cell = f"{text(theirs)} / {text(ours)}"
            if a is None and b is None and text(theirs) == text(ours) == NONE:
                cell = NONE
            n_cells += a is not None
            n_measured += a is not None and b is not None
            if differs(theirs, ours, spec.get("same")):
                n_apart += b is not None
                cell += f" ({notes.letter(row, column['name'])})"
            if a is not None and b is not None:
                pairs.setdefault(column["name"], []).append((a, b))
            shown.append(cell)
        body.append(shown)
    if spec.get("average"):
        body.append(["average", *(average(pairs.get(column["name"], [])) for column in columns)])
    table = markdown(["", *(column["name"] for column in columns)], body)
    sources = dict.fromkeys(column["ours"][0] for column in columns if column["ours"])
    links = ", ".join(f"[{stem}](../../../benchmarks/results/{stem}.md)" for stem in sources)
    same = f"; {n_apart} differ by more than {said(spec['same'])}" if "same" in spec else ""
    about = f"{n_cells} cells, {n_measured} measured{same}." + f" Ours: {links}." * bool(links)
    return [f"## {spec['title']}", about, spec.get("note", ""), table, notes.lines()]


def said(same: float | str) -> str:
    return same if isinstance(same, str) else f"{same:g} points"


def filled(value: Any, each: str) -> Any:
    """A text, or texts, with "{each}" filled in."""
    if isinstance(value, list):
        return [filled(part, each) for part in value]
    return value.replace("{each}", each)


def average(pairs: list[tuple[float, float]]) -> str:
    """Of the cells measured."""
    if not pairs:
        return NONE
    theirs, ours = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    return f"{theirs:.1f} / {ours:.1f}"


def points(spec: dict[str, Any]) -> list[str]:
    """What a figure shows, or a table that is no grid: [what, paper, ours, why they differ]; ours
    may be a cell of a result.
    """
    rows = [
        [what, paper, measured(ours, "") if isinstance(ours, list) else ours, why]
        for what, paper, ours, why in spec["points"]
    ]
    table = markdown(["", "paper", "ours", "why they differ"], rows)
    picture = f"![{spec['title']}]({spec['picture']})" if "picture" in spec else ""
    return [f"## {spec['title']}", spec.get("note", ""), table, picture]


def page(name: str) -> str:
    spec = SPEC[name]
    paper = json.loads((FOLDER / spec["paper"]).read_text("utf-8"))
    foreword = FOREWORD.format(
        paper=spec["title"], page=name, results="../../../benchmarks/results", none=NONE
    )
    parts = [f"# {spec['short']}: every cell", foreword]
    for each in spec["tables"]:
        parts += points(each) if "points" in each else grid(each, paper, spec["reasons"])
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    PAGES.mkdir(parents=True, exist_ok=True)
    for name in SPEC:
        (PAGES / f"{name}.md").write_text(page(name), "utf-8")
        print(PAGES / f"{name}.md")


if __name__ == "__main__":
    main()
