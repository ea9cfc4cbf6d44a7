"""What a user sees of a sensor that stops, and comes again."""

import json
import os
import re

import pytest
from outgoing import Broker

from tools.first_hour import stale

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


def healthz(shown):
    before, after = [line for line in shown.splitlines() if line.startswith("/healthz: ")]
    assert before.startswith('/healthz: 503 {"error": "/dev/') and "no sample for" in before, shown
    assert after == "/healthz: 200 ok", shown


def test_run_says_that_samples_stop_and_come_again():
    shown = stale.run_whose_sensor_stops()
    assert "PORT: no sample for 2 s; see --stale\n" in shown, shown
    assert "PORT: samples come again, after" in shown
    assert "samples stopped 1 times" in shown and shown.count("see --stale") == 1
    healthz(shown)


def test_watch_has_an_alarm_of_that_kind():
    shown = stale.watch_whose_sensor_stops()
    assert "NO DATA: PORT has sent no sample for 2 s" in shown, shown
    assert "samples come again" in shown and "exit code 3\n" in shown
    alarms, by_score = map(int, re.findall(r"(\d+) alarms", shown))
    assert alarms == by_score + 1, "it is none of those by chance"
    healthz(shown)


def test_a_broker_is_told_of_both(tmp_path):
    paho = pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is not installed")
    broker, heard = Broker(tmp_path, "allow_anonymous true"), []
    broker.start()
    listener = paho.Client(paho.CallbackAPIVersion.VERSION2)
    listener.on_message = lambda client, data, message: heard.append(message)
    listener.on_connect = lambda client, *_: client.subscribe("#", qos=1)
    listener.connect("127.0.0.1", broker.port)
    listener.loop_start()
    try:
        out = f"mqtt://127.0.0.1:{broker.port}/pump"
        shown = stale._stopped("watch", "--learn", "200", "--unlabelled", "--out", out)
    finally:
        listener.loop_stop()
        broker.close()
    said = [one.payload.decode() for one in heard if one.topic == "pump/status"]
    assert said == ["online", "unavailable", "online", "offline"], shown
    (alarm,) = [one.payload for one in heard if one.topic.endswith("/alarm/config")]
    assert json.loads(alarm)["expire_after"] == int(stale.STALE)
