"""``edgesvm demo``: the main job, start to end."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from edgesvm.budget import format_bytes
from edgesvm.cli import learner_options, plan, simulate
from edgesvm.cli.status import StatusLine, percent
from firmware_sim.harness import Memory, Report
from firmware_sim.harness import simulate as run_simulation
from firmware_sim.limits.allocations import learner_calls
from firmware_sim.limits.profiles import Profile, profile
from firmware_sim.line import Line, PtyLink
from firmware_sim.node import FrameNode, Node, RotatingMachine

HELP = """\
A rotating machine whose bearing fails now and then, on a pseudo-terminal paced as a serial line at
115200 baud; `edgesvm run` at the other end, in a process held to a Pi Zero's limits, with a learner
of 16 KiB. Shows the plan, the live line, a report, and, where matplotlib is there, a picture.
"""
COUNTED = 20_000  # calls of learn_one whose allocator calls are counted


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("demo", help="the main job, in half a minute", description=HELP)
    command.add_argument(
        "--samples", type=int, default=6000, metavar="N", help="default 6000, about 26 s"
    )
    command.add_argument("--seed", type=int, default=1, help="of the machine")
    command.add_argument(
        "--out", default="demo-out", metavar="FOLDER", help="for the picture and the snapshot"
    )
    learner_options.add_to(command)
    command.set_defaults(act=act, learner="kernel-stream")


def act(options: argparse.Namespace) -> int:
    device = profile("pi-zero")
    machine = RotatingMachine(options.seed)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    options.save, options.text = str(out / "model.esvm"), False
    print(f"1. What fits in {options.memory}\n")
    plan.act(
        argparse.Namespace(
            **{**vars(options), "features": machine.n_features, "learner": None, "json": False}
        )
    )
    print(
        f"\n2. {options.samples:,} samples at {device.baud} baud,"
        f" in a process held to a {device.name}\n",
        flush=True,
    )
    watch = _Watch()
    report = _run(options, machine, device, watch)
    failed = simulate.exit_code(report)
    if failed:
        return failed
    print(f"counting the allocator calls of {COUNTED:,} samples ...", file=sys.stderr, flush=True)
    print(_report(report, options, machine.n_features))
    print(_picture(watch, options, out))
    return 0


def _run(
    options: argparse.Namespace, machine: RotatingMachine, device: Profile, watch: _Watch
) -> Report:
    Path(options.save).unlink(missing_ok=True)  # a demo begins with a learner that knows nothing
    link = PtyLink()
    try:
        node = FrameNode(machine, samples=options.samples, tx_bytes=device.tx_bytes)
        report = run_simulation(
            simulate.edge_command(options),
            node,
            Line(link, baud=device.baud),
            profile=device,
            timeout_s=300.0,
            on_progress=watch,
        )
    finally:
        link.close()
        watch.status.end()
    return report


class _Watch:
    """The live line, and what the picture will show."""

    def __init__(self) -> None:
        self.status = StatusLine()
        self.accuracy: list[tuple[int, float]] = []
        self.memory: list[tuple[int, float]] = []

    def __call__(self, node: Node, line: Line, memory: Memory) -> None:
        score = node.scorer
        if score.last_accuracy is not None:
            self.accuracy.append((score.received, score.last_accuracy))
        if memory.peak is not None:
            self.memory.append((score.received, memory.peak / 2**20))
        self.status.show(
            lambda: (
                f"{node.samples_sent:,} sent  {score.received:,} answered  accuracy of the last "
                f"{score.window:,} {percent(score.last_accuracy)}  dropped {node.samples_dropped:,}"
            )
        )


def _report(report: Report, options: argparse.Namespace, n_features: int) -> str:
    edge: dict[str, Any] = report.edge
    c = edge["counters"]
    calls, control = learner_calls(learner_options.build(options, n_features), n_features, COUNTED)
    lines = [
        "3. What came of it",
        "",
        f"learner     {edge['learner']}",
        f"before      always saying the larger class: {percent(edge['majority'])}",
        f"accuracy    first {edge['window']:,} samples {percent(edge['first_accuracy'])}, "
        f"last {edge['window']:,} {percent(edge['rolling_accuracy'])}, "
        f"balanced {percent(edge['balanced_accuracy'])}; "
        "each predicted before its label was seen",
        f"bytes       planned {edge['bytes_planned']:,} = allocated {edge['bytes_allocated']:,} of "
        f"{options.memory}; link {format_bytes(edge['link_bytes'])}",
        f"allocator   {(calls - control) / COUNTED:.6f} calls a sample over {COUNTED:,} samples "
        f"(CPython's hooks; control {control}, counted {calls})",
        f"process     {report.memory.text()}",
        f"link        {c['taken']:,} of {report.samples_sent:,} samples in, "
        f"{c['missing']:,} missing, {c['ring_dropped']:,} dropped, {c['bytes_rejected']:,} B "
        "rejected; "
        f"{report.predictions:,} predictions back; "
        f"counts add up: {'no' if edge['broken_identities'] else 'yes'}",
    ]
    if report.latency_us is not None:
        at = report.latency_us
        lines.append(
            f"latency     sample to prediction p50 {at['p50'] / 1000:.1f} ms, "
            f"p99 {at['p99'] / 1000:.1f} ms"
        )
    lines.append(f"snapshot    {options.save}: edgesvm inspect {options.save}")
    return "\n".join(lines)


def _picture(watch: _Watch, options: argparse.Namespace, out: Path) -> str:
    try:
        from edgesvm.cli import figures
    except RuntimeError as why:
        return f"picture     none: {why}"
    path = str(out / "demo.png")
    n_samples = watch.accuracy[-1][0] if watch.accuracy else 0
    title = f"Rotating machine, {options.memory} learner, {n_samples:,} samples"
    figures.accuracy_and_memory(watch.accuracy, watch.memory, path, title=title)
    return f"picture     {path}"
