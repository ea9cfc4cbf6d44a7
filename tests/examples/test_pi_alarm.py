"""examples/pi_alarm.py on pins in memory: on at an alarm, off at its end and when all ends."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from edgesvm.link.wire import ALARM
from edgesvm.serve.journal import Journal
from edgesvm.serve.outputs.lines import line

SCRIPT = Path(__file__).parents[2] / "examples" / "pi_alarm.py"


def lines(*answers):
    """Lines as `--out jsonl:-` writes them, of (prediction, alarm)."""
    journal = Journal(1)
    for predicted, alarm in answers:
        told = {"predicted": predicted, "score": 0.0, "flags": ALARM if alarm else 0}
        journal.add(0, **told, label=None, x=np.zeros(1))
    return [line("p", journal, entry).text + "\n" for entry in journal.since(0)[0]]


@pytest.fixture
def pi_alarm():
    spec = importlib.util.spec_from_file_location("pi_alarm", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def pins():
    mock = pytest.importorskip("gpiozero.pins.mock", reason="gpiozero is not installed")
    from gpiozero import Device

    before, Device.pin_factory = Device.pin_factory, mock.MockFactory()
    yield Device.pin_factory
    Device.pin_factory.reset()
    Device.pin_factory = before


def watched(pin, told, seen):
    """The lines one by one, and after each what the pin is."""
    for one in told:
        yield one
        seen.append(int(pin.state))


def test_on_at_an_alarm_off_at_its_end_and_when_the_input_ends(pi_alarm, pins, monkeypatch):
    told = lines((1, False), (-1, True), (-1, True), (1, False), (-1, True))
    for options, expected, off in (
        ([], [0, 1, 1, 0, 1], 0),
        (["--active-low"], [1, 0, 0, 1, 0], 1),
        (["--label", "1"], [1, 0, 0, 1, 0], 0),
    ):
        seen, after = [], []
        pin = pins.pin(22)
        pin.clear_states()
        monkeypatch.setattr(sys, "stdin", watched(pin, told, seen))
        monkeypatch.setattr(pi_alarm.signal, "signal", lambda *_: None)
        follow = pi_alarm.follow

        def then(
            *arguments, follow=follow, pin=pin, after=after
        ):  # it lets go of the pin after that
            follow(*arguments)
            after.append(int(pin.state))

        monkeypatch.setattr(pi_alarm, "follow", then)
        assert pi_alarm.main(["--pin", "22", *options]) == 0
        monkeypatch.setattr(pi_alarm, "follow", follow)
        assert seen == expected and after == [off]


def test_a_line_that_is_none_leaves_the_pin_off(pi_alarm):
    class Pin:
        value = True

        def off(self):
            self.value = False

    pin = Pin()
    with pytest.raises(json.JSONDecodeError):
        pi_alarm.follow([*lines((1, True)), "no JSON"], pin, None)
    assert pin.value is False


def test_as_a_program_it_ends_with_its_input_and_on_sigterm():
    pytest.importorskip("gpiozero", reason="gpiozero is not installed")
    environment = {**os.environ, "GPIOZERO_PIN_FACTORY": "mock"}
    for end in (None, signal.SIGTERM):
        with subprocess.Popen(
            [sys.executable, str(SCRIPT)], stdin=subprocess.PIPE, text=True, env=environment
        ) as process:
            process.stdin.writelines(lines((1, True)))
            process.stdin.flush()
            if end is None:
                process.stdin.close()
            else:
                process.send_signal(end)
            assert process.wait(60) in ((0,) if end is None else (0, -signal.SIGTERM))


def test_without_gpiozero_it_says_what_to_install(tmp_path):
    (tmp_path / "gpiozero.py").write_text("raise ImportError('not here')\n")
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "pi_alarm needs gpiozero: sudo apt install python3-gpiozero\n"
