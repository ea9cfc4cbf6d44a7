"""A process that forks while threads are at work: its child goes on with what is whole."""

import os
import threading

import numpy as np
import pytest
from forked import forked

from edgesvm import RBF, BatchSVM, FourierSVM, KernelStreamSVM, RandSVM, load
from edgesvm.errors import LearnerBusy

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork"),
]
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 20)).astype(np.float32)
y = X[:, 0] * X[:, 1] > 0.0


class Working(threading.Thread):
    """Calls `work` again and again, until the block ends."""

    def __init__(self, work):
        super().__init__()
        self._work, self._ending = work, False

    def run(self):
        while not self._ending:
            self._work()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self._ending = True
        self.join()


def outcome(work):
    try:
        work()
    except LearnerBusy as error:
        return str(error)
    return "done"


def fork_at_work(model, work):
    """`forked`, at a moment at which a thread is at work with the model."""
    while model._guard.is_free:
        pass
    return forked(work)


def test_a_learner_caught_half_way_says_so_and_all_others_work(tmp_path):
    caught, other = (
        KernelStreamSVM(kernel=RBF(0.1)).partial_fit(X, y),
        FourierSVM().partial_fit(X, y),
    )
    other.save(tmp_path / "other.esvm")

    def at_child():
        again = load(tmp_path / "other.esvm")
        same = [
            other.predict(X).tolist() == again.predict(X, n_jobs=2).tolist(),
            bytes(other.partial_fit(X, y).arena) == bytes(again.partial_fit(X, y).arena),
            bytes(BatchSVM(max_samples=100).fit(X[:100], y[:100]).arena) != b"",
        ]
        methods = [
            lambda: caught.learn_one(X[0], y[0]),
            lambda: caught.predict(X),
            lambda: caught.predict_one(X[0]),
            lambda: caught.partial_fit(X, y),
            lambda: caught.save(tmp_path / "caught.esvm"),
        ]
        return same, [outcome(method) for method in methods]

    with Working(lambda: caught.partial_fit(X, y)):
        for _ in range(15):
            same, outcomes = fork_at_work(caught, at_child)
            assert same == [True] * 3
            assert all("was forked while another thread was at work" in told for told in outcomes)
    assert outcome(lambda: caught.learn_one(X[0], y[0])) == "done"
    assert not (tmp_path / "caught.esvm").exists()


def test_what_is_only_asked_while_a_process_forks_is_whole():
    asked = KernelStreamSVM(kernel=RBF(0.1)).partial_fit(X, y)
    expected = asked.predict(X[:50]).tolist()
    with Working(lambda: asked.decision_function(X)):
        for _ in range(15):
            predicted, learned = fork_at_work(
                asked,
                lambda: (
                    asked.predict(X[:50], n_jobs=2).tolist(),
                    outcome(lambda: asked.learn_one(X[0], y[0])),
                ),
            )
            assert predicted == expected and learned == "done"


def test_a_callback_that_forks_goes_on_in_both():
    told = []

    def progress(*_):
        if not told:
            told.append(forked(lambda: [outcome(lambda: model.learn_one(X[0], y[0])), "forked"]))

    model = RandSVM(solver=BatchSVM(max_samples=200))
    model.fit(X, y, progress=progress)
    assert "a callback" in told[0][0] and told[0][1] == "forked"
    assert forked(lambda: len(model.predict(X, n_jobs=2))) == len(X)
