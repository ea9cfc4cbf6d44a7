"""The ball vector machine and SVC in turn on sets where they are close: least seconds of the
processor of several fits, and accuracy.

As in Tables 2 to 4: C = 1, kernel exp(-d / 0.5 beta), epsilon 1e-4 alone, 200 MB of cache, many
classes pair by pair, rows sparse where the data are. A round fits both, ours with another seed.
Another build of edgesvm is measured by its own Python, run from here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import left_out
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.enclosing.data import QUICK, SETS, mean_square_distance
from benchmarks.enclosing.fits import Setting, fitted, measure_svc

CLOSE = ["optdigits", "satimage", "pendigits", "w3a", "usps, 10 classes", "letter", "reuters"]
HOW = ("BVM", "SVC")
WIDTH = 0.5
LIMIT_S = 600  # of a fit


def measure(name: str, rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Fits of both, by round."""
    ours, theirs = Setting(name, "BVM", 1e-4, width=WIDTH), Setting(name, "SVC", width=WIDTH)
    split = ours.split()
    gamma = 1.0 / (WIDTH * mean_square_distance(split[0]))
    fits: dict[str, list[dict[str, Any]]] = {how: [] for how in HOW}
    for k in range(rounds):
        progress(f"{name}: round {k + 1}/{rounds}")
        fits["BVM"].append(fitted(ours, gamma, split, k, LIMIT_S))
        fits["SVC"].append(measure_svc(theirs, gamma, split, LIMIT_S))
    return fits


def row(name: str, fits: dict[str, list[dict[str, Any]]]) -> list[str]:
    least = {how: min(fit["seconds"] for fit in fits[how]) for how in HOW}
    right = {how: float(np.mean([fit["accuracy"] for fit in fits[how]])) for how in HOW}
    n_enclosed = sum(fit["converged"] for fit in fits["BVM"])
    return [
        name,
        *(f"{least[how]:.3f}" for how in HOW),
        f"{least['SVC'] / least['BVM']:.2f}",
        *(f"{right[how]:.2f}" for how in HOW),
        f"{n_enclosed} of {len(fits['BVM'])}",
    ]


def main() -> None:
    parser = arguments(__doc__, rounds=5)
    parser.add_argument("--sets", nargs="+", metavar="NAME", choices=list(SETS), default=CLOSE)
    args = parsed(parser)
    names = [QUICK] if args.quick else [name for name in args.sets if not SETS[name].missing]
    found = {name: measure(name, 1 if args.quick else args.rounds) for name in names}
    header = ["data", "BVM s", "SVC s", "SVC / BVM", "BVM %", "SVC %", "all enclosed"]
    table = Table("Fits in turn", header, [row(name, fits) for name, fits in found.items()])
    about = [
        "Seconds of the processor, the least of the rounds; accuracies are means. All enclosed: "
        "fits that ended with every row known to be inside.",
    ]
    files = [SETS[name].file for name in args.sets if SETS[name].file]
    title = "The ball vector machine and SVC in turn"
    report = Report("enclosing/turns", title, [table], about, found, left_out(files, args.quick))
    publish(report, args.out)


if __name__ == "__main__":
    main()
