"""What `make fuzz` has found, a file each: the target must hold of it from then on."""

import sys
from pathlib import Path

import pytest

from edgesvm.errors import CorruptModelError
from edgesvm.persist.store import restore

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "fuzz"))
import targets  # noqa: E402

FINDINGS = sorted(HERE.glob("*.bin"))


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda path: path.stem)
def test_the_target_holds_of_what_once_broke_it(finding):
    targets.TARGETS[finding.stem.split("_")[0]](finding.read_bytes())


def test_a_snapshot_of_finite_numbers_too_large_to_sum_is_refused():
    """Hostile, with a right CRC: it answered no sample, and is now told at once."""
    data = (HERE / "snapshot_too_large_to_sum.bin").read_bytes()
    with pytest.raises(CorruptModelError, match="squared length is out of range"):
        restore(targets.seal(data))
