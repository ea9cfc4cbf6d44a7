"""A wheel for the machine from the ordinary build: Cython and meson run here, the compiler crosses.

Meson and meson-python ask Python's `sysconfig` what an extension module is called and where the
headers are. Here they are given the answers of the machine's Python.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
from machine import ROOT, Machine

# Sizes that NumPy's headers state for the machine they were made on, as the compiler knows them.
SIZES = {
    "LONG": "__SIZEOF_LONG__",
    "LONGDOUBLE": "__SIZEOF_LONG_DOUBLE__",
    "COMPLEX_LONGDOUBLE": "(2 * __SIZEOF_LONG_DOUBLE__)",
    "PY_INTPTR_T": "__SIZEOF_POINTER__",
    "INTP": "__SIZEOF_POINTER__",
    "UINTP": "__SIZEOF_POINTER__",
}


def python_headers(machine: Machine) -> Path:
    """Python's headers, with the machine's pyconfig.h in place of Debian's, which chooses one."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    include = machine.root / "usr" / "include"
    copy = machine.folder / "include" / version
    ignored = shutil.ignore_patterns("numpy")  # Debian's NumPy has its own there
    shutil.copytree(include / version, copy, ignore=ignored, dirs_exist_ok=True)
    shutil.copy(include / machine.triple / version / "pyconfig.h", copy)
    return copy


def numpy_headers(machine: Machine) -> Path:
    """The headers of this host's NumPy, so that a wheel serves the same releases as one for it."""
    copy = machine.folder / "include" / "numpy"
    shutil.copytree(numpy.get_include(), copy, dirs_exist_ok=True)
    config = copy / "numpy" / "_numpyconfig.h"
    text = config.read_text()
    for name, size in SIZES.items():
        text, n = re.subn(rf"(#define NPY_SIZEOF_{name}) .*", rf"\1 {size}", text)
        if n != 1:
            raise ValueError(f"{config} does not state NPY_SIZEOF_{name} once")
    config.write_text(text)
    return copy


def sysconfig_data(machine: Machine) -> dict[str, str]:
    """Environment in which this host's Python answers as the machine's does."""
    name = f"_sysconfigdata__{machine.triple}"
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    theirs = (machine.root / "usr" / "lib" / version / f"{name}.py").read_text()
    headers = str(python_headers(machine))
    folder = machine.folder / "sysconfig"
    folder.mkdir(exist_ok=True)
    changed = f"build_time_vars.update(INCLUDEPY={headers!r}, CONFINCLUDEPY={headers!r})\n"
    (folder / f"{name}.py").write_text(theirs + changed)
    return {
        "PYTHONPATH": str(folder),
        "_PYTHON_SYSCONFIGDATA_NAME": name,
        "_PYTHON_HOST_PLATFORM": f"linux-{machine.platform}",
    }


def cross_file(machine: Machine) -> Path:
    """What meson has to know of the machine."""
    compiler = [f"{machine.triple}-gcc"]
    if shutil.which("ccache"):
        compiler.insert(0, "ccache")
    path = machine.folder / "cross.ini"
    path.write_text(f"""\
[binaries]
c = {compiler!r}
strip = '{machine.triple}-strip'
python = '{sys.executable}'

[host_machine]
system = 'linux'
cpu_family = '{machine.cpu_family}'
cpu = '{machine.platform}'
endian = 'little'

[properties]
needs_exe_wrapper = true
numpy-include-dir = '{numpy_headers(machine)}'
""")
    return path


def native_file(machine: Machine) -> Path:
    """Cython runs here, so that meson looks for it among this host's programs."""
    cython = [sys.executable, str(Path(__file__).with_name("cython_once.py"))]
    path = machine.folder / "native.ini"
    path.write_text(f"[binaries]\ncython = {cython!r}\n")
    return path


def build_wheel(machine: Machine, jobs: int) -> Path:
    """The wheel, tagged `linux`, built anew from the sources as they are."""
    out = machine.folder / "built"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    settings = {
        "build-dir": str(machine.folder / "meson"),
        "setup-args": [
            f"--cross-file={cross_file(machine)}",
            f"--native-file={native_file(machine)}",
        ],
        "compile-args": [f"-j{jobs}"],
    }
    hook = f"import mesonpy; mesonpy.build_wheel({str(out)!r}, {settings!r})"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, **sysconfig_data(machine), "PATH": path}
    env.pop("CC", None)  # the cross file names the compiler
    log = machine.folder / "build.log"
    with log.open("w") as lines:
        run = subprocess.run(
            [sys.executable, "-c", hook], cwd=ROOT, env=env, stdout=lines, stderr=lines, check=False
        )
    if run.returncode:
        raise SystemExit(f"{machine.name}: the build failed, see {log}")
    (wheel,) = out.glob("*.whl")
    return wheel
