"""Print the requirements of one extra of pyproject.toml, or with "requires" those of the build, one
per line and quoted, for xargs."""

import re
import shlex
import sys
from pathlib import Path

text = (Path(__file__).parent.parent / "pyproject.toml").read_text()
# tomllib is in the standard library only from 3.11, and this runs before anything is installed.
body = re.search(rf"^{re.escape(sys.argv[1])} = \[(.*?)\]$", text, re.MULTILINE)
if body is None:
    sys.exit(f"extra.py: pyproject.toml has no extra named {sys.argv[1]!r}")
print("\n".join(map(shlex.quote, re.findall(r'"([^"]+)"', body[1]))))
