"""Result of a core's step, as status.pxd has it. errors.py has the one table from status to
exception."""

from enum import IntEnum


class Status(IntEnum):
    UNCHANGED = 0
    CHANGED = 1
    NOT_FINITE = 2
    BAD_WEIGHT = 3
    UNKNOWN_LABEL = 4
    FULL = 5
    BAD_TARGET = 6
