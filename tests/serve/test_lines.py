"""What a line holds, and which answers are wanted."""

import json

import numpy as np
import pytest

from edgesvm.link.wire import ABSTAIN, ALARM, REJECTED, TRAINED
from edgesvm.serve.journal import Journal
from edgesvm.serve.outputs.lines import When, line
from edgesvm.serve.remarks import FIRST_BIT, KEYS


def told(names=(), **fields):
    journal = Journal(1, clock=lambda: 12.3456)
    journal.names = names
    answer = {"predicted": None, "score": 0.0, "flags": 0, "label": None, "x": np.zeros(1)}
    journal.add(9, **{**answer, **fields})
    (entry,), _ = journal.since(0)
    text = line("/dev/p", journal, entry).text
    assert "\n" not in text
    return json.loads(text, parse_constant=pytest.fail)


def test_a_line_has_the_prediction_the_flags_by_name_and_the_label_that_came():
    assert told(predicted=-2, score=1.5, flags=TRAINED | ALARM, label=0) == {
        "time": 12.346,
        "port": "/dev/p",
        "sequence": 9,
        "predicted": -2,
        "score": 1.5,
        "abstained": False,
        "trained": True,
        "rejected": False,
        "alarm": True,
        "label": 0,
        "remarks": [],
    }
    none = told(flags=ABSTAIN | REJECTED, score=float("nan"))
    assert none["predicted"] is none["label"] is none["score"] is None
    assert none["abstained"] and none["rejected"] and not none["trained"] and not none["alarm"]
    noted = told(flags=TRAINED | 1 << FIRST_BIT | 2 << FIRST_BIT)
    assert noted["remarks"] == list(KEYS[:2]) and noted["trained"] and not noted["alarm"]


def test_labels_are_the_words_that_they_stand_for():
    said = told(["fine", "worn"], predicted=1, label=0)
    assert (said["predicted"], said["label"]) == ("worn", "fine")


def test_which_are_wanted_does_not_depend_on_how_the_journal_is_cut():
    rng = np.random.default_rng(0)
    journal, expected = Journal(1, 200), {1: [], 7: [], None: []}
    before = None
    for n in range(200):
        predicted = None if rng.random() < 0.1 else int(rng.random() < 0.1)
        flags = int(rng.choice([0, TRAINED, ALARM, ALARM | TRAINED], p=[0.45, 0.45, 0.05, 0.05]))
        flags |= (n // 60 % 2) << FIRST_BIT  # a remark that comes and goes
        journal.add(n, predicted=predicted, score=0.0, flags=flags, label=None, x=np.zeros(1))
        now = (predicted, flags & (ALARM | 1 << FIRST_BIT))
        alarm = before is not None and now[1] != before[1]
        expected[1].append(n)
        expected[7] += [n] if alarm or n % 7 == 0 else []
        expected[None] += [n] if before != now else []
        before = now
    entries, _ = journal.since(0)
    for every, numbers in expected.items():
        for step in (1, 3, 200):
            found = []
            for first in range(0, 200, step):
                cut = entries[first : first + step]
                last = entries[first - 1] if first else None
                found += (first + When(every).wanted(cut, first, last)).tolist()
            assert found == numbers, (every, step)
