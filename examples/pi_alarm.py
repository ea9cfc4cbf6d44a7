#!/usr/bin/env python3
"""A LED, a relay or a buzzer on a Raspberry Pi that is on while an alarm is on.

    edgesvm watch /dev/ttyUSB0 --out jsonl:- --out-when change | python3 pi_alarm.py --pin 17

It reads a JSON line for each prediction, as `--out jsonl:-` writes them (docs/outputs.md). For a
learner with labels, `--label 1` is on while that label is predicted:

    edgesvm run /dev/ttyUSB0 --out jsonl:- --out-when change | python3 pi_alarm.py --label 1

The pin is off when the input ends, and when this program is ended.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterable
from typing import Any


def is_on(line: str, label: int | None) -> bool:
    """Whether the pin is on after this line."""
    told = json.loads(line)
    return told["alarm"] if label is None else told["predicted"] == label


def follow(lines: Iterable[str], device: Any, label: int | None) -> None:
    """Set the device by each line; it is off in the end, whatever happens."""
    try:
        for line in lines:
            device.value = is_on(line, label)
    finally:
        device.off()


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pin", type=int, default=17, help="GPIO number (BCM); default 17")
    parser.add_argument("--active-low", action="store_true", help="on is 0 V, as of many relays")
    parser.add_argument("--label", type=int, help="on while this label is predicted")
    options = parser.parse_args(argv)
    try:
        from gpiozero import DigitalOutputDevice
    except ImportError:
        print("pi_alarm needs gpiozero: sudo apt install python3-gpiozero", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with DigitalOutputDevice(options.pin, active_high=not options.active_low) as device:
        follow(sys.stdin, device, options.label)
    return 0


if __name__ == "__main__":
    sys.exit(main())
