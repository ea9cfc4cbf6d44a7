"""Labels and answers by hand, and their undo: bytes, scores and counters are as before."""

import numpy as np
import pytest
from each import each
from fake_port import Clock, Node, connect

from edgesvm import Chain, GaussianNovelty, KernelNovelty, Standardized, StreamSVM, WindowFeatures
from edgesvm.asking import ASKED, Asker, Questions
from edgesvm.errors import NotTaught
from edgesvm.journal import Journal
from edgesvm.link import wire
from edgesvm.runner import Runner
from edgesvm.teaching import RunTeaching, WatchTeaching
from edgesvm.watcher import Watcher
from edgesvm.window_runner import WindowRunner

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

    def __init__(self, *, learner=None, ask=None, **node):
        self.clock = Clock()
        self.node = Node(n_features=2, **node)
        late = {"late_labels": 8} if node else {}
        self.link, self.port = connect(self.clock, self.node, **late)
        learner = (Standardized(learner=StreamSVM()) if learner is None else learner).allocate(2)
        asker = Asker(1.0, clock=lambda: self.clock.now) if ask is None else ask
        questions = Questions(learner, asker, rows=4)
        self.runner = Runner(self.link, learner, journal=Journal(2, 64), questions=questions)
        self.teaching = RunTeaching(self.runner)
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
        score = runner.score.summary(), runner.questions.drawn.summary()
        kept = entries["has_label"].tolist(), entries["label"][entries["has_label"]].tolist()
        labels = runner.learner.classes_.tolist()
        return bytes(runner.learner.arena), labels, counters, score, kept


def test_undo_goes_back_and_what_was_taught_can_be_taught_again():
    run = Run(ask=Asker(1e-9))
    run.send(X[:20], Y[:20])
    run.send(X[20:30])
    before = run.state()
    assert done(run.teaching.asked({"label": 0, "seconds": 60})) == {"taught": 10, "refused": {}}
    assert run.runner.unlabelled == 0 and run.teaching.taught == run.teaching.n == 10
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
    before = bytes(run.runner.learner.arena)
    done(run.teaching.asked({"label": 7, "sequence": 20, "place": 20}))
    assert run.runner.learner.classes_.tolist() == [0, 7]
    run.send(X[21:25], np.zeros(4))
    assert done(run.teaching.undo()) == {"undone": 1, "forgotten": 4}
    assert run.runner.learner.classes_.tolist() == [0]
    assert bytes(run.runner.learner.arena) == before
    assert run.runner.check_identities() == []
    run.send(X[25:30], np.full(5, 9))
    assert run.runner.learner.classes_.tolist() == [0, 9]


def test_undo_at_one_of_two_ports_of_a_learner_tells_what_the_other_taught():
    one = Run()
    other = Run(learner=one.runner.learner)
    one.send(X[:20], Y[:20])
    for run, x in (one, X[20:21]), (other, X[21:23]):
        run.send(x)
    before = bytes(one.runner.learner.arena)
    done(one.teaching.asked({"label": 0, "seconds": 60}))
    done(other.teaching.asked({"label": 1, "seconds": 60}))
    told = done(one.teaching.undo())
    assert told == {"undone": 1, "forgotten": 2, "taught_elsewhere": 2}
    assert bytes(one.runner.learner.arena) == before and other.teaching.taught == 0
    with pytest.raises(NotTaught, match="nothing to undo"):  # it would bring back what was undone
        done(other.teaching.undo())


def asked_long_ago(run):
    """Number of a question whose row is in no journal any more, and waits for no label."""
    run.clock.now += 1.0
    run.send(X[30:31])
    questions = run.runner.questions
    number = questions.newest()
    assert np.array_equal(questions.ring.entry(number)["x"], X[30])
    sequence = int(questions.ring.entry(number)["sequence"])
    run.send(np.tile(X[31:32], (100, 1)))
    assert run.runner.journal.find(sequence) is None
    return number


