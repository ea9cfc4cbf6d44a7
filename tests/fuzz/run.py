"""Coverage-guided fuzzing of the readers, by libFuzzer under Atheris, on a build made for it: `make
fuzz`.

Each target runs in a process of its own for so many seconds, from the sound inputs of
`targets.seeds` and from what earlier runs have found worth keeping. Prints executions, what was
covered and what was found; exit code 1 on any finding, whose input is left in the crash folder.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
LONGEST = {"link": 1024}  # bytes of an input
# An interpreter allocates all the time: the walk up the stack at each of them, and a long queue of
# what was freed, are most of the cost. A finding is run again without.
LEAN = "malloc_context_size=1:quarantine_size_mb=8"
# The bytes that a link reads are `frames` and `lines`, which have each object from malloc.
ALLOCATOR = {"link": "pymalloc"}
sys.path.insert(0, str(HERE))


def fuzz_here(name: str, arguments: list[str]) -> None:
    """In the child: import everything under instrumentation, then hand over to libFuzzer."""
    import atheris

    with atheris.instrument_imports(include=["edgesvm"]):
        import targets
    atheris.Setup([sys.argv[0], *arguments], targets.TARGETS[name])
    atheris.Fuzz()


def run(name: str, seconds: int, corpus: Path, crashes: Path) -> dict[str, object]:
    import targets

    folder = corpus / name
    folder.mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(targets.seeds()[name]):
        (folder / f"seed{i}").write_bytes(seed)
    crashes.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, __file__, "--child", name, str(folder)]
    command += [
        f"-max_total_time={seconds}",
        "-print_final_stats=1",
        f"-max_len={LONGEST.get(name, 4096)}",
        "-timeout=20",
    ]
    command += ["-rss_limit_mb=3000", f"-artifact_prefix={crashes / name}-"]
    options = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), LEAN]))
    environment = {**os.environ, "ASAN_OPTIONS": options}
    if name in ALLOCATOR:
        environment["PYTHONMALLOC"] = ALLOCATOR[name]
    started = time.monotonic()
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    executions = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    covered = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", done.stderr)
    result = {
        "target": name,
        "executions": int(executions[1]) if executions else 0,
        "seconds": round(time.monotonic() - started),
        "edges": int(covered[-1][0]) if covered else 0,
        "corpus": int(covered[-1][2]) if covered else 0,
        "finding": done.returncode != 0,
    }
    if done.returncode:
        sys.stderr.write(done.stderr[-6000:])
    return result


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        fuzz_here(sys.argv[2], sys.argv[3:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="targets; all by default")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (60)")
    parser.add_argument("--corpus", type=Path, default=Path("build/fuzz/corpus"))
    parser.add_argument("--crashes", type=Path, default=Path("build/fuzz/crashes"))
    parser.add_argument("--json", action="store_true", help="one JSON line for each target")
    options = parser.parse_args()
    import targets

    results = []
    for name in options.only or targets.TARGETS:
        results.append(run(name, options.seconds, options.corpus, options.crashes))
        r = results[-1]
        words = (
            f"{name:10} {r['executions']:>10,} executions  {r['seconds']:>5} s  "
            f"{r['edges']:>6,} edges  {r['corpus']:>5,} inputs kept  "
            f"{'FOUND SOMETHING' if r['finding'] else 'nothing found'}"
        )
        print(json.dumps(r) if options.json else words, flush=True)
    return int(any(r["finding"] or not r["executions"] for r in results))


if __name__ == "__main__":
    sys.exit(main())
