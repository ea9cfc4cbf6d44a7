"""InOrder: what follows, what is missing, what came late, also over the end of the numbers."""

import numpy as np
import pytest

from edgesvm import Chain, WindowFeatures
from edgesvm.errors import SampleRefused
from edgesvm.preprocessing.in_order import InOrder


def places(*sequences, follow=None):
    told = []
    follow = follow or InOrder(lambda x, y: told.append("next"), lambda: told.append("gap"))
    follow._push, follow._gap = lambda x, y: told.append("next"), lambda: told.append("gap")
    for one in sequences:
        late = follow.late
        follow.push(one, None)
        told += ["late"] * (follow.late - late)
    return " ".join(told).replace("gap next", "gap").split(), follow


def test_numbers_that_follow_that_jump_and_that_come_late():
    told, follow = places(7, 8, 9, 11, 10, 12, 12 + 63, 12, 13)
    assert told == ["gap", "next", "next", "gap", "late", "next", "gap", "late", "late"]
    assert (follow.gaps, follow.late, follow.pushed) == (3, 3, 6)


def test_the_numbers_wrap_and_a_node_that_counts_anew_is_a_gap():
    end = 2**32
    assert places(end - 2, end - 1, 0, 1, end - 1)[0] == ["gap", "next", "next", "next", "late"]
    assert places(500, 0, 1)[0] == ["gap", "gap", "next"]


def test_a_sample_that_could_not_be_used_leaves_a_gap():
    windows = Chain(windows=WindowFeatures(window=4, hop=4)).allocate(n_channels=1)
    follow = InOrder(windows.push, windows.gap)
    follow.push(1, np.ones(1, "f4"))
    with pytest.raises(SampleRefused):
        follow.push(2, np.float32([np.nan]))
    assert (follow.pushed, follow.refused, windows.windows_.n_dropped_) == (1, 1, 1)
    assert places(1, 3, 4, follow=follow)[0] == ["late", "gap", "next"]
    follow.begin_again()
    assert places(3, 4, follow=follow)[0] == ["gap", "next"]
