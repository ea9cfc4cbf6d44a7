"""Every target gives the same bits: lanes.h compiled for several, one C program, one output."""

import platform
import subprocess
from pathlib import Path

import native
import pytest

HERE = Path(__file__).parent
CORE = HERE.parents[1] / "src" / "edgesvm" / "core"
NO_CLONES = "-DEDGESVM_CLONES="
X86_64 = platform.machine() in ("x86_64", "AMD64")


def cpu_flags() -> set[str]:
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists():
        return set()
    lines = cpuinfo.read_text().splitlines()
    return set(next((line for line in lines if line.startswith("flags")), "").split())


def output(directory: Path, *flags: str, contract: str = "off") -> list[str]:
    program = directory / "-".join(["lanes", *flags, contract]).replace("=", "")
    try:
        native.compile_c(
            HERE / "lanes_bits.c", program, f"-ffp-contract={contract}", f"-I{CORE}", "-Wno-psabi",
            "-Wno-unused-function", *flags, "-lm",
        )  # fmt: skip
    except native.Unavailable as why:
        pytest.skip(str(why))
    run = subprocess.run([program], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


@pytest.fixture(scope="module")
def baseline(tmp_path_factory):
    return output(tmp_path_factory.mktemp("baseline"), NO_CLONES)


@pytest.mark.parametrize(
    "flags",
    [("-O0",), ("-O3",), ("-mavx2",), ("-mavx2", "-mfma"), ("-mavx512f",)],
    ids=" ".join,
)
def test_target_gives_the_baseline_bits(baseline, tmp_path, flags):
    needed = {flag[2:] for flag in flags if flag.startswith("-m")}
    if not needed <= cpu_flags():
        pytest.skip(f"this processor has no {', '.join(sorted(needed - cpu_flags()))}")
    assert len(baseline) == 202
    assert output(tmp_path, NO_CLONES, *flags) == baseline


def test_clones_chosen_at_load_give_the_baseline_bits(baseline, tmp_path):
    assert output(tmp_path) == baseline


def test_a_fused_build_would_be_noticed(baseline, tmp_path):
    """The control: the inputs are such that a changed rounding shows."""
    if not {"avx2", "fma"} <= cpu_flags():
        pytest.skip("this processor fuses no multiply and add")
    assert output(tmp_path, NO_CLONES, "-mavx2", "-mfma", contract="fast") != baseline
