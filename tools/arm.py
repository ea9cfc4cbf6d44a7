"""Cross-compile edgesvm for 64-bit ARM, ARMv7, ARMv6 and musl; test the wheels under emulation.

    make arm ARM_ARGS="--only armhf"

A wheel for each machine is built here and run in a Debian of that machine: the arenas of all
learners are compared with those of x86-64, and a part of the tests is run. For musl Debian has no
Python: its loader must find all that the modules call. The wheels are left in build/arm/*/dist.
Exit code 1 if anything fails; --needed says that a missing tool does.
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
BUILT = ROOT / "build" / "arm"
# The Debian release whose Python is the one that builds; extension modules are made for one.
RELEASES = {(3, 11): "bookworm", (3, 13): "trixie"}
PACKAGES = (
    "qemu-user-static mmdebstrap gcc-aarch64-linux-gnu gcc-arm-linux-gnueabihf"
    " libc6-dev-arm64-cross libc6-dev-armhf-cross"
)
THERE = (  # what the tests import, and Python's headers for the build
    "python3,python3-numpy,python3-scipy,python3-serial,python3-pytest,"
    "python3-pytest-timeout,python3-hypothesis,libpython3-dev"
)
THERE_FOR_MUSL = "musl-dev,libpython3-dev"
VERSION = f"python{sys.version_info[0]}.{sys.version_info[1]}"
# Sizes that NumPy's headers state for the machine they were made on, as the compiler knows them.
SIZES = {
    "LONG": "__SIZEOF_LONG__",
    "LONGDOUBLE": "__SIZEOF_LONG_DOUBLE__",
    "COMPLEX_LONGDOUBLE": "(2 * __SIZEOF_LONG_DOUBLE__)",
    "(?:PY_INTPTR_T|U?INTP)": "__SIZEOF_POINTER__",
}
# Arithmetic, files and a link; the learners' arenas are compared before.
TESTS = ("tests/core", "tests/persist/test_format.py", "tests/link/test_link.py")
# Debian's Hypothesis may be older than the tests want, and warns of what newer ones allow.
PYTEST = ("-m", "pytest", "-q", "-m", "not long", "-p", "no:cacheprovider", "-rfE")
PYTEST += ("-W", "ignore::hypothesis.errors.HypothesisWarning")


@dataclass(frozen=True)
class Machine:
    """A machine under its names: ours, Debian's, the compiler's, that of wheels and the emulator's,
    with options of the compiler and the linker."""

    name: str
    debian: str
    triple: str
    platform: str
    cpu_family: str
    options: tuple[str, ...] = ()
    musl: bool = False

    @property
    def folder(self) -> Path:
        return BUILT / self.name

    @property
    def root(self) -> Path:
        """A Debian of this machine, unpacked."""
        return BUILT / (self.name if self.musl else self.debian) / "root"

    @property
    def emulator(self) -> str:
        return f"qemu-{self.cpu_family}-static"


# Debian's start files and static libgcc are for ARMv7; a Pi Zero has a shared one of its own.
ARMV6 = ("-march=armv6+fp", "-marm", "-nostartfiles", "-nodefaultlibs", "-lgcc_s", "-lc", "-lm")
LSE = ("-mno-outline-atomics",)  # to find what the processor has, libgcc calls glibc
MACHINES = (
    Machine("arm64", "arm64", "aarch64-linux-gnu", "aarch64", "aarch64"),
    Machine("armhf", "armhf", "arm-linux-gnueabihf", "armv7l", "arm"),
    Machine("armv6", "armhf", "arm-linux-gnueabihf", "armv6l", "arm", ARMV6),
    Machine("musl-arm64", "arm64", "aarch64-linux-gnu", "aarch64", "aarch64", LSE, musl=True),
    Machine("musl-amd64", "amd64", "x86_64-linux-gnu", "x86_64", "x86_64", musl=True),
)


def missing() -> str:
    """Why it cannot run here; "" if it can."""
    tools = ["mmdebstrap", *(tool for m in MACHINES for tool in (f"{m.triple}-gcc", m.emulator))]
    if absent := [tool for tool in tools if shutil.which(tool) is None]:
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
    packages = THERE_FOR_MUSL if machine.musl else THERE
    options += ['--aptopt=APT::Install-Recommends "false"', f"--include={packages}"]
    # The index of security updates is out of step with its packages now and then.
    options.append('--setup-hook=sed -i /security/d "$1/etc/apt/sources.list"')
    options += [RELEASES[sys.version_info[:2]], str(tarball)]
    subprocess.run(["mmdebstrap", *options], check=True)
    # from an archive, since its files are then those of whoever runs this
    tar = ["tar", "-xf", tarball, "-C", unfinished, "--no-same-owner", "--exclude=./dev"]
    subprocess.run(tar, check=True)
    tarball.unlink()
    libraries = unfinished / "usr" / "lib" / machine.triple
    if not machine.musl:
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
        if not n:
            raise ValueError(f"{config} does not state NPY_SIZEOF_{name}")
    config.write_text(text)
    shutil.copystat(numpy.__file__, config)  # no newer each time, or all is compiled again
    return str(copy / VERSION), copy / "numpy"


def options(machine: Machine) -> list[str]:
    """Of the compiler and the linker. Those for musl are in a file of Debian's, whose paths begin
    at the root; its library is `libc.musl-...` by the rules of the tag, and on Alpine."""
    if not machine.musl:
        return [*machine.options]
    triple, folder = machine.triple.replace("gnu", "musl"), machine.folder
    specs = (machine.root / "usr" / "lib" / triple / "musl-gcc.specs").read_text()
    (folder / "musl.specs").write_text(specs.replace("/usr/", f"{machine.root}/usr/"))
    library = folder / f"libc.musl-{machine.platform}.so.1"
    shutil.copy(machine.root / "lib" / triple / "libc.so", library)
    (folder / "libc.so").write_text(f"INPUT({library})\n")
    return [f"-specs={folder / 'musl.specs'}", f"-L{folder}", *machine.options]


def take_translated(machine: Machine) -> None:
    """Copy the C that Cython made for other machines: it is the same, if it is not too old."""
    ours = machine.folder / "meson" / "edgesvm"
    ours.mkdir(parents=True, exist_ok=True)
    for theirs in BUILT.glob("*/meson/edgesvm"):
        if theirs != ours and (made := [*theirs.glob("*.c"), *theirs.glob("*.c.*")]):
            subprocess.run(["cp", "-pu", *made, ours], check=True)


def build_wheel(machine: Machine) -> Path:
    """The wheel, by the ordinary build: meson and meson-python ask Python's `sysconfig` what an
    extension module is called and where the headers are, and are answered as by the machine's."""
    of_python, of_numpy = headers(machine)
    name, out = f"_sysconfigdata__{machine.triple}", machine.folder / "built"
    theirs = (machine.root / "usr" / "lib" / VERSION / f"{name}.py").read_text()
    if machine.musl:
        theirs = theirs.replace("linux-gnu", "linux-musl")  # in the name of a module
    theirs += f"build_time_vars.update(INCLUDEPY={of_python!r}, CONFINCLUDEPY={of_python!r})\n"
    (machine.folder / f"{name}.py").write_text(theirs)
    cross, flags = machine.folder / "cross.ini", options(machine)
    cross.write_text(f"""\
[binaries]
c = '{machine.triple}-gcc'
python = '{sys.executable}'
[built-in options]
c_args = {flags}
c_link_args = {["-s", *flags]}
[host_machine]
system = 'linux'
cpu_family = '{machine.cpu_family}'
cpu = '{machine.platform}'
endian = 'little'
[properties]
needs_exe_wrapper = true
numpy-include-dir = '{of_numpy}'
""")
    env = {**os.environ, "CC": f"{machine.triple}-gcc", "_PYTHON_SYSCONFIGDATA_NAME": name}
    env |= {"PYTHONPATH": str(machine.folder), "_PYTHON_HOST_PLATFORM": f"linux-{machine.platform}"}
    shutil.rmtree(out, ignore_errors=True)
    take_translated(machine)
    settings = [f"-Cbuild-dir={machine.folder / 'meson'}", f"-Csetup-args=--cross-file={cross}"]
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, *settings, "-w", out, "."], cwd=ROOT, env=env, check=True)
    return next(out.glob("*.whl"))


