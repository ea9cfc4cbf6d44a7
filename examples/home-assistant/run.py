"""Starts edgesvm as the add-on's options say. DATA and SUPERVISOR are for a trial elsewhere."""

import json
import os
import sys
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

DATA = Path(os.environ.get("DATA", "/data"))
SUPERVISOR = os.environ.get("SUPERVISOR", "http://supervisor")


def broker(options):
    """URL and password: of the options, else of the broker that Home Assistant knows."""
    if options.get("mqtt_url"):
        return options["mqtt_url"].rstrip("/"), options.get("mqtt_password", "")
    token = {"Authorization": f"Bearer {os.environ.get('SUPERVISOR_TOKEN', '')}"}
    try:
        with urlopen(Request(f"{SUPERVISOR}/services/mqtt", headers=token), timeout=30) as answer:
            told = json.load(answer)["data"]
    except URLError as error:
        sys.exit(f"no MQTT broker ({error}): install the Mosquitto add-on, or set mqtt_url")
    scheme = "mqtts" if told.get("ssl") else "mqtt"
    user = f"{told['username']}@" if told.get("username") else ""
    return f"{scheme}://{user}{told['host']}:{told['port']}", told.get("password", "")


def arguments(options, url):
    command = options["command"]
    yield from ("edgesvm", command, options["port"], "--baud", str(options["baud"]))
    if options["text"]:
        yield "--text"
    if command == "watch":
        yield from ("--learn", options["learn"])
    yield from ("--checkpoint", str(DATA / f"{command}.ckpt"), "--http", "0.0.0.0:8080")
    yield from ("--out", f"{url}/{options['topic'].strip('/')}", *options["arguments"])


chosen = json.loads((DATA / "options.json").read_text("utf-8"))
where, password = broker(chosen)
command_line = list(arguments(chosen, where))
print(*command_line)
os.environ["EDGESVM_MQTT_PASSWORD"] = password
os.execvp(command_line[0], command_line)
