"""The page's server: a few threads that read what the loop has made, and pass requests on to it.

It never touches the learner. Reading is open to whoever reaches the port; what changes the model
needs the token, and a POST from this page.
"""

from __future__ import annotations

import hmac
import io
import ipaddress
import json
import queue
import re
import socket
import socketserver
import time
from collections.abc import Callable, Mapping
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from importlib import resources
from typing import Any
from urllib.parse import quote, unquote

from edgesvm.contract.threads import start_thread
from edgesvm.errors import NotTaught
from edgesvm.serve.page import metrics
from edgesvm.serve.page.controls import Busy, Controls

WORKERS = 8
MOST_WAITING = 256  # connections that no worker has taken up; one more is closed
HEAD_BYTES = 16 * 1024
BODY_BYTES = 4 * 1024
REQUEST_S = 5.0  # for a whole request to arrive, and as long again for the answer to be read
DRAIN_BYTES = 1 << 20
STALLED_S = 10.0  # without a turn of the loop
# Connections a second, and at once, of all clients together; others wait in the system. The more
# come, the longer the next one waits: a thread that runs takes time from the learner.
RATE, BURST = 100.0, 400

# Only this page's own files, and no other page may hold it in a frame.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Connection": "close",
}
NONE: Mapping[str, str] = {}
HTML = "text/html; charset=utf-8"
FILES = {
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}
NAV = "<nav></nav>"  # where the page of one port links those of the others


class Refused(Exception):
    """A request that gets no other answer than a status and a sentence."""

    def __init__(self, status: HTTPStatus, why: str, **headers: str) -> None:
        super().__init__(why)
        self.status, self.headers = status, headers


