import sys

from edgesvm_command import main

sys.exit(main())
