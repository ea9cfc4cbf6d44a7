"""What a seed stands for: the settings of a run, and all that goes wrong in it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from edgesvm.cli.learner_settings import KINDS, OF_MANY, LearnerSettings
from edgesvm.cli.options import parsed
from edgesvm.data import Rows, Stream
from edgesvm.link.link import BACK_OFF_LAST, SILENT_AFTER
from firmware_sim.line.faults import FAULTS, UNPLUGGING
from rig.mishaps import MISHAPS

KEY = bytes(range(16))
HANDSHAKE_S = 10.0
# A silent port is opened again after 2 T; one that dies in a handshake, after its timeout and the
# longest wait between two attempts. The last second is for a HELLO, its answer and a sample.
RECOVERY_S = max(2 * SILENT_AFTER, HANDSHAKE_S + BACK_OFF_LAST) + 1.0
# Of an hour or less; the slices are the steps in which the clock goes on.
RATES_HZ = {0.2: 0.25, 1.0: 0.1, 4.0: 0.1, 12.0: 0.05}
LONGEST_S = 3600.0
# The end of a run in which nothing more befalls it: the last handshake must have come to its end.
CALM_S = 2 * RECOVERY_S + HANDSHAKE_S
LINE_FAULTS = tuple(kind for kind in FAULTS if kind not in ("noise", "overlong"))
# Each is told for how long, or how much.
EVENTS = {
    "stall": (0.5, 30.0),  # the host is stopped; the node goes on
    "leap": (0.5, 4000.0),  # the machine sleeps: the host's clock goes on, nothing else does
    "reset": (0.0, 3.0),  # the node restarts, and boots for so long
    "outage": (0.1, 15.0),  # nothing gets through, either way
    "half-open": (0.1, 30.0),  # the port takes bytes and gives none; of frames, until it is opened
    "unplug": (0.1, 20.0),
    "noise": (10, 400),  # bytes
    "deaf": (0.1, 60.0),  # the node's side takes no bytes
    "hold": (0.1, 5.0),  # what the node says next comes later, behind what follows
    "copy": (0.1, 5.0),  # it comes once more
    "removed": (0.0, 0.0),  # somebody removes the checkpoint
    "disk": (0.5, 60.0),  # an operation of the disk fails, once or for so long
}
DISK_FAULTS = ("any", "pwrite", "fdatasync", "fsync", "create", "replace", "sync_folder")
ENDS = ("signal", "kill", "power")


class Clouds(Stream):
    """Rows of a class around its centre, which moves to that of another now and then."""

    period_us = 0

    def __init__(self, seed: int, n_features: int, n_classes: int) -> None:
        self.n_features, self.n_classes = n_features, n_classes
        self._rng = np.random.default_rng(seed)
        self._centres = 2 * self._rng.standard_normal((n_classes, n_features))

    def read(self, n: int) -> Rows:
        y = self._rng.integers(self.n_classes, size=n)
        if self._rng.random() < 0.3:
            self._rng.shuffle(self._centres)
        X = self._centres[y] + self._rng.standard_normal((n, self.n_features))
        return Rows(X.astype(np.float32), y.astype(np.int32))


@dataclass(frozen=True)
class Event:
    """Something that befalls the machine at a time."""

    at: float
    kind: str
    amount: float
    choice: int  # a number that settles the rest


@dataclass(frozen=True)
class End:
    """How a life of the host ends: at a time, or at its n-th call to the outside or to the disk."""

    kind: str
    of: str
    when: float
    with_node: bool = False


@dataclass(frozen=True)
class Plan:
    """All that a run needs; drawn from its seed alone."""

    seed: int
    words: tuple[str, ...]
    node: dict[str, Any]
    is_text: bool
    is_mute: bool
    n_features: int
    n_classes: int
    faults: dict[str, float]
    mishaps: dict[str, float]
    baud: float | None
    max_write: int | None
    slice_s: float
    events: tuple[Event, ...]
    ends: tuple[End, ...]
    told: dict[str, Any] = field(default_factory=dict)  # options that the plain host needs too

    @property
    def duration_s(self) -> float:
        """Until the node has sent its last sample, if nothing stops it."""
        return self.node["samples"] / self.node["rate"]

    def __str__(self) -> str:
        lines = [
            "edgesvm " + " ".join(self.words),
            f"node {'text' if self.is_text else 'frames'} "
            + " ".join(f"{name}={value}" for name, value in self.node.items() if name != "key"),
            f"{self.n_features} features, {self.n_classes} classes, {self.duration_s:,.0f} s, "
            f"slices of {self.slice_s} s, baud {self.baud}, writes of {self.max_write} bytes",
            f"line {self.faults or 'sound'}",
            f"device {self.mishaps or 'sound'}",
            *(f"{e.at:9.1f} s  {e.kind} {e.amount:.3g}" for e in self.events),
            *(f"life ends by {e.kind} at {e.of} {e.when:,.1f}" for e in self.ends),
        ]
        return "\n".join(lines)


@cache
def _fits(learner: tuple[str, ...], n_features: int) -> bool:
    """Whether there is such a learner."""
    try:
        parsed(LearnerSettings, " ".join(learner)).build(n_features)
    except ValueError:
        return False
    return True


def plan(seed: int) -> Plan:
    """The plan of a seed."""
    rng = random.Random(seed)
    is_text = rng.random() < 0.3
    n_features, n_classes = rng.randint(1, 8), 3 if rng.random() < 0.15 else 2
    rate = rng.choice(tuple(RATES_HZ))
    n_calm = int(CALM_S * rate)
    samples = min(n_calm + int(10 ** rng.uniform(1.7, 2.9)), int(LONGEST_S * rate))
    samples = max(samples, n_calm + 50)
    modes = {"inline": 0.85, "none": 0.15} if is_text else {"inline": 0.5, "late": 0.4, "none": 0.1}
    mode = rng.choices(tuple(modes), tuple(modes.values()))[0]
    node: dict[str, Any] = {"rate": rate, "samples": samples, "label_mode": mode}
    node["tx_bytes"] = rng.choice((256, 1024, 4096))
    node["boot_s"] = rng.choice((0.0, 0.5, 2.0))
    told = _options(rng, mode, is_text, rate, n_features)
    if is_text:
        node["checksum"] = rng.choice(("none", "xor", "crc16"))
    else:
        node["dtype"] = rng.choice(("float32", "float32", "int16"))
        node["timestamps"] = rng.random() < 0.5
        node["boot_id"] = rng.getrandbits(32)
        node["label_delay"] = rng.choice((0, 3, 8, told["late"] + 5))
        node["key"] = KEY if told["key"] else None
    duration = samples / rate
    return Plan(
        seed,
        _words(rng, told, n_features, n_classes),
        node,
        is_text,
        rng.random() < 0.5,
        n_features,
        n_classes,
        _rates(rng, LINE_FAULTS, calm=0.3),
        {} if is_text else _rates(rng, tuple(MISHAPS), calm=0.5),
        rng.choice((None, None, 115200.0)),
        rng.choice((None, 512, 700)),
        RATES_HZ[rate],
        _events(rng, duration - CALM_S),
        _ends(rng, duration - CALM_S),
        told,
    )


def _rates(rng: random.Random, kinds: tuple[str, ...], *, calm: float) -> dict[str, float]:
    """Some of these kinds, each with a rate; none at all with the probability `calm`."""
    if rng.random() < calm:
        return {}
    chosen = [kind for kind in kinds if rng.random() < 0.4]
    most = {kind: -2.5 if kind in UNPLUGGING else -1.5 for kind in chosen}
    return {kind: round(10 ** rng.uniform(-3.5, most[kind]), 5) for kind in chosen}


def _options(
    rng: random.Random, mode: str, is_text: bool, rate: float, n_features: int
) -> dict[str, Any]:
    told: dict[str, Any] = {
        "ring": rng.choice((64, 256) if is_text else (4, 16, 64, 256)),
        "late": rng.choice((8, 32, 256)) if mode == "late" else 0,
        "key": not is_text and rng.random() < 0.25,
        "range": (-3.0, 3.0) if rng.random() < 0.2 else None,
        "max_labels": max(rate / 2, 0.1) if rng.random() < 0.1 else None,
        "drift": rng.choice((None, "page-hinkley")),
        "reset": rng.random() < 0.6,
        "second": rng.random() < 0.25,
        "answers": not is_text or rng.random() < 0.5,
        "text": is_text,
        "labels": mode,
    }
    return told


def _words(
    rng: random.Random, told: dict[str, Any], n_features: int, n_classes: int
) -> tuple[str, ...]:
    words = ["run", "sim", "--quiet", "--json", "--checkpoint", "model"]
    words += ["--every", rng.choice((str(rng.randint(5, 300)), f"{rng.uniform(0.5, 90):.1f}s"))]
    words += ["--checkpoint-second", "spare"] if told["second"] else []
    words += _learner(rng, n_features, n_classes)
    words += ["--ring", str(told["ring"])]
    words += ["--late-labels", str(told["late"])] if told["late"] else []
    words += ["--key", "key"] if told["key"] else []
    if told["range"] is not None:
        words += ["--range={:g},{:g}".format(*told["range"])]
    words += ["--max-labels-per-second", str(told["max_labels"])] if told["max_labels"] else []
    if told["drift"] is not None:
        words += ["--drift", "reset" if told["reset"] else "note"]
    if told["text"]:
        words += ["--text", "--n-features", str(n_features), *(["--answers"] * told["answers"])]
        words += ["--label", "none"] if told["labels"] == "none" else []
    return tuple(words)


def _learner(rng: random.Random, n_features: int, n_classes: int) -> tuple[str, ...]:
    """The options of a learner, of two classes if it cannot have more, and of the memory for it."""
    kind = ("--learner", rng.choice(tuple(KINDS)))
    scale = rng.choice(((), (), (), (), ("--raw",)))
    dtype = ("--set", "dtype=float64") if rng.random() < 0.25 else ()
    classes = ("--classes", "3") if n_classes > 2 and rng.random() < 0.7 else ()
    many = ("--multiclass", rng.choice(tuple(OF_MANY))) if classes and rng.random() < 0.5 else ()
    chance = ("--probabilities",) if rng.random() < 0.1 else ()
    sizes = [*rng.sample(("2KiB", "4KiB", "8KiB", "16KiB"), 2), "64KiB", "1MiB"]
    wishes = (*scale, *dtype, *classes, *many, *chance), (*scale, *classes, *chance), scale, ()
    choices = ((*kind, *more, "--memory", of) for more in wishes for of in sizes)
    return next(words for words in choices if _fits(words, n_features))


def _events(rng: random.Random, until: float) -> tuple[Event, ...]:
    n = rng.choice((0, 1, 2, 4, 8, 12))
    events = []
    for _ in range(n):
        kind = rng.choice(tuple(EVENTS))
        at, amount = rng.uniform(0.0, until), rng.uniform(*EVENTS[kind])
        if kind != "leap":
            amount = min(amount, max(until - at, 0.1)) if kind != "noise" else amount
        events.append(Event(at, kind, amount, rng.getrandbits(30)))
    return tuple(sorted(events, key=lambda event: event.at))


def _ends(rng: random.Random, until: float) -> tuple[End, ...]:
    ends = []
    for _ in range(rng.choice((0, 1, 2, 3, 5))):
        of = rng.choice(("time", "call", "disk"))
        when = {
            "time": rng.uniform(0.0, until / 2),
            "call": rng.randint(1, 400),
            "disk": rng.choice((rng.randint(0, 12), rng.randint(0, 150))),
        }[of]
        ends.append(End(rng.choice(ENDS), of, when, rng.random() < 0.3))
    return tuple(ends)
