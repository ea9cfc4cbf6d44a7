"""The contract of learners, for those without labels: bytes, bits, snapshots, both engines."""

import copy
import pickle
import zlib

import numpy as np
import pytest
from allocations import hook_calls
from each import each

import edgesvm
from edgesvm import (
    RBF,
    CorruptModelError,
    GaussianNovelty,
    KernelNovelty,
    NotFittedError,
    OneClassBallVectorMachine,
    OneClassCoreVectorMachine,
)
from edgesvm.persist.store import restore

N, D = 240, 5
FORMS = {
    "full": (GaussianNovelty, {"alarm_rate": 0.02}),
    "diagonal": (GaussianNovelty, {"covariance": "diagonal", "alarm_rate": 0.05, "learn": "all"}),
    "kernel": (KernelNovelty, {"max_vectors": 9, "alarm_rate": 0.05}),
    "kernel-exact": (KernelNovelty, {"max_vectors": 9, "alarm_rate": 0.05, "storage": "exact"}),
    "kernel-all": (KernelNovelty, {"max_vectors": 40, "learn": "all", "gamma": 0.2}),
    "until": (GaussianNovelty, {"alarm_rate": 0.05, "learn": "until 100"}),
}
SMALL = {"kernel": RBF(0.3), "max_core": 30}
BALLS = {  # which are learners without labels too
    "core": (OneClassCoreVectorMachine, SMALL),
    "core-nu-none": (OneClassCoreVectorMachine, SMALL | {"nu": None}),
    "ball": (OneClassBallVectorMachine, SMALL),
    "ball-nu-none": (OneClassBallVectorMachine, SMALL | {"nu": None}),
}
ALL = FORMS | BALLS
COUNTS = ("n_seen_", "n_updates_", "n_alarms_", "n_strange_")


def stream(n=N, dtype="float32", seed=1):
    """Two clouds that drift, an outlier now and then, and samples that come twice."""
    rng = np.random.default_rng([seed, n])
    X = rng.standard_normal((n, D)) + 3 * rng.integers(0, 2, (n, 1)) * (np.arange(D) < 2)
    X[:, 3] += np.sin(np.arange(n) / 40)
    X[::37] *= 5
    X[10:60:10] = X[9:59:10]
    X[:, 4] = np.where(np.arange(n) < 30, 2.0, X[:, 4])  # it does not vary at first
    return X.astype(dtype)


def make(form, dtype="float32", engine="compiled", **changes):
    kind, params = ALL[form]
    kind = kind if engine == "compiled" else type(kind.__name__, (kind,), {"_engine": engine})
    warm = {"warm_up": 50} if form in FORMS else {}
    return kind(**{"dtype": dtype, **warm, **params, **changes})


@each("form", FORMS)
@each(
    "dtype, engine",
    [("float32", "compiled"), ("float64", "compiled"), ("float32", "reference")],
)
def test_any_cutting_gives_the_same_bytes(form, dtype, engine):
    X = stream(dtype=dtype)
    whole = make(form, dtype, engine).partial_fit(X)
    single = make(form, dtype, engine)
    moved = [single.learn_one(x) for x in X]
    cut = make(form, dtype, engine).partial_fit(X[:1]).partial_fit(X[1:91])
    cut.predict(X), cut.score_one(X[3]), cut.partial_fit(X[91:])
    fitted = make(form, dtype, engine).partial_fit(X[:70]).fit(X)
    fitted.core.views["alarm"][0] = whole.core.views["alarm"][0]  # that `fit` leaves at 0
    for other in (single, cut, fitted):
        assert bytes(other.arena) == bytes(whole.arena)
    assert sum(moved) == whole.n_updates_ and whole.n_seen_ == N
    if whole.learn != "normal":
        assert sum(moved) == {"all": N, "until 100": 100}[whole.learn]
    assert whole.n_alarms_ > 0 or form in ("kernel-all", "until")


