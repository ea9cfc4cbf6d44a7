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
            corpus = Path(folder) / "corpus"
            corpus.mkdir()
            (corpus / "seed").write_bytes(bytes(learner.arena))
            command = [str(program), str(corpus), "-max_len=8192"]
            sound &= fuzzed(f"C, {name}", command, options.seconds, options.crashes)
    return int(not sound)


if __name__ == "__main__":
    sys.exit(main())
