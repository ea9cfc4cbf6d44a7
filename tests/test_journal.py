import threading

import numpy as np
import pytest

from edgesvm.journal import Journal


def write(journal, number):
    journal.add(
        number, predicted=number, score=number / 2, flags=1, label=None, x=np.full(3, number)
    )


def test_a_reader_gets_each_entry_once_and_learns_what_it_lost():
    journal, place, read, lost = Journal(3, capacity=5), 0, [], 0
    for n_new in [0, 1, 4, 5, 6, 17, 2, 0]:
        for _ in range(n_new):
            write(journal, journal.written)
        entries, missed = journal.since(place)
        place += missed + len(entries)
        assert place == journal.written and missed == max(0, n_new - 5)
        read += entries["sequence"].tolist()
        lost += missed
        np.testing.assert_array_equal(entries["x"][:, 0], entries["sequence"])
    assert len(read) + lost == 35 and read == sorted(set(read)) and read[-1] == 34


def test_a_prediction_and_a_label_may_be_missing():
    journal = Journal(1)
    journal.add(3, predicted=None, score=0.0, flags=2, label=-4, x=np.ones(1))
    (entry,), _ = journal.since(0)
    assert not entry["has_prediction"] and entry["has_label"] and entry["label"] == -4


def test_a_reader_in_another_thread_never_sees_half_an_entry():
    journal, torn, done = Journal(64, capacity=3), [], threading.Event()

    def read():
        place = 0
        while not done.is_set():
            entries, lost = journal.since(place)
            place += lost + len(entries)
            same = (entries["x"] == entries["sequence"][:, None]).all(axis=1)
            torn.extend(entries[~same | (entries["score"] != entries["sequence"] / 2)])

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(20_000):
        journal.add(
            number, predicted=1, score=number / 2, flags=0, label=1, x=np.full(64, number, "f4")
        )
    done.set()
    reader.join(60)
    assert not torn and not reader.is_alive()


def test_a_row_of_another_width_is_an_error():
    with pytest.raises(ValueError, match="broadcast"):
        Journal(3).add(0, predicted=1, score=0.0, flags=0, label=None, x=np.zeros(4))
