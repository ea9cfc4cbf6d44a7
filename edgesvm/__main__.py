"""The command ``edgesvm``, and ``python -m edgesvm``."""

from __future__ import annotations

import contextlib
import sys


def main() -> int:
    """Run a command. Ctrl-C while it is being imported is one line and exit code 130, as later."""
    try:
        from edgesvm.cli import main as run

        return run()
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):  # the exit code says it too
            print("edgesvm: interrupted", file=sys.stderr, flush=True)
        return 130


if __name__ == "__main__":
    sys.exit(main())
