"""ByteSVM on microcontrollers, an ATmega328P with 2 KiB of RAM among them: the host's bytes."""

import numpy as np
import pytest
from each import each
from on_boards import board
from test_byte import trying

from edgesvm import ByteSVM
from edgesvm.export.boards import BOARDS
from edgesvm.persist.format import pack
from rig.boards import BOARDS as EMULATED
from rig.boards import compare, run


def check(n_bytes, name, folder, samples):
    """The same samples here and there; what came out of the board."""
    folder.mkdir(exist_ok=True)
    learner = ByteSVM(n_bytes=n_bytes).allocate(9, classes=[0, 1])
    there = run(learner, board(name), folder, samples, stack=1536, flags="-Os -DSNAPSHOT")
    assert compare(learner, there, samples) == (len(samples[0]), [])
    assert (folder / "snapshot.bin").read_bytes() == pack(learner.snapshot())
    return there


def usual(n):
    """Samples as a sensor's, of two classes that overlap."""
    rng = np.random.default_rng(0)
    slots = (rng.random(n) < 0.5).astype(np.int8)
    X = rng.standard_normal((n, 9)) + 1
    X[:, :3] += 2.0 * slots[:, None]
    return X.astype(np.float32), slots, np.ones(n)


@pytest.mark.timeout(600)
def test_an_uno_learns_a_kib_in_its_two(tmp_path):
    there = check(1024, "uno", tmp_path, trying(150, 9, 2))
    assert there.flash <= 26 << 10
    assert there.ram + there.stack <= BOARDS["uno"].ram


@each("name", EMULATED)
def test_a_board_learns_as_the_host(name, tmp_path):
    check(1024, name, tmp_path, trying(150, 9, 2))


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "name, n_bytes", [("uno", 1024), *((n, b) for n in EMULATED for b in (1024, 2048))]
)
def test_ten_thousand_hard_samples(name, n_bytes, tmp_path):
    there = check(n_bytes, name, tmp_path / "hard", trying(10_000, 9, 2))
    often = check(n_bytes, name, tmp_path / "usual", usual(2000))
    what = "cycles" if name == "uno" else "instructions"
    print(
        f"\n{name} ByteSVM of {n_bytes}: flash {there.flash}, RAM {there.ram}, stack {there.stack}"
        f" bytes; {what} to decide {often.decide:,}, to learn {often.learn:,}; of hard samples"
        f" {there.decide:,}, {there.learn:,}"
    )
