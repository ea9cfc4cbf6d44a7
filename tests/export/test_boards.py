"""On microcontrollers: the same bytes as on the host, in the RAM and with the work promised.

Under QEMU, with compilers and machines of the system's packages; ``make mcu`` needs them, elsewhere
what is missing is a reason to skip.
"""

import os
import re
import subprocess

import numpy as np
import pytest
from each import each
from exported import SETTINGS
from on_boards import BOARDS, build, run, sections
from on_host import STRICT, hard_samples, run_here, write

from edgesvm import (
    LASVM,
    BallVectorMachine,
    BatchSVM,
    KernelStreamSVM,
    Standardized,
    StreamSVM,
    TwinVectorMachine,
)
from edgesvm.data import Checkerboard
from edgesvm.export.folder import export

PACKAGES = (
    "gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm qemu-system-misc"
    " gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf"
)
N = 400


def board(name):
    missing = BOARDS[name].missing()
    if missing and os.environ.get("EDGESVM_BOARDS") != "required":
        pytest.skip(f"no {', '.join(missing)}; Debian has them in {PACKAGES}")
    assert not missing, f"no {', '.join(missing)}: apt-get install {PACKAGES}"
    return BOARDS[name]


def check(learner, on, folder, samples, **options):
    """Run the same samples here and there; what came out of the board."""
    there = run(learner, on, folder, samples, **options)
    values, decided, learned = run_here(learner, *samples)
    assert there.self_test
    assert np.array_equal(there.decided, decided)
    assert np.array_equal(there.learned, learned)
    good = decided <= 1
    assert there.values[good].tobytes() == values[good].tobytes()
    assert there.arena == bytes(learner.arena)
    return there


def scaled(n=N, n_features=9):
    """Samples as a sensor's: of no extreme size, and most of them add nothing new."""
    rng = np.random.default_rng(0)
    slots = (rng.random(n) < 0.5).astype(np.int8)
    X = rng.standard_normal((n, n_features)) + 1
    X[:, :3] += 2.0 * slots[:, None]
    return X.astype(np.float32), slots, np.ones(n)


def test_an_m3_learns_as_the_host_within_its_limits(tmp_path):
    learner = Standardized(learner=StreamSVM(C=10.0)).allocate(9, classes=[0, 1])
    m3 = check(learner, board("M3"), tmp_path, scaled())
    assert m3.code <= 3 << 10
    assert m3.stack <= 512
    assert 0 < m3.decide < m3.learn <= 20_000


@each(
    "make, most",
    [
        (lambda dtype: BatchSVM(max_samples=200, gamma=1.35, C=10.0, dtype=dtype), 800),
        (lambda dtype: Standardized(learner=LASVM(gamma=1.35, dtype=dtype)), 1024),
        (lambda dtype: KernelStreamSVM(gamma=1.35, dtype=dtype), 800),
        (lambda dtype: BallVectorMachine(max_core=99, gamma=1.35, dtype=dtype), 800),
        (lambda dtype: TwinVectorMachine(max_twins=20, gamma=1.35, dtype=dtype), 1024),
    ],
)
def test_a_kernel_machine_is_its_tables_and_a_little_code(make, most, tmp_path):
    m3 = board("M3")
    for dtype in ("float32", "float64"):
        X, y = Checkerboard(seed=1).read(200)
        folder = tmp_path / dtype
        export(make(dtype).fit(X.astype(dtype), y), folder, "mod", inference=True)
        flags = [*m3.compiler.split(), *STRICT, "-Os", f"-I{folder}", "-c", folder / "mod.c"]
        subprocess.run([*flags, "-o", folder / "mod.o"], check=True)
        tables = int(re.search(r"inference: (\d+)", (folder / "mod.h").read_text())[1])
        assert 0 < flash_bytes_of(sections(m3, folder / "mod.o")) - tables <= most


def flash_bytes_of(by_name):
    return sum(n for name, n in by_name.items() if name.startswith((".text", ".rodata", ".data")))


@pytest.mark.long
@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_board_compiles_it_strictly(name, setting, tmp_path):
    on = board(name)
    make, n_features, classes = SETTINGS[setting]
    for dtype in ("float32", "float64"):
        write(make(dtype).allocate(n_features, classes=classes), tmp_path / dtype)
        for source in sorted((tmp_path / dtype).rglob("*.c")):
            flags = [*on.compiler.split(), *STRICT, "-Os", f"-I{tmp_path / dtype}", "-c", source]
            subprocess.run([*flags, "-o", source.with_suffix(".o")], check=True)


def test_what_does_not_fit_fails_when_linked(tmp_path):
    on = board("M3")
    learner = Standardized(learner=StreamSVM()).allocate(3400, classes=[0, 1])
    assert learner.nbytes > on.ram
    with pytest.raises(subprocess.CalledProcessError) as refused:
        build(learner, on, tmp_path)
    assert b"overflowed" in refused.value.stderr


def test_the_self_test_finds_a_library_that_rounds_wrongly(tmp_path):
    """libgcc's sums for ARM do; soft.c has others."""
    learner = StreamSVM().allocate(2, classes=[0, 1])
    samples = scaled(20, 2)
    theirs = run(learner, board("M3"), tmp_path, samples, flags="-Os -DESVM_LIBRARY_SUMS")
    assert not theirs.self_test


@pytest.mark.long
@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_board_learns_as_the_host(name, setting, tmp_path):
    on = board(name)
    make, n_features, classes = SETTINGS[setting]
    for seed, dtype in enumerate(("float32", "float64")):
        learner = make(dtype).allocate(n_features, classes=classes)
        stack = 5 << 10 if on.ram > 16 << 10 else 3 << 10
        if learner.nbytes + stack + 1024 > on.ram:
            pytest.skip(f"{learner.nbytes} bytes do not fit in {on.ram}")
        samples = hard_samples(N, n_features, dtype, seed, classes)
        there = check(learner, on, tmp_path / dtype, samples, stack=stack)
        print(
            f"{name} {setting} {dtype}: code {there.code}, flash {there.flash}, stack"
            f" {there.stack} bytes; decide {there.decide:,}, learn {there.learn:,} instructions"
        )


def test_a_fused_build_is_found_out(tmp_path):
    """The control: an M4F that contracts a * b + c is not the host, and the self-test says so."""
    on = board("M4F")
    learner = Standardized(learner=StreamSVM()).allocate(9, classes=[0, 1])
    samples = scaled()
    guard = '#pragma GCC optimize("fp-contract=off")'
    there = run(learner, on, tmp_path, samples, flags="-Os -ffp-contract=fast", without=guard)
    run_here(learner, *samples)
    assert not there.self_test
    assert there.arena != bytes(learner.arena)
    check(learner.reset(), on, tmp_path, samples, flags="-Os -ffp-contract=fast")
