"""The command ``edgesvm``: handles Ctrl-C also while the package is being imported."""

from __future__ import annotations

import sys


def main() -> int:
    try:
        from edgesvm.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("edgesvm: interrupted", file=sys.stderr)
        return 130
