"""The main job over a fake port: what is predicted, learned, answered, counted, in which order."""

import numpy as np
import pytest
from fake_port import Node

from edgesvm import Learner, LinkDown, OneVsOne, Standardized, StreamSVM
from edgesvm.errors import NotTaught
from edgesvm.link import open_link, wire
from edgesvm.link.wire import ABSTAIN, REJECTED, TRAINED
from edgesvm.serve import remarks
from edgesvm.serve.journal import Journal
from edgesvm.serve.taught import taught
from edgesvm.serve.teaching import Teaching

D = 3


class FakeNode(Node):
    """A node and its port in one; what it sends before the host has said HELLO is held."""

    def __init__(self, label_mode=wire.LABEL_INLINE):
        super().__init__(D, label_mode=label_mode)
        self.inbox, self.held = bytearray(), bytearray()
        self.hears = self.dead = False
        self._sequence = 0

    def read(self, timeout, limit=65536):
        if self.dead and not self.inbox:
            raise LinkDown("unplugged")
        chunk = bytes(self.inbox[:limit])
        del self.inbox[:limit]
        return chunk

    def write(self, data):
        if told := self.hear(bytes(data)):
            self.inbox += told + self.held
            self.held.clear()
            self.hears = True
        return len(data)

    def close(self):
        """A port that is closed may be opened again."""

    def send(self, x, **options):
        (self.inbox if self.hears else self.held).extend(self.sample(self._sequence, x, **options))
        self._sequence += 1

    def send_all(self, X, y=None, **options):
        for i, x in enumerate(X.tolist()):
            self.send(x, **({} if y is None else {"label": int(y[i])}), **options)

    @property
    def predictions(self):
        return [wire.Prediction.unpack(frame.body) for frame in self.kinds(wire.PREDICTION)]

    def flags(self):
        return [prediction.flags for prediction in self.predictions]

    def labels(self):
        return [prediction.label for prediction in self.predictions]


@pytest.fixture
def node():
    return FakeNode()


def runner_on(node, learner=None, **options):
    link = open_link("fake", opener=lambda: node)
    return taught(link, StreamSVM() if learner is None else learner, **options)


def drain(runner):
    while runner.step(0.0):
        pass
    assert runner.check_identities() == []
    return runner


def rows(n, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, D)).astype(np.float32)
    return X, (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int) * 3 - 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", [StreamSVM, lambda **k: Standardized(learner=StreamSVM(**k))])
def test_each_sample_is_predicted_before_it_is_learned(node, kind, dtype):
    X, y = rows(600)
    node.send_all(X, y)
    runner = drain(runner_on(node, kind(dtype=dtype), window=50))

    plain = kind(dtype=dtype)
    expected = []
    for x, label in zip(X.astype(dtype), y.tolist(), strict=True):
        if plain.is_fitted:
            expected.append((plain.predict_one(x), np.float32(plain.decision_one(x))))
        plain.learn_one(x, label)
    assert [(p.label, np.float32(p.score)) for p in node.predictions[1:]] == expected
    assert bytes(runner.pupil.learner.arena) == bytes(plain.arena)
    assert [p.sequence for p in node.predictions] == list(range(600))
    assert node.flags() == [ABSTAIN | TRAINED] + [TRAINED] * 599
    assert (runner.taken, runner.pupil.learned, runner.pupil.score.n) == (600, 600, 599)
    hits = [label == p for label, (p, _) in zip(y[1:].tolist(), expected, strict=True)]
    assert runner.pupil.score.accuracy == pytest.approx(np.mean(hits))


def test_a_journal_has_what_the_node_was_told_with_the_rows(node):
    X, y = rows(30)
    y[20] = 7  # a third label: predicted, not learned
    node.send_all(X, y)
    journal = Journal(D, capacity=40)
    drain(runner_on(node, journal=journal))
    entries, _ = journal.since(0)
    assert entries["flags"].tolist() == node.flags() and entries["label"].tolist() == y.tolist()
    assert entries["predicted"].tolist() == [p.label for p in node.predictions]
    np.testing.assert_array_equal(entries["x"], X)


