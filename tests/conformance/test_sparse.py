"""A CSR matrix gives the model and the decisions of the same rows, dense, to the last bit."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from each import each, each_of
from registry import answers, one_sample_methods
from test_stream import state
from test_threads import Nosy

from edgesvm import (
    RBF,
    BallVectorMachine,
    BatchSVM,
    CoreVectorMachine,
    IncrementalSVM,
    KernelStreamSVM,
    OneVsRest,
    RandSVM,
    ReservoirSVM,
    StreamSVM,
)
from edgesvm.data import Rows, Source, SparseRows
from edgesvm.serve.taught import predict_then_learn

N = 150
# Each way by which rows are read; the other entries in the long run.
WAYS = ("StreamSVM", "BatchSVM", "RandSVM", "BallVectorMachine", "OneVsRest-BatchSVM")


class Matrix:
    """What scipy.sparse.csr_array is, as far as a learner looks."""

    format = "csr"

    def __init__(self, X, index=np.int32, dtype=None):
        entries = np.nonzero((X != 0) | np.signbit(np.asarray(X, float)))
        rows, self.indices = (a.astype(index) for a in entries)
        self.data = X[entries].astype(dtype or X.dtype)
        self.indptr = np.searchsorted(rows, np.arange(len(X) + 1)).astype(index)
        self.shape = X.shape
        self.toarray = X.copy


def stream(subject, n=N):
    """Rows of which half the entries are zero, one is empty, and one has a negative zero."""
    X, y = subject.stream(n)
    X[np.random.default_rng(5).random(X.shape) < 0.5] = 0.0
    X[7] = 0.0
    X[8, 0] = -0.0
    X[[0, -1]] = 1.0
    return X, y


def reversed_rows(matrix):
    """The same matrix, the entries of each row in descending order."""
    for first, last in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        for array in (matrix.indices, matrix.data):
            array[first:last] = array[first:last][::-1].copy()
    return matrix


@each_of("subject")
def test_sparse_rows_give_the_bits_of_dense_ones(subject):
    X, y = stream(subject)
    weights = np.tile([1.0, 0.5, 0.0, 2.0], N)[:N]
    plain = subject.make().partial_fit(X, y, sample_weight=weights)
    learner = subject.make()
    for part in (slice(0, 1), slice(1, 60), slice(60, N)):
        learner.partial_fit(Matrix(X[part], np.int64), y[part], sample_weight=weights[part])
    assert state(learner) == state(plain)
    sparse = reversed_rows(Matrix(X))
    assert answers(learner, sparse).tolist() == answers(plain, X).tolist()
    assert learner.predict(sparse).tolist() == plain.predict(X).tolist()
    assert learner.score(sparse, y) == plain.score(X, y)
    assert state(learner.fit(sparse, y)) == state(plain.fit(X, y))


@pytest.mark.entries(*WAYS)
@each_of("subject")
def test_data_of_another_type(subject):
    X, y = stream(subject)
    other = np.float64 if subject.dtype == "float32" else np.float32
    wide = X.astype(other) * other(1 / 3)
    X = wide.astype(subject.dtype)
    plain = subject.make().partial_fit(X, y)
    assert state(subject.make().partial_fit(Matrix(wide), y)) == state(plain)
    assert state(subject.make().fit(Matrix(wide), y)) == state(subject.make().fit(X, y))
    counts = np.arange(X.size).reshape(X.shape) % 3
    for dtype in (np.uint8, np.bool_, np.int64):
        learner = subject.make().partial_fit(Matrix(counts, dtype=dtype), y)
        assert state(learner) == state(subject.make().partial_fit(counts.astype(dtype), y))


def broken(X, change):
    matrix = Matrix(X)
    change(matrix)
    return matrix


def put(name, at, value):
    def change(matrix):
        getattr(matrix, name)[at] = value

    return change


def replace(**arrays):
    def change(matrix):
        for name, make in arrays.items():
            setattr(matrix, name, make(getattr(matrix, name)))

    return change


HOSTILE = {
    "negative column": (put("indices", -1, -1), ValueError, "row 149 has an entry in column -1"),
    "column out of range": (put("indices", 0, 99), ValueError, "row 0 has an entry in column 99"),
    "huge column": (
        replace(indices=lambda a: np.full(len(a), 2**63, np.uint64)),
        ValueError,
        "column -",
    ),
    "column twice": (
        replace(indices=np.zeros_like),
        ValueError,
        r"has column 0 twice; add the two up first, as X.sum_duplicates\(\)",
    ),
    "pointer falls": (put("indptr", 3, 0), ValueError, "indptr of the sparse row 2"),
    "pointer beyond": (put("indptr", -1, 10**6), ValueError, "indptr of the sparse row 149"),
    "pointer negative": (put("indptr", 0, -1), ValueError, "indptr of the sparse row 0"),
    "short data": (replace(data=lambda a: a[:-1]), ValueError, "indptr of the sparse row 149"),
    "short indptr": (replace(indptr=lambda a: a[:-1]), ValueError, "150 numbers, 150 rows"),
    "float columns": (replace(indices=lambda a: a * 1.0), TypeError, "must be integers"),
    "two-dimensional": (replace(data=lambda a: a[None]), ValueError, "1 dimension"),
    "complex": (replace(data=lambda a: a * 1j), ValueError, "Complex data not supported"),
    "words": (replace(data=lambda a: a.astype(str)), ValueError, "accepts real numbers"),
    "other columns": (replace(shape=lambda s: (s[0], 99)), ValueError, "X has 99 features"),
    "no columns": (
        replace(shape=lambda s: (s[0], 0), indptr=lambda a: a * 0),
        ValueError,
        "0 feature",
    ),
    "one dimension": (replace(shape=lambda s: s[:1]), ValueError, "Expected 2D array"),
    "CSC": (replace(format=lambda s: "csc"), TypeError, r"sparse rows in CSR.*X.tocsr\(\)"),
}


@pytest.mark.entries(*WAYS)
@each_of("subject")
@each("case", HOSTILE)
def test_a_broken_matrix_changes_nothing(subject, case):
    change, error, words = HOSTILE[case]
    X, y = stream(subject)
    matrix = broken(X, change)
    learner = subject.learned()
    before = state(learner)
    calls = [
        lambda: learner.partial_fit(matrix, y),
        lambda: answers(learner, matrix),
        lambda: learner.predict(matrix),
        lambda: learner.score(matrix, y),
    ]
    if case != "other columns":  # which a fit may have
        calls.append(lambda: learner.fit(matrix, y))
    for call in calls:
        with pytest.raises(error, match=words):
            call()
        assert state(learner) == before


@pytest.mark.entries(*WAYS)
@each_of("subject")
def test_one_sample_is_dense(subject):
    X, y = stream(subject)
    learner = subject.learned()
    before = state(learner)
    methods = [getattr(learner, name) for name in one_sample_methods(learner)]
    for call in (*methods, lambda x: learner.learn_one(x, y[0])):
        with pytest.raises(TypeError, match="sparse"):
            call(Matrix(X[:1]))
    assert state(learner) == before


@pytest.mark.entries(*WAYS)
@each_of("subject")
@each("value", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_named_and_those_before_it_are_learned(subject, value):
    X, y = stream(subject)
    if subject.entry.stands_nan and np.isnan(value):
        pytest.skip("it takes NaN")
    X[100, 1] = value
    learner = subject.make()
    with pytest.raises(ValueError, match="row 100 "):
        learner.partial_fit(Matrix(X), y)
    assert state(learner) == state(subject.make().partial_fit(X[:100], y[:100]))
    before = state(learner)
    with pytest.raises(ValueError, match="row 100"):
        answers(learner, Matrix(X))
    if not subject.entry.one_pass:
        with pytest.raises(ValueError, match="row 100 "):
            learner.fit(Matrix(X), y)
    assert state(learner) == before


@pytest.mark.entries(*WAYS)
@each_of("subject")
def test_chunks_of_a_source_may_be_sparse(subject):
    X, y = stream(subject)

    class Reader:
        n_features = X.shape[1]

        def __init__(self, form):
            self.form = form

        def chunks(self, rows):
            for at in range(0, N, rows):
                yield Rows(self.form(X[at : at + rows]), y[at : at + rows])

    learner, plain = subject.make(), subject.make()
    if not hasattr(learner, "solve") and subject.entry.one_pass:
        found = predict_then_learn(Source(Matrix(X), y), learner)
        assert found.score.summary() == predict_then_learn(Source(X, y), plain).score.summary()
    else:
        learner.fit(Reader(Matrix))
        plain.fit(Reader(np.asarray))
    assert state(learner) == state(plain)


RBF_LEARNERS = {
    "ball": lambda **p: BallVectorMachine(max_core=40, cache="64KiB", **p),
    "core": lambda **p: CoreVectorMachine(max_core=40, cache="64KiB", **p),
    "batch": lambda **p: BatchSVM(max_samples=N, cache="64KiB", **p),
    "reservoir": lambda **p: ReservoirSVM(max_samples=40, cache="64KiB", **p),
    "incremental": lambda **p: IncrementalSVM(max_vectors=40, batch_size=20, **p),
    "three classes": lambda **p: OneVsRest(learner=BatchSVM(max_samples=N, **p), n_classes=3),
}


@each("name", RBF_LEARNERS)
@each("dtype", ["float32", "float64"])
def test_many_rows_give_the_bits_of_one_at_a_time(name, dtype):
    """Where many rows are worked on, it is noted in which features the stored ones are zero."""
    rng = np.random.default_rng(3)
    X = (rng.standard_normal((N, 150)) * (rng.random((N, 150)) < 0.03)).astype(dtype)
    y = np.where(X[:, :75].sum(axis=1) > X[:, 75:].sum(axis=1), 1, -1)
    if name == "three classes":
        y[::3] = 0
    single, many = (RBF_LEARNERS[name](kernel=RBF(0.2), dtype=dtype) for _ in range(2))
    for x, label in zip(X, y.tolist(), strict=True):
        single.learn_one(x, label)
    many.partial_fit(X[:100], y[:100]).partial_fit(Matrix(X[100:]), y[100:])
    assert state(many) == state(single)
    values = np.array([single.decision_one(x) for x in X])
    for rows in (X, Matrix(X)):
        assert many.decision_function(rows).tolist() == values.tolist()
    assert state(many) == state(single)


@each("name", ["indptr", "indices", "data"])
def test_a_label_must_not_shrink_the_matrix_that_is_learned(name):
    X = np.eye(4, dtype=np.float32)
    matrix = Matrix(X)
    learner = StreamSVM().partial_fit(X, [0, 1, 0, 1])
    before = state(learner)
    y = np.array(
        [Nosy(0, lambda: getattr(matrix, name).resize(0, refcheck=False)), 1, 0, 1], object
    )
    with pytest.raises(ValueError, match="another shape while it was being read"):
        learner.partial_fit(matrix, y)
    assert state(learner) == before


@each("name, value", [("indices", -1), ("indices", 1 << 30), ("indptr", 1 << 30), ("indptr", -9)])
def test_a_label_must_not_lead_out_of_the_matrix(name, value):
    """Rows before the first that leads out are learned."""
    X = np.eye(4, dtype=np.float32)
    matrix = Matrix(X)

    def act():
        getattr(matrix, name)[2] = value

    learner = StreamSVM().partial_fit(X, [0, 1, 0, 1])
    n_before = 1 if name == "indptr" else 2
    expected = StreamSVM().partial_fit(X, [0, 1, 0, 1]).partial_fit(X[:n_before], [0, 1][:n_before])
    with pytest.raises(ValueError, match="another shape while it was being read"):
        learner.partial_fit(matrix, np.array([Nosy(0, act), 1, 0, 1], object))
    assert state(learner) == state(expected)


@each(
    "learner, fit",
    [
        (StreamSVM(), True),
        (StreamSVM(dtype="float64"), False),
        (KernelStreamSVM(max_vectors=4), False),
        (RandSVM(solver=BatchSVM(max_samples=20, cache="64KiB"), max_passes=3), True),
        (BallVectorMachine(max_core=4, cache="64KiB"), True),
    ],
)
def test_neither_a_copy_nor_a_dense_matrix_is_made(learner, fit):
    n, width = 1500, 20_000
    rng = np.random.default_rng(3)
    indptr = np.arange(n + 1, dtype=np.int32) * 40
    indices = np.sort(rng.integers(0, width // 40, (n, 40)) * 40 + np.arange(40), axis=1)
    indices = indices.astype(np.int32).ravel()
    data = rng.standard_normal(len(indices))
    X = SparseRows(data, indices, indptr, (n, width))
    y = np.where(np.add.reduceat(data, indptr[:-1]) > 0, 1, -1)
    learner.allocate(width)
    tracemalloc.start()
    try:
        if fit:
            learner.fit(X, y)
        else:
            learner.partial_fit(X, y)
        learner.predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # a scratch row, what is noted of the rows, and for a fit of several passes, which holds a
    # chunk, its entries; the dense rows are 120 MB, the entries 720 KB
    assert peak < (3_000_000 if fit else 500_000)


def test_scipy_is_read_and_not_imported():
    code = (
        "import sys, numpy as np, edgesvm.data as d, edgesvm as e\n"
        "X = d.SparseRows([1.0, 2.0], [0, 1], [0, 1, 2], (2, 2))\n"
        "e.StreamSVM().fit(X, [0, 1]).predict(X)\n"
        "e.RandSVM().fit(X, [0, 1]).predict(X)\n"
        "assert 'scipy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-I", "-c", code], check=True)


@each("kind", ["csr_array", "csr_matrix"])
def test_matrices_of_scipy(kind):
    sparse = pytest.importorskip("scipy.sparse")
    X = sparse.random(80, 30, 0.2, format="csr", random_state=0, dtype=np.float64)
    y = np.arange(80) % 2
    matrix = getattr(sparse, kind)(X)
    plain = StreamSVM().fit(X.toarray(), y)
    assert state(StreamSVM().fit(matrix, y)) == state(plain)
    assert state(StreamSVM().fit(matrix[5:40], y[5:40])) == state(
        StreamSVM().fit(X.toarray()[5:40], y[5:40])
    )
    assert matrix.indices.flags.owndata == X.indices.flags.owndata
    for other in ("csc", "coo", "lil", "dok", "bsr"):
        with pytest.raises(TypeError, match=rf"not '{other}'.*X\.tocsr\(\)"):
            StreamSVM().fit(matrix.asformat(other), y)
    row = sparse.csr_array(X)[[0]].tocoo()
    twice = sparse.csr_array(
        (np.r_[row.data, 1.0], np.r_[row.col, row.col[0]], [0, row.nnz + 1]), shape=(1, 30)
    )
    with pytest.raises(ValueError, match="twice"):
        plain.predict(twice)
    twice.sum_duplicates()
    assert plain.decision_function(twice) == plain.decision_function(twice.toarray())
