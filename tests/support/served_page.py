"""A run or a watch on a fake port, served by a thread as the command's loop does."""

import http.client
import json
import threading
import time

import numpy as np
from fake_port import Clock, Node, connect

from edgesvm import StreamSVM
from edgesvm.serve.page.server import Controls, PageServer
from edgesvm.serve.page.view import RunView, WatchView
from edgesvm.serve.taught import taught
from edgesvm.serve.watch import watched

TOKEN = "a-token-that-nobody-guesses"
PATIENCE_S = 60.0


class Served:
    """A runner, its page's server, and the loop that turns both in a thread of its own.

    `novelty` is the learner of a watch, instead of a run. `turns` is how often the loop has gone
    round; it stands still within `paused`.
    """

    def __init__(self, novelty=None, **options):
        self.clock, self.node = Clock(), Node(n_features=2)
        self.link, self.port = connect(self.clock, self.node)
        if novelty is None:
            self.runner = taught(self.link, StreamSVM())
            self.runner.pupil.learner.allocate(2)
            self.view = RunView(self.runner)
        else:
            self.runner = watched(self.link, novelty.allocate(2))
            self.view = WatchView(self.runner)
        self.controls = Controls(self.view)
        options = {"request_s": PATIENCE_S, **options}
        self.server = PageServer("127.0.0.1", 0, {"": self.controls}, TOKEN, **options)
        self.turns, self._sent = 0, 0
        self._ending = threading.Event()
        self._may_turn = threading.Lock()
        self._thread = threading.Thread(target=self._turn)
        self._thread.start()

    def _turn(self):
        while not self._ending.is_set():
            with self._may_turn:
                self.controls.turn()
                self.runner.step(0.0)
                self.turns += 1
            self._ending.wait(0.001)

    def paused(self):
        return self._may_turn

    def send(self, X, labels=None):
        """Samples from the node; they are handled when this returns."""
        with self.paused():
            for i, x in enumerate(np.asarray(X).tolist()):
                label = {} if labels is None else {"label": int(labels[i])}
                self.port.inbox += self.node.sample(self._sent, tuple(x), **label)
                self._sent += 1
            while self.runner.taken < self._sent:
                self.runner.step(0.0)

    def ask(self, path, method="GET", body=None, headers=None, **more):
        """Status, headers and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE_S)
        try:
            connection.request(method, path, body, headers or {}, **more)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def status_with(self, samples):
        """The first status that tells of so many samples."""
        deadline = time.monotonic() + PATIENCE_S
        while (told := json.loads(self.ask("/status.json")[2]))["samples"] != samples:
            assert time.monotonic() < deadline, told["samples"]
            time.sleep(0.02)
        return told

    def post(self, asked, path="/label", **headers):
        """Status and JSON of an answer to a request with the token, unless `headers` say else."""
        given = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        given = {name: value for name, value in given.items() if value is not None}
        body = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
        status, _, answer = self.ask(path, "POST", body, given)
        return status, json.loads(answer)

    def close(self):
        self._ending.set()
        self._thread.join(PATIENCE_S)
        self.controls.requests.close()
        self.server.close()
