"""What runs on a worker, called here: files read, rows found, sent and found again."""

import pickle

import numpy as np
import pytest

from edgesvm import RBF, BatchSVM, RandSVM
from edgesvm.fleet import workers
from edgesvm.fleet.partitions import File, NamedError, PartitionError, npz_array

rng = np.random.default_rng(8)
X = rng.normal(size=(1500, 3)).astype(np.float32)
y = X[:, 0] * X[:, 1] > 0
OPTIONS = ("RandSVM", "float32", 0.999)


def saved(path, save=np.savez, **arrays):
    save(path, **arrays)
    return str(path)


def test_arrays_of_an_npz_are_mapped_where_they_lie(tmp_path):
    for k, values in enumerate((X, np.asfortranarray(X), X.astype(np.float64), np.arange(3))):
        path = saved(tmp_path / f"{'long' * k}.npz", X=values, y=y.astype("U5"))
        got = npz_array(path, "X")
        assert isinstance(got, np.memmap) and got.dtype == values.dtype
        assert np.array_equal(got, values)
        assert np.array_equal(npz_array(path, "y"), y.astype("U5"))


def test_other_npz_files_are_loaded_or_refused(tmp_path):
    packed = saved(tmp_path / "a.npz", np.savez_compressed, X=X, y=y)
    empty = saved(tmp_path / "b.npz", X=X[:0])
    assert np.array_equal(npz_array(packed, "X"), X) and npz_array(empty, "X").shape == (0, 3)
    with pytest.raises(PartitionError, match="there is no y in it"):
        npz_array(empty, "y")
    with pytest.raises(ValueError, match="not a plain array"):
        npz_array(saved(tmp_path / "c.npz", X=np.array([None])), "X")


def test_rows_found_stay_and_are_found_again_elsewhere(tmp_path):
    model = RandSVM(solver=BatchSVM(max_samples=60, kernel=RBF(0.5)), max_passes=1).fit(X, y)
    search = workers.Sent.of(model.inner, model.core), True, OPTIONS
    for part in (File(saved(tmp_path / "a.npz", X=X, y=y)), (X, y)):
        everything = workers.found(part, np.empty(0, np.int64), *search)
        held = everything.places[::3]
        one = workers.found(part, held, *search)
        f = model.decision_function(X) * np.where(y, 1, -1)
        assert one.places.tolist() == np.setdiff1d(np.flatnonzero(f < 0.999), held).tolist()
        away = pickle.loads(pickle.dumps(one))
        assert (away.n, away.loss, away.places) == (len(one.places), one.loss, None)
        which = np.array([0, 2, one.n - 1])
        for taken in (workers.drawn(part, of, which, held, *search) for of in (one, away)):
            assert taken.places.tolist() == one.places[which].tolist()
            assert np.array_equal(taken.X, X[taken.places])
            assert taken.slots.tolist() == (y[taken.places] != y[0]).tolist()


def test_the_loss_of_parts_is_that_of_the_whole():
    model = RandSVM(solver=BatchSVM(max_samples=60, kernel=RBF(0.5)), max_passes=1).fit(X, y)
    search = workers.Sent.of(model.inner, model.core), True, OPTIONS
    none = np.empty(0, np.int64)
    whole = workers.found((X, y), none, *search).loss
    for n in (2, 7, 64):
        parts = np.array_split(np.arange(len(X)), n)
        assert sum(workers.found((X[at], y[at]), none, *search).loss for at in parts) == whole


def test_an_error_in_a_run_names_its_partition():
    with pytest.raises(NamedError, match="b: division by zero"):
        workers.over(lambda part, over: over / part, ["a", "b"], [1, 0], (1,))
