import threading

import numpy as np
import pytest

from edgesvm.serve.journal import Journal


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


def test_the_newest_entry_of_a_number_is_found_and_labelled():
    journal = Journal(1, capacity=4)
    for number in [7, 8, 7, 9, 8, 3]:
        write_one(journal, number)
    found = [journal.find(number) for number in (7, 8, 9, 3, 5)]
    assert found == [2, 4, 3, 5, None]
    journal.label(4, -2)
    entries, lost = journal.since(0)
    assert lost == 2 and entries["sequence"].tolist() == [7, 9, 8, 3]
    assert entries["has_label"].tolist() == [False, False, True, False]
    assert journal.entry(4)["label"] == entries["label"][2] == -2
    write_one(journal, 1)
    assert journal.find(7) is None and Journal(1).find(0) is None


def write_one(journal, number):
    journal.add(number, predicted=None, score=0.0, flags=0, label=None, x=np.zeros(1))
