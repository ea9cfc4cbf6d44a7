"""What the options of ``edgesvm run`` ask for, read and checked once; nobody else sees them."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass

from edgesvm.budget import parse_bytes
from edgesvm.cli import arguments, learner_options
from edgesvm.cli.drift_options import DriftSettings
from edgesvm.cli.learner_options import LearnerSettings
from edgesvm.cli.link_options import LinkSettings
from edgesvm.cli.out_options import OutSettings
from edgesvm.cli.saved_model import SavingSettings
from edgesvm.cli.show_options import ShowSettings
from edgesvm.cli.window_options import WindowSettings
from edgesvm.serve.outputs.sink import port_name

PLACEHOLDER = "{port}"
FILES = ("save", "checkpoint", "checkpoint_second")


@dataclass(frozen=True)
class PortSettings:
    """What is special to a port: its name, its link, its files, its share of the memory."""

    name: str
    link: LinkSettings
    learner: LearnerSettings
    saving: SavingSettings


@dataclass(frozen=True)
class RunSettings:
    """What a run is to do.

    Attributes
    ----------
    ports : tuple of PortSettings
    one_model : bool
        Whether all ports teach the learner of the first.
    memory : str
        For all ports together, as it was given.
    answers : bool
        Whether predictions go back on a text link too.
    max_labels_per_second : float or None
    other_width : str
        What to do when the node has changed its number of features: "stop" or "restart".
    last : int
        Samples of the rolling accuracy.
    windows, drift, out, show
    """

    ports: tuple[PortSettings, ...]
    one_model: bool
    memory: str
    answers: bool
    max_labels_per_second: float | None
    other_width: str
    last: int
    windows: WindowSettings
    drift: DriftSettings
    out: OutSettings
    show: ShowSettings

    @property
    def owners(self) -> tuple[PortSettings, ...]:
        """The ports that have a learner of their own."""
        return self.ports[:1] if self.one_model else self.ports

    @classmethod
    def of(cls, options: argparse.Namespace) -> RunSettings:
        """Raises ValueError if the options contradict each other; nothing is open yet."""
        settings = arguments.read(
            cls,
            options,
            ports=_ports(options),
            windows=WindowSettings.of(options),
            drift=DriftSettings.of(options),
            out=OutSettings.of(options),
            show=arguments.read(ShowSettings, options),
        )
        learner_options.check_regress(options)
        if len(settings.ports) > 1 and settings.other_width == "restart":
            raise ValueError("--other-width restart is for one port: the others could not go on")
        if settings.one_model and settings.windows.window:
            raise ValueError(
                "--one-model with --window: a window is of one port; give one learner each"
            )
        arguments.different(
            [*settings.out.files, *(file for port in settings.owners for file in port.saving.files)]
        )
        for port in settings.ports[:1]:
            files = (port.saving.save, port.saving.checkpoint)
            loads = not port.saving.fresh and any(path and os.path.exists(path) for path in files)
            if port.learner.learner is not None or not loads:
                port.learner.of_two()  # checks the parameters
        return settings


def _ports(options: argparse.Namespace) -> tuple[PortSettings, ...]:
    names = [port_name(port) for port in options.port]
    if len(set(names)) < len(names):
        raise ValueError(f"two ports have one name: {', '.join(names)}")
    learners = 1 if options.one_model else len(names)
    share = options.memory if learners == 1 else parse_bytes(options.memory) // learners
    return tuple(
        PortSettings(
            name,
            LinkSettings.of(options, url=url),
            LearnerSettings.of(options, memory=share),
            SavingSettings.of(
                options, **{option: _file(options, option, learners, name) for option in FILES}
            ),
        )
        for url, name in zip(options.port, names, strict=True)
    )


def _file(options: argparse.Namespace, option: str, learners: int, name: str) -> str | None:
    """The file of an option for the port of this name."""
    path: str | None = getattr(options, option)
    if path is None:
        return None
    named, said = PLACEHOLDER in path, f"--{option.replace('_', '-')} {path}"
    if learners > 1 and not named:
        raise ValueError(
            f"{said}: each port has a learner; name their files with {PLACEHOLDER}, as in "
            f"{PLACEHOLDER}.esvm, or give --one-model"
        )
    if options.one_model and named:
        raise ValueError(
            f"{said}: with --one-model there is one file; name it without {PLACEHOLDER}"
        )
    return path.replace(PLACEHOLDER, name)
