"""The conformance run: every fault injected and counted, every limit checked.

cd tests && python -m rig --samples 100k
cd tests && python -m rig simulate --seeds 1000
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from firmware_sim.line import MIXES
from firmware_sim.options import NodeStatus, parse_count
from rig.conformance import as_json, conform


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rig", description=__doc__)
    parser.add_argument(
        "--samples",
        default="100k",
        metavar="N",
        help="number of samples: 50000, 50k or 10M; default 100k",
    )
    parser.add_argument(
        "--baud", type=float, metavar="B", help="speed of the link; default: unlimited"
    )
    parser.add_argument(
        "--mix",
        choices=MIXES,
        default="field",
        metavar="MIX",
        help=f"fault mix: {', '.join(MIXES)}; default field",
    )
    parser.add_argument(
        "--seed", type=int, default=7, help="random seed of signal and faults; default 7"
    )
    parser.add_argument(
        "--key", type=Path, metavar="FILE", help="tag all frames of both ends with the key in FILE"
    )
    parser.add_argument(
        "--needed",
        action="store_true",
        help="fail where a cross compiler or an emulator is absent, instead of saying so",
    )
    parser.add_argument("--json", action="store_true", help="print only the JSON line")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] == ["simulate"]:
        from rig.simulation import command

        return command.main(argv[1:])
    parser = _parser()
    options = parser.parse_args(argv)
    try:
        return _run(options)
    except ValueError as error:
        parser.error(str(error))


def _run(options: argparse.Namespace) -> int:
    status = NodeStatus()
    sections = []
    for section in conform(
        samples=parse_count(options.samples),
        mix=options.mix,
        seed=options.seed,
        baud=options.baud,
        key=options.key,
        needed=options.needed,
        on_progress=status,
    ):
        status.end()
        sections.append(section)
        if not options.json:
            print(section, flush=True)
    print(as_json(sections), flush=True)
    return 1 if any(section.broken for section in sections) else 0


if __name__ == "__main__":
    sys.exit(main())
