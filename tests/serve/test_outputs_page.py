"""docs/outputs.md: every command of it is run, against a simulated node and a real broker."""

import contextlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from outgoing import Broker, certificate
from simulated_node import node

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "outputs.md"
SAMPLES = 300
pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


def commands():
    blocks = re.findall(r"```\w*\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if line[:8] == "edgesvm " and "|" not in line]


def run(line, folder, broker, secure):
    """What a command of the page said, with nodes, brokers and files of this test."""
    with contextlib.ExitStack() as held:
        labels = ("--labels", "none") if " watch " in line else ()
        for name in dict.fromkeys(re.findall(r"/dev/ttyUSB\d", line)):
            port = held.enter_context(node("--samples", str(SAMPLES), *labels))
            line = line.replace(name, port)
        line = line.replace("--learn 5m", "").replace("broker.local:1883", "broker.local")
        line = line.replace("broker.local", f"127.0.0.1:{broker.port}")
        line = line.replace("broker.example", f"127.0.0.1:{secure.port}")
        learning = ("--learn", "100", "--alarm-rate", "0.001") if labels else ()
        _, *argv = shlex.split(line)
        done = subprocess.run(
            [sys.executable, "-m", "edgesvm.cli", *argv, "--samples", str(SAMPLES), *learning],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    return done


def test_every_command_of_the_page_does_what_it_says(tmp_path):
    pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is not installed")
    broker = Broker(tmp_path, "allow_anonymous true")
    cert, key = certificate(tmp_path, "127.0.0.1")
    cert = cert.rename(tmp_path / "ca.pem")
    (tmp_path / "tls").mkdir()
    tls = (f"certfile {cert}", f"keyfile {key}")
    secure = Broker(tmp_path / "tls", "allow_anonymous true", *tls)
    (tmp_path / "broker.password").write_text("secret\n")
    broker.start()
    secure.start()
    try:
        for line in commands():
            done = run(line, tmp_path, broker, secure)
            assert done.returncode in ((0, 3) if " watch " in line else (0,)), done.stderr
            told = re.findall(r"^out .*: ([\d,]+) sent, 0 lost, 0 fail", done.stderr, re.MULTILINE)
            expected = line.count("--out ") - ("--quiet" in line)
            assert len(told) == expected, (line, done.stderr)
            assert all(int(n.replace(",", "")) > 0 for n in told), (line, done.stderr)
    finally:
        broker.stop()
        secure.stop()
    assert len(commands()) == 9
    files = {file.name for file in tmp_path.iterdir()}
    assert files >= {"predictions.jsonl", "both.jsonl", "plant.esvm"}
    assert sum(name.endswith(".esvm") for name in files) == 3