@each("form", FORMS)
@each("dtype", ["float32", "float64"])
def test_the_engines_agree(form, dtype):
    X = stream(dtype=dtype)
    fast, plain = make(form, dtype), make(form, dtype, "reference")
    assert fast.plan(D) == plain.plan(D)
    rounded = dtype == "float32" or getattr(fast, "storage", "exact") == "compact"
    rtol = 1e-3 if rounded else 1e-8
    for begin in range(0, N, 40):
        for learner in (fast, plain):
            learner.partial_fit(X[begin : begin + 40])
        assert [getattr(fast, c) for c in COUNTS] == [getattr(plain, c) for c in COUNTS]
        np.testing.assert_allclose(
            fast.score_samples(X), plain.score_samples(X), rtol=rtol, atol=rtol
        )
        np.testing.assert_allclose(fast.offset_, plain.offset_, rtol=rtol)
        shares = [[learner.shares_one(x) for x in X[::30]] for learner in (fast, plain)]
        np.testing.assert_allclose(*shares, rtol=0, atol=rtol)
    assert type(fast.core).__module__ != type(plain.core).__module__


@each("form", [form for form in FORMS if form != "until"])
@each("dtype", ["float32", "float64"])
def test_what_is_said_to_be_normal_is_learned_whatever_it_scores(form, dtype):
    X, strange = stream(dtype=dtype), np.full((9, D), 40, dtype) + stream(9, dtype)
    fast, plain = make(form, dtype), make(form, dtype, "reference")
    for learner in (fast, plain):
        with pytest.raises(NotFittedError):
            learner.learn_normal(X[0])
        learner.partial_fit(X)
    before, offset = {name: getattr(fast, name) for name in COUNTS}, fast.offset_
    scored = fast.score_one(strange[0])
    assert (fast.predict(strange) == -1).all()
    for x in strange:
        fast.learn_normal(x), plain.learn_normal(x)
    after = {name: getattr(fast, name) for name in COUNTS}
    more = {name: before[name] + 9 * (name in ("n_seen_", "n_updates_")) for name in COUNTS}
    assert after == more == {name: getattr(plain, name) for name in COUNTS}
    assert fast.offset_ == offset and fast.score_one(strange[0]) < scored
    rounded = dtype == "float32" or getattr(fast, "storage", "exact") == "compact"
    rtol = 1e-3 if rounded else 1e-8
    assert np.allclose(fast.mean_, plain.mean_, rtol=rtol)
    assert np.allclose(fast.score_samples(X), plain.score_samples(X), rtol=rtol, atol=rtol)
    fast.core.check()
    state = bytes(fast.arena)
    with pytest.raises(ValueError):
        fast.learn_normal(np.full(D, np.nan, dtype))
    assert bytes(fast.arena) == state and not fast.core.takes_as_normal


@each("form", ALL)
def test_planned_is_allocated_and_a_buffer_will_do(form):
    learner = make(form)
    total = learner.plan(D).total
    assert learner.allocate(D).nbytes == total
    memory = np.zeros(total + 8, np.uint8)
    memory = memory[-memory.ctypes.data % 8 :][:total]
    inside = make(form).allocate(D, buffer=memory).partial_fit(stream())
    assert bytes(memory) == bytes(make(form).partial_fit(stream()).arena) == bytes(inside.arena)
    assert bytes(inside.reset().arena) == bytes(total)
    within = make(form).fitted_into("16KiB", D)
    assert within.plan(D).total <= 1 << 14
    with pytest.raises(edgesvm.MemoryBudgetError):
        make(form).fitted_into(100, D)


ALLOCATIONS = """
import numpy as np
from edgesvm import GaussianNovelty, KernelNovelty

cases = {}
X = np.random.default_rng(1).standard_normal((600, 5)).astype("float32")
rows = list(X)
for make in (
    GaussianNovelty,
    lambda: GaussianNovelty(covariance="diagonal"),
    lambda: KernelNovelty(max_vectors=9),
    lambda: KernelNovelty(max_vectors=9, storage="exact"),
):
    learning, learned = make().allocate(5), make().partial_fit(X)
    name = repr(learned)
    cases[name + " learn_one"] = learning.learn_one, (rows,)
    cases[name + " predict_one"] = learned.predict_one, (rows,)
    cases[name + " decision_one"] = learned.decision_one, (rows,)
    cases[name + " shares_one"] = learned.shares_one, (rows, [np.empty(5)])
"""


