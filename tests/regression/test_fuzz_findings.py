"""What `make fuzz` has found, a file each: the target must hold of it from then on."""

import sys
from pathlib import Path

import numpy as np
import pytest

from edgesvm.errors import SampleRefused
from edgesvm.persist.store import restore

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "fuzz"))
import targets  # noqa: E402

FINDINGS = sorted(HERE.glob("*.bin"))


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda path: path.stem)
def test_the_target_holds_of_what_once_broke_it(finding):
    targets.TARGETS[finding.stem.split("_")[0]](finding.read_bytes())


def test_a_snapshot_of_finite_numbers_too_large_to_sum_refuses_samples():
    """Hostile, with a right CRC: no infinite score comes out of it, and nothing is learned."""
    data = (HERE / "snapshot_too_large_to_sum.bin").read_bytes()
    for file in (data, targets.seal(data)):
        try:
            learner = restore(file)
        except ValueError:
            continue
        break
    else:
        pytest.fail("neither form of the finding is a snapshot any more")
    x = np.full(learner.n_features_in_, 0.25, learner.dtype)
    before = learner.n_seen_
    with pytest.raises(SampleRefused):
        learner.decision_one(x)
    assert learner.n_seen_ == before
