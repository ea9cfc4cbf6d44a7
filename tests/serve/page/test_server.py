"""The page's server by its own protocol: what it answers, what it refuses, and what it costs."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from fake_port import Clock
from served_page import PATIENCE_S, TOKEN, Served

from edgesvm import GaussianNovelty, StreamSVM, load
from edgesvm.serve.page import server
from edgesvm.serve.page.controls import STATUS_EVERY_S, Busy, Newest, Requests
from edgesvm.serve.page.server import BODY_BYTES, HEAD_BYTES, WORKERS

X = np.float32([[1, 0], [-1, 0], [2, 1], [-2, 1], [3, 0]])
Y = [1, 0, 1, 0, 1]


def state(served):
    return bytes(served.runner.pupil.learner.arena), served.runner.counters()


def test_each_page_says_that_it_needs_nothing_from_elsewhere(served):
    kinds = {"/": "text/html", "/page.css": "text/css", "/page.js": "text/javascript"}
    kinds |= {"/status.json": "application/json", "/metrics": "text/plain"}
    kinds |= {"/healthz": "text/plain", "/model.esvm": "application/octet-stream"}
    for path, kind in kinds.items():
        status, headers, body = served.ask(path)
        assert status == 200 and headers["Content-Type"].startswith(kind) and body, path
        assert headers["Cache-Control"] == "no-store"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert served.ask(path, "HEAD")[::2] == (200, b"")
        if path in {"/", "/page.css", "/page.js"}:
            text = body.decode().replace("http://www.w3.org/2000/svg", "")
            assert "//" not in text.replace("\n//", "").replace(" //", ""), path
    for path in ("/no", "/../server.py", "/page.html", "/label/"):
        assert served.ask(path)[0] == 404, path


def test_a_status_tells_the_run(served):
    assert json.loads(served.ask("/status.json")[2])["samples"] == 0
    served.send(X, Y)
    served.send(X[:1])
    told = served.status_with(samples=6)
    counters = {k: v for k, v in told["counters"].items() if k != "taught"}
    assert counters == served.runner.counters() and told["samples"] == 6
    assert told["score"]["accuracy"] == pytest.approx(served.runner.pupil.score.accuracy, rel=1e-5)
    assert sum(map(sum, told["confusion"]["counts"])) == served.runner.pupil.score.n == 4
    newest = told["predictions"][0]
    assert (newest["sequence"], newest["label"], newest["place"]) == (5, None, 5)
    assert told["memory"]["model"] == served.runner.pupil.learner.nbytes
    assert told["memory"]["link"] == served.link.nbytes
    assert {one["name"]: one["count"] for one in told["lost"]} == {"unlabelled": 1}


def test_the_snapshot_is_the_model(served, tmp_path):
    served.send(X, Y)
    path = tmp_path / "model.esvm"
    path.write_bytes(served.ask("/model.esvm")[2])
    assert bytes(load(str(path)).arena) == bytes(served.runner.pupil.learner.arena)


def test_a_label_teaches_the_row_that_was_shown(served):
    served.send(X[:2], Y[:2])
    served.send(X[2:])
    newest = served.status_with(samples=5)["predictions"][0]
    asked = {"label": 1, "sequence": newest["sequence"], "place": newest["place"]}
    assert served.post(asked) == (200, {"taught": 1, "refused": {}})
    assert served.runner.pupil.learned == 3 and served.runner.pupil.unlabelled == 2
    plain = StreamSVM().partial_fit(X[[0, 1, 4]], [1, 0, 1])
    assert bytes(served.runner.pupil.learner.arena) == bytes(plain.arena)
    status, told = served.post(asked)
    assert status == 409 and "label 1 already" in told["error"]
    status, told = served.post({**asked, "place": 2})
    assert status == 409 and "restarted" in told["error"]
    assert served.runner.pupil.learned == 3


def test_a_label_for_the_last_seconds_teaches_what_has_none(served):
    served.send(np.repeat(X[:2], 20, axis=0), [1, 0] * 20)
    served.send(np.repeat(X[:1], 50, axis=0))
    assert served.post({"label": 1, "seconds": 3600})[1] == {"taught": 50, "refused": {}}
    assert (served.runner.pupil.learned, served.runner.pupil.unlabelled) == (90, 0)
    status, told = served.post({"label": 1, "seconds": 3600})
    assert status == 409 and "no row without a label" in told["error"]
    served.send(X[:3])
    status, told = served.post({"label": 9, "seconds": 3600})
    assert status == 409 and "two" in told["error"] and served.runner.pupil.unlabelled == 3
    assert served.view.counters()["taught"] == 50


def test_all_samples_have_a_label_until_it_is_stopped(served):
    served.send(X, Y)
    assert served.post({"label": 1, "until": "stopped"}) == (200, {"from_now_on": 1})
    served.send(X[:3], [0, 0, 0])
    told = served.status_with(samples=8)
    assert told["word"] == 1 and [p["label"] for p in told["predictions"]][:4] == [1, 1, 1, 1]
    assert (max(told["traces"][0]), told["channels"][1]["name"]) == (3.0, "x1")
    assert served.post({"label": None, "until": "stopped"}) == (200, {"from_now_on": None})
    served.send(X[:1])
    assert served.runner.pupil.learned == 8 and served.runner.pupil.unlabelled == 1


def test_nothing_is_changed_without_the_token_or_from_another_page(served):
    served.send(X[:2], Y[:2])
    served.send(X[2:])
    good = {"label": 1, "sequence": 4, "place": 4}
    before = state(served)
    refused = {
        401: [
            {"Authorization": None},
            {"Authorization": "Bearer "},
            {"Authorization": f"Bearer {TOKEN}x"},
            {"Authorization": f"bearer {TOKEN[:-1]}"},
            {"Authorization": "Bearer \xe9"},
        ],
        403: [{"Origin": "http://elsewhere.example"}, {"Origin": "null"}],
        415: [{"Content_Type": "text/plain"}, {"Content_Type": None}],
        421: [
            {"Host": "elsewhere.example"},
            {"Host": f"elsewhere.example:{served.server.port}"},
            {"Host": f"127.0.0.1.example:{served.server.port}"},
            {"Host": ""},
        ],
    }
    for status, attempts in refused.items():
        for headers in attempts:
            assert served.post(good, **headers)[0] == status, headers
    for method in ("GET", "PUT", "DELETE", "HEAD"):
        given = {"Authorization": f"Bearer {TOKEN}"}
        asked = served.ask(f"/label?label=1&sequence=4&place=4&token={TOKEN}", method, None, given)
        assert asked[0] in {405, 501}, method
    for path in ("/", "/status.json", "/model.esvm", "/metrics"):
        assert served.post(good, path)[0] == 405, path
    wrong = [
        b"",
        b"[]",
        b"{",
        b"[" * BODY_BYTES,
        {},
        {**good, "label": "1"},
        {"label": [], "until": "stopped"},
    ]
    wrong += [{**good, "label": y} for y in (True, 40000)]
    wrong += [{**good, "sequence": -1}, {**good, "place": None}]
    wrong += [{"label": 1, "seconds": x} for x in (0, -1, "5", True, None, 1e9)]
    for body in wrong:
        assert served.post(body)[0] == 400, body
    assert state(served) == before
    for host in ("localhost", "127.0.0.1:9", f"[::1]:{served.server.port}", "10.0.0.7:80"):
        assert served.ask("/healthz", headers={"Host": host})[0] == 200, host
    own = f"http://127.0.0.1:{served.server.port}"
    assert served.post(good, Origin=own)[0] == 200


def test_a_watch_tells_its_alarm_and_takes_no_labels():
    served = Served(novelty=GaussianNovelty(warm_up=500))
    try:
        rng = np.random.default_rng(0)
        usual, strange = rng.standard_normal((600, 2)), rng.normal([9, 0], 1, (10, 2))
        served.send(np.float32(np.vstack([usual, strange])))
        alarm = served.status_with(samples=610)["alarms"][0]
        assert [f["name"] for f in alarm["features"]] == ["x0"]  # the other has too small a share
        assert alarm["on"] and alarm["kind"] == "strange" and alarm["score"] > alarm["threshold"]
        before = bytes(served.runner.pupil.learner.arena)
        for wrong in ({"label": 1}, {"label": 1, "seconds": 5}, {"undo": True}):
            assert served.post(wrong)[0] == 409, wrong
        assert bytes(served.runner.pupil.learner.arena) == before
        assert served.runner.check_identities() == []
    finally:
        served.close()


def talk(served, data, end=True):
    """What comes back for raw bytes."""
    with socket.create_connection(("127.0.0.1", served.server.port), PATIENCE_S) as line:
        line.sendall(data)
        if end:
            line.shutdown(socket.SHUT_WR)
        answer = b""
        while chunk := line.recv(65536):
            answer += chunk
        return answer.decode("latin-1")


def test_what_is_too_long_or_no_request_is_refused(served):
    head = f"POST /label HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    head += "Content-Type: application/json\r\n"
    for extra, status in {
        f"Content-Length: {BODY_BYTES + 1}": 413,
        f"Content-Length: {10**12}": 413,
        "Content-Length: -1": 411,
        "Content-Length: ²": 411,
        "Transfer-Encoding: chunked": 411,
        f"X: {'x' * HEAD_BYTES}": 431,
    }.items():
        request = (head + extra + "\r\n\r\n").encode("utf-8")
        assert f"HTTP/1.1 {status} " in talk(served, request), extra
    long = b'{"label": 1}' + b" " * 300_000
    assert served.post(long)[0] == 413
    for junk in (b"\r\n", b"\x00\xff" * 100, b"GET", b"x" * (2 * HEAD_BYTES), b""):
        answer = talk(served, junk)
        assert not answer or " 400 " in answer or " 414 " in answer or "431" in answer, junk
    assert served.ask("/healthz")[0] == 200


def test_slow_clients_are_let_go_and_do_not_keep_out_others():
    served = Served(request_s=1.0)
    try:
        address = ("127.0.0.1", served.server.port)
        slow = [socket.create_connection(address, PATIENCE_S) for _ in range(WORKERS)]
        for line in slow:
            line.sendall(b"GET / HTTP/1.1\r\n")
        dripping = threading.Thread(target=drip, args=(slow[0],))
        dripping.start()
        assert served.ask("/healthz")[0] == 200
        for line in slow:
            assert read_to_end(line) == b""
            line.close()
        dripping.join(PATIENCE_S)
        assert served.server.slow == WORKERS and served.turns > 0
    finally:
        served.close()


def drip(line):
    """A header that never ends, a byte at a time."""
    try:
        while True:
            line.sendall(b"x")
            time.sleep(0.05)
    except OSError:
        return


def read_to_end(line):
    try:
        return line.recv(10)
    except ConnectionResetError:
        return b""


def test_a_hundred_clients_cost_the_loop_a_few_statuses_a_second():
    served = Served()
    try:
        served.send(X, Y)
        begun, turns = time.monotonic(), served.turns
        with ThreadPoolExecutor(100) as clients:
            answers = list(clients.map(lambda _: served.ask("/status.json"), range(400)))
        seconds = time.monotonic() - begun
        assert [status for status, _, _ in answers] == [200] * 400
        assert served.server.turned_away == 0
        assert 1 <= served.view.statuses <= 2 + seconds / STATUS_EVERY_S
        assert served.turns > turns
        made = served.view.statuses
        while served.turns < turns + 100:  # and none where nobody asks
            time.sleep(0.01)
        assert served.view.statuses == made
    finally:
        served.close()


def test_all_clients_together_are_taken_up_no_faster_than_stated(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(server.time, "sleep", clock.sleep)
    monkeypatch.setattr(server, "RATE", 10.0)
    monkeypatch.setattr(server, "BURST", 5)
    served = Served(clock=lambda: clock.now)
    try:
        assert [served.ask("/healthz")[0] for _ in range(25)] == [200] * 25
        assert clock.now == pytest.approx(102.0)
        assert served.server.turned_away == 0
    finally:
        served.close()


def test_a_loop_that_stands_still_is_told(served, monkeypatch):
    served.send(X, Y)
    assert served.ask("/status.json")[0] == 200
    monkeypatch.setattr("edgesvm.serve.page.server.STALLED_S", 0.2)
    with served.paused():
        time.sleep(0.3)
        status, headers, body = served.ask("/status.json")
        assert status == 200 and float(headers["X-Age-Seconds"]) >= 0.3
        assert json.loads(body)["samples"] == 5
        assert served.ask("/healthz")[0] == 503


def test_a_request_that_nobody_took_up_is_not_carried_out_later():
    requests, done = Requests(capacity=2), []

    def work(name, portions=1):
        for _ in range(portions - 1):
            yield
        done.append(name)
        return name

    with pytest.raises(Busy, match="nothing changed"):
        requests.ask(work("late"), patience=0.01)
    with ThreadPoolExecutor(2) as askers:
        asked = askers.submit(requests.ask, work("first", portions=3), PATIENCE_S)
        while not asked.done():
            requests.turn()
        assert asked.result() == "first" and done == ["first"]

        def failing():
            raise ZeroDivisionError
            yield

        asked = askers.submit(requests.ask, failing(), PATIENCE_S)
        while not asked.done():
            requests.turn()
        assert isinstance(asked.exception(), ZeroDivisionError)
        left = [askers.submit(requests.ask, work(name), PATIENCE_S) for name in "ab"]
        while requests._waiting.qsize() < 2:
            time.sleep(0.001)
        with pytest.raises(Busy, match="too many"):
            requests.ask(work("c"))
        requests.close()
        assert all(isinstance(one.exception(), Busy) for one in left)
    with pytest.raises(Busy, match="ending"):
        requests.ask(work("d"))
    assert done == ["first"]


def test_a_newest_is_written_only_for_those_who_ask():
    now = [0.0]
    newest = Newest(lambda: now[0], every=1.0, clock=lambda: now[0])
    newest.turn()
    assert newest.made == 0 and newest.read(patience=0.0) == (None, float("inf"))
    newest.turn()
    assert newest.read() == (0.0, 0.0) and newest.made == 1
    now[0] = 0.9
    newest.turn()
    assert newest.read() == (0.0, 0.9) and newest.made == 1  # not yet older than it may be
    now[0] = 1.5
    assert newest.read(patience=0.0) == (0.0, 1.5)
    assert newest.read(patience=1e6) == (0.0, 1.5)  # nobody waits for a loop that is overdue
    newest.turn()
    assert newest.read() == (1.5, 0.0) and newest.made == 2
