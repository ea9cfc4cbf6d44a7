"""``edgesvm ports``: the serial ports of this machine, and what to do about one that is refused."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

from edgesvm.cli.options import AS_JSON, option

HELP = """\
List the serial ports of this machine, what is behind each, and which one is probably the sensor.
Exit code 1 if there is none.

  edgesvm ports
  edgesvm ports --json
"""
NONE = """\
No serial port here.
  Is the board plugged in, and does its cable carry data? Many only charge. `dmesg | tail` shows
  what the system saw. In a container or a virtual machine the port has to be handed on.
  Without a sensor: `edgesvm demo`, or `edgesvm simulate`."""

# Makers of boards, by their USB vendor number. Other USB ports are mostly converters.
BOARDS = {0x2341, 0x2A03, 0x1B4F, 0x239A, 0x2E8A, 0x303A, 0x0D28, 0x16C0, 0x1366, 0x0483, 0xF055}
BOARD, CONVERTER, BUILT_IN = range(3)


class FoundPort(NamedTuple):
    device: str
    description: str
    vendor: int | None  # of a USB device


@dataclass(frozen=True, kw_only=True)
class Settings:
    json: bool = option(False, AS_JSON)


def act(settings: Settings) -> int:
    ports = found()
    likely = probably(ports)
    if settings.json:
        listed: list[dict[str, Any]] = [
            {"device": p.device, "description": p.description, "probably": p == likely}
            for p in ports
        ]
        import json

        print(json.dumps({"ports": listed}))
        return int(not ports)
    if not ports:
        print(NONE)
        return 1
    width = max(len(port.device) for port in ports)
    for port in ports:
        mark = "   <- probably this one" if port == likely else ""
        print(f"{port.device:<{width}}  {port.description}{mark}")
        if refused(port.device):
            print(f"{'':{width}}  {permission(port.device)}")
    if _rank(ports[0]) == BUILT_IN:
        print("\nNone of these is a USB device: is the board plugged in?")
    else:
        next_port = (likely or ports[0]).device
        print(f"\nNext: edgesvm run {next_port}")
    return 0


def found() -> list[FoundPort]:
    """The serial ports that the system has, boards first."""
    from serial.tools.list_ports import comports  # takes 20 ms, which other commands do not need

    ports = [FoundPort(p.device, _words(p.description), p.vid) for p in comports()]
    return sorted(ports, key=lambda port: (_rank(port), port.device))


def _words(description: str | None) -> str:
    return "built in" if description in (None, "", "n/a") else str(description)


def _rank(port: FoundPort) -> int:
    if port.vendor is None:
        return BUILT_IN
    return BOARD if port.vendor in BOARDS else CONVERTER


def probably(ports: list[FoundPort]) -> FoundPort | None:
    """The only board, or the only USB converter where there is no board; else None."""
    kinds = [_rank(port) for port in ports]
    alone = kinds.count(min(kinds, default=BUILT_IN)) == 1 and kinds[0] != BUILT_IN
    return ports[0] if alone else None


def refused(path: str) -> bool:
    """Whether the file is there and this user may not use it."""
    return os.path.exists(path) and not os.access(path, os.R_OK | os.W_OK)


def permission(path: str) -> str:
    """What to do about a port that this user may not open."""
    from pathlib import Path  # and all it imports, for this alone

    try:
        group = Path(path).group()
    except (KeyError, OSError, NotImplementedError):
        group = "dialout"
    if group == "root":  # of no use to anybody else
        return "only root may open it: `sudo chmod a+rw` it, or give it a group by a udev rule"
    join = f"sudo usermod -a -G {group} $USER"
    return f"your user is not in its group, {group}: `{join}`, then log out and in again"


def advice(url: str) -> str:
    """What may help where a port cannot be opened."""
    if "://" in url:
        return ""
    if refused(url):
        return permission(url)
    if names := [port.device for port in found() if port.device != url]:
        return f"the ports here are {', '.join(names)} (`edgesvm ports` says what is behind each)"
    if os.path.exists(url):
        return ""
    return "there is no serial port here (`edgesvm ports` says what to look at)"
