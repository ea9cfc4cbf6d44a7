"""The lanes of byte_lanes.h learn what the loops of byte.h learn: one C program, one output."""

import subprocess
from pathlib import Path

import native
import pytest

HERE = Path(__file__).parent
EDGESVM = HERE.parents[2] / "edgesvm"


def output(directory: Path, *flags: str) -> list[str]:
    program = directory / "bits"
    try:
        native.compile_c(
            HERE / "byte_bits.c", program, f"-I{EDGESVM / 'core'}",
            f"-I{EDGESVM / 'learners' / 'byte'}", "-ffp-contract=off", "-Wno-psabi",
            "-Wno-unused-function", *flags, "-lm",
        )  # fmt: skip
        emulator = native.emulator()
    except native.Unavailable as why:
        pytest.skip(str(why))
    run = subprocess.run([*emulator, program], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


@pytest.fixture(scope="module")
def loops(tmp_path_factory):
    return output(tmp_path_factory.mktemp("loops"), "-O0", "-DEDGESVM_CLONES=")


@pytest.mark.parametrize(
    "flags",
    [("-O0",), ("-O3",), ("-Os", "-DEDGESVM_CLONES="), ("-O3", "-DEDGESVM_CLONES=")],
    ids=" ".join,
)
def test_every_width_learns_the_same_bytes(loops, tmp_path, flags):
    assert len(loops) == 93
    assert output(tmp_path, *flags) == loops
