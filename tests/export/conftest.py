"""The folder's plain helper modules on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
