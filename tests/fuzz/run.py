"""Coverage-guided fuzzing of the readers, by libFuzzer under Atheris, on a build made for it: `make
fuzz`.

Each target runs in a process of its own for so many seconds, from the sound inputs of
`targets.seeds` and from what earlier runs have found worth keeping. Prints executions, what was
covered and what was found; exit code 1 on any finding, whose input is left in the crash folder.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
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


def run(name: str, seconds: int, corpus: Path, crashes: Path) -> bool:
    import targets

    folder = corpus / name
    folder.mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(targets.seeds()[name]):
        (folder / f"seed{i}").write_bytes(seed)
    options = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), LEAN]))
    environment = {**os.environ, "ASAN_OPTIONS": options}
    if name in ALLOCATOR:
        environment["PYTHONMALLOC"] = ALLOCATOR[name]
    command = [sys.executable, __file__, "--child", name, str(folder)]
    command += [f"-max_len={LONGEST.get(name, 4096)}", "-timeout=20", "-rss_limit_mb=3000"]
    return fuzzed(name, command, seconds, crashes, environment)


def fuzzed(
    name: str, command: list[str], seconds: int, crashes: Path, environment: dict | None = None
) -> bool:
    """Have libFuzzer work for so many seconds; whether it did, and found nothing."""
    crashes.mkdir(parents=True, exist_ok=True)
    command = [*command, f"-max_total_time={seconds}", "-print_final_stats=1"]
    command += [f"-artifact_prefix={crashes / name.replace(' ', '-')}-"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    executions = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    covered = re.findall(r"cov: (\d+) ft: \d+ corp: (\d+)", done.stderr) or [(0, 0)]
    n, (edges, kept) = int(executions[1]) if executions else 0, map(int, covered[-1])
    found = "FOUND SOMETHING" if done.returncode else "nothing found"
    print(
        f"{name:16} {n:>10,} executions  {seconds:>5} s  {edges:>6,} edges  "
        f"{kept:>5,} inputs kept  {found}",
        flush=True,
    )
    if done.returncode:
        sys.stderr.write(done.stderr[-6000:])
    return n > 0 and not done.returncode


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        fuzz_here(sys.argv[2], sys.argv[3:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="targets; all by default")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (60)")
    parser.add_argument("--corpus", type=Path, default=Path("build/fuzz/corpus"))
    parser.add_argument("--crashes", type=Path, default=Path("build/fuzz/crashes"))
    options = parser.parse_args()
    import targets

    names = options.only or targets.TARGETS
    sound = [run(name, options.seconds, options.corpus, options.crashes) for name in names]
    return int(not all(sound))


if __name__ == "__main__":
    sys.exit(main())
