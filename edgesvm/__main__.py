"""``python -m edgesvm``: the command line."""

import sys

from edgesvm.cli import main

if __name__ == "__main__":
    sys.exit(main())
