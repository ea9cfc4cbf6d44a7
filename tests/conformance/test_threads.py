"""Threads, callbacks, signals: a learner is at work alone, or tells who comes that it is."""

import copy
import pickle
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from itertools import product

import numpy as np
import pytest
from each import each
from registry import BY_NAME, OWN_METHODS, REGISTERED, one_sample_methods

from edgesvm import (
    RBF,
    BatchSVM,
    FourierSVM,
    IncrementalSVM,
    OneVsOne,
    Standardized,
    StreamSVM,
    load,
)
from edgesvm.data.rows import Rows
from edgesvm.errors import LearnerBusy, NotFittedError

OTHERS = [entry.name for entry in REGISTERED if entry.name not in OWN_METHODS]
SWITCH = 1e-5  # seconds between two switches of threads, so that there are many


@pytest.mark.parametrize(
    "names", [OWN_METHODS, *(pytest.param([n], marks=pytest.mark.long, id=n) for n in OTHERS)]
)
@each("work", ["predictions", "two_orders", "everything", "callbacks"])
def test_threads_and_callbacks_at_every_method(names, work, tmp_path):
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        for name in names:
            end = time.monotonic() + 0.1
            WORK[work](BY_NAME[name].make, *BY_NAME[name].stream(150), tmp_path / name)
            while work != "callbacks" and time.monotonic() < end:
                WORK[work](BY_NAME[name].make, *BY_NAME[name].stream(150), tmp_path / name)
    finally:
        sys.setswitchinterval(interval)


def together(*jobs):
    """Run each in a thread of its own, started at once; none raises."""
    gate, raised = threading.Barrier(len(jobs)), []

    def run(job):
        gate.wait()
        try:
            job()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert raised == []


def of_rows(model, X):
    """What a model says of rows."""
    names = "predict", "decision_function", "predict_interval"
    return [getattr(model, name)(X).tolist() for name in names if hasattr(model, name)]


def predictions(make, X, y, _):
    """Those of several threads, from a model that does not change, are those of a lone thread."""
    model = make().partial_fit(X, y)

    def told(model, part):
        methods = [getattr(model, name) for name in one_sample_methods(model)]
        return of_rows(model, part), [np.asarray(m(x)).tolist() for m in methods for x in part[:20]]

    def read(part, expected):
        for _ in range(3):
            assert told(model, part) == expected

    alone, parts = copy.deepcopy(model), [X[i::3].copy() for i in range(3)]
    expected = [told(alone, part) for part in parts]
    together(*[lambda p=p, e=e: read(p, e) for p, e in zip(parts, expected, strict=True)])


def two_orders(make, X, y, _):
    """Two threads learn a block each: the arena is that of one order or the other, and what others
    are told meanwhile is what one of the five states in between says."""
    blocks, queries = [slice(i * 50, (i + 1) * 50) for i in range(3)], X[:30].copy()

    def learned(*order):
        model = make().partial_fit(X[blocks[0]], y[blocks[0]])
        for i in order:
            model.partial_fit(X[blocks[i]], y[blocks[i]])
        return model

    orders = [learned(1, 2), learned(2, 1)]
    allowed = [of_rows(state, queries) for state in [learned(), learned(1), learned(2), *orders]]
    model, finished = learned(), []

    def learn(i):
        model.partial_fit(X[blocks[i]], y[blocks[i]])
        finished.append(i)

    def read():
        is_last, end = False, time.monotonic() + 30
        while not is_last and time.monotonic() < end:
            is_last = len(finished) == 2
            for told, *by_state in zip(of_rows(model, queries), *allowed, strict=True):
                assert told in by_state

    together(lambda: learn(1), lambda: learn(2), read, read)
    model.predict(queries)  # a store is solved or not; its samples tell the order
    assert bytes(model.arena) in [bytes(order.arena) for order in orders]


def everything(make, X, y, path):
    """Through all methods at once, those that replace the model's memory too; it stays sound."""
    model, (n_features, labels) = make().partial_fit(X[:30], y[:30]), (X.shape[1], y.tolist())

    def saving():
        for _ in range(3):
            model.save(path)
            load(path)
            pickle.loads(pickle.dumps(model))

    def learning():
        for i in range(6):
            model.partial_fit(X[i::6], y[i::6])
            for x, label in zip(X[:10], labels[:10], strict=True):
                model.learn_one(x, label)

    def reading():
        for x in X[:60]:
            with suppress(NotFittedError):
                model.predict_one(x)
            with suppress(NotFittedError):
                model.predict(X[:20])

    def dropping():
        for i in range(6):
            model.reset() if i % 2 else model.allocate(n_features)

    together(learning, learning, reading, saving, dropping)
    model._check(model.core)
    model.partial_fit(X, y).predict(X)


