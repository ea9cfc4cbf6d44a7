"""Run the studies one after the other, each in a process of its own, and write the index of their
results: `python -m benchmarks.run [--quick] [--due] [words]`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from benchmarks.common.progress import say
from benchmarks.common.report import RESULTS, ROOT, commit, markdown, stem_of

STUDIES = (
    "batch/libsvm",
    "batch/libsvr",
    "sparse/csr",
    "sparse/linear",
    "link/decoder",
    "link/reading",
    "link/whole",
    "link/ports",
    "link/flood",
    "preprocessing/spikes",
    "preprocessing/bounded",
    "preprocessing/leakage",
    "preprocessing/windows",
    "preprocessing/ucr",
    "calibration/platt",
    "calibration/steps",
    "stream/speed",
    "stream/blocks",
    "stream/kernel",
    "stream/kernel_every",
    "stream/table",
    "stream/every",
    "twin/speed",
    "twin/stream",
    "twin/memory",
    "twin/table",
    "twin/curves",
    "twin/rivals",
    "twin/dictionary",
    "twin/rejection",
    "incremental/exact",
    "regression/exact",
    "incremental/window",
    "incremental/table",
    "randomized/table",
    "randomized/linear",
    "enclosing/margin",
    "enclosing/table",
    "enclosing/core_sets",
    "enclosing/turns",
    "enclosing/figures",
    "enclosing/kernels",
    "enclosing/one_class",
    "online/table",
    "rivals/table",
    "rivals/default",
    "rivals/ordered",
    "rivals/long",
    "rivals/edgeml",
    "rivals/parts",
    "rivals/shared",
    "rivals/epochs",
    "rivals/examples",
    "rivals/speed",
    "regression/table",
    "regression/intervals",
    "regression/ahead",
    "asking/labels",
    "asking/marked",
    "fourier/features",
    "novelty/table",
    "novelty/drift",
    "novelty/onset",
    "novelty/remarks",
    "novelty/clock",
    "novelty/rates",
    "novelty/nab",
    "novelty/default",
    "drift/detectors",
    "drift/forgetting",
    "fleet/ball",
    "fleet/passes",
    "fleet/parts",
    "fleet/rounds",
    "fleet/gateways",
    "fleet/grid",
    "fleet/scale",
    "fleet/horizon",
    "export/sizes",
    "export/instructions",
    "ledger/times",
    "ledger/moved",
    "ledger/exponents",
    "ledger/ratios",
    "ledger/threads",
)


def start(study: str, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """One study, in a process of its own."""
    command = [sys.executable, "-m", f"benchmarks.{study.replace('/', '.')}", *arguments]
    return subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)


# Of a report: title, date, commit, seconds.
HEAD = re.compile(r"# (.*)\n\n`.*`\n\ndate (\S+); commit (\S+);(?: took (\d+) s;)?")


def due(studies: list[str], folder: Path) -> list[str]:
    """Those whose report is not of this commit's sources."""
    here, found, seconds = commit(), [], []
    for study in studies:
        path = folder / f"{stem_of(study)}.md"
        head = HEAD.match(path.read_text()) if path.exists() else None
        if head is None or head[3] != here:
            found.append(study)
            seconds += [int(head[4])] if head and head[4] else []
    if found:
        say(
            f"{len(found)} of {len(studies)} reports are not of the sources at {here}; "
            f"the last runs of {len(seconds)} of them took {sum(seconds) / 3600:.1f} h"
        )
    return found


def index(folder: Path) -> str:
    """README.md of the folder: its reports, as their first lines name them."""
    rows = []
    for study in STUDIES:
        path = folder / f"{stem_of(study)}.md"
        if path.exists():
            head = HEAD.match(path.read_text())
            assert head, f"{path} is no report"
            rows.append([f"[{study}]({path.name})", *head.groups()[:3]])
    table = markdown(["study", "what", "measured", "at commit"], rows)
    return f"{FOREWORD}\n{table}\n"


FOREWORD = """\
# Results

Written by the studies themselves; `python -m benchmarks.run` writes this list. The machine had
other work to do: compare figures within a report, not across reports.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="studies whose name contains one of these words")
    parser.add_argument("--quick", action="store_true", help="a few seconds each")
    parser.add_argument(
        "--due", action="store_true", help="only those whose report is not of these sources"
    )
    parser.add_argument("--out", type=Path, help="folder of the reports")
    parser.add_argument("--index", action="store_true", help="run nothing: write the index")
    args = parser.parse_args()
    chosen = [s for s in STUDIES if not args.only or any(word in s for word in args.only)]
    if args.due:
        chosen = due(chosen, args.out or RESULTS)
    options = ["--quick"] if args.quick else []
    options += ["--out", str(args.out.resolve())] if args.out else []
    failed = []
    for k, study in enumerate([] if args.index else chosen, start=1):
        say(f"[{k}/{len(chosen)}] {study} ...")
        begin = perf_counter()
        done = start(study, options)
        print(done.stdout, flush=True)
        outcome = "done"
        if done.returncode:
            failed.append(study)
            outcome = "FAILED"
        say(f"[{k}/{len(chosen)}] {study} {outcome}, {perf_counter() - begin:.0f} s")
    if not args.quick:
        folder = args.out or RESULTS
        (folder / "README.md").write_text(index(folder))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
