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
from typing import Any
from urllib.parse import unquote

from edgesvm.budget import parse_bytes
from edgesvm.cli.options import argument, option, option_name
from edgesvm.cli.saved_model import FILES
from edgesvm.serve.outputs.sink import port_name

HELP = """\
Write a systemd unit that runs from boot on, and start it. It restarts after a failure and keeps
its model in /var/lib/edgesvm-PORT. The options are those of `run`, or of `watch` after that word.

  sudo edgesvm service install /dev/ttyUSB0
  sudo edgesvm service install watch /dev/ttyUSB0 --learn 5m --http 8080
  edgesvm service install /dev/ttyUSB0 --dry-run     prints the unit

  journalctl -fu edgesvm-ttyUSB0                   what it says
  sudo systemctl disable --now edgesvm-ttyUSB0     ends it for good
"""
UNITS = Path("/etc/systemd/system")
WRITES = (*FILES, "http_token_file")
SECRETS = ("key", "out_password_file")
CERTIFICATE = re.compile(r"(?<=[?&])(ca|cert|key)=([^&]+)")
BASE_MIB = 128  # of a process with a small model; as in the unit of examples/pi
COPIES = 3  # of a model: what learns, what was read of a file, what is saved
ROW_BYTES = 1024  # of a row that waits, at most, of 100 features
OUTSIDE = ("mqtt:", "mqtts:", "socket:")  # what needs a network
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
    before = path.read_text(encoding="utf-8") if path.exists() else None
    try:
        path.write_text(text, encoding="utf-8")
        for command in (["daemon-reload"], ["enable", name], ["restart", name]):
            if subprocess.run(["systemctl", *command], check=False).returncode:
                raise RuntimeError(f"not installed: systemctl {' '.join(command)} failed")
    except PermissionError as error:
        again = " ".join([_quoted(sys.executable), "-m edgesvm service install", *words])
        raise PermissionError(f"{path} is root's to write: sudo {again}") from error
    except (OSError, RuntimeError):
        _put_back(path, before)
        raise
    print(f"{path} is written and runs; what it says: journalctl -fu {name}")
    return 0


def _put_back(path: Path, before: str | None) -> None:
    """What a failed installation found; no unit if there was none."""
    if before is None:
        subprocess.run(["systemctl", "disable", "--now", path.stem], check=False)
        path.unlink(missing_ok=True)
    else:
        path.write_text(before, encoding="utf-8")
    last = "reset-failed" if before is None else "restart"
    for command in (["daemon-reload"], [last, path.stem]):
        subprocess.run(["systemctl", *command], check=False)


def unit(words: list[str]) -> tuple[str, str]:
    """Name and text of the unit of these words, a command line of `run` or `watch`. Raises
    SystemExit if they are none, and ValueError for a file where the service may not write."""
    from edgesvm.cli import _parse

    if words[:1] not in (["run"], ["watch"]):
        words = ["run", *words]
    parsed = _parse(words)  # ends the program if they are wrong
    ports = [parsed.port] if isinstance(parsed.port, str) else parsed.port
    name = f"edgesvm-{'-'.join(map(port_name, ports))}"
    given, outs = vars(parsed), parsed.out or ()
    written = [(each, given.get(each) or "") for each in WRITES]
    written += [("out", one.removeprefix("jsonl:")) for one in outs if one.startswith("jsonl:")]
    for each, path in written:
        if os.path.dirname(path):
            only = f"the service writes to /var/lib/{name} only; give a name"
            raise ValueError(f"{option_name(each)} {path}: {only}")
    if not (parsed.save or parsed.checkpoint):
        several = "{port}" if len(ports) > 1 else "model"
        words += ["--checkpoint", f"{several}.ckpt", "--every", "60s"]
    words, credentials = _with_credentials(words, given, name)
    example = resources.files("edgesvm") / "examples" / "pi" / "edgesvm.service"
    text = BOUND.sub("", example.read_text(encoding="utf-8"))
    if parsed.http or any(one.startswith(OUTSIDE) for one in [*ports, *outs]):
        text = NO_NETWORK.sub("", text).replace("# No privileges", f"{NETWORK}# No privileges")
    call = " ".join(map(_quoted, [sys.executable, "-m", "edgesvm", *words]))
    waiting = ROW_BYTES * len(ports) * (parsed.ring + parsed.out_queue)
    needed_mib = BASE_MIB + -(-(COPIES * parse_bytes(parsed.memory) + waiting) // 2**20)
    lines = {
        "Description": f"edgesvm {words[0]} {' '.join(ports)}",
        "Documentation": "man:systemd.service(5)",
        "ExecStart": call,
        "StateDirectory": f"{name}\nWorkingDirectory=%S/{name}",
        "SupplementaryGroups": " ".join(sorted(set(map(_group, ports)))),
        "MemoryMax": f"{needed_mib}M",
    }
    if words[0] == "watch":
        lines["KillSignal"] = "SIGTERM\nSuccessExitStatus=3"  # there were alarms
    if home := re.match(r"/home/[^/]+|/root(?=/)", sys.prefix):  # this Python is its owner's
        lines |= {"ProtectHome": "read-only", "DynamicUser": f"no\nUser={Path(home[0]).owner()}"}
    for key, value in lines.items():
        text = re.sub(rf"^{key}=.*", f"{key}={value}".replace("\\", r"\\"), text, flags=re.M)
    text = text.replace("UMask=", f"{credentials}UMask=")
    allowed = "".join(f"DeviceAllow={kind} rw\n" for kind in _kinds(ports))
    text = re.sub(r"(DeviceAllow=.* rw\n)+", lambda _: allowed, text)
    return name, re.sub(r"\A#.*\n", "# Written by edgesvm service install.\n", text)


def _with_credentials(words: list[str], given: dict[str, Any], name: str) -> tuple[list[str], str]:
    """The words, in which files that may be their owner's alone are credentials of the service, and
    the lines that load these. Raises ValueError for a file that is not there."""
    lines: list[str] = []

    def loaded(what: str, path: str) -> str:
        path, own = os.path.abspath(path), f"{what}-{len(lines)}"
        if not os.path.isfile(path) or re.search(r"[^\w@+=,./-]", path):
            raise ValueError(f"{what} {path}: give a file that is there, of a plain name")
        lines.append(f"LoadCredential={own}:{path}\n")
        return f"/run/credentials/{name}.service/{own}"

    def certificate(found: re.Match[str]) -> str:
        return f"{found[1]}={loaded(found[1], unquote(found[2]))}"

    words = [CERTIFICATE.sub(certificate, one) if "mqtts://" in one else one for one in words]
    for secret in SECRETS:
        if path := given.get(secret):
            words += [option_name(secret), loaded(secret, path)]  # the last one holds
    return words, "".join(lines)


def _kinds(ports: list[str]) -> list[str]:
    """The kinds of devices that the ports are."""
    found = {"char-ttyUSB", "char-ttyACM"}
    for port in ports:
        device = os.path.realpath(port)
        if known := re.match(r"/dev/(tty[A-Za-z]+|rfcomm|pts)", device):
            found.add(f"char-{known[1]}")
        elif device.startswith("/dev/"):
            found.add(device)
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
