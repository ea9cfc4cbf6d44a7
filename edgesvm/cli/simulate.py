"""``edgesvm simulate``: a simulated sensor and ``edgesvm run`` under a device's limits."""

from __future__ import annotations

import argparse
import contextlib
import sys
from dataclasses import dataclass, replace
from typing import Any

from edgesvm.cli import arguments, score_words
from edgesvm.cli.learner_settings import LearnerSettings
from edgesvm.cli.options import add, option, read, section, words
from edgesvm.cli.saved_model import SavingSettings
from firmware_sim import options as sim_options
from firmware_sim.harness import Report, simulate
from firmware_sim.limits.profiles import profile

HELP = """\
Start a simulated sensor and `edgesvm run` at the two ends of a link. `run` is limited to a device's
memory. The report shows what the sensor saw (accuracy of the predictions, faults injected, memory)
and what `run` counted.

  edgesvm simulate                      a rotating machine, 10,000 samples, a Pi Zero
  edgesvm simulate --signal gas --faults field --samples 50000 --profile pico-class
  edgesvm simulate --replay room.csv --link tcp --learner kernel-stream
  edgesvm simulate --checkpoint room.ckpt --every 500     run it again and it continues
"""
SAMPLES = 10_000


@dataclass(frozen=True, kw_only=True)
class OfProfile(LearnerSettings):
    """The learner; its memory is that of the device unless it is given."""

    memory: Any = option(None, "such as 65536 or 64KiB; default that of the profile", unit="BYTES")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the process at the host's end of the link is told."""

    saving: SavingSettings = section(SavingSettings)
    learner: LearnerSettings = section(OfProfile)
    timeout: float = option(600.0, "time limit", unit="S", check=arguments.seconds)


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("simulate", usage="edgesvm simulate [options]", description=HELP)
    sim_options.add_node_options(command, raw="--raw-signal")  # --raw is the learner's
    sim_options.add_link_options(command)
    add(command, Settings)
    command.set_defaults(act=act, samples=SAMPLES, profile="pi-zero")


def act(options: argparse.Namespace) -> int:
    device = profile(options.profile)
    node = sim_options.make_node(options)
    options.regress = node.targets
    host = read(Settings, options)
    learner = replace(host.learner, memory=host.learner.memory or str(device.learner_bytes))
    with (
        sim_options.closing_source(node.source),
        contextlib.closing(sim_options.make_link(options)) as link,
    ):
        line = sim_options.make_line(options, link)
        status = sim_options.NodeStatus()
        report = simulate(
            edge_command(learner, host.saving, key=options.key, text=options.text),
            node,
            line,
            profile=device,
            timeout_s=host.timeout,
            on_progress=status,
        )
        status.end()
    sim_options.finish(options, report)
    if not options.json and report.edge is not None:
        print(edge_words(report.edge))
    return exit_code(report)


def edge_words(edge: dict[str, Any]) -> str:
    """The report of `edgesvm run` as text."""
    c = edge["counters"]
    lines = [
        f"learner   {edge['learner']}, {edge['bytes_allocated']:,} B: {score_words.scored(edge)}",
        *(f"          {line}" for line in filter(None, [score_words.probabilities(edge)])),
        *(f"          {remark}" for remark in score_words.remarks(edge)),
        f"counted   {c['taken']:,} taken, {c['learned']:,} learned, {c['missing']:,} missing, "
        f"{c['duplicate'] + c['too_old']:,} repeated, "
        f"{c['ring_dropped']:,} dropped, {c['bytes_rejected']:,} bytes rejected, "
        f"{c['disconnects']:,} disconnects; "
        f"{_saves(c)}counts add up: {'no' if edge['broken_identities'] else 'yes'}",
    ]
    return "\n".join(lines)


def _saves(c: dict[str, int]) -> str:
    """The counts of a checkpoint, if there is one."""
    return f"{c['saves']:,} saves, {c['save_failed']:,} failed; " if "saves" in c else ""


def exit_code(report: Report) -> int:
    """0 if every sample was answered; else 1, with the host process's stderr."""
    if report.ended == "drained" and report.exit_code == 0:
        return 0
    if report.edge_errors:
        print(report.edge_errors.rstrip(), file=sys.stderr)
    print(
        f"edgesvm: the run ended: {report.ended}; exit code of `edgesvm run`: {report.exit_code}",
        file=sys.stderr,
    )
    return 1


def edge_command(
    learner: LearnerSettings, saving: SavingSettings, *, key: str | None = None, text: bool = False
) -> list[str]:
    """The command ``edgesvm run`` with this learner and its files."""
    command = [sys.executable, "-m", "edgesvm.cli", "run", "{port}", "--json", "--quiet"]
    command += words(learner) + ["--regress"] * learner.regress + words(saving)
    command += [] if key is None else ["--key", key]
    return command + ["--text"] * text
