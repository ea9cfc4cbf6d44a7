"""What a host must have seen and learned, computed from the ledger and the bytes delivered.

Exact if every byte sent was read: no byte lost in the line, and the link unplugged only when empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firmware_sim.line import FaultInjector
from firmware_sim.node import Node
from firmware_sim.node.mishaps import MISHAPS


@dataclass(frozen=True)
class Expected:
    """Counts over all boots, and the samples themselves.

    ``rows``: indices of the samples whose number the host has seen, in order of arrival.
    ``learned``: those among them that it must have learned, if labels are inline.
    """

    unique: int
    missing: int
    epochs: int
    rows: NDArray[np.int64]
    learned: NDArray[np.int64]


def expected(node: Node, faults: FaultInjector) -> Expected:
    """The expected counts of a finished run."""
    sent = np.delete(np.arange(node.samples_made), node.ledger.never_sent)
    ordinals = np.frombuffer(faults.arrived, np.uint32).astype(np.int64)
    spared = node.ledger.spared
    unlearned = [n for n, kind in spared.items() if not MISHAPS[kind].learned]
    ordinals = ordinals[~np.isin(ordinals, list(node.ledger.unnumbered))]
    rows = sent[ordinals]
    boots = np.searchsorted(node.boot_rows, rows, side="right")
    missing = epochs = 0
    for boot in np.unique(boots):
        seen = rows[boots == boot]
        missing += int(seen.max() - seen.min()) + 1 - len(seen)
        epochs += 1
    learned = sent[ordinals[~np.isin(ordinals, unlearned)]]
    return Expected(len(rows), missing, epochs, rows, learned)
