"""What goes wrong in the device itself, before a byte is on the wire; seeded, in the same ledger.

A mishap turns one sample into the frames that stand for it. `MISHAPS` names them; a new kind is one
more function there. The frame of a sample that has met with one is spared by the wire's faults.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgesvm.ingest import wire
from firmware_sim.line.faults import WINDOW
from firmware_sim.node._codec import NO_LABEL
from firmware_sim.node.frame_node import FrameNode

# A learner that has not met both classes yet would take a strange one for its second.
_SETTLED_SAMPLES = 500
_SAMPLES = (wire.SAMPLE_F32, wire.SAMPLE_I16)
UNKNOWN_CLASS = 999
# Numbers no sample of a test reaches.
FAR_AHEAD = 1 << 30
# Behind the samples a host lets wait for their label, and not beyond those it remembers.
LONG_AGO_SAMPLES = 900


class Sample(NamedTuple):
    """One that is about to be sent."""

    sequence: int
    x: NDArray[np.float32]
    label: int


# What goes on the wire in its place; None: it cannot happen here.
Strike = Callable[[FrameNode, float, Sample, np.random.Generator], "bytes | None"]


def _encode(node: FrameNode, now: float, sample: Sample) -> bytes:
    told = node.told(np.array([sample.label], np.int32))
    return node.encode(now, sample.sequence, sample.x[None], told)[0]


def _broken_value(value: float) -> Strike:
    def strike(node, now, sample, rng):
        if node.dtype != "float32":
            return None
        x = sample.x.copy()
        x[rng.integers(len(x))] = value
        return _encode(node, now, sample._replace(x=x))

    return strike


def _dimension(node, now, sample, rng):
    x = sample.x
    wrong = x[:-1] if len(x) > 1 and rng.random() < 0.5 else np.append(x, np.float32(0))
    return _encode(node, now, sample._replace(x=wrong))


def _unknown_label(node, now, sample, rng):
    if node.label_mode != "inline" or node.samples_made < _SETTLED_SAMPLES:
        return None
    return _encode(node, now, sample._replace(label=UNKNOWN_CLASS))


def _overrun(node, now, sample, rng):
    node.drop(sample.sequence)
    return b""


def _clock(node, now, sample, rng):
    # The first ones of a boot have no clock to be compared with.
    if not node.timestamps or sample.sequence < WINDOW:
        return None
    # Half the range of the clock ahead: however it is read, no clock does that.
    node.clock_offset_us += 1 << 31
    return ordinary(node, now, sample)


def ordinary(node: FrameNode, now: float, sample: Sample) -> bytes:
    """The frames of a sample to which nothing happens."""
    node.tell_later(sample.sequence, np.array([sample.label], np.int32))
    return _encode(node, now, sample)


def _hostile(node, now, sample, rng):
    # Not a sample of the right schema: that could not be told from an honest one.
    kind = int(rng.choice([k for k in range(1, 256) if k not in _SAMPLES]))
    length = int(rng.integers(0, wire.MAX_RAW - wire.MIN_RAW + 1))
    body = rng.integers(1, 256, length).astype(np.uint8).tobytes()
    schema_id, number = int(rng.integers(1 << 16)), int(rng.integers(1 << 32))
    flags = int(rng.integers(16))
    frame = wire.encode_frame(kind, body, schema_id=schema_id, sequence=number, flags=flags)
    return frame + ordinary(node, now, sample)


def _schema(node, now, sample, rng):
    if node.schema_told:
        node.change_schema()
    return _encode(node, now, sample)


def _late_only(strike: Strike) -> Strike:
    def guarded(node, now, sample, rng):
        if node.label_mode != "late" or sample.label == NO_LABEL:
            return None
        return strike(node, now, sample, rng)

    return guarded


def _label_expired(node, now, sample, rng):
    if node.samples is not None and node.samples - node.samples_made < LONG_AGO_SAMPLES:
        return None  # at the end all labels come at once
    node.tell_late(sample.sequence, sample.label, LONG_AGO_SAMPLES)
    return _encode(node, now, sample)


def _label_never(node, now, sample, rng):
    return _encode(node, now, sample)


def _label_stray(node, now, sample, rng):
    node.tell_late(sample.sequence, sample.label, node.label_delay)
    stray = wire.Label(sample.sequence + FAR_AHEAD & 0xFFFFFFFF, sample.label).pack()
    return node.control(wire.LABEL, stray) + _encode(node, now, sample)


def _label_repeated(node, now, sample, rng):
    node.tell_late(sample.sequence, sample.label, node.label_delay)
    node.tell_late(sample.sequence, sample.label, node.label_delay)
    return _encode(node, now, sample)


@dataclass(frozen=True)
class Mishap:
    """A kind of mishap.

    ``numbered``: the host takes the sample's number as seen. ``learned``: it learns it.
    """

    summary: str
    strike: Strike
    numbered: bool = True
    learned: bool = True


MISHAPS: dict[str, Mishap] = {
    "nan": Mishap("a feature is NaN", _broken_value(np.nan), learned=False),
    "inf": Mishap("a feature is infinite", _broken_value(np.inf), learned=False),
    "dimension": Mishap("a feature too many or too few", _dimension, False, False),
    "unknown-label": Mishap("a class the learner does not have", _unknown_label, learned=False),
    "overrun": Mishap("the sample never sent, and owned up to", _overrun, False, False),
    "clock": Mishap("the device's clock jumps", _clock),
    "hostile": Mishap("a sound frame of random content first", _hostile),
    "schema": Mishap("another schema, and no word of it until asked", _schema, False, False),
    "label-expired": Mishap("the label comes 900 samples late", _late_only(_label_expired)),
    "label-never": Mishap("the label never comes", _late_only(_label_never)),
    "label-stray": Mishap("a label for a sample never sent", _late_only(_label_stray)),
    "label-repeated": Mishap("the label comes twice", _late_only(_label_repeated)),
}


# Chance per sample of each kind, to go with the mix of faults of the same name.
MISHAP_MIXES: dict[str, dict[str, float]] = {
    "field": {
        "nan": 2e-4,
        "inf": 1e-4,
        "dimension": 2e-4,
        "unknown-label": 2e-4,
        "overrun": 5e-4,
        "clock": 1e-4,
        "hostile": 2e-4,
        "schema": 2e-6,
    },
    # These need a node that tells its labels late.
    "late": {
        "label-expired": 0.005,
        "label-never": 0.005,
        "label-stray": 0.005,
        "label-repeated": 0.005,
    },
}
