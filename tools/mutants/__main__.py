"""Put small mistakes into the sources, one at a time: a test must find each.

    make mutants MUTANTS_ARGS="--area link persist --per-area 10 --seed 1"
    make mutants MUTANTS_ARGS="--only 'edgesvm/link/keyed.py:40:12 == to !='"

Operators over the syntax tree make the mutants, and a seed draws from them; those written by hand
(tools/mutants/by_hand.py) are all tried. What survives is listed with the line that was changed.
Exit code 1 if one written by hand survives.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from fnmatch import fnmatchcase

from mutants.areas import AREAS, Area, area_of
from mutants.by_hand import mutants_by_hand
from mutants.equivalent import EQUIVALENT
from mutants.mutant import Mutant
from mutants.sources import ROOT, mutants_of, source_files
from mutants.tree import Result, Tree

FOLDER = ROOT / "build" / "mutants"
HOUR = 3600.0


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.splitlines()[0])
    names = [area.name for area in AREAS]
    parser.add_argument("--area", nargs="+", metavar="AREA", choices=names, default=names)
    parser.add_argument("--per-area", type=int, default=10, metavar="N", help="drawn of each area")
    parser.add_argument("--seed", type=int, default=1, help="draws others")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these mutants")
    parser.add_argument("--no-by-hand", action="store_true", help="leave out those by hand")
    parser.add_argument("--list", action="store_true", help="list them without trying them")
    return parser.parse_args(argv)


def chosen(args: argparse.Namespace) -> list[Mutant]:
    """The mutants to be tried, area by area."""
    by_hand = [] if args.no_by_hand else mutants_by_hand()
    if args.only:
        files = {name.split(":")[0] for name in args.only}
        known = [*by_hand, *(mutant for file in sorted(files) for mutant in mutants_of(file))]
        found = {mutant.name: mutant for mutant in known if mutant.name in args.only}
        if unknown := [name for name in args.only if name not in found]:
            sys.exit(f"no such mutant: {unknown[0]}")
        return list(found.values())
    mutants = []
    for area in (area for area in AREAS if area.name in args.area):
        files = [file for file in source_files() if area_of(file) is area]
        all_of_it = [m for file in files for m in mutants_of(file) if not why_equivalent(m)]
        rng = random.Random(f"{args.seed} {area.name}")
        mutants += rng.sample(all_of_it, min(args.per_area, len(all_of_it)))
        mutants += [mutant for mutant in by_hand if area_of(mutant.file) is area]
    return mutants


def why_equivalent(mutant: Mutant) -> str:
    matching = (why for name, why in EQUIVALENT.items() if fnmatchcase(mutant.name, name))
    return next(matching, "")


def try_all(mutants: list[Mutant], tree: Tree) -> list[tuple[Mutant, Result]]:
    """Try them in their order; print each outcome."""
    tree.prepare()
    results: list[tuple[Mutant, Result]] = []
    limits: dict[str, float] = {}
    for i, mutant in enumerate(mutants, start=1):
        area = area_of(mutant.file)
        if area.name not in limits:
            limits[area.name] = time_limit(area, tree)
        result = tree.try_out(mutant, area, limits[area.name])
        by = f"  [{result.by}]" if result.by else ""
        place = f"{i}/{len(mutants)}"
        print(
            f"{place:>9} {result.outcome:8} {result.seconds:6.1f} s  {mutant.name}{by}", flush=True
        )
        results.append((mutant, result))
    return results


def time_limit(area: Area, tree: Tree) -> float:
    """Seconds for an area's tests, which must pass without a mutant."""
    began = time.monotonic()
    if failed := tree.first_failure(area, HOUR):
        sys.exit(f"{tree.said}\n{failed} fails without any mutant: fix it first")
    seconds = time.monotonic() - began
    print(f"{area.name}: the tests pass in {seconds:.0f} s without a mutant", flush=True)
    return 60 + 3 * seconds


def report(results: list[tuple[Mutant, Result]]) -> None:
    """What survived, then kill rates by area."""
    for mutant, result in results:
        if result.outcome == "survived":
            text = (ROOT / mutant.file).read_text(encoding="utf-8")
            print(f"\nsurvived: {mutant.name}\n{mutant.difference(text)}")
    print(f"\n{'area':14} {'mutants':>8} {'killed':>8} {'survived':>9} {'unbuilt':>8} {'rate':>6}")
    rows: dict[str, list[str]] = {}
    for mutant, result in results:
        rows.setdefault(area_of(mutant.file).name, []).append(result.outcome)
    for name, outcomes in rows.items():
        killed, survived = outcomes.count("killed"), outcomes.count("survived")
        rate = f"{killed / (killed + survived):.0%}" if killed + survived else "-"
        unbuilt = outcomes.count("unbuilt")
        print(f"{name:14} {len(outcomes):8} {killed:8} {survived:9} {unbuilt:8} {rate:>6}")
    killed = sum(result.outcome == "killed" for _, result in results)
    print(f"{killed} of {len(results)} mutants killed")


def main() -> int:
    args = arguments()
    mutants = chosen(args)
    if args.list:
        print("\n".join(f"{area_of(mutant.file).name:14} {mutant.name}" for mutant in mutants))
        return 0
    results = try_all(mutants, Tree(FOLDER))
    report(results)
    by_hand = {mutant.name for mutant in mutants_by_hand()}
    survived = {mutant.name for mutant, result in results if result.outcome != "killed"}
    return 1 if by_hand & survived else 0


if __name__ == "__main__":
    sys.exit(main())
