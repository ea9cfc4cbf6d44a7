"""No allocator call between sample 1,000 and 1,001,000, Python's or the C library's.

One learner is counted over the million, the others over fewer, and over the million in the long
run, where each sample is predicted, then learned. Those that `make test` takes are counted in one
process: most of the time was its start.
"""

import gc
from pathlib import Path

import numpy as np
import pytest
from allocations import SAMPLES, hook_calls, hooks, preload_calls
from each import each, each_of, first_of
from registry import BY_NAME, CHECKS, OWN_METHODS, REGISTERED, one_sample_methods

HERE = Path(__file__).parent

SETUP = """
import numpy as np
from registry import BY_NAME, one_sample_methods

cases = {{}}
for name, dtypes in {names}.items():
    entry = BY_NAME[name]
    for dtype in dtypes:
        X, y = entry.stream(600, dtype)
        rows, labels = list(X), y.tolist()
        learned = entry.make(dtype).partial_fit(X, y)
        words = entry.renamed(y, ("cold", "hot", "mild", "off"))
        text = entry.make(dtype).partial_fit(X, words)
        learning = entry.make(dtype).allocate(entry.n_features)
        weighted = entry.make(dtype).allocate(entry.n_features)
        weighing = rows, labels, [0.5, 1.0, 2.0] * 200
        both = entry.make(dtype).partial_fit(X, y)
        *_, method = [*one_sample_methods(both)][:2]

        def alternate(x, label, predict=getattr(both, method), learn=both.learn_one):
            predict(x)
            learn(x, label)

        cases[f"{{name}} {{dtype}} predict, then learn"] = alternate, (rows, labels)
        cases[f"{{name}} {{dtype}} learn_one"] = learning.learn_one, (rows, labels)
        cases[f"{{name}} {{dtype}} learn_one, weights"] = weighted.learn_one, weighing
        cases[f"{{name}} {{dtype}} predict_one, text labels"] = text.predict_one, (rows,)
        if entry.forecasts:
            late, said = entry.make(dtype).partial_fit(X, y), [learned.forecast_one(x) for x in X]
            cases[f"{{name}} {{dtype}} learn_late_one"] = late.learn_late_one, (rows, labels, said)
        for method, size in one_sample_methods(learned).items():
            columns = (rows, [np.empty(size)] * 600) if size else (rows,)
            cases[f"{{name}} {{dtype}} {{method}}"] = getattr(learned, method), columns
"""

ALTERNATE = """
cases = {name: case for name, case in cases.items() if name.endswith("predict, then learn")}
"""

NAMES = [entry.name for entry in REGISTERED]
# Each core once; for C, where core/ holds that no module imports an allocator, the methods alone.
CORES = {*OWN_METHODS, *CHECKS}
FEWER_SAMPLES = 1_000
LARGEST_CONTROL = 100


def together(usual):
    """The usual names as one value, each in one dtype; each name in all as one of the long run."""
    dtypes = {name: BY_NAME[name].dtypes for name in NAMES}
    one = {name: dtypes[name][-(i % 2) :][:1] for i, name in enumerate(sorted(usual))}
    return [
        pytest.param(one, id="usual"),
        *(pytest.param({n: dtypes[n]}, id=n, marks=pytest.mark.long) for n in NAMES),
    ]


def n_cases(names):
    """Of each learner what answers one sample, and what learns one."""
    total = 0
    for name, dtypes in names.items():
        entry = BY_NAME[name]
        methods = one_sample_methods(entry.make().partial_fit(*entry.stream(40)))
        total += (4 + entry.forecasts + len(methods)) * len(dtypes)
    return total


@pytest.mark.parametrize("names", together(CORES))
def test_no_python_allocator_call_per_sample(names):
    measured = hook_calls(SETUP.format(names=names), FEWER_SAMPLES)
    assert len(measured) == n_cases(names)
    assert {case: calls.excess for case, calls in measured.items() if any(calls.excess)} == {}


@pytest.mark.parametrize(
    "through_malloc",
    [
        pytest.param(True, id="all-of-python"),
        pytest.param(
            False, id="system-only", marks=pytest.mark.long
        ),  # weaker: pymalloc hides most
    ],
)
@pytest.mark.parametrize("names", together(OWN_METHODS))
def test_no_c_allocator_call_per_sample(names, through_malloc, alloc_preload, n=FEWER_SAMPLES):
    setup = SETUP.format(names=names)
    measured = preload_calls(setup, alloc_preload, n, through_malloc=through_malloc, path=[HERE])
    assert len(measured) == n_cases(names)
    beyond = {c: calls for c, calls in measured.items() if max(calls.excess) > calls.control}
    assert beyond == {}
    assert all(calls.control < LARGEST_CONTROL for calls in measured.values())


@pytest.mark.long
@each("through_malloc", [True, False])
def test_no_c_allocator_call_in_a_million_samples(through_malloc, alloc_preload):
    names = {NAMES[0]: BY_NAME[NAMES[0]].dtypes}
    test_no_c_allocator_call_per_sample(names, through_malloc, alloc_preload, SAMPLES)


@pytest.mark.parametrize("name", first_of(NAMES))
def test_no_python_allocator_call_in_a_million_samples(name):
    dtypes = BY_NAME[name].dtypes
    measured = hook_calls(SETUP.format(names={name: dtypes}) + ALTERNATE)
    assert len(measured) == len(dtypes)
    assert {case: calls.excess for case, calls in measured.items() if any(calls.excess)} == {}


@pytest.mark.entries(*OWN_METHODS)
@each_of("subject")
@each("weighted", [False, True])
def test_partial_fit_makes_a_constant_few_calls(subject, weighted):
    X, y = subject.stream(5000)
    weights = np.ones(5000) if weighted else None
    learner = subject.make().partial_fit(X, y)

    def calls(n):
        batch = X[:n], y[:n], None, None if weights is None else weights[:n]
        learner.partial_fit(*batch)
        counter = hooks()
        gc.disable()
        try:
            counter.start()
            try:
                learner.partial_fit(*batch)
            finally:
                counter.stop()
        finally:
            gc.enable()
        return counter.counts()[0]

    few, many = calls(500), calls(5000)
    # not exactly equal: Python's free lists and small ints serve one object or another
    assert abs(many - few) <= 5 and few < 200
