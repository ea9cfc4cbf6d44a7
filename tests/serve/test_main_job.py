"""The whole way: rows from a simulated node over a pseudo-terminal into ``edgesvm run``, a process.

Nothing is lost, and what it learned equals ``partial_fit`` on the array, byte for byte.
"""

import os
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from each import each

from edgesvm import ByteSVM, Chain, WindowFeatures, data, load
from firmware_sim.harness import EdgeProcess, Pump, simulate
from firmware_sim.line import FaultInjector, Line, PtyLink, TcpLink
from firmware_sim.node import FrameNode, TextNode

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
DATA = Path(
    os.environ.get("EDGESVM_DATA", Path(__file__).resolve().parents[2] / ".." / "shared" / "data")
)
MEMORY = "16KiB"
PATIENCE_S = 60.0


class Rows(data.Stream):
    """An array as the source of a node; it begins again until `repeat` rows are out."""

    n_classes = period_us = 0

    def __init__(self, X, y, repeat=None):
        self.X, self.y = X, y
        self.n_features = X.shape[1]
        self.left = len(X) if repeat is None else repeat
        self.at = 0

    def read(self, n):
        rows = np.arange(self.at, self.at + min(n, self.left)) % len(self.X)
        self.at += len(rows)
        self.left -= len(rows)
        return data.Rows(self.X[rows], self.y[rows])


def generated(n=4000, d=5, seed=3):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, d)) * 10.0 ** rng.integers(-2, 3, d)).astype(np.float32)
    y = (X / X.std(axis=0) @ rng.standard_normal(d) + 0.2 * rng.standard_normal(n) > 0).astype(int)
    return X, y.astype(np.int32)


def occupancy():
    path = DATA / "occupancy.npz"
    if not path.exists():
        pytest.skip(f"the occupancy rows are not at {path}; EDGESVM_DATA names their folder")
    with np.load(path) as arrays:
        return arrays["X"].astype(np.float32), arrays["y"].astype(np.int32)


def command(*options):
    run = [sys.executable, "-m", "edgesvm.cli", "run", "{port}", "--json", "--quiet"]
    return [*run, "--memory", MEMORY, *options]


def learned(X, y):
    """The learner that `edgesvm run` chooses by default, after one ``partial_fit``."""
    learner = ByteSVM().fitted_into(MEMORY, X.shape[1])
    return learner.partial_fit(X, y)


def run(node, *options, link=None, faults=None, save=None, **settings):
    """`edgesvm run` and the node, until all is answered and SIGTERM has ended it."""
    argv = command(*options, *(["--save", str(save)] if save else []))
    with closing(PtyLink() if link is None else link) as served:
        line = Line(served, faults=faults)
        report = simulate(argv, node, line, timeout_s=PATIENCE_S * 4, **settings)
    assert report.exit_code == 0, report.edge_errors
    assert report.ended == "drained"
    assert report.edge["broken_identities"] == []
    return report


@contextmanager
def running(node, link, *options):
    """Both ends, moved on by hand: `until(condition)`."""
    with closing(link):
        edge = EdgeProcess(command(*options), link.url)
        pump = Pump(node, Line(link))

        def until(condition):
            deadline = time.monotonic() + PATIENCE_S
            pump.run(lambda now: condition() or now > deadline)
            assert condition(), edge.output()[1]

        try:
            yield edge, until
        finally:
            edge.close()


# Nothing lost, nothing changed.


