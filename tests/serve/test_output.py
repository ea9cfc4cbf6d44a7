"""One sink and its thread: what it lost is counted, and it holds nobody up."""

import json
import threading

from allocations import hook_calls
from each import each
from outgoing import answers, output, until, write

from edgesvm.serve.outputs import output as module
from edgesvm.serve.outputs.sink import Sink


class Place(Sink):
    """Takes as many lines at a time as it is told, each number once; fails at others."""

    name = "place"

    def __init__(self, takes=10**9, fails=(), error=None):
        self.takes, self.fails, self.got, self.calls = takes, set(fails), [], 0
        self.opened = self.closed = 0
        self.error = error or OSError("full")

    def open(self):
        self.opened += 1

    def send(self, lines):
        self.calls += 1
        if self.calls in self.fails:
            raise self.error
        numbers = [json.loads(line.text)["sequence"] for line in lines[: self.takes]]
        self.got += numbers
        return len(numbers)

    def close(self, seconds):
        self.closed += 1


class Stuck(Place):
    """Never comes back from its first line."""

    def __init__(self):
        super().__init__()
        self.entered, self.leave = threading.Event(), threading.Event()

    def send(self, lines):
        self.entered.set()
        self.leave.wait()
        return 0


def test_each_answer_goes_out_once_and_in_order_however_many_are_taken():
    for takes in (1, 7, 1000):
        sink, journal = Place(takes), answers(300, 1000)
        with output(sink, journal) as out:
            assert until(lambda out=out: out.sent == 300)
            write(journal, 50)
        assert sink.got == list(range(350)) and out.lost == out.failed == 0
        assert sink.opened == sink.closed == 1


@each(
    "error, cause",
    [
        (OSError("full"), "full"),
        (ValueError("too long"), "ValueError('too long')"),
        (RuntimeError(), "RuntimeError()"),
        (KeyError("port"), "KeyError('port')"),
    ],
)
def test_a_sink_that_fails_goes_on_with_the_line_that_failed(error, cause, monkeypatch):
    monkeypatch.setattr(module, "PAUSE_FIRST_S", 0.001)
    monkeypatch.setattr(module, "BATCH", 10)
    said, sink, journal = [], Place(fails={1, 3, 4, 8}, error=error), answers(100)
    with output(sink, journal, report=said.append) as out:
        assert until(lambda: out.sent == 100)
    assert sink.got == list(range(100)) and out.failed == 4
    assert sink.opened == sink.closed == 5
    assert len(said) == 2, said  # not at each failure
    assert f"place: {cause};" in said[0] and out.counters()["cause"] == cause
    assert "works again; 0 answers lost" in said[1]


def test_what_is_not_wanted_is_no_loss():
    sink, journal = Place(), answers(100)
    with output(sink, journal, every=8) as out:
        assert until(lambda: out.sent + out.skipped == 100)
    assert sink.got == list(range(0, 100, 8)) and (out.sent, out.skipped, out.lost) == (13, 87, 0)


def test_a_sink_that_takes_nothing_loses_the_oldest(monkeypatch):
    monkeypatch.setattr(module, "FLUSH_S", 0.1)
    sink, journal = Place(takes=0), answers(10)
    with output(sink, journal) as out:
        assert until(lambda: sink.calls > 1)
        write(journal, 1000)
        assert until(lambda: out.lost == 1000)
        sink.takes = 3
        assert until(lambda: out.sent == 10)
        sink.takes = 0
        write(journal, 4)
    assert sink.got == list(range(1000, 1010)) and out.lost == 1004


def test_a_sink_that_hangs_for_good_is_left_behind(monkeypatch):
    monkeypatch.setattr(module, "FLUSH_S", 0.1)
    monkeypatch.setattr(module, "LATE_S", 0.0)
    sink, journal = Stuck(), answers(1, 64)
    with output(sink, journal) as out:
        assert sink.entered.wait(60)
        write(journal, 5000)
    assert (out.sent, out.lost) == (0, 5001)
    sink.leave.set()
    out._thread.join(60)
    assert not out._thread.is_alive() and sink.closed == 1


def test_a_sink_that_is_away_at_the_end_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(module, "FLUSH_S", 3600.0)

    class Away(Place):
        def open(self):
            raise ConnectionRefusedError("nobody there")

    with output(Away(), answers(5)) as out:
        assert until(lambda: out.failed)
    assert out.lost == 5 and not out._thread.is_alive()


SETUP = """
import threading
import numpy as np
from outgoing import until
from edgesvm.serve.journal import Journal
from edgesvm.serve.outputs.lines import When
from edgesvm.serve.outputs.output import Output
from edgesvm.serve.outputs.sink import Sink

class Stuck(Sink):
    name = "stuck"
    def __init__(self):
        self.entered, self.held = False, threading.Lock()
        self.held.acquire()
    def open(self):
        pass
    def send(self, lines):
        self.entered = True
        self.held.acquire()  # for ever, and no allocation of this thread is counted
    def close(self, seconds):
        pass

def writer(journal):
    def add(x):
        journal.add(7, predicted=1, score=0.5, flags=2, label=None, x=x)
    return add

attached = Journal(3, 64)
alone, watched, sink = writer(Journal(3, 64)), writer(attached), Stuck()
Output(sink, {"p": attached}, When(1), report=print)
rows = [np.zeros(3, np.float32) for _ in range(50)]
watched(rows[0])  # after as many answers both count alike
alone(rows[0])
assert until(lambda: sink.entered)
cases = {"alone": (alone, (rows,)), "with a sink": (watched, (rows,))}
"""


def test_a_sink_costs_the_one_who_writes_no_allocator_call(n=100_000):
    calls = hook_calls(SETUP, n)
    taken, freed = calls["alone"].excess
    assert calls["with a sink"].excess == (taken, freed)
    assert taken == freed <= 3 * n  # the integers of Python; nothing is kept
