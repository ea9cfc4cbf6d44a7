"""Measure what the test suite catches: small mistakes, one at a time, each to be found by a test.

    make mutants MUTANTS_ARGS="--only persist --workers 2"

Each result is printed and written to a JSON file; an interrupted run continues where it stopped.
Exit code 1 if a mutant survives that is not marked as equivalent.
"""

from __future__ import annotations

import argparse
import json
import queue
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from areas import AREAS
from mutant import Area, DoesNotApply, Mutant
from workers import ROOT, Result, Worker

WORK = ROOT / "build" / "mutants"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.splitlines()[0])
    names = [area.name for area in AREAS]
    parser.add_argument("--only", nargs="+", metavar="AREA", choices=names, default=names)
    parser.add_argument("--match", default="", help="only mutants whose name has this text")
    parser.add_argument(
        "--per-area", type=int, default=None, metavar="N", help="at most N of each area, evenly"
    )
    parser.add_argument(
        "--passed",
        action="store_true",
        help="the suite passes: do not run it first without mutants",
    )
    parser.add_argument("--workers", type=int, default=1, help="number of copies of the tree")
    parser.add_argument("--anew", action="store_true", help="forget earlier results")
    parser.add_argument(
        "--area-tests", action="store_true", help="run each area's own tests, not the whole suite"
    )
    parser.add_argument("--list", action="store_true", help="list the mutants without running them")
    parser.add_argument("--json", type=Path, default=WORK / "results.json", help="the results file")
    return parser.parse_args()


class Results:
    """Outcomes by name, in a file that is replaced atomically."""

    def __init__(self, path: Path, anew: bool) -> None:
        self._path, self._lock = path, threading.Lock()
        self.found: dict[str, dict[str, object]] = {}
        if path.exists() and not anew:
            self.found = json.loads(path.read_text())

    def add(self, mutant: Mutant, result: Result) -> None:
        with self._lock:
            self.found[mutant.name] = result.as_json()
            self._path.parent.mkdir(parents=True, exist_ok=True)
            new = self._path.with_suffix(".new")
            new.write_text(json.dumps(self.found, indent=1) + "\n")
            new.replace(self._path)
            note = f"  [{result.by}]" if result.by else ""
            if mutant.equivalent:
                note += f"  (equivalent: {mutant.equivalent})"
            print(f"{result.outcome:8} {result.seconds:6.1f} s  {mutant.name}{note}", flush=True)


def run(chosen: list[tuple[Area, Mutant]], results: Results, args: argparse.Namespace) -> None:
    waiting: queue.SimpleQueue[tuple[Area, Mutant]] = queue.SimpleQueue()
    for pair in chosen:
        waiting.put(pair)
    failures: list[BaseException] = []

    def work(worker: Worker) -> None:
        try:
            while not failures:
                area, mutant = waiting.get_nowait()
                result = worker.try_out(mutant, area, whole_suite=not args.area_tests)
                results.add(mutant, result)
        except queue.Empty:
            return
        except BaseException as error:  # raised by the main thread
            failures.append(error)

    workers = [Worker(WORK / f"worker-{i}") for i in range(args.workers)]
    for worker in workers:
        worker.prepare()
    areas = {} if args.passed else {area.name: area for area, _ in chosen}
    for area in areas.values():
        if failed := workers[0].first_failure(area.tests):
            sys.exit(f"{failed} fails without any mutant: fix it first")
    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt as error:
        failures.append(error)  # each worker ends with the mutant it has
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def evenly(mutants: Sequence[Mutant], most: int | None) -> list[Mutant]:
    """`most` of them, spread over the list; all if there are no more, or no `most` is given."""
    if most is None or len(mutants) <= most:
        return list(mutants)
    return [mutants[i * len(mutants) // most] for i in range(most)]


def main() -> int:
    args = arguments()
    wanted = [
        (area, mutant)
        for area in AREAS
        if area.name in args.only
        for mutant in evenly(area.mutants, args.per_area)
        if args.match in mutant.name
    ]
    try:
        for _, mutant in wanted:
            mutant.applied(ROOT)
    except DoesNotApply as error:
        sys.exit(f"this entry of tools/mutants/areas no longer applies:\n{error}")
    if args.list:
        print("\n".join(f"{area.name:14} {mutant.name}" for area, mutant in wanted))
        return 0
    results = Results(args.json, args.anew)
    left = [(area, mutant) for area, mutant in wanted if mutant.name not in results.found]
    if left:
        run(left, results, args)
    of = [(mutant, results.found[mutant.name]["outcome"]) for _, mutant in wanted]
    survived = [m for m, outcome in of if outcome == "survived" and not m.equivalent]
    unbuilt = [m for m, outcome in of if outcome == "unbuilt"]
    print(f"\n{len(of)} mutants: {sum(o == 'killed' for _, o in of)} killed", end="")
    print(f", {len(survived)} survived, {len(unbuilt)} did not build")
    for mutant in survived:
        print(f"survived: {mutant.name}")
    return 1 if survived or unbuilt else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("ended; the next run goes on from here")
