"""The fault matrix: for each fault, the counters that count it and how they must compare; and what
a host must have seen and learned, computed from the ledger and the bytes delivered.

``relation`` is "=" or ">=" for counted <relation> injected; "<=" marks a fault of which the counter
has other causes too, so that it is checked as counted >= injected. Rows with the same counters are
summed before the comparison, since a counter does not tell which fault it counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firmware_sim.line import FaultInjector, Ledger
from firmware_sim.node import Node
from rig.mishaps import MISHAPS

Counters = Mapping[str, int]

DAMAGED = ("bad_cobs", "bad_crc", "bad_len", "oversize")
# With a key, a frame that arrives again or too late is refused before its number is looked at; one
# of a former session for its tag, whatever else happened to it.
REPEATED = ("duplicate", "reordered", "too_old")
REFUSED = ("replayed", "bad_tag")


@dataclass(frozen=True)
class Row:
    """A row of the matrix.

    ``effect`` is what is summed over the entries: "count" (one per entry), or an effect of
    `firmware_sim.line.ledger.Entry`. ``most_lost``: frames that one such fault may cost; None if it
    depends on how many frames it overlaps.
    """

    fault: str
    kinds: tuple[str, ...]
    effect: str
    relation: str
    counters: tuple[str, ...]
    most_lost: int | None = None


MATRIX: tuple[Row, ...] = (
    Row("bit flip in a frame", ("flip",), "bad", "=", DAMAGED, 1),
    Row("bit flip making a 0x00", ("split",), "bad", "=", DAMAGED, 2),
    Row("bit flip destroying a 0x00", ("join",), "bad", "=", DAMAGED, 2),
    Row("byte lost", ("drop",), "bad", "=", DAMAGED, 2),
    Row("8 bytes lost", ("drop8",), "bad", "=", DAMAGED, 2),
    Row("garbage between frames, delimiter first", ("insert",), "bad", "=", DAMAGED, 0),
    Row("garbage between frames, no delimiter", ("glue",), "bad", "=", DAMAGED, 1),
    Row("noise burst of 16 B", ("burst",), "bad", "=", DAMAGED, 2),
    Row("1 s of noise", ("noise",), "bad", "=", DAMAGED),
    Row("truncated frame", ("truncate",), "bad", "=", DAMAGED, 1),
    Row("overlong run, damaged", ("overlong",), "bad", "=", DAMAGED, 0),
    Row("overlong run without delimiter", ("overlong",), "count", "=", ("oversize",), 0),
    Row("empty frames", ("empty", "split", "burst", "noise"), "empties", ">=", ("empty",)),
    Row("duplicate", ("duplicate", "stale"), "copies", "=", ("duplicate",), 1),
    Row("reorder within 64", ("reorder",), "count", "=", ("reordered",), 0),
    Row("reorder beyond", ("overdue",), "count", "=", ("too_old",), 1),
    Row("disconnect", ("disconnect", "stale", "reboot"), "count", "=", ("disconnects",), 1),
    Row("stale bytes on reopen", ("stale",), "discarded", ">=", ("discarded_bytes",), 1),
    Row("sample never sent", ("overrun",), "count", "<=", ("missing",)),
    Row("device clock jumps", ("clock",), "count", "=", ("clock_jumps",)),
    Row("NaN", ("nan",), "count", "=", ("bad_nan",)),
    Row("Inf", ("inf",), "count", "=", ("bad_inf",)),
    Row("wrong dimension", ("dimension",), "count", "=", ("bad_dimension",)),
    Row("schema change mid-stream", ("schema",), "count", "=", ("schema_mismatch",)),
    Row("unknown label", ("unknown-label",), "count", "=", ("unknown_label",)),
    Row("label late by k >= W", ("label-expired",), "count", "=", ("label_expired",)),
    Row("label for unknown sample", ("label-stray",), "count", "=", ("label_unknown",)),
    Row("repeated label", ("label-repeated",), "count", "=", ("label_duplicate",)),
)


@dataclass(frozen=True)
class Check:
    """One comparison. ``exact``: an equality, not relaxed to a bound."""

    name: str
    injected: str
    counted: int
    relation: str
    holds: bool

    @property
    def exact(self) -> bool:
        return self.relation == "="

    def __str__(self) -> str:
        word = "" if self.holds else "BROKEN: "
        return f"{word}{self.name}: counted {self.counted} {self.relation} {self.injected}"


def _injected(ledger: Ledger, row: Row) -> int:
    if row.effect == "count":
        counts = ledger.counts()
        return sum(counts.get(kind, 0) for kind in row.kinds)
    return ledger.total(row.effect, row.kinds)


def matrix_checks(ledger: Ledger, counters: Counters, *, exact: bool = True) -> list[Check]:
    """Compare the rows of the matrix with the counters of a host; one that is missing, only if its
    fault was injected. Not `exact`: bytes were lost that the ledger does not know of."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in MATRIX:
        is_keyed = "bad_tag" in counters and row.counters[0] in REPEATED
        groups.setdefault((*REPEATED, *REFUSED) if is_keyed else row.counters, []).append(row)
    counts = ledger.counts()
    checks = []
    for names, rows in groups.items():
        if any(name not in counters for name in names) and not any(
            counts.get(kind) for row in rows for kind in row.kinds
        ):
            continue
        injected = sum(_injected(ledger, row) for row in rows)
        counted = sum(counters.get(name, 0) for name in names)
        relation = rows[0].relation
        if relation == "<=":  # the counter has other causes too, and may be larger
            relation = ">="
        if (not exact or names[-1] in REFUSED) and relation == "=":
            relation = ">="
        holds = counted == injected if relation == "=" else counted >= injected
        name = " + ".join(names)
        checks.append(Check(name, f"{injected} injected", counted, relation, holds))
    return checks + _most_lost(ledger)