def test_no_allocator_call_per_sample():
    measured = hook_calls(ALLOCATIONS, 5_000)
    assert len(measured) == 16
    assert {case: calls.excess for case, calls in measured.items() if any(calls.excess)} == {}


@each("form", ALL)
@each("k", [0, 1, 30, 120])
def test_saved_and_continued_equals_never_stopped(form, k, tmp_path):
    X = stream()
    whole, single = make(form).partial_fit(X), make(form)
    assert sum(single.learn_one(x) for x in X[:k]) <= k
    learner = make(form).allocate(D).partial_fit(X[:k])
    assert k == 0 or bytes(single.arena) == bytes(learner.arena)
    learner.predict(X) if k else None
    learner.save(tmp_path / "model.esvm")
    for again in (
        edgesvm.load(tmp_path / "model.esvm"),
        pickle.loads(pickle.dumps(learner)),
        copy.deepcopy(learner),
    ):
        assert again.get_params() == learner.get_params()
        assert bytes(again.arena) == bytes(learner.arena)
        assert bytes(again.partial_fit(X[k:]).arena) == bytes(whole.arena)


@each("storage", ["compact", "exact"])
@each("gamma", [1e-30, 1e30])
def test_no_width_makes_a_score_that_is_no_number(storage, gamma):
    for engine in ("compiled", "reference"):
        learner = make("kernel", engine=engine, storage=storage, gamma=gamma).partial_fit(stream())
        assert np.isfinite([learner.offset_, *learner.score_samples(stream())]).all()
        learner.core.check()


@each("form", FORMS)
def test_counters_that_no_stream_reaches_are_refused(form):
    learner = make(form).partial_fit(stream())
    for name, place, value in [
        ("n_kept", ..., N + 1),
        ("n_alarms", ..., N + 1),
        ("alarm", ..., 1.5),
        ("former_n_kept", ..., N + 1),
        ("n_scored", ..., -1),
        ("tail", 0, 1.4e166),  # the mean of the scores: the next deviation is infinite
        ("tail", 1, 1e300),
        ("tail", 2, 1e200),
        ("tail", 3, 1e200),
        ("tail", 5, -1e300),
        ("recent", 0, -1e200),
        ("former_tail", 0, 1.4e166),
        ("alarm", 0, 1e90),
    ]:
        again = copy.deepcopy(learner)
        again.core.views[name][place] = value
        with pytest.raises(CorruptModelError):
            again.core.check()
    full = make("full").partial_fit(stream())
    full.core.views["factor"][1] = -1e235  # left of a diagonal entry that is a sound one
    with pytest.raises(CorruptModelError, match="covariance"):
        full.core.check()
    until = make("until").partial_fit(stream())
    until.core.views["n_kept"][...] = 101
    with pytest.raises(CorruptModelError, match="scores"):
        until.core.check()


@each("form", ALL)
def test_a_refused_sample_leaves_no_trace(form):
    X = stream()
    new = make(form)
    with pytest.raises(NotFittedError):
        new.score_one(X[0])
    with pytest.raises(ValueError, match="NaN"):
        new.learn_one(np.full(D, np.nan, np.float32))
    assert new.nbytes == 0
    learner = make(form).partial_fit(X)
    before = bytes(learner.arena)
    for bad in (np.nan, np.inf, 1e30):
        x = X[0].copy()
        x[2] = bad
        uses = [learner.learn_one, learner.predict_one, learner.score_one]
        for use in uses if form in BALLS else [*uses, learner.shares_one]:
            with pytest.raises(ValueError, match="NaN or infinite, or too large"):
                use(x)
        with pytest.raises(ValueError, match="row 1"):
            learner.score_samples(np.stack([X[0], x]))
    with pytest.raises(ValueError, match="features"):
        learner.learn_one(X[0, :2])
    with pytest.raises(ValueError, match="minimum of 1"):
        learner.fit(X[:0])
    assert bytes(learner.arena) == before
    with pytest.raises(ValueError, match="row 2"):
        learner.partial_fit(np.stack([X[0], X[1], x]))
    assert learner.n_seen_ == N + 2


