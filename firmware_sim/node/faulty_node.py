"""A frame node with device faults at given rates; seeded, entered in its ledger."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edgesvm.data import SampleSource
from firmware_sim.line.ledger import Entry
from firmware_sim.line.rates import Gaps, checked_rates
from firmware_sim.node.frame_node import FrameNode
from firmware_sim.node.mishaps import MISHAPS, Sample, ordinary
from firmware_sim.node.node import Block


class Mishaps:
    """Decides which samples get which device fault.

    Parameters
    ----------
    rates : mapping of str to float
        Probability per sample, by kind.
    seed : int

    Raises
    ------
    ValueError
        Unknown kind; a rate below 0; rates that add up to more than 1.
    """

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
        data = MISHAPS[kind].strike(node, now, sample, self._rng)
        if data is None:
            return ordinary(node, now, sample)
        if kind == "overrun":
            node.ledger.enter(Entry(len(node.ledger), kind, node.frames_out, 0, 0, 0))
            return None
        node.ledger.spare(node.frames_out, kind, numbered=MISHAPS[kind].numbered)
        return data


class FaultyNode(FrameNode):
    """A node whose samples get device faults.

    Parameters
    ----------
    source, **settings
        See `FrameNode`.
    mishaps : Mishaps
        The device faults and their rates.
    """

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
