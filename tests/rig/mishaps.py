"""Faults of the device itself, before a byte is sent; seeded, and entered in the same ledger.

A device fault replaces the frame of one sample. `MISHAPS` lists the kinds; a new kind is one more
function there. A frame with a device fault gets no fault on the line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgesvm.data import SampleSource
from edgesvm.link import wire
from firmware_sim.line.faults import WINDOW, Gaps, checked_rates
from firmware_sim.line.ledger import Entry
from firmware_sim.node import FrameNode
from firmware_sim.node.node import Block

# A learner that has seen one class only would accept an unknown one as its second.
_SETTLED_SAMPLES = 500
_SAMPLES = (wire.SAMPLE_F32, wire.SAMPLE_I16)
UNKNOWN_CLASS = 999
# Beyond the sequence number of any sample in a test.
FAR_AHEAD = 1 << 30
# More than the samples that may wait for a label, and no more than a host remembers.
LONG_AGO_SAMPLES = 900


class Sample(NamedTuple):
    """A sample about to be sent."""

    sequence: int
    x: NDArray[np.float32]
    label: float


# Returns the bytes to send in its place; None if the fault cannot happen here.
Strike = Callable[[FrameNode, float, Sample, np.random.Generator], "bytes | None"]


def _encode(node: FrameNode, now: float, sample: Sample) -> bytes:
    labels = node.sent_labels(np.array([sample.label], node.label_dtype))
    return node.encode(now, sample.sequence, sample.x[None], labels)[0]


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
    if node.targets or node.label_mode != "inline" or node.samples_made < _SETTLED_SAMPLES:
        return None
    return _encode(node, now, sample._replace(label=UNKNOWN_CLASS))


def _overrun(node, now, sample, rng):
    node.drop()
    return b""


def _clock(node, now, sample, rng):
    # The first samples of a boot have no earlier clock to compare with.
    if not node.timestamps or sample.sequence < WINDOW:
        return None
    # Half the range of the clock: a jump whichever way it is read.
    node.clock_offset_us += 1 << 31
    return ordinary(node, now, sample)


def ordinary(node: FrameNode, now: float, sample: Sample) -> bytes:
    """The bytes of a sample without a device fault."""
    node.queue_labels(sample.sequence, np.array([sample.label], node.label_dtype))
    return _encode(node, now, sample)


def _hostile(node, now, sample, rng):
    # Not a sample of the right schema: that would be indistinguishable from a real one.
    kind = int(rng.choice([k for k in range(1, 256) if k not in _SAMPLES]))
    length = int(rng.integers(0, wire.MAX_RAW - wire.MIN_RAW + 1))
    body = rng.integers(1, 256, length).astype(np.uint8).tobytes()
    schema_id, number = int(rng.integers(1 << 16)), int(rng.integers(1 << 32))
    flags = int(rng.integers(16))
    frame = wire.encode_frame(kind, body, schema_id=schema_id, sequence=number, flags=flags)
    return frame + ordinary(node, now, sample)


def _schema(node, now, sample, rng):
    if node.schema_sent:
        node.change_schema()
    return _encode(node, now, sample)


def _late_only(strike: Strike) -> Strike:
    def guarded(node, now, sample, rng):
        if node.label_mode != "late" or not node.is_known(sample.label):
            return None
        return strike(node, now, sample, rng)

    return guarded


def _label_expired(node, now, sample, rng):
    if node.samples is not None and node.samples - node.samples_made < LONG_AGO_SAMPLES:
        return None  # at the end all labels are sent at once
    node.send_label_late(sample.sequence, sample.label, LONG_AGO_SAMPLES)
    return _encode(node, now, sample)


def _label_never(node, now, sample, rng):
    return _encode(node, now, sample)


def _label_stray(node, now, sample, rng):
    node.send_label_late(sample.sequence, sample.label, node.label_delay)
    stray = node.label_frame(sample.sequence + FAR_AHEAD, sample.label)
    return stray + _encode(node, now, sample)


def _label_repeated(node, now, sample, rng):
    node.send_label_late(sample.sequence, sample.label, node.label_delay)
    node.send_label_late(sample.sequence, sample.label, node.label_delay)
    return _encode(node, now, sample)


MISHAPS: dict[str, Strike] = {
    "nan": _broken_value(np.nan),
    "inf": _broken_value(np.inf),
    "dimension": _dimension,  # one feature too many or too few
    "unknown-label": _unknown_label,
    "overrun": _overrun,  # the sample is never sent, and reported as dropped
    "clock": _clock,  # it jumps
    "hostile": _hostile,  # a valid frame of random content is sent first
    "schema": _schema,  # another one, not announced until requested
    "label-expired": _late_only(_label_expired),
    "label-never": _late_only(_label_never),
    "label-stray": _late_only(_label_stray),  # of a sample never sent
    "label-repeated": _late_only(_label_repeated),
}
UNNUMBERED = ("dimension", "overrun", "schema")  # the host does not count the sample's number


class Mishaps:
    """Decides which samples get which device fault, by the probability of each kind."""

    def __init__(self, rates: Mapping[str, float], *, seed: int = 0) -> None:
        self._rng = np.random.default_rng([seed, 1])
        self._gaps = Gaps(checked_rates(rates, MISHAPS), self._rng)
        self._left = self._gaps.next()

    def ordinary(self, node: FrameNode, n: int) -> int:
        """How many of the next n samples have no device fault."""
        if node.schema_changes and not node.schema_sent:
            return 0
        if self._left is None:
            return n
        n = min(n, self._left)
        self._left -= n
        return n

    def strike(self, node: FrameNode, now: float, sample: Sample) -> bytes | None:
        """The bytes sent for a sample with a device fault; None if it is not sent."""
        if node.schema_changes and not node.schema_sent:
            kind = "schema"
        else:
            kind = self._gaps.kind()
            self._left = self._gaps.next()
        data = MISHAPS[kind](node, now, sample, self._rng)
        if data is None:
            return ordinary(node, now, sample)
        if kind == "overrun":
            node.ledger.enter(Entry(len(node.ledger), kind, node.frames_out, 0, 0, 0))
            return None
        node.ledger.spare(node.frames_out, kind, numbered=kind not in UNNUMBERED)
        return data


class FaultyNode(FrameNode):
    """A node whose samples get device faults."""

    def __init__(self, source: SampleSource, *, mishaps: Mishaps, **settings) -> None:
        super().__init__(source, **settings)
        self._mishaps = mishaps

    def _make_block(self, now: float, n: int) -> Block | None:
        n_ordinary = self._mishaps.ordinary(self, n)
        if n_ordinary:
            return super()._make_block(now, n_ordinary)
        first, X, y = self._take_rows(1)
        data = self._mishaps.strike(self, now, Sample(first, X[0], y[0].item()))
        if data is None:
            return None
        self.frames_out += 1
        return Block(first, y, data, np.array([len(data)]))
