"""A board for a test: skipped where its tools are absent, unless ``make mcu`` needs them."""

import os

import pytest

from rig.boards import BOARDS, UNO, missing


def board(name):
    on = UNO if name == "uno" else BOARDS[name]
    reason = missing(on)
    if reason and os.environ.get("EDGESVM_BOARDS") != "required":
        pytest.skip(reason)
    assert not reason, reason
    return on
