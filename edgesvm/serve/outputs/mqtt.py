"""``mqtt://[user@]host[:port]/topic``: each line a message, to a broker; needs paho-mqtt.

``mqtts://`` is the same over TLS.
"""

from __future__ import annotations

import hashlib
import json
import math
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from edgesvm.serve.outputs.sink import Line, Sink, slug

ANSWER_S = 5.0  # a broker that does not answer for so long counts as gone
KEEPALIVE_S = 10  # and for the handshake of TLS
IN_FLIGHT = 64
STALE = "unavailable"
PORTS = {"mqtt": 1883, "mqtts": 8883}


class Mqtt(Sink):
    """Publishes each line to a topic of a broker, with QoS 1: it is delivered once the broker has
    confirmed it. One that was not, because the connection broke, is sent again: rarely a line
    arrives twice. TOPIC/status and what Home Assistant is told are in docs/outputs.md.

    alarms : whether lines are of a watch; topics : of several ports, each one's below TOPIC;
    steady : whether each sample gives a line, so that Home Assistant may expect one in time

    Raises ValueError: the URL has no host or topic, or a password; a certificate cannot be read;
    paho-mqtt is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        alarms: bool,
        topics: Mapping[str, str] | None = None,
        password: str | None = None,
        steady: bool = False,
    ) -> None:
        try:
            from paho.mqtt import client
        except ImportError:
            raise ValueError(f"{url} needs paho-mqtt: pip install 'edgesvm[mqtt]'") from None
        self._paho: Any = client
        api = getattr(client, "CallbackAPIVersion", None)  # paho 1 has one only, and no name for it
        self._api = {} if api is None else {"callback_api_version": api.VERSION2}
        parts = urlsplit(url)
        if parts.password is not None:
            raise ValueError(
                "a password in --out could be read by everybody on this machine: use "
                "--out-password-file or EDGESVM_MQTT_PASSWORD"
            )
        asked = parse_qs(parts.query, keep_blank_values=True)
        self._discovery = asked.get("discovery", ["homeassistant"])[0].strip("/")
        self._topic = unquote(parts.path).strip("/")
        self._status = f"{self._topic}/status"
        if not parts.hostname or not self._topic or set(url + self._topic) & set("+#\0"):
            raise ValueError(f"{url}: give {parts.scheme}://[user@]host[:port]/topic")
        if set(self._discovery) & set("+#\0") or (self._discovery and not slug(self._topic)):
            raise ValueError(f"{url}: discovery needs a prefix without + and #, and ASCII in topic")
        self.name = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._host, self._port = parts.hostname, parts.port or PORTS[parts.scheme]
        self._user, self._password = parts.username and unquote(parts.username), password
        self._alarms, self._steady = alarms, steady
        self._told: dict[str, str] = {}  # the status of each port
        self._topics = {port: f"{self._topic}/{own}" for port, own in (topics or {}).items()}
        where = f"{self._host}:{self._port}"
        self.ids = [
            f"{where}/{slug(topic) if self._discovery else topic}"
            for topic in self._topics.values() or [self._topic]
        ]
        files = {name: asked[name][0] for name in ("ca", "cert", "key") if name in asked}
        if files and parts.scheme != "mqtts":
            raise ValueError(f"{url}: certificates are for mqtts://, which is MQTT over TLS")
        self._tls = tls_context(**files) if parts.scheme == "mqtts" else None
        # The same after a restart: the broker then ends the connection that it may still believe
        # in, and its last will cannot come after our "online".
        name = f"{socket.gethostname()} {self._topic}"
        self._id = f"edgesvm-{hashlib.sha256(name.encode()).hexdigest()[:15]}"
        self._client: Any = None

    def open(self) -> None:
        self._client = self._paho.Client(client_id=self._id, **self._api)
        self._client.max_inflight_messages_set(IN_FLIGHT)
        if self._tls is not None:
            self._client.tls_set_context(self._tls)
        if self._user is not None:
            self._client.username_pw_set(self._user, self._password)
        self._client.will_set(self._status, "offline", qos=1, retain=True)
        self._refusal = ""
        self._client.on_connect = self._connected
        self._client.connect(self._host, self._port, keepalive=KEEPALIVE_S)
        if not self._wait(self._client.is_connected, ANSWER_S):
            raise TimeoutError("the broker does not answer")
        told = [self._publish(*message, retain=True) for message in self._introduction()]
        self._told = self._statuses()
        if not self._wait(lambda: all(map(self._is_confirmed, told)), ANSWER_S):
            raise TimeoutError("the broker does not answer")

    def _connected(self, client: Any, data: Any, flags: Any, reason: Any, *more: Any) -> None:
        if reason != 0:
            self._refusal = f"the broker refuses: {self._paho.connack_string(reason)}"

    def _introduction(self) -> list[tuple[str, str]]:
        """What Home Assistant is told, and that the device is there."""
        told = []
        if self._discovery:
            for topic in self._topics.values() or [self._topic]:
                expire_after = self._expire_after(topic)
                shown = entities(topic, self._status, self._alarms, expire_after)
                for kind, entity, config in shown:
                    where = f"{self._discovery}/{kind}/{slug(topic)}/{entity}/config"
                    told.append((where, json.dumps(config)))
        return [*told, *({self._status: "online"} | self._statuses()).items()]

    def _statuses(self) -> dict[str, str]:
        """Whether samples come, by the topic of a port's status."""
        return {
            f"{self._topics.get(port, self._topic)}/status": STALE if fresh.is_stale else "online"
            for port, fresh in self.samples.items()
        }

    def _expire_after(self, topic: str) -> int | None:
        """Seconds without a line after which Home Assistant need not wait for more."""
        for port, fresh in self.samples.items():
            if self._topics.get(port, self._topic) == topic and self._steady:
                return None if fresh.known_after is None else math.ceil(fresh.known_after)
        return None

    def _publish(self, topic: str, payload: str, *, retain: bool) -> Any:
        return self._client.publish(topic, payload, qos=1, retain=retain)

    def _is_confirmed(self, message: Any) -> bool:
        """Whether the broker has it; paho raises RuntimeError where the connection broke."""
        return message.rc == self._paho.MQTT_ERR_SUCCESS and message.is_published()

    def send(self, lines: list[Line]) -> int:
        told = [
            self._publish(self._topics.get(line.port, self._topic), line.text, retain=False)
            for line in lines
        ]

        def confirmed() -> int:
            waiting = [n for n, one in enumerate(told) if not self._is_confirmed(one)]
            return waiting[0] if waiting else len(told)

        try:
            self._wait(lambda: confirmed() == len(told), ANSWER_S)
        except OSError:
            if confirmed() == 0:
                raise
        if confirmed() < len(told):
            # What is not confirmed is sent again; this client would do so too.
            self._client.disconnect()
        if confirmed() == 0:
            raise TimeoutError("the broker does not answer")
        return confirmed()

    def turn(self, seconds: float) -> None:
        self._loop(seconds)
        statuses = self._statuses()
        for topic, status in statuses.items():
            if status != self._told.get(topic):
                self._publish(topic, status, retain=True)
        self._told = statuses

    def _loop(self, seconds: float) -> None:
        """Read and write for so long at most. ConnectionError if the connection is broken."""
        code = self._client.loop(seconds)
        if code != self._paho.MQTT_ERR_SUCCESS:
            raise ConnectionError(self._refusal or self._paho.error_string(code))

    def _wait(self, done: Callable[[], bool], seconds: float) -> bool:
        """Read and write until something is done; whether it was in time."""
        deadline = time.monotonic() + seconds
        while not done():
            if time.monotonic() > deadline:
                return False
            self._loop(0.05)
        return True

    def close(self, seconds: float) -> None:
        if self._client is None:
            return
        client = self._client
        try:
            if seconds and client.is_connected():
                told = self._publish(self._status, "offline", retain=True)
                self._wait(lambda: self._is_confirmed(told), seconds)
        except OSError:
            pass  # gone: the broker tells the last will
        finally:
            client.disconnect()
            self._client = None


