"""``edgesvm simulate``: a simulated sensor and ``edgesvm run`` under a device's limits."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass, replace
from typing import Any

from edgesvm.cli import arguments, reports
from edgesvm.cli.learner_settings import LearnerSettings
from edgesvm.cli.options import option, section, words
from edgesvm.cli.saved_model import SavingSettings
from firmware_sim.harness import Report, simulate
from firmware_sim.limits.profiles import PROFILES, Profile, profile
from firmware_sim.options import LineSettings, NodeSettings, NodeStatus, closing_source

HELP = """\
Start a simulated sensor and `edgesvm run` at the two ends of a link. `run` is held to a device's
limits. The report shows what the sensor saw (accuracy of the predictions, faults injected, memory)
and what `run` counted.

  edgesvm simulate                      a rotating machine, 10,000 samples, a Pi Zero
  edgesvm simulate --signal flow --faults field --samples 50000 --profile pico-class
  edgesvm simulate --replay room.csv --link tcp --learner kernel-stream
  edgesvm simulate --checkpoint room.ckpt --every 500     run it again and it continues
"""
SAMPLES = 10_000


@dataclass(frozen=True, kw_only=True)
class Simulated(NodeSettings):
    samples: int | None = option(SAMPLES, "stop after N samples", unit="N", check=arguments.count)


@dataclass(frozen=True, kw_only=True)
class LimitedLine(LineSettings):
    profile: str | None = option(
        "pi-zero", "device whose baud, buffers and limits apply", choices=PROFILES
    )
    cpu: float | None = option(
        None,
        "microseconds of the device's processor a sample; default those of the profile",
        unit="US",
        check=arguments.count,
    )

    def device(self) -> Profile:
        """The profile, with the processor time that was asked for."""
        device = profile(str(self.profile))
        if self.cpu is not None and device.cpu_us is None:
            raise ValueError(f"--cpu: {device.name} runs C, so its processor limits no Python host")
        return device if self.cpu is None else replace(device, cpu_us=self.cpu)


@dataclass(frozen=True, kw_only=True)
class OfProfile(LearnerSettings):
    """The learner; its memory is that of the device unless it is given."""

    memory: Any = option(None, "such as 65536 or 64KiB; default that of the profile", unit="BYTES")

    def __post_init__(self) -> None:
        """Nothing can be checked before it is known whether the labels are numbers."""

    def on(self, device: Profile, *, regress: bool) -> LearnerSettings:
        """The same on a device; raises as `LearnerSettings` does."""
        memory = self.memory or str(device.learner_bytes)
        return LearnerSettings(**vars(self) | {"memory": memory, "regress": regress})


@dataclass(frozen=True, kw_only=True)
class Settings:
    node: NodeSettings = section(Simulated)
    line: LimitedLine = section(LimitedLine)
    saving: SavingSettings = section(SavingSettings)
    learner: OfProfile = section(OfProfile)
    timeout: float = option(600.0, "time limit", unit="S", check=arguments.seconds)


def act(settings: Settings) -> int:
    device = settings.line.device()
    node = settings.node.node(settings.line.profile)
    learner = settings.learner.on(device, regress=node.targets)
    with closing_source(node.source), contextlib.closing(settings.line.open()) as link:
        status = NodeStatus()
        print(f"{device.name} holds `edgesvm run` to {device.text()}", file=sys.stderr, flush=True)
        report = simulate(
            edge_command(learner, settings.saving, key=settings.node.key, text=settings.node.text),
            node,
            settings.line.line(link, settings.node),
            profile=device,
            timeout_s=settings.timeout,
            on_progress=status,
        )
        status.end()
    as_json = settings.line.json
    print(report.json() if as_json else report.text(), flush=True)
    if not as_json and report.edge is not None:
        print("\n".join(reports.words(report.edge)))
    return exit_code(report)


def exit_code(report: Report) -> int:
    """0 if every sample was answered within the limits; else 1, with the host process's stderr."""
    if report.ended == "drained" and report.exit_code == 0 and not report.exceeded:
        return 0
    if report.edge_errors:
        print(report.edge_errors.rstrip(), file=sys.stderr)
    print(
        f"edgesvm: the run ended: {report.ended}; exit code of `edgesvm run`: {report.exit_code}"
        + "".join(f"; more {name} than is allowed" for name in report.exceeded),
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
