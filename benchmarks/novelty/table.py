"""Novelty, learned from normal rows alone in one pass: AUC and detection at 1 % false alarms, bytes
and microseconds, beside scikit-learn's and river's; and whether `alarm_rate` is kept.

One class of each set is normal. The defaults of `KernelNovelty` are chosen on one half of the sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import left_out
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.novelty.contestants import (
    BUDGETS,
    Found,
    of_river,
    of_scikit_learn,
    ours,
    run_other,
    run_ours,
)
from benchmarks.novelty.rows import (
    CHOSEN_ON,
    IN_ORDER,
    NORMAL,
    QUICK,
    SHOWN_ON,
    Rows,
    Scaled,
    faults_of,
    rows_of,
)
from edgesvm import KernelNovelty, Learner

WIDTHS, NOISES = (0.5, 1.0, 2.0, 3.0, 6.0), (0.1, 0.01, 0.001)  # gamma times n_features
RATES = (1e-2, 1e-3)
Results = dict[str, dict[str, list[Any]]]  # set, contestant, one result for each order


def compared(sets: Sequence[str], orders: Sequence[int | None], *, with_river: bool) -> Results:
    found: Results = {name: {} for name in sets}
    for name, seed in product(sets, orders):
        progress(f"{name}, {'in order' if seed is None else f'order {seed}'}")
        for kind, result in contest(rows_of(name, seed), seed or 0, with_river).items():
            found[name].setdefault(kind, []).append(result)
    return found


def contest(rows: Rows, seed: int, with_river: bool) -> dict[str, Found]:
    """One result for each contestant."""
    D, scaled = rows.learned.shape[1], Scaled(rows.learned)
    results = {kind: run_ours(learner, rows) for kind, learner in ours(D).items()}
    others = of_scikit_learn(D, seed) | (of_river(seed) if with_river else {})
    return results | {kind: run_other(model, rows, scaled) for kind, model in others.items()}


def mean(results: Sequence[Found], what: str) -> float:
    return float(np.mean([getattr(result, what) for result in results]))


def shown(title: str, found: Results, what: str, form: str, note: str = "") -> Table:
    kinds = list(dict.fromkeys(kind for results in found.values() for kind in results))
    rows = []
    for kind in kinds:
        values = [mean(r[kind], what) if kind in r else None for r in found.values()]
        known = [value for value in values if value is not None]
        values.append(sum(known) / len(known) if len(known) == len(found) else None)
        rows.append([kind, *(None if v is None else form.format(v) for v in values)])
    return Table(title, ["", *found, "mean"], rows, note)


def by_fault(name: str, with_river: bool) -> Table:
    """AUC and detection of each strange class alone, in one order."""
    found = {}
    for fault, rows in faults_of(name, 0).items():
        progress(f"{name}, {fault}")
        found[fault] = {
            kind: f"{result.auc:.3f}, {result.detected:.2f}"
            for kind, result in contest(rows, 0, with_river).items()
        }
    kinds = next(iter(found.values()))
    return Table(
        f"{name}, normal against each fault: AUC, detected at 1 % false alarms",
        ["", *found],
        [[kind, *(results[kind] for results in found.values())] for kind in kinds],
    )


# -- the threshold -----------------------------------------------------------------------------


def false_alarms(learner: Learner, rows: Rows) -> tuple[int, int, float]:
    """False alarms, rows that could raise one, and the share of strange rows found."""
    learner.partial_fit(rows.learned)
    alarms = int((learner.predict(rows.normal) < 0).sum())
    return alarms, len(rows.normal), float((learner.predict(rows.strange) < 0).mean())


def kept_rates(sets: Sequence[str], orders: int) -> Results:
    found: Results = {name: {} for name in sets}
    for name, seed, rate in product(sets, range(orders), RATES):
        progress(f"{name}, rate {rate:g}, order {seed}")
        rows = rows_of(name, seed)
        for kind, learner in ours(rows.learned.shape[1], alarm_rate=rate).items():
            key = f"{kind}, rate {rate:g}"
            found[name].setdefault(key, []).append(false_alarms(learner, rows))
    return found


def rates_table(found: Results, column: str) -> Table:
    kinds = list(dict.fromkeys(kind for results in found.values() for kind in results))
    rows = []
    for kind in kinds:
        rate = float(kind.rsplit(" ", 1)[1])
        row: list[str | None] = [kind]
        for results in found.values():
            if kind not in results:
                row.append(None)
                continue
            alarms, tested, caught = (np.array(part) for part in zip(*results[kind], strict=True))
            expected = rate * tested.sum()
            row.append(
                f"{alarms.sum() / expected:.2f} of {expected:.0f}"
                if column == "alarms"
                else f"{100 * caught.mean():.1f}"
            )
        rows.append(row)
    if column == "alarms":
        note = (
            "False alarms on normal rows that were not learned, all orders together, as a multiple"
            " of those asked for, and how many these are: below some ten, chance decides."
        )
        return Table("Is the rate kept?", ["", *found], rows, note)
    return Table("Strange rows found at that threshold, per cent", ["", *found], rows)


# -- the choice --------------------------------------------------------------------------------


def choice(sets: Sequence[str], orders: int) -> tuple[Table, dict[str, float]]:
    means = {}
    for width, noise in product(WIDTHS, NOISES):
        progress(f"gamma {width:g}/D, noise {noise:g}")
        values = []
        for name, seed in product(sets, range(orders)):
            rows = rows_of(name, seed)
            D = rows.learned.shape[1]
            learner = KernelNovelty(gamma=width / D, noise=noise)
            values.append(run_ours(learner.fitted_into(BUDGETS["16 KiB"], D), rows).auc)
        means[f"{width:g} {noise:g}"] = float(np.mean(values))
    rows_shown = [
        [f"gamma {w:g}/D", *(f"{means[f'{w:g} {n:g}']:.4f}" for n in NOISES)] for w in WIDTHS
    ]
    title = f"KernelNovelty in 16 KiB, mean AUC of {', '.join(sets)}"
    return Table(title, ["", *(f"noise {n:g}" for n in NOISES)], rows_shown), means


def main() -> None:
    args = parsed(arguments(__doc__, orders=5))
    skipped = left_out(NORMAL, args.quick)
    without = {line.split(":")[0].removeprefix("there is no ").split(".npz")[0] for line in skipped}
    sets = QUICK if args.quick else [name for name in NORMAL if name not in without]
    orders = 1 if args.quick else args.orders
    with_river = find_spec("river") is not None
    if not with_river:
        skipped.append("river's detectors: river is not installed")
    found = compared(sets, range(orders), with_river=with_river)
    in_order = [name for name in sets if name in IN_ORDER or args.quick]
    ordered = compared(in_order, [None], with_river=with_river)
    rates = kept_rates(sets, orders)
    chosen_on = [name for name in sets if name in CHOSEN_ON] or sets
    table, means = choice(chosen_on, 1 if args.quick else 2)
    about = [
        f"The normal class of each set in {orders} random orders: one pass over 70 % of it, the"
        " rest and all other classes tested, at most 20,000 rows of a set. Ours read raw rows and"
        " scale them themselves; the others get them scaled by running statistics and clipped at"
        " 8, and fit all at once (but river's). The defaults of `KernelNovelty` were chosen on"
        f" {', '.join(CHOSEN_ON)} and are shown on {', '.join(SHOWN_ON)} too.",
    ]
    tables = [
        shown("AUC", found, "auc", "{:.3f}"),
        shown("Detected at 1 % false alarms, share", found, "detected", "{:.3f}"),
        shown(
            "In the order of the source: AUC",
            ordered,
            "auc",
            "{:.3f}",
            "The first 70 % of the normal rows learned, the later ones tested.",
        ),
        shown("In that order: detected at 1 % false alarms", ordered, "detected", "{:.3f}"),
        *([by_fault("bearing_cwru", with_river)] if "bearing_cwru" in sets else []),
        rates_table(rates, "alarms"),
        rates_table(rates, "found"),
        table,
        shown("Bytes", found, "n_bytes", "{:,.0f}", "Ours planned; of the others, pickled."),
        shown("Microseconds a row learned", found, "us", "{:.1f}"),
    ]
    figures = {"compared": found, "ordered": ordered, "rates": rates, "choice": means}
    publish(
        Report("novelty/table", "Novelty, without labels", tables, about, figures, skipped),
        args.out,
    )


if __name__ == "__main__":
    main()
