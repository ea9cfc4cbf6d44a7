"""A cache of rows: whose goes, what stays when slots are cut, and that it agrees with a dict."""

import numpy as np
from each import each

from edgesvm.core.views import RowCacheView


def numbers(i, n):
    """Example i's row, its columns named by their number."""
    return [1000 * (i + 1) + t for t in range(n)]


def test_a_slot_is_whole_tiles():
    assert RowCacheView(100, 9, 17).counts == (32, 3, 0, 0)
    assert RowCacheView(96, 2, 32).counts == (32, 2, 0, 0)  # no more slots than examples


def test_the_row_not_asked_for_longest_goes():
    cache = RowCacheView(3 * 16, 8, 5)
    for i in (0, 1, 2, 0):
        cache.ask(i, numbers(i, 5))
    assert cache.ask(3, numbers(3, 5)) == 0
    assert cache.rows() == {i: numbers(i, 5) for i in (0, 2, 3)}
    assert cache.counts == (16, 3, 3, 4)


def test_what_is_there_is_not_asked_for_again():
    cache = RowCacheView(64, 8, 16)
    assert cache.ask(4, numbers(4, 6)) == 0
    assert cache.ask(4, numbers(4, 11)) == 6
    assert cache.ask(4, numbers(4, 3)) == 11
    assert cache.rows() == {4: numbers(4, 11)} and cache.counts[3] == 1


def test_shorter_slots_are_more_and_keep_their_rows():
    cache = RowCacheView(4 * 32, 8, 32)
    for i in range(4):
        cache.ask(i, numbers(i, 20 + i))
    cache.cut(16)
    assert cache.rows() == {i: numbers(i, 16) for i in range(4)}
    assert cache.counts[:3] == (16, 8, 4)


def test_longer_slots_are_fewer_and_the_last_go():
    cache = RowCacheView(4 * 16, 8, 16)
    for i in range(4):
        cache.ask(i, numbers(i, 10 + i))
    cache.cut(25)
    assert cache.rows() == {i: numbers(i, 10 + i) for i in range(2)}
    assert cache.counts[:3] == (32, 2, 2)


def test_examples_that_change_places():
    cache = RowCacheView(64, 8, 16)
    cache.ask(1, numbers(1, 8))
    cache.ask(2, numbers(2, 4))
    cache.swap(1, 6)
    moved = numbers(1, 8)
    moved[1], moved[6] = moved[6], moved[1]
    assert cache.rows() == {6: moved, 2: numbers(2, 1)}


@each("seed", range(8))
def test_as_a_dict(seed):
    """Any sequence of calls: a row is what was put there, an invariant at a time."""
    rng = np.random.default_rng(seed)
    n, n_floats, length = 40, 16 * 12, 16
    cache, model, asked = RowCacheView(n_floats, n, length), {}, []
    for _ in range(600):
        if rng.random() < 0.05:
            length = int(rng.integers(1, 90))
            cache.cut(length)
            there = cache.rows()
            assert all(row == model[i][: len(row)] for i, row in there.items())
            model = {i: model[i][: len(there[i])] for i in there}
        i, filled = int(rng.integers(n)), int(rng.integers(1, length + 1))
        known = len(model.get(i, []))
        if i not in model and len(model) == cache.counts[1]:
            del model[min(model, key=lambda j: len(asked) - asked[::-1].index(j))]
        assert cache.ask(i, numbers(i, filled)) == known
        model[i] = numbers(i, max(known, filled))
        asked.append(i)
        assert cache.rows() == model
        stride, n_slots, n_used, _ = cache.counts
        assert n_used == len(model) <= n_slots and n_slots * stride <= n_floats
        slot, owner = cache.arrays["slot"], cache.arrays["owner"]
        assert all(slot[owner[k]] == k + 1 for k in range(n_used))
        assert np.count_nonzero(slot) == n_used


def test_wiping_leaves_nothing():
    cache = RowCacheView(200, 6, 40)
    for length in (40, 10, 64):
        cache.cut(length)
        for i in range(6):
            cache.ask(i, numbers(i, length))
    cache.wipe()
    assert not any(array.any() for array in cache.arrays.values())
