"""An emulated board for a test: skipped, but by ``make mcu`` and ``make conformance``, which need
the tools of all boards and end with what to install.
"""

import os

import pytest

from rig.boards import BOARDS, UNO, missing


def board(name):
    if os.environ.get("EDGESVM_BOARDS") != "required":
        pytest.skip("emulated boards: make mcu")
    if why := missing(UNO, *BOARDS.values()):
        pytest.exit(why, returncode=1)
    return UNO if name == "uno" else BOARDS[name]