def changing_methods(X, y, path):
    """What a callback must not do with the learner that calls it."""
    label = np.asarray(y).tolist()[0]
    return {
        "learn_one": lambda model: model.learn_one(X[0], label),
        "partial_fit": lambda model: model.partial_fit(X, y),
        "fit": lambda model: model.fit(X, y),
        "reset": lambda model: model.reset(),
        "allocate": lambda model: model.allocate(X.shape[1]),
        "set_params": lambda model: model.set_params(),
        "save": lambda model: model.save(path),
        "pickle": pickle.dumps,
        "deepcopy": copy.deepcopy,
    }


class Nosy:
    """A label whose comparison, or a target whose reading, goes through a method of the learner."""

    def __init__(self, value, visit):
        self.value, self.visit = value, visit

    def __eq__(self, other):
        self.visit()
        return bool(self.value == other)

    def __hash__(self):
        return hash(self.value)

    def __float__(self):
        self.visit()
        return float(self.value)


def callbacks(make, X, y, path):
    """Those that come back through a method that changes are refused, and leave no trace."""
    make().partial_fit(X, y).save(path)
    good, label = path.read_bytes(), y.tolist()[1]
    for name, method in changing_methods(X, y, path).items():
        model, plain, refused = make().partial_fit(X, y), make().partial_fit(X, y), []

        def visit(model=model, method=method, refused=refused):
            with pytest.raises(LearnerBusy):
                method(model)
            refused.append(1)

        model.learn_one(X[1], Nosy(label, visit))
        plain.learn_one(X[1], label)
        assert refused and bytes(model.arena) == bytes(plain.arena), name
        if "progress" in type(model).fit.__annotations__:
            model.fit(X, y, progress=lambda *_, visit=visit: visit())
            assert bytes(model.arena) == bytes(plain.fit(X, y).arena), name
        assert path.read_bytes() == good, name


WORK = {work.__name__: work for work in (predictions, two_orders, everything, callbacks)}


# -- signals ---------------------------------------------------------------------------------------


@contextmanager
def on_alarm(seconds, handler):
    """`handler` run as a signal's, so many seconds from now."""
    before = signal.signal(signal.SIGALRM, lambda *_: handler())
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def interrupted(work, seconds=0.15, when=lambda: True):
    """Processor seconds from Ctrl-C to the end of `work`; it is pressed once `when` holds."""
    pressed = []

    def press():
        if not when():
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            return
        pressed.append(time.process_time())
        raise KeyboardInterrupt

    with on_alarm(seconds, press), pytest.raises(KeyboardInterrupt):
        work()
    return time.process_time() - pressed[0]


@each(
    "name, n",
    [("KernelStreamSVM", 4_000_000), ("BatchSVM", 6_000_000), ("WindowedSVM", 400_000)],
)
def test_ctrl_c_ends_a_large_batch_between_two_rows(name, n):
    entry = BY_NAME[name]
    few, labels = entry.stream(1000)
    X, y = np.tile(few, (n // 1000, 1)), np.tile(labels, n // 1000)
    model = entry.make().allocate(entry.n_features)
    assert interrupted(lambda: model.partial_fit(X, y), when=lambda: model.n_seen_ > 0) < 1.0
    n_learned = model.n_seen_
    assert 0 < n_learned < n
    same = entry.make().partial_fit(X[:n_learned], y[:n_learned])
    assert bytes(model.arena) == bytes(same.arena)
    assert model.partial_fit(X[:50], y[:50]).n_seen_ == n_learned + 50


def test_ctrl_c_keeps_the_labels_of_learned_rows_only():
    entry = BY_NAME["WindowedSVM"]
    X = np.tile(entry.stream(1000)[0], (3000, 1))
    y = np.full(len(X), "cold", object)
    y[-1] = "hot"
    model = entry.make().allocate(entry.n_features)
    interrupted(lambda: model.partial_fit(X, y), seconds=0.05, when=lambda: model.n_seen_ > 0)
    assert 0 < model.n_seen_ < len(X)
    assert list(model.classes_) == ["cold"]


@each("name", ["StreamSVM", "Standardized", "OneVsOne", "BallVectorMachine"])
@each("method", ["predict", "decision_function"])
def test_ctrl_c_ends_a_large_prediction(name, method):
    entry = BY_NAME[name]
    few, labels = entry.stream(1000)
    model = entry.make().partial_fit(few, labels)
    X = np.tile(few, (10_000, 1))
    begin = time.process_time()
    getattr(model, method)(X)
    whole = time.process_time() - begin
    assert interrupted(lambda: getattr(model, method)(X), seconds=0.02) < whole / 2
    assert np.array_equal(model.predict(few), entry.make().partial_fit(few, labels).predict(few))


def test_ctrl_c_ends_a_solution_asked_for_by_a_prediction():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 6)).astype(np.float32)
    y = rng.integers(0, 2, len(X))
    model = BatchSVM(max_samples=4000, C=1e4, kernel=RBF(0.1), tol=1e-9).partial_fit(X, y)
    stored = bytes(model.arena)
    assert interrupted(lambda: model.predict_one(X[0])) < 1.0
    assert bytes(model.arena) == stored


