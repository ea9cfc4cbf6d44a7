"""Lines to a real mosquitto: all of them, over a stop of it; discovery, last will, password."""

import gc
import json
import os
import signal
import socket
import threading

import pytest
from each import each
from outgoing import Broker, answers, certificate, output, until, write

from edgesvm.cli.out_settings import OutSettings
from edgesvm.link.freshness import Freshness
from edgesvm.serve.outputs import mqtt
from edgesvm.serve.outputs import output as module
from edgesvm.serve.outputs.mqtt import Mqtt, entities
from edgesvm.serve.outputs.sink import port_name, slug

if os.environ.get("EDGESVM_BROKER") == "required":
    import paho.mqtt.client as paho
else:
    paho = pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is not installed")


class Listener:
    """A second client: all messages under a filter, by topic, and which were retained."""

    def __init__(self, broker, topics="#"):
        self.messages, self.retained, self._here = [], {}, threading.Event()
        self._client = paho.Client(paho.CallbackAPIVersion.VERSION2)
        self._client.on_message = self._hear
        self._client.on_connect = lambda client, *_: client.subscribe(topics, qos=1)
        self._client.on_subscribe = lambda *_: self._here.set()
        self._client.connect("127.0.0.1", broker.port)
        self._client.loop_start()
        assert self._here.wait(60)

    def _hear(self, client, data, message):
        if message.retain:
            self.retained[message.topic] = message.payload.decode()
        self.messages.append((message.topic, message.payload.decode()))

    def of(self, topic):
        return [payload for where, payload in list(self.messages) if where == topic]

    def kept(self, topic):
        """The retained message of a topic, once it came."""
        assert until(lambda: topic in self.retained)
        return self.retained[topic]

    def numbers(self, topic="pump"):
        return [json.loads(payload)["sequence"] for payload in self.of(topic)]

    def close(self):
        self._client.disconnect()
        self._client.loop_stop()


@pytest.fixture
def broker(tmp_path):
    broker = Broker(tmp_path, "allow_anonymous true")
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def listen(broker):
    listeners = []

    def make():
        listeners.append(Listener(broker))
        return listeners[-1]

    yield make
    for one in listeners:
        one.close()


def sink(broker, more="", **options):
    return Mqtt(f"mqtt://127.0.0.1:{broker.port}/pump{more}", **{"alarms": False, **options})


def test_each_line_arrives_and_the_status_tells_the_beginning_and_the_end(broker, listen):
    listener = listen()
    with output(sink(broker), answers(500)) as out:
        assert until(lambda: out.sent == 500)
    assert until(lambda: len(listener.of("pump/status")) == 2)
    assert listener.of("pump/status") == ["online", "offline"]
    assert listener.numbers() == list(range(500)) and out.failed == 0
    assert set(json.loads(listener.of("pump")[0])) >= {"time", "predicted", "score", "label"}
    assert listen().kept("pump/status") == "offline"


