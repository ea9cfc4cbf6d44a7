"""The ledger counts what runs, and nothing else; and its comparison finds what moved."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.instructions import LEDGER, check, read  # noqa: E402
from benchmarks.ledger.compare import absent, moves, other_kind  # noqa: E402
from benchmarks.ledger.counter import counts_of, missing, start  # noqa: E402

COUNT = """
import json, sys, time
from pathlib import Path
import numpy as np
from benchmarks.ledger.counter import Counter
from benchmarks.ledger.entry_points import over
from edgesvm import StreamSVM

X = np.random.default_rng(0).standard_normal((128, 784)).astype(np.float32)
ask = StreamSVM().partial_fit(X, np.arange(128) % 2).predict_one
count = Counter(Path(sys.argv[1]))
once = count.per_sample("once", lambda n: over(ask, list(X.copy())[:n]), 64)
again = count.per_sample("again", lambda n: over(ask, list(X.copy())[:n]), 64)
twice = count.per_sample("twice", lambda n: over(ask, [x for x in X.copy()[:n] for _ in "ab"]), 64)
clock = [time.monotonic_ns() for _ in range(2)]
print(json.dumps([once, again, twice, clock[1] - clock[0]]))
"""


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_twice_the_work_is_twice_the_cost(tmp_path):
    with start(["-c", COUNT, str(tmp_path)], tmp_path) as child:
        once, again, twice, nanoseconds = json.loads(child.stdout.read())
    assert nanoseconds == 1000  # blocks of rows, whose size the clock decides, are always the same
    assert once[0] > 784  # at least a load for every 16 bytes, an addition, ...
    assert again[0] == pytest.approx(once[0], rel=1e-2)
    assert twice[0] == pytest.approx(2 * once[0], rel=1e-2)
    rows = 784 * 4 / 64  # lines, which no cache holds yet; asked again, the first one does
    for lines in (*once[1:], *twice[1:]):
        assert rows < lines < 1.2 * rows
    before, now = ledger(one=once), ledger(one=twice)
    assert [move.what for move in moves(before, now)] == ["instructions"]
    assert not list(tmp_path.glob("dump.*"))


def ledger(**entry_points):
    names = ("instructions", "d1_lines", "ll_lines")
    return {name: dict(zip(names, counts, strict=True)) for name, counts in entry_points.items()}


def test_what_moved():
    before = ledger(
        a=(10000, 100, 50), b=(10000, 1, 200), c=(1000, 1, 1), d=(1e6, 1, 50), gone=(1, 1, 1)
    )
    now = ledger(
        a=(10210, 98, 51), b=(10190, 9, 230), c=(1035, 1.5, 0), d=(1e6, 1, 240), new=(1, 1, 1)
    )
    found = moves(before, now)
    assert [(m.entry_point, m.what) for m in found] == [
        ("a", "instructions"),  # 2.1 %
        ("b", "ll_lines"),  # 15 %; 1.9 % of its instructions
    ]  # 3.5 % of c, which is 35 instructions, is not; nor half a line
    assert str(found[0]) == "a: instructions 10,000.0 -> 10,210.0 (+2.1 %)"
    assert absent(before, now) == ["gone"]
    assert absent(now, before) == ["new"]


def test_the_exit_code_tells_what_was_found(capsys):
    held = read()
    facts, entries = held["measured"], held["entries"]
    name = next(iter(entries))
    assert check(facts, entries, []) == 0
    dearer = entries | {name: entries[name] | {"instructions": 2 * entries[name]["instructions"]}}
    assert check(facts, dearer, []) == 1
    assert f"{name}: instructions" in capsys.readouterr().out
    assert check(facts, {k: v for k, v in entries.items() if k != name}, []) == 1
    assert f"{name}: gone" in capsys.readouterr().out
    assert check(facts | {"compiler": "another"}, entries, []) == 2
    assert "compiler: " in capsys.readouterr().out


def test_other_kinds_of_builds():
    facts = read()["measured"]
    assert other_kind(facts, facts | {"commit": "another"}) == []
    assert other_kind(facts, facts | {"NumPy": "1.0"}) == [
        f"NumPy: {facts['NumPy']} in the ledger, 1.0 here"
    ]


def test_zeros_at_the_end_of_a_dump_are_not_written():
    dump = "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n\nfn=(1)\ntotals: 9 5 4 3 2 1\n"
    assert counts_of(dump) == (9, 3, 0)


def test_the_ledger_has_every_entry_point():
    from benchmarks.ledger.entry_points import entry_points

    assert [entry_point.name for entry_point in entry_points()] == list(
        json.loads(LEDGER.read_text())["entries"]
    )
