"""From boot on, and where things are: a systemd unit, the page's address, exported folders."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tools.first_hour.played import command, on_a_port


def run_as_a_service() -> str:
    """The unit of a `run`, printed."""
    return command("service", "install", "/dev/ttyUSB0", "--text", "--dry-run")


def watch_as_a_service_with_a_page() -> str:
    """The unit of a `watch` whose page others may see."""
    words = ("/dev/ttyACM0", "--learn", "5m", "--http", "0.0.0.0:8080", "--dry-run")
    return command("service", "install", "watch", *words)


def service_with_wrong_options() -> str:
    """Options that `run` does not know, and a file that the service could not write."""
    wrong = command("service", "install", "/dev/ttyACM0", "--txt", "--dry-run")
    return wrong + command("service", "install", "/dev/ttyACM0", "--save", "/tmp/m.esvm")


def _rows(n: int = 2000) -> Iterator[str]:
    for i in range(n):
        yield f"{i % 2 + i % 7 / 10:.2f},{i % 5},{i % 2}"


def quiet_with_a_page() -> str:
    """`run --quiet --http`: only where the page is."""
    words = ("run", "PORT", "--text", "--quiet", "--http", "0", "--samples", "300")
    return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:HTTP", on_a_port(*words, lines=_rows()))


def export_over_another_model() -> str:
    """A second model into the folder of a first one: of another name, then of the same."""
    from edgesvm import Standardized, StreamSVM

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X = np.random.default_rng(0).standard_normal((60, 2)).astype(np.float32)
        model = Standardized(learner=StreamSVM()).fit(X, (X[:, 0] > 0).astype(int))
        model.save(folder / "a.esvm")
        call = ("export", "a.esvm", "--c", "firmware", "--prefix")
        shown = command(*call, "pump", folder=name) + command(*call, "fan", folder=name)
        shown += command(*call, "pump", "--inference", folder=name)
        return shown + " ".join(sorted(one.name for one in (folder / "firmware").glob("*.[ch]")))