def test_an_answer_teaches_a_row_that_only_the_ring_still_has():
    run = Run()
    run.send(X[:20], Y[:20])
    number = asked_long_ago(run)
    plain = Standardized(learner=StreamSVM()).partial_fit(X[:20], Y[:20])
    predicted = plain.predict_one(X[30])
    plain.learn_one(X[30], 1)
    assert done(run.teaching.asked({"label": 1, "question": number})) == {
        "taught": 1,
        "refused": {},
    }
    assert bytes(run.runner.learner.arena) == bytes(plain.arena)
    assert (run.runner.learned, run.runner.unlabelled) == (21, 100)
    assert run.runner.score.confusion[1].get(predicted, 0) > 0
    with pytest.raises(NotTaught, match="has an answer"):
        done(run.teaching.asked({"label": 1, "question": number}))
    assert run.runner.counters()["answered"] == 1 and run.runner.check_identities() == []


def test_an_answer_for_a_row_whose_label_comes_late_or_never():
    run = Run(label_mode=wire.LABEL_LATE)
    run.send(X[:1])
    done(run.teaching.asked({"label": 1, "question": 0}))  # it waits, and then no longer
    assert (run.runner.learned, run.runner.waiting) == (1, 0)
    number = asked_long_ago(run)
    done(run.teaching.asked({"label": 1, "question": number}))
    assert (run.runner.learned, run.runner.waiting, run.runner.unlabelled) == (2, 8, 92)
    assert done(run.teaching.undo())["undone"] == 1
    assert (run.runner.learned, run.runner.waiting, run.runner.unlabelled) == (1, 8, 93)
    assert run.runner.check_identities() == []


def test_a_line_is_a_request_or_a_label_for_the_newest_question():
    run = Run()
    run.send(X[:20], Y[:20])
    run.clock.now += 1.0
    run.send(X[20:21])
    for text in ("{", '"no"', "[1]", '{"label": "1"}', '{"label": 1}', "1.5", "99999"):
        with pytest.raises(ValueError, match=r"give|must be|missing"):
            done(run.teaching.told(text))
    assert done(run.teaching.told("1")) == {"taught": 1, "refused": {}}
    with pytest.raises(NotTaught, match="no question"):
        done(run.teaching.told("0"))
    assert done(run.teaching.told('{"undo": true}')) == {"undone": 1, "forgotten": 0}
    assert run.runner.counters()["answered"] == 0
    assert done(run.teaching.told(" 0\n"))["taught"] == 1


def test_of_windows_only_the_learner_goes_back():
    clock, node = Clock(), Node(n_features=2)
    link, port = connect(clock, node)
    chain = Chain(windows=WindowFeatures(window=16, hop=8), learner=StreamSVM()).allocate(2)
    runner = WindowRunner(link, chain, journal=Journal(chain.learner_.n_features_in_, 64))
    plain = Chain(windows=WindowFeatures(window=16, hop=8), learner=StreamSVM()).allocate(2)
    teaching = RunTeaching(runner)
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


# A watch.


def watched(learner, X, n_warm_up):
    clock, node = Clock(), Node(n_features=3, label_mode=0)
    link, port = connect(clock, node)
    watcher = Watcher(link, learner.allocate(3), clock=lambda: clock.now)
    watcher.questions = Questions(watcher.learner)
    for n, x in enumerate(X.tolist()):
        port.inbox += node.sample(n, tuple(x))
        while watcher.taken <= n:
            watcher.step(0.0)
    assert watcher.check_identities() == []
    return watcher


