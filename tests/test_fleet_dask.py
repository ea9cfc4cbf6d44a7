"""Data in partitions on workers in other processes: the same bytes for any number of workers."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="the extra `fleet` is not installed")
da = pytest.importorskip("dask.array", reason="the extra `fleet` is not installed")
from distributed import Client, LocalCluster  # noqa: E402

from edgesvm import RBF, Standardized, StreamSVM, TwinVectorMachine  # noqa: E402
from edgesvm.fleet import MergeError, PartitionError, fit, merged  # noqa: E402
from edgesvm.learners import AdaGradSVM, FourierSVM  # noqa: E402
from edgesvm.link._ring import Batch  # noqa: E402
from edgesvm.link.recording import RecordingSchema, RecordingWriter  # noqa: E402

rng = np.random.default_rng(5)
X = rng.uniform(0, 4, (6000, 2)).astype(np.float32)
y = np.where(np.floor(X).sum(axis=1) % 2 == 0, "even", "odd")

pytestmark = pytest.mark.filterwarnings("ignore")  # what distributed warns of is its own affair


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


def expected(learner, pieces):
    return merged([learner.like_new().partial_fit(X[at], y[at]) for at in pieces])


def test_partitions_are_merged_in_their_order(client):
    pieces = np.array_split(np.arange(len(X)), 5)
    for learner in (
        StreamSVM(),
        FourierSVM(n_directions=8),
        Standardized(learner=AdaGradSVM()),
    ):
        seen = []
        got = fit(learner, *parts(5), client, progress=lambda *done, seen=seen: seen.append(done))
        assert got is learner and seen[-1] == (5, 5)
        assert bytes(got.arena) == bytes(expected(learner, pieces).arena)


def test_files(client, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="the extra `fleet` is not installed")
    from pyarrow import parquet

    pieces = np.array_split(np.arange(2000), 3)
    paths = [tmp_path / name for name in ("0.npz", "1.csv", "2.parquet")]
    np.savez(paths[0], X=X[pieces[0]], y=y[pieces[0]])
    rows = zip(X[pieces[1]].tolist(), y[pieces[1]], strict=True)
    paths[1].write_text("\n".join(["a,b,label", *(f"{a!r},{b!r},{w}" for (a, b), w in rows)]))
    columns = {"a": X[pieces[2], 0], "b": X[pieces[2], 1], "label": y[pieces[2]]}
    parquet.write_table(pa.table(columns), paths[2])
    got = fit(AdaGradSVM(), paths, client=client, label_column="label")
    assert bytes(got.arena) == bytes(expected(AdaGradSVM(), pieces).arena)


def test_data_frames_and_recordings(client, tmp_path):
    dd = pytest.importorskip("dask.dataframe", reason="the extra `fleet` is not installed")
    frame = dd.from_dict({"a": X[:1200, 0], "b": X[:1200, 1], "said": y[:1200]}, npartitions=3)
    got = fit(AdaGradSVM(), frame[["a", "b"]], frame["said"])  # the current client
    assert bytes(got.arena) == bytes(
        expected(AdaGradSVM(), np.array_split(np.arange(1200), 3)).arena
    )
    numbers = (y[:1200] == "odd").astype(np.int32)
    with RecordingWriter(tmp_path / "a.rec", RecordingSchema(2)) as writer:
        at = np.arange(1200, dtype=np.uint32)
        ones = np.ones(1200, np.float32)
        writer.append(Batch(X[:1200], numbers, np.ones(1200, bool), ones, at))
    got = fit(AdaGradSVM(), [tmp_path / "a.rec"], client=client)
    assert bytes(got.arena) == bytes(AdaGradSVM().partial_fit(X[:1200], numbers).arena)


def test_what_is_wrong_names_the_partition_and_the_learner_is_as_it_was(client, tmp_path):
    model = AdaGradSVM().fit(X[:500], y[:500])
    before = bytes(model.arena)
    bad = X.copy()
    bad[4000, 0] = np.nan
    three = y.copy().astype("U8")
    three[5999] = "prime"
    for rows, labels, error, message in (
        (bad, y, PartitionError, r"partition 4: .*row 0"),
        (X, three, (PartitionError, MergeError), r"partition 5: .*'prime'"),
    ):
        data = da.from_array(rows, chunks=(1000, 2)), da.from_array(labels, chunks=1000)
        with pytest.raises(error, match=message):
            fit(model, *data, client)
    np.savez(tmp_path / "a.npz", X=X[:100], y=y[:100])
    np.savez(tmp_path / "b.npz", X=X[:100, :1], y=y[:100])
    with pytest.raises(MergeError, match=r"b\.npz: it has 1 features"):
        fit(model, [tmp_path / "a.npz", tmp_path / "b.npz"], client=client)
    with pytest.raises(PartitionError, match=r"gone\.npz: .*No such file"):
        fit(model, ["gone.npz"], client=client)

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(model, *parts(3), client, progress=stop)
    assert bytes(model.arena) == before


def test_what_is_no_data_in_partitions_and_no_learner_for_them(client):
    for wrong, labels, message in (
        (X, y, "give a Dask array or data frame, or a list of files"),
        (["a.txt"], None, "a.txt: give files that end in"),
        ([], None, "no partitions"),
        (da.from_array(X), None, "y: give the labels"),
        (da.from_array(X, chunks=(1000, 2)), da.from_array(y, chunks=3000), "X has 6 partitions"),
        (["a.npz"], y, "files have their own labels"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            fit(AdaGradSVM(), wrong, labels, client)
    for learner, message in (
        (TwinVectorMachine(kernel=RBF(1.0)), "TwinVectorMachine cannot be merged"),
        (Standardized(learner=FourierSVM()), "each partition would scale"),
    ):
        with pytest.raises(MergeError, match=message):
            fit(learner, *parts(2), client)
