"""A board for a test: skipped where its tools are absent, unless ``make mcu`` needs them."""

import os

import pytest

from rig.boards import BOARDS, missing


def board(name):
    reason = missing(BOARDS[name])
    if reason and os.environ.get("EDGESVM_BOARDS") != "required":
        pytest.skip(reason)
    assert not reason, reason
    return BOARDS[name]
