"""Where a sample's time goes, from its bytes to its answer: the loop of `edgesvm run`, by stages.

8 float32 features and a label, from a port in memory (`link/ports` has real ones). A stage is what
the loop does beyond the one before: reading (decode, check, queue), predicting (no labels),
answering (frames or lines into the outbox), learning. Labels are random. "late" is frames without a
label, which comes in a frame of its own eight samples later. In bites of 4 KiB, or a sample at a
time, with a turn of the loop for each. Answers go out in frames; "all" of text, as `edgesvm run` on
a text link, sends none unless told.

StreamSVM is standardized and looks 8 samples ahead; ByteSVM, the default, has 16 KiB.

The file is a CSV of such rows; pandas hands ByteSVM 1,024 at a time, to predict and learn.

`--before FOLDER` interleaves an earlier build: in a clone of it, `pip install --no-deps --target
FOLDER .`.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.progress import progress
from benchmarks.common.report import ROOT, Report, Table, publish
from benchmarks.link.node import BLOCK, SCHEMA, D, line_of, stream
from edgesvm import ByteSVM, Standardized, StreamSVM
from edgesvm.link import FrameDecoder, open_link, wire
from edgesvm.serve import taught as serving

LEARNERS: dict[str, Any] = {
    "StreamSVM": lambda: Standardized(learner=StreamSVM(bound="lower", lookahead=8)),
    "ByteSVM": lambda: ByteSVM.within("16KiB", n_features=D),
}
KINDS = ("binary", "text", "late")
BITES = {"4 KiB": 4096, "a sample": 0}
STAGES = ("reading", "predicting", "answering", "all")


BY_PANDAS = """
import sys
import pandas as pd
from edgesvm import ByteSVM
learner = ByteSVM.within("16KiB", n_features=8)
for chunk in pd.read_csv(sys.argv[1], chunksize=1024, dtype="float32"):
    X, y = chunk.to_numpy()[:, :8], chunk["label"].to_numpy(int)
    if learner.nbytes:
        learner.predict(X)
    learner.partial_fit(X, y)
