"""examples/node-red/flow.json in a real Node-RED, beside a real broker and a real watch."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from outgoing import Broker, until
from simulated_node import node

FLOW = Path(__file__).parents[2] / "examples" / "node-red" / "flow.json"
TOPIC = "edgesvm/machine"
CORE = {"tab", "mqtt-broker", "mqtt in", "json", "function", "debug"}


def flow():
    return json.loads(FLOW.read_text("utf-8"))


def test_all_its_nodes_are_core_nodes_and_each_wire_leads_to_one():
    nodes = flow()
    known = {one["id"] for one in nodes}
    assert {one["type"] for one in nodes} == CORE and len(known) == len(nodes)
    assert {end for one in nodes for wire in one.get("wires", []) for end in wire} <= known


@pytest.fixture
def program():
    found = shutil.which("node-red")
    if found is None:
        what = "no node-red: npm install -g node-red@4"
        (pytest.fail if os.environ.get("EDGESVM_NODE_RED") == "required" else pytest.skip)(what)
    return found


@contextlib.contextmanager
def node_red(program, folder, broker_port):
    """Node-RED with the flow, as imported and its broker changed; its URL and its log."""
    nodes = flow()
    for one in nodes:
        if one["type"] == "mqtt-broker":
            one.update(broker="127.0.0.1", port=str(broker_port))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "flow.json").write_text(json.dumps(nodes))
    settings = {"uiHost": "127.0.0.1", "uiPort": port, "flowFile": "flow.json"}
    settings["telemetry"] = {"enabled": False, "updateNotification": False}
    (folder / "settings.js").write_text(f"module.exports = {json.dumps(settings)};\n")
    with (
        open(folder / "log", "w") as log,
        subprocess.Popen(
            [program, "--userDir", folder], stdout=log, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            yield f"http://127.0.0.1:{port}", lambda: (folder / "log").read_text("utf-8")
        finally:
            process.kill()


@contextlib.contextmanager
def watch(port, url, log):
    """A watch; it ends with the block."""
    asked = ["--learn", "1000", "--out", url, "--quiet"]
    command = [sys.executable, "-m", "edgesvm.cli", "watch", port, *asked]
    with open(log, "w") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            yield process
        finally:
            process.kill()


def test_node_red_shows_the_status_and_an_alarm(program, tmp_path):
    """The machine does something new from row 1,500 on, without end."""
    pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is not installed")
    X = np.random.default_rng(0).standard_normal((60_000, 3)).round(4)
    X[1500:, 1] += 20
    np.savetxt(tmp_path / "pump.csv", X, delimiter=",", header="a,b,c", comments="", fmt="%g")
    sent = ["--replay", str(tmp_path / "pump.csv"), "--label-column", "none", "--rate", "500"]
    broker = Broker(tmp_path, "allow_anonymous true")
    broker.start()
    try:
        with node_red(program, tmp_path, broker.port) as (_, log):
            assert until(lambda: "Connected to broker" in log()), log()
            to = f"mqtt://127.0.0.1:{broker.port}/{TOPIC}"
            with node(*sent) as port, watch(port, to, tmp_path / "watch") as process:
                assert until(lambda: "[debug:alarm]" in log()), (tmp_path / "watch").read_text()
                assert "alarm begins" in log() and "online" in log()
                process.send_signal(signal.SIGTERM)
                assert process.wait(60) in (0, 3)
                assert until(lambda: "offline" in log())
    finally:
        broker.close()
