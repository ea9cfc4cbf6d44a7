"""examples/home-assistant: what the add-on starts reaches a real broker, and its configuration is
what Home Assistant documents (developers.home-assistant.io, Add-on configuration)."""

import contextlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from each import each
from outgoing import Broker, until
from simulated_node import node

ADD_ON = Path(__file__).parents[2] / "examples" / "home-assistant"
TYPES = {
    **dict.fromkeys(("name", "version", "slug", "description", "url", "webui"), str),
    **dict.fromkeys(("init", "uart", "host_uts"), bool),
    **dict.fromkeys(("arch", "services"), list),
    **dict.fromkeys(("ports", "options", "schema"), dict),
}
REQUIRED = {"name", "version", "slug", "description", "arch"}
ELEMENT = re.compile(
    r"(bool|str|password|email|url|port|device(\(subsystem=\w+\))?|(int|float|str)\(\d*,\d*\)"
    r"|match\(.*\)|list\(.+\))\??"
)


def read(name):
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    return yaml.safe_load((ADD_ON / name).read_text("utf-8"))


def test_the_configuration_is_what_is_documented():
    config, words = read("config.yaml"), read("translations/en.yaml")
    assert set(TYPES) >= set(config) >= REQUIRED
    assert all(isinstance(value, TYPES[key]) for key, value in config.items())
    assert re.fullmatch(r"[-_.a-z0-9]+", config["slug"]) and config["services"] == ["mqtt:want"]
    assert re.fullmatch(r"https?://\[HOST\]:\[PORT:8080\]/", config["webui"])
    elements = {name: x[0] if isinstance(x, list) else x for name, x in config["schema"].items()}
    assert all(ELEMENT.fullmatch(element) for element in elements.values())
    optional = {name for name, element in elements.items() if element.endswith("?")}
    assert set(config["options"]) == set(elements) - optional
    assert set(words["configuration"]) == set(elements) and set(words["network"]) == {"8080/tcp"}
    used = re.findall(
        r"options(?:\.get\(|\[)['\"](\w+)['\"]", (ADD_ON / "run.py").read_text("utf-8")
    )
    assert set(used) == set(elements)


@contextlib.contextmanager
def supervisor(answer):
    """Answers as the Supervisor does when it is asked for a service; its URL."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            known = self.path == "/services/mqtt" and self.headers["Authorization"] == "Bearer t0"
            self.send_response(200 if known else 401)
            self.end_headers()
            self.wfile.write(json.dumps({"result": "ok", "data": answer}).encode())

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@contextlib.contextmanager
def add_on(data, url, **options):
    """The add-on with these options beside its own; it ends with the block at the latest."""
    chosen = {**read("config.yaml")["options"], "text": False, "arguments": [], **options}
    chosen["arguments"] = ["--http", "127.0.0.1:0", *chosen["arguments"]]  # 8080 may be taken
    (data / "options.json").write_text(json.dumps(chosen))
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    told = {"DATA": str(data), "SUPERVISOR": url, "SUPERVISOR_TOKEN": "t0", "PATH": programs}
    command = [sys.executable, str(ADD_ON / "run.py")]
    with (
        open(data / "log", "w") as log,
        subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **told}
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


@each("command", ["watch", "run"])
def test_discovery_and_states_arrive_at_the_broker(command, tmp_path):
    paho = pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is not installed")
    if shutil.which("edgesvm", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("edgesvm is not installed beside this Python")
    broker, heard = Broker(tmp_path, "allow_anonymous true"), {}
    listener = paho.Client(paho.CallbackAPIVersion.VERSION2)
    listener.on_connect = lambda client, *_: client.subscribe("#", qos=1)
    listener.on_message = lambda client, data, one: heard.update({one.topic: one.payload.decode()})
    data = tmp_path / "data"
    data.mkdir()
    broker.start()
    found = {"host": "127.0.0.1", "port": broker.port, "ssl": False, "protocol": "3.1.1"}
    own = {"mqtt_url": f"mqtt://127.0.0.1:{broker.port}/"}
    try:
        listener.connect("127.0.0.1", broker.port)
        listener.loop_start()
        with supervisor(found) as url, node("--rate", "200") as port:
            told = {"port": port, "command": command, "topic": "plant/pump", "learn": "100"}
            with add_on(data, url, **told, **(own if command == "run" else {})) as process:
                last = ("alarm", "binary_sensor") if command == "watch" else ("predicted", "sensor")
                config = f"homeassistant/{last[1]}/plant_pump/{last[0]}/config"
                arrived = until(lambda: {config, "plant/pump"} <= set(heard))
                assert arrived, (data / "log").read_text()
                assert heard["plant/pump/status"] == "online"
                assert json.loads(heard[config])["state_topic"] == "plant/pump"
                assert json.loads(heard["plant/pump"])["port"] == port
                process.terminate()
                assert process.wait(60) in (0, 3), (data / "log").read_text()
            assert until(lambda: heard["plant/pump/status"] == "offline")
    finally:
        listener.disconnect()
        listener.loop_stop()
        broker.close()
    assert list(data.glob(f"{command}.ckpt*"))


def test_without_a_broker_it_says_what_to_do(tmp_path):
    with add_on(tmp_path, "http://127.0.0.1:9", port="/dev/none") as process:
        assert process.wait(60) == 1
    assert "no MQTT broker" in (tmp_path / "log").read_text()
