"""Threads and callbacks at one learner: what they may do to it, and what they must not.

Work is chosen so that right and wrong can be told apart to the last bit. Two threads learn a block
of rows each, so the arena afterwards is that of one order or the other, and what a third thread was
told meanwhile is what one of the five states in between says. Of a model that nobody changes each
thread is told what a lone thread is told.
"""

from __future__ import annotations

import copy
import pickle
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from edgesvm import load
from edgesvm.errors import LearnerBusy

Make = Callable[[], Any]
Method = Callable[[Any], Any]

SWITCH = 1e-5  # seconds between two switches of threads, so that there are many
READERS = 2


@dataclass
class Tried:
    """What was tried at one learner, and what went wrong."""

    interleavings: int = 0
    answers: int = 0
    callbacks: int = 0
    wrong: list[str] = field(default_factory=list)


def try_threads(make: Make, X: np.ndarray, y: Any, seconds: float) -> Tried:
    """Threads at learners of `make`, for about so many seconds."""
    tried = Tried()
    y = np.asarray(y)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        for work in (_frozen, _two_orders, _everything):
            end = time.monotonic() + seconds / 3
            while not tried.wrong:
                work(make, X, y, tried)
                if time.monotonic() >= end:
                    break
    finally:
        sys.setswitchinterval(interval)
    return tried


def together(*jobs: Callable[[], None]) -> list[str]:
    """Run each in a thread of its own, started at once; what they raised."""
    gate, raised = threading.Barrier(len(jobs)), []

    def run(job: Callable[[], None]) -> None:
        gate.wait()
        try:
            job()
        except Exception as error:
            raised.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def _of_rows(model: Any, X: np.ndarray) -> dict[str, np.ndarray]:
    """What a model says of rows."""
    names = "predict", "decision_function", "predict_interval"
    return {name: getattr(model, name)(X) for name in names if hasattr(model, name)}


def _answers(model: Any, X: np.ndarray) -> dict[str, np.ndarray]:
    """What a model says of rows and of samples, through each method."""
    of_labels = "predict_one", "decision_one", "predict_with_score"
    of_numbers = "predict_one", "predict_interval_one", "forecast_one"
    names = of_numbers[: 3 if model.forecasts else 1] if model.regresses else of_labels
    singles = {name: [getattr(model, name)(x) for x in X[:20]] for name in names}
    return _of_rows(model, X) | {name: np.array(of) for name, of in singles.items()}


def _frozen(make: Make, X: np.ndarray, y: np.ndarray, tried: Tried) -> None:
    """Predictions of several threads from a model that does not change: those of a lone thread."""
    model = make().partial_fit(X, y)
    alone = copy.deepcopy(model)
    parts = [X[i :: READERS + 1].copy() for i in range(READERS + 1)]
    expected = [_answers(alone, part) for part in parts]

    def read(part: np.ndarray, want: dict[str, np.ndarray]) -> None:
        for _ in range(3):
            for method, answer in _answers(model, part).items():
                tried.answers += len(answer)
                if not np.array_equal(answer, want[method]):
                    tried.wrong.append(f"{method} beside other predictions")

    jobs = [lambda p=p, w=w: read(p, w) for p, w in zip(parts, expected, strict=True)]
    tried.wrong += together(*jobs)
    tried.interleavings += 1


def _two_orders(make: Make, X: np.ndarray, y: np.ndarray, tried: Tried) -> None:
    """Two threads learn a block each, while others predict."""
    third = len(X) // 3
    blocks = [slice(i * third, (i + 1) * third) for i in range(3)]
    queries = X[:30].copy()

    def learned(*order: int) -> Any:
        model = make().partial_fit(X[blocks[0]], y[blocks[0]])
        for i in order:
            model.partial_fit(X[blocks[i]], y[blocks[i]])
        return model

    orders = [learned(1, 2), learned(2, 1)]
    states = [learned(), learned(1), learned(2), *orders]
    allowed = [_of_rows(state, queries) for state in states]
    model, done = learned(), threading.Event()
    finished = []

    def learn(i: int) -> None:
        model.partial_fit(X[blocks[i]], y[blocks[i]])
        finished.append(i)
        if len(finished) == 2:
            done.set()

    def read() -> None:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            last = done.is_set()
            for name, answer in _of_rows(model, queries).items():
                tried.answers += len(answer)
                if not any(np.array_equal(answer, told[name]) for told in allowed):
                    tried.wrong.append("an answer of no state that the model was ever in")
            if last:
                return

    tried.wrong += together(lambda: learn(1), lambda: learn(2), *[read] * READERS)
    model.predict(queries)  # a store is solved or not; its samples tell the order
    if bytes(model.arena) not in [bytes(order.arena) for order in orders]:
        tried.wrong.append("the arena is that of neither order")
    tried.interleavings += 1


