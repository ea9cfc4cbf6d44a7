"""Tables 2 to 4 of Tsang, Kocsor & Kwok 2007: accuracy, training time and support vectors of the
ball and the core vector machine and of the systems beside them, the paper's figures and ours side
by side.

C = 1 (1e6 for intrusion), the Gaussian kernel exp(-|x - z|^2 / beta), beta the mean squared
distance of two training rows; and again with half of that, which is nearer to what the paper's
LIBSVM had. Many classes are learned pair by pair. scikit-learn's SVC (LIBSVM) has the same kernel
and C and 200 MB of cache. Rows are sparse where the data are. LASVM makes one pass in a random
order, then its finishing step. Every fit gets ten minutes of the processor (the paper: 10,000 s).

Each cell is a process of its own and is kept as it is done; the same command goes on after an
interruption. A cell that was out of time is run again only where --limit is larger than it was.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import published
from benchmarks.common.report import Report, Table, publish
from benchmarks.enclosing.data import QUICK
from benchmarks.enclosing.fits import Setting
from benchmarks.enclosing.results import Results, run
from benchmarks.enclosing.systems import EPSILONS, SYSTEMS

LIMIT_S = 600
HOW = [how for how, system in SYSTEMS.items() if system.in_tables]
WIDTHS = (0.5, 1.0)
COLUMNS = [(how, epsilon) for how in HOW for epsilon in SYSTEMS[how].epsilons]
PUBLISHED = published(__file__)
PAPER = PUBLISHED["sets"]
TABLE_SETS = [*PAPER, "usps, 10 classes"]
SHORTEST_FIRST = ["satimage", "optdigits", "pendigits", "w3a", "reuters", "letter"]
SHORTEST_FIRST += ["usps, 10 classes", "ijcnn1", "web", "intrusion", "usps"]
ABOUT = [
    "Ours: means and deviations of up to five seeds, where fits are short; medians of the seconds "
    "of the processor of a fit without reading. \\*: not "
    "every row is known to be inside, or LASVM was not finished after a million steps, or had too "
    "little room. > N s: out of time after N seconds of the processor, or so with a larger "
    "epsilon. The tolerance is the paper's, epsilon alone (`margin_tol=None`). Rows are sparse "
    "for w3a, reuters and web.",
    "The paper does not say how it ran LASVM. Ours has C and kernel of the others, its authors' "
    "defaults (one pass over a random order, then `finish()`, tau = 1e-3), room for 16,384 rows. "
    "In the paper's columns, N/A: its LASVM had two classes only, and it does not report the "
    "support vectors of SimpleSVM; -: not enough memory, or longer than 10,000 s.",
    "Does not show: other rounds of Algorithm 4 (one, as in the paper), a larger cache.",
]


def column(name: str, how: str, epsilon: float, width: float) -> Setting:
    C = 1e6 if name == "intrusion" else 1.0
    return Setting(name, how, epsilon, C, width)


def table_settings(names: list[str], widths: list[float]) -> list[Setting]:
    names = sorted(names, key=[*SHORTEST_FIRST, QUICK].index)
    return [column(name, *which, width) for name in names for width in widths for which in COLUMNS]


def heading(how: str, epsilon: float) -> str:
    """Of the paper's column."""
    title = SYSTEMS[how].title or how
    return f"{title} {power(epsilon)}" if epsilon else title


def theirs(name: str, what: str, which: tuple[str, float]) -> float | str | None:
    """The paper's figure."""
    if name not in PAPER:
        return None
    return PAPER[name][what][PUBLISHED["columns"].index(heading(*which))]


def table(title: str, what: str, width: float, names: list[str], results: Results) -> Table:
    """The paper's and our column of every method."""
    header = ["data"]
    for how, epsilon in COLUMNS:
        header += [f"{heading(how, epsilon)} paper", "SVC" if how == "SVC" else "ours"]
    rows = []
    for name in names:
        row = [name]
        for which in COLUMNS:
            row.append(number(what, theirs(name, what, which)))
            row.append(shown(what, column(name, *which, width), results))
        if any(row[2::2]):
            rows.append([cell or "not run" for cell in row])
    return Table(f"{title}, kernel exp(-d / {beta(width)})", header, rows)


def beta(width: float) -> str:
    return "beta" if width == 1.0 else f"{width:g} beta"


def shown(what: str, setting: Setting, results: Results) -> str:
    result = results.get(setting)
    if result is None:
        limit = results.limit(setting)
        return f"> {limit} s" if limit else ""
    text = number(what, result[what])
    if what == "accuracy" and result.get("deviation") is not None:
        text += f" ± {result['deviation']:.2f}"
    return text + ("" if result["converged"] else " *")


