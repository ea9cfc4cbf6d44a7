"""The metrics, read by Prometheus' own parser; the words for every counter there is."""

import numpy as np
import pytest
from fake_port import Clock, Node, connect, text_link

from edgesvm import AdaGradSVR, Chain, GaussianNovelty, Standardized, StreamSVM, WindowFeatures
from edgesvm.link import wire
from edgesvm.serve.page import metrics, words
from edgesvm.serve.page.view import RunView, WatchView
from edgesvm.serve.remarks import KEYS
from edgesvm.serve.taught import taught
from edgesvm.serve.watch import watched


def families(status):
    parser = pytest.importorskip("prometheus_client.parser")
    return {f.name: f for f in parser.text_string_to_metric_families(metrics.text(status))}


def value(families, name, **labels):
    base = name.removesuffix("_total")
    (found,) = [
        s.value
        for s in families[base].samples
        if s.name == name and s.labels.items() >= labels.items()
    ]
    return found


def test_a_parser_reads_what_was_counted(served):
    served.send([[1, 0], [-1, 0], [2, 1]], [1, 0, 1])
    served.send([[1, 1]])
    with served.paused():
        status = served.view.status()
    status["port"] = 'a "port"\\\n'
    assert status["remarks"] == {}
    status["remarks"] = {"jumped": "x0: varies far more than before; look at the sensor"}
    read = families(status)
    assert value(read, "edgesvm_taken_total") == 4 and value(read, "edgesvm_learned_total") == 3
    assert value(read, "edgesvm_unlabelled") == 1 and read["edgesvm_unlabelled"].type == "gauge"
    assert (
        read["edgesvm_taken"].type == "counter" and "samples" in read["edgesvm_taken"].documentation
    )
    assert value(read, "edgesvm_info", port='a "port"\\\n') == 1
    assert value(read, "edgesvm_accuracy_ratio") == status["score"]["accuracy"]
    held = {s.labels["remark"]: s.value for s in read["edgesvm_remark"].samples}
    assert list(held) == list(KEYS) and sum(held.values()) == held["jumped"] == 1
    memory = sum(sample.value for sample in read["edgesvm_memory_bytes"].samples)
    assert memory == sum(status["memory"].values())
    confusion = sum(s.value for s in read["edgesvm_confusion"].samples)
    assert confusion == served.runner.pupil.score.n
    for name, count in status["counters"].items():
        told = f"edgesvm_{name}" + ("" if name in words.GAUGES else "_total")
        if name != "downtime_ms":
            assert value(read, told) == count, name
    assert all(family.type in {"counter", "gauge"} for family in read.values())


def test_values_far_out_are_in_the_counters_of_a_run_and_in_what_was_lost():
    link, _ = connect(Clock(), Node())
    runner = taught(link, Standardized().allocate(2))
    view = RunView(runner)
    for n, x in enumerate(np.random.default_rng(0).standard_normal((200, 2))):
        runner.handle(np.float32(1e6 * x if n == 100 else x), n % 2, n)
    status = view.status()
    assert value(families(status), "edgesvm_far_out_total") == 1
    assert {"name": "far_out", "count": 1, "why": words.meaning("far_out")} in status["lost"]


def test_a_watch_has_its_threshold():
    link, _ = connect(Clock(), Node())
    watcher = watched(link, GaussianNovelty(warm_up=100).allocate(2))
    view = WatchView(watcher)
    for n in range(200):
        watcher.handle(np.float32([n % 7, n % 5]), None, n)
    read = families(view.status())
    assert value(read, "edgesvm_threshold") == pytest.approx(
        -watcher.pupil.learner.offset_, rel=1e-5
    )
    assert value(read, "edgesvm_alarm") == 0 and value(read, "edgesvm_learning_ratio") == 1


def test_a_regressor_has_errors_and_a_coverage():
    node = Node(label_mode=wire.LABEL_INLINE | wire.TARGETS)
    link, port = connect(Clock(), node, targets=True)
    runner = taught(link, Standardized(learner=AdaGradSVR(), missing="mean").allocate(2))
    view = RunView(runner)
    rng = np.random.default_rng(2)
    for k, (a, b) in enumerate(rng.standard_normal((300, 2))):
        port.inbox += node.sample(k, (a, np.nan if k == 7 else b), target=20 + 3 * a)
    port.inbox += node.sample(300)
    while runner.step(0.0):
        view.tick()
    status = view.status()
    read = families(status)
    for name, metric in (("mae", "mae"), ("r2", "r2"), ("coverage", "coverage_ratio")):
        assert value(read, f"edgesvm_{metric}") == pytest.approx(
            getattr(runner.pupil.score, name), rel=1e-5
        )
    assert value(read, "edgesvm_coverage_asked_ratio") == 0.9
    assert value(read, "edgesvm_n_missing_total") == 1
    assert status["history"]["mae"][-1] < status["history"]["mean_so_far"][-1]
    newest = status["predictions"][0]
    assert newest["low"] < newest["predicted"] < newest["high"] and newest["label"] is None


def test_every_loss_has_words_and_every_word_a_counter():
    clock = Clock()
    link, _ = connect(clock, Node(label_mode=wire.LABEL_LATE), late_labels=8)
    lines, _ = text_link(clock, b"1,2,3\n" * 5)
    chain = Chain(windows=WindowFeatures(window=16), learner=StreamSVM()).allocate(2)
    other, _ = connect(clock, Node())
    scaled = Standardized().fit([[0.0], [1.0]], [0, 1])
    known = taught(link, scaled).counters() | lines.counters
    known |= taught(other, chain).counters()
    windows = Chain(windows=WindowFeatures(window=16), learner=GaussianNovelty()).allocate(2)
    known |= watched(other, windows).counters()
    known |= {"taught": 0, "drifts": 0, "resets": 0, "downtime_seconds": 0}
    known |= {"bad_tag": 0, "replayed": 0}  # with a key
    known |= {"n_missing": 0}  # of a learner that fills them in
    unknown = sorted({*words.LOSSES, *words.OTHERS, *words.GAUGES} - {*known})
    assert unknown == []
    lost = [name for name in known if "bad" in name or "drop" in name or "refused" in name]
    assert [name for name in lost if name not in words.LOSSES] == []
    assert words.losses({"missing": 2, "bad_crc": 0, "taken": 3}) == [
        {"name": "missing", "count": 2, "why": words.LOSSES["missing"]}
    ]
