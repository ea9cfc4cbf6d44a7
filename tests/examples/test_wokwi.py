"""examples/wokwi: its circuit is the sketch's, and on simavr's Uno the sketch, with Arduino's own
core, teaches `edgesvm run` through a pseudo-terminal."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from outgoing import until

FOLDER = Path(__file__).parents[2] / "examples" / "wokwi"
SKETCH = FOLDER.parent / "arduino" / "edgesvm_node" / "edgesvm_node.ino"
ELF = "edgesvm_node.ino.elf"
NEEDED = ("avr-gcc", "avr-g++", "make", "cc", "/usr/include/simavr/parts/uart_pty.h")
NEEDED += ("/usr/include/libelf.h", "/usr/share/arduino/hardware/arduino/avr/cores/arduino")
PACKAGES = "gcc-avr avr-libc arduino-core-avr libsimavr-dev libelf-dev"


def test_the_circuit_has_the_pins_of_the_sketch():
    diagram, sketch = json.loads((FOLDER / "diagram.json").read_text()), SKETCH.read_text()
    parts = [part["id"] for part in diagram["parts"]]
    ends = [end.split(":") for wire in diagram["connections"] for end in wire[:2]]
    assert len(parts) == len(set(parts)) and {part for part, _ in ends} == set(parts)
    pins = {pin for part, pin in ends if part == "uno"} - {"5V", "GND.1", "GND.2"}
    inputs = re.search(r"INPUTS\[\] = \{(.*)\}", sketch)[1].split(", ")
    label, quiet = re.search(r"LABEL_PIN = (\d), QUIET_PIN = (\d)", sketch).groups()
    assert pins == {*inputs, label, quiet}
    firmware = dict(
        re.findall(r'^(firmware|elf) = "(.+)"$', (FOLDER / "wokwi.toml").read_text(), re.M)
    )
    assert firmware == {"elf": f"build/{ELF}", "firmware": f"build/{ELF[:-4]}.hex"}
    assert "all: $(BUILD)/edgesvm_node.ino.hex" in (FOLDER / "Makefile").read_text()


@pytest.fixture
def built(tmp_path):
    absent = [one for one in NEEDED if shutil.which(one) is None and not os.path.exists(one)]
    if absent:
        why = f"no {', '.join(absent)} here (apt-get install {PACKAGES})"
        (pytest.fail if os.environ.get("EDGESVM_BOARDS") == "required" else pytest.skip)(why)
    done = subprocess.run(
        ["make", "-C", FOLDER, f"BUILD={tmp_path}"], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return tmp_path


@contextlib.contextmanager
def uno(built):
    """The board, switched on, and what it says; off with the block."""
    log = built / "log"
    with (
        open(log, "w") as out,
        subprocess.Popen(
            [built / "uno", built / ELF], stdout=out, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            assert until(lambda: "PORT " in log.read_text())
            yield re.search(r"^PORT (\S+)", log.read_text(), re.M)[1], log
        finally:
            process.kill()


def test_an_emulated_uno_is_learned_from(built):
    with uno(built) as (port, log):
        done = subprocess.run(
            [sys.executable, "-m", "edgesvm.cli", "run", port, "--samples", "400", "--json"],
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["counters"]["learned"] == 400 and told["accuracy"] > 0.9
        assert told["broken_identities"] == []
        assert until(lambda: "LED 1" in log.read_text())
