"""What the link let through, against the ledger of what was done to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from firmware_sim.node import RotatingMachine
from rig.conformance.checks import (
    DAMAGED,
    Check,
    identities,
    matrix_checks,
    of_former_sessions,
)
from rig.conformance.edge_run import Run, run_edge, with_mishaps
from rig.conformance.expected import Expected
from rig.conformance.model import model_is_that_of
from rig.conformance.section import Section


def link_section(run: Run, *, baud: float | None, seed: int, mix: str) -> Section:
    report = run.report
    speed = "unpaced" if baud is None else f"{baud:,.0f} baud paced with RTS/CTS"
    rate = report.samples_sent / max(report.wall_s, 1e-9)
    broken = []
    if report.ended != "drained" or report.exit_code != 0:
        said = report.edge_errors.strip().rpartition("\n")[2]
        broken.append(f"ended by {report.ended}, exit code {report.exit_code}: {said}")
    if report.lost_bytes:
        broken.append(f"{report.lost_bytes} bytes lost in the line: counts are bounds only")
    return Section(
        "link",
        f"binary{' with tags' if 'bad_tag' in run.counters else ''} {speed}, seed {seed}, "
        f'{report.samples_made:,} samples, fault mix "{mix}", '
        f"{report.wall_s:.1f} s, {rate:,.0f} samples/s",
        broken,
        {"baud": baud, "seed": seed, "mix": mix, "wall_s": report.wall_s, "samples_per_s": rate},
    )


def frames_section(run: Run) -> Section:
    c = run.counters
    checks = identities(c)
    broken = [str(check) for check in checks if not check.holds]
    broken += (
        run.report.edge.get("broken_identities", []) if isinstance(run.report.edge, dict) else []
    )
    bad = "/".join(str(c[name]) for name in DAMAGED[:3])
    state = "all hold" if not broken else "BROKEN"
    return Section(
        "frames",
        f"sent {run.report.samples_sent:,}  ok {c['samples']:,}  bad cobs/crc/len {bad}  "
        f"oversize {c['oversize']}  missing {c['missing']:,}   identities: {state}",
        broken,
        {"counters": c},
    )


def integrity_section(run: Run, want: Expected) -> Section:
    """False accepts, checked twice: by the samples answered, and by the model."""
    c, ledger = run.counters, run.faults.ledger
    arrived = np.zeros(run.node.samples_made, bool)
    arrived[want.rows] = True
    assert run.node.answered is not None
    answered = run.node.answered[: len(arrived)]
    strangers = int(np.count_nonzero(answered & ~arrived)) + run.node.answers_astray
    damaged = sum(c[name] for name in DAMAGED)
    broken = [f"{strangers} damaged frames were accepted"] if strangers else []
    most_refused = of_former_sessions(ledger, c)
    n_learned = len(want.learned)
    for name, right in (("unique", want.unique), ("learned", n_learned), ("missing", want.missing)):
        n_refused = c[name] - right if name == "missing" else right - c[name]
        if not 0 <= n_refused <= most_refused:
            broken.append(f"{name} {c[name]}, by the ledger {right}")
    # Which frames of a former session were refused is not known.
    comparable = c["learned"] == n_learned or not most_refused
    same = comparable and model_is_that_of(run, want)
    if comparable and not same:
        broken.append("the model differs from one taught the rows that arrived")
    lossy = [e for e in ledger.entries if e.lost]
    resync = np.sort([e.resync for e in ledger.entries if e.bad] or [0])
    last = len(resync) - 1
    p50, p99 = int(resync[last // 2]), int(resync[round(0.99 * last)])
    per_fault = sum(e.lost for e in lossy) / max(len(lossy), 1)
    return Section(
        "integrity",
        f"false accepts {strangers} of {damaged:,} damaged (limit 0)   frames lost per fault "
        f"{per_fault:.3f}   resync {p50}/{p99}/{int(resync[-1])} bytes   model = partial_fit of "
        f"the {n_learned:,} rows that arrived, byte for byte: "
        f"{('yes' if same else 'no') if comparable else 'not compared, some had old tags'}",
        broken,
        {
            "false_accepts": strangers,
            "damaged": damaged,
            "resync_bytes": [p50, p99, int(resync[-1])],
        },
    )


def ledger_section(run: Run) -> Section:
    exact = run.report.lost_bytes == 0
    checks = matrix_checks(run.faults.ledger, run.counters, exact=exact)
    owned_up = run.counters["node_samples_dropped"]
    checks.append(_equal("dropped before sending, by heartbeat", owned_up, run.node.boot_dropped))
    equal = [check for check in checks if check.exact]
    broken = [str(check) for check in checks if not check.holds]
    counts = run.faults.ledger.counts()
    injected = ", ".join(f"{kind} {n:,}" for kind, n in counts.items()) or "no faults"
    return Section(
        "ledger",
        f"injected = counted for {sum(c.holds for c in equal)} of {len(equal)} exact counts, "
        f"{sum(c.holds for c in checks) - sum(c.holds for c in equal)} of "
        f"{len(checks) - len(equal)} bounds hold   {injected}",
        broken,
        {"injected": counts, "checks": [str(check) for check in checks]},
    )


def latency_section(run: Run) -> Section:
    c, us = run.counters, run.report.latency_us or {"p50": 0.0, "p99": 0.0, "max": 0.0}
    broken = [f"{c['ring_dropped']} rows dropped by the ring"] if c["ring_dropped"] else []
    return Section(
        "latency",
        f"sample to prediction {us['p50']:,.0f}/{us['p99']:,.0f}/{us['max']:,.0f} us   ring "
        f"high-water {c['ring_high_water']} of {c['ring_capacity']}   dropped {c['ring_dropped']}",
        broken,
        {"latency_us": us},
    )


def link_loss_section(run: Run, want: Expected) -> Section:
    report, c = run.report, run.counters
    twice = max(0, c["learned"] - len(want.learned))
    n = len(run.line.unplugged_at)
    broken = [f"{twice} samples learned twice"] if twice else []
    if len(report.recover_s) < n:
        broken.append(f"{n - len(report.recover_s)} of {n} disconnects did not recover")
    if not n:
        return Section("link loss", "0 disconnects", broken)
    detect, recover = _p99_ms(report.detect_s), _p99_ms(report.recover_s)
    return Section(
        "link loss",
        f"{n} disconnects, detect p99 {detect} ms, recover p99 {recover} ms, "
        f"samples learned twice {twice}, epochs {c['epochs']}",
        broken,
        {"detect_s": report.detect_s, "recover_s": report.recover_s},
    )


def _p99_ms(seconds: list[float]) -> str:
    return f"{1e3 * float(np.quantile(seconds, 0.99)):,.1f}" if seconds else "-"


def labels_section(folder: Path, *, seed: int, samples: int, key: Path | None = None) -> Section:
    """A separate run in which labels arrive late, too late, twice, for unknown samples or never."""
    run = run_edge(
        lambda: RotatingMachine(seed),
        folder,
        samples=samples,
        rates={},
        seed=seed,
        mishaps=with_mishaps("late", samples),
        label_mode="late",
        key=key,
    )
    c, counts = run.counters, run.faults.ledger.counts()
    if not c:
        return Section("labels", "no counts", [run.report.edge_errors.strip() or "no output"])
    checks = [*matrix_checks(run.faults.ledger, c, exact=not run.report.lost_bytes), *identities(c)]
    in_time = samples - counts.get("label-expired", 0) - counts.get("label-never", 0)
    checks += [
        _equal("label_matched", c["label_matched"], in_time),
        _equal("learned", c["learned"], c["label_matched"]),
        _equal(
            "unlabelled + waiting", c["unlabelled"] + c["waiting"], counts.get("label-never", 0)
        ),
    ]
    return Section(
        "labels",
        f"late, of {samples:,} samples matched {c['label_matched']:,} = learned {c['learned']:,}   "
        f"expired {c['label_expired']}   unknown {c['label_unknown']}   "
        f"repeated {c['label_duplicate']}   never {c['unlabelled'] + c['waiting']}   "
        f"injected = counted: {sum(k.holds for k in checks)} of {len(checks)} checks hold",
        [str(check) for check in checks if not check.holds],
        {"injected": counts, "checks": [str(check) for check in checks]},
    )


def _equal(name: str, counted: int, right: int) -> Check:
    return Check(name, f"{right} injected", counted, "=", counted == right)