@each("how", [signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP])
def test_while_the_broker_is_away_what_does_not_arrive_is_counted(how, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PAUSE_FIRST_S", 0.05)
    monkeypatch.setattr(module, "PAUSE_LAST_S", 0.2)
    monkeypatch.setattr(module, "FLUSH_S", 60.0)
    broker = Broker(tmp_path, "allow_anonymous true")
    broker.start()
    said, before, journal = [], Listener(broker), answers(0, 200)
    listeners = [before]
    try:
        with output(sink(broker), journal, report=said.append) as out:
            write(journal, 150)
            # What the broker has taken it may still have to pass on.
            assert until(lambda: out.sent == len(before.numbers()) == 150)
            with monkeypatch.context() as patience:
                # A broker that is halted takes connections and answers nothing.
                patience.setattr(mqtt, "ANSWER_S", 0.2 if how == signal.SIGSTOP else mqtt.ANSWER_S)
                broker.stop(how)
                write(journal, 700)  # 200 of them can wait
                assert until(lambda: out.failed >= 3)
            assert out.sent == 150
            broker.come_back()
            after = Listener(broker)
            assert until(lambda: out.sent + out.lost == 850)
            write(journal, 50)
        assert until(lambda: after.of("pump/status")[-1:] == ["offline"])
        found = {*before.numbers(), *after.numbers()}
        # What a halted broker had in its hands when it was given up may arrive though it is lost.
        assert found >= {*range(150), *range(650, 900)} and 900 - len(found) <= out.lost
        assert (out.sent, out.lost) == (400, 500)
        assert how == signal.SIGSTOP or len(found) == out.sent
        assert len(said) == 2 and "trying again" in said[0] and "works again" in said[1]
        # A broker that was killed has forgotten what it retained: it is told again.
        late = Listener(broker)
        for kind, name, config in entities("pump", "pump/status", alarms=False):
            kept = late.kept(f"homeassistant/{kind}/pump/{name}/config")
            assert json.loads(kept) == config
        listeners += [after, late]
    finally:
        broker.close()
        for one in listeners:
            one.close()


def test_the_last_will_tells_that_a_program_died(broker, listen):
    listener, dying = listen(), sink(broker)
    dying.open()
    assert until(lambda: listener.of("pump/status") == ["online"])
    dying._client.socket().shutdown(2)  # as where the host's power fails
    assert until(lambda: listener.of("pump/status") == ["online", "offline"])
    assert listen().kept("pump/status") == "offline"
    # It comes back as the same client, and says so.
    back = sink(broker)
    back.open()
    assert until(lambda: listener.of("pump/status")[-1] == "online")
    back.close(60.0)
    dying.close(0.0)


def test_home_assistant_finds_its_entities(broker, listen):
    for alarms, kinds in ((False, ["sensor"] * 3), (True, ["sensor", "sensor", "binary_sensor"])):
        one = sink(broker, f"?discovery=ha{alarms}", alarms=alarms)
        one.open()
        one.close(60.0)
        listener, expected = listen(), entities("pump", "pump/status", alarms=alarms)
        assert [kind for kind, _, _ in expected] == kinds
        for kind, name, config in expected:
            assert json.loads(listener.kept(f"ha{alarms}/{kind}/pump/{name}/config")) == config
        ids = [config["unique_id"] for _, _, config in expected]
        assert len(set(ids)) == len(ids) == 3
        assert all(c["availability"][0]["topic"] == "pump/status" for _, _, c in expected)
    quiet = sink(broker, "?discovery=")
    listener = listen()
    quiet.open()
    quiet.close(60.0)
    assert until(lambda: len(listener.of("pump/status")) >= 3)  # one of them retained
    assert not any(where.startswith("homeassistant") for where, _ in listener.messages)


def test_a_port_without_samples_is_unavailable_until_they_come_again(broker, listen):
    """Home Assistant is told by whose status to go, and to wait for each line so long."""
    well, dead = Freshness(30.0, now=0.0), Freshness(7.5, now=0.0)
    listener = listen()
    one = sink(broker, topics={"p": "tty0", "q": "tty1"}, steady=True)
    one.samples = {"p": well, "q": dead}
    with output(one, answers(3)):
        assert until(lambda: listener.of("pump/tty1/status") == ["online"])
        dead.is_stale = True
        assert until(lambda: listener.of("pump/tty1/status") == ["online", "unavailable"])
        assert listen().kept("pump/tty1/status") == "unavailable"
        shown = json.loads(listen().kept("homeassistant/sensor/pump_tty1/score/config"))
        assert shown["expire_after"] == 8 and shown["availability_mode"] == "all"
        assert [a["topic"] for a in shown["availability"]] == ["pump/status", "pump/tty1/status"]
        dead.is_stale = False
        assert until(lambda: listener.of("pump/tty1/status")[2:] == ["online"])
    assert listener.of("pump/tty0/status") == ["online"]


class Paho1:
    """The interface of paho-mqtt 1.6, which Raspberry Pi OS bookworm has, by the new one's."""

    def __getattr__(self, name):
        if name == "CallbackAPIVersion":
            raise AttributeError(name)
        return getattr(paho, name)

    def Client(self, client_id):
        with pytest.warns(DeprecationWarning):
            return paho.Client(paho.CallbackAPIVersion.VERSION1, client_id=client_id)


@each("version", [paho, Paho1()])
def test_a_password_is_asked_for_and_a_wrong_one_is_said(version, tmp_path, monkeypatch):
    monkeypatch.setattr("paho.mqtt.client", version)
    broker = Broker(tmp_path, "allow_anonymous false", f"password_file {tmp_path}/users")
    # mosquitto_passwd -b of "node@x" and "secret", hashed with a fixed salt
    (tmp_path / "users").write_text(f"node@x:{hashed('secret')}\n")
    (tmp_path / "users").chmod(0o644)
    tmp_path.chmod(0o755)
    broker.start()
    try:
        url = f"mqtt://node%40x@127.0.0.1:{broker.port}/pump"
        said = []
        wrong = Mqtt(url, alarms=False, password="guess")
        with output(wrong, answers(3), report=said.append) as out:
            assert until(lambda: out.failed)
        assert out.lost == 3 and "refuses: " in said[0] and "guess" not in said[0]
        assert "uthori" in said[0]  # by the broker, in the words of either version
        with output(Mqtt(url, alarms=False, password="secret"), answers(3)) as out:
            assert until(lambda: out.sent == 3)
    finally:
        broker.stop()


def hashed(password):
    import base64
    import hashlib

    salt = bytes(range(12))
    key = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, 101)
    return f"$7$101${base64.b64encode(salt).decode()}${base64.b64encode(key).decode()}"