"""
BY_EVAL = """
import sys
from edgesvm.cli import main
main(["eval", sys.argv[1], "--json"])
"""
USED = """
import time
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(time.process_time(), int(peak) / 1024)
"""  # by the process itself: what its parent sees is its own peak, if that is higher
BY = {"eval": BY_EVAL, "pandas": BY_PANDAS}


class Memory:
    """A port whose bytes are there already; keeps what is written."""

    def __init__(self, data: bytes, bite: int) -> None:
        self.left, self._bite, self._at, self._data = len(data), bite, 0, data
        self.written = bytearray()

    def read(self, timeout: float, limit: int = 65536) -> bytes:
        chunk = self._data[self._at : self._at + min(self._bite, limit)]
        self._at += len(chunk)
        self.left -= len(chunk)
        return chunk

    def write(self, data: bytes) -> int:
        self.written += data
        return len(data)

    def close(self) -> None:
        """Nothing is open."""


def unlabelled(kind: str, n: int) -> bytes:
    """`stream`, without labels."""
    X = np.random.default_rng(7).standard_normal((BLOCK, D)).astype(np.float32).tolist()
    if kind == "text":
        return b"\n" + b"".join([line_of(i, X[i % BLOCK], "") for i in range(n)])
    frames = [wire.encode_sample(SCHEMA.schema_id, i, X[i % BLOCK]) for i in range(n)]
    return b"\0" + wire.encode_frame(wire.SCHEMA, SCHEMA.pack()) + b"".join(frames)


def taught(name: str) -> Any:
    X = np.random.default_rng(1).standard_normal((BLOCK, D)).astype(np.float32)
    return LEARNERS[name]().allocate(D).partial_fit(X, np.arange(BLOCK) & 1)


def timed(case: tuple[str, str, str, str], data: bytes, n: int) -> tuple[float, str]:
    """Processor microseconds a sample, and a hash of what came out."""
    kind, stage, name, bite = case
    port = Memory(data, BITES[bite] or len(data) // n)
    answers = stage == "answering" or (stage == "all" and kind != "text")
    options: dict[str, Any] = {"text": {"mode": "text", "n_features": D}}.get(kind, {})
    if kind == "late":
        options = {"late_labels": 256}
    with open_link("memory", opener=lambda: port, ring=256, **options) as link:
        runner = None if stage == "reading" else serving.taught(link, taught(name), answers=answers)
        begin = time.process_time()
        while port.left:
            if runner is not None:
                runner.step(0.0)
            else:
                link.poll(0.0)
                link.release(len(link.take().y))
        seconds = time.process_time() - begin
    found = hashlib.sha256(bytes(runner.pupil.learner.arena) if runner is not None else b"")
    for frame in FrameDecoder().feed(bytes(port.written)):
        if frame.kind == wire.PREDICTION:
            found.update(frame.body)
    return 1e6 * seconds / n, found.hexdigest()[:12]


def cases() -> list[tuple[str, str, str, str]]:
    return [
        (kind, stage, name, bite)
        for kind in KINDS
        for bite in BITES
        for name in LEARNERS
        for stage in (("all",) if kind == "late" else STAGES)
    ]


def work(n: int) -> None:
    """One round of everything, in a process of its own: a line of JSON."""
    found = {}
    for kind in KINDS:
        labelled, without = stream(kind, n), unlabelled(kind, n)
        for case in cases():
            if case[0] == kind:
                progress(", ".join(case))
                data = without if case[1] in {"predicting", "answering"} else labelled
                found[", ".join(case)] = timed(case, data, n)
    progress("")
    print(json.dumps(found))


def one_round(folder: Path | None, n: int) -> dict[str, tuple[float, str]]:
    """`work` by this build, or by the one in `folder`, on the last processor."""
    command = [sys.executable, "-m", "benchmarks.link.whole", "--worker", "--samples", str(n)]
    path = [] if folder is None else [str(folder.resolve())]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*path, str(ROOT)])}

    def pin() -> None:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

    done = subprocess.run(
        command,
        env=environment,
        cwd=folder or ROOT,
        preexec_fn=pin if hasattr(os, "sched_setaffinity") else None,
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, tuple[float, str]] = json.loads(done.stdout)
    return found


def least(rounds: list[dict[str, tuple[float, str]]], case: str) -> float:
    return min(found[case][0] for found in rounds)


def stages(rounds: list[dict[str, tuple[float, str]]]) -> Table:
    """What each stage adds, in bites of 4 KiB."""
    rows = []
    for kind in ("binary", "text"):
        for name in LEARNERS:
            times = [least(rounds, f"{kind}, {stage}, {name}, 4 KiB") for stage in STAGES]
            steps = [times[0], times[1] - times[0], times[2] - times[1]]
            before = times[2] if kind == "binary" else times[1]
            steps += [times[3] - before, times[3]]
            rows.append([f"{kind}, {name}", *[f"{us:.2f}" for us in steps]])
    title = "What each stage adds, µs a sample in bites of 4 KiB"
    return Table(title, ["", "reading", "predicting", "answering", "learning", "all"], rows)


def compared(now: list[dict[str, Any]], before: list[dict[str, Any]]) -> Table:
    rows, builds = [], {"before": before, "now": now} if before else {"now": now}
    for case in [", ".join(case) for case in cases() if case[1] == "all"]:
        row = [case.replace(" all,", "")]
        for rounds in builds.values():
            times = [found[case][0] for found in rounds]
            row += [f"{min(times):.2f}", f"{median(times):.2f}"]
        same = {found[case][1] for found in [*before, *now]}
        if before:
            row.append("same" if len(same) == 1 else "")
        rows.append(row)
    columns = [column for build in builds for column in (f"µs {build}, least", "median")]
    columns += ["hash"] * bool(before)
    return Table("All of it, µs a sample", ["all, in bites of", *columns], rows)


def of_file(n: int, rounds: int) -> Table:
    """Seconds of the processor and MiB of whole processes that read a file of n rows."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in BY}
    rng = np.random.default_rng(1)
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        print(*(f"f{j}" for j in range(D)), "label", sep=",", file=file)
        for begin in range(0, n, BLOCK):
            X = rng.standard_normal((min(BLOCK, n - begin), D))
            y = X.sum(axis=1) + rng.standard_normal(len(X)) > 0
            np.savetxt(file, np.column_stack([X, y]), "%.4f," * D + "%d")
        file.flush()
        for _ in range(rounds):
            for name, code in BY.items():
                progress(f"a file, {name}")
                command = [sys.executable, "-c", code + USED, file.name]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
                if done.returncode == 0:  # else there is no pandas
                    seconds, peak = map(float, done.stdout.split()[-2:])
                    found[name].append((seconds, peak))
    rows = []
    for name, runs in found.items():
        if runs:
            times, peaks = zip(*runs, strict=True)
            rows.append([name, f"{min(times):.1f}", f"{max(peaks):.1f}"])
    return Table(f"A file of {n:,} rows", ["", "s, least", "MiB"], rows)


def main() -> None:
    parser = arguments(__doc__, rounds=7)
    parser.add_argument("--samples", type=int, default=20_000, help="a stage (default 20,000)")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of a file")
    parser.add_argument("--before", type=Path, help="folder of an earlier build")
    parser.add_argument("--worker", action="store_true", help="one round, as JSON")
    args = parsed(parser)
    if args.quick:
        args.samples, args.rows, args.rounds = 500, 500, 1
    if args.worker:
        work(args.samples)
        return
    now, before = [], []
    for k in range(args.rounds):
        progress(f"round {k + 1} of {args.rounds}")
        if args.before:
            before.append(one_round(args.before, args.samples))
        now.append(one_round(None, args.samples))
    tables = [stages(now), compared(now, before), of_file(args.rows, args.rounds)]
    about = [__doc__ or "", f"{args.rounds} rounds, each a process pinned to one processor."]
    figures = {"now": now, "before": before}
    publish(Report("link/whole", "A sample, whole", tables, about, figures), args.out)


if __name__ == "__main__":
    main()