def made(machine: Machine) -> Path:
    """A wheel of the sources here, under the tag of the oldest C library that has all it calls."""
    make_root(machine)
    wheel, dist = build_wheel(machine), machine.folder / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    if machine.platform == "armv6l":  # no tag but `linux` has it
        wheel.parent.rename(dist)
    else:
        auditwheel = [sys.executable, "-m", "auditwheel", "repair", "-w", dist, wheel]
        subprocess.run(auditwheel, check=True, capture_output=True)
    (wheel,) = dist.glob("*.whl")
    print(f"{machine.name}: {wheel.name}, {wheel.stat().st_size:,} bytes", flush=True)
    return wheel


def installed(machine: Machine, wheel: Path) -> tuple[Path, dict[str, str]]:
    """Python of a new virtual environment on the root's, with the wheel, and the variables for it:
    a script, since the kernel here cannot start programs of the machine."""
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
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    env |= {"CC": f"{machine.triple}-gcc", "PYTHONSAFEPATH": "1"}  # the package that is installed
    env["EDGESVM_EMULATOR"] = " ".join(emulator)
    zipfile.ZipFile(wheel).extractall(packages)
    return program, env


def loads(machine: Machine) -> bool:
    """Whether the loader of musl finds all that the modules call, but for functions of Python."""
    loader = [machine.emulator, machine.folder / f"libc.musl-{machine.platform}.so.1", "--list"]
    said = ""
    for module in (machine.folder / "meson").glob("*/*.so"):
        command = [*loader, module]
        said += subprocess.run(command, capture_output=True, text=True, check=False).stderr
    wrong = re.sub(r".*: _?Py\w+: symbol not found\n", "", said)
    print(wrong, end="")
    return said != wrong == ""


def check(machine: Machine, wheel: Path) -> bool:
    """All steps for one machine; whether each found what it should."""
    if machine.musl:
        passed = loads(machine)
    else:
        program, env = installed(machine, wheel)
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
    machines = [m for m in MACHINES if m.name in args.only]
    wheels = [made(machine) for machine in machines]  # a build takes all cores
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # an emulator takes one
        return int(not all([*pool.map(check, machines, wheels)]))


if __name__ == "__main__":
    sys.exit(main())
