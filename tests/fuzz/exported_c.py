"""libFuzzer on exported C, under the address and undefined-behaviour sanitizers; for `make fuzz`.

Arenas of any content for restore.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "export"), str(ROOT / "support"), str(ROOT)]

from run import fuzzed  # noqa: E402

FLAGS = ["-g", "-O1", "-DFUZZ", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]
ARENAS = ("scaled stream", "fourier", "fourier svr", "kernel novelty")


def main() -> int:
    from exported import SETTINGS
    from test_restore import compile_with

    from rig.boards import hard_samples, run_here, write

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="settings of learners; all by default")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (60)")
    parser.add_argument("--crashes", type=Path, default=Path("build/fuzz/crashes"))
    parser.add_argument("--clang", default="clang")
    options = parser.parse_args()
    sound = True
    for name in options.only or ARENAS:
        make, n_features, classes = SETTINGS[name]
        learner = make("float32").allocate(n_features, classes=classes)
        run_here(learner, *hard_samples(80, n_features, "float32", 1, classes))
        with tempfile.TemporaryDirectory() as folder:
            write(learner, Path(folder))
            compile_with(Path(folder), "arenas.c", FLAGS, options.clang)
            program = Path(folder) / "main"
            corpus = Path(folder) / "corpus"
            corpus.mkdir()
            (corpus / "seed").write_bytes(bytes(learner.arena))
            command = [str(program), str(corpus), "-max_len=8192"]
            sound &= fuzzed(f"C, {name}", command, options.seconds, options.crashes)
    return int(not sound)


if __name__ == "__main__":
    sys.exit(main())