def test_a_signal_handler_may_predict_and_nothing_else(tmp_path):
    X, y = np.tile(BY_NAME["StreamSVM"].stream(1000)[0], (3000, 1)), np.arange(3_000_000) % 2
    model = StreamSVM().allocate(5, classes=[0, 1])
    told, refused = [], []

    def handle():
        if model.n_seen_ == 0:  # on a busy machine, learning has not begun
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            return
        told.append(model.predict_one(X[0]))
        for name, method in changing_methods(X[:9], y[:9], tmp_path / "model.esvm").items():
            try:
                method(model)
            except LearnerBusy:
                refused.append(name)

    with on_alarm(0.1, handle):
        model.partial_fit(X, y)
    assert len(told) == 1 and refused == list(changing_methods(X, y, tmp_path))
    assert bytes(model.arena) == bytes(
        StreamSVM().allocate(5, classes=[0, 1]).partial_fit(X, y).arena
    )


def test_ctrl_c_ends_the_wait_for_another_thread():
    entry = BY_NAME["IncrementalDecrementalSVM"]
    few, labels = entry.stream(1000)
    X, y = np.tile(few, (400, 1)), np.tile(labels, 400)  # seconds of work
    model = entry.make().allocate(entry.n_features)
    thread = threading.Thread(target=model.partial_fit, args=(X, y))
    thread.start()
    while model._guard.is_free:
        time.sleep(0.001)
    late = interrupted(lambda: model.partial_fit(X[:9], y[:9]), seconds=0.1)
    waited = thread.is_alive()
    thread.join()
    assert late < 0.5 and waited
    assert model.n_seen_ == len(X)
    assert model.partial_fit(X[:9], y[:9]).n_seen_ == len(X) + 9


# -- callbacks -------------------------------------------------------------------------------------


