"""On microcontrollers: the same bytes as on the host, in the RAM and with the work promised.

Under QEMU, with compilers and machines of the system's packages; ``make mcu`` needs them, elsewhere
what is missing is a reason to skip.
"""

import re
import subprocess

import numpy as np
import pytest
from each import each
from exported import SETTINGS
from on_boards import board
from test_byte import trying

from edgesvm import (
    LASVM,
    AdaGradSVR,
    BallVectorMachine,
    BatchSVM,
    ByteSVM,
    FourierSVR,
    KernelNovelty,
    KernelStreamSVM,
    Standardized,
    StreamSVM,
    TwinVectorMachine,
)
from edgesvm.data import Checkerboard
from edgesvm.export import boards
from edgesvm.export.folder import export
from edgesvm.persist.format import pack
from rig.boards import (
    BOARDS,
    STRICT,
    build,
    compare,
    hard_samples,
    run,
    run_here,
    sections,
    write,
)

N = 200


def check(learner, on, folder, samples, **options):
    """Run the same samples here and there; what came out of the board."""
    folder.mkdir(exist_ok=True)
    there = run(learner, on, folder, samples, **options)
    assert compare(learner, there, samples) == (len(samples[0]), [])
    return there


def scaled(n=400, n_features=9):
    """Samples as a sensor's: of no extreme size, and most of them add nothing new."""
    rng = np.random.default_rng(0)
    slots = (rng.random(n) < 0.5).astype(np.int8)
    X = rng.standard_normal((n, n_features)) + 1
    X[:, :3] += 2.0 * slots[:, None]
    return X.astype(np.float32), slots, np.ones(n)


def test_an_m3_learns_as_the_host_within_its_limits(tmp_path):
    learner = Standardized(learner=StreamSVM(C=10.0)).allocate(9, classes=[0, 1])
    m3 = check(learner, board("M3"), tmp_path, scaled())
    assert m3.code <= 4 << 10
    assert m3.stack <= 512
    assert 0 < m3.decide < m3.learn <= 22_000


def byte_svm(n_bytes):
    return ByteSVM(n_bytes=n_bytes).allocate(9, classes=[0, 1])


def regressor(n_bytes):
    """A standardized one of so many bytes; of none, the linear one."""
    if n_bytes:
        whole = Standardized(learner=FourierSVR(), missing="mean")
        return whole.fitted_into(n_bytes, 9).allocate(9)
    return Standardized(learner=AdaGradSVR()).allocate(9)


@pytest.mark.timeout(600)
@each("name", [*BOARDS, "uno"])
def test_a_kib_of_integers_learns_as_the_host(name, tmp_path):
    learner, flags = byte_svm(1024), "-Os -DSNAPSHOT"
    samples = trying(150, 9, 2)
    there = check(learner, board(name), tmp_path, samples, stack=1536, flags=flags)
    assert (tmp_path / "snapshot.bin").read_bytes() == pack(learner.snapshot())
    if name == "uno":
        assert there.flash <= 27 << 10  # of 31.5 KiB
        assert there.ram + there.stack <= boards.BOARDS["uno"].ram


@each("name, most", [("M0", 1_400_000), ("M3", 600_000)])
def test_a_board_forecasts_as_the_host(name, most, tmp_path):
    samples = hard_samples(150, 9, np.float32, 3, None)
    there = check(regressor(2048), board(name), tmp_path, samples, stack=2048)
    assert there.flash <= 28 << 10 and there.ram <= 2400
    assert 0 < there.decide < there.learn < most


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "make, name, n_bytes",
    [
        (byte_svm, "uno", 1024),
        *((byte_svm, name, n_bytes) for name in BOARDS for n_bytes in (1024, 2048)),
        *((regressor, name, n_bytes) for name in ("M0", "M3") for n_bytes in (0, 2048, 8192)),
    ],
)
def test_ten_thousand_hard_samples(make, name, n_bytes, tmp_path):
    """And the cost of usual ones, which docs/notes/export.md has."""
    hard, usual, options = trying(10_000, 9, 2), scaled(2000), {"stack": 1536}
    if make is regressor:
        hard, (X, _, weights) = hard_samples(10_000, 9, np.float32, 3, None), scaled()
        y = (np.sin(X[:, 0]) * X[:, 1] + X[:, 2]).astype(float)
        usual, options = (X, y, weights), {"stack": 2048}
    check(make(n_bytes), board(name), tmp_path / "hard", hard, **options)
    there = check(make(n_bytes), board(name), tmp_path / "usual", usual, **options)
    print(
        f"\n{name} {make.__name__} {n_bytes}: flash {there.flash}, RAM {there.ram}, stack"
        f" {there.stack} bytes; to decide {there.decide:,}, to learn {there.learn:,}"
    )


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


