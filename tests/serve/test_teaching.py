"""Labels by hand, and their undo: bytes, scores and counters are as before."""

import numpy as np
import pytest
from fake_port import Clock, Node, connect

from edgesvm import Chain, Standardized, StreamSVM, WindowFeatures
from edgesvm.errors import NotTaught
from edgesvm.link import wire
from edgesvm.serve.journal import Journal
from edgesvm.serve.taught import taught
from edgesvm.serve.teaching import Teaching

X = np.random.default_rng(0).standard_normal((60, 2)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int)


def done(work):
    """What a work returns."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


class Run:
    """A run on a fake port."""

    def __init__(self, *, learner=None, before=None, **node):
        self.clock = Clock()
        self.node = Node(n_features=2, **node)
        late = {"late_labels": 8} if node else {}
        self.link, self.port = connect(self.clock, self.node, **late)
        learner = (Standardized(learner=StreamSVM()) if learner is None else learner).allocate(2)
        self.runner = taught(self.link, learner, journal=Journal(2, 64))
        self.teaching = Teaching(self.runner, before)
        self.sent = 0

    def send(self, rows, labels=None):
        for i, x in enumerate(rows.tolist()):
            more = {} if labels is None else {"label": int(labels[i])}
            self.port.inbox += self.node.sample(self.sent, tuple(x), **more)
            self.sent += 1
        while self.runner.taken < self.sent:
            self.runner.step(0.0)
        assert self.runner.check_identities() == []

    def state(self):
        runner = self.runner
        counters = {k: v for k, v in runner.counters().items() if k != "taught"}
        entries, _ = runner.journal.since(0)
        score = runner.pupil.score.summary()
        kept = entries["has_label"].tolist(), entries["label"][entries["has_label"]].tolist()
        labels = runner.pupil.learner.classes_.tolist()
        return bytes(runner.pupil.learner.arena), labels, counters, score, kept


def test_undo_goes_back_and_what_was_taught_can_be_taught_again():
    run = Run()
    run.send(X[:20], Y[:20])
    run.send(X[20:30])
    before = run.state()
    assert done(run.teaching.asked({"label": 0, "seconds": 60})) == {"taught": 10, "refused": {}}
    assert run.runner.pupil.unlabelled == 0 and run.teaching.taught == run.teaching.n == 10
    after = run.state()
    assert after[0] != before[0]
    assert done(run.teaching.asked({"undo": True})) == {"undone": 10, "forgotten": 0}
    assert run.state() == before and run.teaching.taught == 0
    assert run.runner.check_identities() == []
    with pytest.raises(NotTaught, match="nothing to undo"):
        done(run.teaching.undo())
    done(run.teaching.asked({"label": 0, "seconds": 60}))
    assert run.state() == after


def test_undo_takes_a_new_label_away_and_tells_what_else_is_forgotten():
    run = Run()
    run.send(X[:20], np.zeros(20))
    run.send(X[20:21])
    before = bytes(run.runner.pupil.learner.arena)
    done(run.teaching.asked({"label": 7, "sequence": 20, "place": 20}))
    assert run.runner.pupil.learner.classes_.tolist() == [0, 7]
    run.send(X[21:25], np.zeros(4))
    assert done(run.teaching.undo()) == {"undone": 1, "forgotten": 4}
    assert run.runner.pupil.learner.classes_.tolist() == [0]
    assert bytes(run.runner.pupil.learner.arena) == before
    assert run.runner.check_identities() == []
    run.send(X[25:30], np.full(5, 9))
    assert run.runner.pupil.learner.classes_.tolist() == [0, 9]


def test_of_two_ports_of_a_learner_the_last_request_can_be_undone():
    one = Run()
    before = one.teaching.before
    other = Run(learner=one.runner.pupil.learner, before=before)
    one.send(X[:20], Y[:20])
    for run, x in (one, X[20:21]), (other, X[21:23]):
        run.send(x)
    done(one.teaching.asked({"label": 0, "seconds": 60}))
    kept = bytes(one.runner.pupil.learner.arena)
    done(other.teaching.asked({"label": 1, "seconds": 60}))
    with pytest.raises(NotTaught, match="nothing to undo"):
        done(one.teaching.undo())
    assert done(other.teaching.undo()) == {"undone": 2, "forgotten": 0}
    assert bytes(one.runner.pupil.learner.arena) == kept
    assert (one.teaching.taught, other.teaching.taught) == (1, 0)
    with pytest.raises(NotTaught, match="nothing to undo"):
        done(other.teaching.undo())


def test_a_row_that_waits_for_its_label_no_longer_waits():
    run = Run(label_mode=wire.LABEL_LATE)
    run.send(X[:1])
    done(run.teaching.asked({"label": 1, "seconds": 60}))
    assert (run.runner.pupil.learned, run.runner.pupil.waiting) == (1, 0)
    assert done(run.teaching.undo())["undone"] == 1
    assert (run.runner.pupil.learned, run.runner.pupil.unlabelled) == (0, 1)
    assert run.runner.check_identities() == []


def test_of_windows_only_the_learner_goes_back():
    clock, node = Clock(), Node(n_features=2)
    link, port = connect(clock, node)
    chain = Chain(windows=WindowFeatures(window=16, hop=8), learner=StreamSVM()).allocate(2)
    runner = taught(link, chain, journal=Journal(chain.learner_.n_features_in_, 64))
    plain = Chain(windows=WindowFeatures(window=16, hop=8), learner=StreamSVM()).allocate(2)
    teaching = Teaching(runner)
    rows = np.random.default_rng(0).standard_normal((400, 2)).astype(np.float32)

    def send(a, b, label):
        for n in range(a, b):
            more = {} if label is None else {"label": label}
            port.inbox += node.sample(n, tuple(rows[n].tolist()), **more)
            while runner.taken <= n:
                runner.step(0.0)
            plain.push(rows[n], label)

    for at, label in ((0, 0), (100, 1), (200, None)):
        send(at, at + 100, label)
    done(teaching.asked({"label": 1, "seconds": 60}))
    send(300, 305, None)  # into the open windows
    assert done(teaching.undo())["undone"] > 5
    send(305, 400, 0)
    assert bytes(chain.arena) == bytes(plain.arena)
    assert runner.check_identities() == []


def test_words_are_taught_by_hand_and_kept_as_numbers():
    run = Run()
    run.send(X[:10])
    assert done(run.teaching.asked({"label": "worn", "seconds": 60})) == {
        "taught": 10,
        "refused": {},
    }
    run.send(X[10:20])
    done(run.teaching.asked({"label": "fine", "seconds": 60}))
    run.send(X[20:22])
    assert run.runner.pupil.learner.classes_.tolist() == ["fine", "worn"]
    assert run.link.class_names == ["worn", "fine"]
    entries, _ = run.runner.journal.since(0)
    assert entries["label"][:20].tolist() == [0] * 10 + [1] * 10
    assert run.runner.journal.told(entries[-1], "predicted") in ("fine", "worn")
    with pytest.raises(NotTaught, match="no other"):
        run.teaching.asked({"label": "broken", "seconds": 60})


def test_a_model_of_words_goes_on_with_the_numbers_of_a_link():
    learner = Standardized(learner=StreamSVM()).partial_fit(X, np.where(Y, "worn", "fine"))
    clock = Clock()
    node = Node(n_features=2)
    link, port = connect(clock, node)
    link.name_classes(learner.classes_.tolist())
    runner = taught(link, learner)
    for i, x in enumerate(X[:20].tolist()):
        port.inbox += node.sample(i, tuple(x), label=int(Y[i]))
    while runner.taken < 20:
        runner.step(0.0)
    assert (
        runner.pupil.score.recalls.keys() == {"fine", "worn"} and runner.pupil.score.accuracy > 0.8
    )
    assert runner.pupil.learned == 20 and learner.classes_.tolist() == ["fine", "worn"]


def test_words_are_refused_where_labels_are_numbers():
    run = Run()
    run.send(X[:20], Y[:20])
    with pytest.raises(ValueError, match="give a number"):
        run.teaching.asked({"label": "worn", "seconds": 60})
