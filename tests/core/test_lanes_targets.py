"""Every target gives the same bits: sums.h and ByteSVM compiled for several, one C program, one
output."""

import os
import platform
import subprocess
from pathlib import Path

import native
import pytest

HERE = Path(__file__).parent
CORE = HERE.parents[1] / "edgesvm" / "core"
NO_CLONES = "-DEDGESVM_CLONES="
X86_64 = platform.machine() in ("x86_64", "AMD64")
ARM64, ARMHF = "aarch64-linux-gnu", "arm-linux-gnueabihf"
# of other machines: which, and the compiler with its flags
OTHERS = {
    "arm64": (ARM64, f"{ARM64}-gcc"),
    "arm64-clang": (ARM64, "clang", f"--target={ARM64}"),
    "armhf": (ARMHF, f"{ARMHF}-gcc"),
    "armhf-neon": (ARMHF, f"{ARMHF}-gcc", "-mfpu=neon"),
    "armhf-clang": (ARMHF, "clang", f"--target={ARMHF}", "-mfpu=vfpv3-d16"),
    "armhf-clang-neon": (ARMHF, "clang", f"--target={ARMHF}", "-mfpu=neon"),
}
EMULATORS = {ARM64: "qemu-aarch64-static", ARMHF: "qemu-arm-static"}


def cpu_flags() -> set[str]:
    """What this x86-64 processor can; of others nothing is asked here."""
    cpuinfo = Path("/proc/cpuinfo")
    if not X86_64 or not cpuinfo.exists():
        return set()
    lines = cpuinfo.read_text().splitlines()
    return set(next((line for line in lines if line.startswith("flags")), "").split())


def output(
    directory: Path, *flags: str, contract: str = "off", other: str = "", linked: tuple = ()
) -> list[str]:
    """What the program prints, compiled for this machine or one of `OTHERS`."""
    program = directory / "-".join(["lanes", *flags, contract]).replace("=", "")
    try:
        compiler, emulator = native.compiler(), native.emulator()
        if other:
            machine, compiler, *more = OTHERS[other]
            native.found(f"{machine}-gcc")  # its C library and linker, which clang takes too
            flags = (*more, "-static", *flags)
            compiler, emulator = native.found(compiler), [native.found(EMULATORS[machine])]
        native.compile_c(
            HERE / "lanes_bits.c", program, f"-ffp-contract={contract}", f"-I{CORE}", "-Wno-psabi",
            "-Wno-unused-function", *flags, *map(str, linked), by=compiler,
        )  # fmt: skip
    except native.Unavailable as why:
        pytest.skip(str(why))
    run = subprocess.run([*emulator, program], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


@pytest.fixture(scope="module")
def baseline(tmp_path_factory):
    return output(tmp_path_factory.mktemp("baseline"), NO_CLONES, "-DEDGESVM_NO_VECTORS")


@pytest.mark.parametrize(
    "flags",
    [("-O0",), ("-mavx2", "-mfma"), ("-DBYTE_PLAIN",)],
    ids=" ".join,
)
def test_target_gives_the_baseline_bits(baseline, tmp_path, flags):
    needed = {flag[2:] for flag in flags if flag.startswith("-m")}
    if not needed <= cpu_flags():
        pytest.skip(f"this processor has no {', '.join(sorted(needed - cpu_flags()))}")
    assert len(baseline) == 213 == len({*baseline})
    assert output(tmp_path, NO_CLONES, *flags) == baseline


@pytest.mark.skipif(os.environ.get("EDGESVM_BOARDS") != "required", reason="emulated: make mcu")
@pytest.mark.parametrize("other", [name for name in OTHERS if name != "armhf-clang-neon"])
def test_another_machine_gives_the_baseline_bits(baseline, tmp_path, other):
    assert output(tmp_path, other=other) == baseline


def test_neon_is_refused_where_floats_would_go_through_it(tmp_path):
    """On 32-bit ARM it takes subnormal numbers for zero; clang adds floats there by it."""
    with pytest.raises(AssertionError, match="takes subnormal numbers for zero"):
        output(tmp_path, other="armhf-clang-neon")


@pytest.mark.skipif(not X86_64, reason="one width of vectors, with nothing to choose from")
def test_the_width_chosen_at_load_gives_the_baseline_bits(baseline, tmp_path):
    linked = [
        native.compile_c(
            CORE / "sums.c", tmp_path / f"{width}.o", "-c", "-ffp-contract=off", "-Wno-psabi",
            f"-DSUMS_WIDTH={width}", *target,
        )
        for width, target in ((16, ()), (32, ("-mavx2",)), (64, ("-mavx512f",)))
    ]  # fmt: skip
    assert output(tmp_path, "-DSUMS_CHOSEN", linked=linked) == baseline


def test_a_fused_build_would_be_noticed(baseline, tmp_path):
    """The control: the inputs are such that a changed rounding shows."""
    if X86_64 and not {"avx2", "fma"} <= cpu_flags():
        pytest.skip("this processor fuses no multiply and add")
    if platform.machine() == "armv7l":
        pytest.skip("the processor that Debian's compiler assumes fuses no multiply and add")
    flags = ("-mavx2", "-mfma") if X86_64 else ()
    assert output(tmp_path, NO_CLONES, *flags, contract="fast") != baseline
