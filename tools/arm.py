"""Cross-compile edgesvm for 64-bit ARM, ARMv7 and ARMv6, make wheels and test them under emulation.

    make arm ARM_ARGS="--only armhf"

A wheel for each machine is built here, installed by pip into a Debian of that machine and run there
beside Debian's NumPy: the arenas of all learners are compared with those of x86-64, and a part of
the tests is run. The wheels are left in build/arm/*/dist. Exit code 1 if anything fails; --needed
says that a missing tool does.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The Debian release whose Python is the one that builds; extension modules are made for one.
RELEASES = {(3, 11): "bookworm", (3, 13): "trixie"}
PACKAGES = (
    "qemu-user-static mmdebstrap gcc-aarch64-linux-gnu gcc-arm-linux-gnueabihf"
    " libc6-dev-arm64-cross libc6-dev-armhf-cross"
)
THERE = (  # what the tests import, and Python's headers for the build
    "python3,python3-numpy,python3-scipy,python3-serial,python3-pip,python3-pytest,"
    "python3-pytest-timeout,python3-hypothesis,libpython3-dev"
)
VERSION = f"python{sys.version_info[0]}.{sys.version_info[1]}"
# Sizes that NumPy's headers state for the machine they were made on, as the compiler knows them.
SIZES = {
    "LONG": "__SIZEOF_LONG__",
    "LONGDOUBLE": "__SIZEOF_LONG_DOUBLE__",
    "COMPLEX_LONGDOUBLE": "(2 * __SIZEOF_LONG_DOUBLE__)",
    "PY_INTPTR_T": "__SIZEOF_POINTER__",
    "INTP": "__SIZEOF_POINTER__",
    "UINTP": "__SIZEOF_POINTER__",
}
OLDEST = 17  # glibc 2.17, of manylinux2014: the first that pip knows for ARM
# Arithmetic, learners and files. Left out: what takes minutes under emulation, ports and processes.
TESTS = (
    *("tests/core", "tests/persist/test_format.py", "tests/learners/fourier"),
    *("tests/learners/batch/test_smo.py", "tests/learners/byte"),
    *("tests/learners/test_extremes.py", "tests/test_readme.py::test_readme"),
)
# Debian's Hypothesis may be older than the tests want, and warns of what newer ones allow.
PYTEST = ("-m", "pytest", "-q", "-m", "not long", "-p", "no:cacheprovider", "-rfE")
PYTEST += ("-W", "ignore::hypothesis.errors.HypothesisWarning")


@dataclass(frozen=True)
class Machine:
    """A machine under its names: ours, Debian's, the compiler's, the emulator's and that of wheels,
    with options of the compiler and the linker."""

    name: str
    debian: str
    triple: str
    emulator: str
    platform: str
    cpu_family: str
    options: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        return ROOT / "build" / "arm" / self.name

    @property
    def root(self) -> Path:
        """A Debian of this machine, unpacked."""
        return self.folder / "root"


# Debian's start files and static libgcc are for ARMv7; a Pi Zero has a shared one of its own.
ARMV6 = ("-march=armv6+fp", "-marm", "-nostartfiles", "-nodefaultlibs", "-lgcc_s", "-lc", "-lm")
MACHINES = (
    Machine("arm64", "arm64", "aarch64-linux-gnu", "qemu-aarch64-static", "aarch64", "aarch64"),
    Machine("armhf", "armhf", "arm-linux-gnueabihf", "qemu-arm-static", "armv7l", "arm"),
    Machine("armv6", "armhf", "arm-linux-gnueabihf", "qemu-arm-static", "armv6l", "arm", ARMV6),
)


def missing() -> str:
    """Why it cannot run here; "" if it can."""
    tools = ["mmdebstrap", *(tool for m in MACHINES for tool in (f"{m.triple}-gcc", m.emulator))]
    absent = [tool for tool in tools if shutil.which(tool) is None]
    if absent:
        return f"no {', '.join(absent)} here (apt-get install {PACKAGES})"
    if sys.version_info[:2] not in RELEASES:
        return f"it needs Python 3.11 or 3.13, of which Debian has NumPy; this is {sys.version}"
    return ""


def make_root(machine: Machine) -> None:
    """Unpack the packages, not configured; a root that is there is left as it is."""
    if machine.root.exists():
        return
    unfinished, tarball = machine.folder / "unfinished", machine.folder / "root.tar"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    options = ["--quiet", "--variant=extract", f"--architectures={machine.debian}"]
    options += ['--aptopt=APT::Install-Recommends "false"', f"--include={THERE}"]
    # The index of security updates is out of step with its packages now and then.
    options.append('--setup-hook=sed -i /security/d "$1/etc/apt/sources.list"')
    options += [RELEASES[sys.version_info[:2]], str(tarball)]
    subprocess.run(["mmdebstrap", *options], check=True)
    # from an archive, since its files are then those of whoever runs this
    tar = ["tar", "-xf", tarball, "-C", unfinished, "--no-same-owner", "--exclude=./dev"]
    subprocess.run(tar, check=True)
    tarball.unlink()
    libraries = unfinished / "usr" / "lib" / machine.triple
    for name in ("blas", "lapack"):  # the links that their scripts would have set
        (libraries / f"lib{name}.so.3").symlink_to(f"{name}/lib{name}.so.3")
    unfinished.rename(machine.root)


def headers(machine: Machine) -> tuple[str, Path]:
    """Python's with the machine's pyconfig.h, and NumPy's of this host with the machine's sizes, so
    that a wheel serves the same releases as one for this host."""
    import numpy

    include, copy = machine.root / "usr" / "include", machine.folder / "include"
    ignored = shutil.ignore_patterns("numpy")  # Debian's NumPy has its own there
    shutil.copytree(include / VERSION, copy / VERSION, ignore=ignored, dirs_exist_ok=True)
    shutil.copy2(include / machine.triple / VERSION / "pyconfig.h", copy / VERSION)
    shutil.copytree(numpy.get_include(), copy / "numpy", dirs_exist_ok=True)
    config = copy / "numpy" / "numpy" / "_numpyconfig.h"
    text = config.read_text()
    for name, size in SIZES.items():
        text, n = re.subn(rf"(#define NPY_SIZEOF_{name}) .*", rf"\1 {size}", text)
        if n != 1:
            raise ValueError(f"{config} does not state NPY_SIZEOF_{name} once")
    config.write_text(text)
    shutil.copystat(numpy.__file__, config)  # no newer each time, or all is compiled again
    return str(copy / VERSION), copy / "numpy"


def build_wheel(machine: Machine) -> Path:
    """The wheel, by the ordinary build: meson and meson-python ask Python's `sysconfig` what an
    extension module is called and where the headers are, and are answered as by the machine's."""
    of_python, of_numpy = headers(machine)
    name, out = f"_sysconfigdata__{machine.triple}", machine.folder / "built"
    theirs = (machine.root / "usr" / "lib" / VERSION / f"{name}.py").read_text()
    theirs += f"build_time_vars.update(INCLUDEPY={of_python!r}, CONFINCLUDEPY={of_python!r})\n"
    (machine.folder / f"{name}.py").write_text(theirs)
    cross = machine.folder / "cross.ini"
    cross.write_text(f"""\
[binaries]
c = '{machine.triple}-gcc'
python = '{sys.executable}'
[built-in options]
c_args = {list(machine.options)}
c_link_args = {["-s", *machine.options]}
[host_machine]
system = 'linux'
cpu_family = '{machine.cpu_family}'
cpu = '{machine.platform}'
endian = 'little'
[properties]
needs_exe_wrapper = true
numpy-include-dir = '{of_numpy}'
""")
    env = {k: v for k, v in os.environ.items() if k != "CC"}  # the cross file names the compiler
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    env |= {"PYTHONPATH": str(machine.folder), "_PYTHON_SYSCONFIGDATA_NAME": name}
    env["_PYTHON_HOST_PLATFORM"] = f"linux-{machine.platform}"
    shutil.rmtree(out, ignore_errors=True)
    settings = [f"-Cbuild-dir={machine.folder / 'meson'}", f"-Csetup-args=--cross-file={cross}"]
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, *settings, "-w", out, "."], cwd=ROOT, env=env, check=True)
    return next(out.glob("*.whl"))