def test_a_remark_is_noted_in_the_journal_and_not_sent(node):
    look = remarks.EVERY * remarks.BLOCK
    X, y = rows(6 * look)
    X[5 * look - 10 :, 2] = 0.5
    node.send_all(X, y)
    journal = Journal(D, capacity=len(X))
    runner = runner_on(node, journal=journal)
    while runner.step(0.0, at_most=64):
        pass
    (line,) = runner.pupil.remarks.news()
    assert line.startswith("x2: no longer changes; look at") and runner.pupil.remarks.news() == []
    flags = journal.since(0)[0]["flags"]
    assert (flags & 0xFF).tolist() == node.flags() and not (flags >> remarks.FIRST_BIT)[:-64].any()
    runner.handle(X[-1], None, len(X))
    assert remarks.flagged(int(journal.entry(len(X))["flags"])) == ["stuck"]


@pytest.mark.parametrize("weight", [None, 0.5])
def test_a_sample_is_decided_once_and_learned_alone(node, monkeypatch, weight):
    """Label and score come from one decision; no batch is made of a weighted sample. A journal has
    each row pass through Python."""
    calls = {"predict_with_score": 0, "learn_one": 0}

    def counted(name):
        method = getattr(Learner, name)

        def call(*args):
            calls[name] += 1
            return method(*args)

        return call

    for name in calls:
        monkeypatch.setattr(Learner, name, counted(name))
    for name in ("predict_one", "decision_one", "partial_fit"):
        monkeypatch.delattr(Learner, name)
    X, y = rows(30)
    node.send_all(X, y, **({} if weight is None else {"weight": weight}))
    drain(runner_on(node, journal=Journal(D)))
    assert calls == {"predict_with_score": 29, "learn_one": 30}
    assert len(node.predictions) == 30


def test_many_labels_are_answered_with_the_value_of_the_answer(node):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 300)
    X = (rng.standard_normal((300, D)) + 4 * np.eye(3)[labels]).astype(np.float32)
    node.send_all(X, labels)
    learner = OneVsOne(learner=StreamSVM(bound="lower"), n_classes=3)
    runner = drain(runner_on(node, learner=learner))
    assert runner.pupil.learned == 300 and runner.pupil.score.accuracy > 0.8
    known = OneVsOne(learner=StreamSVM(bound="lower"), n_classes=3)
    for i, (x, label) in enumerate(zip(X, labels.tolist(), strict=True)):
        if i:
            assert node.labels()[i] == known.predict_one(x)
            value = np.max(known.decision_one(x))
            assert node.predictions[i].score == pytest.approx(value, rel=1e-6)
        known.learn_one(x, label)
    before = bytes(learner.arena)
    node.send(X[0].tolist(), label=7)
    drain(runner)
    assert runner.pupil.unknown_label == 1 and bytes(learner.arena) == before


def test_a_weight_is_learned_with(node):
    X, y = rows(200)
    weights = np.random.default_rng(1).integers(0, 512, 200) / 256
    for x, label, weight in zip(X.tolist(), y.tolist(), weights.tolist(), strict=True):
        node.send(x, label=label, weight=weight)
    runner = drain(runner_on(node))
    plain = StreamSVM().partial_fit(X, y, sample_weight=weights)
    assert bytes(runner.pupil.learner.arena) == bytes(plain.arena)
    assert bytes(plain.arena) != bytes(StreamSVM().partial_fit(X, y).arena)


def test_a_weight_of_zero_first_leaves_the_learner_abstaining(node):
    node.send([1.0, 0.0, 0.0], label=1, weight=0.0)
    node.send([1.0, 0.0, 0.0], label=1)
    node.send([1.0, 0.0, 0.0], label=1)
    runner = drain(runner_on(node))
    assert node.flags() == [ABSTAIN, ABSTAIN | TRAINED, TRAINED]
    assert runner.pupil.learned == 3