@each("rows", [generated, occupancy])
@each("kind", [FrameNode, TextNode])
def test_none_is_lost_and_the_bytes_equal_partial_fit(rows, kind, tmp_path):
    X, y = rows()
    extra = ["--text"] if kind is TextNode else []
    patience = 2.0 if kind is TextNode else PATIENCE_S  # frames are all answered
    report = run(kind(Rows(X, y)), *extra, save=tmp_path / "m.esvm", drain_s=patience)
    counts = report.edge["counters"]
    assert report.samples_sent == counts["taken"] == counts["learned"] == len(X)
    assert counts["missing"] == counts["ring_dropped"] == counts["bytes_rejected"] == 0
    assert bytes(load(tmp_path / "m.esvm").arena) == bytes(learned(X, y).arena)
    assert report.edge["bytes_planned"] == report.edge["bytes_allocated"] <= 16384
    if kind is FrameNode:
        # A node that reads too slowly for a moment misses an answer, and that is counted.
        assert counts["predictions_sent"] + counts["predictions_dropped"] == len(X)
        assert report.predictions == counts["predictions_sent"] > 0.95 * len(X)
    else:
        assert report.node["samples_sent"] == len(X) and counts["predictions_sent"] == 0


def test_a_model_of_other_labels_or_features_is_not_gone_on_with(tmp_path):
    X, y = generated(100)
    for known, word in ((learned(X, y + 0.5), "labels"), (learned(X[:, :3], y), "features")):
        known.save(tmp_path / "m.esvm")
        before = (tmp_path / "m.esvm").read_bytes()
        with running(FrameNode(Rows(X, y)), PtyLink(), "--save", str(tmp_path / "m.esvm")) as (
            edge,
            until,
        ):
            until(lambda edge=edge: edge.exit_code is not None)
            told, errors = edge.output()
        assert edge.exit_code == 2 and told is None
        assert word in errors and "--fresh" in errors and errors.count("\n") == 1
        assert (tmp_path / "m.esvm").read_bytes() == before


def test_a_second_run_goes_on_where_the_first_ended(tmp_path):
    X, y = generated()
    save = tmp_path / "m.esvm"
    run(FrameNode(Rows(X[:1700], y[:1700])), save=save)
    second = run(FrameNode(Rows(X[1700:], y[1700:]), boot_id=9), save=save)
    assert second.edge["counters"]["learned"] == len(X) - 1700
    assert bytes(load(save).arena) == bytes(learned(X, y).arena)
    run(FrameNode(Rows(X, y)), "--fresh", save=save)
    assert bytes(load(save).arena) == bytes(learned(X, y).arena)


# Faults.


def test_after_disconnects_it_comes_back_and_learns_nothing_twice(tmp_path):
    X, y = generated(6000)
    faults = FaultInjector({"disconnect": 0.0008, "duplicate": 0.01}, seed=2)
    link = PtyLink(tmp_path / "tty")
    save = tmp_path / "m.esvm"
    report = run(FrameNode(Rows(X, y)), link=link, faults=faults, save=save, drain_s=8.0)
    counts = report.edge["counters"]
    assert report.faults["disconnect"] > 0
    # On a busy machine the next one may come while the host still shakes hands after the last.
    assert 0 < counts["reconnects"] <= counts["disconnects"] <= report.faults["disconnect"]
    assert counts["duplicate"] == report.faults["duplicate"]
    # A node that streams on during a handshake can fill the ring of a host that is kept waiting.
    assert counts["taken"] + counts["missing"] + counts["ring_dropped"] == len(X)
    assert counts["missing"] <= report.frames_lost
    assert load(save).n_seen_ == counts["learned"] == counts["taken"] > 0


# Ends.


def test_sigterm_in_mid_stream_saves_what_was_learned(tmp_path):
    X, y = generated()
    save = tmp_path / "m.esvm"
    node = FrameNode(Rows(X, y, repeat=10**7))
    with running(node, PtyLink(), "--save", str(save)) as (edge, until):
        until(lambda: node.scorer.received > 1000)
        edge.ask_to_stop()
        until(lambda: edge.exit_code is not None)
        assert edge.exit_code == 0
        told = edge.output()[0]
    n = told["counters"]["learned"]
    rows = np.arange(n) % len(X)
    assert bytes(load(save).arena) == bytes(learned(X[rows], y[rows]).arena)
    assert n > 1000 and told["broken_identities"] == []


