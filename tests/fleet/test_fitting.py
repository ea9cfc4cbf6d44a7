"""Data in partitions on workers in other processes: the same bytes as in one place."""

import copy
import os
import re
import signal
import threading

import numpy as np
import pytest

pytest.importorskip("distributed", reason="the extra `fleet` is not installed")
da = pytest.importorskip("dask.array", reason="the extra `fleet` is not installed")
from distributed import Client, LocalCluster  # noqa: E402

from edgesvm import RBF, BatchSVM, RandSVM, Standardized, StreamSVM  # noqa: E402
from edgesvm.fleet import PartitionError, fit, merged, start  # noqa: E402
from edgesvm.fleet.cluster import Cluster  # noqa: E402
from edgesvm.learners import (  # noqa: E402
    AdaGradSVM,
    BallVectorMachine,
    CoreVectorMachine,
    FourierSVM,
)
from edgesvm.link._ring import Batch  # noqa: E402
from edgesvm.link.recording import RecordingSchema, RecordingWriter  # noqa: E402

rng = np.random.default_rng(5)
X = rng.uniform(0, 4, (6000, 2)).astype(np.float32)
y = np.where(np.floor(X).sum(axis=1) % 2 == 0, "even", "odd")
y[rng.random(len(y)) < 0.02] = "odd"

pytestmark = pytest.mark.filterwarnings("ignore")  # what distributed warns of is its own affair


