"""How a fleet would go at a thousand million rows and ten thousand gateways, computed from what
`benchmarks.fleet.scale` measured; nothing is run.

Processor time of a search and of the survey grows with the rows and is shared out among the
workers. Tasks, and with them what the scheduler does, grow with the workers, since files side by
side are one task. The model is sent once to each worker.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.report import Report, Table, publish
from edgesvm.fleet.cluster import RUNS_A_THREAD

ROWS, GATEWAYS = 1_000_000_000, 10_000
WORKERS = (2, 10, 100, 1_000, 10_000)
LINK = 125e6  # bytes a second of a network of 1 Gbit/s, the client's or the scheduler's
KEPT = 8  # bytes a worker keeps of a row that violates
INPUT = Path(__file__).with_name("scale.json")
FIELDS = ("rows", "features", "file_bytes", "workers_1", "workers_2", "single")


def keep(found: dict[str, Any], date: str) -> None:
    """Write what `benchmarks.fleet.scale` measured for this module to compute with."""
    kept = {"date": date} | {name: found[name] for name in FIELDS}
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(of)}" for name, of in kept.items())
    INPUT.write_text(f"{{\n{lines}\n}}\n")


def search(found: dict[str, Any], n_workers: int, rows: int = ROWS) -> dict[str, float]:
    """Seconds and bytes of a search with so many workers of one thread."""
    two = found["workers_2"]
    per_row = two["search_processor"] / found["rows"]
    tasks = 2 * RUNS_A_THREAD * n_workers + 1
    base = found["workers_1"]["search_bytes"]
    # of a search with 2 workers, the bytes beyond those with 1 are what the second one costs
    per_worker = max(two["search_bytes"] - base, base / 2)
    violators = max(cost["violators"] for cost in two["searches"]) / found["rows"]
    return {
        "compute": rows * per_row / n_workers,
        "scheduler": tasks / found["single"]["tasks_a_second"],
        "tasks": tasks,
        "bytes": base + (n_workers - 1) * per_worker,
        "worker_memory": KEPT * violators * rows / n_workers + two["worker_plan"],
        "raw_bytes": rows * found["file_bytes"] / found["rows"],
    }


def searches(found: dict[str, Any]) -> Table:
    rows = []
    for n_workers in WORKERS:
        of = search(found, n_workers)
        link = of["bytes"] / LINK
        seconds = max(of["compute"], of["scheduler"]) + link
        limits = {"compute": "workers", "scheduler": "scheduler"}
        rows.append(
            [
                f"{n_workers:,}",
                spoken(of["compute"]),
                f"{of['tasks']:,.0f}",
                spoken(of["scheduler"]),
                size(of["bytes"]),
                spoken(link),
                size(of["worker_memory"]),
                spoken(seconds),
                limits[max(limits, key=lambda name: of[name])],
            ]
        )
    columns = ["workers", "deciding", "tasks", "scheduler", "sent", "link of 1 Gbit/s"]
    columns += ["memory of a worker", "a search", "limit"]
    note = (
        f"{found['workers_2']['support']:,.0f} support vectors, {found['features']} features. The"
        " scheduler works while workers decide; what is sent is added, as if nothing overlapped."
        f" All rows as files: {size(search(found, 2)['raw_bytes'])}."
    )
    return Table(f"A search over {ROWS:,} rows", columns, rows, note)


def merges(found: dict[str, Any]) -> Table:
    """Snapshots of gateways, merged in one process or as a tree."""
    rows = []
    raw = found["file_bytes"] / found["rows"]
    for name, of in found["single"].items():
        if not isinstance(of, dict):
            continue
        sent = GATEWAYS * of["snapshot_bytes"]
        rows.append(
            [
                name,
                f"{of['snapshot_bytes']:,}",
                size(sent),
                spoken(sent / LINK),
                spoken((GATEWAYS - 1) * of["merge_seconds"]),
                spoken(GATEWAYS.bit_length() * of["merge_seconds"]),
                f"{of['snapshot_bytes'] / raw:,.0f}",
            ]
        )
    columns = ["learner", "bytes of a snapshot", "all snapshots", "link of 1 Gbit/s"]
    columns += ["merged here, one by one", "depth of a tree", "rows that are as many bytes"]
    note = "Depth of a tree: with as many workers as pairs. The last column: sending the model is a"
    note += " saving for a gateway that learned more rows than that."
    return Table(f"Snapshots of {GATEWAYS:,} gateways", columns, rows, note)


def files_table(found: dict[str, Any]) -> Table:
    """What depends on the number of files alone."""
    rows = []
    for n_files in (1_000, 10_000, 100_000, 1_000_000):
        n_runs = min(n_files, 100 * RUNS_A_THREAD)
        sent = 2 * n_files * BYTES_A_PARTITION
        rows.append([f"{n_files:,}", f"{n_runs:,}", f"{n_files // n_runs:,}", size(sent)])
    columns = ["files", "tasks that search", "files a task", "names and numbers sent a search"]
    note = f"Taken: {BYTES_A_PARTITION} bytes a file in a task, sent twice in each of two tasks."
    return Table("Files, with 100 workers", columns, rows, note)


BYTES_A_PARTITION = 600  # its name, its options, and the numbers of its rows that are held


def spoken(seconds: float) -> str:
    if seconds < 1:
        return f"{1e3 * seconds:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def size(n: float) -> str:
    for unit, of in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= of:
            return f"{n / of:.1f} {unit}"
    return f"{n:.0f} B"


def main() -> None:
    args = parsed(arguments(__doc__))
    found = json.loads(INPUT.read_text())
    title = f"{ROWS:,} rows and {GATEWAYS:,} gateways"
    about = [
        str(__doc__).split("\n\n", 1)[1].strip(),
        f"From `fleet/scale.json`, measured {found['date']} with {found['rows']:,} rows.",
    ]
    tables = [searches(found), files_table(found), merges(found)]
    figures = {f"{n}": search(found, n) for n in WORKERS}
    publish(Report("fleet/horizon", title, tables, about, figures), args.out)


if __name__ == "__main__":
    main()
