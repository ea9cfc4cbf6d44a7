"""Faults: what each costs, and that the ledger is what a receiver counts."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from each import each

from edgesvm.link import wire
from edgesvm.link._frames import FrameDecoder, SequenceWindow
from firmware_sim.line import MIXES, FaultInjector, fault_rates
from firmware_sim.line.faults import FAULTS


def sample(sequence):
    rng = np.random.default_rng(sequence)
    return wire.encode_sample(9, sequence, rng.standard_normal(8).astype(np.float32), label=1)


STREAM = [sample(i) for i in range(3000)]


def damage(rates, *, seed=0, cuts=()):
    injector = FaultInjector(rates, seed=seed)
    data, pieces = b"".join(STREAM), []
    for a, b in pairwise([0, *cuts, len(data)]):
        pieces += injector.feed(data[a:b])
    return injector, pieces + injector.finish()


def received(injector):
    """Numbers of the frames that a host makes of it."""
    pieces = [*injector.feed(b"".join(STREAM)), *injector.finish()]
    return [frame.sequence for frame in FrameDecoder().feed(b"".join(pieces))]


RATES = dict.fromkeys(FAULTS, 0.1) | {"noise": 0.002, "overlong": 0.001, "reboot": 0.002}


# Frames that one such fault may cost.
MOST_LOST = dict.fromkeys(("split", "join", "drop", "drop8", "burst"), 2)
MOST_LOST |= dict.fromkeys(("flip", "glue", "truncate", "duplicate", "overdue"), 1)
MOST_LOST |= dict.fromkeys(("disconnect", "stale", "reboot"), 1)
MOST_LOST |= dict.fromkeys(("insert", "overlong", "reorder"), 0)


@each("kind", MOST_LOST)
def test_no_fault_costs_more_frames_than_it_may(kind):
    ledger = damage({kind: RATES[kind]})[0].ledger
    assert ledger.counts()
    assert max(entry.lost for entry in ledger.entries) <= MOST_LOST[kind]


def test_a_frame_that_is_spared_is_left_alone():
    injector = FaultInjector({"flip": 0.5, "noise": 0.01})
    for ordinal in range(0, 3000, 10):
        injector.ledger.spared[ordinal] = "nan"
    sequences = received(injector)
    assert set(range(0, 3000, 10)) <= set(sequences) and len(injector.ledger) > 1000


def test_a_late_frame_is_late_only_behind_a_number_that_was_seen():
    """Frames of another schema, say, which the host passes over, are no later numbers to it."""
    injector = FaultInjector({"reorder": 0.3})
    unnumbered = {n for n in range(3000) if n % 60 >= 20}
    for ordinal in unnumbered:
        injector.ledger.spare(ordinal, "schema", numbered=False)
    sequences = received(injector)
    window = SequenceWindow()
    verdicts = Counter(window.classify(n) for n in sequences if n not in unnumbered)
    counts = injector.ledger.counts()
    assert verdicts["reordered"] == counts["reorder"] > 20
    assert verdicts["too_old"] == counts.get("overdue", 0)


def test_the_same_seed_gives_the_same_faults_in_any_cutting():
    whole, pieces = damage(MIXES["noisy"], seed=7)
    rng = np.random.default_rng(1)
    cuts = np.sort(rng.integers(0, sum(map(len, STREAM)), 500)).tolist()
    cut, cut_pieces = damage(MIXES["noisy"], seed=7, cuts=cuts)
    assert b"".join(cut_pieces) == b"".join(pieces)
    assert cut.ledger.entries == whole.ledger.entries
    assert damage(MIXES["noisy"], seed=8)[0].ledger.entries != whole.ledger.entries


def test_rates_from_the_command_line():
    assert fault_rates("noisy", ["flip=0", "lose=0.5"])["lose"] == 0.5
    assert fault_rates("noisy", ["flip=0"])["flip"] == 0
    with pytest.raises(ValueError, match="no fault mix 'spam'"):
        fault_rates("spam")
    with pytest.raises(ValueError, match="must be kind=rate"):
        fault_rates("none", ["flip"])