def tls_context(
    ca: str | None = None, cert: str | None = None, key: str | None = None
) -> ssl.SSLContext:
    """What TLS needs: whom to trust, and who this client is. ValueError if a file is no good."""
    if key is not None and cert is None:
        raise ValueError(f"{key}: a key without a certificate; give ?cert=FILE too")
    context = ssl.create_default_context()
    try:
        if ca is not None:
            context.load_verify_locations(ca)
    except OSError as error:
        raise ValueError(f"{ca}: no certificate of an authority ({error})") from error
    try:
        if cert is not None:
            context.load_cert_chain(cert, key, password="")
    except OSError as error:
        files = cert if key is None else f"{cert}, {key}"
        raise ValueError(f"{files}: no certificate with its key ({error})") from error
    return context


def entities(
    topic: str, status: str, alarms: bool, expire_after: int | None = None
) -> list[tuple[str, str, dict[str, Any]]]:
    """What Home Assistant shows of a topic: kind, name and configuration of each entity."""
    name = slug(topic)
    online = "{{ 'online' if value == 'online' else 'offline' }}"
    common: dict[str, Any] = {
        "state_topic": topic,
        "availability": [
            {"topic": one, "value_template": online}
            for one in dict.fromkeys((status, f"{topic}/status"))
        ],
        "availability_mode": "all",
        "device": {"identifiers": [f"edgesvm_{name}"], "name": topic, "manufacturer": "edgesvm"},
    }
    if expire_after is not None:
        common["expire_after"] = expire_after
    shown = [
        ("sensor", "score", "{{ value_json.score }}", {"state_class": "measurement"}),
        ("sensor", "remarks", "{{ value_json.remarks | join(', ') }}", {}),
    ]
    if alarms:
        on = "{{ 'ON' if value_json.alarm else 'OFF' }}"
        shown.append(("binary_sensor", "alarm", on, {"device_class": "problem"}))
    else:
        shown.append(("sensor", "predicted", "{{ value_json.predicted }}", {}))
    found = []
    for kind, entity, template, own in shown:
        named = {"name": entity, "unique_id": f"edgesvm_{name}_{entity}"}
        found.append((kind, entity, {**named, **common, "value_template": template, **own}))
    return found