def tagged(machine: Machine, wheel: Path) -> Path:
    """The wheel under the tag of the oldest C library that has all it calls, in `dist`."""
    newest = OLDEST
    with zipfile.ZipFile(wheel) as archive:
        for name in (n for n in archive.namelist() if n.endswith(".so")):
            objdump = [f"{machine.triple}-objdump", "-p", archive.extract(name, machine.folder)]
            listing = subprocess.run(objdump, capture_output=True, text=True, check=True).stdout
            newest = max([newest, *map(int, re.findall(r"GLIBC_2\.(\d+)", listing))])
    system = "linux" if machine.options else f"manylinux_2_{newest}"  # which has no ARMv6
    tag = f"{system}_{machine.platform}"
    retag = [sys.executable, "-m", "wheel", "tags", "--remove", f"--platform-tag={tag}", wheel]
    subprocess.run(retag, check=True, capture_output=True)
    dist = machine.folder / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    return next(wheel.parent.rename(dist).glob("*.whl"))


def installed(machine: Machine, wheel: Path, env: dict[str, str]) -> Path:
    """Python of a new virtual environment on the root's, with the wheel: a script, since the kernel
    here cannot start programs of the machine."""
    environment, theirs = machine.folder / "venv", machine.root / "usr" / "bin"
    shutil.rmtree(environment, ignore_errors=True)
    program = environment / "bin" / "python3"
    packages = environment / "lib" / VERSION / "site-packages"
    packages.mkdir(parents=True)
    program.parent.mkdir()
    settings = f"home = {theirs}\ninclude-system-site-packages = true\n"
    (environment / "pyvenv.cfg").write_text(settings)
    emulator = [machine.emulator, "-L", str(machine.root)]
    program.write_text(f'#!/bin/sh\nexec {" ".join(emulator)} -0 "$0" {theirs}/python3 "$@"\n')
    program.chmod(0o755)
    # without the script: pip reads what it may install from the program that runs it
    pip = [*emulator, theirs / "python3", "-m", "pip", "install", "--quiet", "--no-deps"]
    # Debian's Python is for ARMv7, and so is the emulator: pip there refuses a wheel for ARMv6.
    options = ["--only-binary=:all:", "--platform=linux_armv6l"] if machine.options else []
    options += ["--no-index", "--root-user-action=ignore", "--target", str(packages), str(wheel)]
    subprocess.run([*pip, *options], env=env, check=True)
    return program