def _everything(make: Make, X: np.ndarray, y: np.ndarray, tried: Tried) -> None:
    """Through all methods at once, those that replace the model's memory too; it stays sound."""
    model = make().partial_fit(X[:30], y[:30])
    n_features = X.shape[1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.esvm"

        def saving() -> None:
            for _ in range(3):
                model.save(path)
                load(path)
                pickle.loads(pickle.dumps(model))

        def learning() -> None:
            for i in range(6):
                model.partial_fit(X[i::6], y[i::6])
                for x, label in zip(X[:10], y[:10].tolist(), strict=True):
                    model.learn_one(x, label)

        def reading() -> None:
            for x in X[:60]:
                ignoring_empty(model.predict_one, x)
                ignoring_empty(model.predict, X[:20])

        def dropping() -> None:
            for i in range(6):
                model.reset() if i % 2 else model.allocate(n_features)

        tried.wrong += together(learning, learning, reading, saving, dropping)
        model._check(model.core)
        model.partial_fit(X, y).predict(X)
    tried.interleavings += 1


def ignoring_empty(method: Callable, x: np.ndarray) -> None:
    """A model that was just emptied has no answer; that is no fault."""
    try:
        method(x)
    except ValueError as error:
        if "not learned a sample" not in str(error):
            raise


# -- callbacks -------------------------------------------------------------------------------------


def changing_methods(X: np.ndarray, y: Any, path: Path) -> dict[str, Method]:
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

    def __init__(self, value: Any, visit: Callable[[], None]) -> None:
        self.value, self.visit = value, visit

    def __eq__(self, other: object) -> bool:
        self.visit()
        return bool(self.value == other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __float__(self) -> float:
        self.visit()
        return float(self.value)


def try_callbacks(make: Make, X: np.ndarray, y: Any, tried: Tried) -> None:
    """Callbacks that come back through every method are refused, and leave no trace."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "good.esvm"
        make().partial_fit(X, y).save(path)
        good = path.read_bytes()
        for name, method in changing_methods(X, y, path).items():
            for site, calling in (("a label", _compare), ("progress", _progress)):
                left = calling(make, X, y, method, tried)
                if left is not None:
                    tried.wrong.append(f"{name} from {site}: {left}")
                if path.read_bytes() != good:
                    tried.wrong.append(f"{name} from {site} replaced a good file")


def _compare(make: Make, X: np.ndarray, y: Any, method: Method, tried: Tried) -> str | None:
    model, plain = make().partial_fit(X, y), make().partial_fit(X, y)
    outcomes: list[str] = []
    label = np.asarray(y).tolist()[1]
    model.learn_one(X[1], Nosy(label, lambda: outcomes.append(_refused(method, model))))
    plain.learn_one(X[1], label)
    return _judged(model, plain, outcomes, tried)


def _progress(make: Make, X: np.ndarray, y: Any, method: Method, tried: Tried) -> str | None:
    model, plain = make(), make()
    if "progress" not in type(model).fit.__annotations__:
        return None
    outcomes: list[str] = []
    model.fit(X, y, progress=lambda *_: outcomes.append(_refused(method, model)))
    plain.fit(X, y)
    return _judged(model, plain, outcomes, tried)


def _refused(method: Method, model: Any) -> str:
    try:
        method(model)
    except LearnerBusy:
        return ""
    except Exception as error:
        return f"raised {error!r}"
    return "let in"


def _judged(model: Any, plain: Any, outcomes: list[str], tried: Tried) -> str | None:
    tried.callbacks += len(outcomes)
    wrong = next(filter(None, outcomes), None)
    if wrong is None and bytes(model.arena) != bytes(plain.arena):
        wrong = "the model is another than without the callback"
    return wrong
