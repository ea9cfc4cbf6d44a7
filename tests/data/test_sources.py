"""Rows read in chunks and by number, and the survey that comes before they are learned."""

import re

import numpy as np
import pytest
from each import each

from edgesvm import BatchSVM, RandSVM
from edgesvm.contract.labels import Labels
from edgesvm.data import Checkerboard, Rows, Source
from edgesvm.data.survey import survey

X = np.arange(60.0).reshape(20, 3)
Y = np.where(np.arange(20) % 4 == 0, "b", "a")
WEIGHT = np.where(np.arange(20) < 5, 0.0, 2.0)


class Chunks:
    """A source of chunks; `spoil` changes X and y of its second chunk, `extra` rows too many."""

    n_features = 3

    def __init__(self, spoil=None, extra=0):
        self.spoil, self.extra = spoil, extra

    def chunks(self, rows):
        for at in range(0, len(X), rows):
            part = X[at : at + rows + self.extra].copy(), Y[at : at + rows + self.extra].copy()
            if self.spoil and at:
                self.spoil(*part)
            yield Rows(*part)


def survey_of(source, labels=None, **options):
    return survey(
        source, Labels() if labels is None else labels, owner="me", dtype="float32", **options
    )


# -- rows by number --------------------------------------------------------------------------------


@each("dtype", ["float32", "float64"])
@each("weight", [None, WEIGHT])
@each("mapped", [False, True])
def test_rows_by_number(dtype, weight, mapped, tmp_path):
    np.save(tmp_path / "X.npy", X)
    rows = np.load(tmp_path / "X.npy", mmap_mode="r") if mapped else X
    source = Source(rows, Y, weight)
    numbers = np.array([7, 0, 19, 7])
    chunk = source.take(numbers, dtype)
    assert source.has_rows and chunk.first == 7
    assert chunk.X.dtype == dtype and type(chunk.X) is np.ndarray
    np.testing.assert_array_equal(chunk.X, X[numbers])
    assert chunk.y.tolist() == Y[numbers].tolist()
    assert (chunk.weight is None) == (weight is None)
    assert weight is None or chunk.weight.tolist() == WEIGHT[numbers].tolist()
    chunk.X[:] = -1.0
    np.testing.assert_array_equal(rows[7], X[7])


@each(
    "numbers, error",
    [([20], IndexError), ([-1], IndexError), ([1.0], TypeError), ([[1]], TypeError)],
)
def test_rows_that_are_none(numbers, error):
    with pytest.raises(error):
        Source(X, Y).take(numbers)
    assert Source(X, Y).take([]).X.shape == (0, 3)
    with pytest.raises(TypeError, match="by row number"):
        Source(Chunks()).take([0])


def test_chunks_are_numbered_and_begin_anew():
    for source in (Source(X, Y, WEIGHT), Source(Weighted())):
        for _ in range(2):
            chunks = list(source.chunks(8))
            assert [chunk.first for chunk in chunks] == [0, 8, 16]
            assert np.concatenate([chunk.X for chunk in chunks]).tolist() == X.tolist()
            assert np.concatenate([chunk.y for chunk in chunks]).tolist() == Y.tolist()
            assert np.concatenate([chunk.weight for chunk in chunks]).tolist() == WEIGHT.tolist()


def test_a_source_without_labels():
    class Bare(Chunks):
        def chunks(self, rows):
            yield Rows(X)

    with pytest.raises(ValueError, match="me: the source has no labels"):
        survey_of(Source(Bare(), owner="me"))


@pytest.mark.parametrize("learner", [BatchSVM(), RandSVM()])
def test_a_stream_cannot_be_read_again(learner):
    with pytest.raises(TypeError, match="a stream can be read only once"):
        learner.fit(Checkerboard())


def test_more_rows_than_asked_for():
    with pytest.raises(ValueError, match="9 rows, at most 8 were requested"):
        list(Source(Chunks(extra=1)).chunks(8))


# -- the survey ------------------------------------------------------------------------------------