def ready(machine: Machine) -> tuple[Path, dict[str, str]]:
    """Python of the machine with a wheel of the sources here, and the environment for it."""
    make_root(machine)
    wheel = tagged(machine, build_wheel(machine))
    print(f"{machine.name}: {wheel.name}, {wheel.stat().st_size:,} bytes", flush=True)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    env |= {"CC": f"{machine.triple}-gcc", "PYTHONSAFEPATH": "1"}  # the package that is installed
    env["EDGESVM_EMULATOR"] = f"{machine.emulator} -L {machine.root}"
    return installed(machine, wheel, env), env


def check(machine: Machine) -> bool:
    """All steps for one machine; whether each found what it should."""
    program, env = ready(machine)
    demo = ("-m", "edgesvm.cli", "demo", "--samples", "300", "--out", machine.folder / "demo")
    steps = (("tests/conformance/arena_hashes.py",), demo, (*PYTEST, *TESTS))
    runs = [subprocess.run([program, *step], cwd=ROOT, env=env, check=False) for step in steps]
    passed = not any(run.returncode for run in runs)
    print(f"{machine.name}: {'passed' if passed else 'FAILED'}", flush=True)
    return passed


def main() -> int:
    names = [machine.name for machine in MACHINES]
    parser = argparse.ArgumentParser(prog="make arm", description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--needed", action="store_true", help="fail, not skip, if a tool is absent")
    args = parser.parse_args()
    if reason := missing():
        print(f"arm: {'FAILED' if args.needed else 'SKIPPED'}, {reason}")
        return int(args.needed)
    with ThreadPoolExecutor() as pool:  # an emulator takes one core
        return int(not all([*pool.map(check, [m for m in MACHINES if m.name in args.only])]))


if __name__ == "__main__":
    sys.exit(main())
