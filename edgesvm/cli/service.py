"""``edgesvm service install``: a systemd unit of a `run` or a `watch`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from edgesvm.cli.options import argument, option
from edgesvm.serve.outputs.sink import port_name

HELP = """\
Write a systemd unit that runs from boot on, and start it. It restarts after a failure and keeps
its model in /var/lib/edgesvm-PORT. The options are those of `run`, or of `watch` after that word.

  sudo edgesvm service install /dev/ttyUSB0 --text
  sudo edgesvm service install watch /dev/ttyUSB0 --learn 5m --http 8080
  edgesvm service install /dev/ttyUSB0 --text --dry-run     prints the unit

  journalctl -fu edgesvm-ttyUSB0                   what it says
  sudo systemctl disable --now edgesvm-ttyUSB0     ends it for good
"""
UNITS = Path("/etc/systemd/system")
SAVES = ("--save", "--checkpoint")
OUTSIDE = ("mqtt", "socket:", "--http")  # words that need a network
# Lines of the unit in examples/pi that are not this unit's.
BOUND = re.compile(r"# The udev rule.*\n|(BindsTo|After)=dev-.*\n")
NO_NETWORK = re.compile(r"# No network.*\n|(PrivateNetwork|IPAddressDeny|RestrictAddress\w+)=.*\n")
NETWORK = "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6\n"


@dataclass(frozen=True, kw_only=True)
class Settings:
    what: str = argument("what to do", unit="install", choices=("install",))
    dry_run: bool = option(False, "print the unit, change nothing")
    words: list[str] = argument(
        "as after `edgesvm run`, or after `edgesvm` if that is watch", unit="PORT ...", rest=True
    )


def act(settings: Settings) -> int:
    dry = settings.dry_run or "--dry-run" in settings.words
    words = [word for word in settings.words if word != "--dry-run"]
    name, text = unit(words)
    if dry:
        print(f"# {UNITS / name}.service\n{text}", end="")
        return 0
    path = UNITS / f"{name}.service"
    if shutil.which("systemctl") is None:
        raise FileNotFoundError("no systemctl here; --dry-run prints the unit")
    try:
        path.write_text(text, encoding="utf-8")
    except PermissionError as error:
        again = " ".join([_quoted(sys.executable), "-m edgesvm service install", *words])
        raise PermissionError(f"{path} is root's to write: sudo {again}") from error
    for command in (["daemon-reload"], ["enable", name], ["restart", name]):
        if subprocess.run(["systemctl", *command], check=False).returncode:
            raise RuntimeError(f"{path} is written, but this failed: systemctl {' '.join(command)}")
    print(f"{path} is written and runs; what it says: journalctl -fu {name}")
    return 0


def unit(words: list[str]) -> tuple[str, str]:
    """Name and text of the unit of these words, a command line of `run` or `watch`. Raises
    SystemExit if they are none, and ValueError for a file where the service may not write."""
    from edgesvm.cli import _parse

    if words[:1] not in (["run"], ["watch"]):
        words = ["run", *words]
    parsed = _parse(words)  # ends the program if they are wrong
    ports = [parsed.port] if isinstance(parsed.port, str) else parsed.port
    name = f"edgesvm-{'-'.join(map(port_name, ports))}"
    for saves in SAVES:
        path = getattr(parsed, saves.removeprefix("--")) or ""
        if os.path.dirname(path):
            kept = f"/var/lib/{name}"
            raise ValueError(f"{saves} {path}: the service writes to {kept} only; give a name")
    if not (parsed.save or parsed.checkpoint):
        several = "{port}" if len(ports) > 1 else "model"
        words += ["--checkpoint", f"{several}.ckpt", "--every", "60s"]
    example = resources.files("edgesvm") / "examples" / "pi" / "edgesvm.service"
    text = BOUND.sub("", example.read_text(encoding="utf-8"))
    if any(word.startswith(OUTSIDE) for word in words):
        text = NO_NETWORK.sub("", text).replace("# No privileges", f"{NETWORK}# No privileges")
    call = " ".join(map(_quoted, [sys.executable, "-m", "edgesvm", *words]))
    lines = {
        "Description": f"edgesvm {words[0]} {' '.join(ports)}",
        "Documentation": "man:systemd.service(5)",
        "ExecStart": call,
        "StateDirectory": f"{name}\nWorkingDirectory=%S/{name}",
        "SupplementaryGroups": _group(ports[0]),
    }
    if words[0] == "watch":
        lines["KillSignal"] = "SIGTERM\nSuccessExitStatus=3"  # there were alarms
    if home := re.match(r"/home/[^/]+|/root(?=/)", sys.prefix):  # this Python is its owner's
        lines |= {"ProtectHome": "read-only", "DynamicUser": f"no\nUser={Path(home[0]).owner()}"}
    for key, value in lines.items():
        text = re.sub(rf"^{key}=.*", f"{key}={value}".replace("\\", r"\\"), text, flags=re.M)
    allowed = "".join(f"DeviceAllow={kind} rw\n" for kind in _kinds(ports))
    text = re.sub(r"(DeviceAllow=.* rw\n)+", lambda _: allowed, text)
    return name, re.sub(r"\A#.*\n", "# Written by edgesvm service install.\n", text)


def _kinds(ports: list[str]) -> list[str]:
    """The kinds of devices that the ports are."""
    found = {"char-ttyUSB", "char-ttyACM"}
    for port in ports:
        if known := re.match(r"/dev/(tty[A-Za-z]+)", os.path.realpath(port)):
            found.add(f"char-{known[1]}")
    return sorted(found)


def _group(port: str) -> str:
    """The group that may open the port; Debian's, if the port is not here."""
    try:
        import grp

        group = grp.getgrgid(os.stat(port).st_gid).gr_name
    except (ImportError, OSError, KeyError):
        return "dialout"
    return "dialout" if group == "root" else group


def _quoted(word: str) -> str:
    """A word of ExecStart; % and $ stand for themselves."""
    word = word.replace("\\", "\\\\").replace("%", "%%").replace("$", "$$")
    if re.fullmatch(r"[\w@%+=:,./$-]+", word):
        return word
    return '"' + word.replace('"', '\\"') + '"'
