"""A board for a test: skipped where its tools are absent; ``make mcu``, which needs those of all
boards, ends with what to install.
"""

import os

import pytest

from rig.boards import BOARDS, UNO, missing


def board(name):
    if os.environ.get("EDGESVM_BOARDS") == "required" and (why := missing(UNO, *BOARDS.values())):
        pytest.exit(why, returncode=1)
    on = UNO if name == "uno" else BOARDS[name]
    if why := missing(on):
        pytest.skip(why)
    return on