def number(what: str, value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or "-"
    return f"{value:,.0f}" if what == "support" else f"{value:.2f}"


def power(epsilon: float) -> str:
    return f"1e{round(np.log10(epsilon))}"


def differences(width: float, names: list[str], results: Results) -> str:
    """Where we are more than 0.3 points from the paper."""
    lines = []
    for name in names:
        if name not in PAPER:
            continue
        gaps = {which: gap(name, which, width, results) for which in COLUMNS}
        if not any(points is not None and abs(points) > 0.3 for points in gaps.values()):
            continue
        said = []
        for how in HOW:
            points = [f"{p:+.2f}" for which, p in gaps.items() if which[0] == how and p is not None]
            if points:
                said.append(f"{how} {' '.join(points)}")
        lines.append(f"- {name}: {'; '.join(said)}")
    return "\n".join(["More than 0.3 points from the paper:", "", *(lines or ["- nowhere"])])


def gap(name: str, which: tuple[str, float], width: float, results: Results) -> float | None:
    """Ours less the paper's, in points."""
    result, paper = results.get(column(name, *which, width)), theirs(name, "accuracy", which)
    if result is None or paper is None or isinstance(paper, str):
        return None
    return float(result["accuracy"] - paper)


def others(epsilon: float) -> list[tuple[str, float]]:
    """What the ball vector machine of this epsilon is compared with."""
    return [
        (how, epsilon if epsilon in SYSTEMS[how].epsilons else 0.0) for how in HOW if how != "BVM"
    ]


def ratios(epsilon: float, names: list[str], widths: list[float], results: Results) -> Table:
    """How many times as long as the ball vector machine the others took, theirs and ours."""
    header = ["data"]
    for how, _ in others(epsilon):
        header += [f"{SYSTEMS[how].title or how} / BVM {power(epsilon)} paper"]
        header += [f"ours, {width:g} beta" for width in widths]
    rows = []
    for name in names:
        row = [name]
        for other in others(epsilon):
            times = [theirs(name, "seconds", which) for which in (other, ("BVM", epsilon))]
            known = [seconds for seconds in times if isinstance(seconds, float)]
            row.append(f"{known[0] / known[1]:.2g}" if len(known) == 2 else "-")
            row += [multiple(ratio(name, other, epsilon, width, results)) for width in widths]
        rows.append(row)
    title = f"Time as a multiple of the ball vector machine's, {power(epsilon)}"
    return Table(title, header, rows)


def ratio(
    name: str, other: tuple[str, float], epsilon: float, width: float, results: Results
) -> tuple[float, bool] | None:
    """Seconds of the other by those of the ball vector machine; whether it was out of time."""
    ball = results.get(column(name, "BVM", epsilon, width))
    setting = column(name, *other, width)
    result, limit = results.get(setting), results.limit(setting)
    if ball is None or (result is None and not limit):
        return None
    seconds = limit if result is None else result["seconds"]
    return seconds / ball["seconds"], result is None


def multiple(found: tuple[float, bool] | None) -> str:
    return "-" if found is None else f"{'> ' if found[1] else ''}{found[0]:.2g}"


def report(names: list[str], widths: list[float], results: Results, skipped: list[str]) -> Report:
    done = [
        name
        for name in names
        if any(setting in results for setting in table_settings([name], widths))
    ]
    tables = []
    for width in widths:
        tables += [
            replace(
                table("Table 2: accuracy in per cent", "accuracy", width, done, results),
                note=differences(width, done, results),
            ),
            table("Table 3: seconds of the processor", "seconds", width, done, results),
            table("Table 4: support vectors", "support", width, done, results),
        ]
    tables.append(ratios(EPSILONS[-1], done, widths, results))
    about = list(ABOUT)
    if results.limits:
        limits = ", ".join(map(str, results.limits))
        about.append(f"Limits of the fits that were out of time: {limits} s.")
    if results.builds:
        about.append(f"Cells of other builds of the learners: {results.builds}.")
    title = "Tables 2 to 4: core and ball vector machines"
    return Report("enclosing/table", title, tables, about, results.as_list(), skipped)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", metavar="NAME", choices=TABLE_SETS, default=TABLE_SETS)
    widths = list(WIDTHS)
    parser.add_argument("--widths", nargs="+", type=float, default=widths, help="in beta")
    parser.add_argument("--how", nargs="+", choices=HOW, default=HOW, help="fill in only these")
    parser.add_argument("--limit", type=int, default=LIMIT_S, help="seconds of a fit (600)")
    parser.add_argument("--done", action="store_true", help="run nothing: report finished cells")
    parser.add_argument("--any-build", action="store_true", help="cells of other builds too")
    args = parsed(parser)
    skipped = []
    if args.quick:
        skipped = ["the paper's sets: a quick run uses generated data"]
        args.sets, args.widths = [QUICK], widths[:1]
    results = Results(args.cells, args.any_build)
    settings = table_settings(args.sets, args.widths)
    if not args.done:
        skipped += run([s for s in settings if s.how in args.how], results, args.limit)
    publish(report(args.sets, args.widths, results, skipped), args.out)


if __name__ == "__main__":
    main()
