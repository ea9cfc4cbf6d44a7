"""libFuzzer on exported C, under the address and undefined-behaviour sanitizers; for `make fuzz`.

Arenas of any content for restore.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "export"), str(ROOT / "support"), str(ROOT)]

FLAGS = ["-g", "-O1", "-DFUZZ", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]
ARENAS = ("scaled stream", "fourier", "fourier svr", "kernel novelty")


def run(name: str, program: Path, seed: bytes, seconds: int, crashes: Path) -> bool:
    """Fuzz for so many seconds; whether nothing was found."""
    crashes.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as corpus:
        (Path(corpus) / "seed").write_bytes(seed)
        command = [program, corpus, f"-max_total_time={seconds}", "-print_final_stats=1"]
        command += ["-max_len=8192", f"-artifact_prefix={crashes / name.replace(' ', '-')}-"]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    executions = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    covered = re.findall(r"cov: (\d+)", done.stderr)
    n = int(executions[1]) if executions else 0
    found = "nothing found" if done.returncode == 0 else "FOUND SOMETHING"
    edges = covered[-1] if covered else 0
    print(
        f"C, {name:14} {n:>10,} executions  {seconds:>5} s  {edges:>6} edges  {found}", flush=True
    )
    if done.returncode:
        sys.stderr.write(done.stderr[-6000:])
    return done.returncode == 0 and n > 0


def main() -> int:
    from test_restore import built, learned

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="settings of learners; all by default")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (60)")
    parser.add_argument("--crashes", type=Path, default=Path("build/fuzz/crashes"))
    parser.add_argument("--clang", default="clang")
    options = parser.parse_args()
    sound = True
    for name in options.only or ARENAS:
        learner = learned(name)[0]
        with tempfile.TemporaryDirectory() as folder:
            program = built(learner, Path(folder), "arenas.c", FLAGS, options.clang)
            sound &= run(name, program, bytes(learner.arena), options.seconds, options.crashes)
    return int(not sound)


if __name__ == "__main__":
    sys.exit(main())
