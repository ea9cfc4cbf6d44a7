from enum import IntEnum

class Status(IntEnum):
    UNCHANGED = 0
    CHANGED = 1
    NOT_FINITE = 2
    UNKNOWN_LABEL = 3
    BAD_WEIGHT = 4
    FULL = 5