def rand_svm(**params):
    return RandSVM(solver=BatchSVM(max_samples=300, C=10.0, kernel=RBF(2.0)), **params)


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def parts(n):
    rows = -(-len(X) // n)
    return da.from_array(X, chunks=(rows, 2)), da.from_array(y, chunks=rows)


def test_rand_svm_has_the_bytes_of_one_place(client):
    for params in ({"max_passes": 3}, {"max_passes": 3, "k": 100}):
        here = rand_svm(**params).fit(X, y)
        assert here.stop_ != "optimal"  # so that earlier solutions are returned to
        for n in (1, 7):
            there = fit(rand_svm(**params), *parts(n), client)
            assert bytes(there.arena) == bytes(here.arena), n
            assert there.classes_.tolist() == ["even", "odd"]


def test_labels_fixed_in_advance_stay(client):
    for make in (rand_svm, lambda: balls()[0]):
        fixed = make().allocate(2, classes=["odd", "even"])
        assert fit(fixed, *parts(3), client).core.labels.closed
        strange = make().allocate(2, classes=["odd", "other"])
        with pytest.raises(PartitionError, match=r"partition 0: it has the label 'even'"):
            fit(strange, *parts(3), client)


def balls(**params):
    params = {"C": 10.0, "kernel": RBF(2.0), "max_core": 3000, **params}
    return BallVectorMachine(**params), CoreVectorMachine(**params)


def test_balls_have_the_same_bytes_in_any_partitions_and_are_left_as_they_were(client):
    for model in balls():
        found = [fit(model, *parts(n), client).arena.memory.tobytes() for n in (1, 7)]
        assert found[0] == found[1]
        assert model.enclosed_
        bad = X.copy()
        bad[4000, 0] = np.nan
        rows = da.from_array(bad, chunks=(1000, 2)), da.from_array(y, chunks=1000)
        with pytest.raises(PartitionError, match=r"partition 4: .*row 0"):
            fit(model, *rows, client)

        def stop(n_passes, *_):
            if n_passes:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fit(model, *parts(3), client, progress=stop)
        assert model.arena.memory.tobytes() == found[0]
        full = type(model)(max_core=40, C=10.0, kernel=RBF(2.0))
        assert not fit(full, *parts(2), client).enclosed_


@pytest.mark.long
def test_a_worker_is_lost_in_the_search_of_a_ball(client):
    model = balls()[1]
    expected = bytes(fit(model.like_new(), *parts(1), client).arena)
    pid, killed = next(iter(client.run(os.getpid).values())), []

    def kill_one(n_passes, *_):
        if n_passes and not killed:
            killed.append(threading.Timer(0.05, os.kill, (pid, signal.SIGKILL)))
            killed[0].start()

    fit(model, *parts(7), client, progress=kill_one)
    killed[0].join()
    assert bytes(model.arena) == expected


def test_others_are_merged_as_a_tree_in_the_order_of_the_partitions(client):
    for learner in (StreamSVM(), FourierSVM(n_directions=8)):
        pieces = np.array_split(np.arange(len(X)), 5)
        expected = merged([learner.like_new().partial_fit(X[at], y[at]) for at in pieces])
        got = fit(learner.like_new(), *parts(5), client)
        assert bytes(got.arena) == bytes(expected.arena)


def test_files(client, tmp_path):
    paths = []
    for k, at in enumerate(np.array_split(np.arange(2000), 3)):
        paths.append(tmp_path / f"{k}.{('npz', 'csv', 'npz')[k]}")
        if k == 1:
            lines = [
                "a,b,label",
                *(f"{a!r},{b!r},{w}" for (a, b), w in zip(X[at].tolist(), y[at], strict=True)),
            ]
            paths[k].write_text("\n".join(lines))
        else:
            np.savez(paths[k], X=X[at], y=y[at])
    here = rand_svm(max_passes=2).fit(X[:2000], y[:2000])
    there = fit(rand_svm(max_passes=2), paths, client=client)
    assert bytes(there.arena) == bytes(here.arena)


def test_files_side_by_side_are_one_task(client, tmp_path, monkeypatch):
    monkeypatch.setattr("edgesvm.fleet.cluster.RUNS_A_THREAD", 1)
    # a worker that another test killed may not be back yet
    monkeypatch.setattr(client, "nthreads", lambda: {"one": 1, "other": 1})
    paths = [str(tmp_path / f"{k}.npz") for k in range(5)]
    for k, at in enumerate(np.array_split(np.arange(2000), 5)):
        np.savez(paths[k], X=X[at], y=y[at])
    cluster = Cluster(paths, None, client, None)
    assert cluster.runs == [slice(0, 3), slice(3, 6)]
    here = rand_svm(max_passes=2).fit(X[:2000], y[:2000])
    there = fit(rand_svm(max_passes=2), paths, client=client)
    assert bytes(there.arena) == bytes(here.arena)
    np.savez(paths[1], X=np.full_like(X[:9], np.nan), y=y[:9])
    with pytest.raises(PartitionError, match=rf"^{re.escape(paths[1])}: .*row 0"):
        fit(there, paths, client=client)
    assert bytes(there.arena) == bytes(here.arena)


def test_what_is_wrong_names_the_partition_and_the_learner_is_as_it_was(client, tmp_path):
    model = rand_svm(max_passes=1).fit(X[:500], y[:500])
    before = bytes(model.arena)
    bad = X.copy()
    bad[4000, 0] = np.nan
    three = y.copy().astype("U8")
    three[5999] = "prime"
    chunk = 1000
    for rows, labels, message in (
        (bad, y, "partition 4: .*row 0"),
        (X, three, "partition 5: .*'prime'"),
    ):
        data = da.from_array(rows, chunks=(chunk, 2)), da.from_array(labels, chunks=chunk)
        with pytest.raises(PartitionError, match=message):
            fit(model, *data, client)
    np.savez(tmp_path / "a.npz", X=X[:100], y=y[:100])
    np.savez(tmp_path / "b.npz", X=X[:100, :1], y=y[:100])
    with pytest.raises(PartitionError, match=r"b\.npz: it has 1 features"):
        fit(model, [tmp_path / "a.npz", tmp_path / "b.npz"], client=client)

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(model, *parts(3), client, progress=stop)
    assert bytes(model.arena) == before


@pytest.mark.long
def test_data_frames_parquet_and_recordings(client, tmp_path):
    dd = pytest.importorskip("dask.dataframe", reason="the extra `fleet` is not installed")
    pa = pytest.importorskip("pyarrow", reason="the extra `fleet` is not installed")
    from pyarrow import parquet

    here = rand_svm(max_passes=2).fit(X[:1200], y[:1200])
    columns = {"a": X[:1200, 0], "b": X[:1200, 1], "said": y[:1200]}
    frame = dd.from_dict(columns, npartitions=3)
    there = fit(rand_svm(max_passes=2), frame[["a", "b"]], frame["said"])  # the current client
    assert bytes(there.arena) == bytes(here.arena)
    paths = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    for path, part in zip(paths, (slice(0, 500), slice(500, 1200)), strict=True):
        parquet.write_table(pa.table({name: of[part] for name, of in columns.items()}), path)
    there = fit(rand_svm(max_passes=2), paths, client=client, label_column="said")
    assert bytes(there.arena) == bytes(here.arena)

    numbers = (y[:1200] == "odd").astype(np.int32)
    with RecordingWriter(tmp_path / "a.rec", RecordingSchema(2)) as writer:
        at = np.arange(1200, dtype=np.uint32)
        ones = np.ones(1200, np.float32)
        writer.append(Batch(X[:1200], numbers, np.ones(1200, bool), ones, at))
    here = rand_svm(max_passes=2).fit(X[:1200], numbers)
    there = fit(rand_svm(max_passes=2), [tmp_path / "a.rec"], client=client)
    assert bytes(there.arena) == bytes(here.arena)


def test_what_is_no_data_in_partitions(client):
    for wrong, labels, message in (
        (X, y, "give a Dask array or data frame, or a list of files"),
        (["a.txt"], None, "a.txt: give files that end in"),
        ([], None, "no partitions"),
        (da.from_array(X), None, "y: give the labels"),
        (da.from_array(X, chunks=(1000, 2)), da.from_array(y, chunks=3000), "X has 6 partitions"),
        (["a.npz"], y, "files have their own labels"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            fit(rand_svm(), wrong, labels, client)
    with pytest.raises(PartitionError, match=r"gone\.npz: .*No such file"):
        fit(rand_svm(), ["gone.npz"], client=client)


def test_rounds_begin_at_the_merged_model_whatever_the_workers(client):
    pieces = np.array_split(np.arange(len(X)), 5)
    for inner in (FourierSVM(n_directions=8), AdaGradSVM()):
        scaled = Standardized(learner=inner, clip=None)
        got = fit(scaled, *parts(5), client, rounds=3)
        model = start([scaled.like_new().partial_fit(X[at], y[at]) for at in pieces])
        np.testing.assert_allclose(got.mean_, model.mean_, rtol=1e-9)
        np.testing.assert_allclose(got.scale_, model.scale_, rtol=1e-9)
        assert got.n_seen_ == 3 * len(X) and got.until is None
        with (
            LocalCluster(n_workers=1, processes=False, dashboard_address=None) as one,
            Client(one) as other,
        ):
            same = fit(scaled.like_new(), *parts(5), other, rounds=3)
        assert bytes(same.arena) == bytes(got.arena)
        expected = inner.like_new().allocate(2, classes=list(dict.fromkeys(y)))
        for _ in range(2):
            own = [copy.deepcopy(expected).partial_fit(X[at], y[at]) for at in pieces]
            expected = merged(own, since=expected)
        bare = fit(inner.like_new(), *parts(5), client, rounds=2)
        rows = X[:200]
        np.testing.assert_allclose(
            bare.decision_function(rows), expected.decision_function(rows), rtol=1e-9
        )
    for learner, options, message in (
        (StreamSVM(), {"rounds": 2}, "StreamSVM is fitted in one"),
        (FourierSVM(), {"rounds": 0}, "rounds=0"),
        (Standardized(learner=FourierSVM(), until=9), {}, "until=9: leave it out"),
    ):
        with pytest.raises(ValueError, match=message):
            fit(learner, *parts(2), client, **options)
    ball = fit(Standardized(learner=StreamSVM()), *parts(3), client)
    assert ball.n_seen_ == len(X)