class PageServer(socketserver.TCPServer):
    """Serves the page, its figures and its one form, on a bounded number of threads, at a port; 0
    takes a free one. OSError if it is taken, or no address of ours.

    controls : one by any name, whose page is at ``/``; or those of several ports by their names,
        with a page each at ``/NAME/``, and ``/metrics`` and ``/healthz`` of all
    token : needed for what changes the model
    request_s : seconds within which a request must have arrived

    `turned_away` and `slow` count connections closed because too many waited, and because their
    request or the reading of the answer took too long.
    """

    allow_reuse_address = True
    request_queue_size = 128

    def __init__(
        self,
        host: str,
        port: int,
        controls: Mapping[str, Controls],
        token: str,
        *,
        request_s: float = REQUEST_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.controls, self.token, self.request_s = dict(controls), token, request_s
        self.turned_away = self.slow = 0
        self._clock, self._due = clock, clock()  # when all connections so far are paid for
        self.files = {path: (_file(name), kind) for path, (name, kind) in FILES.items()}
        self.pages = {name: _page(name, list(controls)) for name in controls}
        self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        super().__init__((host, port), _Handler)
        self.port: int = self.socket.getsockname()[1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"
        names = {host, "localhost", socket.gethostname()}
        self.names = {name.lower() for name in (*names, f"{socket.gethostname()}.local") if name}
        self._waiting: queue.Queue[Any] = queue.Queue(MOST_WAITING)
        self._threads = [start_thread(self._work, f"page-{n}") for n in range(WORKERS)]
        self._threads.append(start_thread(self.serve_forever, "page"))

    def process_request(self, request: Any, client_address: Any) -> None:
        """Hand a connection to a worker, once it is paid for."""
        self._due = max(self._due, self._clock()) + 1 / RATE
        if (seconds := self._due - self._clock() - BURST / RATE) > 0:
            time.sleep(seconds)
        try:
            self._waiting.put_nowait((request, client_address))
        except queue.Full:
            self.turned_away += 1
            self.shutdown_request(request)

    def _work(self) -> None:
        while (waiting := self._waiting.get()) is not None:
            request, address = waiting
            try:
                self.finish_request(request, address)
            except OSError:  # too slow, or gone
                self.slow += 1
            self.shutdown_request(request)

    def is_ours(self, host: str) -> bool:
        """Whether a Host header names this machine. A page elsewhere may have its own name resolve
        to this address (DNS rebinding), but cannot have it be an address or this machine's name."""
        name = re.sub(r":\d{1,5}$", "", host).lower()  # through a tunnel the port is another
        if name in self.names:
            return True
        try:
            return bool(ipaddress.ip_address(name.strip("[]")))
        except ValueError:
            return False

    def close(self) -> None:
        """Stop listening; requests that are being answered are answered."""
        self.shutdown()
        self.server_close()
        for _ in self._threads[:-1]:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join(2 * self.request_s)


class _Bounded(io.RawIOBase):
    """A connection's bytes, so many of them at most, until a certain time."""

    def __init__(self, connection: socket.socket, deadline: float, n_bytes: int) -> None:
        self._connection, self._deadline, self.left = connection, deadline, n_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("the request takes too long")
        self._connection.settimeout(seconds)
        with memoryview(buffer) as view:
            n = self._connection.recv_into(view[: max(self.left, 0)]) if self.left > 0 else 0
        self.left -= n
        return n


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    _controls: dict[str, Controls]  # those that the path is about
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "edgesvm", ""
    command = ""

    def setup(self) -> None:
        deadline = time.monotonic() + self.server.request_s
        self.connection = self.request
        self._raw = _Bounded(self.connection, deadline, HEAD_BYTES)
        self.rfile = io.BufferedReader(self._raw)
        self.wfile = io.BytesIO()

    def handle(self) -> None:
        self.close_connection = True
        self.raw_requestline = self.rfile.readline()
        if not self.raw_requestline or not self.parse_request():
            return
        try:
            if self._raw.left <= 0:
                raise Refused(
                    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                    f"the request's head has more than {HEAD_BYTES:,} bytes",
                )
            if not self.server.is_ours(self.headers.get("Host", "")):
                raise Refused(
                    HTTPStatus.MISDIRECTED_REQUEST,
                    "the Host header is not an address or name of this machine",
                )
            self._route()
        except Refused as refused:
            self._send_error(refused.status, str(refused), refused.headers)
        except Busy as busy:
            self._send_error(HTTPStatus.SERVICE_UNAVAILABLE, str(busy), {"Retry-After": "1"})
        except OSError:
            raise  # too slow, or gone
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            self._send_error(HTTPStatus.INTERNAL_SERVER_ERROR, why, NONE)

    def finish(self) -> None:
        """Send the answer, and read what is left of a request that was too long or had a body:
        closing with unread bytes would take the answer away from the other end."""
        assert isinstance(self.wfile, io.BytesIO)
        self.connection.settimeout(self.server.request_s)
        if answer := self.wfile.getvalue():
            self.connection.sendall(answer)
            self.connection.shutdown(socket.SHUT_WR)
            if self.command == "POST" or self._raw.left <= 0:
                self._raw.left = DRAIN_BYTES
                rest = bytearray(4096)
                while self._raw.readinto(rest):
                    pass

    def log_message(self, *_: Any) -> None:
        """Say nothing: a reader must not fill the log."""

    def end_headers(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    # What is asked for.

    def _route(self) -> None:
        """What one port has, at its name or alone at the root; else what all have together."""
        server, path = self.server, self.path.partition("?")[0]
        name, slash, below = unquote(path[1:]).partition("/")
        reads: dict[str, Callable[[], None]] = {
            "/metrics": self._metrics,
            "/healthz": self._healthz,
        }
        self._controls = server.controls
        if len(server.controls) > 1 and name in server.controls:
            if not slash:
                return self._send_on(f"{quote(name)}/")
            self._controls, path = {name: server.controls[name]}, f"/{below}"
        if len(self._controls) > 1:
            reads["/"] = lambda: self._send_on(f"{quote(next(iter(server.controls)))}/")
            posts = {}
        else:
            reads |= {"/": self._page, "/status.json": self._status, "/model.esvm": self._model}
            reads |= dict.fromkeys(server.files, lambda: self._send(*server.files[path]))
            posts = {"/label": self._label}
        allowed = "POST" if path in posts else "GET, HEAD"
        if path not in reads | posts:
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no {path[:100]}")
        if self.command not in allowed.split(", "):
            raise Refused(
                HTTPStatus.METHOD_NOT_ALLOWED, f"{path} takes {allowed} only", Allow=allowed
            )
        (reads | posts)[path]()

    @property
    def _one(self) -> Controls:
        (one,) = self._controls.values()
        return one

    def _page(self) -> None:
        self._send(self.server.pages[next(iter(self._controls))], HTML)

    def _status(self) -> None:
        body, age = self._one.encoded_status()
        self._send(body, "application/json", {"X-Age-Seconds": f"{age:.1f}"})

    def _metrics(self) -> None:
        statuses = [one.read_status()[0] for one in self._controls.values()]
        self._send(metrics.text(*statuses).encode(), metrics.TYPE)

    def _healthz(self) -> None:
        for name, one in self._controls.items():
            if (seconds := one.view.stale_seconds) is not None:
                raise Busy(f"{one.view.link.name}: no sample for {seconds:.0f} s")
            if one.idle_s > STALLED_S:
                which = f"{name}: " if len(self._controls) > 1 else ""
                raise Busy(
                    f"{which}no turn for {one.idle_s:.0f} s: the port is gone, or the learner is"
                    " stuck"
                )
        self._send(b"ok\n", "text/plain; charset=utf-8")

    def _model(self) -> None:
        snapshot, _ = self._one.snapshot.read()
        if snapshot is None:
            raise Busy("there is no model yet")
        named = {"Content-Disposition": 'attachment; filename="model.esvm"'}
        self._send(snapshot, "application/octet-stream", named)

    def _label(self) -> None:
        """Teach or undo."""
        self._check_token()
        teaching, asked = self._one.view.teaching, self._body()
        if teaching is None:
            raise Refused(HTTPStatus.CONFLICT, "nothing is learned here")
        try:
            answer = self._one.requests.ask(teaching.asked(asked))
        except NotTaught as why:
            raise Refused(HTTPStatus.CONFLICT, str(why)) from why
        except ValueError as wrong:
            raise Refused(HTTPStatus.BAD_REQUEST, str(wrong)) from wrong
        self._send(json.dumps(answer).encode(), "application/json")

    def _check_token(self) -> None:
        """It must be this page that asks, for somebody who has the token."""
        origin = self.headers.get("Origin")
        if origin is not None and origin != f"http://{self.headers['Host']}":
            raise Refused(HTTPStatus.FORBIDDEN, "the request comes from another page")
        given = self.headers.get("Authorization", "")
        expected = f"Bearer {self.server.token}"
        if not hmac.compare_digest(given.encode(), expected.encode()):
            raise Refused(
                HTTPStatus.UNAUTHORIZED, "the token is missing or wrong", WWW_Authenticate="Bearer"
            )

    def _body(self) -> dict[str, Any]:
        """The request's JSON object. Its type makes a browser ask before it sends one from another
        page."""
        if self.headers.get_content_type() != "application/json":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send application/json")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()):
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "the length is missing")
        if len(length) > 9 or int(length) > BODY_BYTES:
            raise Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {BODY_BYTES:,} bytes are taken"
            )
        self._raw.left = BODY_BYTES
        body = self.rfile.read(int(length))
        try:
            asked = json.loads(body)
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict):
            raise Refused(HTTPStatus.BAD_REQUEST, "the body is not a JSON object")
        return asked

    # Answers.

    def _send_on(self, where: str) -> None:
        """To another page, given from here."""
        self._send(b"", HTML, {"Location": where}, HTTPStatus.FOUND)

    def _send_error(self, status: HTTPStatus, why: str, headers: Mapping[str, str]) -> None:
        self.wfile = io.BytesIO()
        self._send(json.dumps({"error": why}).encode(), "application/json", headers, status)

    def _send(
        self,
        body: bytes,
        kind: str,
        headers: Mapping[str, str] = NONE,
        status: HTTPStatus = HTTPStatus.OK,
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _file(name: str) -> bytes:
    return resources.files("edgesvm.serve.page").joinpath(name).read_bytes()


def _page(name: str, names: list[str]) -> bytes:
    """The page of the port of this name, with links to those of all."""
    links = "".join(
        f'<a href="../{quote(n)}/"{" aria-current=page" * (n == name)}>{escape(n)}</a>\n'
        for n in names
    )
    nav = f'<nav aria-label="Ports">{links}</nav>' if len(names) > 1 else ""
    return _file("page.html").decode().replace(NAV, nav).encode()
