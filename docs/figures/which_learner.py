"""The figure and the table of docs/which-learner.md, from benchmarks/results/rivals_table.md.

python docs/figures/which_learner.py    writes the figure beside itself, prints the table
"""

from pathlib import Path
from typing import NamedTuple

# All others in the result are what a user would take instead.
from edgesvm.cli.learner_options import KINDS as NAMES

HERE = Path(__file__).parent
RESULT = HERE.parents[1] / "benchmarks" / "results" / "rivals_table.md"
TITLE = "16 KiB: all 24 sets"
LEFT_OUT = ("larger class", "label before", "auto")  # need no learning, or are gone

WIDTH, ROW, TOP, LEFT, RIGHT = 500, 19, 46, 186, 362
LOW, HIGH = 65, 95


class Row(NamedTuple):
    name: str
    before: str
    after: str
    n_bytes: str
    us: str
    ours: bool


def rows() -> list[Row]:
    """Every learner, the most accurate once labels stop first."""
    text = RESULT.read_text(encoding="utf-8")
    section = text.split(f"\n## {TITLE}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    head, *table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    columns = ["learner", "median, before", "median, after", "bytes, median", "µs a sample, median"]
    at = [head.index(column) for column in columns]
    found = []
    for cells in table:
        name, *figures = (cells[i] for i in at)
        if name not in LEFT_OUT:
            found.append(Row(NAMES.get(name, name), *figures, name in NAMES))
    return sorted(found, key=lambda row: -float(row.after))


def markdown() -> str:
    lines = [
        "| learner | % right while labels come | once they stop | bytes | µs a sample |",
        "|---|---|---|---|---|",
    ]
    for row in rows():
        name = f"`{row.name}`" if row.ours else row.name
        lines.append(f"| {name} | {row.before} | {row.after} | {row.n_bytes} | {row.us} |")
    return "\n".join(lines)


def x(per_cent: float) -> float:
    return LEFT + (RIGHT - LEFT) * (per_cent - LOW) / (HIGH - LOW)


def svg() -> str:
    found = rows()
    height = TOP + ROW * len(found) + 26
    bottom = height - 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" viewBox="0 0 {WIDTH} {height}"'
        f' role="img" aria-label="Per cent right of every learner at 16 KiB">',
        "<style>text{font:13px sans-serif;fill:#333}.n{text-anchor:end}.m{text-anchor:middle}"
        ".o{fill:#c2410c}.r{fill:#777}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<circle cx="{LEFT + 6}" cy="14" r="4.5" fill="#fff" stroke="#c2410c" stroke-width="2"/>'
        f'<text x="{LEFT + 16}" y="18">while labels come</text>'
        f'<circle cx="{LEFT + 146}" cy="14" r="5.5" fill="#c2410c"/>'
        f'<text x="{LEFT + 156}" y="18">once they stop</text>',
        f'<text class="n" x="{WIDTH - 58}" y="36">bytes</text>'
        f'<text class="n" x="{WIDTH - 8}" y="36">µs</text>',
    ]
    for tick in range(LOW, HIGH + 1, 10):
        parts.append(
            f'<path d="M{x(tick):.1f} {TOP - 8}V{bottom}" stroke="#ddd"/>'
            f'<text class="m" x="{x(tick):.1f}" y="{height - 8}">{tick} %</text>'
        )
    for i, row in enumerate(found):
        y = TOP + ROW * i + 8
        before, after = x(float(row.before)), x(float(row.after))
        kind, colour = ("o", "#c2410c") if row.ours else ("r", "#777")
        parts.append(
            f'<text class="n {kind}" x="{LEFT - 10}" y="{y + 4}">{row.name}</text>'
            f'<path d="M{before:.1f} {y}H{after:.1f}" stroke="{colour}" opacity=".5"/>'
            f'<circle cx="{before:.1f}" cy="{y}" r="4" fill="#fff" stroke="{colour}"'
            f' stroke-width="2"/><circle cx="{after:.1f}" cy="{y}" r="5" fill="{colour}"/>'
            f'<text class="n" x="{WIDTH - 58}" y="{y + 4}">{row.n_bytes}</text>'
            f'<text class="n" x="{WIDTH - 8}" y="{y + 4}">{row.us}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    (HERE / "which_learner.svg").write_text(svg(), encoding="utf-8")
    print(markdown())
