"""The machine's Python under emulation, and the wheel installed for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from machine import ROOT, Machine


def python(machine: Machine) -> Path:
    """Python of a new virtual environment on the root's, which the kernel and a test can start.

    A script in place of the program, since the kernel here cannot start programs of the machine.
    """
    environment = machine.folder / "venv"
    shutil.rmtree(environment, ignore_errors=True)
    program = environment / "bin" / "python3"
    program.parent.mkdir(parents=True)
    site_packages(machine).mkdir(parents=True)
    theirs = machine.root / "usr" / "bin"
    (environment / "pyvenv.cfg").write_text(
        f"home = {theirs}\ninclude-system-site-packages = true\n"
    )
    program.write_text(f'#!/bin/sh\nexec {emulator(machine)} -0 "$0" {theirs}/python3 "$@"\n')
    program.chmod(0o755)
    return program


def emulator(machine: Machine) -> str:
    """The command that runs a program of the machine, with the root's libraries."""
    return f"{machine.emulator} -L {machine.root}"


def site_packages(machine: Machine) -> Path:
    """Where the environment has its packages."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return machine.folder / "venv" / "lib" / version / "site-packages"


def install(machine: Machine, wheel: Path) -> None:
    """By the root's own pip, which refuses a wheel whose tag it does not know.

    It is started without the script: for armv7l, pip reads what it may install from the program
    that runs it.
    """
    pip = [*emulator(machine).split(), str(machine.root / "usr" / "bin" / "python3"), "-m", "pip"]
    options = ["--quiet", "--no-deps", "--no-index", "--root-user-action=ignore"]
    target = ["--target", str(site_packages(machine))]
    subprocess.run([*pip, "install", *options, *target, str(wheel)], env=clean(), check=True)


def clean() -> dict[str, str]:
    """The environment without what speaks of this host's Python."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}


def run(machine: Machine, program: Path, log: Path, *arguments: str) -> bool:
    """Run the machine's Python in the source tree, its output in a log; whether it ended well."""
    env = {**clean(), "CC": f"{machine.triple}-gcc", "EDGESVM_EMULATOR": emulator(machine)}
    env["PYTHONSAFEPATH"] = "1"  # the package that is installed, not the one in the tree
    with log.open("w") as out:
        command = [str(program), *arguments]
        done = subprocess.run(command, cwd=ROOT, env=env, stdout=out, stderr=out, check=False)
    return done.returncode == 0
