import sys

from edgesvm.__main__ import main

sys.exit(main())
