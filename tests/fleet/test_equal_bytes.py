"""The same bytes for any number of workers and partitions, with a worker killed in a pass."""

import os
import signal

import numpy as np
import pytest

pytest.importorskip("distributed", reason="the extra `fleet` is not installed")
from distributed import Client, LocalCluster

from edgesvm import RBF, BatchSVM, RandSVM
from edgesvm.fleet import fit
from edgesvm.fleet.cluster import Cluster

rng = np.random.default_rng(6)
X = rng.uniform(0, 4, (12_000, 2)).astype(np.float32)
y = (np.floor(X).sum(axis=1) % 2 == 0) ^ (rng.random(len(X)) < 0.05)

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(1800),  # beside other work a killed worker takes a minute to start anew
    pytest.mark.filterwarnings("ignore"),  # what distributed warns of is its own affair
]


def rand_svm():
    return RandSVM(solver=BatchSVM(max_samples=300, C=10.0, kernel=RBF(2.0)), max_passes=3)


@pytest.fixture(params=[1, 2, 5])
def client(request):
    with (
        LocalCluster(
            n_workers=request.param, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_a_worker_is_killed_while_all_search(client, tmp_path, monkeypatch):
    here = rand_svm().fit(X, y)
    check, waits = Cluster.check, []

    def killing(self, tasks, names=None):
        waits.append(len(tasks))
        if len(waits) == 3:  # after the survey and the first draw: the tasks of the first search
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        check(self, tasks, names)

    for n in (1, 7, 64):
        paths = [tmp_path / f"{n}_{k}.npz" for k in range(n)]
        for path, at in zip(paths, np.array_split(np.arange(len(X)), n), strict=True):
            np.savez(path, X=X[at], y=y[at])
        for kill in (False, True):
            waits.clear()
            with monkeypatch.context() as patched:
                if kill:
                    patched.setattr(Cluster, "check", killing)
                there = fit(rand_svm(), paths, client=client)
            assert bytes(there.arena) == bytes(here.arena), (n, kill)
            assert len(waits) >= 3 * kill