@pytest.mark.parametrize("name", BOARDS)
def test_every_board_compiles_every_file_strictly(name, tmp_path):
    on = board(name)
    make, n_features, classes = SETTINGS["scaled stream"]
    write(make("float32").allocate(n_features, classes=classes), tmp_path)
    for source in sorted(tmp_path.rglob("*.c")):
        flags = [*on.compiler.split(), *STRICT, "-Os", f"-I{tmp_path}", "-c", source]
        subprocess.run([*flags, "-o", source.with_suffix(".o")], check=True)


def test_what_does_not_fit_fails_when_linked(tmp_path):
    on = board("M3")
    learner = Standardized(learner=StreamSVM()).allocate(3400, classes=[0, 1])
    assert learner.nbytes > on.ram
    with pytest.raises(subprocess.CalledProcessError) as refused:
        build(learner, on, tmp_path)
    assert b"overflowed" in refused.value.stderr


def test_one_array_more_than_its_ram_fails_when_linked(tmp_path):
    """A model's RAM, filled to its last byte by an array of the program, and by one byte more."""
    on, learner = board("M3"), KernelNovelty(max_vectors=40).allocate(7)
    parts = sections(on, build(learner, on, tmp_path, stack=4 << 10, flags="-Os -DMORE=8"))
    room = on.ram - sum(parts[name] for name in (".data", ".bss", ".stack"))
    build(learner, on, tmp_path, stack=4 << 10, flags=f"-Os -DMORE={8 + room}")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        build(learner, on, tmp_path, stack=4 << 10, flags=f"-Os -DMORE={8 + room + 1}")
    assert b"overflowed" in refused.value.stderr


@pytest.mark.parametrize("name", BOARDS)
def test_an_access_outside_of_memory_is_found_out(name, tmp_path):
    on, learner = board(name), StreamSVM().allocate(2, classes=[0, 1])
    with pytest.raises(RuntimeError, match="guest errors"):
        run(learner, on, tmp_path, scaled(5, 2), flags="-Os -DBEYOND=0x90000000")


def test_the_self_test_finds_a_library_that_rounds_wrongly(tmp_path):
    """libgcc's sums for ARM do; soft.c has others."""
    learner = StreamSVM().allocate(2, classes=[0, 1])
    samples = scaled(20, 2)
    theirs = run(learner, board("M3"), tmp_path, samples, flags="-Os -DESVM_LIBRARY_SUMS")
    assert not theirs.self_test


# float64 on one processor without double and on one with it
CASES = [(name, "float32") for name in BOARDS] + [("M3", "float64"), ("M7", "float64")]


@pytest.fixture(scope="module")
def table():
    """Instructions a sample, by learner and board; printed at the end."""
    counted = {}
    yield counted
    lines = ["", f"{'decide/learn, in thousands':34}" + "".join(f"{name:>18}" for name in BOARDS)]
    for setting in SETTINGS:
        found = [counted.get((setting, name), "-") for name in BOARDS]
        lines.append(f"{setting:34}" + "".join(f"{what:>18}" for what in found))
    print("\n".join(lines))


@pytest.mark.long
@pytest.mark.parametrize("name, dtype", CASES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_board_learns_as_the_host(setting, name, dtype, tmp_path, table):
    on = board(name)
    make, n_features, classes = SETTINGS[setting]
    learner = make(dtype).allocate(n_features, classes=classes)
    stack = 5 << 10
    samples = hard_samples(N, n_features, learner.dtype, 0, classes)  # ByteSVM has one
    try:
        there = check(learner, on, tmp_path, samples, stack=stack)
    except subprocess.CalledProcessError as refused:
        assert b"region `RAM' overflowed" in (refused.stderr or b"")
        pytest.skip(f"no room for {learner.nbytes} bytes and a stack of {stack} in {on.ram}")
    if dtype == "float32":
        table[setting, name] = f"{there.decide / 1e3:,.1f}/{there.learn / 1e3:,.1f}"
    print(
        f"{name} {setting} {dtype}: arena {learner.nbytes}, code {there.code}, flash"
        f" {there.flash}, stack {there.stack} bytes; decide {there.decide:,}, learn"
        f" {there.learn:,} instructions"
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