@each("rows", [1, 3, 19, 20, 1024])
def test_rows_are_counted_by_class(rows):
    for source in (Source(X, Y), Source(Chunks())):
        labels = Labels()
        assert survey_of(source, labels, rows=rows)[:4] == (20, 20, (5, 15), 1.0)
        assert labels.in_slots == ("b", "a")
    found = survey_of(Source(X, Y, WEIGHT), rows=rows)
    assert found[:3] == (20, 15, (3, 12))
    assert found.mean_weight == pytest.approx(WEIGHT[WEIGHT > 0].mean())
    assert survey_of(Source(X[:4], [*Y[1:4].tolist(), "a"]))[:4] == (4, 4, (4, 0), 1.0)


def changed(array, at, value):
    array = np.array(array, dtype=object if isinstance(value, str) else None)
    array[at] = value
    return array


@each(
    "source, message",
    [
        *[((changed(X, (11, 2), bad), Y), "row 11") for bad in (np.nan, np.inf, 1e30)],
        *[((X, Y, changed(WEIGHT, 13, bad)), r"row 13.*weight") for bad in (-1.0, np.nan, np.inf)],
        ((changed(X, 10, np.nan), changed(Y, 9, "c")), r"multiclass: row 9 has 'c' in addition"),
        ((X[:0], Y[:0]), re.escape("0 sample(s)")),
        ((X, Y, np.zeros(20)), "zero for every row"),
    ],
    ids=lambda case: case[1],
)
def test_the_first_bad_row_is_named(source, message):
    with pytest.raises(ValueError, match=message):
        survey_of(Source(*source), rows=8)


def test_a_row_that_is_too_large():
    square = float((X[-1] ** 2).sum())
    assert survey_of(Source(X, Y), largest=square)[0] == 20
    with pytest.raises(ValueError, match="row 19"):
        survey_of(Source(X, Y), largest=square - 1)


def not_a_number(X, y):
    X[3, 1] = np.nan


def a_third_label(X, y):
    y[3] = "c"


class Eights(Chunks):
    """Chunks of 8 rows, however many are asked for."""

    def chunks(self, rows):
        return super().chunks(8)


@pytest.mark.parametrize("spoil", [not_a_number, a_third_label])
def test_a_bad_source_makes_no_learner_forget(spoil):
    """Not of classes named up front either."""
    model = BatchSVM(max_samples=30).allocate(3, classes=["a", "b"]).fit(Eights())
    before = bytes(model.arena)
    with pytest.raises(ValueError, match="row"):
        model.fit(Eights(spoil))
    assert bytes(model.arena) == before


# -- weights, and more classes ---------------------------------------------------------------------


class Weighted(Chunks):
    """Weights third."""

    def __init__(self, weight=WEIGHT):
        super().__init__()
        self.weight = weight

    def chunks(self, rows):
        for at, part in enumerate(super().chunks(rows)):
            yield Rows(*part, self.weight[at * rows : (at + 1) * rows])


def test_a_source_may_bring_weights():
    n_rows, n_learned, per_class, *_ = survey_of(Source(Weighted()), rows=7)
    assert (n_rows, n_learned, sum(per_class)) == (20, 15, 15)
    with pytest.raises(ValueError, match=r"row 3 .*weight"):
        survey_of(Source(Weighted(np.where(np.arange(20) == 3, -1.0, 1.0))))
    learner = BatchSVM(max_samples=15, kernel="linear", cache="4KiB")
    fitted = learner.fit(Weighted())
    arrays = BatchSVM(max_samples=15, kernel="linear", cache="4KiB").fit(X, Y, WEIGHT)
    assert fitted.n_held_ == 15
    assert fitted.decision_function(X).tolist() == arrays.decision_function(X).tolist()


def test_as_many_classes_as_there_are_labels():
    y = np.arange(20) % 5
    per_class = survey_of(Source(X, y), Labels(room=6)).per_class
    assert per_class == (4, 4, 4, 4, 4, 0)
    with pytest.raises(ValueError, match=r"row 4 has 4 in addition to \[0, 1, 2, 3\]"):
        survey_of(Source(X, y), Labels(room=4))
    with pytest.raises(ValueError, match=r"row 3 .*not one of the classes"):
        survey_of(Source(X, y), Labels([0, 1, 2], room=4))