def test_progress_must_not_save_an_unfinished_model(tmp_path):
    """A solver that takes its thousands of iterations: progress is called in the midst of it."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 4)).astype(np.float32), rng.integers(0, 2, 600)
    params = {"max_samples": 600, "C": 1e3, "kernel": RBF(1.0), "tol": 1e-6}
    refused = []

    def visit(model):
        for name, method in changing_methods(X, y, tmp_path / "model.esvm").items():
            with pytest.raises(LearnerBusy, match="BatchSVM is at work"):
                method(model)
            refused.append(name)
        with pytest.raises(LearnerBusy):  # there is no solution yet
            model.predict_one(X[0])

    model = BatchSVM(**params)
    model.fit(X, y, progress=lambda *_: visit(model))
    assert len(refused) >= 9 and not (tmp_path / "model.esvm").exists()
    assert bytes(model.arena) == bytes(BatchSVM(**params).fit(X, y).arena)


@each("name", ["BatchSVM", "RandSVM", "BallVectorMachine", "OneVsRest-BatchSVM"])
def test_a_source_of_chunks_must_not_come_back(name):
    entry = BY_NAME[name]
    X, y = entry.stream(16)

    class Source:
        n_features = entry.n_features

        def __init__(self):
            self.refused = 0

        def chunks(self, rows):
            with pytest.raises(LearnerBusy):
                model.reset()
            self.refused += 1
            yield Rows(X, y)

    model, source = entry.make(), Source()
    model.fit(source)
    assert source.refused >= 2
    assert model.n_seen_ == 16


# -- arrays that change under way ------------------------------------------------------------------


def far_too_long(array):
    """Give an array another block of memory, the old one back."""
    array.resize(1 << 22, refcheck=False)


def test_a_label_must_not_resize_the_row_that_is_learned():
    x = np.ones(4, np.float32)
    model = StreamSVM().partial_fit(np.eye(4, dtype=np.float32), [0, 1, 0, 1])
    before = bytes(model.arena)
    with pytest.raises(ValueError, match="another shape"):
        model.learn_one(x, Nosy(0, lambda: far_too_long(x)))
    assert bytes(model.arena) == before and model.classes_.tolist() == [0, 1]


@each("which", ["rows", "weights"])
def test_a_label_must_not_resize_what_is_learned(which):
    X, weights = np.ones((4, 4), np.float32), np.ones(4)
    model = StreamSVM().partial_fit(np.eye(4), [0, 1, 0, 1])
    before = bytes(model.arena)
    shrunk, shape = (X, (1, 4)) if which == "rows" else (weights, 0)
    y = np.array([Nosy(0, lambda: shrunk.resize(shape, refcheck=False)), 1, 0, 1], object)
    with pytest.raises(ValueError, match="another shape"):
        model.partial_fit(X, y, sample_weight=weights)
    assert bytes(model.arena) == before


def test_a_signal_handler_must_not_resize_the_rows_that_are_read():
    X = np.ones((4_000_000, 4), np.float32)
    model = FourierSVM().partial_fit(np.eye(4, dtype=np.float32), [0, 1, 0, 1])  # half a second
    shrink = on_alarm(0.08, lambda: X.resize((4, 4), refcheck=False))
    with shrink, pytest.raises(ValueError, match="another shape"):
        model.decision_function(X)


class Unsortable(str):
    def __lt__(self, other):
        raise ZeroDivisionError


@each("method", ["learn_one", "partial_fit"])
def test_a_label_that_cannot_be_sorted_is_not_half_learned(method):
    model = StreamSVM().partial_fit(np.eye(3, dtype=np.float32), ["b"] * 3)
    before = bytes(model.arena)
    x, label = np.ones(3, np.float32), Unsortable("a")
    with pytest.raises(ZeroDivisionError):
        if method == "learn_one":
            model.learn_one(x, label)
        else:
            model.partial_fit(x[None], np.array([label], object))
    assert bytes(model.arena) == before and model.classes_.tolist() == ["b"]


# -- threads ---------------------------------------------------------------------------------------


def test_the_first_samples_of_two_threads_are_all_learned():
    rows, labels = BY_NAME["StreamSVM"].stream(200)
    for _ in range(50):
        model = StreamSVM()

        def learn(part, model=model):
            for x, y in zip(rows[part::2], labels[part::2].tolist(), strict=True):
                model.learn_one(x, y)

        together(lambda learn=learn: learn(0), lambda learn=learn: learn(1))
        assert model.n_seen_ == 200


LEARNERS = "StreamSVM", "BatchSVM", "RandSVM", "Standardized", "OneVsOne"
ANSWERING = "predict_one", "predict_with_score", "decision_one", "predict"
REGRESSORS = "FourierSVR", "Standardized-FourierSVR"
FORECASTING = "predict_one", "predict_interval_one", "forecast_one", "predict"


@each("name, method", [*product(LEARNERS, ANSWERING), *product(REGRESSORS, FORECASTING)])
def test_who_waited_while_the_model_was_emptied_finds_it_empty(name, method):
    entry = BY_NAME[name]
    X, y = entry.stream(12)
    model = entry.make().partial_fit(X, y)
    told = []

    def ask():
        with pytest.raises(NotFittedError):
            getattr(model, method)(X if method == "predict" else X[0])
        told.append(method)

    thread = threading.Thread(target=ask)
    with model._guard:
        thread.start()
        while not model._guard.is_awaited:
            time.sleep(0.001)
        model.reset()
    thread.join()
    assert told == [method] and not any(bytes(model.arena))
    model._check(model.core)


@each(
    "model, at_once",
    [
        (StreamSVM(), True),
        (IncrementalSVM(max_vectors=20), True),
        (Standardized(learner=StreamSVM()), False),
        (OneVsOne(n_classes=2), False),
    ],
)
def test_predictions_run_at_once_unless_they_share_scratch(model, at_once):
    few, labels = BY_NAME["StreamSVM"].stream(300)
    model.partial_fit(few, labels)
    X = np.tile(few, (2000, 1))

    def most_sharing():
        sharing = [0]
        threads = [threading.Thread(target=model.predict, args=(X,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            sharing.append(model._guard.n_sharing)
            time.sleep(0.001)
        return max(sharing)

    # On a busy machine the first may be done before the second begins.
    assert any(most_sharing() == 2 for _ in range(100 if at_once else 1)) == at_once


def test_a_writer_is_not_kept_out_by_readers():
    few, labels = BY_NAME["StreamSVM"].stream(300)
    model = StreamSVM().partial_fit(few, labels)
    X, stop = np.tile(few, (300, 1)), threading.Event()

    def read():
        while not stop.is_set():
            model.predict(X)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    begin = time.monotonic()
    for _ in range(5):
        model.partial_fit(few, labels)
    took = time.monotonic() - begin
    stop.set()
    for thread in threads:
        thread.join()
    assert took < 60.0  # an instant, unless readers keep it out