# paho leaves the socket of a refused handshake to be collected.
@pytest.mark.filterwarnings("ignore:.*ssl.SSLSocket:pytest.PytestUnraisableExceptionWarning")
def test_over_tls_only_the_broker_meant_hears_and_it_may_ask_who_speaks(tmp_path):
    names = ("127.0.0.1", "elsewhere", "node")
    of_broker, of_other, of_node = (certificate(tmp_path, name) for name in names)
    lines = [f"cafile {of_node[0]}", f"certfile {of_broker[0]}", f"keyfile {of_broker[1]}"]
    who = f"&cert={of_node[0]}&key={of_node[1]}"
    for settings, own in (
        (["allow_anonymous true", *lines], ""),
        (["allow_anonymous true", *lines, "require_certificate true"], who),
    ):
        broker = Broker(tmp_path, *settings)
        broker.start()
        url = f"mqtts://127.0.0.1:{broker.port}/pump"
        try:
            with output(Mqtt(f"{url}?ca={of_broker[0]}{own}", alarms=False), answers(9)) as out:
                assert until(lambda out=out: out.sent == 9)
            refused = [f"{url}?ca={of_other[0]}{own}", f"{url}?discovery={own}"]
            if own:
                refused.append(f"{url}?ca={of_broker[0]}")
            refused.append(f"mqtt://127.0.0.1:{broker.port}/pump")
            for wrong in refused:
                said = []
                with output(Mqtt(wrong, alarms=False), answers(3), report=said.append) as out:
                    assert until(lambda out=out: out.failed)
                assert out.sent == 0 and out.lost == 3 and said, wrong
        finally:
            broker.stop()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of paho's socket
def test_a_peer_that_never_answers_the_handshake_holds_nothing_up(monkeypatch):
    monkeypatch.setattr(mqtt, "KEEPALIVE_S", 1)  # as long as paho waits
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"mqtts://127.0.0.1:{mute.getsockname()[1]}/pump"
        with output(Mqtt(url, alarms=False), answers(3)) as out:
            assert until(lambda: out.failed)
    assert out.lost == 3
    out._thread.join(60)
    gc.collect()  # the sockets that paho forgot


def test_certificates_that_cannot_be_read_are_refused(tmp_path):
    cert, key = certificate(tmp_path, "node")
    none, text = tmp_path / "none.pem", tmp_path / "text.pem"
    text.write_text("no certificate")
    for query, reason in (
        (f"mqtts://host/pump?ca={none}", f"{none}: no certificate of an authority"),
        (f"mqtts://host/pump?ca={text}", f"{text}: no certificate of an authority"),
        (f"mqtts://host/pump?cert={cert}", f"{cert}: no certificate with its key"),
        (f"mqtts://host/pump?cert={none}&key={key}", "no certificate with its key"),
        (f"mqtts://host/pump?key={key}", "a key without a certificate"),
        (f"mqtt://host/pump?ca={cert}", "certificates are for mqtts://"),
        ("mqtts://host", "give mqtts://"),
    ):
        with pytest.raises(ValueError, match=reason):
            Mqtt(query, alarms=False)


def test_urls_that_cannot_be_are_refused():
    for url, reason in (
        ("mqtt://user:secret@host/topic", "--out-password-file"),
        ("mqtt://host", "give mqtt://"),
        ("mqtt:///topic", "give mqtt://"),
        ("mqtt://host/a/#", "give mqtt://"),
        ("mqtt://host/a/+/b", "give mqtt://"),
        ("mqtt://host/a/%23", "give mqtt://"),
        ("mqtt://host/a?discovery=%23", "prefix"),
        ("mqtt://host/a?discovery=a/%2B", "prefix"),
        ("mqtt://host/%C3%B6", "ASCII in topic"),
        ("mqtt://user%40x:p%3A@host/topic", "--out-password-file"),
    ):
        with pytest.raises(ValueError, match=reason):
            Mqtt(url, alarms=False)
    assert slug("/dev/plant/pump 1") == "dev_plant_pump_1"


@each(
    "outs, ports, clash",
    [
        (["a/b", "a_b"], ["x"], "h:1883/a_b"),  # one device in Home Assistant
        (["a", "a/?discovery=ha"], ["x"], "h:1883/a"),
        (["a?discovery=", "%61/?discovery="], ["x"], "h:1883/a"),
        (["a"], ["/dev/x/1", "/dev/x_1"], "h:1883/a_x_1"),
        (["a?discovery=", "A?discovery="], ["x", "y"], None),
    ],
)
def test_topics_that_would_be_one_are_refused(outs, ports, clash):
    settings = OutSettings(out=tuple(f"mqtt://h/{one}" for one in outs))
    topics = {port: port_name(port) for port in ports} if len(ports) > 1 else {}
    if clash is None:
        assert len(settings.sinks(topics)) == len(outs)
        return
    with pytest.raises(ValueError, match=f"would both be {clash}:"):
        settings.sinks(topics)