@pytest.mark.parametrize("known", [0, 20])
def test_a_value_too_large_to_square_is_refused_and_changes_nothing(node, known):
    X, y = rows(20)
    node.send_all(X[:known], y)
    runner = drain(runner_on(node, StreamSVM().allocate(D)))
    before = bytes(runner.pupil.learner.arena)
    node.send([1e30, 0.0, 0.0], label=2)
    node.send([1e30, 0.0, 0.0])
    drain(runner)
    assert bytes(runner.pupil.learner.arena) == before
    learner_refused = [REJECTED, REJECTED] if known else [REJECTED, ABSTAIN]
    assert node.flags()[known:] == learner_refused
    assert (
        runner.pupil.refused_value + runner.pupil.unlabelled == 2 and runner.pupil.learned == known
    )


def test_what_came_in_before_the_port_died_is_handled(node):
    X, y = rows(30)
    runner = runner_on(node)
    node.send_all(X, y)
    runner.step(0.0, at_most=10)  # the others wait
    node.dead = True
    with pytest.raises(LinkDown):
        runner.step(0.0)
    assert runner.pupil.learned == 30 and runner.check_identities() == []
    assert bytes(runner.pupil.learner.arena) == bytes(StreamSVM().partial_fit(X, y).arena)


def test_a_row_whose_answer_meets_a_dead_port_is_learned_once(node, monkeypatch):
    """The outbox is full, and writing it fails: rows that have come are learned all the same."""
    X, y = rows(60)
    runner = taught(open_link("fake", opener=lambda: node, outbox_bytes=64), StreamSVM())
    node.send_all(X, y)
    runner.step(0.0, at_most=1)

    def broken(data):
        raise LinkDown("unplugged")

    monkeypatch.setattr(node, "write", broken)
    while runner.handle_waiting():
        pass
    node.dead = True
    with pytest.raises(LinkDown):
        runner.step(0.0)
    assert (runner.taken, runner.pupil.learned) == (60, 60) and runner.check_identities() == []
    assert bytes(runner.pupil.learner.arena) == bytes(StreamSVM().partial_fit(X, y).arena)


def test_without_answers_nothing_is_written(node):
    node.send([1.0, 0.0, 0.0], label=1)
    runner = drain(runner_on(node, answers=False))
    assert runner.pupil.learned == 1 and node.predictions == []
    assert runner.counters()["predictions_sent"] == 0


def test_counts_that_do_not_add_up_are_told(node):
    runner = drain(runner_on(node))
    runner.pupil.learned += 1
    assert any("rows 0 = " in broken for broken in runner.check_identities())


# Late labels.


@pytest.fixture
def late_node():
    return FakeNode(wire.LABEL_LATE)


def tell(node, sequence, label, **options):
    body = wire.Label(sequence, label, **options).pack()
    frame = wire.encode_frame(wire.LABEL, body, schema_id=node.schema.schema_id)
    (node.inbox if node.hears else node.held).extend(frame)


def late_runner(node, capacity=8, **options):
    link = open_link("fake", opener=lambda: node, late_labels=capacity)
    return taught(link, StreamSVM(), **options)


def run_out(node, runner):
    while node.inbox:
        runner.step(0.0)
    assert runner.check_identities() == []
    return runner


