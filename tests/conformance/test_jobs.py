"""Predictions by several threads: the same bits, the same refusals, nothing written."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from registry import BY_NAME, REGISTERED, decides
from test_threads import interrupted, on_alarm

from edgesvm import KernelStreamSVM, NotFittedError, OneVsOne, Standardized, StreamSVM
from edgesvm.contract import team
from edgesvm.contract.sparse import SparseRows
from edgesvm.errors import LearnerBusy

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _no_work_is_too_short(monkeypatch):
    monkeypatch.setattr(team, "LEAST_BYTES", 1)


def methods(model):
    names = "predict", "predict_proba", "predict_interval"
    return [decides(model), *(getattr(model, name) for name in names if hasattr(model, name))]


def test_any_number_of_threads_gives_the_same_bits():
    for entry in REGISTERED:
        model = entry.make().partial_fit(*entry.stream(150))
        X, y = entry.stream(101, seed=2)
        before = [method(X) for method in methods(model)]
        arena = bytes(model.arena)
        for n_jobs in (1, 2, 3, 7, 200):
            for method, same in zip(methods(model), before, strict=True):
                assert method(X, n_jobs=n_jobs).tobytes() == same.tobytes(), (entry.name, n_jobs)
            for n in (0, 1, 2):
                few = decides(model)(X[:n], n_jobs=n_jobs)
                assert few.tobytes() == before[0][:n].tobytes()
        assert bytes(model.arena) == arena, entry.name
        if hasattr(model, "score"):
            assert model.score(X, y, n_jobs=3) == model.score(X, y)


def test_parts_that_share_kernel_values_share_none_between_threads():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, 2)), rng.integers(0, 3, 2000)
    for max_vectors in (20, 200):  # full, and not
        parts = KernelStreamSVM(max_vectors=max_vectors)
        model = OneVsOne(learner=parts, n_classes=3).partial_fit(X[:200], y[:200])
        alone = model.decision_function(X)
        for _ in range(5):
            np.testing.assert_array_equal(model.decision_function(X, n_jobs=4), alone)


def test_threads_solve_a_store_only_once():
    for name in ("BatchSVM", "ReservoirSVM"):
        entry = BY_NAME[name]
        X, _ = entry.stream(101, seed=2)
        alone, together = (entry.make().partial_fit(*entry.stream(150)) for _ in range(2))
        expected = alone.decision_function(X)
        assert together.decision_function(X, n_jobs=3).tobytes() == expected.tobytes()
        assert bytes(together.arena) == bytes(alone.arena)


def test_the_first_row_that_is_refused_is_named():
    for name in ("StreamSVM", "BatchSVM", "Standardized", "OneVsOne", "FourierSVR"):
        entry = BY_NAME[name]
        model = entry.make().partial_fit(*entry.stream(150))
        X, _ = entry.stream(101)
        for rows in ([100], [40, 90], [0, 60], [60, 61]):
            damaged = X.copy()
            damaged[rows] = np.nan
            for method in methods(model):
                with pytest.raises(ValueError, match=f"row {rows[0]} "):
                    method(damaged, n_jobs=3)


def test_sparse_rows_and_the_callers_array():
    X = np.random.default_rng(0).standard_normal((99, 5)) * (np.arange(5) % 2)
    model = StreamSVM(dtype="float64").partial_fit(X, X[:, 1] > 0)
    entries = np.nonzero(X)
    rows = SparseRows(X[entries], entries[1], np.arange(100) * 2, X.shape)
    out = np.empty(99)
    assert model.decision_function(rows, out, n_jobs=2) is out
    assert out.tobytes() == model.decision_function(X).tobytes()


def test_n_jobs_counts_as_in_scikit_learn(monkeypatch):
    monkeypatch.setattr(team.os, "sched_getaffinity", lambda _: {0, 1, 5, 6})
    assert [team.n_threads(n) for n in (None, 1, 3, -1, -2, -9)] == [1, 1, 3, 4, 3, 1]
    model = StreamSVM().partial_fit(np.eye(2), [0, 1])
    for wrong in (0, 1.5, "2", 1 << 20):
        with pytest.raises(ValueError, match="n_jobs="):
            model.predict(np.eye(2), n_jobs=wrong)
    with pytest.raises(NotFittedError):
        StreamSVM().predict(np.eye(2), n_jobs=2)


def test_short_work_is_done_by_the_caller_alone(monkeypatch):
    started = []
    monkeypatch.setattr(team._thread, "start_new_thread", lambda *_: started.append(1))
    model = StreamSVM().partial_fit(np.eye(2), [0, 1])
    monkeypatch.setattr(team, "LEAST_BYTES", 10 * model.nbytes)
    model.predict(np.zeros((20, 2)), n_jobs=9)
    assert not started


def test_a_system_without_threads_to_give(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(team._thread, "start_new_thread", refuse)
    X, y = BY_NAME["StreamSVM"].stream(100)
    model = StreamSVM().partial_fit(X, y)
    assert np.array_equal(model.predict(X, n_jobs=3), model.predict(X))


def test_learning_waits_for_all_threads_of_a_prediction():
    X, y = BY_NAME["Standardized"].stream(300)
    model = Standardized().partial_fit(X, y)
    many = np.tile(X, (500, 1))
    expected, answers = model.decision_function(many), []
    asking = threading.Thread(
        target=lambda: answers.append(model.decision_function(many, n_jobs=3))
    )
    asking.start()
    while asking.is_alive() and model._guard.is_free:
        pass
    model.learn_one(X[0], y[0])
    asking.join()
    assert model.n_seen_ == 301
    after = model.decision_function(many)
    assert answers[0].tobytes() in (expected.tobytes(), after.tobytes())


def test_ctrl_c_ends_all_threads():
    X, y = BY_NAME["OneVsOne"].stream(1000)
    for model in (StreamSVM(), OneVsOne(n_classes=4)):
        model.partial_fit(X, y > 0 if isinstance(model, StreamSVM) else y)
        before, n_threads = model.predict(X), threading.active_count()
        many = np.tile(X, (10_000, 1))

        def work(model=model, many=many):
            while True:
                model.predict(many, n_jobs=2)

        interrupted(work, when=lambda model=model: not model._guard.is_free)
        assert model._guard.is_free and threading.active_count() == n_threads
        assert np.array_equal(model.predict(X, n_jobs=2), before)


def test_ctrl_c_while_the_caller_awaits_a_thread(monkeypatch):
    """The other thread decides by a core that takes far longer, and is stopped, too."""
    X, y = BY_NAME["StreamSVM"].stream(1000)
    model, slow = StreamSVM(), KernelStreamSVM(max_vectors=500)
    for each in (model, slow):
        each.partial_fit(X, y)
    core = slow._reader_of(slow._state.core)
    monkeypatch.setattr(model, "_reader_of", lambda _: core)
    many, out = np.tile(X, (1000, 1)), np.full(1_000_000, np.nan)

    interrupted(
        lambda: model.decision_function(many, out, n_jobs=2),
        when=lambda: not np.isnan(out[: len(out) // 2]).any(),
    )
    at_the_end = out.copy()
    time.sleep(0.05)
    assert np.isnan(out[-1])
    np.testing.assert_array_equal(out, at_the_end)


def test_a_signal_handler_must_not_learn_while_threads_decide():
    X, y = BY_NAME["StreamSVM"].stream(1000)
    model, told = StreamSVM().partial_fit(X, y), []

    def learn():
        if model._guard.is_free:
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            return
        with pytest.raises(LearnerBusy):
            model.learn_one(X[0], y[0])
        told.append(model.predict_one(X[0]))
        raise KeyboardInterrupt

    many = np.tile(X, (10_000, 1))
    with on_alarm(0.05, learn), pytest.raises(KeyboardInterrupt):
        while True:
            model.predict(many, n_jobs=2)
    assert len(told) == 1 and model.n_seen_ == 1000


READ_ONLY = """
import ctypes, mmap
from registry import REGISTERED, answers, decides

protect = ctypes.CDLL(None, use_errno=True).mprotect
protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
for entry in REGISTERED:
    print(entry.name, flush=True)
    model = entry.make()
    n_bytes = model.plan(entry.n_features).total
    memory = mmap.mmap(-1, n_bytes)
    model.allocate(entry.n_features, buffer=memory)
    model.partial_fit(*entry.stream(150))
    X = entry.stream(50)[0]
    expected = decides(model)(X)
    answers(model, X)
    at = model.arena.memory.ctypes.data
    assert protect(at, n_bytes, mmap.PROT_READ) == 0
    values, *_ = model._reader_of(model._state.core).decide_many(X)
    assert protect(at, n_bytes, mmap.PROT_READ | mmap.PROT_WRITE) == 0
    assert values.tobytes() == expected.tobytes()
"""


def test_a_thread_writes_nothing_into_the_shared_memory():
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY],
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, (done.stdout.split()[-1:], done.stderr)
    assert len(done.stdout.split()) == len(REGISTERED)
