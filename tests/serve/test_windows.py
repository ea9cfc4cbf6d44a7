"""The main job with raw samples: the answers of ``Chain.push``, whatever happens on the link."""

import sys

import numpy as np
import pytest
from allocations import count, hooks
from fake_port import Clock, FakePort, Node, connect, text_link
from hypothesis import given, settings
from hypothesis import strategies as st

from edgesvm import Calibrated, Chain, Standardized, StreamSVM, WindowFeatures, load
from edgesvm.link import open_link, wire
from edgesvm.link.wire import ABSTAIN, REJECTED, TRAINED
from edgesvm.serve.taught import taught

WINDOW, HOP = 8, 3


def chain(**windows):
    cut = WindowFeatures(**{"window": WINDOW, "hop": HOP, **windows})
    return Chain(windows=cut, learner=Standardized(learner=StreamSVM())).allocate(2)


def samples(n, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.integers(0, 2, n // 20 + 1), 20)[:n]
    return (rng.standard_normal((n, 2)) * (1 + 3 * y[:, None])).astype(np.float32), y.tolist()


class ByHand:
    """What `Chain.push` answers to the samples that arrive, each with its number."""

    def __init__(self):
        self.chain = chain()
        self.due, self.answers, self.rejected = None, [], []

    def take(self, sequence, x, label):
        if self.due is not None and sequence < self.due:
            return
        if sequence != self.due:
            self.chain.gap()
        self.due = sequence + 1
        if not np.abs(x).max() < 1e15:
            self.rejected.append(sequence)
            self.chain.gap()
            return
        seen = self.chain.learner_.n_seen_
        answer = self.chain.push(np.array(x, np.float32), label)
        if answer is not None:
            learned = self.chain.learner_.n_seen_ > seen
            predicted, score = answer
            flags = ABSTAIN * (predicted is None) | TRAINED * learned
            self.answers.append((sequence, predicted or 0, np.float32(score), flags))


def drained(runner, port):
    while port.inbox:
        runner.step(0.0)
    runner.step(0.0)
    assert runner.check_identities() == []
    return runner


def answered(node):
    told = [wire.Prediction.unpack(frame.body) for frame in node.kinds(wire.PREDICTION)]
    return (
        [(p.sequence, p.label, np.float32(p.score), p.flags) for p in told if p.flags != REJECTED],
        [p.sequence for p in told if p.flags == REJECTED],
    )


FATES = ("fine", "lost", "damaged", "twice", "swapped", "nan", "huge", "unlabelled", "weightless")


def on_the_wire(node, fates):
    """The bytes of frames, and what arrives of them, in order: number, values and label."""
    X, y = samples(len(fates))
    stream, arrived, held = b"", [], []
    for n, fate in enumerate(fates):
        x, label = X[n].tolist(), None if fate == "unlabelled" else y[n]
        x[0] = {"nan": np.nan, "huge": 1e16}.get(fate, x[0])
        one = node.sample(n, x, label=label, weight=float(fate != "weightless"))
        if fate == "swapped" and not held:  # it comes after the next
            held = [(n, x, label, one)]
            continue
        stream += {"lost": b"", "damaged": one[:7] + one[8:], "twice": one + one}.get(fate, one)
        if fate not in ("lost", "damaged"):
            arrived.append((n, x, None if fate == "weightless" else label))
        for *row, late in held:
            stream += late
            arrived.append(row)
        held = []
    return stream, arrived


@settings(max_examples=80)
@given(
    fates=st.lists(st.sampled_from(["fine"] * 20 + [*FATES]), min_size=1, max_size=150),
    cut=st.integers(1, 300),
)
def test_over_frames_with_every_fault_it_equals_push(fates, cut):
    node, expected = Node(label_mode=wire.LABEL_INLINE), ByHand()
    stream, arrived = on_the_wire(node, fates)
    link, port = connect(Clock(), node)
    runner = taught(link, chain())
    for begin in range(0, len(stream), cut):
        port.inbox += stream[begin : begin + cut]
        drained(runner, port)
    for sequence, x, label in arrived:
        if not np.isnan(x[0]):  # which the link refuses itself
            expected.take(sequence, x, label)
    answers, rejected = answered(node)
    not_finite = [n for n, x, _ in arrived if np.isnan(x[0])]
    assert answers == expected.answers
    assert sorted(rejected) == sorted(expected.rejected + not_finite)
    assert bytes(runner.model.arena) == bytes(expected.chain.arena)
    c = runner.counters()
    assert c["windows"] == len(answers)
    assert c["windows_dropped"] == expected.chain.windows_.n_dropped_
    assert c["refused_samples"] == len(expected.rejected)
    assert c["pushed"] == expected.chain.n_seen_
    scored = [flags for *_, flags in answers if flags == TRAINED]
    assert runner.pupil.score.n == len(scored) and c["learned"] == expected.chain.learner_.n_seen_


def lines(X, y, first=None):
    """Lines of text, with numbers from `first` on or without."""
    numbers = ["" if first is None else f"@{first + i} " for i in range(len(X))]
    return [
        f"{n}{a!r},{b!r},{label}\n".encode()
        for n, (a, b), label in zip(numbers, X.tolist(), y, strict=True)
    ]


def over_text(sent, model=None, **options):
    """A runner that has read these lines, and its port."""
    link, port = text_link(Clock(), b"\n" + b"".join(sent), n_features=2)
    return drained(taught(link, chain() if model is None else model, **options), port), port


BAD = {
    "other columns": b"1.0,2.0\n",
    "no number": b"0.1,zz,1\n",
    "no label": b"0.1,0.2,one!\n",
    "not finite": b"nan,0.2,1\n",
    "too long": b"1" * 600 + b"\n",
    "not text": b"0.1,\xff\xfe,1\n",
}


@pytest.mark.parametrize("first", [None, 7])
def test_a_refused_line_breaks_the_windows(first):
    X, y = samples(100)
    for what, bad in BAD.items():
        sent, expected = lines(X, y, first), ByHand()
        for at in (50, 70):
            sent[at] = bad
        runner, port = over_text(sent)
        for n, (x, label) in enumerate(zip(X, y, strict=True)):
            if n not in (50, 70):
                expected.take(n + (first or 0), x, label)
        told = [line.split() for line in bytes(port.written).decode().splitlines()]
        rejected = [number for number, *_, flags, _ in told if int(flags) == REJECTED]
        assert len(rejected) == 2 * (what == "not finite")
        told = [(int(n[1:]), int(one), int(f)) for n, one, f, _ in told if int(f) != REJECTED]
        assert told == [(n, one, flags) for n, one, _, flags in expected.answers], what
        assert bytes(runner.model.arena) == bytes(expected.chain.arena), what
        assert runner.counters()["windows_dropped"] == expected.chain.windows_.n_dropped_ > 0
        assert runner.link.counters["missing"] == (0 if what == "not finite" else 2)


def test_a_port_that_was_away_breaks_the_windows_of_lines_without_numbers():
    X, y = samples(40)
    sent = lines(X, y)
    clock, ports = Clock(), []
    for part in (sent[:20], sent[20:]):
        ports.append(FakePort(clock))
        ports[-1].inbox += b"2.5,1\n" + b"".join(part)  # first the rest of a line
    left = iter(ports)
    link = open_link("fake", mode="text", opener=lambda: next(left), clock=clock, n_features=2)
    runner = drained(taught(link, chain()), ports[0])
    link.reconnect()
    drained(runner, ports[1])
    assert runner.counters()["pushed"] == 40 and runner.counters()["gaps"] == 2
    assert runner.counters()["windows"] == 2 * ((20 - WINDOW) // HOP + 1)


def test_a_node_that_restarts_begins_new_windows():
    """Also where its numbers go on as if nothing had happened."""
    X, y = samples(40)
    node = Node(label_mode=wire.LABEL_INLINE)
    link, port = connect(Clock(), node)
    runner = taught(link, chain())
    for boot, part in ((5, range(20)), (6, range(20, 40))):
        node.schema = wire.Schema(**{**node.schema.__dict__, "boot_id": boot})
        port.inbox += node.schema_frame()
        port.inbox += b"".join(node.sample(n, X[n].tolist(), label=y[n]) for n in part)
        drained(runner, port)
    assert runner.counters()["gaps"] == 2 and runner.counters()["pushed"] == 40 and link.epochs == 2
    assert runner.counters()["windows"] == 2 * ((20 - WINDOW) // HOP + 1)


def test_a_third_label_is_left_out_of_the_votes_and_counted():
    X, y = samples(60)
    y = [0, 1] * 15 + [9] * 10 + y[40:]
    runner, _ = over_text(lines(X, y))
    expected = chain()
    for x, label in zip(X, y, strict=True):
        expected.push(x, None if label == 9 else label)
    assert bytes(runner.model.arena) == bytes(expected.arena)
    assert runner.counters()["labels_refused"] == 10 and runner.pupil.unlabelled == 1


def test_probabilities_and_a_limit_of_labels_hold_for_windows():
    X, y = samples(200)
    learner = Calibrated(learner=Standardized(learner=StreamSVM()))
    built = Chain(windows=WindowFeatures(window=WINDOW, hop=HOP), learner=learner).allocate(2)
    runner, _ = over_text(lines(X, y), built, max_labels_per_second=10, clock=lambda: 0.0)
    assert (
        runner.pupil.learned == 10 and runner.pupil.over_rate == runner.counters()["windows"] - 10
    )
    assert runner.pupil.forecasts.n == 9


def test_late_labels_are_refused_in_one_line():
    link, _ = text_link(Clock(), b"", n_features=2, late_labels=5)
    with pytest.raises(ValueError, match="--label none"):
        taught(link, chain())


def test_what_was_saved_within_a_window_does_not_go_on_there(tmp_path):
    """What came between the two runs is not known."""
    X, y = samples(40)
    first = chain().partial_fit(X[:30], y[:30])
    first.save(tmp_path / "m.esvm")
    saved = load(tmp_path / "m.esvm")
    assert isinstance(saved, Chain) and bytes(saved.arena) == bytes(first.arena)
    runner, _ = over_text(lines(X[30:], y[30:]), saved)
    first.gap()
    assert bytes(saved.arena) == bytes(first.partial_fit(X[30:], y[30:]).arena)
    assert runner.counters()["windows"] == 1 and runner.counters()["windows_dropped"] == 0


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="counts CPython's allocator")
def test_a_raw_sample_takes_no_allocator_call_that_a_row_does_not():
    X, y = samples(1000)
    columns = [list(X), y, list(range(5000, 6000))]
    built = chain(window=1 << 20, hop=1 << 20)
    rows = taught(connect(Clock(), Node())[0], Standardized(learner=StreamSVM()).allocate(2))
    raw = taught(connect(Clock(), Node())[0], built)
    taken = {}
    for name, runner in (("rows", rows), ("raw", raw)):
        runner.answers = False
        taken[name] = count(runner.handle, columns, hooks(), 20_000)[0]
    assert raw.counters()["pushed"] == 21_000 and raw.counters()["gaps"] == 21
    assert taken["raw"] <= taken["rows"]