def _most_lost(ledger: Ledger) -> list[Check]:
    """Check that no fault cost more frames than its row allows."""
    allowed = {kind: row.most_lost for row in MATRIX for kind in row.kinds if row.most_lost}
    worst: dict[str, int] = {}
    for entry in ledger.entries:
        worst[entry.kind] = max(worst.get(entry.kind, 0), entry.lost)
    return [
        Check(f"frames lost by one {kind}", f"{allowed[kind]} allowed", n, "<=", n <= allowed[kind])
        for kind, n in worst.items()
        if kind in allowed
    ]


def of_former_sessions(ledger: Ledger, counters: Counters) -> int:
    """Frames that were on their way when the host said HELLO again, at most; 0 without a key."""
    return counters["bad_tag"] - ledger.counts().get("hostile", 0) if "bad_tag" in counters else 0


def identities(counters: Counters) -> list[Check]:
    """Check the identities between the counters."""
    c = {**dict.fromkeys(_OPTIONAL, 0), **counters}
    sums = {
        "bytes_in = ok + rejected + delimiters + pending": (
            c["bytes_in"],
            c["bytes_ok"] + c["bytes_rejected"] + c["delimiters"] + c["pending"],
        ),
        "frames = ok + each bad": (c["frames"], c["ok"] + sum(c[name] for name in DAMAGED)),
        "span = unique + missing": (c["span"], c["unique"] + c["missing"]),
        "samples taken = learned + unlabelled + each refused + expired + waiting": (
            c["taken"],
            sum(c[name] for name in _OUTCOMES),
        ),
    }
    return [
        Check(name, f"{right}", left, "=", left == right) for name, (left, right) in sums.items()
    ]


_OUTCOMES = (
    "learned",
    "unlabelled",
    "refused_value",
    "unknown_label",
    "over_rate",
    "expired",
    "waiting",
)
_OPTIONAL = (*_OUTCOMES, "taken")


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
