"""`edgesvm run` on several ports: one vanishes, the others go on; each model is its port's own."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import numpy as np
import pytest
from fake_port import Clock, Node, connect
from table import Table

from edgesvm import ByteSVM, StreamSVM, load
from edgesvm.cli import main
from edgesvm.cli.link_settings import LinkSettings
from edgesvm.cli.server import TURN, Opening, Served
from edgesvm.serve.outputs.sink import port_name
from edgesvm.serve.process import StatusLine
from edgesvm.serve.taught import taught
from firmware_sim.harness import Pump
from firmware_sim.line import Line, PtyLink, TcpLink
from firmware_sim.node import FrameNode

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
PATIENCE_S = 60.0
N, D = 1000, 4


def rows(seed, n=N, d=D):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(np.float32)
    return X, (X @ rng.standard_normal(d) > 0).astype(np.int32)


def learned(X, y, memory):
    return ByteSVM().fitted_into(memory, X.shape[1]).partial_fit(X, y)


class Bench:
    """Nodes and their links, and the process that serves them all."""

    def __init__(self, *links):
        self._held = ExitStack()
        self.links = [self._held.enter_context(closing(link)) for link in links]
        self.pumps = [None] * len(links)
        files = (tempfile.TemporaryFile, tempfile.TemporaryFile)
        self._files = [self._held.enter_context(file()) for file in files]
        self.process, self.paused = None, set()

    def node(self, number, node):
        """From now on this node is at the end of a link."""
        self.pumps[number] = Pump(node, Line(self.links[number]))

    def run(self, *options):
        ports = [link.url for link in self.links]
        argv = [sys.executable, "-m", "edgesvm.cli", "run", *ports, *map(str, options)]
        self.process = self._held.enter_context(
            subprocess.Popen(argv, stdout=self._files[0], stderr=self._files[1])
        )
        self._held.callback(self.process.kill)

    def said(self, which=1):
        """On stderr, or on stdout, so far."""
        return os.pread(self._files[which].fileno(), 1 << 20, 0)

    def has_sent_all(self, number):
        pump, link = self.pumps[number], self.links[number]
        if pump.node.samples_sent and not link.connected:
            return True  # the host goes with the last sample, and may not stay for the heartbeat
        return pump.done and not link.unread()

    def until(self, condition):
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, self.said()
            now = time.monotonic()
            there = [pump for i, pump in enumerate(self.pumps) if i not in self.paused and pump]
            if not sum(pump.step(now) for pump in there):
                time.sleep(0.001)

    def end(self, code=0):
        self.until(lambda: self.process.poll() is not None)
        out, errors = (self.said(which).decode() for which in range(2))
        assert self.process.returncode == code, errors
        return out, errors

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._held.close()


def test_a_port_that_vanishes_holds_nobody_up_and_each_model_is_as_if_alone(tmp_path):
    tables = [rows(seed) for seed in range(3)]
    half = N // 2
    with Bench(PtyLink(), TcpLink(), PtyLink()) as bench:
        for number, (X, y) in enumerate(tables):
            bench.node(number, FrameNode(Table(X, y), boot_id=number + 1))
        X, y = tables[1]
        bench.node(1, FrameNode(Table(X[:half], y[:half]), boot_id=7))
        save, out = tmp_path / "{port}.esvm", tmp_path / "lines"
        bench.run("--memory", "48KiB", "--samples", N, "--save", save, "--json")
        bench.until(lambda: all(bench.has_sent_all(number) for number in range(3)))
        bench.links[1].unplug()
        bench.pumps[1] = None
        for number in (0, 2):  # the rest of their samples, while the other is away
            bench.pumps[number].node.samples = N
        bench.until(lambda: bench.has_sent_all(0) and bench.has_sent_all(2))
        bench.until(
            lambda: all(bench.pumps[number].node.scorer.received > half for number in (0, 2))
        )
        bench.node(1, FrameNode(Table(X[half:], y[half:]), boot_id=8))
        bench.links[1].plug()
        text, errors = bench.end()
        names = [link.url for link in bench.links]
    summary = json.loads(text)
    assert list(summary["ports"]) == names and not out.exists()
    for name, (X, y), back in zip(names, tables, (0, 1, 0), strict=True):
        one = summary["ports"][name]
        assert one["counters"]["learned"] == N and one["broken_identities"] == []
        assert one["counters"]["reconnects"] == back and one["error"] is None
        model = load(tmp_path / f"{port_name(name)}.esvm")
        assert bytes(model.arena) == bytes(learned(X, y, "16KiB").arena)
    assert errors.count("may have 16.0 KiB (16,384 B) of 48KiB") == 3
    assert "trying to open it again" in errors and "is open again" in errors


def test_one_model_learns_each_sample_of_all_ports_once(tmp_path):
    tables = [rows(seed, n) for seed, n in ((0, 500), (1, 500))]
    model, lines = tmp_path / "m.esvm", tmp_path / "lines"
    with Bench(PtyLink(), TcpLink()) as bench:
        bench.node(0, FrameNode(Table(*tables[0])))
        bench.node(1, FrameNode(Table(*tables[1]), boot_id=2))
        bench.run("--one-model", "--save", model, "--samples", 480, "--memory", "16KiB",
                  "--out", f"jsonl:{lines}", "--out-queue", 2000)  # fmt: skip
        _, errors = bench.end()
        names = [link.url for link in bench.links]
    told = [json.loads(line) for line in lines.read_text().splitlines()]
    numbers = [[one["sequence"] for one in told if one["port"] == name] for name in names]
    assert numbers == [list(range(480))] * 2 and "960 sent, 0 lost" in errors
    assert load(model).n_seen_ == 960
    assert "all ports: " in errors


def test_each_port_has_a_page_and_all_have_their_metrics_together(tmp_path):
    token = tmp_path / "token"
    with Bench(PtyLink(), PtyLink()) as bench:
        for number in range(2):
            X, y = rows(number)
            bench.node(number, FrameNode(Table(X, y), boot_id=number + 1, label_mode="none"))
        bench.run("--http", 0, "--http-token-file", token, "--memory", "48KiB")
        bench.until(lambda: b"page: http" in bench.said())
        url = re.search(r"page: (\S+)", bench.said().decode())[1]
        names = [port_name(link.url) for link in bench.links]

        def ask(path, **more):
            """Status, address and text of an answer, while the nodes go on."""
            request = urllib.request.Request(url + path, **more)
            with ThreadPoolExecutor(1) as pool:
                asked = pool.submit(urllib.request.urlopen, request, timeout=PATIENCE_S)
                bench.until(asked.done)
            with asked.result() as answer:
                return answer.status, answer.url, answer.read().decode()

        def taken(name):
            return json.loads(ask(f"{name}/status.json")[2])["counters"]["taken"]

        bench.until(lambda: all(taken(name) == N for name in names))
        assert ask("")[1] == ask(names[0])[1] == f"{url}{names[0]}/" and ask("healthz")[0] == 200
        for name in names:
            page = ask(f"{name}/")[2]
            assert f'<a href="../{names[0]}/"' in page and f'<a href="../{names[1]}/"' in page
            assert page.count("aria-current") == 1
        headers = {"Authorization": f"Bearer {token.read_text().strip()}"}
        headers["Content-Type"] = "application/json"
        label = {"data": b'{"label": 1, "seconds": 3600}', "headers": headers, "method": "POST"}
        assert json.loads(ask(f"{names[1]}/label", **label)[2])["taught"] > 0
        for path, code in (("label", 404), ("status.json", 404), (f"{names[0]}x/", 404)):
            with pytest.raises(urllib.error.HTTPError) as error:
                ask(path, **(label if path == "label" else {}))
            with error.value as refused:
                assert refused.code == code, path
        taught = dict(re.findall(r'edgesvm_taught_total{port="([^"]+)"} (\d+)', ask("metrics")[2]))
        assert taught.keys() == {link.url for link in bench.links}
        assert [int(taught[link.url]) > 0 for link in bench.links] == [False, True]
        assert ask("metrics")[2].count("# TYPE edgesvm_taught_total") == 1
        bench.links[0].unplug()
        bench.until(lambda: b"trying to open it again" in bench.said())
        assert taken(names[1]) == N  # its page goes on
        bench.process.terminate()
        bench.end()


def test_ports_take_turns_of_at_most_so_many_samples():
    clock, learner = Clock(), StreamSVM()
    served = []
    for seed in range(2):
        node = Node()
        link, port = connect(clock, node)
        for n in range(100):
            port.inbox += node.sample(n, (1.0 + n % 2, float(seed)), label=n % 2)
        job = taught(link, learner, window=10, answers=False)
        served.append(Served(job, LinkSettings(url="p", samples=70), StatusLine()))
    taken = [[one.turn() for one in served] for _ in range(4)]
    assert taken == [[TURN, TURN], [TURN, TURN], [70 - 2 * TURN] * 2, [0, 0]]
    assert all(one.ended for one in served) and learner.n_seen_ == 140
    order = [
        (i, n) for turn in (range(32), range(32, 64), range(64, 70)) for i in (0, 1) for n in turn
    ]
    X = np.array([(1.0 + n % 2, float(i)) for i, n in order], np.float32)
    alone = StreamSVM().partial_fit(X, [n % 2 for _, n in order])
    assert bytes(alone.arena) == bytes(learner.arena)
    # The second had a learner that the first had taught.
    assert served[1].job.pupil.score.n == 70 and served[0].job.pupil.score.n == 69


def test_a_port_that_fails_for_good_ends_alone(tmp_path):
    tables = [rows(seed) for seed in range(2)]
    with Bench(PtyLink(), PtyLink()) as bench:
        for number, (X, y) in enumerate(tables):
            bench.node(number, FrameNode(Table(X, y), samples=N // 2))
        bench.run("--save", tmp_path / "{port}.esvm", "--json", "--memory", "8KiB")
        bench.until(lambda: bench.has_sent_all(0) and bench.has_sent_all(1))
        bench.node(0, FrameNode(Table(*rows(0, d=D + 1)), boot_id=8))
        bench.until(lambda: b"the other ports go on" in bench.said())
        bench.node(1, FrameNode(Table(*(part[N // 2 :] for part in tables[1])), boot_id=9))
        bench.until(lambda: bench.has_sent_all(1))
        bench.process.terminate()
        out, errors = bench.end(code=1)
        names = [link.url for link in bench.links]
    first, second = (json.loads(out)["ports"][name] for name in names)
    assert first["counters"]["learned"] == N // 2 and "features" in first["error"]
    assert second["counters"]["learned"] == N and second["error"] is None
    assert "the other ports go on" in errors and len(list(tmp_path.glob("*.esvm"))) == 2


def test_a_port_that_cannot_be_opened_is_named(capsys):
    with closing(PtyLink()) as link:
        assert main(["run", link.url, "/dev/nowhere", "--wait", "1", "--text"]) == 1
    assert "/dev/nowhere" in capsys.readouterr().err


def test_models_of_other_widths_cannot_be_one():
    tables = [rows(0, d=3), rows(1, d=5)]
    with Bench(PtyLink(), PtyLink()) as bench:
        for number, (X, y) in enumerate(tables):
            bench.node(number, FrameNode(Table(X, y)))
        bench.run("--one-model")
        _, errors = bench.end(code=2)
    assert "as many features on each port, not 3 on" in errors


def test_what_a_port_had_sent_is_learned_before_it_is_given_up():
    clock, node, learner = Clock(), Node(), StreamSVM()
    link, port = connect(clock, node)
    for n in range(100):
        port.inbox += node.sample(n, (1.0 + n % 2, 0.0), label=n % 2)
    job = taught(link, learner, window=10, answers=False)
    one = Served(job, LinkSettings(url="p", once=True), StatusLine())
    port.dead = True
    while not one.ended:
        one.turn()
    assert learner.n_seen_ == job.taken == 100


def test_without_room_for_a_thread_a_port_is_opened_at_once(monkeypatch):
    def refuses(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuses)
    opening = Opening(lambda: "a link")
    assert opening.is_over(0.0) and opening.result == "a link"