def test_each_fate_of_a_late_label(late_node):
    runner = late_runner(late_node, capacity=4)
    late_node.send([1.0, 0.0, 0.0], label=1)  # 0, with its label
    late_node.send([np.nan, 0.0, 0.0])  # 1, refused by the link
    late_node.send([1e30, 0.0, 0.0])  # 2, refused by the learner
    for n in range(3, 13):
        late_node.send([float(n), 1.0, 0.0])
    for sequence, label in ((0, 1), (1, 1), (2, 1), (12, -1), (12, -1), (11, 5), (3, 1), (3, 1)):
        tell(late_node, sequence, label)
    tell(late_node, 10, 1, weight=0.5)
    run_out(late_node, runner)
    c = runner.counters()
    assert (c["label_matched"], c["label_expired"]) == (3, 1)
    assert (c["label_duplicate"], c["label_unknown"]) == (3, 2)
    fates = {"learned": 3, "unknown_label": 1, "refused_value": 1, "expired": 1, "waiting": 1}
    assert {fate: c[fate] for fate in fates} == fates
    assert (runner.taken, c["unlabelled"]) == (12, 5)
    assert runner.pupil.learner.n_seen_ == 3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_sample_that_waits_is_learned_as_it_came(late_node, dtype):
    X, y = rows(40)
    link = open_link("fake", opener=lambda: late_node, late_labels=64)
    runner = taught(link, StreamSVM(dtype=dtype))
    late_node.send_all(X)
    for n in reversed(range(40)):
        tell(late_node, n, int(y[n]), weight=n / 4)
    run_out(late_node, runner)
    weights = np.arange(40)[::-1] / 4
    expected = StreamSVM(dtype=dtype)
    expected.partial_fit(X[::-1].astype(dtype), y[::-1], sample_weight=weights)
    assert bytes(runner.pupil.learner.arena) == bytes(expected.arena)


def test_no_more_labels_are_learned_than_may_be(late_node):
    now = [0.0]
    runner = late_runner(late_node, max_labels_per_second=5, clock=lambda: now[0])
    X, y = rows(30)
    late_node.send_all(X, y)
    late_node.send(X[0].tolist())
    tell(late_node, 30, 1)
    run_out(late_node, runner)
    assert (runner.pupil.learned, runner.pupil.over_rate) == (5, 26)
    now[0] = 0.4
    late_node.send_all(X[:4], [2] * 4)
    run_out(late_node, runner)
    assert (runner.pupil.learned, runner.pupil.over_rate) == (7, 28)
    assert late_node.flags()[:7] == [TRAINED | ABSTAIN, *[TRAINED] * 4, 0, 0]
    now[0] = 100.0  # an idle time earns one second's worth, no more
    late_node.send_all(X[:8], [2] * 8)
    run_out(late_node, runner)
    assert (runner.pupil.learned, runner.pupil.over_rate) == (12, 31)
    with pytest.raises(ValueError, match="give a number > 0"):
        late_runner(FakeNode(), max_labels_per_second=0)


# Labels given by hand.


