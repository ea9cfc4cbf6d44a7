"""A million rows whose boundary stays where it is: error over the last 5 % of the rows at a tenth,
three tenths, and all of them; each row is predicted, then learned. And elec2 in the order of time,
where the boundary moves.

A learner that never forgets must not get worse with the rows that it has seen, and one in few bits
may: its steps become too small to be kept, or its sums full. ijcnn1 is all its rows, train and
test, again and again in new orders, so that later rows were seen before. The checkerboard is drawn
anew; a tenth of its labels are switched, so that the least error is 10 %. The ring norm, in 20
features, has a least error of about 1.3 %.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.data import left_out, missing, read
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.rivals.contestants import OF_MANY, allocated, prequential
from benchmarks.rivals.streams import integers, rows
from edgesvm.data import Checkerboard, RingNorm
from edgesvm.errors import MemoryBudgetError

BUDGETS = {f"{k} KiB": k << 10 for k in (2, 16, 64)}
CHUNK = 10_000
NO_LIMIT = float("inf")


class Rows(Protocol):
    """Endless rows."""

    def read(self, n: int) -> Any: ...


class Again:
    """The same rows without end, in a new order each time."""

    def __init__(self, X: np.ndarray, y: np.ndarray, seed: int = 0) -> None:
        self.X, self.y = X, y
        self._indices = self._turns(np.random.default_rng(seed))

    def _turns(self, rng: np.random.Generator) -> Iterator[int]:
        while True:
            yield from rng.permutation(len(self.X)).tolist()

    def read(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        taken = np.fromiter(self._indices, np.intp, n)
        return self.X[taken], self.y[taken]


def ijcnn1() -> Again:
    file = read("ijcnn1")
    X, y = (np.concatenate([file[f"{k}_train"], file[f"{k}_test"]]) for k in "Xy")
    return Again(rows(X), integers(y))


STREAMS: dict[str, tuple[str | None, Callable[[], Rows]]] = {  # and the file
    "ijcnn1": ("ijcnn1", ijcnn1),
    "checkerboard, 10 % switched": (None, partial(Checkerboard, 1, flip=0.1)),
    "ring norm": (None, partial(RingNorm, 1)),
}


def moments(n: int) -> list[int]:
    """Rows seen at which an error is shown."""
    return [n // 10, 3 * n // 10, n]


def errors(stream: Rows, name: str, budget: int, n: int) -> dict[str, Any]:
    """Percent wrong before each moment, by the rows seen."""
    last, seen, found = n // 20, 0, {}
    learner = None
    for moment in moments(n):
        while seen < moment - last:
            X, y = stream.read(min(CHUNK, moment - last - seen))
            if learner is None:
                try:
                    learner = allocated(name, budget, X.shape[1])
                except MemoryBudgetError:
                    return {"why": "does not fit"}
            learner.partial_fit(X, y)
            seen += len(X)
        assert learner is not None
        X, y = stream.read(last)
        predicted, _ = prequential(learner.predict_one, learner.learn_one, X, y.tolist(), NO_LIMIT)
        found[str(moment)] = 100 * float((predicted != y[1:]).mean())
        seen += last
    return found


def elec2(name: str, budget: int) -> dict[str, Any]:
    """Percent right, each row before it was learned: all rows, and the last half."""
    file = read("elec2")
    X, y = rows(file["X"]), integers(file["y"])
    try:
        learner = allocated(name, budget, X.shape[1])
    except MemoryBudgetError:
        return {"why": "does not fit"}
    predicted, _ = prequential(learner.predict_one, learner.learn_one, X, y.tolist(), NO_LIMIT)
    hits = predicted == y[1:]
    return {"all": 100 * float(hits.mean()), "half": 100 * float(hits[len(hits) // 2 :].mean())}


def shown(found: dict[str, Any], key: str) -> str:
    return f"{found[key]:.2f}" if key in found else found["why"]


def long_table(name: str, n: int, cells: Cells) -> Table:
    body = []
    for learner in OF_MANY:
        for budget in BUDGETS:
            found = cells[name, n, budget, learner]
            right = [shown(found, str(moment)) for moment in moments(n)]
            body.append([learner, budget, *right])
    columns = ["learner", "bytes", *(f"at {moment:,} rows" for moment in moments(n))]
    return Table(f"{name}: % wrong over the last {n // 20:,} rows", columns, body)


def elec2_table(cells: Cells) -> Table:
    y = read("elec2")["y"]
    same = y[1:] == y[:-1]
    halves = same, same[len(same) // 2 :]
    body = [["label before", "", *(f"{100 * part.mean():.2f}" for part in halves)]]
    for learner in OF_MANY:
        for budget in BUDGETS:
            found = cells["elec2", 0, budget, learner]
            body.append([learner, budget, shown(found, "all"), shown(found, "half")])
    title = "elec2 in the order of time: % right, each row before it is learned"
    return Table(title, ["learner", "bytes", "all rows", "the last half"], body)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="default 1000000")
    parser.add_argument("--sets", nargs="+", help="only these: ijcnn1, checkerboard, ring, elec2")
    args = parsed(parser)

    def wanted(name: str) -> bool:
        return not args.sets or name.split(maxsplit=1)[0].rstrip(",") in args.sets

    skipped = left_out([name for name in ("ijcnn1", "elec2") if wanted(name)], args.quick)
    path = args.cells / "rivals_long.jsonl"
    if args.quick:
        args.rows = 2000
        path.unlink(missing_ok=True)
    cells = Cells(path, build_id())
    tables = []
    for name, (file, make) in STREAMS.items():
        if not wanted(name) or (file and (args.quick or missing(file))):
            continue
        for budget, n_bytes in BUDGETS.items():
            for learner in OF_MANY:
                key = (name, args.rows, budget, learner)
                if key not in cells:
                    progress(f"{name}: {learner}, {budget}")
                    cells[key] = errors(make(), learner, n_bytes, args.rows)
        tables.append(long_table(name, args.rows, cells))
    if wanted("elec2") and not args.quick and not missing("elec2"):
        for budget, n_bytes in BUDGETS.items():
            for learner in OF_MANY:
                if ("elec2", 0, budget, learner) not in cells:
                    progress(f"elec2: {learner}, {budget}")
                    cells["elec2", 0, budget, learner] = elec2(learner, n_bytes)
        tables.append(elec2_table(cells))
    raw = [[*key, cells[key]] for key in cells]
    title = "A million rows without decay, and a boundary that moves"
    publish(Report("rivals/long", title, tables, [(__doc__ or "").strip()], raw, skipped), args.out)


if __name__ == "__main__":
    main()
