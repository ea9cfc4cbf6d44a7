"""The report of a study as Markdown, and what it measured as JSON."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import edgesvm
from benchmarks.common.progress import progress

FOLDER = Path(__file__).resolve().parents[1]
ROOT = FOLDER.parent
OUT = FOLDER / "out"
RESULTS = FOLDER / "results"
NOTES = Path("docs/notes/benchmarks")
BEGUN = perf_counter()
# What a figure depends on; benchmarks/papers.py reads what others measured.
MEASURED = ("edgesvm", "firmware_sim", "benchmarks/*.py", "meson.build", ":!benchmarks/papers.py")


@dataclass(frozen=True)
class Table:
    """Cells are text as it is shown, or numbers; a note stands below the table."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]
    note: str = ""


@dataclass(frozen=True)
class Report:
    """What a study found.

    Parameters
    ----------
    study : str
        The module below `benchmarks`, with a slash: "twin/table".
    about : list of str
        Paragraphs before the tables: what was measured, and how.
    figures : object
        Everything measured, in full precision, for whoever computes with it.
    skipped : list of str
        What was left out, and why.
    """

    study: str
    title: str
    tables: list[Table]
    about: list[str] = field(default_factory=list)
    figures: Any = None
    skipped: list[str] = field(default_factory=list)


def publish(report: Report, out: Path) -> None:
    """Write `<study>.md` to `out`, and print it. What was measured goes to `<study>.json` beside
    it, or, where `out` is the folder of committed results, to `benchmarks/out`. A report without a
    table is only printed: what an earlier run measured stays.
    """
    content = {"measured": measured_here(), **asdict(report)}
    text = rendered(content)
    stem = stem_of(report.study)
    raw = OUT if out == RESULTS else out
    if report.tables:
        for folder in (out, raw):
            folder.mkdir(parents=True, exist_ok=True)
        (raw / f"{stem}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
        (out / f"{stem}.md").write_text(text)
    progress("")
    print(text, flush=True)


def stem_of(study: str) -> str:
    """Name of a study's files."""
    return study.replace("/", "_")


def rendered(content: dict[str, Any]) -> str:
    """Markdown of a report, of the same content as its JSON."""
    measured = content["measured"]
    command = measured["command"]
    facts = "; ".join(f"{name} {what}" for name, what in measured.items() if name != "command")
    parts = [f"# {content['title']}", f"`{command}`", facts, *content["about"]]
    parts += [f"Skipped: {line}" for line in content["skipped"]]
    for table in content["tables"]:
        parts += [f"## {table['title']}"] if table["title"] else []
        parts += [markdown(table["columns"], table["rows"])] if table["rows"] else []
        parts += [table["note"]] if table["note"] else []
    notes = NOTES / f"{stem_of(content['study'])}.md"
    if (ROOT / notes).exists():
        parts.append(f"What these figures mean: [{notes}](../../{notes}).")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def markdown(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table padded so that it reads as plain text too; all columns but the first to the right.
    Columns without a value are left out."""
    kept = [k for k in range(len(columns)) if any(row[k] not in {None, ""} for row in rows)]
    cells = [["" if row[k] is None else str(row[k]) for k in kept] for row in [columns, *rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(kept))]
    lines = [
        "| "
        + " | ".join(
            c.rjust(w) if k else c.ljust(w)
            for k, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        + " |"
        for row in cells
    ]
    rule = "|" + "|".join("-" * (w + 1) + (":" if k else "-") for k, w in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def measured_here() -> dict[str, str]:
    """Command, date, commit, versions and machine of this process."""
    facts = {
        "command": " ".join(["python", *sys.orig_argv[1:]]),
        "date": datetime.now(timezone.utc).date().isoformat(),
        "commit": commit(),
        "took": f"{perf_counter() - BEGUN:.0f} s",
        "edgesvm": edgesvm.__version__,
        "NumPy": np.__version__,
        "Python": platform.python_version(),
        "machine": f"{cpu_name()}, {os.cpu_count()} cores, {sys.platform} {platform.machine()}",
    }
    if "sklearn" in sys.modules:
        facts["scikit-learn"] = sys.modules["sklearn"].__version__
    return facts


def commit(*measured: str) -> str:
    """The last commit that changed the sources measured, with "-dirty" where they differ from it;
    "unknown" without git.
    """
    git = shutil.which("git")
    if git is None:
        return "unknown"
    run = partial(subprocess.run, cwd=ROOT, check=False, capture_output=True, text=True)
    name = run([git, "log", "-1", "--format=%h", "--", *(measured or MEASURED)]).stdout.strip()
    changed = run([git, "diff", "--quiet", "HEAD", "--", *(measured or MEASURED)]).returncode == 1
    return name + "-dirty" * changed if name else "unknown"


def cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown processor"
