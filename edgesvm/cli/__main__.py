import sys

from edgesvm.cli import main

sys.exit(main())
