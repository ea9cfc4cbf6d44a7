"""A Debian of the machine: its Python, NumPy and pytest, unpacked and not configured."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from machine import RELEASES, Machine

# What the tests import, and Python's headers for the build.
PACKAGES = (
    "python3",
    "python3-numpy",
    "python3-scipy",
    "python3-serial",
    "python3-pip",
    "python3-pytest",
    "python3-pytest-timeout",
    "python3-hypothesis",
    "libpython3-dev",
)


def mirror(release: str) -> str:
    """Where this host's apt has the release from; "" if it has none, and then the usual one."""
    targets = ["apt-get", "indextargets", "--format", "$(CODENAME) $(REPO_URI)"]
    listing = subprocess.run(
        [*targets, "Created-By: Packages"], capture_output=True, text=True, check=True
    )
    found = (line.split() for line in listing.stdout.splitlines())
    return next((uri for codename, uri in found if codename == release), "")


def make_root(machine: Machine) -> Path:
    """Unpack the packages and all they depend on; a root that is there is left as it is.

    Without their scripts, which would need the kernel to start this machine's programs by itself.
    """
    if machine.root.exists():
        return machine.root
    release = RELEASES[sys.version_info[:2]]
    unfinished, tarball = machine.folder / "unfinished", machine.folder / "root.tar"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    command = [
        "mmdebstrap",
        "--quiet",
        "--variant=extract",
        f"--architectures={machine.name}",
        '--aptopt=APT::Install-Recommends "false"',
        f"--include={','.join(PACKAGES)}",
        release,
        str(tarball),
    ]
    subprocess.run([*command, *filter(None, [mirror(release)])], check=True)
    # from an archive, since its files are then those of whoever runs this
    tar = ["tar", "-xf", tarball, "-C", unfinished, "--no-same-owner", "--exclude=./dev"]
    subprocess.run(tar, check=True)
    tarball.unlink()
    libraries = unfinished / "usr" / "lib" / machine.triple
    for name in ("blas", "lapack"):  # the links that their scripts would have set
        (libraries / f"lib{name}.so.3").symlink_to(f"{name}/lib{name}.so.3")
    return unfinished.rename(machine.root)
