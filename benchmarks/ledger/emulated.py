"""Entry points counted on other processors, by a plugin of QEMU (`icount.c`), which counts the
instructions of a whole process; a `Plugin` in there says what is of one call."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common.report import ROOT
from benchmarks.ledger.counter import Counter, Counts, compiler
from tools import arm

SOURCE = Path(__file__).with_name("icount.c")
MARK = 1_000_000  # no file has that number
HOST = {"x86-64, AVX2": "max", "x86-64": "Nehalem"}  # models of qemu-x86_64
ARM = arm.MACHINES[:2]
PROCESSORS = (*HOST, *(machine.platform for machine in ARM))


class Plugin(Counter):
    """Counts callables in a process that `counts_on` has started."""

    def __init__(self, folder: Path, *, keep: bool = False) -> None:
        self.folder, self.keep, self.vectors = folder, keep, "of the processor"

    def __call__(self, name: str, call: Callable[[], object]) -> Counts:
        before = self._now()
        call()
        return Counts(self._now() - before, 0, 0)

    def _now(self) -> int:
        with suppress(OSError):
            os.close(MARK)
        return int((self.folder / "count").read_text())


def missing() -> str | None:
    """Why nothing can be counted here, if so."""
    if shutil.which("qemu-x86_64") is None:
        return "there is no qemu-x86_64 here (apt-get install qemu-user)"
    said = subprocess.check_output(["qemu-x86_64", "--version"], text=True)
    if not re.search(r"version [78]\.", said):
        return f"the plugin is for QEMU 7 and 8, not {said.splitlines()[0]}"
    if absent := [str(machine.root) for machine in ARM if not machine.root.exists()]:
        return f"there is no {', '.join(absent)} (make arm)"
    return arm.missing() or None


def counts_on(processor: str, module: str) -> dict[str, float]:
    """Instructions of a sample at the module's entry points, by name."""
    with TemporaryDirectory() as folder:
        library = Path(folder, "icount.so")
        command = [compiler(), "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
        subprocess.run(command, check=True)
        plugin = ["-plugin", f"{library},out={Path(folder, 'count')}"]
        command, packages = python(processor, plugin)
        environment = {"PYTHONPATH": f"{packages}:{ROOT}", "PATH": os.environ["PATH"]}
        environment |= {"PYTHONSAFEPATH": "1", "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
        command += ["-m", "benchmarks.ledger.worker", folder, "--emulated", "--of", module]
        said = subprocess.check_output(command, env=environment, text=True)
    _, *lines = map(json.loads, said.splitlines())
    return {line["name"]: line["instructions"] for line in lines}


def python(processor: str, plugin: list[str]) -> tuple[list[str], Path]:
    """The command that runs Python there with edgesvm installed, and the folder of its packages."""
    if model := HOST.get(processor):
        return ["qemu-x86_64", "-cpu", model, *plugin, sys.executable], ROOT
    machine = next(m for m in ARM if m.platform == processor)
    program, _ = arm.installed(machine, arm.made(machine))
    emulator = machine.emulator.removesuffix("-static")  # the one that takes plugins
    command = [emulator, *plugin, "-L", str(machine.root), "-0", str(program)]
    packages = program.parents[1] / "lib" / arm.VERSION / "site-packages"
    return [*command, f"{machine.root}/usr/bin/python3"], packages