@each("kind", [GaussianNovelty, KernelNovelty])
def test_a_false_alarm_is_learned_and_does_not_alarm_again(kind):
    rng = np.random.default_rng(0)
    usual, mode = rng.standard_normal((2000, 3)), rng.standard_normal((300, 3)) * 0.5
    mode[:, 1] += 15
    fault = rng.standard_normal((100, 3)) + np.array([15, 0, 0])
    X = np.vstack([usual, mode[:100]]).astype(np.float32)
    watcher = watched(kind(alarm_rate=1e-5, warm_up=1500, alarm="3/5"), X, 1500)
    teaching, learner = WatchTeaching(watcher), watcher.learner
    before = bytes(learner.arena)
    threshold, number = learner.offset_, watcher.episode.question
    rest = np.float32(mode[100:])
    assert (learner.predict(rest) == -1).all() and watcher.counters()["asked"] == 1
    assert done(teaching.asked({"question": number, "label": -1})) == {"taught": 0, "refused": {}}
    assert bytes(learner.arena) == before
    assert done(teaching.undo()) == {"undone": 0, "forgotten": 0}
    told = done(teaching.asked({"question": number, "label": 1}))
    assert told["taught"] == watcher.marked == len(watcher.questions.rows(number)) > 20
    assert learner.offset_ == threshold
    assert (learner.predict(rest) == -1).mean() < 0.1
    assert (learner.predict(np.float32(usual)) == -1).mean() < 0.01
    assert (learner.predict(np.float32(fault)) == -1).all()
    assert done(teaching.undo())["undone"] == told["taught"]
    assert bytes(learner.arena) == before and watcher.marked == 0
    assert done(teaching.asked({"question": number, "label": 1})) == told


def test_of_a_long_alarm_fewer_and_fewer_rows_are_kept_and_those_before_it_too():
    rng = np.random.default_rng(0)
    X = np.float32(rng.standard_normal((1200, 3)))
    X[1000:, 1] += 60
    learner = GaussianNovelty(alarm_rate=1e-4, warm_up=900, stuck="learn", alarm="3/5")
    watcher = watched(learner, X, 900)
    rows = watcher.questions.rows(watcher.episode.question)
    assert [np.array_equal(r, x) for r, x in zip(rows[:9], X[1000:1009], strict=True)] == [True] * 9
    assert 20 < len(rows) <= 64


def test_what_is_asked_in_a_watch_is_near_the_threshold_and_no_alarm():
    clock, node = Clock(), Node(n_features=3, label_mode=0)
    link, port = connect(clock, node)
    learner = GaussianNovelty(alarm_rate=1e-3, warm_up=500).allocate(3)
    ticks = iter(range(10**6))
    questions = Questions(learner, Asker(0.01, clock=lambda: float(next(ticks))))
    watcher = Watcher(link, learner, questions=questions)
    X = np.float32(np.random.default_rng(0).standard_normal((4000, 3)))
    margins = []
    for n, x in enumerate(X.tolist()):
        port.inbox += node.sample(n, tuple(x))
        while watcher.taken <= n:
            watcher.step(0.0)
        margins.append(watcher.score - -learner.offset_)
    entries, _ = questions.ring.since(0)
    asked = entries[entries["flags"] == ASKED]
    assert len(asked) > 10
    assert np.abs(asked["score"]).mean() < 0.5 * np.abs(margins[500:]).mean()
    number = int(np.flatnonzero(entries["flags"] == ASKED)[0])
    assert watcher.answer(number, 1) == 1 and watcher.answer(questions.newest(), -1) == 0
    assert watcher.check_identities() == []


def test_words_are_taught_by_hand_and_answered_as_numbers():
    run = Run(ask=Asker(1e-9))
    run.send(X[:10])
    assert done(run.teaching.told('{"label": "worn", "seconds": 60}')) == {
        "taught": 10,
        "refused": {},
    }
    run.send(X[10:20])
    done(run.teaching.asked({"label": "fine", "seconds": 60}))
    run.send(X[20:22])
    assert run.runner.learner.classes_.tolist() == ["fine", "worn"]
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
    runner = Runner(link, learner)
    for i, x in enumerate(X[:20].tolist()):
        port.inbox += node.sample(i, tuple(x), label=int(Y[i]))
    while runner.taken < 20:
        runner.step(0.0)
    assert runner.score.recalls.keys() == {"fine", "worn"} and runner.score.accuracy > 0.8
    assert runner.learned == 20 and learner.classes_.tolist() == ["fine", "worn"]


def test_words_are_refused_where_labels_are_numbers():
    run = Run(ask=Asker(1e-9))
    run.send(X[:20], Y[:20])
    with pytest.raises(ValueError, match="give a number"):
        run.teaching.asked({"label": "worn", "seconds": 60})