def test_sigterm_while_a_node_says_nothing_ends_at_once(tmp_path):
    save = tmp_path / "m.esvm"
    mute = FrameNode(Rows(*generated()), boot_s=1e6)
    link = PtyLink()
    with running(mute, link, "--wait", "1000", "--save", str(save)) as (edge, until):
        deadline = time.monotonic() + PATIENCE_S
        while not link.receive():  # its HELLO; the pump would swallow it
            link.wait(0.05)
            assert time.monotonic() < deadline
        edge.ask_to_stop()
        until(lambda: edge.exit_code is not None)
        assert edge.exit_code == 130
        assert edge.output() == (None, "edgesvm: interrupted\n")
    assert not save.exists()  # nothing was learned, nothing is kept


def test_sigterm_while_the_port_is_away_saves_and_ends(tmp_path):
    X, y = generated()
    save, link = tmp_path / "m.esvm", PtyLink()
    node = FrameNode(Rows(X, y, repeat=10**7))
    with running(node, link, "--save", str(save)) as (edge, until):
        until(lambda: node.scorer.received > 100)
        link.unplug()
        edge.ask_to_stop()
        until(lambda: edge.exit_code is not None)
        assert edge.exit_code == 0
        assert load(save).n_seen_ == edge.output()[0]["counters"]["learned"] >= 100


def test_once_ends_with_its_snapshot_when_the_node_is_gone(tmp_path):
    X, y = generated()
    save, link = tmp_path / "m.esvm", PtyLink()
    node = FrameNode(Rows(X, y, repeat=10**7))
    with running(node, link, "--once", "--save", str(save)) as (edge, until):
        until(lambda: node.scorer.received > 100)
        link.unplug()
        until(lambda: edge.exit_code is not None)
        told, errors = edge.output()
        assert (edge.exit_code, errors) == (0, "")
    assert load(save).n_seen_ == told["counters"]["learned"] >= 100
    assert told["counters"]["disconnects"] == 1 and told["broken_identities"] == []


# Memory.

LIMIT = 256 * 1024  # the kernel's counters are batched; this is their resolution, not a need


@pytest.mark.parametrize(
    "n", [60_000, pytest.param(1_000_000, marks=[pytest.mark.long, pytest.mark.timeout(900)])]
)
def test_the_process_grows_no_more_once_it_is_warm(n):
    if not sys.platform.startswith("linux"):
        pytest.skip("/proc is Linux's")
    X, y = generated()
    report = run(FrameNode(Rows(X, y, repeat=n)))
    assert report.edge["counters"]["taken"] == n
    used = report.used
    assert used["growth_bytes"] - used["growth_until_warm_bytes"] <= LIMIT


# Windows of raw samples.

CUT = {"window": 32, "hop": 16, "rate": 1000.0, "bands": "10-50,50-200"}
WINDOWS = [word for name, value in CUT.items() for word in (f"--{name}", str(value))]


def chained(X, y):
    """The chain that `edgesvm run` builds by default, after one pass."""
    chain = Chain(windows=WindowFeatures(**CUT)).fitted_into(MEMORY, X.shape[1])
    return chain.partial_fit(X, y)


@each("kind, link", [(FrameNode, TcpLink), (TextNode, PtyLink)])
def test_windows_lose_nothing_and_the_bytes_equal_the_chain(kind, link, tmp_path):
    X, y = generated()
    extra = ["--text"] if kind is TextNode else []
    report = run(kind(Rows(X, y)), *WINDOWS, *extra, link=link(), save=tmp_path / "m.esvm")
    counts, expected = report.edge["counters"], chained(X, y)
    assert counts["taken"] == counts["pushed"] == len(X)
    assert counts["windows"] == counts["learned"] == expected.windows_.n_rows_
    assert counts["windows_open"] == 1 and counts["windows_dropped"] == 0
    assert bytes(load(tmp_path / "m.esvm").arena) == bytes(expected.arena)
    assert report.edge["bytes_planned"] == report.edge["bytes_allocated"] <= 16384
    if kind is FrameNode:
        assert counts["predictions_sent"] + counts["predictions_dropped"] == counts["windows"]
