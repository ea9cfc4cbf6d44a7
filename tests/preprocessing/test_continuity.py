"""Continuity: what follows, what is missing, what came late, also over the end of the numbers."""

from edgesvm.preprocessing.in_order import Continuity


def places(*sequences):
    follow = Continuity()
    return [follow.place(one) for one in sequences], follow


def test_numbers_that_follow_that_jump_and_that_come_late():
    told, follow = places(7, 8, 9, 11, 10, 12, 12 + 63, 12, 13)
    assert told == ["gap", "next", "next", "gap", "late", "next", "gap", "late", "late"]
    assert (follow.gaps, follow.late) == (3, 3)


def test_the_numbers_wrap_and_a_node_that_counts_anew_is_a_gap():
    end = 2**32
    assert places(end - 2, end - 1, 0, 1, end - 1)[0] == ["gap", "next", "next", "next", "late"]
    assert places(500, 0, 1)[0] == ["gap", "gap", "next"]


def test_a_sample_that_could_not_be_used_leaves_a_gap():
    follow = places(1, 2)[1]
    follow.broken()
    assert [follow.place(1), follow.place(3), follow.place(4)] == ["late", "gap", "next"]
    follow.forget()
    assert [follow.place(3), follow.place(4)] == ["gap", "next"]