def test_a_row_is_taught_as_if_its_label_had_come_late(node):
    X, y = rows(60)
    for n, (x, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        node.send(x, **({"label": label} if n < 30 else {}))
    runner = drain(runner_on(node, journal=Journal(D)))
    plain = StreamSVM().partial_fit(X[:30], y[:30])
    score, said = runner.pupil.score.n, node.labels()
    right = runner.pupil.score.accuracy * score
    y[45] = 1 - said[45]  # the label that was not predicted
    for n in (45, 30, 59):
        Teaching(runner).teach(n, int(y[n]))
        plain.learn_one(X[n], int(y[n]))
        right += said[n] == y[n]
        assert runner.check_identities() == []
    assert bytes(runner.pupil.learner.arena) == bytes(plain.arena)
    assert (runner.pupil.learned, runner.pupil.unlabelled) == (33, 27)
    assert runner.pupil.score.n == score + 3
    assert runner.pupil.score.accuracy * runner.pupil.score.n == pytest.approx(right)
    entries, _ = runner.journal.since(0)
    assert entries["has_label"].nonzero()[0].tolist() == [*range(31), 45, 59]


def test_what_is_not_taught_says_why_and_leaves_no_trace(node):
    node.send([1.0, 0.0, 0.0], label=1)
    node.send([-1.0, 0.0, 0.0], label=-1)
    node.send([1e30, 0.0, 0.0])
    for _ in range(5):
        node.send([2.0, 0.0, 0.0])
    now = [0.0]
    limits = {"max_labels_per_second": 4, "clock": lambda: now[0]}
    runner = drain(runner_on(node, journal=Journal(D, capacity=7), **limits))
    now[0] = 10.0
    Teaching(runner).teach(4, 1)
    before = bytes(runner.pupil.learner.arena), runner.counters(), runner.pupil.score.summary()
    refused = {0: "no longer kept", 1: "label -1 already", 2: "value is too large"}
    refused |= {4: "label 1 already", 8: "no longer kept"}
    for sequence, why in refused.items():
        with pytest.raises(NotTaught, match=why):
            Teaching(runner).teach(sequence, -1)
    with pytest.raises(NotTaught, match="two"):
        Teaching(runner).teach(5, 3)  # a third label
    after = bytes(runner.pupil.learner.arena), runner.counters(), runner.pupil.score.summary()
    assert after == before
    for sequence in (5, 6):  # one label of the four went to the third label
        Teaching(runner).teach(sequence, 1)
    with pytest.raises(NotTaught, match="max-labels-per-second"):
        Teaching(runner).teach(7, 1)
    assert runner.check_identities() == [] and runner.pupil.over_rate == 0


def test_of_two_rows_of_one_number_the_newer_is_taught(node):
    node.send([1.0, 0.0, 0.0], label=1)
    node.send([-1.0, 0.0, 0.0], label=-1)
    node.send([5.0, 0.0, 0.0])
    runner = drain(runner_on(node, journal=Journal(D)))
    runner.link.reconnect()
    node.schema = wire.Schema(0, 6, D, label_mode=wire.LABEL_INLINE)  # it has restarted
    node.inbox += wire.encode_frame(wire.SCHEMA, node.schema.pack())
    node._sequence = 0
    for n in range(3):
        node.send([-7.0 - n, 1.0, 0.0])
    drain(runner)
    Teaching(runner).teach(2, -1)
    plain = StreamSVM()
    for x, label in (([1, 0, 0], 1), ([-1, 0, 0], -1), ([-9, 1, 0], -1)):
        plain.learn_one(np.float32(x), label)
    assert bytes(runner.pupil.learner.arena) == bytes(plain.arena)


def test_a_row_that_waits_is_taught_and_its_late_label_is_a_duplicate(late_node):
    X, y = rows(20)
    runner = late_runner(late_node, capacity=8, journal=Journal(D))
    late_node.send_all(X)
    tell(late_node, 18, int(y[18]))
    run_out(late_node, runner)
    Teaching(runner).teach(15, int(y[15]))
    for sequence in (15, 18):
        with pytest.raises(NotTaught, match="already"):
            Teaching(runner).teach(sequence, 1)
    tell(late_node, 15, 7)
    run_out(late_node, runner)
    plain = StreamSVM().partial_fit(X[[18, 15]], y[[18, 15]])
    assert bytes(runner.pupil.learner.arena) == bytes(plain.arena)
    assert runner.counters()["label_duplicate"] == 1
    assert (runner.pupil.learned, runner.pupil.waiting, runner.pupil.unlabelled) == (2, 6, 12)
    Teaching(runner).teach(3, int(y[3]))  # no longer waits, and is still kept
    plain.learn_one(X[3], int(y[3]))
    assert bytes(runner.pupil.learner.arena) == bytes(plain.arena)
    assert (runner.pupil.learned, runner.pupil.waiting, runner.pupil.unlabelled) == (3, 6, 11)
    Teaching(runner).teach(16, 1 - int(y[15]))
    with pytest.raises(NotTaught, match="two"):
        Teaching(runner).teach(17, 77)
    assert runner.pupil.unknown_label == 1 and runner.check_identities() == []