@each("form", ALL)
def test_a_hostile_snapshot_is_refused_or_works(form, tmp_path):
    X = stream()
    make(form).partial_fit(X[:90]).save(tmp_path / "model.esvm")
    data = (tmp_path / "model.esvm").read_bytes()
    size = make(form).plan(D).total
    rng = np.random.default_rng(0)
    refused = 0
    for at in rng.integers(len(data) - 4 - size, len(data) - 4, 400):
        body = bytearray(data[:-4])
        body[at] ^= int(rng.choice([1, 0x80, 0xFF]))
        try:
            learner = restore(bytes(body) + zlib.crc32(body).to_bytes(4, "little"))
        except CorruptModelError:
            refused += 1
            continue
        try:
            learner.partial_fit(X[90:100])
            learner.predict(X)
        except ValueError:  # numbers near the largest: refused by name
            continue
    assert 10 < refused < 400


@each("form", FORMS)
def test_sparse_rows_are_their_dense_ones(form):
    scipy = pytest.importorskip("scipy.sparse")
    X = stream() * (stream() > 0)
    sparse, dense = make(form).partial_fit(scipy.csr_array(X)), make(form).partial_fit(X)
    assert bytes(sparse.arena) == bytes(dense.arena)
    assert sparse.score_samples(scipy.csr_array(X)).tolist() == dense.score_samples(X).tolist()


@each(
    "params, word",
    [
        ({"alarm_rate": 0.06}, "alarm_rate"),
        ({"alarm_rate": 0}, "alarm_rate"),
        *(
            ({"learn": n}, "learn")
            for n in ("some", "until", "until 19", "until -30", "until 3e3", 7)
        ),
        ({"warm_up": 0}, "warm_up"),
        *(({"alarm": a}, "alarm") for a in ("0/5", "6/5", "3/65", "3", 3)),
        ({"dtype": "float16"}, "dtype"),
    ],
)
def test_parameters_out_of_range(params, word):
    for kind in (GaussianNovelty, KernelNovelty):
        with pytest.raises(ValueError, match=word):
            kind(**params).plan(3)
    for more in ({"max_vectors": 1}, {"gamma": 0}, {"noise": 0}, {"noise": 1e-5}, {"storage": "x"}):
        with pytest.raises(ValueError, match=next(iter(more))):
            KernelNovelty(**more).plan(3)
    with pytest.raises(ValueError, match="covariance"):
        GaussianNovelty(covariance="round").plan(3)
    with pytest.raises(ValueError, match="classes"):
        GaussianNovelty().allocate(3, classes=[0, 1])
    with pytest.raises(ValueError, match="earlier builds"):
        GaussianNovelty(alarm="settled").allocate(3)


@pytest.mark.filterwarnings("ignore:.*does not inherit from `sklearn.base:UserWarning")
@each(
    "learner",
    [  # some of its checks expect an alarm among 300 normal rows
        *(kind(alarm_rate=0.05) for kind in (GaussianNovelty, KernelNovelty)),
        *(OneClassCoreVectorMachine(), OneClassBallVectorMachine()),
    ],
)
def test_scikit_learns_own_checks(learner):
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    found = checks.check_estimator(learner, on_skip=None, on_fail=None)
    failed = {c["check_name"]: c["exception"] for c in found if c["status"] == "failed"}
    assert failed == {}
    assert sum(c["status"] == "passed" for c in found) > 40
