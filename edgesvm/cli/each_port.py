"""The options of ``edgesvm run`` as each of its ports has them."""

from __future__ import annotations

import argparse

from edgesvm.budget import parse_bytes
from edgesvm.outputs.names import port_name

PLACEHOLDER = "{port}"
FILES = ("save", "checkpoint", "checkpoint_second")


def options_of(options: argparse.Namespace) -> list[argparse.Namespace]:
    """The options as each port has them: its name, its files, its share of the memory."""
    names = [port_name(port) for port in options.port]
    if len(set(names)) < len(names):
        raise ValueError(f"two ports have one name: {', '.join(names)}")
    if len(names) > 1 and options.on_device:
        raise ValueError("--on-device looks on at one port; give one")
    if len(names) > 1 and options.live:
        raise ValueError("--live shows one port; give one, or --http for a page of each")
    if options.one_model and options.window:
        raise ValueError(
            "--one-model with --window: a window is of one port; give one learner each"
        )
    learners = 1 if options.one_model else len(names)
    share = options.memory if learners == 1 else parse_bytes(options.memory) // learners
    each = []
    for port, name in zip(options.port, names, strict=True):
        own = {"port": port, "name": name, "memory": share}
        own |= {file: _file(options, file, learners, name) for file in FILES}
        each.append(argparse.Namespace(**{**vars(options), **own}))
    return each


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
