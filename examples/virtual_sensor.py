#!/usr/bin/env python3
"""A virtual sensor with an alarm: a flow meter that fouls, found by what other sensors say.

A simulated pump sends six channels over a serial line: speed, motor current, pressure,
temperature, the valve, and the flow as its meter shows it. After some time the meter fouls and
shows 12 % less. No value is strange by itself, so `edgesvm watch` learns the flow from the other
five channels and raises an alarm where they no longer explain it.

    python virtual_sensor.py                 the whole: sensor, line and watch
    python virtual_sensor.py --csv pump.csv  only the samples, as a file

With a sensor of your own, the last of whose columns is the channel in question:

    edgesvm watch /dev/ttyUSB0 --residual -1 --learn 1d --alarm-rate 1/day
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from firmware_sim.node.signals import PumpFlow

LEARN, FOULS, END = 8000, 10_000, 10_600  # samples, one a second
CHANNELS = (*PumpFlow.feature_names, "flow")


def samples(*, seed: int = 2, fouling: float = 0.12) -> np.ndarray:
    """The channels, ndarray of shape (END, 6)."""
    rows = PumpFlow(seed=seed).read(END)
    flow = np.asarray(rows.y, np.float64)
    flow[FOULS:] *= 1.0 - fouling
    return np.column_stack([rows.X, flow])


def write(path: Path, rows: np.ndarray) -> None:
    """As a CSV file; the label in its last column says whether the meter is fouled."""
    labels = (np.arange(len(rows)) >= FOULS).astype(int)
    header = ",".join([*CHANNELS, "fouled"])
    table = np.column_stack([rows, labels])
    formats = ["%.5g"] * len(CHANNELS) + ["%d"]
    np.savetxt(path, table, fmt=formats, delimiter=",", header=header, comments="")


@contextlib.contextmanager
def sensor(path: Path) -> Iterator[str]:
    """A node that sends the samples over a pseudo-terminal, whose name this is."""
    command = [sys.executable, "-m", "firmware_sim", "serve", "--json", "--replay", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process:
        try:
            yield json.loads(process.stdout.readline())["port"]
        finally:
            process.terminate()


def watch(port: str) -> list[dict]:
    """Watch the flow until the samples end; what was told, a dict for each JSON line."""
    command = [sys.executable, "-m", "edgesvm", "watch", port, "--residual", "-1", "--json"]
    command += ["--learn", str(LEARN), "--alarm-rate", "0.00001", "--samples", str(END)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the samples and end")
    parser.add_argument("--healthy", action="store_true", help="the meter does not foul")
    options = parser.parse_args(argv)
    rows = samples(fouling=0.0 if options.healthy else 0.12)
    if options.csv is not None:
        write(options.csv, rows)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pump.csv")
        write(path, rows)
        with sensor(path) as port:
            told = watch(port)
    for event in told:
        if event["event"] == "alarm":
            print(f"alarm {event['alarm']} at sample {event['sample']:,}: {event['features']}")
    print(f"the meter fouls at sample {FOULS:,}" if not options.healthy else "nothing was wrong")
    return 0


if __name__ == "__main__":
    sys.exit(main())
