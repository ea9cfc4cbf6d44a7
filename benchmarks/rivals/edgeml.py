"""Beside Bonsai and ProtoNN, Microsoft's EdgeML, at the bytes that they publish: after one pass,
and after several, shuffled anew each.

Theirs are trained on a computer, in many epochs over all rows, with parameters chosen for each
problem, on rows that are scaled before; their bytes are those of the model that answers, 1,024 to a
"kB". Ours learn a raw row at a time with their defaults, and the mark is the bytes of the whole
state that goes on learning, scaling included. "To decide" is what an exported model that learns no
more has: tables in flash, and RAM.

letter-26 is LIBSVM's split, 15,000 to 5,000 (theirs: 19,500 to learn). USPS has 7,291 rows to learn
and 2,007 to test, as theirs; they do not say which digits are the two classes of USPS-2, so here
are two ways. MNIST-10 is the 10,000 test digits only, 8,000 to learn and 2,000 to test at random,
where they learn 60,000.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.data import Split, left_out, missing, published, read
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.rivals.contestants import OF_MANY, allocated
from benchmarks.rivals.streams import THREE_WAVES, integers, rows, whole
from edgesvm.errors import MemoryBudgetError
from edgesvm.export.fixed import Fixed, table_bytes
from edgesvm.export.flash import work
from edgesvm.export.sources import Model
from edgesvm.learner import Learner

PASSES = 20


def two_of_usps(positive: Callable[[np.ndarray], np.ndarray]) -> Split:
    X, y, X_test, y_test = whole("usps")
    return X, integers(positive(y)), X_test, integers(positive(y_test))


def mnist() -> Split:
    file = read("mnist_10")
    X, y = rows(file["X"]), integers(file["y"])
    turn = np.random.default_rng(7).permutation(len(X))
    learned, tested = turn[:8000], turn[8000:]
    return X[learned], y[learned], X[tested], y[tested]


# By name: the file, the rows, and the marks in KiB.
Problems = dict[str, tuple[str, Callable[[], Split], tuple[float, ...]]]
PROBLEMS: Problems = {
    "letter-26": ("letter_libsvm", partial(whole, "letter_libsvm"), (63.4,)),
    "USPS-10": ("usps", partial(whole, "usps"), (63.83,)),
    "USPS-2, odd": ("usps", partial(two_of_usps, lambda y: y % 2 == 1), (0.5, 2.0, 11.625, 16.0)),
    "USPS-2, 5 to 9": ("usps", partial(two_of_usps, lambda y: y >= 5), (0.5, 2.0, 11.625, 16.0)),
    "MNIST-10": ("mnist_10", mnist, (16.0, 63.4, 84.0)),
}
QUICK: Problems = {"Waveform, generated": ("", partial(THREE_WAVES.split, 0), (0.5, 4.0))}


def to_decide(learner: Learner) -> dict[str, int]:
    """Bytes of the exported model that learns no more; empty where there is none."""
    try:
        tables = Fixed.of(learner, "model")
        if tables is not None:
            return {"flash": table_bytes(tables), "ram": 0}
        model = Model.of(learner, "model")
        return {"flash": len(model.arena), "ram": work(model)[1].nbytes}
    except ValueError:
        return {}


def measured(name: str, split: Split, n_bytes: int, passes: int) -> dict[str, Any]:
    """Percent right after the first pass and after the last, by the number of passes; bytes."""
    X, y, X_test, y_test = split
    try:
        learner = allocated(name, n_bytes, X.shape[1], n_classes=len(np.unique(y)))
    except MemoryBudgetError:
        return {"why": "does not fit"}
    rng, right = np.random.default_rng(0), {}
    for k in range(1, passes + 1):
        turn = rng.permutation(len(X))
        learner.partial_fit(X[turn], y[turn])
        if k in (1, passes):
            right[str(k)] = 100 * float((learner.predict(X_test) == y_test).mean())
    return {"right": right, "state": learner.nbytes, **to_decide(learner)}


def family(name: str) -> str:
    """A problem as the papers name it."""
    return name.split(",", maxsplit=1)[0]


def table(name: str, marks: tuple[float, ...], passes: int, cells: Cells) -> Table:
    """Ours and theirs, by bytes."""
    shown: list[tuple[float, list[str]]] = []
    for problem, system, kib, accuracy, source in published(__file__)["rows"]:
        if problem == family(name):
            right = ["", f"{accuracy:.2f}"]
            shown.append((kib, [f"{kib:g}", system, *right, "", f"{kib * 1024:,.0f}", "", source]))
    for kib in marks:
        for learner in OF_MANY:
            found = cells[name, kib, learner, passes]
            right = [found.get("why", ""), ""]
            if "right" in found:
                right = [f"{found['right'][k]:.2f}" for k in ("1", str(passes))]
            sizes = [f"{found[k]:,}" if k in found else "" for k in ("state", "flash", "ram")]
            shown.append((kib, [f"{kib:g}", f"edgesvm {learner}", *right, *sizes, "measured here"]))
    columns = ["KiB", "system", "% right after one pass", f"after {passes} passes; theirs: many"]
    columns += ["state, bytes", "to decide, bytes", "and RAM", "from"]
    return Table(name, columns, [line for _, line in sorted(shown, key=lambda item: item[0])])


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--passes", type=int, default=PASSES, help=f"default {PASSES}")
    parser.add_argument("--sets", nargs="+", help="only these: letter-26, USPS-10, ...")
    args = parsed(parser)
    wanted = [n for n in PROBLEMS if not args.sets or family(n) in args.sets]
    skipped = left_out(dict.fromkeys(PROBLEMS[n][0] for n in wanted), args.quick)
    problems = {n: PROBLEMS[n] for n in wanted if not missing(PROBLEMS[n][0])}
    path = args.cells / "rivals_edgeml.jsonl"
    if args.quick:
        problems, args.passes = QUICK, 2
        path.unlink(missing_ok=True)
    cells = Cells(path, build_id())
    for name, (_, load, marks) in problems.items():
        keys = [(name, kib, learner, args.passes) for kib in marks for learner in OF_MANY]
        absent = [key for key in keys if key not in cells]
        split = load() if absent else None
        for key in absent:
            assert split is not None
            progress(f"{name}: {key[2]}, {key[1]:g} KiB")
            cells[key] = measured(key[2], split, int(1024 * key[1]), args.passes)
    tables = [table(name, marks, args.passes, cells) for name, (_, _, marks) in problems.items()]
    sources = published(__file__)["sources"]
    about = [(__doc__ or "").strip(), *(f"{who}: {what}." for who, what in sources.items())]
    raw = [[*key, cells[key]] for key in cells]
    title = "Beside Bonsai and ProtoNN at their bytes"
    publish(Report("rivals/edgeml", title, tables, about, raw, skipped), args.out)


if __name__ == "__main__":
    main()
